package humanize

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// grow builds a worktree of n ended loops and one running, ten rounds each, and
// a tracker of 100 KB in the newest (or in all).
func grow(t testing.TB, n int, bigEverywhere bool) (root, cacheRoot string) {
	t.Helper()
	root, cacheRoot = t.TempDir(), t.TempDir()
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		name := fmt.Sprintf("2026-01-%02d_10-00-%02d", i/24+1, i%60)
		newest := i == n-1
		dir := filepath.Join(root, ".humanize", "rlcr", name)
		state := "complete-state.md"
		if newest {
			state = "state.md"
		}
		put(t, dir, state, stateText(9))
		put(t, dir, "plan.md", "# plan\n")
		put(t, dir, "goal-tracker.md", trackerText(newest || bigEverywhere))
		cache := filepath.Join(cacheRoot, Sanitise(real), name)
		for r := range 10 {
			p := fmt.Sprintf("round-%d-", r)
			put(t, dir, p+"prompt.md", strings.Repeat("prompt text\n", 800))
			put(t, dir, p+"summary.md", "# Round\n\nwork\n\n## BitLesson Delta\n\n- Action: none\n- Lesson ID(s): NONE\n")
			put(t, dir, p+"contract.md", "- Mainline Objective: faster\n- Target ACs: AC-1\n")
			put(t, dir, p+"review-prompt.md", "review\n")
			put(t, cache, p+"codex-run.cmd", "# Timestamp: 2026-01-01T10:00:00Z\n# Timeout: 5400 seconds\n\ncodex\n")
			put(t, cache, p+"codex-run.log", "log\n")
			put(t, cache, p+"codex-run.out", "out\n")
			if !newest || r < 9 {
				put(t, dir, p+"review-result.md", strings.Repeat("a line of review text that says little\n", 100)+"Mainline Progress Verdict: ADVANCED\n")
			}
		}
	}
	return root, cacheRoot
}

func trackerText(big bool) string {
	var b strings.Builder
	b.WriteString("# Goal Tracker\n\n## IMMUTABLE SECTION\n\n### Ultimate Goal\nFaster.\n\n### Acceptance Criteria\n- AC-1: fast\n\n---\n\n## MUTABLE SECTION\n\n### Plan Version: 1 (Updated: Round 2)\n\n#### Plan Evolution Log\n| Round | Change | Reason | Impact on AC |\n|---|---|---|---|\n")
	rows := 3
	if big {
		rows = 90
	}
	for i := range rows {
		fmt.Fprintf(&b, "| %d | %s | reason | AC-1 open |\n", i, strings.Repeat("changed the tile shape ", 48))
	}
	b.WriteString("\n#### Active Tasks\n| Task | Target AC | Status | Tag | Owner | Notes |\n|---|---|---|---|---|---|\n| t1 | AC-1 | pending | coding | claude | - |\n")
	return b.String()
}

func stateText(round int) string {
	return fmt.Sprintf(`---
current_round: %d
max_iterations: 12
codex_model: gpt-5.5
codex_effort: high
codex_timeout: 5400
plan_file: plan.md
plan_tracked: false
start_branch: work
base_branch: base
base_commit: 0123456789abcdef0123456789abcdef01234567
review_started: false
ask_codex_question: true
session_id: 11111111-2222-3333-4444-555555555555
privacy_mode: false
bitlesson_required: true
bitlesson_file: .humanize/bitlesson.md
bitlesson_allow_empty_none: true
mainline_stall_count: 0
last_mainline_verdict: advanced
drift_status: normal
started_at: 2026-01-01T10:00:00Z
---
`, round)
}

// put writes a fixture file an hour old, so that caching may trust its time.
func put(t testing.TB, dir, name, content string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkScanCold(b *testing.B) {
	for _, big := range []bool{false, true} {
		b.Run(fmt.Sprintf("40loops/bigtrackers=%v", big), func(b *testing.B) {
			root, cacheRoot := grow(b, 40, big)
			for b.Loop() {
				if _, err := Scan(context.Background(), root, Options{CacheRoot: cacheRoot}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRescan(b *testing.B) {
	root, cacheRoot := grow(b, 40, true)
	summary := filepath.Join(root, ".humanize", "rlcr", "2026-01-02_10-00-39", "round-9-summary.md")
	for _, touch := range []bool{false, true} {
		for _, p := range []Processes{nil, Proc{}} {
			b.Run(fmt.Sprintf("touch=%v/proc=%v", touch, p != nil), func(b *testing.B) {
				s := NewScanner(root, Options{CacheRoot: cacheRoot, Processes: p})
				time.Sleep(2 * settled)
				if _, err := s.Scan(context.Background()); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if touch {
						if err := os.WriteFile(summary, []byte("# Round 9\n\ndone\n"), 0o644); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := s.Scan(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
