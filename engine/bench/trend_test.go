package bench

import (
	"math"
	"testing"
)

func TestTrend(t *testing.T) {
	row := func(key, dtype string, us float64, st Status) Row {
		return Row{Key: key, Status: st, US: Of(us), Fields: Fields{{Name: "dtype", Value: Str(dtype)}}}
	}
	base := []Row{row("a", "bf16", 10, Pass), row("b", "bf16", 40, Pass), row("c", "fp8", 5, Pass), row("d", "fp8", 5, Fail)}
	sets := [][]Row{
		base,
		{row("a", "bf16", 5, Pass), row("b", "bf16", 20, Pass), row("c", "fp8", 10, Pass)},
		{row("a", "bf16", 20, Pass), row("b", "bf16", 40, Fail), row("z", "bf16", 1, Pass)},
		{row("a", "bf16", 10, Pass), row("a", "bf16", 1000, Pass), row("b", "bf16", 40, Pass)},
		nil,
	}
	got := Trend(base, sets, nil)
	want := []struct {
		regime string
		cells  int
		points []float64 // NaN: not OK
	}{
		{"bf16", 2, []float64{1, 0.5, 2, 1, math.NaN()}},
		{"fp8", 1, []float64{1, 2, math.NaN(), math.NaN(), math.NaN()}},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		if got[i].Regime != w.regime || got[i].Cells != w.cells || len(got[i].Points) != len(w.points) {
			t.Fatalf("line %d: %+v, want %+v", i, got[i], w)
		}
		for k, p := range w.points {
			g := got[i].Points[k]
			if g.OK == math.IsNaN(p) || g.OK && math.Abs(g.V-p) > 1e-12 {
				t.Errorf("%s, set %d: %+v, want %v", w.regime, k, g, p)
			}
		}
	}
}

func BenchmarkTrend(b *testing.B) {
	base := make([]Row, 440)
	for i := range base {
		base[i] = Row{Key: string(rune('a'+i%26)) + string(rune('a'+i/26)), Status: Pass, US: Of(float64(10 + i))}
	}
	sets := make([][]Row, 60)
	for i := range sets {
		sets[i] = base
	}
	for b.Loop() {
		Trend(base, sets, nil)
	}
}
