package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "kdapilot-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "kdapilot")
		if out, err := exec.Command("go", "build", "-o", binary, "kdapilot/cmd/kdapilot").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// quiet is longer than a gate wants silence.
const quiet = 600 * time.Millisecond

// place is a home of its own with a worktree in it.
type place struct {
	t    *testing.T
	dir  string
	env  []string
	tree string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the whole program")
	}
	dir, err := os.MkdirTemp("", "e2e")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // a simulated tool may still be writing its last file
		for range 100 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("remove %s: %v", dir, err)
	})
	return &place{t: t, dir: dir, env: []string{
		"HOME=" + dir, "XDG_CONFIG_HOME=" + dir + "/config", "XDG_CACHE_HOME=" + dir + "/cache", "PATH=" + os.Getenv("PATH"),
		"TERM=xterm-256color", "LANG=C.UTF-8", "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "KDAPILOT_SIM_SPEED=10",
	}}
}

// world is a place with the demo's worktree.
func world(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	out, code := p.cli("demo", "--make-only", "--dir", filepath.Join(p.dir, "demo"))
	if code != 0 {
		t.Fatalf("make the demo world: exit %d\n%s", code, out)
	}
	p.tree = strings.TrimSpace(out)
	return p
}

const (
	loopName = "2026-08-21_08-12-44"
	state    = ".humanize/rlcr/" + loopName + "/state.md"
	planFile = ".humanize/kernel-agent/refined-plan.md"
)

// stateText is a loop's state file in the given round; branch is where it was
// started.
func stateText(round int, branch string) string {
	return fmt.Sprintf("---\ncurrent_round: %d\nmax_iterations: 12\ncodex_model: gpt-5.5\ncodex_effort: xhigh\ncodex_timeout: 5400\npush_every_round: false\nplan_file: %s\nplan_tracked: false\nstart_branch: %s\nbase_branch: rocm-kda-base/x\nbase_commit: 68d36f462617685a434349b6b88f0f61161f91f7\nreview_started: false\nsession_id: s1\nstarted_at: 2026-08-21T08:12:44Z\n---\n", round, planFile, branch)
}

// scratch is a place with a small git worktree and one loop in round 3.
func scratch(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.tree = filepath.Join(p.dir, "tree")
	p.put(state, stateText(3, "rlcr/x"))
	p.put("kernels/a.py", "a\n")
	p.put(".gitignore", ".humanize*\n")
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.tree, filepath.FromSlash(name)) }

// put replaces a file of the worktree the way editors and Humanize do.
func (p *place) put(name, text string) {
	p.t.Helper()
	at := p.path(name)
	err := os.MkdirAll(filepath.Dir(at), 0o755)
	if err == nil {
		err = os.WriteFile(at+".tmp", []byte(text), 0o644)
	}
	if err == nil {
		err = os.Rename(at+".tmp", at)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// cli runs a command without a terminal; it gives standard output and error,
// and the exit status.
func (p *place) cli(args ...string) (string, int) {
	p.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		p.t.Fatalf("kdapilot %v: %v", args, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (p *place) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", p.tree, "-c", "user.name=t", "-c", "user.email=t@example.invalid"}, args...)...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// open starts the cockpit on the worktree.
func (p *place) open() *screen.Term {
	p.t.Helper()
	return p.start(screen.Options{Argv: []string{binary, p.tree}})
}

// demo starts the cockpit on the demo world.
func (p *place) demo() *screen.Term {
	p.t.Helper()
	return p.start(screen.Options{Argv: []string{binary, "demo", "--dir", filepath.Join(p.dir, "demo")}})
}

func (p *place) start(o screen.Options) *screen.Term {
	p.t.Helper()
	if o.Env == nil {
		o.Env = p.env
	}
	o.Dir = p.dir
	return screen.Start(p.t, o)
}

// seals counts the seal files.
func (p *place) seals() int {
	p.t.Helper()
	found, err := filepath.Glob(p.path(".humanize/kdapilot/seals/*.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	return len(found)
}

func (p *place) journal() string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(".humanize/kdapilot/journal.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return string(b)
}

// quit ends a cockpit the way a person does and looks at what it leaves.
func quit(t *testing.T, s *screen.Term) {
	t.Helper()
	s.Keys("q")
	if code := s.Ended(); code != 0 {
		t.Errorf("exit %d:\n%s", code, s.Text())
	}
	restored(t, s)
}
