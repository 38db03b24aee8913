package numerics

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
)

// TestProductSumsInOrder holds the blocked product against plain loops, bit for
// bit: the blocking may not change the order of any sum.
func TestProductSumsInOrder(t *testing.T) {
	for _, c := range []struct{ m, n, k int }{{1, 1, 1}, {3, 2, 128}, {4, 5, 129}, {7, 3, 300}, {blockRows, 9, 257}, {2, 1, 5}} {
		a, b := draw(1, 1, 0, c.m*c.k, Normal), draw(1, 2, 0, c.n*c.k, Normal)
		got := draw(1, 3, 0, c.m*c.n, Normal)
		want := append([]float32(nil), got...)
		got64, want64 := widen(got), widen(got)
		for i := range c.m {
			for j := range c.n {
				for k := range c.k {
					want[i*c.n+j] += float32(a[i*c.k+k] * b[j*c.k+k])
					want64[i*c.n+j] += float64(float64(a[i*c.k+k]) * float64(b[j*c.k+k]))
				}
			}
		}
		addProduct(matrix[float32]{got, c.n}, matrix[float32]{a, c.k}, matrix[float32]{b, c.k}, c.m, c.n, c.k)
		addProduct(matrix[float64]{got64, c.n}, matrix[float64]{widen(a), c.k}, matrix[float64]{widen(b), c.k}, c.m, c.n, c.k)
		for i := range got {
			if got[i] != want[i] || got64[i] != want64[i] {
				t.Fatalf("%v: element %d is %v and %v, want %v and %v", c, i, got[i], got64[i], want[i], want64[i])
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	got := transpose([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	step := 2 + apart
	for i, want := range [][2]float32{{1, 4}, {2, 5}, {3, 6}} {
		if got[i*step] != want[0] || got[i*step+1] != want[1] {
			t.Errorf("column %d is %v, want %v", i, got[i*step:i*step+2], want)
		}
	}
}

func TestForEach(t *testing.T) {
	var seen [100]atomic.Int32
	if err := forEach(context.Background(), 4, len(seen), func(_, i int) { seen[i].Add(1) }); err != nil {
		t.Fatal(err)
	}
	for i := range seen {
		if n := seen[i].Load(); n != 1 {
			t.Errorf("item %d was done %d times", i, n)
		}
	}
	err := forEach(context.Background(), 3, 1000, func(_, i int) {
		if i == 5 {
			panic("broken on purpose")
		}
	})
	if err == nil || !strings.Contains(err.Error(), "broken on purpose") {
		t.Errorf("a panic came back as %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done atomic.Int32
	err = forEach(ctx, 2, 1000, func(_, i int) {
		done.Add(1)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || done.Load() > 2 {
		t.Errorf("cancelled: %v after %d items", err, done.Load())
	}
}

func TestDrawIsSeededAndShaped(t *testing.T) {
	a, b := draw(7, streamQ, 3, 20000, Normal), draw(7, streamQ, 3, 20000, Normal)
	var mean, square float64
	for i, v := range a {
		if v != b[i] {
			t.Fatal("the same seed gives other values")
		}
		mean += float64(v) / float64(len(a))
		square += float64(v) * float64(v) / float64(len(a))
	}
	if math.Abs(mean) > 0.03 || math.Abs(square-1) > 0.05 {
		t.Errorf("normal: mean %g, variance %g", mean, square)
	}
	for name, other := range map[string][]float32{
		"seed": draw(8, streamQ, 3, 8, Normal), "stream": draw(7, streamK, 3, 8, Normal), "head": draw(7, streamQ, 4, 8, Normal),
	} {
		if other[0] == a[0] && other[1] == a[1] {
			t.Errorf("another %s gives the same values", name)
		}
	}
	var low, high float32
	for _, v := range draw(1, streamV, 0, 20000, Uniform) {
		low, high = min(low, v), max(high, v)
	}
	if low < -1 || low > -0.99 || high > 1 || high < 0.99 {
		t.Errorf("uniform from %g to %g, want -1 to 1", low, high)
	}
}

func TestTallyEdges(t *testing.T) {
	empty := newTally()
	o := empty.outcome("nothing", FP8Gate())
	if o.Pass || !math.IsNaN(float64(o.MaxErr)) || o.WorstErr.Row != -1 {
		t.Errorf("nothing compared gives %+v", o)
	}
	bad := newTally()
	bad.row(Place{Row: 1}, []float32{1, float32(math.NaN())}, []float64{1, 2})
	bad.row(Place{Row: 2}, []float32{1, float32(math.Inf(1))}, []float64{1, 2})
	if o := bad.outcome("nan", FP8Gate()); o.Pass || o.NonFinite != 2 {
		t.Errorf("NaN and Inf give %+v", o)
	}
	zero := newTally()
	zero.row(Place{Row: 4}, []float32{0, 0}, []float64{1e-3, 0})
	if o := zero.outcome("zero", FP8Gate()); o.Pass || o.MinCos != 0 || o.WorstCos.Row != 4 {
		t.Errorf("an output of zeros gives %+v, want cosine 0 in row 4", o)
	}
	ok := newTally()
	ok.row(Place{}, []float32{3, 4}, []float64{3, 4})
	ok.row(Place{Row: 1}, []float32{0.04, 0}, []float64{0, 0}) // no direction: error only
	o = ok.outcome("ok", FP8Gate())
	if !o.Pass || o.MinCos != 1 || o.MaxErr != Metric(float32(0.04)) || o.WorstErr.Row != 1 {
		t.Errorf("equal rows give %+v", o)
	}
	edge := newTally()
	edge.row(Place{}, []float32{1.25}, []float64{1})
	limit, above := 0.25, 0.26
	if edge.outcome("edge", Gate{MaxErr: &limit}).Pass || !edge.outcome("edge", Gate{MaxErr: &above}).Pass {
		t.Error("max_err must be below its limit, not at it")
	}
	top := 1.0
	if edge.outcome("edge", Gate{MinCos: &top}).Pass {
		t.Error("min_cos must be above its limit, not at it")
	}
}
