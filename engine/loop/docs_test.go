package loop

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const tracker = `# Goal Tracker
<!-- multi
### Ultimate Goal
line comment -->
## IMMUTABLE SECTION
### Ultimate Goal
<!-- note -->
Faster fp8.

## Acceptance Criteria

### Acceptance Criteria
- AC-1: correct ` + "`a|b`" + `
  - AC-1.1: causal too
  - not a criterion, AC-9 is mentioned
- **AC-2** (speed):
| C-3 | table row |

## Path Boundaries
---
## MUTABLE SECTION
### Plan Version: 3 (Updated: Round 38 Review)
#### Plan Evolution Log
| Round | Change | Reason | Impact on AC |
|---|---|---|---|
| 2 Review | a ` + "`[K | V]`" + ` b | c \| d | none |
| 3 | stray ` + "`" + ` tick | x | y |
#### Active Tasks
| Task | Target AC | Status | Tag | Owner | Notes |
|---|---|---|---|---|---|
| t1 | AC-1 | done (Round 0, pending verification) | coding | claude | n |
| t2 | AC-2 | **completed** | coding | claude | n |
| t3 | AC-2 | partial | coding | claude | n |
| t4 | C-3 | deferred | coding | claude | n |
### Blocking Side Issues
| Issue | Discovered Round | Blocking AC | Resolution Path |
|---|---|---|---|
| None | - | - | - |
### Queued Side Issues
None.
### Completed and Verified
| AC | Task | Completed Round | Verified Round | Evidence |
|---|---|---|---|---|
| AC-1, AC-1.1 | t0 | 0 | 1 | log |
### Explicitly Deferred
| Task | Original AC | Deferred Since | Justification | When to Reconsider |
|---|---|---|---|---|
| varlen | AC-1 | 2 | out of scope | later |
`

func TestParseTracker(t *testing.T) {
	tr := ParseTracker([]byte(tracker))
	if !tr.Whole || tr.Placeholder || tr.Goal != "Faster fp8." || tr.PlanVersion != known(3) || tr.UpdatedRound != known(38) || !tr.UpdatedByReview {
		t.Errorf("%+v", tr)
	}
	if tr.ActiveRows != 4 || tr.ActiveCompleted != 2 || tr.Open != 1 || tr.Blocking != 0 || tr.Queued != 0 || tr.CompletedRows != 1 || tr.Deferred != 1 {
		t.Errorf("counts %+v", tr)
	}
	var ids []string
	for _, c := range tr.Criteria {
		ids = append(ids, fmt.Sprintf("%s/%v/%v", c.ID, c.Verified, c.Claimed))
	}
	if got, want := strings.Join(ids, " "), "AC-1/true/true AC-1.1/true/false AC-2/false/true C-3/false/false"; got != want {
		t.Errorf("criteria %s, want %s", got, want)
	}
	if len(tr.Evolution) != 2 || len(tr.Evolution[0].Cells) != 4 || tr.Evolution[0].Cells[1] != "a `[K | V]` b" ||
		tr.Evolution[0].Cells[2] != "c | d" || len(tr.Evolution[1].Cells) != 4 {
		t.Errorf("evolution %+v", tr.Evolution)
	}
}

func TestTrackerPlaceholder(t *testing.T) {
	for in, want := range map[string]bool{
		"### Ultimate Goal\n[To be extracted]\n":                      true,
		"#### Active Tasks\n| [To be populated by Claude] | - |\n":    true,
		"### Ultimate Goal\n## Other\n[To be extracted]\n":            false,
		"### Completed and Verified\n| [To be populated] |\n":         false,
		"### Acceptance Criteria\n- AC-1: [To Be sure] about it\n":    false,
		"<!-- ### Ultimate Goal\n[To be x] -->\n### Ultimate Goal\nx": false,
	} {
		if got := ParseTracker([]byte(in)).Placeholder; got != want {
			t.Errorf("%q: placeholder %v, want %v", in, got, want)
		}
	}
}

func TestTrackerBounds(t *testing.T) {
	tr := ParseTracker([]byte("#### Active Tasks\n| Task | Status |\n|---|---|\n" + strings.Repeat("| "+strings.Repeat("x", 1000)+" | done |\n", maxRows+10)))
	if len(tr.Active) != maxRows || tr.ActiveRows != maxRows+10 || !tr.Cut || len(tr.Active[0].Task) != maxCell {
		t.Errorf("%d rows kept of %d, cut %v", len(tr.Active), tr.ActiveRows, tr.Cut)
	}
}

func TestLessonDelta(t *testing.T) {
	head := "# Round 1 Summary\n\n## BitLesson Delta\n"
	for _, c := range []struct{ name, in, action, problem string }{
		{"none", head + "Action: none\nLesson ID(s): NONE\n", "none", ""},
		{"dash", head + "- Action: none\n- Lesson IDs:\n", "none", ""},
		{"add", head + "- Action: ADD\n- Lesson ID(s): BL-20261201-axis, BL-20261202-b\n- Notes: found in round 1\n", "add", ""},
		{"no section", "# x\nAction: none\n", "", "no ## BitLesson Delta section"},
		{"scaffold", head + "Action: none|add|update\nLesson ID(s): <IDs>\n", "", "Action must be none, add or update"},
		{"two", head + "Action: none\nAction: add\n", "none", "exactly one Action line, found 2"},
		{"other word", head + "Action: maybe\n", "", "Action is maybe"},
		{"none with ids", head + "Action: none\nLesson ID(s): BL-20261201-x\n", "none", "must be NONE"},
		{"add without ids", head + "Action: add\nLesson ID(s): NONE\nNotes: x\n", "add", "must name the lessons"},
		{"singular is not known", head + "Action: add\nLesson ID: BL-20261201-x\nNotes: x\n", "add", "must name the lessons"},
		{"bad id", head + "Action: add\nLesson ID(s): BL-1\nNotes: x\n", "add", "not of the form"},
		{"placeholder note", head + "Action: add\nLesson ID(s): BL-20261201-x\nNotes: [what changed and why]\n", "add", "Notes must say"},
		{"fenced heading", "```\n## BitLesson Delta\nAction: none\n```\n", "", "no ## BitLesson Delta section"},
		{"section ended", head + "## Next\nAction: none\n", "", "Action must be"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := ParseSummary([]byte(c.in)).Delta
			if d.Action != c.action || (c.problem == "") != (d.Problem == "") || !strings.Contains(d.Problem, c.problem) {
				t.Errorf("got %q %q, want %q %q", d.Action, d.Problem, c.action, c.problem)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	if s := ParseSummary([]byte("## What\n\n[Describe what was done]\n")); !s.Scaffold {
		t.Error("scaffold not seen")
	}
	if s := ParseSummary([]byte("## What\n\nDone.\n\n## Goal Tracker Update Request\n- x\n")); s.Scaffold || !s.UpdateRequest {
		t.Errorf("%+v", s)
	}
}

func TestContract(t *testing.T) {
	c := ParseContract([]byte("# Round 2 Contract\n\n- Mainline Objective: reach 1.3x\n- **Target ACs:** AC-3, AC-1.1\n- Success Criteria: sweep has no FAIL row\n"))
	if c.Objective != "reach 1.3x" || strings.Join(c.ACs, " ") != "AC-3 AC-1.1" || c.Success != "sweep has no FAIL row" {
		t.Errorf("%+v", c)
	}
	if c := ParseContract([]byte("## Round Objective\nother shape\n")); c.Objective != "" {
		t.Errorf("%+v", c)
	}
}

func TestBitlessons(t *testing.T) {
	b := ParseBitlessons([]byte("```\nLesson ID: <BL-YYYYMMDD-short-name>\n```\n## Lesson: x\nLesson ID: BL-20261201-x\n  Lesson ID: indented\n"))
	if b.Count != 1 || len(b.IDs) != 1 || b.IDs[0] != "BL-20261201-x" {
		t.Errorf("%+v", b)
	}
}

func TestConsultation(t *testing.T) {
	input := []byte("# Ask Codex Input\n\n## Question\n\nWhich scale?\nmore\n\n## Configuration\n\n- Model: gpt-5.5\n- Timeout: 3600s\n- Tool: codex\n")
	c := ParseConsultation("id", input, nil)
	if c.Status != "open" || c.Question != "Which scale?" || c.Model != "gpt-5.5" || c.Timeout != time.Hour || c.ExitCode.Known {
		t.Errorf("%+v", c)
	}
	c = ParseConsultation("id", input, []byte("---\nexit_code: 124\nduration: 2s\nstatus: timeout\nstarted_at: 2026-12-01T04:15:36Z\n---\n"))
	if c.Status != "timeout" || c.ExitCode != known(124) || c.Took != 2*time.Second || c.Started.IsZero() {
		t.Errorf("%+v", c)
	}
	if c := ParseConsultation("id", nil, []byte{}); c.Status != "unknown" {
		t.Errorf("empty metadata reads as %q", c.Status)
	}
}

func FuzzParseTracker(f *testing.F) {
	f.Add([]byte(tracker))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr := ParseTracker(b)
		if len(tr.Active) > maxRows || len(tr.Criteria) > maxCriteria || tr.ActiveCompleted+tr.Open > tr.ActiveRows {
			t.Errorf("%d active rows, %d claimed, %d open", tr.ActiveRows, tr.ActiveCompleted, tr.Open)
		}
		clean(t, tr.Goal)
		for _, r := range tr.Evolution {
			clean(t, r.Cells...)
			if len(r.Cells) > maxCells {
				t.Errorf("%d cells", len(r.Cells))
			}
		}
	})
}

func FuzzParseDocs(f *testing.F) {
	f.Add([]byte("## BitLesson Delta\n- Action: add\n- Lesson ID(s): BL-20261201-x\n- Notes: y\n"))
	f.Add([]byte("## Question\nx\n---\nstatus: success\n---\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := ParseSummary(b)
		clean(t, append(s.Delta.IDs, s.Delta.Notes, s.Delta.Problem)...)
		c := ParseContract(b)
		clean(t, c.Objective, c.Success)
		clean(t, ParseBitlessons(b).IDs...)
		q := ParseConsultation("id", b, b)
		clean(t, q.Question, q.Status, q.Model)
	})
}
