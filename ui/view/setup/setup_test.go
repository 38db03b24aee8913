package setup

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kdapilot/engine/fact"
	"kdapilot/engine/preflight"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
	"kdapilot/ui/view/viewtest"
)

// sample is a host with a shared build and the wrong GPU, judged for real.
func sample() preflight.Live {
	r := &preflight.Result{At: viewtest.Now.Add(-2 * time.Hour), Worktree: "/w/FlyDSL-fa", Slug: "fa", Arch: "gfx950", Model: "gpt-5.5:xhigh",
		Fingerprint: preflight.Fingerprint{Host: "mi350-07", Head: "0123456789"}}
	zero := 0
	r.Rows = append(r.Rows,
		preflight.JudgeCodex(preflight.CodexFacts{Model: "gpt-5.5:xhigh", OnPath: "/usr/bin/codex", Asked: "gpt-5.5:xhigh", At: r.At, Took: 4200 * time.Millisecond, Exit: &zero, Reply: "OK"}, viewtest.Now),
		preflight.JudgeBuild(preflight.BuildFacts{Worktree: "/w/FlyDSL-fa", Link: "/w/FlyDSL-fa/build-fly", Target: "/w/FlyDSL-lab/build-fly", Sharers: []string{"/w/FlyDSL-lab", "/w/FlyDSL-moe"}}),
		preflight.JudgeGPU(preflight.GPUFacts{GPUs: []runs.GPU{{Index: 0, Arch: "gfx942", Name: "AMD Instinct MI300X"}}, Origin: fact.Origin{Status: fact.OK}, Planned: "gfx950"}),
		preflight.JudgeRunEnv(preflight.RunEnvFacts{Path: ".humanize/kernel-agent/runenv.sh"}),
		preflight.JudgeSkills(preflight.SkillFacts{Dir: "/home/k/.claude/skills", Have: preflight.SkillNames(), OnPath: "/usr/bin/flyprof"}),
	)
	r.Finish(nil)
	return preflight.Live{Stored: preflight.Stored{Result: r, Hash: "aa"}}
}

func env(l preflight.Live) *view.Env { return viewtest.Env(&session.Snapshot{Preflight: l}) }

func TestFrames(t *testing.T) {
	viewtest.Golden(t, "setup", New(), env(sample()))
	viewtest.Golden(t, "setup-empty", New(), env(preflight.Live{}))
}

func TestAnySize(t *testing.T) {
	for _, l := range []preflight.Live{sample(), {}, {Running: true, Fresh: sample().Stored.Result.Rows[:2]}} {
		rapid.Check(t, func(r *rapid.T) {
			w, h := rapid.IntRange(20, 240).Draw(r, "w"), rapid.IntRange(3, 80).Draw(r, "h")
			viewtest.Exact(t, New().Render(env(l), w, h), w, h)
		})
	}
}

func TestWhatHoldsComesFirst(t *testing.T) {
	e := env(sample())
	s := New()
	s.Render(e, 120, 36)
	if got := s.Selected(e); !strings.HasPrefix(got, "PF-04  red") || !strings.Contains(got, "FlyDSL-moe") {
		t.Errorf("selected %q, want the red build row", got)
	}
	s.Act(e, keys.Bottom)
	if got := s.Selected(e); !strings.Contains(got, "green") {
		t.Errorf("last row %q, want a green one", got)
	}
	s.SetFilter(e, "state:red")
	if rows := s.rows(e); len(rows) != 2 {
		t.Errorf("filter state:red keeps %d rows, want 2", len(rows))
	}
}

// Nothing is repaired and no model is asked on one key.
func TestRepairAndModelAreAskedAbout(t *testing.T) {
	e := env(sample())
	s := New()
	s.Show(e, "PF-03")
	ask, ok := s.Act(e, keys.Repair)
	if !ok || ask.Confirm == nil || ask.Confirm.Word != "runenv" || len(ask.Do) != 0 {
		t.Errorf("fix: %+v", ask)
	}
	s.Show(e, "PF-04")
	if ask, _ = s.Act(e, keys.Repair); ask.Confirm != nil || !strings.Contains(ask.Say, "build.sh") {
		t.Errorf("row without a repair: %+v, want what to do by hand", ask)
	}
	if ask, _ = s.Act(e, keys.Check); len(ask.Do) != 1 || ask.Do[0] != (session.CheckHost{}) {
		t.Errorf("run: %+v", ask)
	}
	s.Show(e, "PF-01")
	if ask, _ = s.Act(e, keys.Check); ask.Confirm == nil || len(ask.Do) != 0 || ask.Confirm.Do[0] != (session.CheckHost{AskModel: true}) {
		t.Errorf("run on the model's row: %+v, want a question", ask)
	}
	if ask, _ = New().Act(env(preflight.Live{Running: true}), keys.Check); len(ask.Do) != 0 {
		t.Errorf("run while running: %+v", ask)
	}
}

func BenchmarkRender(b *testing.B) {
	e := env(sample())
	s := New()
	for b.Loop() {
		s.Render(e, 200, 56)
	}
}
