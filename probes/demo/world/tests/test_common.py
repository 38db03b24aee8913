# SIMULATED: a stand-in for the shared checks.
def verify_output(result, reference, atol=0.1, rtol=0.1, logits_diff_threshold=2e-3):
    raise SystemExit("SIMULATED: nothing is verified here")
