package harness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// syntheticLog is like a sweep's log: a verbose block and a row per cell, and
// the same keys again and again as in a long repeated run.
func syntheticLog(size int) []byte {
	var b bytes.Buffer
	b.WriteString("FlyDSL flash_attn_func (causal+non-causal, bf16+fp16)\nGPU: SIMULATED\n")
	b.WriteString("   B      S    H  Hkv    D dtype   causal kv_sp KVLayout                  Path                 | Status |   MaxErr   MinCos |   Time(us)   TFLOPS\n")
	for i := 0; b.Len() < size; i++ {
		s, h := 128*(1+i%64), 8*(1+i/64%8)
		tag := fmt.Sprintf("  [B=1 Sq=%d Skv=%d H=%d Hkv=%d D=128 causal splits=1] ", s, s, h, h)
		fmt.Fprintf(&b, "%sresult_md5 = %032x\n%sref_md5    = %032x\n%sMD5 match: DIFFER (not bit-identical)\n%s--- compare_arrays ---\n", tag, i, tag, i+1, tag, tag)
		b.WriteString("  diff.abs.max = 0.003906\n  diff.abs.mean = 0.000063\n  max_diff_thr (rel) = 2.604167e-03\n  Top-5 differences:\n")
		for j := range 5 {
			fmt.Fprintf(&b, "    [(np.int64(%d),)] result=0.738281, ref=0.742188, diff=0.003906\n", 5652+j)
		}
		b.WriteString("  Threshold distribution (524288 elements):\n")
		for range 9 {
			b.WriteString("    [0e+00, 1e-06):   304689 ( 58.11%)\n")
		}
		fmt.Fprintf(&b, "   1 %6d %4d %4d  128  bf16   causal     1 dense                                          |   PASS | 3.91e-03  0.99999 |     %6.1f     180.2\n", s, h, h, 20+float64(i%977)/10)
	}
	return b.Bytes()
}

// BenchmarkLog200MB feeds 200 MB in pipe-sized chunks.
func BenchmarkLog200MB(b *testing.B) {
	one := syntheticLog(8 << 20)
	const times = 25
	b.SetBytes(int64(len(one)) * times)
	b.ReportAllocs()
	var peak uint64
	for b.Loop() {
		p := NewParser(Options{})
		for range times {
			for at := 0; at < len(one); at += 64 << 10 {
				p.Feed(Stdout, one[at:min(len(one), at+64<<10)])
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
		exit := 0
		if r := p.Close(&exit); len(r.Rows) != 512 {
			b.Fatalf("%d rows", len(r.Rows))
		}
	}
	b.ReportMetric(float64(peak)/1e6, "heapMB")
}

// BenchmarkUnknownLog is a log that no family claims.
func BenchmarkUnknownLog(b *testing.B) {
	one := bytes.Repeat([]byte("[12/345] Building CXX object lib/Target/AMDGPU/CMakeFiles/x.dir/SIInstrInfo.cpp.o\n"), 100_000)
	b.SetBytes(int64(len(one)))
	for b.Loop() {
		p := NewParser(Options{})
		p.Feed(Merged, one)
		p.Close(nil)
	}
}

// BenchmarkOtherFamilies feeds logs of the families whose lines are read as
// text.
func BenchmarkOtherFamilies(b *testing.B) {
	for _, tc := range []struct {
		family Family
		block  string
	}{
		{MoEAiter, "[aiter] \ncalling test_fmoe(dtype = torch.bfloat16,\n   token = 1,\n  AQDType = torch.float4_e2m1fn_x2)\n[aiter] ck_moe_2stages: 34.34 us, 2.89 tflops......(quant:x)[checkAllclose atol=0.01 rtol=0.01 \x1b[32mpassed~\x1b[0m]\n           tensor([-0.4277, -0.0820,  0.3984, -0.2578, -0.4922, -0.4043,  0.7891,  0.4551],\n       device='cuda:0', dtype=torch.bfloat16)\n"},
		{Pytest, "tests/kernels/test_preshuffle_gemm.py::test_mfma_a8_flyc_preshuffle[eager-sync_copy-16-5120-8192-16-64-512-fp8] PASSED [  5%]\n"},
		{ProfLib, "[1/198] L B=1 S=128 H=32/8 D=128 bf16 causal provider=x\n[aiter] import [module] under /sgl-workspace/aiter/aiter/jit/module_fmha_v3_fwd.so\n  ok 86.7 us 1.5 TFLOPS correctness=pass\n"},
		{Norm, "Testing LayerNorm (M=64, N=256, dtype=f32)\nLaunching kernel...\nKernel avg time: 0.0033 ms via x\nBandwidth: 40.12 GB/s\nMax absolute error: 7.15e-07 (atol=0.0001)\nPASSED\n"},
	} {
		one := bytes.Repeat([]byte(tc.block), 1+(4<<20)/len(tc.block))
		b.Run(string(tc.family), func(b *testing.B) {
			b.SetBytes(int64(len(one)))
			for b.Loop() {
				p := NewParser(Options{Family: tc.family})
				p.Feed(Merged, one)
				p.Close(nil)
			}
		})
	}
}

// BenchmarkLoadArm reads 10,000 cells x 10 repeats as rows, the way a compare
// on the command line does.
func BenchmarkLoadArm(b *testing.B) {
	var rows, table bytes.Buffer
	table.WriteString("B,S,H,Hkv,D,dtype,causal,kv_sp,Path,Status,MaxErr,MinCos,Time(us),TFLOPS\n")
	for rep := range 10 {
		for i := range 10_000 {
			us := 20 + float64((i*7+rep)%991)/10
			fmt.Fprintf(&rows, `{"key":"B1_S%d_H8_Hkv8_D128_bf16_causal_sp1","B":1,"S":%d,"H":8,"Hkv":8,"D":128,"dtype":"bf16","causal":true,"kv_sp":1,"status":"PASS","us":%.1f,"tflops":44.5,"max_err":0.00391,"min_cos":0.99999,"error":null}`+"\n", i, i, us)
			fmt.Fprintf(&table, "1,%d,8,8,128,bf16,causal,1,,PASS,3.91e-03,0.99999,%.1f,44.5\n", i, us)
		}
	}
	dir := b.TempDir()
	for name, text := range map[string][]byte{"rows.jsonl": rows.Bytes(), "table.csv": table.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Ext(name), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if a, err := LoadArm("x", []string{path}, Options{}); err != nil || len(a.Runs) != 10 {
					b.Fatal(len(a.Runs), err)
				}
			}
		})
	}
}
