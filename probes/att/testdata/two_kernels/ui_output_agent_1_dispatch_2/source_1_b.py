load()
wait()
wait_again()
