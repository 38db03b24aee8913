# SIMULATED: a stand-in for a kernel. It is text for the demo and runs nowhere.
"""Attention forward for targets without a path of their own (gfx942)."""

from kernels.flash_attn_gfx950 import flash_attn_fwd

SHORT_ROWS = 512


def choose_path(arch, seq_len, head_dim):
    if arch == "gfx950" and head_dim in (64, 128):
        return "dualwave" if seq_len > SHORT_ROWS else "dense_short"
    return "generic"


def run(arch, q, k, v, o):
    path = choose_path(arch, q.shape[1], q.shape[3])
    return flash_attn_fwd(q, k, v, o, steps=k.shape[1] // 64) if path != "generic" else None
