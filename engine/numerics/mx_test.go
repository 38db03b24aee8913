package numerics

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestE8M0Exponent(t *testing.T) {
	for _, c := range []struct {
		amax             float32
		f                Format
		floor, even, cel int
	}{
		{0, E2M1, -127, -127, -127},
		{6, E2M1, 0, 0, 0},
		{4, E2M1, 0, 0, 0},
		{6.9, E2M1, 0, 0, 1}, // 6.9 is cut to 6, or the scale doubles
		{7, E2M1, 0, 1, 1},   // 7 is the tie between 6 and 8
		{8, E2M1, 1, 1, 1},
		{1, E2M1, -2, -2, -2},
		{448, E4M3FN, 0, 0, 0},
		{479, E4M3FN, 0, 0, 1},
		{480, E4M3FN, 0, 0, 1}, // 1.875 has the mantissa 111 of e4m3fn: nothing to round
		{500, E4M3FN, 0, 1, 1},
		{1e-45, E2M1, -127, -127, -127},
		{math.MaxFloat32, E2M1, 125, 126, 126},
		{float32(math.Inf(1)), E2M1, 127, 127, 127},
		{float32(math.NaN()), E2M1, -127, -127, -127},
	} {
		for rule, want := range map[ScaleRule]int{ScaleFloor: c.floor, ScaleEven: c.even, ScaleCeil: c.cel} {
			if got := e8m0Exponent(c.amax, c.f, rule); got != want {
				t.Errorf("%s %g %s: 2^%d, want 2^%d", c.f, c.amax, rule, got, want)
			}
		}
	}
}

func TestPackMX(t *testing.T) {
	src := make([]float32, 2*2*mxBlock)
	src[0], src[1], src[2] = 6, 1.2, -0.2 // scale 1
	src[mxBlock] = 0.09375                // 1.5 * 2^-4: scale 2^-6
	src[mxBlock+1] = 0.0076
	r := newRounder(E2M1)
	got := packMX(src, 2*mxBlock, &r, ScaleFloor)
	want := make([]float32, len(src))
	want[0], want[1], want[2] = 6, 1, -0
	want[mxBlock], want[mxBlock+1] = 0.09375, 0.0078125
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// TestPackMXBounds: with the ceil rule nothing saturates, so every element is
// within half a step of itself; a packed block packs to itself under every rule.
func TestPackMXBounds(t *testing.T) {
	src := draw(4, streamA, 0, 64*mxBlock, Normal)
	for _, f := range []Format{E2M1, E4M3FN} {
		r := newRounder(f)
		for _, rule := range []ScaleRule{ScaleFloor, ScaleEven, ScaleCeil} {
			got := packMX(src, 8*mxBlock, &r, rule)
			if again := packMX(got, 8*mxBlock, &r, rule); !reflect.DeepEqual(again, got) && rule != ScaleEven {
				t.Errorf("%s %s: packing twice changes values", f, rule)
			}
			for i, v := range got {
				scale := math.Ldexp(1, e8m0Exponent(largest(src[i/mxBlock*mxBlock:][:mxBlock]), f, rule))
				half := scale * map[Format]float64{E2M1: 1, E4M3FN: 16}[f] // between 4 and 6, 416 and 448
				if d := math.Abs(float64(v - src[i])); rule == ScaleCeil && d > half {
					t.Fatalf("%s %s: %g became %g, off by more than %g", f, rule, src[i], v, half)
				}
			}
		}
	}
}

func TestMXFP4GEMM(t *testing.T) {
	cfg, err := Flags{Shape: "M20 N24 K256", Seed: 2}.GEMM()
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	cfg.Progress = func(p Progress) {
		if steps++; p.Done != steps || p.Total != 12 {
			t.Errorf("step %d is %+v", steps, p)
		}
	}
	r, err := MXFP4GEMM(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if steps != 12 {
		t.Errorf("%d steps, want 12", steps)
	}
	for _, o := range r.Designs {
		if !o.Pass || *o.LogitsDiff > 1e-5 || o.Quantisation.LogitsDiff < 1e-3 {
			t.Errorf("%+v, quantisation %+v", o, *o.Quantisation)
		}
	}
	a4, a8, a16 := find(t, r, "a4w4-even"), find(t, r, "a8w4-even"), find(t, r, "a16w4-even")
	if !(a4.Quantisation.LogitsDiff > a8.Quantisation.LogitsDiff && a8.Quantisation.LogitsDiff > a16.Quantisation.LogitsDiff) {
		t.Errorf("wider activations do not lose less: %v, %v, %v", a4.Quantisation, a8.Quantisation, a16.Quantisation)
	}

	cfg.Reference, cfg.Workers, cfg.Progress = Original, 1, nil
	original, err := MXFP4GEMM(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	o := find(t, original, "a4w4-even")
	if *o.LogitsDiff != a4.Quantisation.LogitsDiff || *o.LogitsDiff != o.Quantisation.LogitsDiff || o.MinCos != a4.Quantisation.MinCos {
		t.Errorf("gated against the original: %+v, want what was reported as quantisation: %+v", o, *a4.Quantisation)
	}
	if o.Pass != (*o.LogitsDiff <= 0.01) {
		t.Errorf("gate not applied: %+v", o)
	}

	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("read back %v\n%+v\nwant\n%+v", err, back, r)
	}
}

// TestGEMMAgainstPlainLoops holds one design against loops that share only the
// packing with it.
func TestGEMMAgainstPlainLoops(t *testing.T) {
	const m, n, k = 5, 7, 64
	cfg := GEMMConfig{M: m, N: n, K: k, Output: F32, Designs: []GEMMDesign{{E2M1, ScaleEven}}, Seed: 9}
	r, err := MXFP4GEMM(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, w := draw(9, streamA, 0, m*k, Normal), draw(9, streamW, 0, n*k, Normal)
	for i := range w {
		w[i] *= float32(1 / math.Sqrt(k))
	}
	fp4 := newRounder(E2M1)
	pa, pw := packMX(a, k, &fp4, ScaleEven), packMX(w, k, &fp4, ScaleEven)
	var xy, xx, yy, worst float64
	for i := range m {
		for j := range n {
			var got float32
			var want float64
			for x := range k {
				got += float32(pa[i*k+x] * pw[j*k+x])
				want += float64(a[i*k+x]) * float64(w[j*k+x])
			}
			worst = max(worst, math.Abs(float64(got)-want))
			xy, xx, yy = xy+float64(got)*want, xx+float64(got)*float64(got), yy+want*want
		}
	}
	q := r.Designs[0].Quantisation
	if math.Abs(float64(q.MaxErr)-worst) > 1e-12 || math.Abs(float64(q.LogitsDiff)-(1-2*xy/(xx+yy))) > 1e-12 {
		t.Errorf("probe %+v, plain loops max_err %v, logits_diff %v", *q, worst, 1-2*xy/(xx+yy))
	}
}

func TestGEMMConfigErrors(t *testing.T) {
	for want, c := range map[string]GEMMConfig{
		"M is 0":                {N: 1, K: 32},
		"multiple of 32":        {M: 1, N: 1, K: 33},
		"above 67108864":        {M: 1 << 20, N: 1 << 20, K: 32},
		"activations in fp16":   {M: 1, N: 1, K: 32, Designs: []GEMMDesign{{FP16, ScaleEven}}},
		`scale rule is "round"`: {M: 1, N: 1, K: 32, Designs: []GEMMDesign{{E2M1, "round"}}},
		"given twice":           {M: 1, N: 1, K: 32, Designs: []GEMMDesign{{E2M1, ScaleEven}, {E2M1, ScaleEven}}},
		"0 given":               {M: 1, N: 1, K: 32, Designs: []GEMMDesign{}},
		`values is "x"`:         {M: 1, N: 1, K: 32, Values: "x"},
	} {
		if _, err := MXFP4GEMM(context.Background(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
