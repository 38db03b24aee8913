package gate

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/repo"
	"kdapilot/engine/task"
)

var t0 = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)

const (
	planSHA = "1111111111111111111111111111111111111111111111111111111111111111"
	baseSHA = "68d36f462617685a434349b6b88f0f61161f91f7"
	headSHA = "3ea370afdfcfa9a29ad264bb94dc365aa42d87dd"
)

// good are facts on which both gates open.
func good() *Facts {
	yes, no := true, false
	t := task.Task{Slug: "fa", BaseBranch: "rocm-kda-base/fa", BaseCommit: baseSHA}
	f := &Facts{
		Now: t0, Plan: Bound{Path: task.PlanPath, SHA256: planSHA, Size: 900, Status: fact.OK}, PlanText: "# plan",
		Draft:    Bound{Path: task.DraftPath, SHA256: strings.Repeat("2", 64), Size: 10, Status: fact.OK},
		Judges:   []Bound{{Path: "tests/kernels/t.py", SHA256: strings.Repeat("3", 64), Size: 5, Status: fact.OK}},
		Sections: []Section{{ID: "goal", Title: "Goal", Line: 3}}, Seen: map[string]bool{"goal": true},
		Repo: repo.Repo{State: repo.Worktree, Branch: "rlcr/fa", Head: headSHA, FilesKnown: true, Base: &repo.Base{
			Ref: t.BaseBranch, Commit: baseSHA, IsBranch: true, Status: fact.OK, IsAncestor: &yes, Distance: &repo.Distance{Ahead: 2},
		}},
		BaseBranch: t.BaseBranch, BaseCommit: baseSHA, PlanIgnored: &yes, PlanTracked: &no, LoopsKnown: true, Argv: StartArgv(t),
	}
	g1 := NewSeal(G1, f, t0.Add(-time.Hour))
	g1.Who = "mk@host"
	f.G1 = &g1
	return f
}

func present() Presence {
	return Presence{StdinTTY: true, StdoutTTY: true, InTmux: true, LastActivity: t0.Add(5 * time.Second), Who: "mk@host"}
}

// typeAll types a phrase at a human pace and returns the time after it.
func typeAll(s *Session, phrase string, now time.Time) time.Time {
	now = now.Add(time.Second)
	for _, r := range phrase {
		s.Key(string(r), now)
		now = now.Add(90 * time.Millisecond)
	}
	return now
}

func TestBothGatesOpenOnGoodFacts(t *testing.T) {
	for _, g := range []ID{G1, G2} {
		f := good()
		s := OpenSession(g, f, t0)
		now := typeAll(s, s.Would.Phrase(), t0)
		if !s.Matches() {
			_, why := Open(s.Pre)
			t.Fatalf("%s: phase %s, typed %q of %q: %s", g, s.Phase(), s.Typed(), s.Would.Phrase(), why)
		}
		p := present()
		p.LastActivity = now
		seal, err := s.Commit(now, good(), p)
		if err != nil {
			t.Fatalf("%s: %v", g, err)
		}
		b, err := seal.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeSeal("x", b)
		if err != nil || again.ID != seal.ID || len(again.Changes(good())) != 0 {
			t.Errorf("%s: read back: %v", g, err)
		}
		if _, err := s.Commit(now, good(), p); err == nil {
			t.Errorf("%s: sealed twice", g)
		}
	}
	if p := OpenSession(G1, good(), t0).Would.Phrase(); !strings.HasPrefix(p, "approve ") || len(p) != 14 {
		t.Errorf("phrase of gate 1: %q", p)
	}
}

func TestPreconditions(t *testing.T) {
	no := false
	for _, c := range []struct {
		name   string
		gate   ID
		spoil  func(*Facts)
		id     string
		state  State
		quotes string
	}{
		{"plan missing", G1, func(f *Facts) { f.Plan.Status = fact.Missing }, "plan-readable", Red, "missing"},
		{"plan mid-write", G1, func(f *Facts) { f.Plan.Status = fact.Torn }, "plan-readable", Red, "mid-write"},
		{"unread section", G1, func(f *Facts) { f.Seen = nil }, "all-read", Red, "line 3  Goal"},
		{"pending decision", G1, func(f *Facts) {
			f.Issues = []Issue{{ID: "pending", Title: "no decision is pending", Line: 9, Text: "DEC-1", Blocks: true}}
		}, "pending", Red, "line 9  DEC-1"},
		{"judge unknown", G1, func(f *Facts) { f.Judges, f.JudgesWhy = nil, "no family" }, "judges-bound", Red, "no family"},
		{"no base named", G2, func(f *Facts) { f.BaseBranch = "" }, "base-local", Red, "task.toml"},
		{"base is no local branch", G2, func(f *Facts) { f.Repo.Base.IsBranch, f.Repo.Base.Commit = false, "" }, "base-local", Red, "no local branch"},
		{"base moved", G2, func(f *Facts) { f.Repo.Base.Commit = headSHA }, "base-pinned", Red, "68d36f462617"},
		{"base no ancestor", G2, func(f *Facts) { f.Repo.Base.IsAncestor = &no }, "base-ancestor", Red, "does not contain"},
		{"dirty file", G2, func(f *Facts) {
			f.Repo.Files, f.Repo.FileCount = []repo.File{{Path: "x.py", Change: repo.Untracked}}, 1
		}, "tree-clean", Red, "untracked  x.py"},
		{"dirty .humanize is exempt", G2, func(f *Facts) {
			f.Repo.Files, f.Repo.FileCount = []repo.File{{Path: ".humanize/x", Change: repo.Untracked}}, 1
		}, "tree-clean", Green, ""},
		{"tracked plan", G2, func(f *Facts) { yes := true; f.PlanTracked = &yes }, "plan-ignored", Red, "in git"},
		{"loop active", G2, func(f *Facts) { f.ActiveLoop = "2026-08-21_08-12-44" }, "no-loop", Red, "active"},
		{"on main", G2, func(f *Facts) { f.Repo.Branch = "main" }, "task-branch", Red, "on main"},
		{"no seal", G2, func(f *Facts) { f.G1 = nil }, "plan-sealed", Red, "no seal"},
		{"seal broken", G2, func(f *Facts) { f.Plan.SHA256 = strings.Repeat("9", 64); f.G1Broken = f.G1.Changes(f) }, "plan-sealed", Red, "plan"},
		{"preflight not run", G2, func(*Facts) {}, "preflight", NotRun, ""},
		{"preflight red", G2, func(f *Facts) { f.Preflight = Preflight{State: Red, Hash: "x", Text: "no GPU"} }, "preflight", Red, "no GPU"},
		{"remote base", G2, func(f *Facts) { f.Argv = append(f.Argv[:len(f.Argv)-1], "upstream/main") }, "command", Red, "upstream/main"},
		{"setup refuses", G2, func(f *Facts) { f.Setup = []string{"Plan is too simple"} }, "setup-accepts", Red, "too simple"},
		{"no git", G2, func(f *Facts) { f.Repo = repo.Repo{State: repo.None} }, "tree-clean", Unknown, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := good()
			c.spoil(f)
			pre := Check(c.gate, f)
			var got *Precondition
			for i := range pre {
				if pre[i].ID == c.id {
					got = &pre[i]
				}
			}
			if got == nil || got.State != c.state || !strings.Contains(strings.Join(got.Evidence, "\n"), c.quotes) {
				t.Fatalf("%s: %+v", c.id, got)
			}
			if open, _ := Open(pre); open == c.state.Closes() {
				t.Errorf("gate open: %v", open)
			}
		})
	}
}

func TestWaivers(t *testing.T) {
	f := good()
	f.Judges, f.JudgesWhy = nil, "no family"
	f.Waivers = []Waiver{{Precondition: "judges-bound", Binds: planSHA, Who: "mk", Why: "generic kernel, no harness yet"}}
	if ok, why := Open(Check(G1, f)); !ok {
		t.Fatal(why)
	}
	s := OpenSession(G1, f, t0)
	if len(s.Would.Waivers) != 1 {
		t.Error("the seal does not carry its waiver")
	}
	f.Waivers[0].Binds = strings.Repeat("8", 64)
	if ok, _ := Open(Check(G1, f)); ok {
		t.Error("a waiver outlived the bytes it excuses")
	}
	f = good()
	f.Seen = nil
	f.Waivers = []Waiver{{Precondition: "all-read", Binds: planSHA, Who: "mk", Why: "lazy"}}
	if ok, _ := Open(Check(G1, f)); ok {
		t.Error("an unread plan was waived")
	}
}

func TestKeysBeforeQuietDoNotCount(t *testing.T) {
	s := OpenSession(G2, good(), t0)
	now := t0
	for range 20 {
		now = now.Add(100 * time.Millisecond)
		s.Key("r", now)
	}
	if s.Phase() != Settling || s.Typed() != "" {
		t.Errorf("phase %s typed %q", s.Phase(), s.Typed())
	}
}

func TestPasteAndBurstAreRefused(t *testing.T) {
	f := good()
	s := OpenSession(G2, f, t0)
	now := t0.Add(time.Second)
	s.Paste(now)
	for _, r := range s.Would.Phrase() {
		now = now.Add(time.Millisecond)
		s.Key(string(r), now)
	}
	if s.Matches() {
		t.Fatal("a burst matched")
	}
	s = OpenSession(G2, f, t0)
	now = t0.Add(time.Second)
	s.Key(s.Would.Phrase(), now)
	if s.Matches() {
		t.Fatal("one key with the whole phrase matched")
	}
	s = OpenSession(G2, f, t0)
	now = t0.Add(time.Second)
	for _, r := range s.Would.Phrase() {
		s.Key(string(r), now)
		now = now.Add(2 * time.Millisecond)
	}
	if s.Matches() || len(s.TakeRefusals()) == 0 {
		t.Fatal("a burst was taken, or was not noted")
	}
}

func TestChangesWhileOpenVoid(t *testing.T) {
	for name, spoil := range map[string]func(*Facts){
		"plan byte":  func(f *Facts) { f.Plan.SHA256 = strings.Repeat("9", 64) },
		"base moved": func(f *Facts) { f.Repo.Base.Commit = headSHA },
		"HEAD moved": func(f *Facts) { f.Repo.Head = baseSHA },
		"dirty file": func(f *Facts) {
			f.Repo.Files, f.Repo.FileCount = []repo.File{{Path: "x.py", Change: repo.Untracked}}, 1
		},
		"judge byte": func(f *Facts) { f.Judges[0].SHA256 = strings.Repeat("9", 64) },
		"draft gone": func(f *Facts) { f.Draft.Status, f.Draft.SHA256 = fact.Missing, "" },
	} {
		s := OpenSession(G2, good(), t0)
		now := typeAll(s, s.Would.Phrase(), t0)
		f := good()
		spoil(f)
		s.See(f)
		if s.Phase() != Voided || len(s.Changed) == 0 || s.Matches() {
			t.Errorf("%s: phase %s, changes %v", name, s.Phase(), s.Changed)
		}
		// The same change seen only at commit.
		s = OpenSession(G2, good(), t0)
		now = typeAll(s, s.Would.Phrase(), now)
		if _, err := s.Commit(now, f, present()); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: commit says %v", name, err)
		}
	}
}

func TestPresence(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Presence
		ok   bool
	}{
		{"tmux, just typed", Presence{StdinTTY: true, StdoutTTY: true, InTmux: true, LastActivity: t0}, true},
		{"plain terminal", Presence{StdinTTY: true, StdoutTTY: true}, true},
		{"piped", Presence{StdoutTTY: true}, false},
		{"agent", Presence{StdinTTY: true, StdoutTTY: true, AgentEnv: []string{"CLAUDECODE"}}, false},
		{"detached tmux", Presence{StdinTTY: true, StdoutTTY: true, InTmux: true}, false},
		{"send-keys", Presence{StdinTTY: true, StdoutTTY: true, InTmux: true, LastActivity: t0.Add(-time.Minute)}, false},
	} {
		if got := c.p.Refuse(t0); (got == "") != c.ok {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestStartCommand(t *testing.T) {
	argv := StartArgv(task.Task{BaseBranch: "rocm-kda-base/fa"})
	if err := CheckArgv(argv); err != nil {
		t.Fatal(err)
	}
	want := "/humanize:start-rlcr-loop .humanize/kernel-agent/refined-plan.md --skip-quiz --claude-answer-codex --max 12 --codex-model gpt-5.5:xhigh --codex-timeout 5400 --base-branch rocm-kda-base/fa"
	if got := strings.Join(argv, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, branch := range []string{"", "-x", "a b", "a;rm", "a$(x)", "../x", "a.lock"} {
		if CheckArgv(StartArgv(task.Task{BaseBranch: branch})) == nil {
			t.Errorf("branch %q was taken", branch)
		}
	}
}

func TestCompareStart(t *testing.T) {
	s := NewSeal(G2, good(), t0)
	l := &loop.Loop{Name: "x"}
	l.Origin.Status = fact.OK
	l.BaseBranch, l.BaseCommit, l.Model, l.Effort = "rocm-kda-base/fa", baseSHA, "gpt-5.5", "xhigh"
	l.Max, l.CodexTimeout = loop.Int{N: 12, Known: true}, loop.Int{N: 5400, Known: true}
	if c := CompareStart(&s, l, planSHA); len(c) != 0 {
		t.Errorf("equal: %v", c)
	}
	l.Max.N = 42
	if c := CompareStart(&s, l, strings.Repeat("5", 64)); len(c) != 2 {
		t.Errorf("max and plan differ: %v", c)
	}
	if c := CompareStart(nil, l, ""); len(c) != 1 {
		t.Errorf("no seal: %v", c)
	}
	for name, c := range map[string]struct {
		spoil func()
		what  string
	}{
		"base branch": {func() { l.BaseBranch = "main" }, "base branch"},
		"base commit": {func() { l.BaseCommit = headSHA }, "base commit"},
		"model":       {func() { l.Model = "gpt5.5" }, "model"},
		"effort":      {func() { l.Effort = "high" }, "effort"},
		"timeout":     {func() { l.CodexTimeout.N = 60 }, "timeout"},
		"max gone":    {func() { l.Max.Known = false }, "max"},
	} {
		was := *l
		l.Max.N = 12
		c.spoil()
		if got := CompareStart(&s, l, planSHA); len(got) != 1 || got[0].What != c.what {
			t.Errorf("%s: %v", name, got)
		}
		*l = was
	}
	l.Origin.Status = fact.Unreadable
	if c := CompareStart(&s, l, planSHA); len(c) != 0 {
		t.Errorf("a state nobody could read is called different: %v", c)
	}
}
