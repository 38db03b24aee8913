# SIMULATED: a stand-in for the intrinsics module.
def barrier():
    return "s_barrier"


def wait_vmem(count):
    return f"s_waitcnt vmcnt({count})"


def wait_lds(count):
    return f"s_waitcnt lgkmcnt({count})"
