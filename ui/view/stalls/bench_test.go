package stalls

import (
	"testing"

	"kdapilot/ui/keys"
	"kdapilot/ui/view/viewtest"
)

// BenchmarkRender draws a trace of 20,000 rows with a base; budget 1.5 ms.
func BenchmarkRender(b *testing.B) {
	snap := world()
	for i, wait := range []float64{0.55, 1} {
		p := snap.Bundles[i].Path
		snap.Analyses[p] = traced(p, 20000, wait)
	}
	e := viewtest.Env(snap)
	for _, c := range []struct {
		name  string
		keys  []keys.ID
		moves bool // a new snapshot at every frame, as beside a growing log
	}{
		{"classes", based(), false}, {"moving", based(), true}, {"lines", based(keys.Drill), true},
		{"insts", based(keys.Drill, keys.Source), true}, {"waits", based(keys.Drill, keys.Source, keys.Drill), true},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := New()
			for _, id := range c.keys {
				s.Act(e, id)
			}
			s.Render(e, 200, 56)
			for b.Loop() {
				if c.moves {
					next := *e.Snap
					e.Snap = &next
				}
				s.Render(e, 200, 56)
			}
		})
	}
}

// BenchmarkFirst is the first frame of such a trace: everything is worked out.
func BenchmarkFirst(b *testing.B) {
	snap := world()
	p := snap.Bundles[0].Path
	snap.Analyses[p] = traced(p, 20000, 0.55)
	e := viewtest.Env(snap)
	for b.Loop() {
		New().Render(e, 200, 56)
	}
}
