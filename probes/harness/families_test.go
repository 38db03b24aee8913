package harness

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kdapilot/engine/bench"
)

// brief is a row in words: key status us and the asked-for fields.
func brief(r bench.Row, fields ...string) string {
	s := fmt.Sprintf("%s %s %s", r.Key, r.Status, r.US)
	for _, f := range fields {
		s += " " + f + "=" + r.Axis(f).Text()
	}
	return s
}

// TestFamilies reads small pieces of every family, written for this test.
func TestFamilies(t *testing.T) {
	for _, tc := range []struct {
		name   string
		in     string
		family Family
		opt    Options
		fields []string
		rows   []string
	}{
		{"dense with KVLayout", denseHead + densePass, FlashAttn, Options{}, []string{"kv_layout", "kv_sp"},
			[]string{"B1_S512_H8_Hkv8_D128_bf16_causal_sp1 PASS 12.1 kv_layout=dense kv_sp=1"}},
		{"paged KV is another cell", denseHead + densePass + strings.Replace(densePass, "dense     ", "linear:p64", 1), FlashAttn, Options{}, []string{"kv_layout"},
			[]string{"B1_S512_H8_Hkv8_D128_bf16_causal_sp1 PASS 12.1 kv_layout=dense", "B1_S512_H8_Hkv8_D128_bf16_causal_sp1_linear:p64 PASS 12.1 kv_layout=linear:p64"}},
		{"first layout", "   B      S    H  Hkv    D dtype   causal Path  | Status | MaxErr MinCos | Time(us) TFLOPS\n   1    512    8    8  128  bf16 nocausal         |   PASS | 3.91e-03  0.99999 |       12.1      44.5\n", FlashAttn, Options{}, []string{"causal", "kv_sp"},
			[]string{"B1_S512_H8_Hkv8_D128_bf16_nocausal PASS 12.1 causal=false kv_sp="}},
		{"split ERROR cell", denseHead + strings.Replace(densePass, "  PASS | 3.91e-03  0.99999 |       12.1      44.5\n", " ERROR | exec: HIP error\nHI\n", 1), FlashAttn, Options{}, nil,
			[]string{"B1_S512_H8_Hkv8_D128_bf16_causal_sp1 ERROR -"}},
		{"cut extra labels are two cells", "FlyDSL flash_attn_func (x)\nAdditional dense/varlen\n" + strings.Repeat("  [1024, 8192, 3, 31, 6... [1024, 8192, 3, 31, 6...   64    8  128  bf16   causal  |   PASS | 0.00e+00  1.00000 |     1.0      10.8\n", 2), FlashAttn, Options{}, nil, nil},
		{"GEMM with a command", "[flyc] MFMA FP8 GEMM Test (Tile: 64x256x128)\n[flyc] A8W8 Throughput: 1036.6 us, 420.81 TFLOPS, BW: 0.133 TB/s\n", PreshuffleGEMM, Options{Command: "python3 test_preshuffle_gemm.py -M 5120 -N=5120"}, []string{"M", "N", "K", "tbps"},
			[]string{"M5120_N5120_K8192_fp8_tile64x256x128 PASS 1036.6 M=5120 N=5120 K=8192 tbps=0.133"}},
		{"GEMM without a command", "[flyc] MFMA FP8 GEMM Test (Tile: 64x256x128)\nLogits Diff: 0.09, Max Diff: 42.0, Mean Diff: 39.9\n✗ Check failed: logits_diff 0.09 > 0.002\n", PreshuffleGEMM, Options{}, []string{"M", "logits_diff"},
			[]string{"M?_N?_K?_fp8_tile64x256x128 FAIL - M= logits_diff=0.09"}},
		{"GEMM that died", "[flyc] MFMA FP8 GEMM Test (Tile: 64x256x128)\nTraceback (most recent call last):\n  File \"x\"\nRuntimeError: boom\n", PreshuffleGEMM, Options{}, nil,
			[]string{"M?_N?_K?_fp8_tile64x256x128 ERROR -"}},
		{"fp4 GEMM", "[fp4_gemm_4wave] M=8192 N=8192 K=8192 BLOCK_M=256 BLOCK_N=256\n[flyc] Throughput: 445.7 us, 308.38 TFLOPS, BW: 0.151 TB/s\n[torch._scaled_mm] failed: no kernel\n", RowscaleGEMM, Options{}, []string{"dtype", "variant"},
			[]string{"M8192_N8192_K8192_fp4_4wave_256x256 PASS 445.7 dtype=fp4 variant=4wave"}},
		{"MoE A", "FlyDSL MoE stage2 [moe_gemm2] fp4 atomic | 7168x2048, E=32, K=8, M_eff=4608 | 845.5 us, 1200.00 TFLOPS, 0.300 TB/s, p95=1170.0 us\n[aiter] stage2: 900.0 us, 1100.00 TFLOPS(logical, M=4608), FlyDSL vs aiter speedups: 1.06x\n", MoEFlyDSL, Options{}, []string{"kernel", "mode", "m_eff", "p95_us", "speedup"},
			[]string{"stage2_fp4_atomic_d7168x2048-e32k8-M4608 OK 845.5 kernel=moe_gemm2 mode=atomic m_eff=4608 p95_us=1170 speedup=1.06"}},
		{"MoE B and a skip", "FlyDSL MoE stage1[int8]: cos=nan | t32-d256x128-e8k2 | 20.3 us, 0.41 TFLOPS, 0.028 TB/s\n[skip] stage2 reduce mode does not support out_dtype='f32'\n", MoEFlyDSL, Options{}, []string{"cos", "cockpit_gate"},
			[]string{"stage1_int8_t32-d256x128-e8k2 OK 20.3 cos=NaN cockpit_gate=not_checked", "stage2_reduce SKIP - cos= cockpit_gate="}},
		{"MoE C", "FlyDSL MoE stage2[fp8] atomic: cos=0.99997 t64-d6144x1024-e128k8 104.0 us TFLOPS=1688.15 TB/s=0.412\n", MoEFlyDSL, Options{}, []string{"tbps", "cockpit_gate"},
			[]string{"stage2_fp8_atomic_t64-d6144x1024-e128k8 OK 104 tbps=0.412 cockpit_gate=pass"}},
		{"MoE D cut short", "FlyDSL MoE stage1[fp4] benchmark | shape=(4096,7168,2048), E=32, K=8, tile=(64,256,256)\n", MoEFlyDSL, Options{}, []string{"tokens", "tile"},
			[]string{"stage1_fp4_t4096-d7168x2048-e32k8_tile64x256x256 ERROR - tokens=4096 tile=64,256,256"}},
		{"aiter under AITER_LOG_MORE", "[aiter INFO] 2026-05-12 12:39:30.376 - MainProcess:1 - /x.py:455 - checkAllclose\nck_moe_2stages: 1137.33 us,     0.15 tflops,    41.17 GB/s (M=1,dim=7168/512,E=256,topk=8,act=2.0B,w=0.5B)......(quant:x)[checkAllclose atol=0.25 rtol=0.5 failed!]\n[moe_2stage] logits_diff=0.393519 mismatch_ratio=0.3557\n", MoEAiter, Options{}, []string{"logits_diff", "mismatch_ratio", "allclose"},
			[]string{"fmoe_t1_d7168x512_e256k8 FAIL 1137.33 logits_diff=0.393519 mismatch_ratio=0.3557 allclose=failed"}},
		{"aiter catastrophic", "ck_moe_2stages: 1.5 us, 0.15 tflops, 1.0 GB/s (M=1,dim=7168/512,E=256,topk=8)......[checkAllclose atol=0.25 rtol=0.5 catastrophic!]\n", MoEAiter, Options{}, nil,
			[]string{"fmoe_t1_d7168x512_e256k8 FAIL 1.5"}},
		{"norm blocks", "Testing LayerNorm (M=64, N=256, dtype=f32)\nKernel avg time: 0.0033 ms via x\nBandwidth: 40.12 GB/s\nMax absolute error: 7.15e-07 (atol=0.0001)\nPASSED\nTesting RMSNorm Quant (M=64, N=256, dtype=f32)\nMax quant diff: 2\nMax scale diff: 1.0e-05 (tol=0.001)\nFAILED\nTesting LayerNorm (M=1, N=2, dtype=f16)\n[FAIL] Compile failed: x\n2 TESTS FAILED\n", Norm, Options{}, []string{"gbps", "quant_diff"},
			[]string{"M64_N256_f32 PASS 3.3 gbps=40.12 quant_diff=", "rmsnorm_quant_M64_N256_f32 FAIL - gbps= quant_diff=2", "M1_N2_f16 ERROR - gbps= quant_diff="}},
		{"profiling library with a fault", "Running suite=full\n[1/2] L B=1 S=128 H=32/8 D=128 bf16 causal provider=x\n[aiter] import [y]\n  ok 86.7 us 1.5 TFLOPS correctness=pass\n[2/2] L B=1 S=128 H=32/8 D=128 bf16 nocausal provider=y\nMemory access fault by GPU node-3\n", ProfLib, Options{}, []string{"Hkv", "causal"},
			[]string{"L_x ok 86.7 Hkv=8 causal=true", "L_y failed - Hkv=8 causal=false"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := NewParser(tc.opt)
			p.Feed(Merged, []byte(tc.in))
			one := 1
			r := p.Close(&one)
			if r.Family != string(tc.family) {
				t.Errorf("family %s, want %s", r.Family, tc.family)
			}
			if tc.rows == nil {
				if len(r.ExtraRows) != 2 || r.ExtraRows[0].Key == r.ExtraRows[1].Key {
					t.Errorf("extra rows %v", r.ExtraRows)
				}
				return
			}
			var got []string
			for _, row := range r.Rows {
				got = append(got, brief(row, tc.fields...))
			}
			if !slices.Equal(got, tc.rows) {
				t.Errorf("have\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(tc.rows, "\n "))
			}
		})
	}
}

// TestPytestForms: the same run at every verbosity.
func TestPytestForms(t *testing.T) {
	const sum = "1 failed, 2 passed, 1 skipped in 9.40s"
	for _, tc := range []struct {
		name, in string
		tests    string
	}{
		{"-v", "= test session starts =\ncollected 4 items\n\ntests/a.py::t[x-1] PASSED       [ 25%]\ntests/a.py::u FAILED [ 50%]\ntests/a.py::v SKIPPED (no GPU) [ 75%]\ntests/a.py::w PASSED [100%]\nFAILED tests/a.py::u - AssertionError: x\n +  where False = y\n===== " + sum + " =====\n",
			"t[x-1]=PASSED u=FAILED v=SKIPPED w=PASSED"},
		{"dots", "= test session starts =\ncollected 4 items\n\ntests/a.py .Fs. [100%]\nFAILED tests/a.py::u\n== " + sum + " ==\n", ""},
		{"quiet", "FAILED tests/a.py::u - x\n" + sum + "\n", ""},
		{"xdist", "= test session starts =\n[gw0] [ 25%] PASSED tests/a.py::t[x-1] \n[gw1] [ 50%] FAILED tests/a.py::u \n[gw0] [ 75%] SKIPPED tests/a.py::v \n[gw0] [100%] PASSED tests/a.py::w\nFAILED tests/a.py::u\n== " + sum + " ==\n",
			"t[x-1]=PASSED u=FAILED v=SKIPPED w=PASSED"},
		{"-s", "= test session starts =\ntests/a.py::t[x-1] [flyc] Throughput: 1.0 us\nPASSED [ 25%]\ntests/a.py::u output\nERROR    root:x.py:420 logits_diff\nFAILED [ 50%]\ntests/a.py::v SKIPPED [ 75%]\ntests/a.py::w PASSED\nFAILED tests/a.py::u\n== " + sum + " ==\n",
			"t[x-1]=PASSED u=FAILED v=SKIPPED w=PASSED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := NewParser(Options{})
			p.Feed(Stdout, []byte(tc.in))
			one := 1
			r := p.Close(&one)
			var got []string
			for _, x := range r.Tests {
				got = append(got, strings.TrimPrefix(x.ID, "tests/a.py::")+"="+x.Outcome)
			}
			if strings.Join(got, " ") != tc.tests {
				t.Errorf("tests %v, want %s", got, tc.tests)
			}
			if len(r.Failures) != 1 || r.Failures[0] != "tests/a.py::u" {
				t.Errorf("failures %v", r.Failures)
			}
			b, _ := r.Summary.MarshalJSON()
			if string(b) != `{"failed":1,"passed":2,"skipped":1,"seconds":9.4}` {
				t.Errorf("summary %s", b)
			}
			if v := bench.Truth(&r, 0); v.Outcome != bench.OutcomeFail {
				t.Errorf("truth %+v", v)
			}
		})
	}
}

// TestPartialTail: an unfinished line is a row only after an orderly end.
func TestPartialTail(t *testing.T) {
	zero, killed := 0, -9
	for _, tc := range []struct {
		exit *int
		rows int
	}{{&zero, 1}, {&killed, 0}, {nil, 0}} {
		p := NewParser(Options{Family: FlashAttn})
		p.Feed(Stdout, []byte(strings.TrimSuffix(densePass, "\n")))
		r := p.Close(tc.exit)
		if len(r.Rows) != tc.rows || (r.PartialTail != nil) != (tc.rows == 0) {
			t.Errorf("exit %v: %d rows, tail %v", tc.exit, len(r.Rows), r.PartialTail)
		}
	}
}

// TestStaleCSV: a crash leaves the table of the run before in place.
func TestStaleCSV(t *testing.T) {
	dir := t.TempDir()
	log := write(t, dir+"/stdout.log", denseHead+densePass)
	csv := write(t, dir+"/fmha_perf_X.csv", "B,S,H,Hkv,D,dtype,causal,kv_sp,KVLayout,Path,Status,MaxErr,MinCos,Time(us),TFLOPS\r\n1,512,8,8,128,bf16,causal,1,dense,,PASS,3.91e-03,0.99999,99.9,44.5\r\n")
	crash := 134
	r, err := Parse([]string{log, csv}, Options{}, &crash)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 1 || r.Rows[0].US.V != 12.1 || len(r.Diagnostics) == 0 || !strings.Contains(r.Diagnostics[0].Text, "may be of another run") {
		t.Errorf("rows %v, diagnostics %v", r.Rows, r.Diagnostics)
	}
}
