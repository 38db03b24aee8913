package session

import (
	"math"
	"testing"
	"time"

	"kdapilot/engine/bench"
	"kdapilot/engine/runs"
)

func TestTrendFollowsWhatCanBeCompared(t *testing.T) {
	t0 := time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)
	set := func(id, preset, gpu string, hour int, us float64) RowSet {
		return RowSet{
			ID: id, When: t0.Add(time.Duration(hour) * time.Hour), Run: &runs.Run{Manifest: runs.Manifest{Preset: preset}},
			Result: &bench.Result{Family: "flash_attn", GPU: gpu, Rows: []bench.Row{{Key: "a", Status: bench.Pass, US: bench.Of(us)}}},
		}
	}
	sets := []RowSet{ // newest first
		set("later", "sweep", "A", 9, 1), set("d", "sweep", "A", 4, 5), set("other GPU", "sweep", "B", 3, 1), set("smoke", "smoke", "A", 3, 1),
		set("c", "sweep", "A", 2, 20), set("b", "sweep", "A", 1, 10),
	}
	got := trendOf(sets, &Delta{Base: "c", Cand: "d"}, nil)
	if got == nil || len(got.Sets) != 3 || got.Sets[0] != "b" || got.Sets[2] != "d" {
		t.Fatalf("%+v, want b c d", got)
	}
	for i, want := range []float64{1, 2, 0.5} {
		if p := got.Line("all").Points[i]; !p.OK || math.Abs(p.V-want) > 1e-9 {
			t.Errorf("point %d: %+v, want %v", i, p, want)
		}
	}
	if got.Line("no such") != nil || (*Trend)(nil).Line("all") != nil {
		t.Error("a line that is not there")
	}
	if short := trendOf(sets[4:], &Delta{Base: "b", Cand: "c"}, nil); short != nil {
		t.Errorf("two sets make a trend: %+v", short)
	}
}
