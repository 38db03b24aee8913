package stalls

import (
	"testing"

	"pgregory.net/rapid"

	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/view/viewtest"
)

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name string
		snap *session.Snapshot
		keys []keys.ID
	}{
		{"classes", world(), nil},
		{"based", world(), based()},
		{"cost", world(), based(keys.Metric)},
		{"bundles", world(), []keys.ID{keys.NextPane, keys.NextPane, keys.NextPane, keys.Bottom}},
		{"about", world(), based(keys.PrevPane)},
		{"hypotheses", world(), []keys.ID{keys.NextPane, keys.NextPane}},
		{"lines", world(), []keys.ID{keys.Drill, keys.Down}},
		{"insts", world(), []keys.ID{keys.Drill, keys.Drill}},
		{"isa", world(), []keys.ID{keys.Drill, keys.Source}},
		{"waits", world(), []keys.ID{keys.Drill, keys.Drill, keys.Drill}},
		{"weak", weak(), based()},
		{"pending", weak(), []keys.ID{keys.Drill, keys.Drill, keys.Drill}},
		{"stored", stored(), []keys.ID{keys.Drill}},
		{"simulated", simulated(), based()},
		{"unread", unread(), nil},
		{"none", absent(), nil},
		{"unreadable", unreadable(), nil},
	} {
		e := viewtest.Env(c.snap)
		s := New()
		act(t, s, e, c.keys...)
		viewtest.Golden(t, "stalls/"+c.name, s, e)
	}
}

func TestAnySize(t *testing.T) {
	snaps := []*session.Snapshot{world(), weak(), stored(), hostile(), simulated(), unread(), absent(), viewtest.Sample()}
	moves := []keys.ID{
		keys.Drill, keys.Down, keys.Bottom, keys.Up, keys.NextPane, keys.PrevPane, keys.Back, keys.Sort, keys.SortFlip, keys.Metric, keys.Source,
		keys.PageDown, keys.PageUp, keys.NextSection, keys.PrevSection, keys.SetBase, keys.ClearBase, keys.MoveLeft, keys.MoveRight, keys.Write,
	}
	rapid.Check(t, func(r *rapid.T) {
		e := viewtest.Env(snaps[rapid.IntRange(0, len(snaps)-1).Draw(r, "snap")])
		e.Look = rapid.SampledFrom(looks()).Draw(r, "look")
		w, h := rapid.IntRange(1, 220).Draw(r, "w"), rapid.IntRange(1, 80).Draw(r, "h")
		s := New()
		exact := func() {
			lines := s.Render(e, w, h)
			if len(lines) != h {
				r.Fatalf("%d lines, want %d", len(lines), h)
			}
			viewtest.Exact(t, lines, w, h)
			clean(r, lines)
		}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(moves)-1), 0, 12).Draw(r, "keys") {
			s.Act(e, moves[i])
			exact()
			if f := s.Selected(e); f != "" {
				clean(r, []string{f})
			}
		}
		s.SetFilter(e, rapid.SampledFrom([]string{"", "vmcnt", "bubble:yes", "share>5", "!vmcnt", "-f bl", "nothing at all"}).Draw(r, "filter"))
		exact()
		next := *e.Snap
		next.Version++
		next.Bundles = next.Bundles[:rapid.IntRange(0, len(next.Bundles)).Draw(r, "bundles left")]
		e.Snap = &next
		exact()
	})
}
