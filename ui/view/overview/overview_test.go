package overview

import (
	"testing"

	"pgregory.net/rapid"

	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/view/viewtest"
)

func TestFrames(t *testing.T) {
	viewtest.Golden(t, "overview", New(), viewtest.Env(viewtest.Sample()))
}

func TestEmptyFrames(t *testing.T) {
	viewtest.Golden(t, "overview-empty", New(), viewtest.Env(&session.Snapshot{}))
}

func TestAnySize(t *testing.T) {
	e := viewtest.Env(viewtest.Sample())
	rapid.Check(t, func(r *rapid.T) {
		w, h := rapid.IntRange(20, 240).Draw(r, "w"), rapid.IntRange(3, 80).Draw(r, "h")
		viewtest.Exact(t, New().Render(e, w, h), w, h)
	})
}

func TestDrillFollowsTheNotice(t *testing.T) {
	e := viewtest.Env(viewtest.Sample())
	s := New()
	s.Act(e, keys.NextPane)
	ask, ok := s.Act(e, keys.Drill)
	if !ok || ask.Go != keys.GoBench {
		t.Fatalf("the first notice is about bench, enter goes to %q", ask.Go)
	}
	s.Act(e, keys.Down)
	if ask, _ = s.Act(e, keys.Drill); ask.Go != keys.GoRounds {
		t.Fatalf("the second notice is about the loop, enter goes to %q", ask.Go)
	}
}

func BenchmarkRender(b *testing.B) {
	e := viewtest.Env(viewtest.Sample())
	s := New()
	for b.Loop() {
		s.Render(e, 200, 56)
	}
}
