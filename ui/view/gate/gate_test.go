package gate

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/repo"
	"kdapilot/engine/task"
	"kdapilot/ui/draw"
	"kdapilot/ui/view/viewtest"
)

func facts() *gate.Facts {
	s := viewtest.Sample()
	no, yes := false, true
	t := task.Task{Slug: "fa-fp8", BaseBranch: "rocm-kda-base/fa-fp8", BaseCommit: s.Repo.Base.Commit}
	s.Repo.Files, s.Repo.FileCount = nil, 0
	f := &gate.Facts{
		Now: viewtest.Now, Plan: gate.Bound{Path: task.PlanPath, SHA256: strings.Repeat("a1", 32), Size: 9120, Status: fact.OK}, PlanText: "# Plan\n\n## Goal Description\n\nOne.\n",
		Draft:    gate.Bound{Path: task.DraftPath, SHA256: strings.Repeat("b2", 32), Size: 2010, Status: fact.OK},
		Judges:   []gate.Bound{{Path: "tests/kernels/test_flash_attn_fwd.py", SHA256: strings.Repeat("c3", 32), Size: 40110, Status: fact.OK}},
		Sections: []gate.Section{{ID: "goal", Title: "Goal Description", Line: 3}, {ID: "ac", Title: "Acceptance Criteria", Line: 9}},
		Seen:     map[string]bool{"goal": true, "ac": true}, Repo: s.Repo, BaseBranch: t.BaseBranch, BaseCommit: t.BaseCommit,
		PlanIgnored: &yes, PlanTracked: &no, LoopsKnown: true, Argv: gate.StartArgv(t),
	}
	g1 := gate.NewSeal(gate.G1, f, viewtest.Now.Add(-time.Hour))
	g1.Who, g1.At = "mk@mi355x-07", viewtest.Now.Add(-time.Hour)
	f.G1 = &g1
	return f
}

func open(id gate.ID, f *gate.Facts) Screen {
	s := gate.OpenSession(id, f, viewtest.Now.Add(-2*time.Second))
	return Screen{ID: id, Facts: f, Session: s, Now: viewtest.Now, PlanNow: f.PlanText}
}

// cases are the states a person can meet.
func cases() map[string]Screen {
	unread := facts()
	unread.Seen = nil
	dirty := facts()
	dirty.Repo.Files, dirty.Repo.FileCount = []repo.File{{Path: "kernels/flash_attn_gfx950.py", Change: repo.Modified}, {Path: "out.csv", Change: repo.Untracked}}, 2
	voided := open(gate.G1, facts())
	changed := facts()
	changed.Plan.SHA256 = strings.Repeat("d4", 32)
	changed.Now = viewtest.Now
	voided.Session.See(changed)
	voided.PlanNow = "# Plan\n\n## Goal Description\n\nTwo.\n"
	typing := open(gate.G2, facts())
	now := viewtest.Now
	for _, r := range "rocm-kda" {
		typing.Session.Key(string(r), now)
		now = now.Add(100 * time.Millisecond)
	}
	return map[string]Screen{
		"gate1-unread": open(gate.G1, unread), "gate1-ready": open(gate.G1, facts()), "gate1-void": voided,
		"gate2-typing": typing, "gate2-dirty": open(gate.G2, dirty), "gate2-refused": {ID: gate.G2, Failed: "G2 stays shut: no client is attached to this tmux session"},
	}
}

func TestFrames(t *testing.T) {
	e := viewtest.Env(viewtest.Sample())
	for name, s := range cases() {
		for _, size := range [][2]int{{40, 30}, {60, 24}, {80, 24}, {120, 40}, {200, 60}} {
			lines, _ := s.Draw(e, size[0], size[1])
			if w, h := draw.Width(lines[0]), len(lines); w > size[0] || h > size[1] {
				t.Fatalf("%s: %dx%d does not fit %v", name, w, h, size)
			}
			// The overlay's own size is part of the picture: put it on a blank screen.
			full := draw.OverlayCenter(draw.Block(nil, size[0], size[1]), lines)
			viewtest.Frame(t, name, "plain", full, size[0], size[1])
		}
	}
}

func TestAnySizeShowsThePhrase(t *testing.T) {
	e := viewtest.Env(viewtest.Sample())
	rapid.Check(t, func(r *rapid.T) {
		w, h := rapid.IntRange(20, 220).Draw(r, "w"), rapid.IntRange(6, 70).Draw(r, "h")
		s := open(gate.G2, facts())
		s.Top = rapid.IntRange(0, 90).Draw(r, "top")
		lines, _ := s.Draw(e, w, h)
		if len(lines) > h || draw.Width(lines[0]) > w {
			r.Fatalf("%dx%d in %dx%d", draw.Width(lines[0]), len(lines), w, h)
		}
		if w >= 40 && h >= 8 && !strings.Contains(draw.Plain(lines), s.Session.Would.Phrase()) {
			r.Fatalf("the phrase is not on screen:\n%s", draw.Plain(lines))
		}
	})
}

func TestVoidShowsTheDiff(t *testing.T) {
	e := viewtest.Env(viewtest.Sample())
	lines, _ := cases()["gate1-void"].Draw(e, 120, 40)
	text := draw.Plain(lines)
	for _, want := range []string{"VOID", "One.", "Two.", "nothing can be typed"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "> ") && strings.Contains(text, "then enter") {
		t.Error("a void gate still asks for the phrase")
	}
}
