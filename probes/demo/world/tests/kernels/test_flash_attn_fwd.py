# SIMULATED: a stand-in for the harness. In the demo, `python3` on PATH is the
# cockpit itself and prints made-up rows; a real python3 prints one sentence.
import argparse
import sys

FP8_MAX_ERR = 5e-2
FP8_MIN_COS = 0.98

DEFAULT_CONFIGS = "the 55 configurations of the flashattn family"
EXTRA_CONFIGS = "13 varlen and cross-length cases"


def _acc_metric(max_err, min_cos, compare_mode=False):
    passed = max_err < 1e-2 and (compare_mode or min_cos > 0.99)
    return passed


def pytorch_ref_attention(q, k, v, causal):
    raise SystemExit("SIMULATED: there is no reference here")


def parser():
    p = argparse.ArgumentParser()
    for name in ("--batch", "--seq_len", "--num_heads", "--num_kv_heads", "--head_dim"):
        p.add_argument(name, type=int)
    p.add_argument("--num_kv_splits", type=int, default=1)
    p.add_argument("--causal", action=argparse.BooleanOptionalAction)
    p.add_argument("--warmup", type=int, default=10)
    p.add_argument("--iters", type=int, default=20)
    p.add_argument("--dtype", choices=("fp16", "bf16", "fp8"))
    p.add_argument("--seed", type=int, default=123)
    p.add_argument("--compare", action="store_true")
    p.add_argument("--extra", action="store_true")
    p.add_argument("--verbose", action="store_true")
    p.add_argument("--kv-cache-layout", choices=("linear", "vectorized", "all"), default="linear")
    return p


if __name__ == "__main__":
    parser().parse_args()
    print("SIMULATED: this file runs only through the demo's python3")
    sys.exit(1)
