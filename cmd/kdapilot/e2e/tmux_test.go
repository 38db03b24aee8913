package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
	"kdapilot/engine/gate"
)

// Inside tmux with a person attached: the hand of the person opens the gate, and
// keys that a program sends do not, be they sent after the person looked away or
// while the gate is open.
func TestGateInTmuxTellsTheHandFromSendKeys(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("NOT TESTED: tmux is not installed")
	}
	p := world(t)
	socket := filepath.Join(p.dir, "tmux")
	tmux := func(args ...string) {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
		cmd.Env = p.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
	}
	tmux("new-session", "-d", "-x", "120", "-y", "40", binary, "demo", "--dir", filepath.Join(p.dir, "demo"))
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	tmux("set-option", "-g", "status", "off")
	tmux("set-option", "-s", "escape-time", "20")
	s := p.start(screen.Options{Argv: []string{"tmux", "-S", socket, "attach"}})
	s.Wait("the plan waits for review")
	s.Keys("o")
	s.Wait("OPERATE")
	readPlan(s)

	s.Rest(gate.PresentFor + 2*time.Second) // the person looks away: that is what is tested
	tmux("send-keys", "A")
	s.Wait("keys sent by a program do not count")
	p.refused(s, 1, "keys sent by a program do not count")
	s.Keys("\x1b")
	s.Gone("stays shut")

	want := openG1(s) // by hand
	s.Rest(quiet)
	tmux("send-keys", "-l", want)
	tmux("send-keys", "Enter")
	p.refused(s, 1, "faster than a hand")
	if n := p.seals(); n != 0 {
		t.Fatalf("send-keys sealed:\n%s", s.Text())
	}
	p.sayAndEnter(s, want)
	s.Wait("G1 sealed")
	if n := p.seals(); n != 1 {
		t.Errorf("%d seals by hand, want 1", n)
	}
	s.Keys("q")
	s.Ended()
	if strings.Count(p.journal(), `"gate sealed"`) != 1 {
		t.Errorf("journal:\n%s", p.journal())
	}
}
