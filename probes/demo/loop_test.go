package demo_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdapilot/probes/demo"
)

// startArgs are the arguments of the start command in a layout.
func startArgs(l demo.Layout) []string {
	return strings.Fields(l.StartCommand)[1:]
}

func newestLoop(t *testing.T, l demo.Layout) string {
	t.Helper()
	loops, err := filepath.Glob(filepath.Join(l.Worktree, ".humanize/rlcr/*"))
	if err != nil || len(loops) == 0 {
		t.Fatalf("loops %v %v", loops, err)
	}
	return loops[len(loops)-1]
}

func TestLoopPlaysToTheEnd(t *testing.T) {
	l := makeWorld(t)
	t.Setenv(demo.EnvSpeed, "0")
	var out, errs bytes.Buffer
	args := append([]string{"--worktree", l.Worktree, "--"}, startArgs(l)...)
	if code := demo.Loop(t.Context(), args, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s %s", code, out.String(), errs.String())
	}
	dir := newestLoop(t, l)
	state := read(t, dir, "complete-state.md")
	for _, want := range []string{"current_round: 3\n", "max_iterations: 12\n", "codex_model: gpt-5.5\n", "codex_effort: xhigh\n", "codex_timeout: 5400\n",
		"plan_file: .humanize/kernel-agent/refined-plan.md\n", "start_branch: rlcr/fa-demo\n", "base_branch: rocm-kda-base/fa-demo\n", "base_commit: " + l.BaseCommit + "\n",
		"ask_codex_question: false\n", "review_started: true\n"} {
		if !strings.Contains(state, want) {
			t.Errorf("state lacks %q", want)
		}
	}
	if read(t, dir, "plan.md") != read(t, l.Worktree, ".humanize/kernel-agent/refined-plan.md") {
		t.Error("the loop's copy of the plan differs")
	}
	for _, name := range []string{"round-0-contract.md", "round-3-contract.md", "finalize-summary.md", "methodology-analysis-report.md", ".review-phase-started"} {
		if !exists(dir, name) {
			t.Errorf("%s is missing", name)
		}
	}
	if exists(l.Worktree, ".humanize/.pending-session-id") {
		t.Error("the session never bound")
	}
	if got := gitOut(t, l.Worktree, "status", "--porcelain"); got != "" {
		t.Errorf("the worktree is dirty: %s", got)
	}
	if got := gitOut(t, l.Worktree, "rev-list", "--count", demo.BaseBranch+"..HEAD"); got != "8" {
		t.Errorf("%s commits on top of the base, want 4 more", got)
	}
}

// TestDeliverShowsEveryPhase starts a loop as gate 2 does and watches the files
// the way a cockpit would, including the reviewer's process.
func TestDeliverShowsEveryPhase(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("the live-process check of this test reads /proc, which is not here")
	}
	l := makeWorld(t)
	t.Setenv(demo.EnvSpeed, "12")
	if err := demo.Deliver(l, l.StartCommand); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "a second loop folder", func() bool {
		loops, _ := filepath.Glob(filepath.Join(l.Worktree, ".humanize/rlcr/*/state.md"))
		return len(loops) == 1
	})
	dir := newestLoop(t, l)
	if err := demo.Deliver(l, l.StartCommand); err == nil || !strings.Contains(err.Error(), "already active") {
		t.Errorf("a second start: %v", err)
	}
	within(t, 10*time.Second, "a bound session", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "state.md"))
		return strings.Contains(string(b), "\nsession_id: ")
	})
	within(t, 20*time.Second, "a live reviewer that holds the log", func() bool {
		logs, _ := filepath.Glob(filepath.Join(l.Cache, "humanize/*", filepath.Base(dir), "round-0-codex-run.log"))
		return len(logs) == 1 && holds(logs[0])
	})
	within(t, 60*time.Second, "a stalled round", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "state.md"))
		return strings.Contains(string(b), "last_mainline_verdict: stalled") && strings.Contains(string(b), "mainline_stall_count: 1")
	})
	within(t, 60*time.Second, "the code review phase with findings", func() bool { return exists(dir, "round-3-review-result.md") })
	within(t, 60*time.Second, "the end", func() bool { return exists(dir, "complete-state.md") })
}

// holds reports whether some process has path open as its standard error.
func holds(path string) bool {
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/2")
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && target == path {
			return true
		}
	}
	return false
}

func TestLoopStopsOnASignal(t *testing.T) {
	l := makeWorld(t)
	t.Setenv(demo.EnvSpeed, "1")
	c := exec.Command(l.Self, append([]string{"__sim", "loop", "--worktree", l.Worktree, "--"}, startArgs(l)...)...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "an active loop", func() bool {
		loops, _ := filepath.Glob(filepath.Join(l.Worktree, ".humanize/rlcr/*/state.md"))
		return len(loops) == 1
	})
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	if err == nil || c.ProcessState.ExitCode() != 130 {
		t.Errorf("exit %d, want 130", c.ProcessState.ExitCode())
	}
	if !exists(newestLoop(t, l), "state.md") {
		t.Error("the state is gone: a killed hook leaves it")
	}
}

func TestLoopStopsWhenItIsCancelled(t *testing.T) {
	l := makeWorld(t)
	t.Setenv(demo.EnvSpeed, "1")
	done := make(chan int, 1)
	go func() {
		done <- demo.Loop(context.Background(), append([]string{"--worktree", l.Worktree, "--speed", "20", "--"}, startArgs(l)...), &bytes.Buffer{}, &bytes.Buffer{})
	}()
	within(t, 10*time.Second, "an active loop", func() bool {
		loops, _ := filepath.Glob(filepath.Join(l.Worktree, ".humanize/rlcr/*/state.md"))
		return len(loops) == 1
	})
	dir := newestLoop(t, l)
	if err := os.WriteFile(filepath.Join(dir, ".cancel-requested"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-done:
		if code != 130 {
			t.Errorf("exit %d, want 130", code)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the player goes on after a cancel")
	}
}

// TestRemovingTheWorldEndsThePlayer: a cockpit that cleans up after a demo must
// not be answered by a player that writes the folder back.
func TestRemovingTheWorldEndsThePlayer(t *testing.T) {
	l := makeWorld(t)
	done := make(chan int, 1)
	go func() {
		done <- demo.Loop(context.Background(), append([]string{"--worktree", l.Worktree, "--speed", "4", "--"}, startArgs(l)...), &bytes.Buffer{}, &bytes.Buffer{})
	}()
	within(t, 10*time.Second, "an active loop", func() bool {
		loops, _ := filepath.Glob(filepath.Join(l.Worktree, ".humanize/rlcr/*/state.md"))
		return len(loops) == 1
	})
	if err := demo.Remove(l); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-done:
		if code == 0 {
			t.Error("the player says it ended well")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the player goes on without its world")
	}
	if exists(l.Dir) {
		t.Error("the world is back")
	}
}

func TestDeliverRefusesWhatSetupRefuses(t *testing.T) {
	l := makeWorld(t)
	const plan = ".humanize/kernel-agent/refined-plan.md"
	base := " --base-branch " + demo.BaseBranch
	for _, tt := range []struct{ name, text, want string }{
		{"other command", "/humanize:cancel", "begins with /humanize:start-rlcr-loop"},
		{"two commands", l.StartCommand + "\n" + l.StartCommand, "one slash command at a time"},
		{"open quote", "/humanize:start-rlcr-loop '" + plan, "open '"},
		{"no plan", "/humanize:start-rlcr-loop" + base, "No plan file provided"},
		{"two plans", "/humanize:start-rlcr-loop a b" + base, "Multiple plan files"},
		{"no such plan", "/humanize:start-rlcr-loop nope.md" + base, "Plan file not found"},
		{"absolute", "/humanize:start-rlcr-loop /etc/passwd" + base, "must be a relative path"},
		{"blank", "/humanize:start-rlcr-loop 'a b.md'" + base, "cannot contain spaces"},
		{"shell", "/humanize:start-rlcr-loop a;b" + base, "shell metacharacters"},
		{"tracked", "/humanize:start-rlcr-loop README.md" + base, "must be gitignored"},
		{"max", "/humanize:start-rlcr-loop " + plan + " --max many" + base, "--max must be a positive integer, got: many"},
		{"no max", "/humanize:start-rlcr-loop " + plan + " --max", "--max requires a number argument"},
		{"unknown", "/humanize:start-rlcr-loop " + plan + " --fast" + base, "Unknown option: --fast"},
		{"effort", "/humanize:start-rlcr-loop " + plan + " --codex-model gpt-5.5:huge" + base, "Invalid codex effort"},
		{"remote base", "/humanize:start-rlcr-loop " + plan + " --base-branch upstream/main", "does not exist locally"},
		{"a SHA as base", "/humanize:start-rlcr-loop " + plan + " --base-branch " + l.BaseCommit, "does not exist locally"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := demo.Deliver(l, tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if err := os.WriteFile(filepath.Join(l.Worktree, "stray"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := demo.Deliver(l, l.StartCommand); err == nil || !strings.Contains(err.Error(), "not clean") {
		t.Errorf("a dirty tree: %v", err)
	}
	if loops, _ := filepath.Glob(filepath.Join(l.Worktree, ".humanize/rlcr/*")); len(loops) != 1 {
		t.Errorf("a refused start left a loop: %v", loops)
	}
}

// TestShimsPlayTheTools runs the two scripts as a preset of the family would.
func TestShimsPlayTheTools(t *testing.T) {
	l := makeWorld(t)
	t.Setenv(demo.EnvSpeed, "0")
	for _, tt := range []struct {
		argv []string
		code int
		want string
	}{
		{[]string{"python3", "tests/kernels/test_flash_attn_fwd.py", "--seq_len", "512", "--dtype", "bf16"}, 0, "All tests PASSED"},
		{[]string{"python3", "-m", "pytest", "tests/kernels/test_flash_attn_fwd.py", "-q"}, 0, "12 passed"},
		{[]string{"python3", "other.py"}, 2, "not \"other.py\""},
		{[]string{"bash", "scripts/run_tests.sh"}, 0, "All tests passed."},
		{[]string{"flyprof", "doctor", "-f", "json", "--worktree", l.Worktree}, 0, `"verdict": "ready"`},
		{[]string{"flyprof", "run", "flash_attn_fwd", "--worktree", l.Worktree, "--gpu", "0", "--bundle", filepath.Join(l.Dir, "b"), "-f", "json"}, 0, `"ok": true`},
	} {
		c := exec.Command(tt.argv[0], tt.argv[1:]...)
		c.Dir = l.Worktree
		out, err := c.CombinedOutput()
		if c.ProcessState == nil {
			t.Errorf("%v: %v", tt.argv, err)
			continue
		}
		if got := c.ProcessState.ExitCode(); got != tt.code || !strings.Contains(string(out), tt.want) || !strings.Contains(string(out), demo.Mark) {
			t.Errorf("%v: exit %d, want %d and %q:\n%.300s", tt.argv, got, tt.code, tt.want, out)
		}
	}
	if got := gitOut(t, l.Worktree, "status", "--porcelain"); got != "" {
		t.Errorf("the tools leave the worktree dirty: %s", got)
	}
}
