package demo_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kdapilot/engine/runs"
	"kdapilot/engine/task"
	"kdapilot/probes/demo"
)

func gitOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestMakeBuildsARepositoryThatSetupAccepts(t *testing.T) {
	l := makeWorld(t)
	for name, tt := range map[string]struct{ got, want string }{
		"branch":         {gitOut(t, l.Worktree, "rev-parse", "--abbrev-ref", "HEAD"), demo.Branch},
		"locked base":    {gitOut(t, l.Worktree, "rev-parse", "refs/heads/"+demo.BaseBranch), l.BaseCommit},
		"clean worktree": {gitOut(t, l.Worktree, "status", "--porcelain", "--untracked-files=all"), ""},
		"clean host":     {gitOut(t, l.Host, "status", "--porcelain", "--untracked-files=all"), ""},
		"plan untracked": {gitOut(t, l.Worktree, "ls-files", ".humanize"), ""},
		"merge base":     {gitOut(t, l.Worktree, "merge-base", "HEAD", demo.BaseBranch), l.BaseCommit},
		"commits on top": {gitOut(t, l.Worktree, "rev-list", "--count", demo.BaseBranch+"..HEAD"), "4"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
	if gitOut(t, l.Host, "rev-parse", "main") == l.BaseCommit {
		t.Error("main is still at the locked base")
	}
	for _, path := range []string{".humanize/kernel-agent/draft.md", ".humanize/kernel-agent/refined-plan.md", ".humanize/kernel-agent/runenv.sh",
		".humanize/kdapilot/task.toml", "tests/kernels/test_flash_attn_fwd.py", "kernels/flash_attn_gfx950.py"} {
		if !strings.Contains(read(t, l.Worktree, path), demo.Mark) {
			t.Errorf("%s does not say %s", path, demo.Mark)
		}
	}
	got, err := task.Parse("task.toml", []byte(read(t, l.Worktree, ".humanize/kdapilot/task.toml")))
	if err != nil {
		t.Fatal(err)
	}
	if got.Slug != demo.Slug || got.Family != demo.Family || got.Arch != demo.Arch || got.BaseBranch != demo.BaseBranch || got.BaseCommit != l.BaseCommit || !got.Simulated {
		t.Errorf("task %+v", got)
	}
}

// TestThePlanPassesItsOwnLint checks what a reviewer of gate 1 checks by script.
func TestThePlanPassesItsOwnLint(t *testing.T) {
	l := makeWorld(t)
	plan := read(t, l.Worktree, ".humanize/kernel-agent/refined-plan.md")
	draft := read(t, l.Worktree, ".humanize/kernel-agent/draft.md")
	for _, h := range []string{"Goal Description", "Acceptance Criteria", "Path Boundaries", "Feasibility Hints and Suggestions", "Dependencies and Sequence",
		"Task Breakdown", "Claude-Codex Deliberation", "Pending User Decisions", "Implementation Notes"} {
		if !strings.Contains(plan, "\n## "+h+"\n") {
			t.Errorf("no section %q", h)
		}
	}
	own, _, found := strings.Cut(plan, "--- Original Design Draft Start ---")
	if !found || !strings.Contains(plan, strings.TrimSpace(draft)) || !strings.Contains(plan, "--- Original Design Draft End ---") {
		t.Error("the draft is not appended in full")
	}
	for _, bad := range []string{"{{", "PENDING", "git checkout", "git switch", "worktree add", "CMT:", "<comment>"} {
		if strings.Contains(plan, bad) {
			t.Errorf("the plan holds %q", bad)
		}
	}
	criteria := regexp.MustCompile(`(?m)^\s*- (AC-[0-9.]+):`).FindAllStringSubmatch(own, -1)
	if len(criteria) < 4 {
		t.Fatalf("criteria: %v", criteria)
	}
	targets := map[string]bool{}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (task\d+) \| [^|]+ \| ([^|]+) \| (coding|analyze) \| ([^|]+) \|$`).FindAllStringSubmatch(own, -1) {
		ids[m[1]] = true
		for _, ac := range strings.Split(m[2], ",") {
			targets[strings.TrimSpace(ac)] = true
		}
		for _, dep := range strings.Split(m[4], ",") {
			if dep = strings.TrimSpace(dep); dep != "-" && !ids[dep] {
				t.Errorf("%s depends on %q, which is not above it", m[1], dep)
			}
		}
	}
	for _, m := range criteria {
		if !targets[m[1]] {
			t.Errorf("no task for %s", m[1])
		}
	}
	if n, m := strings.Count(own, "Positive"), strings.Count(own, "Negative"); n != len(criteria) || m != len(criteria) {
		t.Errorf("%d criteria, %d positive and %d negative tests", len(criteria), n, m)
	}
	if n, m := strings.Count(own, "- DEC-"), strings.Count(own, "Decision Status:"); n == 0 || n != m {
		t.Errorf("%d decisions, %d with a status", n, m)
	}
}

func TestTheOlderLoopIsFinishedAndInThePast(t *testing.T) {
	l := makeWorld(t)
	loops, err := filepath.Glob(filepath.Join(l.Worktree, ".humanize/rlcr/*"))
	if err != nil || len(loops) != 1 {
		t.Fatalf("loops %v %v", loops, err)
	}
	dir := loops[0]
	state := read(t, dir, "complete-state.md")
	for _, want := range []string{"current_round: 3\n", "max_iterations: 8\n", "review_started: true\n", "base_commit: " + l.BaseCommit + "\n", "last_mainline_verdict: advanced\n", "mainline_stall_count: 0\n"} {
		if !strings.Contains(state, want) {
			t.Errorf("state lacks %q:\n%s", want, state)
		}
	}
	for _, gone := range []string{"state.md", "finalize-state.md", "methodology-analysis-state.md", ".methodology-exit-reason"} {
		if exists(dir, gone) {
			t.Errorf("%s is left over", gone)
		}
	}
	if got := read(t, dir, "round-1-review-result.md"); !strings.Contains(got, "Mainline Progress Verdict: STALLED\n") {
		t.Errorf("round 1: %s", got)
	}
	if got := read(t, dir, "round-2-review-result.md"); !strings.HasSuffix(strings.TrimSpace(got), "\nCOMPLETE") {
		t.Errorf("round 2 does not end with COMPLETE: %s", got)
	}
	if got := read(t, dir, "round-3-review-result.md"); !strings.HasPrefix(got, "- [P1] ") || exists(dir, "round-4-review-result.md") {
		t.Errorf("code review: %s", got)
	}
	info, err := os.Stat(filepath.Join(dir, "round-0-summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.Stat(filepath.Join(l.Dir, "bin")); err != nil || now.ModTime().Sub(info.ModTime()).Hours() < 5 {
		t.Errorf("the finished loop is not in the past: %v", info.ModTime())
	}
	logs, err := filepath.Glob(filepath.Join(l.Cache, "humanize/-*/*/round-4-codex-review.log"))
	if err != nil || len(logs) != 1 || strings.Contains(read(t, logs[0]), "[P") {
		t.Errorf("the clean code review: %v %v", logs, err)
	}
}

func TestPastRunsAreWholeAndSayWhatTheyAre(t *testing.T) {
	l := makeWorld(t)
	dirs, err := filepath.Glob(filepath.Join(l.Worktree, ".humanize/kdapilot/runs/*"))
	if err != nil || len(dirs) != 14 {
		t.Fatalf("runs %v %v", dirs, err)
	}
	heads := map[string]string{}
	for _, dir := range dirs {
		m, err := runs.DecodeManifest([]byte(read(t, dir, "manifest.json")))
		if err != nil {
			t.Fatal(err)
		}
		res, err := runs.DecodeResult([]byte(read(t, dir, "result.json")))
		if err != nil {
			t.Fatal(err)
		}
		if m.Preset == "full-gate" {
			if !m.Simulated || m.Env["RUN_TESTS_FULL"] != "1" || m.Head != l.BaseCommit || *res.Exit != 0 || !strings.Contains(read(t, dir, "stdout.log"), demo.Mark) {
				t.Errorf("%s: %+v %+v", filepath.Base(dir), m, res)
			}
			continue
		}
		if !m.Simulated || m.ID != runs.ID(filepath.Base(dir)) || *m.ExpectedCells != map[string]int{"smoke": 110, "sweep": 440, "compare": 440}[m.Preset] || *res.Exit != 0 || len(res.Captured) != 1 || res.WallSeconds < 15 {
			t.Errorf("%s: %+v %+v", filepath.Base(dir), m, res)
		}
		for _, f := range res.Files {
			sum := sha256.Sum256([]byte(read(t, dir, f.Path)))
			if hex.EncodeToString(sum[:]) != f.SHA256 {
				t.Errorf("%s: %s has another hash", filepath.Base(dir), f.Path)
			}
		}
		heads[m.Arm] = m.Head
	}
	if heads["base"] != l.BaseCommit || heads["candidate"] != gitOut(t, l.Worktree, "rev-parse", "HEAD") {
		t.Errorf("heads %v", heads)
	}
}

func TestOpenFindsAWorldAgain(t *testing.T) {
	l := makeWorld(t)
	for _, dir := range []string{l.Dir, l.Worktree} {
		got, err := demo.Open(t.Context(), dir, l.Self)
		if err != nil {
			t.Fatal(err)
		}
		if got != l {
			t.Errorf("Open(%s)\n got %+v\nwant %+v", dir, got, l)
		}
	}
	if _, err := demo.Open(t.Context(), t.TempDir(), l.Self); err == nil {
		t.Error("any folder opens as a world")
	}
	if err := demo.Remove(demo.Layout{Dir: t.TempDir()}); err == nil {
		t.Error("any folder can be removed as a world")
	}
}

func TestMakeRefusesAFolderInUse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Make(t.Context(), dir, "/x"); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("error %v", err)
	}
	if !exists(dir, "mine") {
		t.Error("the folder's file is gone")
	}
}
