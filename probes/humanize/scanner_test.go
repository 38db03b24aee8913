package humanize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
)

const loopName = "2026-03-01_10-00-00"

// worktree lays the fixtures out as a worktree with its cache.
func worktree(t testing.TB) (root, cacheRoot, dir, cacheDir string) {
	t.Helper()
	root, cacheRoot = t.TempDir(), t.TempDir()
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(real, ".humanize", "rlcr", loopName)
	cacheDir = filepath.Join(cacheRoot, Sanitise(real), loopName)
	copyFixtures(t, filepath.Join("testdata", "running"), dir)
	copyFixtures(t, filepath.Join("testdata", "cache"), cacheDir)
	put(t, filepath.Join(real, "plans"), "gemm.md", "# Pipeline the GEMM loads\n\nTwo tiles ahead.\n")
	put(t, filepath.Join(real, ".humanize"), "bitlesson.md", "## Lesson: x\nLesson ID: BL-20260301-vmcnt\n")
	return real, cacheRoot, dir, cacheDir
}

func copyFixtures(t testing.TB, from, to string) {
	t.Helper()
	list, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		put(t, to, e.Name(), string(b))
	}
}

func scan(t testing.TB, s *Scanner) loop.Set {
	t.Helper()
	set, err := s.Scan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestFixture(t *testing.T) {
	root, cacheRoot, dir, _ := worktree(t)
	procs := &fakeProcesses{suffix: "round-1-codex-run.log"}
	set := scan(t, NewScanner(root, Options{CacheRoot: cacheRoot, Processes: procs}))
	l := set.Current()
	if l == nil || l.Name != loopName || l.Dir != dir || l.Phase != loop.AwaitingSummaryReview || l.Ball.Who != loop.Codex {
		t.Fatalf("%+v", l)
	}
	v := l.Reviewer
	if v.PID != 4711 || v.Round != 1 || v.Checked != fact.OK || v.LogBytes == 0 ||
		!v.Started.Equal(time.Date(2026, 3, 1, 9, 40, 0, 0, time.UTC)) || v.Deadline.Sub(v.Started) != 15*time.Minute {
		t.Errorf("reviewer %+v", v)
	}
	if !hasWarning(l, "reviewer-overdue") {
		t.Errorf("warnings %+v", l.Warnings)
	}
	if len(l.NextStop) != 0 {
		t.Errorf("a loop with all papers is refused: %+v", l.NextStop)
	}
	if set.Bitlessons.Count != 1 || len(l.CacheFiles) != 3 || l.Rounds[1].Summary.Delta.Action != "add" || l.Rounds[0].Verdict != loop.Stalled {
		t.Errorf("%+v %+v", set.Bitlessons, l)
	}
}

func TestNothingThere(t *testing.T) {
	set := scan(t, NewScanner(t.TempDir(), Options{CacheRoot: t.TempDir()}))
	if set.Origin.Status != fact.Missing || set.Loops == nil || set.Current() != nil {
		t.Errorf("%+v", set)
	}
	if _, err := Scan(context.Background(), filepath.Join(t.TempDir(), "none"), Options{}); err == nil {
		t.Error("a root that is not there is an error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root, cacheRoot, _, _ := worktree(t)
	if _, err := Scan(ctx, root, Options{CacheRoot: cacheRoot}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled scan: %v", err)
	}
}

func TestHumanizeFolderAsRoot(t *testing.T) {
	root, cacheRoot, _, _ := worktree(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{filepath.Join(root, ".humanize"), link} {
		set := scan(t, NewScanner(p, Options{CacheRoot: cacheRoot}))
		if set.Root != root || set.Current() == nil || len(set.Current().CacheFiles) != 3 {
			t.Errorf("%s: root %s, loop %+v", p, set.Root, set.Current())
		}
	}
}

func TestCacheBesideWins(t *testing.T) {
	root, _, _, cacheDir := worktree(t)
	beside := filepath.Join(root, "cache", "humanize", "-elsewhere", loopName)
	if err := os.MkdirAll(filepath.Dir(beside), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(cacheDir, beside); err != nil {
		t.Fatal(err)
	}
	set := scan(t, NewScanner(root, Options{CacheRoot: t.TempDir()}))
	if l := set.Current(); l.CacheDir != beside || len(l.CacheFiles) != 3 {
		t.Errorf("cache %s %v", l.CacheDir, l.CacheFiles)
	}
}

// TestDamage plants trouble into the newest loop; the older one must stay whole
// and the damaged one listed.
func TestDamage(t *testing.T) {
	const newer = "2026-03-02_10-00-00"
	for _, c := range []struct {
		name   string
		plant  func(t *testing.T, dir string)
		phase  loop.Phase
		status fact.Status
		why    string
	}{
		{"empty folder", func(t *testing.T, dir string) {}, loop.Unknown, fact.Missing, "no state file"},
		{"zero bytes", func(t *testing.T, dir string) { put(t, dir, "state.md", "") }, loop.Unknown, fact.Unreadable, "state.md:1: empty"},
		{"cut", func(t *testing.T, dir string) { put(t, dir, "state.md", stateText(1)[:60]) }, loop.Unknown, fact.Unreadable, "state.md:"},
		{"binary", func(t *testing.T, dir string) { put(t, dir, "state.md", "\x00\xff\x1b[2J") }, loop.Unknown, fact.Unreadable, "state.md:1"},
		{"huge", func(t *testing.T, dir string) { put(t, dir, "state.md", strings.Repeat("a: b\n", 20000)) }, loop.Unknown, fact.Unreadable, "at most"},
		{"a folder for a file", func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, "state.md")) }, loop.Unknown, fact.Missing, "no state file"},
		{"link loop", func(t *testing.T, dir string) { symlink(t, "state.md", filepath.Join(dir, "state.md")) }, loop.Unknown, fact.Missing, "no state file"},
		{"pipe", func(t *testing.T, dir string) {
			if err := syscall.Mkfifo(filepath.Join(dir, "state.md"), 0o600); err != nil {
				t.Skip(err)
			}
		}, loop.Unknown, fact.Missing, "no state file"},
		{"finalize unreadable", func(t *testing.T, dir string) { put(t, dir, "finalize-state.md", "x") }, loop.Finalizing, fact.Unreadable, "finalize-state.md:1"},
		{"ended in pieces", func(t *testing.T, dir string) { put(t, dir, "stop-state.md", "") }, loop.Ended, fact.Unreadable, "stop-state.md:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, cacheRoot, dir, _ := worktree(t)
			bad := filepath.Join(filepath.Dir(dir), newer)
			mkdir(t, bad)
			c.plant(t, bad)
			set := scan(t, NewScanner(root, Options{CacheRoot: cacheRoot}))
			if len(set.Loops) != 2 || set.Current().Name != newer || set.Loops[1].Name != loopName {
				t.Fatalf("%d loops", len(set.Loops))
			}
			l := set.Loops[0]
			if l.Phase != c.phase || l.Origin.Status != c.status || !strings.Contains(l.Origin.Why, c.why) {
				t.Errorf("phase %s status %s why %q", l.Phase, l.Origin.Status, l.Origin.Why)
			}
			if old := set.Loops[1]; old.Origin.Status != fact.OK || old.Tracker.ActiveRows != 1 {
				t.Errorf("the neighbour suffered: %+v", old.Origin)
			}
		})
	}
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func symlink(t testing.TB, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestOddFolders(t *testing.T) {
	root, cacheRoot, dir, _ := worktree(t)
	base := filepath.Dir(dir)
	symlink(t, base, filepath.Join(base, "zz-loop"))         // a folder that holds itself
	mkdir(t, filepath.Join(base, "bad\x1b[2Jname"))          // control characters
	put(t, base, "not-a-loop.txt", "x")                      // a file among the loops
	mkdir(t, filepath.Join(root, ".humanize", "skill", "x")) // a consultation without files
	closed := filepath.Join(base, "2026-03-03_10-00-00")
	mkdir(t, closed)
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	put(t, filepath.Join(root, ".humanize", "pr-loop", "2026-02-01_10-00-00"), "approve-state.md", "---\npr_number: 7\n---\n")
	put(t, filepath.Join(root, ".humanize-loop.local", "2026-01-01_10-00-00"), "cancel-state.md", stateText(0))
	set := scan(t, NewScanner(root, Options{CacheRoot: cacheRoot}))
	var got []string
	for _, l := range set.Loops {
		got = append(got, l.Name+" "+string(l.Layout)+" "+string(l.Phase)+" "+string(l.Outcome))
	}
	want := "2026-03-03_10-00-00 rlcr unknown |2026-03-01_10-00-00 rlcr implementing |2026-02-01_10-00-00 pr-loop ended approve|2026-01-01_10-00-00 loop.local ended cancel"
	if strings.Join(got, "|") != want {
		t.Errorf("loops %q", got)
	}
	if pr := set.Loops[2]; pr.Origin.Status != fact.OK || len(pr.Warnings) != 0 || pr.Ball.Who != loop.Undecided {
		t.Errorf("a pull request loop is listed, not judged: %+v", pr)
	}
	ids := ""
	for _, w := range set.Warnings {
		ids += w.ID + " "
		if strings.ContainsRune(w.Text, 0x1b) {
			t.Errorf("control characters in %q", w.Text)
		}
	}
	if ids != "folder-name folder-is-link " {
		t.Errorf("warnings %s", ids)
	}
	if os.Getuid() != 0 && set.Loops[0].Origin.Status != fact.Unreadable {
		t.Errorf("closed folder: %+v", set.Loops[0].Origin)
	}
	if len(set.Consultations) != 1 || set.Consultations[0].Status != "open" {
		t.Errorf("consultations %+v", set.Consultations)
	}
}

func TestManyRounds(t *testing.T) {
	root, cacheRoot, dir, _ := worktree(t)
	for i := range MaxRounds {
		put(t, dir, fmt.Sprintf("round-%d-prompt.md", i+2), "x")
	}
	set := scan(t, NewScanner(root, Options{CacheRoot: cacheRoot}))
	if l := set.Current(); len(l.Rounds) != MaxRounds || l.RoundsDropped == 0 || !hasWarning(l, "folder-too-large") {
		t.Errorf("%d rounds, %d dropped", len(l.Rounds), l.RoundsDropped)
	}
}

func TestRescanReadsOnlyWhatChanged(t *testing.T) {
	root, cacheRoot := grow(t, 5, false)
	s := NewScanner(root, Options{CacheRoot: cacheRoot})
	time.Sleep(3 * settled) // until the folders' own times are settled
	first := scan(t, s)
	before := s.cache.reads
	scan(t, s)
	if s.cache.reads != before {
		t.Errorf("an idle rescan read %d files", s.cache.reads-before)
	}
	dir := first.Current().Dir
	put(t, dir, "round-9-summary.md", "# Round 9 Summary\n\nchanged\n")
	second := scan(t, s)
	if n := s.cache.reads - before; n != 1 {
		t.Errorf("one touched file cost %d reads", n)
	}
	if second.Current().Rounds[9].Summary.Delta.Problem == "" || first.Current().Rounds[9].Summary.Delta.Problem != "" {
		t.Error("the change is not seen, or the old snapshot changed")
	}
	// The state of an old, ended loop changes in place; a tracker too.
	old := first.Loops[3].Dir
	put(t, old, "goal-tracker.md", strings.Replace(trackerText(false), "| pending |", "| done |", 1))
	if third := scan(t, s); third.Loops[3].Tracker.ActiveCompleted != 1 {
		t.Error("a tracker change in an old loop is not seen")
	}
	if err := os.Rename(filepath.Join(old, "complete-state.md"), filepath.Join(old, "stop-state.md")); err != nil {
		t.Fatal(err)
	}
	if fourth := scan(t, s); fourth.Loops[3].Outcome != "stop" {
		t.Error("a renamed state of an old loop is not seen")
	}
	if err := os.RemoveAll(old); err != nil {
		t.Fatal(err)
	}
	if fifth := scan(t, s); len(fifth.Loops) != 4 || len(s.kept) != 3 {
		t.Errorf("%d loops, %d kept after a removal", len(fifth.Loops), len(s.kept))
	}
}

// TestSameTickRewrite: same size, same coarse time, other bytes.
func TestSameTickRewrite(t *testing.T) {
	root, cacheRoot, dir, _ := worktree(t)
	s := NewScanner(root, Options{CacheRoot: cacheRoot})
	path := filepath.Join(dir, "state.md")
	now := time.Now()
	for i, want := range []string{"1", "2", "3"} {
		if err := os.WriteFile(path, []byte(stateText(i+1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
		set := scan(t, s)
		if got := set.Current().Round.String(); got != want {
			t.Errorf("round %s, want %s: a rewrite within one clock tick was missed", got, want)
		}
	}
}

func TestKeepAcrossScans(t *testing.T) {
	root, cacheRoot, dir, _ := worktree(t)
	s := NewScanner(root, Options{CacheRoot: cacheRoot})
	good := scan(t, s)
	put(t, dir, "state.md", "")
	put(t, dir, "goal-tracker.md", "# Goal")
	torn := scan(t, s)
	if torn.Current().Phase != loop.Unknown {
		t.Fatalf("phase %s", torn.Current().Phase)
	}
	kept := torn.Keep(good, time.Now())
	l := kept.Current()
	if l.Phase != loop.Implementing || l.Round.String() != "1" || l.Origin.Status != fact.Torn || l.Tracker.ActiveRows != 1 || l.Tracker.Origin.Status != fact.Torn {
		t.Errorf("%s %s %+v %+v", l.Phase, l.Round, l.Origin, l.Tracker.Origin)
	}
}

func TestLiveReviewer(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("SKIPPED: no /proc here, a live reviewer can not be shown")
	}
	root, cacheRoot, _, cacheDir := worktree(t)
	log, err := os.OpenFile(filepath.Join(cacheDir, "round-1-codex-run.log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "60")
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	_ = log.Close()
	s := NewScanner(root, Options{CacheRoot: cacheRoot, Processes: Proc{}})
	alive := scan(t, s)
	if l := alive.Current(); l.Phase != loop.AwaitingSummaryReview || l.Reviewer.PID != cmd.Process.Pid {
		t.Errorf("phase %s reviewer %+v, want pid %d", l.Phase, l.Reviewer, cmd.Process.Pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	dead := scan(t, s)
	if l := dead.Current(); l.Phase != loop.Implementing || l.Reviewer.Checked != fact.OK || !hasWarning(l, "review-unfinished") || l.Ball.Who != loop.Nobody {
		t.Errorf("phase %s ball %+v warnings %+v", l.Phase, l.Ball, l.Warnings)
	}
}

func TestProcessesNotAskedInVain(t *testing.T) {
	root, cacheRoot, dir, cacheDir := worktree(t)
	procs := &fakeProcesses{}
	if err := os.RemoveAll(cacheDir); err != nil {
		t.Fatal(err)
	}
	set := scan(t, NewScanner(root, Options{CacheRoot: cacheRoot, Processes: procs}))
	if procs.asked != 0 || set.Current().Reviewer.Open {
		t.Errorf("asked %d times though no reviewer was started", procs.asked)
	}
	_ = dir
	if _, err := (Proc{Dir: filepath.Join(root, "none")}).Writers(context.Background(), nil); err == nil {
		t.Error("a missing proc file system is no answer")
	}
}

func TestRoundTexts(t *testing.T) {
	root, cacheRoot, _, _ := worktree(t)
	set := scan(t, NewScanner(root, Options{CacheRoot: cacheRoot}))
	x, err := Round(context.Background(), set.Current(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if x.Prompt.Text != "go on\n" || !strings.Contains(x.Summary.Text, "Prefetch in.") || !strings.Contains(x.Contract.Text, "AC-2") ||
		x.ReviewResult.Origin.Status != fact.Missing || x.Log.Text != "thinking\nred step 2\n" {
		t.Errorf("%+v", x)
	}
	if _, err := Round(context.Background(), set.Current(), 9); err == nil {
		t.Error("round 9 does not exist")
	}
	if l := Log(set.Current().Rounds[1].Run.Log, 12); !l.Cut || l.Text != "" {
		t.Errorf("tail without a whole line: %+v", l)
	}
}

func TestRoundFile(t *testing.T) {
	for name, want := range map[string]int{
		"round-0-prompt.md": 0, "round-12-review-result.md": 12, "round-007-prompt.md": -1, "round-1234567-prompt.md": -1,
		"round--1-prompt.md": -1, "round-1-notes.md": -1, "round-1-prompt.md.bak": -1, "round-1": -1, "round-x-prompt.md": -1,
	} {
		n, _, ok := roundFile(name)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%s: %d, want %d", name, n, want)
		}
	}
}

func TestSanitise(t *testing.T) {
	for in, want := range map[string]string{
		"/sgl-workspace/FlyDSL-demo": "-sgl-workspace-FlyDSL-demo", "/a b//c_d.e": "-a-b-c_d.e", "/x--y/é": "-x-y-",
	} {
		if got := Sanitise(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
