package numerics

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseShape(t *testing.T) {
	want := Shape{Batch: 1, Heads: 8, KVHeads: 2, SeqLen: 2048, HeadDim: 128}
	for _, s := range []string{"B1 H8 Hkv2 S2048 D128", "b=1,h=8,hkv=2,s=2048,d=128", "D128xS2048xHKV2xH8xB1", "  B1\tH8, S2048 D128 hkv2"} {
		if got, err := ParseShape(s); err != nil || got != want {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
	if got, err := ParseShape("B1 H8 S2048 D128"); err != nil || got.KVHeads != 8 {
		t.Errorf("Hkv left out: %+v, %v", got, err)
	}
	if got, err := ParseShape(want.String()); err != nil || got != want {
		t.Errorf("%s reads back as %+v, %v", want, got, err)
	}
	for s, why := range map[string]string{
		"":                        `"b" is missing`,
		"B1 H8 S2048":             `"d" is missing`,
		"B1 H8 S2048 D128 B2":     `"b" is given twice`,
		"B1 H8 S2048 D128 Q4":     `"q" is not one of`,
		"B1 H8 S2048 Dx":          `"d" is not a letter and a number`,
		"B1 H8 S2048 D-3":         "is not a number of 1 or more",
		"B1 H8 S2048 D0":          "is not a number of 1 or more",
		"B1 H8 Hkv0 S2048 D8":     "is not a number of 1 or more",
		"B1 H8 S99999999999 D1":   "sequence length S is 99999999999",
		"B1 H8 Hkv3 S2048 D128":   "can not be shared",
		"1 8 2048 128":            "is not a letter and a number",
		strings.Repeat("B1 ", 99): "bytes long",
	} {
		if got, err := ParseShape(s); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %+v, %v; want %q", s, got, err, why)
		}
	}
}

func FuzzParseShape(f *testing.F) {
	for _, s := range []string{"B1 H8 S2048 D128", "b=1,h=8,hkv=2,s=2048,d=128", "B-1 Hx", "\x00B1", "B1x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseShape(s)
		if err != nil {
			return
		}
		if got.check() != nil {
			t.Fatalf("%q gives %+v, which its own check refuses", s, got)
		}
		if back, err := ParseShape(got.String()); err != nil || back != got {
			t.Fatalf("%q gives %+v, which reads back as %+v, %v", s, got, back, err)
		}
	})
}

func TestParseDesign(t *testing.T) {
	for s, want := range map[string]Design{
		"e4m3fn-unnorm":               {P: E4M3FN, Scale: 1},
		"FP8-Norm-x256":               {P: E4M3FN, Scale: 256, Normalised: true},
		"bf16-unnorm-kv64-psum":       {P: BF16, Scale: 1, KVTile: 64, SumPacked: true},
		" e5m2-unnorm-x0.5-kv32":      {P: E5M2, Scale: 0.5, KVTile: 32},
		"e4m3fnuz-unnorm-psum-x128.0": {P: E4M3FNUZ, Scale: 128, SumPacked: true},
	} {
		got, err := ParseDesign(s)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
		if back, err := ParseDesign(got.Name()); err != nil || back != got {
			t.Errorf("%q is named %s, which reads as %+v, %v", s, got.Name(), back, err)
		}
	}
	for _, s := range []string{"", "e4m3fn", "e4m3fn-half", "e9-norm", "e4m3fn-norm-kv64", "e4m3fn-norm-psum", "e4m3fn-norm-x0",
		"e4m3fn-norm-xNaN", "e4m3fn-norm-xInf", "e4m3fn-norm-y2", "e4m3fn-unnorm-kv-3", "e4m3fn-unnorm-kvx"} {
		if got, err := ParseDesign(s); err == nil {
			t.Errorf("%q: %+v, want an error", s, got)
		}
	}
	for _, d := range DefaultGEMMDesigns() {
		if back, err := ParseGEMMDesign(d.Name()); err != nil || back != d {
			t.Errorf("%s reads as %+v, %v", d.Name(), back, err)
		}
	}
	for _, s := range []string{"", "a4w4", "a4w8-even", "a4w4-round"} {
		if got, err := ParseGEMMDesign(s); err == nil {
			t.Errorf("%q: %+v, want an error", s, got)
		}
	}
}

func FuzzParseDesign(f *testing.F) {
	for _, s := range []string{"e4m3fn-unnorm", "fp8-norm-x256", "bf16-unnorm-kv64-psum", "a4w4-even", "e4m3fn-norm-x1e9", "--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDesign(s); err == nil {
			if back, err := ParseDesign(d.Name()); err != nil || back != d {
				t.Fatalf("%q is %+v, named %s, which reads as %+v, %v", s, d, d.Name(), back, err)
			}
		}
		if d, err := ParseGEMMDesign(s); err == nil {
			if back, err := ParseGEMMDesign(d.Name()); err != nil || back != d {
				t.Fatalf("%q is %+v, named %s, which reads as %+v, %v", s, d, d.Name(), back, err)
			}
		}
	})
}

func TestFlags(t *testing.T) {
	c, err := Flags{Shape: "B1 H4 Hkv2 S64 D32", Causal: true, Inputs: "e4m3fnuz", Scales: "PER_HEAD", Values: "Normal", Output: "fp16",
		Reference: "original", Designs: []string{"e4m3fnuz-unnorm, f32-unnorm", "e4m3fnuz-norm"}, MaxErr: "0.1", Seed: 4}.Attention()
	if err != nil {
		t.Fatal(err)
	}
	if !c.Causal || c.Inputs != E4M3FNUZ || c.Scales != PerHead || c.Values != Normal || c.Output != FP16 || c.Reference != Original ||
		len(c.Designs) != 3 || *c.Gate.MaxErr != 0.1 || c.Gate.MinCos != nil || c.Seed != 4 {
		t.Errorf("%+v", c)
	}
	_, err = Flags{Shape: "B1", Inputs: "int4", Designs: []string{"what"}, MinCos: "high"}.Attention()
	if err == nil {
		t.Fatal("four mistakes pass")
	}
	for _, want := range []string{"shape: ", "inputs: ", "designs: ", "gate: min_cos"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if _, err := (Flags{MinCos: "2"}).Attention(); err == nil || !strings.Contains(err.Error(), "min_cos is 2") {
		t.Errorf("min_cos 2: %v", err)
	}
	g, err := Flags{}.GEMM()
	if err != nil || g.M != 64 || g.N != 512 || g.K != 7168 {
		t.Errorf("default GEMM: %+v, %v", g, err)
	}
	if _, err := (Flags{Causal: true}).GEMM(); err == nil {
		t.Error("a causal GEMM passes")
	}
	if _, err := (Flags{Shape: "M1 N1 K33"}).GEMM(); err == nil || !strings.Contains(err.Error(), "multiple of 32") {
		t.Errorf("K33: %v", err)
	}
}

// TestTable compares both tables with testdata/*.txt. Results are made by hand:
// last digits may differ between architectures.
func TestTable(t *testing.T) {
	seconds, flushed, none, diff := 4.56, 0.8842, 0.0, Metric(1.25e-6)
	attention := Result{Probe: ProbeAttention, Seed: 7, ElapsedSeconds: &seconds,
		Config: Setup{Attention: &AttentionConfig{Shape: Shape{1, 8, 2, 2048, 128}, Causal: true, Inputs: E4M3FN, Scales: PerTensor,
			Values: Uniform, Output: BF16, Reference: Dequantised}},
		Designs: []Outcome{
			{Name: "f32-unnorm", MaxErr: 1.221e-4, MinCos: 0.999998, Cos: 0.999999, Gate: FP8Gate(), Pass: true},
			{Name: "e4m3fn-norm", MaxErr: 0.1, MinCos: -0.123428, Cos: 0.25, PFlushed: &flushed, PSaturated: &none, Gate: FP8Gate()},
			{Name: "broken", MaxErr: Metric(math.NaN()), MinCos: Metric(math.NaN()), Cos: Metric(math.NaN()), NonFinite: 12, Gate: FP8Gate()},
		}}
	gemm := Result{Probe: ProbeMXFP4GEMM, Config: Setup{GEMM: &GEMMConfig{M: 64, N: 512, K: 7168, Values: Normal, Output: BF16, Reference: Original}},
		Designs: []Outcome{{Name: "a4w4-even", MaxErr: 0.015, MinCos: 0.99, Cos: 0.99, LogitsDiff: &diff, Quantisation: &Errors{MinCos: 0.98, LogitsDiff: 0.0125}, Gate: MoEGate(), Pass: true}}}
	for name, r := range map[string]Result{"attention": attention, "gemm": gemm, "empty": {}} {
		got, path := r.Table(), filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files")
