package harness

import (
	"path/filepath"
	"strings"
	"testing"

	"kdapilot/engine/bench"
)

const (
	denseHead = "FlyDSL flash_attn_func (causal, bf16)\nGPU: SIMULATED\n   B      S    H  Hkv    D dtype   causal kv_sp KVLayout                  Path                 | Status |   MaxErr   MinCos |   Time(us)   TFLOPS\n"
	densePass = "   1    512    8    8  128  bf16   causal     1 dense                                          |   PASS | 3.91e-03  0.99999 |       12.1      44.5\n"
	denseFP8  = "   1    512    8    8  128   fp8   causal     1 dense                                          |   PASS | 3.91e-03  0.99999 |       12.1      44.5\n"
	denseSkip = "   1    256    4    4  128  bf16   causal     4 dense                                          |   SKIP | n/a\n"
	denseErr  = "   1   1024    8    8  128  bf16   causal     1 dense                                          | BENCHERR | 3.91e-03  0.99999 |        N/A       N/A\n"
	denseNaN  = "   1    768    8    8  128  bf16   causal     1 dense                                          |   FAIL |      nan      nan |       16.7      72.1\n"
	denseWeak = "   1    640    8    8  128  bf16   causal     1 dense                                          |   PASS | 2.00e-02  0.98000 |       12.1      44.5\n"
	compareHd = "FlyDSL vs aiter_ck  (causal, bf16)\n   B      S    H  Hkv    D dtype   causal kv_sp |  FlyDSL  |  aiter_ck  |  Fly/aiter_ck\n"
)

func md5(dtype, sum string) string {
	return "  [B=1 Sq=512 Skv=512 H=8 Hkv=8 D=128 causal splits=1] result_md5 = " + sum + "\n"
}

// TestTruth holds the traps of this stack: runs that look green and are not.
func TestTruth(t *testing.T) {
	for _, tc := range []struct {
		name           string
		stdout, stderr string
		exit           int
		command        string
		expected       int
		want           bench.Outcome
		agree          bool
		rule, words    string
	}{
		{"all three agree", denseHead + densePass + "All tests PASSED\n", "", 0, "", 1, bench.OutcomePass, true, "", ""},
		{"fails and says so", denseHead + denseNaN + "Some tests FAILED\n", "", 1, "", 0, bench.OutcomeFail, true, "FA-12", "NaN"},
		{"exit 0 with a failed row", denseHead + denseNaN + "All tests PASSED\n", "", 0, "", 0, bench.OutcomeDisagree, false, "FA-08", "max_err=NaN"},
		{"exit 1 with passing rows", denseHead + densePass + "All tests PASSED\n", "", 1, "", 0, bench.OutcomeDisagree, false, "FA-08", "exit status 1"},
		{"all SKIP says PASSED", denseHead + denseSkip + "All tests PASSED\n", "", 0, "", 0, bench.OutcomeNotProven, true, "FA-20", "0 executed"},
		{"nothing ran", denseHead + "All tests PASSED\n", "", 0, "", 0, bench.OutcomeNotProven, true, "FA-20", "nothing ran"},
		{"fewer cells than expected", denseHead + densePass + "All tests PASSED\n", "", 0, "", 4, bench.OutcomeNotProven, true, "FA-05", "1 of 4"},
		{"no verdict line", denseHead + densePass, "", 0, "", 0, bench.OutcomeNotProven, true, "FA-08", "without its verdict"},
		{"BENCHERR", denseHead + densePass + denseErr + "Some tests FAILED\n", "", 1, "", 0, bench.OutcomeFail, true, "", ""},
		{"BENCHERR and exit 0", denseHead + densePass + denseErr + "All tests PASSED\n", "", 0, "", 0, bench.OutcomeDisagree, false, "FA-08", "BENCHERR"},
		{"weakened threshold", denseHead + denseWeak + "All tests PASSED\n", "", 0, "", 0, bench.OutcomeNotProven, true, "FA-03", "outside the contract"},
		{"compare mode alone", compareHd + "   1    512    8    8  128  bf16   causal     1 |  12.2 44.2 3.91e-03 | 11.9 45.4 3.91e-03 |  97.4%  1.00x\n", "", 0, "", 0, bench.OutcomeNotProven, true, "FA-04", "max_err only"},
		{"compare mode with ERR and exit 0", compareHd + "   1    512    8    8  128  bf16   causal     1 |  -- ERR -- | 11.9 45.4 3.91e-03 |  -- --\n", "", 0, "", 0, bench.OutcomeDisagree, false, "FA-08", "ERR"},
		{"fp8 rows that hold bf16's bytes", denseHead + md5("bf16", "a807effd") + densePass + md5("fp8", "a807effd") + denseFP8 + "All tests PASSED\n", "", 0, "", 0, bench.OutcomeNotProven, true, "FA-21", "the bf16 path ran"},
		{"fp8 in normal mode", strings.Replace(denseHead, "bf16", "fp8", 1) + denseFP8 + "All tests PASSED\n", "", 0, "", 0, bench.OutcomeNotProven, true, "FA-21", "bf16 path"},
		{"GPU fault", denseHead + densePass, "Memory access fault by GPU node-3 (Agent handle: 0x1) on address 0x2. Reason: Unknown.\n", 134, "", 0, bench.OutcomeCrashed, false, "", "B1_S512"},
		{"killed", denseHead + densePass, "", -9, "", 0, bench.OutcomeCrashed, false, "", "SIGKILL"},
		{"no torch", "PyTorch not available\n", "", 1, "", 0, bench.OutcomeFail, true, "", "can not run"},
		{"lost by buffering", "", "", 134, "python3 tests/kernels/test_flash_attn_fwd.py", 0, bench.OutcomeCrashed, true, "FA-20", ""},
		{"MoE exit 0 at cos 0.02", "FlyDSL MoE stage1[fp8]: cos=0.02021 | t64-d256x128-e8k2 | 36.6 us, 0.46 TFLOPS, 0.016 TB/s\n", "", 0, "", 0, bench.OutcomeDisagree, false, "FA-08", "cos=0.02021"},
		{"MoE without a reference", "FlyDSL MoE stage1[fp8]: cos=nan | t64-d256x128-e8k2 | 36.6 us, 0.46 TFLOPS, 0.016 TB/s\n", "", 0, "", 0, bench.OutcomeNotProven, true, "FA-21", "no gate looked"},
		{"MoE that passes", "FlyDSL MoE stage1[fp8]: cos=0.99998 | t64-d256x128-e8k2 | 36.6 us, 0.46 TFLOPS, 0.016 TB/s\n", "", 0, "", 0, bench.OutcomePass, true, "", ""},
		{"aiter failed! with rc 0", "", "[aiter] ck_moe_2stages: 85.73 us, 18.49 tflops......(quant:x)[checkAllclose atol=0.01 rtol=0.01 \x1b[31mfailed!\x1b[0m]\n[aiter] logits_diff: 0.4102 is too large, please check the implementation\n", 0, "", 0, bench.OutcomeDisagree, false, "FA-08", "logits_diff=0.4102"},
		{"aiter NaN with rc 0", "", "[aiter] calling test_fmoe(token = 4)\n[aiter] output contains NaN! (x)\n[aiter] ck_moe_2stages: 85.73 us, 18.49 tflops......(quant:x)[checkAllclose atol=0.01 rtol=0.01 failed!]\n", 0, "", 0, bench.OutcomeDisagree, false, "FA-12", "NaN"},
		{"GEMM with NaN passes", "[flyc] MFMA FP16 GEMM Test (Tile: 16x64x256)\n[flyc] Throughput: 291.1 us, 9.22 TFLOPS, BW: 0.579 TB/s\n", "INFO:flydsl:[checkAllclose atol=0.1 rtol=0.1 warning!] a and b results are not all close\nINFO:flydsl:-->max abs delta:nan, delta details: 0.9% (1418 of 163840) elements\n", 0, "", 0, bench.OutcomeDisagree, false, "FA-12", "delta nan"},
		{"GEMM with a small warning", "[flyc] MFMA FP16 GEMM Test (Tile: 16x64x256)\n[flyc] Throughput: 291.1 us, 9.22 TFLOPS, BW: 0.579 TB/s\n", "INFO:flydsl:[checkAllclose atol=0.1 rtol=0.1 warning!] x\nINFO:flydsl:-->max abs delta:0.4, delta details: 2.7% (4389 of 163840) elements\n", 0, "", 0, bench.OutcomePass, true, "FA-21", "2.7%"},
		{"FileCheck missing", "Pytest: kernels + language\n==== 20 passed in 9.40s ====\nExamples (examples/)\n  PASS  01-vectorAdd.py\nMLIR FileCheck Tests\n  SKIP  FileCheck not found; skipping MLIR lit tests.\nAll tests passed.\n", "", 0, "", 0, bench.OutcomeNotProven, true, "FA-20", "FileCheck"},
		{"pytest collected nothing", "==== test session starts ====\ncollected 0 items\n==== no tests ran in 0.01s ====\n", "", 0, "", 0, bench.OutcomeNotProven, true, "FA-20", "0 executed"},
		{"pytest fails", "==== test session starts ====\ntests/a.py::t PASSED [ 50%]\ntests/a.py::u FAILED [100%]\n==== 1 failed, 1 passed in 0.01s ====\n", "", 1, "", 0, bench.OutcomeFail, true, "", ""},
		{"benchmark script shows a number for a failed run", "[run_benchmark] GPU arch: gfx950 (CDNA=true)\nop                     shape                              dtype            TB/s     TFLOPS\nflash_attn             B4S8192H64Hkv8D128_causal          bf16                -     59.000\nBenchmark Summary\nTotal: 1 tests\nSuccess: 0\nSkipped: 0\nFailed: 1\nSome benchmarks failed. Check the output above for details.\n", "flash_attn failed. Log: /tmp/x/flash_attn_B4_S8192_H64_Hkv8_D128_bf16_causal.log\n", 1, "", 0, bench.OutcomeFail, true, "", "may still show a number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := NewParser(Options{Command: tc.command})
			p.Feed(Stdout, []byte(tc.stdout))
			p.Feed(Stderr, []byte(tc.stderr))
			r := p.Close(&tc.exit)
			v := bench.Truth(&r, tc.expected)
			if v.Outcome != tc.want || v.Agree != tc.agree {
				t.Fatalf("outcome %s agree %v, want %s %v\n%+v\nrows %+v", v.Outcome, v.Agree, tc.want, tc.agree, v, r.Rows)
			}
			if tc.rule == "" && tc.words == "" {
				return
			}
			for _, x := range v.Reasons {
				if (tc.rule == "" || x.Rule == tc.rule) && strings.Contains(x.Text+" "+x.Quote, tc.words) {
					return
				}
			}
			t.Errorf("no reason %s with %q in %+v", tc.rule, tc.words, v.Reasons)
		})
	}
}

// TestTruthOfSamples: no sample that its expected.json calls a trap is green,
// and the clean ones are.
func TestTruthOfSamples(t *testing.T) {
	dir := dataDir(t)
	zero, one, crash := 0, 1, 134
	for _, tc := range []struct {
		sample  string
		files   []string
		exit    *int
		command string
		want    bench.Outcome
	}{
		{"flash_attn/pr683_normal", []string{"stdout.txt", "stderr.txt"}, &zero, "", bench.OutcomePass},
		{"flash_attn/head_normal_extra", []string{"stdout.txt", "stderr.txt"}, &zero, "", bench.OutcomePass},
		{"flash_attn/pr683_faults", []string{"stdout.txt", "stderr.txt"}, &one, "", bench.OutcomeFail},
		{"flash_attn/head_compare", []string{"stdout.txt", "stderr.txt"}, &zero, "", bench.OutcomeDisagree},
		{"flash_attn/head_abort", []string{"stdout.txt", "stderr.txt"}, &crash, "", bench.OutcomeCrashed},
		{"flash_attn/head_fp8_mislabel", []string{"stdout.txt", "stderr.txt"}, &zero, "", bench.OutcomeNotProven},
		{"moe_flydsl/format_b_bad_cos_exit0", []string{"stdout.txt"}, &zero, "", bench.OutcomeDisagree},
		{"moe_flydsl/format_b_fp8", []string{"stdout.txt"}, &zero, "", bench.OutcomePass},
		{"moe_flydsl/format_b_zero_output", []string{"stdout.txt"}, &zero, "", bench.OutcomeNotProven},
		{"moe_aiter/head_legacy_synthetic", []string{"stderr.txt"}, &zero, "", bench.OutcomeDisagree},
		{"preshuffle_gemm/fp16_nan_passes", []string{"stdout.txt", "stderr.txt"}, &zero, "", bench.OutcomeDisagree},
		{"preshuffle_gemm/fp8", []string{"stdout.txt", "stderr.txt"}, &zero, "", bench.OutcomePass},
		{"layernorm/forward_pass", []string{"stdout.txt", "stderr.txt"}, &zero, "", bench.OutcomePass},
		{"pytest/run_tests_replayed_pass", []string{"stdout.txt"}, &zero, "", bench.OutcomeNotProven},
		{"pytest/run_tests_no_pytest", []string{"stdout.txt", "stderr.txt"}, &one, "", bench.OutcomeFail},
		{"run_benchmark/replayed_all_ops", []string{"stdout.txt", "stderr.txt"}, &one, "", bench.OutcomeFail},
	} {
		t.Run(tc.sample, func(t *testing.T) {
			var paths []string
			for _, f := range tc.files {
				paths = append(paths, filepath.Join(dir, filepath.FromSlash(tc.sample), f))
			}
			r, err := Parse(paths, Options{Command: tc.command}, tc.exit)
			if err != nil {
				t.Fatal(err)
			}
			if v := bench.Truth(&r, 0); v.Outcome != tc.want {
				t.Errorf("outcome %s, want %s: %+v", v.Outcome, tc.want, v)
			}
		})
	}
	same := func(sample string) []bench.Row {
		r, err := Parse([]string{filepath.Join(dir, "flash_attn", sample, "stdout.txt")}, Options{}, &zero)
		if err != nil {
			t.Fatal(err)
		}
		return r.Rows
	}
	if keys := bench.SameBytes(same("head_fp8_mislabel"), same("head_abort")); len(keys) == 0 {
		t.Error("the fp8 rows that hold the bytes of bf16 were not found across runs")
	}
}
