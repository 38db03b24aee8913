# SIMULATED: a stand-in for a kernel. It is text for the demo and runs nowhere.
"""Attention forward for gfx950, two waves in a software pipeline."""

BLOCK_M = 128
BLOCK_N = 64
HEAD_DIM = 128
KV_PREFETCH_DEPTH = 1
O_STORE_GROUP = 1
WAVES_PER_EU = 2


def load_q_tile(q, row):
    tile = buffer_load(q, row * HEAD_DIM)
    wait_scalar_args()
    return to_registers(tile)


def prefetch_kv(k, v, step):
    k_next = buffer_load(k, step * BLOCK_N)
    v_next = buffer_load(v, step * BLOCK_N)
    return k_next, v_next


def stage_kv(lds, k_next, v_next):
    wait_vmem(KV_PREFETCH_DEPTH - 1)
    lds.write(k_next)
    lds.write(v_next)
    barrier()


def qk_step(acc, q_regs, lds):
    k_regs = lds.read()
    wait_lds(0)
    return mfma_32x32x16(acc, q_regs, k_regs)


def softmax_step(scores, row_max, row_sum):
    new_max = max3(scores, row_max)
    scores = exp2(scores - new_max)
    return scores, new_max, row_sum + scores


def pv_step(out, p_regs, lds):
    v_regs = lds.read_transposed()
    wait_lds(0)
    return mfma_32x32x16(out, p_regs, v_regs)


def store_o(out, o, row):
    for group in range(0, HEAD_DIM, O_STORE_GROUP):
        buffer_store(o, row, out[group])
    wait_vmem(0)


def flash_attn_fwd(q, k, v, o, steps):
    q_regs = load_q_tile(q, block_row())
    for step in range(steps):
        k_next, v_next = prefetch_kv(k, v, step + KV_PREFETCH_DEPTH)
        stage_kv(shared(), k_next, v_next)
        scores = qk_step(zeros(), q_regs, shared())
        p_regs, row_max, row_sum = softmax_step(scores, row_max, row_sum)
        out = pv_step(out, p_regs, shared())
    store_o(out / row_sum, o, block_row())
