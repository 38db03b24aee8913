package harness

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kdapilot/engine/bench"
)

// seeds are small pieces of every format.
func seeds() []string {
	return []string{
		denseHead + densePass + denseErr + denseNaN + denseSkip + "All tests PASSED\n",
		"QKV varlen (packed\n  [512, 256]   2   64   64  128   bf16   causal |      121.3    188.1  2.34e-02    FAIL\n  [300, 7   3   32   32  128   bf16   causal | ERR: exec\n",
		"Additional dense/varlen\n  [1024]  [40...   16    2  192/128   bf16   causal   x   |   PASS | 0.00e+00  1.00000 |     1393.2      10.8\n",
		compareHd + "   1    512    8    8  128  bf16   causal     1 |  12.2 44.2 3.91e-03 | 11.9 45.4 nan |  97.4%  nanx\n",
		"B,S,H,Hkv,D,dtype,causal,kv_sp,Path,Status,MaxErr,MinCos,Time(us),TFLOPS\r\n1,512,8,8,128,bf16,causal,1,,PASS,3.91e-03,0.99999,12.1,44.5\r\nAVG (all),,,,,,,,,--,1,1,1,1\r\n",
		"Sq,Skv,H,Hkv,D,dtype,causal,Path,Status,MaxErr,MinCos,Time(us),TFLOPS\n\"[1024, 1024]\",\"[1024, 1024]\",64,64,64,bf16,causal,,PASS,3.91e-03,0.99999,79.3,216.9\n",
		"[flyc] MFMA FP8 GEMM Test (Tile: 16x64x256)\n[flyc] Throughput: 22.8 us, 58.87 TFLOPS, BW: 3.690 TB/s\nAiter Throughput: 23.4 us, 57.35 TFLOPS, BW: 3591.10 GB/s\n",
		"[fp8_gemm_4wave] M=4096 N=4096 K=4096 BLOCK_M=256 BLOCK_N=256 xcd_remap=True\n[flyc] Throughput: 445.7 us, 308.38 TFLOPS, BW: 0.151 TB/s\n[torch._scaled_mm] Throughput: 91.0 us, 1509.50 TFLOPS, flydsl/torch=20.4%, ok=False\n",
		"FlyDSL MoE stage1[fp8]: 18772.0 us, 1874.30 TFLOPS(logical, M=131072), 0.243 TB/s (doweight_stage1=False)\n[aiter] stage1: 19905.1 us, 1767.61 TFLOPS, FlyDSL vs aiter speedups: 1.06x\n",
		"FlyDSL MoE stage1[fp4] benchmark | shape=(4096,7168,2048), E=32, K=8, tile=(64,256,256)\n  kernel: 1163.2 us (1.1632 ms) | 1654.24 TFLOPS(logical, M=32768) | 0.377 TB/s\n  bandwidth: read 361.4 GB/s + write 15.7 GB/s\n",
		"[aiter] \ncalling test_fmoe(dtype = torch.bfloat16,\n   token = 1,\n  AQDType = torch.float4_e2m1fn_x2)\n[aiter] ck_moe_2stages: 34.34 us, 2.89 tflops......(quant:x)[checkAllclose atol=0.01 rtol=0.01 \x1b[32mpassed~\x1b[0m]\n[aiter] -->max abs delta:nan, delta details: 1% (1 of 2) elements\n",
		"| dtype | token | model_dim | qType | us | logits_diff |\n|:-|-:|-:|-:|-:|-:|\n| torch.bfloat16 | 1 | 7168 | 3 | 34.34 | nan |\n",
		"Testing LayerNorm (M=64, N=256, dtype=f32)\nKernel avg time: 0.0033 ms via\nBandwidth: 40.12 GB/s\nMax absolute error: 7.15e-07 (atol=0.0001)\nPASSED\nALL TESTS PASSED\nop shape dtype  FlyDSL(gpu us)  AIter(gpu us) speedup\nlayernorm  1x1  bf16  1,939.9  -  -\n",
		"[run_benchmark] GPU arch: gfx950 (x)\nop   shape   dtype            TB/s     TFLOPS\ngemm 1x1_tile1 fp8 0.1 -\nBenchmark Summary\nTotal: 1 tests\n=== Benchmark: current vs main ===\n gemm 1x1 fp8 main= 1 TFLOPS current= 2 TFLOPS ratio= 2x delta= +1 ( +100%)\n",
		"==== test session starts ====\ncollected 3 items / 1 deselected / 2 selected\ntests/a.py::t[x] PASSED [ 50%]\nFAILED tests/a.py::u - x\n1 failed, 1 passed in 0.01s\n",
		"Pytest: kernels + x\nExamples (x)\n  SKIP  FileCheck not found\nAll tests passed.\n",
		"Running suite=full\n[1/2] L B=1 S=128 H=32/32 D=128 bf16 causal provider=x\n  ok 86.7 us 1.5 TFLOPS correctness=pass\n[2/2] L B=1 S=128 H=32/32 D=128 bf16 causal provider=y\n  failed: z\n",
		`{"key":"k","status":"PASS","us":1,"min_cos":"NaN","x":{"a":[1,null]}}` + "\n",
		`<?xml version="1.0"?><testsuites><testsuite><testcase classname="a" name="b" time="1"><failure message="m"/></testcase></testsuite></testsuites>`,
		"\xef\xbb\xbf2026-06-09T09:00:00.0Z op x\r\n\x1b]0;t\x07\x1b[2K\rx\r\n",
	}
}

// FuzzParser feeds any bytes to a family, whole and in pieces: no panic, and
// the cuts change nothing.
func FuzzParser(f *testing.F) {
	all := append(Families(), Auto)
	for i, s := range seeds() {
		f.Add([]byte(s), uint8(i), uint8(len(all)-1))
		if fam := Detect([]byte(s)); fam != Unknown {
			f.Add([]byte(s), uint8(i), uint8(slices.Index(all, fam)))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, cut, pick uint8) {
		for _, fam := range all[int(pick)%len(all) : int(pick)%len(all)+1] {
			one := NewParser(Options{Family: fam, Command: "test_preshuffle_gemm.py -M 1"})
			one.Feed(Merged, b)
			whole := one.Close(nil)
			p := NewParser(Options{Family: fam, Command: "test_preshuffle_gemm.py -M 1", Sink: func(bench.Event) {}})
			for at := 0; at < len(b); {
				n := min(len(b)-at, 1+int(cut)%97)
				p.Feed(Merged, b[at:at+n])
				at += n
			}
			pieces := p.Close(nil)
			if len(whole.Rows) != len(pieces.Rows) || whole.RowLinesSeen != pieces.RowLinesSeen || len(whole.Tests) != len(pieces.Tests) {
				t.Fatalf("%s: %d rows whole, %d in pieces", fam, len(whole.Rows), len(pieces.Rows))
			}
			for i := range whole.Rows {
				if whole.Rows[i].Key == "" {
					t.Fatalf("%s: a row without a key", fam)
				}
			}
			zero := 0
			whole.ExitStatus = &zero
			bench.Truth(&whole, 1)
			bench.Compare(bench.Arm{Runs: [][]bench.Row{whole.AllRows()}}, bench.Arm{Runs: [][]bench.Row{pieces.AllRows()}}, bench.Options{Resamples: 4})
			if _, err := json.Marshal(whole); err != nil {
				t.Fatalf("%s: %v", fam, err)
			}
		}
	})
}

// FuzzData gives any bytes to the readers of data files.
func FuzzData(f *testing.F) {
	for i, s := range seeds() {
		f.Add([]byte(s), uint8(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, kind uint8) {
		c := &collector{keep: kind&8 != 0}
		var err error
		switch kind % 4 {
		case 0:
			_, err = readCSV(c, b)
		case 1:
			_, err = readJSONL(c, b)
		case 2:
			_, err = readJSON(c, b)
		case 3:
			err = readJUnit(c, b)
		}
		r := c.result()
		if err == nil {
			bench.Truth(&r, 0)
		}
	})
}

// TestDamage cuts, doubles and flips bytes of every seed: rows never carry
// control characters and nothing panics.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range seeds() {
		for range 60 {
			b := []byte(s)
			for range 1 + rng.IntN(6) {
				if len(b) == 0 {
					break
				}
				i := rng.IntN(len(b))
				switch rng.IntN(4) {
				case 0:
					b[i] = byte(rng.IntN(256))
				case 1:
					b = b[:i]
				case 2:
					b = append(b[:i:i], append([]byte("\x1b[31m\r\x00"), b[i:]...)...)
				case 3:
					b = append(b[:i:i], b[min(len(b), i+rng.IntN(9)):]...)
				}
			}
			for _, fam := range append(Families(), Auto) {
				p := NewParser(Options{Family: fam})
				p.Feed(Stdout, b)
				r := p.Close(nil)
				for _, row := range r.AllRows() {
					if strings.ContainsAny(row.Key+row.Error+strings.Join(row.Warnings, ""), "\x1b\x00\r\n") {
						t.Fatalf("%s: control characters in %q", fam, row.Key)
					}
				}
			}
		}
	}
}

// TestLongLines: a megabyte before a row costs nothing, forty megabytes are
// cut and said so.
func TestLongLines(t *testing.T) {
	for _, size := range []int{280 << 10, 1 << 20, 40 << 20} {
		p := NewParser(Options{})
		p.Feed(Stdout, []byte(denseHead))
		long := bytes.Repeat([]byte("x"), size)
		for len(long) > 0 {
			n := min(len(long), 64<<10)
			p.Feed(Stdout, long[:n])
			long = long[n:]
		}
		p.Feed(Stdout, []byte("\n"+densePass+"All tests PASSED\n"))
		zero := 0
		r := p.Close(&zero)
		if len(r.Rows) != 1 || r.LongestLine != size {
			t.Errorf("%d: %d rows, longest %d", size, len(r.Rows), r.LongestLine)
		}
		said := len(r.Diagnostics) > 0 && strings.Contains(r.Diagnostics[len(r.Diagnostics)-1].Text, "were cut")
		if said != (size > maxLine) {
			t.Errorf("%d: diagnostics %v", size, r.Diagnostics)
		}
	}
}

// TestEndlessProgress: a bar that never ends its line stays in bounds.
func TestEndlessProgress(t *testing.T) {
	p := NewParser(Options{Family: FlashAttn})
	for range 20_000 {
		p.Feed(Stdout, []byte("\rCompiling:  10%|#         | 1/10 [00:01<00:09,  1.10s/it]"))
	}
	if n := cap(p.streams[Stdout].pending); n > 4*trimAt {
		t.Errorf("%d bytes held for a progress bar", n)
	}
	p.Feed(Stdout, []byte("\r"+densePass))
	if r := p.Close(nil); len(r.Rows) != 1 {
		t.Errorf("%d rows after the bar", len(r.Rows))
	}
}

// TestInterleaved: text of another writer before, behind and between rows.
func TestInterleaved(t *testing.T) {
	row := strings.TrimSuffix(densePass, "\n")
	for name, in := range map[string]string{
		"bar before":    "Compiling: 100%|##| 10/10 [00:10<00:00]" + row + "\n",
		"fault behind":  row + "Memory access fault by GPU node-3 (Agent handle: 0x1) on address 0x2. Reason: Unknown.\n\n",
		"ISO prefix":    "2026-06-09T09:00:00.0000000Z " + row + "\n",
		"job prefix":    "bench\t2026-06-09T09:00:00.0000000Z " + row + "\n",
		"colour":        strings.Replace(row, "PASS", "\x1b[32mPASS\x1b[0m", 1) + "\n",
		"BOM and CRLF":  "\xef\xbb\xbf" + row + "\r\n",
		"torch warning": "/x/profiler.py:224: UserWarning: a | b\n" + row + "\n",
	} {
		p := NewParser(Options{Family: FlashAttn})
		p.Feed(Merged, []byte(in))
		r := p.Close(nil)
		if len(r.Rows) != 1 || r.Rows[0].TFLOPS.V != 44.5 || r.Rows[0].Key != "B1_S512_H8_Hkv8_D128_bf16_causal_sp1" {
			t.Errorf("%s: %+v", name, r.Rows)
		}
		if strings.Contains(name, "fault") && !r.Crashed {
			t.Errorf("%s: the crash was not seen", name)
		}
	}
}

// TestEvents: rows arrive as they are printed, reprints are silent, a changed
// row speaks again.
func TestEvents(t *testing.T) {
	var rows, families []string
	p := NewParser(Options{Sink: func(e bench.Event) {
		switch e.Kind {
		case bench.EventRow:
			rows = append(rows, e.Row.US.String())
		case bench.EventFamily:
			families = append(families, e.Text)
		}
	}})
	p.Feed(Stdout, []byte(denseHead+densePass[:40]))
	if len(rows) != 0 {
		t.Error("a row before its line ended")
	}
	p.Feed(Stdout, []byte(densePass[40:]+densePass+strings.Replace(densePass, "12.1", "13.5", 1)))
	if strings.Join(rows, " ") != "12.1 13.5" || len(families) != 1 || families[0] != "flash_attn" {
		t.Errorf("rows %v, families %v", rows, families)
	}
}

func TestDetect(t *testing.T) {
	want := []Family{FlashAttn, Unknown, Unknown, FlashAttn, Unknown, Unknown, PreshuffleGEMM, RowscaleGEMM, MoEFlyDSL, MoEFlyDSL, MoEAiter, MoEAiter, Norm, RunBenchmark, Pytest, RunTests, ProfLib, Unknown, Unknown, Unknown}
	for i, s := range seeds() {
		if got := Detect([]byte(s)); got != want[i] {
			t.Errorf("seed %d: %s, want %s", i, got, want[i])
		}
	}
}

func TestParseFamily(t *testing.T) {
	for _, f := range Families() {
		if got, err := ParseFamily(string(f)); err != nil || got != f {
			t.Errorf("%s: %s %v", f, got, err)
		}
	}
	if got, err := ParseFamily("auto"); err != nil || got != Auto {
		t.Errorf("auto: %s %v", got, err)
	}
	if _, err := ParseFamily("conv"); err == nil || !strings.Contains(err.Error(), "flash_attn") {
		t.Errorf("conv: %v", err)
	}
}

// TestBadFiles: a clear error names file, line and what was expected.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct{ text, words string }{
		"a.csv":   {"x,y,z\n1,2,3\n", "a.csv: line 1: want the header"},
		"b.csv":   {"B,S,H,Hkv,D,dtype,causal,Status,MaxErr,MinCos,Time(us),TFLOPS\n1,big,1,1,1,bf16,causal,PASS,1,1,1,1\n", "b.csv: line 2: column S: want an integer, have \"big\""},
		"c.jsonl": {"{\n", "c.jsonl: line 1: want one JSON object per line"},
		"d.json":  {"[]", "d.json: want a list of cases"},
		"e.xml":   {"<?xml version=\"1.0\"?><testsuite></broken>", "e.xml: line 1: want junit XML"},
		"f.csv":   {"", "f.csv: line 1: the file is empty"},
	} {
		_, err := Parse([]string{write(t, filepath.Join(dir, name), tc.text)}, Options{}, nil)
		if err == nil || !strings.Contains(err.Error(), tc.words) {
			t.Errorf("%s: %v, want %q", name, err, tc.words)
		}
	}
	if _, err := Parse([]string{dir}, Options{}, nil); err == nil || !strings.Contains(err.Error(), "want a file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Parse([]string{os.DevNull}, Options{}, nil); err == nil {
		t.Error("a device was read")
	}
	if _, err := Parse(nil, Options{}, nil); err == nil {
		t.Error("no file was accepted")
	}
}
