package plan

import (
	"slices"
	"testing"
)

func sound(args ...string) SetupFacts {
	return SetupFacts{
		Args: append([]string{"p/plan.md"}, args...), RootKnown: Yes, Git: Yes, HasCommit: Yes, ToolsKnown: true, LoopsKnown: true, Branch: "b",
		Path:       PathFacts{Symlink: No, ParentsKnown: true, DirExists: Yes, Exists: Yes, Readable: Yes, Inside: Yes, InSubmodule: No, Tracked: No, Counts: &Counts{9, 9}},
		DirtyKnown: true, Local: map[string]bool{"base": true}, Origin: map[string]bool{"far": true},
	}
}

func TestForecastInOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		spoil func(*SetupFacts)
		want  []string
	}{
		{"sound", []string{"--base-branch", "base"}, nil, nil},
		{"options hide the rest", []string{"--max", "x"}, func(f *SetupFacts) { f.Dirty = []string{"?? a"} }, []string{"options"}},
		{"several", []string{"--base-branch", "far", "--codex-model", "a b:max"}, func(f *SetupFacts) { f.Dirty, f.ActiveLoop, f.Path.Tracked = []string{"?? a"}, "x", Yes },
			[]string{"active", "tracked", "model", "model", "clean", "base"}},
		{"path text hides the file", []string{"--base-branch", "base"}, func(f *SetupFacts) { f.Args[0], f.Path.Exists = "a b", No }, []string{"path"}},
		{"symlink hides the rest of the file", []string{"--base-branch", "base"}, func(f *SetupFacts) { f.Path.Symlink, f.Path.Inside = Yes, No }, []string{"file"}},
		{"review only needs no plan", []string{"--base-branch", "base", "--skip-impl"}, func(f *SetupFacts) { f.Args = f.Args[1:] }, nil},
		{"review only needs a clean tree", []string{"--base-branch", "base", "--skip-impl"}, func(f *SetupFacts) { f.Args, f.Dirty = f.Args[1:], []string{"?? a"} }, []string{"clean"}},
		{"submodule", []string{"--base-branch", "base"}, func(f *SetupFacts) { f.Path.InSubmodule = Yes }, []string{"file"}},
		{"detected base", nil, nil, []string{"base"}},
		{"detected main", nil, func(f *SetupFacts) { f.Local["main"] = true }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sound(c.args...)
			if c.spoil != nil {
				c.spoil(&f)
			}
			var got []string
			for _, r := range Forecast(f).Refusals {
				got = append(got, r.Check)
				if r.Clears == "" {
					t.Errorf("%s: does not say what clears it", r.Message)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestNothingKnown: a world nobody looked at is neither accepted nor refused.
func TestNothingKnown(t *testing.T) {
	got := Forecast(SetupFacts{Args: []string{"plan.md"}})
	if len(got.Refusals) != 0 || len(got.Unknown) < 8 {
		t.Errorf("got %+v", got)
	}
}

func TestParseStart(t *testing.T) {
	o, why := ParseStart([]string{"p.md", "--yolo", "--max", "0", "--codex-model", "m:low", "--codex-timeout", "60", "--privacy", "--base-branch", "b"})
	want := StartOptions{Plan: "p.md", NoQuestions: true, SkipQuiz: true, Max: "0", Model: "m", Effort: "low", Timeout: "60", Base: "b"}
	if why != "" || o != want {
		t.Errorf("got %+v %q", o, why)
	}
}

func FuzzForecast(f *testing.F) {
	f.Add("a.md", "--max", "3")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, r := range Forecast(SetupFacts{Args: []string{a, b, c}, Branch: a, Local: map[string]bool{b: true}}).Refusals {
			if r.Message == "" {
				t.Error("a refusal without words")
			}
		}
	})
}
