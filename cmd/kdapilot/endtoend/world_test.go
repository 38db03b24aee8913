package endtoend

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

const stateText = "---\ncurrent_round: %d\nmax_iterations: 12\ncodex_model: gpt-5.5\ncodex_effort: xhigh\ncodex_timeout: 5400\npush_every_round: false\nplan_file: .humanize/kernel-agent/refined-plan.md\nplan_tracked: false\nstart_branch: rlcr/x\nbase_branch: rocm-kda-base/x\nbase_commit: 68d36f462617685a434349b6b88f0f61161f91f7\nreview_started: false\nsession_id: s1\nstarted_at: 2026-08-21T08:12:44Z\n---\n"

// scratch is a git worktree with one loop in it.
func (p *place) scratch() (state string) {
	p.t.Helper()
	p.tree = filepath.Join(p.dir, "tree")
	state = filepath.Join(p.tree, ".humanize", "rlcr", "2026-08-21_08-12-44", "state.md")
	p.write(state, fmt.Sprintf(stateText, 3))
	p.write(filepath.Join(p.tree, "kernels", "a.py"), "a\n")
	p.write(filepath.Join(p.tree, ".gitignore"), ".humanize*\n")
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
	return state
}

// write replaces a file the way editors and Humanize do.
func (p *place) write(path, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path+".tmp", []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		p.t.Fatal(err)
	}
}

// Between a change on disk and its words on the screen no key is pressed.
func TestTheScreenFollowsTheFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	state := p.scratch()
	s := p.open(screen.Options{Argv: []string{binary, p.tree}})
	s.Wait("implementing", "round 3/12", "clean", "No flyprof bundle")
	p.write(state, fmt.Sprintf(stateText, 4))
	s.Wait("round 4/12")
	p.write(filepath.Join(p.tree, "kernels", "a.py"), "b\n")
	s.Wait("1 dirty")
	s.Keys("2")
	s.Wait("[2 plan]")
	p.write(filepath.Join(p.tree, planPath), "# A plan\n\n## Goal Description\n\nBe quick.\n")
	s.Wait("Be quick.")
	s.Keys("3")
	s.Wait("[3 rounds")
	p.write(filepath.Join(p.tree, ".humanize/rlcr/2026-08-21_08-12-44/round-3-review-result.md"), "# Review\n\nMainline Progress Verdict: STALLED\n")
	s.Wait("stalled")
	s.Keys("6")
	s.Wait("[6 runs")
	p.run("run", "--gpu", "41", "-C", p.tree, "--", "echo", "hello from a run")
	s.Wait("custom", "17 bytes of log")
	s.Keys("\t") // its log is read when somebody asks for it
	s.Wait("hello from a run")

	// A run and a bundle of another world arrive whole, as rsync brings them.
	world := newPlace(t).world()
	p.bring(world, "runs/*-sweep-*")
	s.Wait("2 runs ", "440/440", "sweep")
	s.Keys("4")
	s.Wait("[4 stalls", "no flyprof bundle")
	p.bring(world, "bundles/*-prefetch2")
	s.Wait("classes: share of stall", "-prefetch2")
}

// bring copies what fits a pattern out of another place's worktree.
func (p *place) bring(from *place, pattern string) {
	p.t.Helper()
	found, err := filepath.Glob(from.state(pattern))
	if err != nil || len(found) == 0 {
		p.t.Fatalf("%s: %v %v", pattern, found, err)
	}
	to := p.state(strings.Split(pattern, "/")[0])
	if err := os.MkdirAll(to, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-r", found[0], to).CombinedOutput(); err != nil {
		p.t.Fatalf("%v %s", err, out)
	}
}

// What hooks leave half written, and what somebody may put there on purpose.
func TestBadInputIsSaidAndSurvived(t *testing.T) {
	t.Parallel()
	const osc, title, clear = "\x1b]52;c;aGFja2Vk\x07", "\x1b]2;hacked\x07", "\x1b[2J\x1b[H"
	const paint = "\x1b[5;9m" // blinks and strikes out, which the program never does
	for name, c := range map[string]struct {
		break_ func(p *place, state string)
		keys   string
		shows  []string
	}{
		"zero bytes": {func(p *place, state string) { p.write(state, "") }, "", []string{"round 3/12", "mid-write"}},
		"cut off":    {func(p *place, state string) { p.write(state, "---\ncurrent_round: 5\nmax_it") }, "", []string{"round 3/12", "mid-write"}},
		"garbage":    {func(p *place, state string) { p.write(state, "\x00\xff\xfe"+clear+osc) }, "", []string{"round 3/12", "no front matter", "last good values"}},
		"an escape in the plan": {func(p *place, _ string) {
			p.write(filepath.Join(p.tree, ".humanize/kernel-agent/refined-plan.md"), "# Plan "+osc+title+clear+"\n\n"+paint+"green and true\n\n## Goal Description\n\nquick \xff\xfe\n")
		}, "2", []string{"Goal Description", "quick"}},
		"a line of a megabyte": {func(p *place, _ string) {
			p.write(filepath.Join(p.tree, ".humanize/kernel-agent/refined-plan.md"), "# Plan\n\n"+strings.Repeat("x", 1<<20)+"\n")
		}, "2", []string{"xxxx"}},
		"links in a circle": {func(p *place, state string) {
			dir := filepath.Join(p.tree, ".humanize", "rlcr", "2026-08-22_08-12-44")
			if err := os.Symlink(dir, dir); err != nil {
				p.t.Fatal(err)
			}
			p.write(state, fmt.Sprintf(stateText, 4)) // it is followed all the same
		}, "", []string{"round 4/12"}},
		"a branch name that turns round": {func(p *place, _ string) { p.git("checkout", "-q", "-b", "caf\u00e9-\u202eevil") }, "", []string{"caf\u00e9-evil"}},
		"an escape in a log": {func(p *place, _ string) {
			p.run("run", "--gpu", "42", "-C", p.tree, "--", "printf", "before"+osc+title+paint+clear+"after\\n")
		}, "6", []string{"before", "after"}},
		"the worktree is gone": {func(p *place, _ string) {
			if err := os.RemoveAll(p.tree); err != nil {
				p.t.Fatal(err)
			}
		}, "", []string{"folder is gone", "does not exist"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			state := p.scratch()
			s := p.open(screen.Options{Argv: []string{binary, p.tree}})
			s.Wait("round 3/12", "clean")
			c.break_(p, state)
			s.Keys(c.keys)
			s.Wait(c.shows...)
			s.Keys("q")
			if code := s.Ended(); code != 0 {
				t.Errorf("exit %d:\n%s", code, s.Text())
			}
			restored(t, s)
			raw := s.Raw()
			for _, bad := range []string{osc, "\x1b]52", title, "\x1b]2;hacked", "\u202e", "\xfe"} {
				if bytes.Contains(raw, []byte(bad)) {
					t.Errorf("%q reached the terminal", bad)
				}
			}
			if a := attributes(raw); a[5] || a[9] {
				t.Error("a text chose how it looks")
			}
			// The program clears the screen itself, but never for the text that
			// stands before this.
			if bytes.Contains(raw, []byte("before"+clear)) || bytes.Contains(raw, []byte("Plan"+clear)) {
				t.Error("a text cleared the screen")
			}
		})
	}
}

// A killed cockpit takes no run with it, and loses no line of its log.
func TestARunOutlivesTheCockpit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scratch()
	s := p.open(screen.Options{Argv: []string{binary, p.tree}})
	s.Wait("round 3/12")
	s.Keys("o:")
	s.Wait("palette")
	s.Type("run sh -c 'for i in $(seq 40); do echo line $i; sleep 0.1; done'")
	s.Keys("\r")
	s.Wait("run a command", "type run")
	s.Rest(quiet)
	s.Type("run")
	s.Keys("\r")
	s.Wait("[6 runs]", "line 3")
	s.Signal(syscall.SIGKILL)
	s.Ended()
	again := p.open(screen.Options{Argv: []string{binary, p.tree}})
	again.Wait("running custom")
	again.Keys("6")
	again.Wait("line 40", "exit 0")
	logs, err := filepath.Glob(p.state("runs", "*", "stdout.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs %v %v", logs, err)
	}
	b, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 40; i++ {
		if !strings.Contains(string(b), fmt.Sprintf("line %d\n", i)) {
			t.Errorf("line %d is lost", i)
		}
	}
}

func TestReviewOfACopyOnlyReads(t *testing.T) {
	t.Parallel()
	p := newPlace(t).world()
	copied := filepath.Join(p.dir, "copied")
	if out, err := exec.Command("cp", "-r", filepath.Join(p.tree, ".humanize"), copied).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	folder := filepath.Join(p.dir, "laptop")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied, filepath.Join(folder, ".humanize")); err != nil {
		t.Fatal(err)
	}
	s := p.open(screen.Options{Argv: []string{binary, "review", folder}})
	s.Wait("REVIEW", "no git here", "ended: complete")
	s.Keys("o")
	s.Wait("only be read")
	for _, k := range [][2]string{{"1", "S"}, {"2", "A"}, {"6", "r"}, {"6", "R"}, {"6", "x"}} {
		s.Keys(k[0])
		s.Wait("[" + k[0] + " ")
		s.Keys("\x1b[A") // a key that says nothing takes the message before off
		s.Gone("not available")
		s.Keys(k[1])
		s.Wait("not available")
	}
	s.Keys("4")
	s.Wait("classes: share of stall", "SIMULATED")
	s.Keys("6")
	s.Wait("full-gate")
	s.Keys("q")
	if s.Ended() != 0 {
		t.Error(s.Text())
	}
	if left, err := filepath.Glob(filepath.Join(folder, ".humanize/kdapilot/seals/*")); err != nil || len(left) > 0 {
		t.Errorf("seals in the copy: %v %v", left, err)
	}
}

func TestOneRunPerGPU(t *testing.T) {
	t.Parallel()
	p := newPlace(t).world()
	before := len(p.runs())
	one, two := p.demo("KDAPILOT_SIM_SPEED=1"), p.demo("KDAPILOT_SIM_SPEED=1")
	for i, s := range []*screen.Term{one, two} {
		s.Wait("the plan waits for review")
		s.Keys("o6")
		s.Wait("[6 runs]", "OPERATE")
		s.Keys("r")
		s.Wait("run a preset")
		s.Keys("\r")
		s.Wait("run smoke", "type run")
		s.Rest(quiet)
		s.Type("run")
		s.Keys("\r")
		if i == 0 {
			s.Wait("rows so far")
		}
	}
	two.Wait("not started: ", " busy: run")
	if n := len(p.runs()); n != before+1 {
		t.Errorf("%d new runs, want 1: %v", n-before, p.runs())
	}
	one.Wait("runs, 1 under way")
	one.Keys("x")
	one.Wait("cancel", "type")
	one.Rest(quiet)
	one.Keys("\x1b")

	// In two worktrees it is the GPU that is taken. No host has this one.
	a, b := newPlace(t), newPlace(t)
	a.scratch()
	b.scratch()
	s := a.open(screen.Options{Argv: []string{binary, "run", "--gpu", "45", "-C", a.tree, "--", "sh", "-c", "echo holds it; sleep 60"}})
	s.Wait("holds it")
	code, text := b.fails("run", "--gpu", "45", "-C", b.tree, "--", "echo", "x")
	if code != 78 || !strings.Contains(text, "not started: GPU 45 busy: run ") || !strings.Contains(text, a.tree) {
		t.Errorf("exit %d: %s", code, text)
	}
	if found := b.runs(); len(found) > 0 {
		t.Errorf("a refused run left %v", found)
	}
	s.Keys("\x03") // cancelled: the GPU is free again
	s.Ended()
	b.run("run", "--gpu", "45", "-C", b.tree, "--", "echo", "x")
}

// runs are the folders of runs.
func (p *place) runs() []string {
	p.t.Helper()
	found, err := filepath.Glob(p.state("runs", "2*"))
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}
