# a

load()
wait()
end()
