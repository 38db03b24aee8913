package endtoend

import (
	"context"
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
		dir, err := os.MkdirTemp("", "kdapilot-endtoend-")
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

// place is a home of its own with, if asked for, a demo world in it.
type place struct {
	t    *testing.T
	dir  string
	env  []string
	tree string // the task worktree of the demo world
}

func newPlace(t *testing.T) *place {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the whole program")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: dir}
	t.Cleanup(func() { // a simulated tool may still be writing its last file
		for range 100 {
			if os.RemoveAll(filepath.Join(dir, "demo")) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	p.env = []string{
		"HOME=" + dir, "XDG_CONFIG_HOME=" + dir + "/config", "XDG_CACHE_HOME=" + dir + "/cache", "PATH=" + os.Getenv("PATH"),
		"TERM=xterm-256color", "LANG=C.UTF-8", "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "KDAPILOT_SIM_SPEED=10",
	}
	return p
}

// world makes a demo world.
func (p *place) world() *place {
	p.t.Helper()
	p.tree = strings.TrimSpace(p.run("demo", "--make-only", "--dir", filepath.Join(p.dir, "demo")))
	return p
}

// bounded is a command without a terminal. It has to end by itself: what waits
// for a key here would wait forever.
func (p *place) bounded(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), screen.Patience)
	p.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	cmd.WaitDelay = time.Second // whatever it started may hold its output open
	return cmd
}

// run runs a command to its end and gives what it printed.
func (p *place) run(args ...string) string {
	p.t.Helper()
	cmd := p.bounded(args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("kdapilot %s: %v\n%s%s", strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}

// fails runs a command that has to fail, and gives its status and words.
func (p *place) fails(args ...string) (int, string) {
	p.t.Helper()
	cmd := p.bounded(args...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		p.t.Fatalf("kdapilot %s: it succeeded\n%s", strings.Join(args, " "), out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// demo opens the cockpit on the demo world, as `kdapilot demo --dir` does.
func (p *place) demo(extra ...string) *screen.Term {
	p.t.Helper()
	return p.open(screen.Options{Argv: []string{binary, "demo", "--dir", filepath.Join(p.dir, "demo")}, Env: append(p.env, extra...)})
}

func (p *place) open(o screen.Options) *screen.Term {
	p.t.Helper()
	if o.Env == nil {
		o.Env = p.env
	}
	if o.Dir == "" {
		o.Dir = p.dir
	}
	return screen.Start(p.t, o)
}

func (p *place) state(names ...string) string {
	return filepath.Join(append([]string{p.tree, ".humanize", "kdapilot"}, names...)...)
}

// seals are the seal files there are.
func (p *place) seals() []string {
	p.t.Helper()
	found, err := filepath.Glob(p.state("seals", "*.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

func (p *place) journal() string {
	b, err := os.ReadFile(p.state("journal.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return string(b)
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
