package endtoend

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

// quiet is longer than a gate wants silence.
const quiet = 600 * time.Millisecond

// refused waits until the journal says that a gate turned something down.
func (p *place) refused(s *screen.Term, why string) {
	p.t.Helper()
	deadline := time.Now().Add(screen.Patience)
	for !strings.Contains(p.journal(), why) {
		if time.Now().After(deadline) {
			p.t.Fatalf("the journal does not say %q:\n%s\n%s", why, p.journal(), s.Text())
		}
		s.Rest(50 * time.Millisecond)
	}
	if n := len(p.seals()); n != 0 {
		p.t.Fatalf("%d seals were made", n)
	}
}

// The plan was read, operate mode is on, gate 1 could be approved: only the
// hand is missing.
func TestGateTakesNothingButAHand(t *testing.T) {
	t.Parallel()
	p := newPlace(t).world()
	s := p.demo()
	s.Wait("the plan waits for review")

	s.Keys("2")
	s.Wait("[2 plan]")
	s.Keys("A") // read-only
	s.Wait("operate mode: press o")
	s.Keys("o")
	s.Wait("OPERATE")
	s.Keys("A") // unread
	s.Wait("what must hold", "shut:")
	s.Rest(quiet)
	s.Type("approve 000000")
	s.Keys("\r\x1b")
	s.Gone("what must hold")
	readPlan(s)

	want := openG1(s)
	s.Type(want[:3]) // before the gate is quiet
	s.Rest(quiet)
	s.Keys("\r") // and enter alone
	s.Rest(quiet)
	s.Keys("\x1b[200~" + want + "\x1b[201~\r")
	p.refused(s, "pasted text")
	s.Rest(quiet)
	s.Keys(want + "\r")
	p.refused(s, "faster than a hand")
	s.Wait("what must hold") // open still, nothing approved

	s.Rest(quiet)
	s.Type(want)
	s.Wait("> " + want)
	f, err := os.OpenFile(filepath.Join(p.tree, ".humanize/kernel-agent/refined-plan.md"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("\nOne more line.\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s.Wait("One more line.") // the difference, in the open gate
	s.Keys("\r")
	s.Rest(quiet)
	if n := len(p.seals()); n != 0 {
		t.Fatalf("a plan was sealed that changed while the gate was open:\n%s", s.Text())
	}
	s.Keys("\x1b")
	s.Gone("what must hold")
}

// sealed is a world whose plan was approved by a hand, with gate 2 about to be
// opened.
func sealed(t *testing.T) (*place, *screen.Term) {
	t.Helper()
	p := newPlace(t).world()
	s := p.demo()
	s.Wait("the plan waits for review")
	s.Keys("o")
	s.Wait("OPERATE")
	readPlan(s)
	want := openG1(s)
	s.Rest(quiet)
	s.Type(want)
	s.Keys("\r")
	s.Wait("G1 sealed")
	s.Gone("what must hold")
	return p, s
}

func TestGate2IsVoidedByTheWorld(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]struct {
		what func(p *place)
		says string
	}{
		"a tracked file is edited": {func(p *place) {
			if err := os.WriteFile(filepath.Join(p.tree, "kernels", "flash_attn_generic.py"), []byte("# edited\n"), 0o644); err != nil {
				p.t.Fatal(err)
			}
		}, "flash_attn_generic.py"},
		"the base branch moves": {func(p *place) { p.git("branch", "-f", "rocm-kda-base/fa-demo", "HEAD") }, "base"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := sealed(t)
			s.Keys("S")
			s.Wait("gate 2: loop start", "what must hold")
			s.Rest(quiet)
			s.Type("rocm-kda-base/fa-demo")
			s.Wait("> rocm-kda-base/fa-demo")
			move.what(p)
			s.Until("the gate to be void", func(text string) bool {
				return strings.Contains(text, "changed while") || strings.Contains(text, "void")
			})
			s.Wait(move.says)
			s.Keys("\r")
			s.Rest(quiet)
			if n := len(p.seals()); n != 1 {
				t.Fatalf("%d seals, want that of gate 1 alone:\n%s", n, s.Text())
			}
		})
	}
}

func TestGatesStayShutWhereNoPersonIs(t *testing.T) {
	t.Parallel()
	p := newPlace(t).world()
	s := p.demo("CLAUDECODE=1")
	s.Wait("the plan waits for review")
	s.Keys("o")
	readPlan(s)
	s.Keys("A")
	s.Wait("CLAUDECODE")
	p.refused(s, "CLAUDECODE")
	s.Keys("\x1b")
	s.Gone("stays shut")
	s.Keys("q")
	s.Ended()

	// A pipe for a keyboard draws nothing and opens nothing.
	cmd := exec.Command(binary, p.tree)
	cmd.Env, cmd.Dir, cmd.Stdin = p.env, p.dir, strings.NewReader("o2AAAA\r")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "\x1b") || !strings.Contains(string(out), "gates     G1 not sealed, G2 not sealed") {
		t.Errorf("with a pipe: %v\n%s", err, out)
	}
	for _, flags := range [][]string{{"--yes"}, {"--approve"}, {"approve"}, {"gate", "approve"}} {
		if code, text := p.fails(append([]string{p.tree}, flags...)...); code != 64 {
			t.Errorf("%v: exit %d\n%s", flags, code, text)
		}
	}
}

func TestGateStaysShutForSendKeys(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("NOT TESTED: tmux is not installed")
	}
	p.world()
	tmux := func(args ...string) string {
		cmd := exec.Command("tmux", append([]string{"-L", filepath.Base(p.dir) + "-kda"}, args...)...)
		cmd.Env = p.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-x", "120", "-y", "40", binary, "demo", "--dir", filepath.Join(p.dir, "demo"))
	pid := strings.TrimSpace(tmux("display-message", "-p", "#{pane_pid}"))
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-L", filepath.Base(p.dir)+"-kda", "kill-server").Run()
		for range 200 { // it still writes down what was seen
			if _, err := os.Stat("/proc/" + pid); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	see := func(want string) {
		t.Helper()
		deadline := time.Now().Add(screen.Patience)
		for !strings.Contains(tmux("capture-pane", "-p"), want) {
			if time.Now().After(deadline) {
				t.Fatalf("never saw %q:\n%s", want, tmux("capture-pane", "-p"))
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	see("the plan waits for review")
	tmux("send-keys", "o", "2")
	see("[2 plan]")
	tmux("send-keys", "A")
	see("no client")
	if n := len(p.seals()); n != 0 {
		t.Errorf("%d seals", n)
	}
}

func TestJournalNamesTheFlippedByte(t *testing.T) {
	t.Parallel()
	p, s := sealed(t)
	s.Keys("q")
	s.Ended()
	if out := p.run("show", "journal", p.tree, "--verify"); !strings.Contains(out, "chain holds") {
		t.Fatalf("before:\n%s", out)
	}
	b, err := os.ReadFile(p.state("journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(p.state("journal.jsonl"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	code, text := p.fails("show", "journal", p.tree, "--verify")
	if code != 1 || !strings.Contains(text, "journal.jsonl:") {
		t.Errorf("exit %d:\n%s", code, text)
	}
}

// A loop that somebody starts past the gate is red at once.
func TestALoopWithoutASealIsRed(t *testing.T) {
	t.Parallel()
	p := newPlace(t).world()
	s := p.demo()
	s.Wait("the plan waits for review")
	dir := filepath.Join(p.tree, ".humanize", "rlcr", "2036-01-01_00-00-00")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	state := "---\ncurrent_round: 0\nmax_iterations: 12\ncodex_model: gpt-5.5\ncodex_effort: high\ncodex_timeout: 5400\npush_every_round: false\nplan_file: .humanize/kernel-agent/refined-plan.md\nplan_tracked: false\nstart_branch: rlcr/fa-demo\nbase_branch: main\nbase_commit: " + p.git("rev-parse", "main") + "\nreview_started: false\nsession_id: x\nstarted_at: 2026-12-01T00:00:00Z\n---\n"
	if err := os.WriteFile(filepath.Join(dir, "state.md"), []byte(state), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Wait("the loop runs without a seal of gate 2")
}
