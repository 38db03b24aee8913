package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// waiting are the snapshots whose phase files alone do not tell, with the log
// that the reviewer had open when they were taken.
func waiting() map[string]string {
	return map[string]string{
		"complete/04-waiting-for-codex-round-0":       "round-0-codex-run.log",
		"complete/07-waiting-for-code-review":         "round-3-codex-review.log",
		"interrupted-review/00-hook-killed-no-result": "",
	}
}

// TestPhaseWithALiveReviewer lays a snapshot out as it was on its host, as a git
// worktree with the reviewer's logs in the user's cache, and has a process hold
// the log open: then, and only then, the loop waits for the reviewer.
func TestPhaseWithALiveReviewer(t *testing.T) {
	dir := sampleData(t, "humanize")
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("SKIPPED: no /proc here, a live reviewer can not be seen")
	}
	var all []map[string]any
	readJSON(t, filepath.Join(dir, "expected.json"), &all)
	for _, want := range all {
		name := want["snapshot"].(string)
		log, listed := waiting()[name]
		phase := want["phase"].(string)
		if awaits := strings.HasPrefix(phase, "awaiting"); awaits != (log != "") {
			t.Errorf("%s is %s: the table of waiting snapshots is wrong", name, phase)
		}
		if !listed {
			continue
		}
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			root, logs := asOnHost(t, filepath.Join(dir, filepath.FromSlash(name)), want["loop"].(string))
			idle := phaseOf(t, root, want["loop"])
			if strings.HasPrefix(idle, "awaiting") {
				t.Errorf("%s without a process", idle)
			}
			if log == "" {
				return
			}
			stop := hold(t, filepath.Join(logs, log))
			if got := phaseOf(t, root, want["loop"]); got != phase {
				t.Errorf("%s with a live reviewer, want %s", got, phase)
			}
			stop()
			if got := phaseOf(t, root, want["loop"]); got != idle {
				t.Errorf("%s after the reviewer was gone, want %s", got, idle)
			}
		})
	}
}

// asOnHost copies a snapshot into a git worktree and its logs into the cache
// that Humanize would use for that path.
func asOnHost(t *testing.T, snapshot, loop string) (root, logs string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	if err := os.CopyFS(filepath.Join(root, ".humanize"), os.DirFS(filepath.Join(snapshot, ".humanize"))); err != nil {
		t.Fatal(err)
	}
	from, err := filepath.Glob(filepath.Join(snapshot, "cache", "humanize", "*", loop))
	if err != nil || len(from) != 1 {
		t.Fatalf("%d folders of logs, %v", len(from), err)
	}
	sane := regexp.MustCompile(`[^A-Za-z0-9._]+`).ReplaceAllString(root, "-")
	logs = filepath.Join(cache, "humanize", sane, loop)
	if err := os.CopyFS(logs, os.DirFS(from[0])); err != nil {
		t.Fatal(err)
	}
	return root, logs
}

// hold starts a process whose standard error is the log, as the reviewer's is;
// stop ends it.
func hold(t *testing.T, log string) (stop func()) {
	t.Helper()
	if err := os.Chmod(log, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "60")
	cmd.Stderr = f
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(stop)
	return stop
}

func phaseOf(t *testing.T, root string, loop any) string {
	t.Helper()
	code, out, errs := command(t, "show", "loops", root, "--json")
	var got struct {
		Loops []struct {
			Loop, Phase string
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("exit %d: %v %s", code, err, errs)
	}
	for _, l := range got.Loops {
		if l.Loop == loop {
			return l.Phase
		}
	}
	t.Fatalf("loop %v is not listed", loop)
	return ""
}
