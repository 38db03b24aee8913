package demo

import (
	"fmt"
	"path/filepath"
	"strings"
)

// story is what happens in a loop: the texts, the changes, the verdicts.
type story struct {
	goal     string
	criteria []string
	tasks    []taskRow
	rounds   []roundStory
	// fix answers the findings of the code review.
	fix roundStory
}

// taskRow is one task with the round (index) in which it is done and the one in
// which the reviewer verified it; -1 is never.
type taskRow struct {
	name, ac, tag, owner string
	done, verified       int
}

type roundStory struct {
	objective, acs               string
	knob                         string
	value                        int
	subject                      string // of the commit
	hypothesis, result, decision string
	evidence                     string
	did, check                   string
	gap, blocking                string
	addressed                    int
	verdict                      string
	complete                     bool
}

func (r roundStory) contract(round int) string {
	return fmt.Sprintf("# Round %d Contract\n\n- Mainline Objective: %s\n- Target ACs: %s\n- Blocking Side Issues In Scope: none\n- Queued Side Issues Out of Scope: wording of the ledger\n- Success Criteria: %s (%s)\n",
		round, r.objective, r.acs, r.check, Mark)
}

func (r roundStory) summary(round int) string {
	return fmt.Sprintf("# Round %d Summary\n\n## Work Completed\n\n%s (%s)\n\n## Files Changed\n\n- %s\n- docs/optimization-ledger.md\n\n## Validation\n\n- %s\n\n## Remaining Items\n\n- %s\n\n## BitLesson Delta\n\n- Action: none\n- Lesson ID(s): NONE\n- Notes: nothing reusable this round\n",
		round, r.did, Mark, kernelRel, r.check, r.gap)
}

func (r roundStory) review(s story) string {
	text := fmt.Sprintf("# Review (%s)\n\nGoal Alignment Summary\n```\nACs: %d/%d addressed | Forgotten items: 0 | Unjustified deferrals: 0\n```\n\n## Mainline Gaps\n- %s\n\n## Blocking Side Issues\n- %s\n\n## Queued Side Issues\n- wording of the ledger\n\nMainline Progress Verdict: %s\n",
		Mark, r.addressed, len(s.criteria), r.gap, r.blocking, r.verdict)
	if r.complete {
		text += "\nCOMPLETE\n"
	}
	return text
}

func (s story) prompt(round int) string {
	if round == 0 {
		return s.goal + "\n\n" + strings.Join(s.criteria, "\n")
	}
	if round < len(s.rounds) {
		return "The last review left this open:\n\n- " + s.rounds[round-1].gap
	}
	return "Fix the findings of the code review, nothing else."
}

// findings is the tail of a code review that found two things.
func (s story) findings(root string) string {
	path := filepath.Join(root, filepath.FromSlash(kernelRel))
	return fmt.Sprintf("%s: the change is made up, so are the findings.\n\nFull review comments:\n\n- [P1] Keep the last group when the head dimension is odd — %s:49-52\n  The last store is skipped when the group does not divide the rows that are left.\n\n- [P2] Name the constant's unit — %s:7-8\n  A reader can not tell groups from bytes.\n", Mark, path, path)
}

func scaffold(round int) string {
	return fmt.Sprintf("# Round %d Summary\n\n## Work Completed\n- [Describe what was implemented in this phase]\n\n## Files Changed\n- [List created/modified files]\n\n## Validation\n- [List tests/commands run and outcomes]\n\n## Remaining Items\n- [List unresolved items, if any]\n\n## BitLesson Delta\n- Action: none|add|update\n- Lesson ID(s): NONE\n- Notes: [what changed and why]\n", round)
}

// tracker is goal-tracker.md while round i is worked on; -1 is the fresh one of
// setup, len(rounds) the last.
func (s story) tracker(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Goal Tracker\n\n## IMMUTABLE SECTION\n\n### Ultimate Goal\n\n%s\n\n### Acceptance Criteria\n\n", s.goal)
	for _, c := range s.criteria {
		fmt.Fprintf(&b, "- %s\n", c)
	}
	fmt.Fprintf(&b, "\n---\n\n## MUTABLE SECTION\n\n### Plan Version: 1 (Updated: Round %d)\n\n#### Plan Evolution Log\n| Round | Change | Reason | Impact on AC |\n|-------|--------|--------|--------------|\n| 0 | Initial plan | - | - |\n", max(0, i))
	b.WriteString("\n#### Active Tasks\n| Task | Target AC | Status | Tag | Owner | Notes |\n|------|-----------|--------|-----|-------|-------|\n")
	if i < 0 {
		b.WriteString("| [To be populated by Claude based on plan] | - | pending | - | - | - |\n")
	}
	for _, t := range s.tasks {
		if i < 0 || t.verified >= 0 && i > t.verified {
			continue
		}
		status := "pending"
		if t.done >= 0 && i >= t.done {
			status = "in_progress"
		}
		if t.done >= 0 && i > t.done {
			status = "done"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", t.name, t.ac, status, t.tag, t.owner, Mark)
	}
	b.WriteString("\n### Blocking Side Issues\n| Issue | Discovered Round | Blocking AC | Resolution Path |\n|-------|------------------|-------------|-----------------|\n")
	b.WriteString("\n### Queued Side Issues\n| Issue | Discovered Round | Why Not Blocking | Revisit Trigger |\n|-------|------------------|------------------|-----------------|\n")
	if i > 0 {
		b.WriteString("| wording of the ledger | 0 | text only | finalize |\n")
	}
	b.WriteString("\n### Completed and Verified\n| AC | Task | Completed Round | Verified Round | Evidence |\n|----|------|-----------------|----------------|----------|\n")
	for _, t := range s.tasks {
		if i >= 0 && t.verified >= 0 && i > t.verified {
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %s ledger row |\n", t.ac, t.name, t.done, t.verified, Mark)
		}
	}
	b.WriteString("\n### Explicitly Deferred\n| Task | Original AC | Deferred Since | Justification | When to Reconsider |\n|------|-------------|----------------|---------------|--------------------|\n")
	return b.String()
}

// olderStory is loop 01, finished: the prefetch depth.
func olderStory() story {
	return story{
		goal:     "Long rows wait less for global loads (" + Mark + ").",
		criteria: []string{"AC-1: every cell passes both gates.", "AC-2: long rows are 3 % faster or more."},
		tasks: []taskRow{
			{"task1: measure and profile the baseline", "AC-1", "analyze", "codex", 0, 0},
			{"task2: raise the prefetch depth", "AC-2", "coding", "claude", 1, 2},
		},
		rounds: []roundStory{
			{objective: "measure and profile the baseline", acs: "AC-1", subject: "Record the baseline", hypothesis: "vmcnt in front of the LDS stage", result: "vmcnt on top", decision: "go on",
				evidence: "bundle baseline", did: "Baseline sweep and one capture; top bubble is vmcnt.", check: "sweep: 440 rows, 0 FAIL", gap: "no candidate yet, AC-2 is open", blocking: "none", addressed: 1, verdict: "ADVANCED"},
			{objective: "prefetch depth 3", acs: "AC-2", knob: "KV_PREFETCH_DEPTH", value: 3, subject: "Prefetch KV three steps ahead", hypothesis: "depth 3 hides the load", result: "odd lengths fail", decision: "rejected",
				evidence: "sweep of round 1", did: "Depth 3 reads past the last tile.", check: "sweep: 440 rows, 6 FAIL", gap: "odd lengths fail with depth 3, so AC-1 is broken", blocking: "the last tile is read twice", addressed: 0, verdict: "STALLED"},
			{objective: "prefetch depth 2", acs: "AC-1, AC-2", knob: "KV_PREFETCH_DEPTH", value: 2, subject: "Prefetch KV two steps ahead", hypothesis: "depth 2 hides most of it", result: "long rows 5 % faster", decision: "promoted",
				evidence: "bundle prefetch2", did: "Depth 2 passes everywhere and helps the long rows.", check: "sweep: 440 rows, 0 FAIL; long rows 5 % faster", gap: "none", blocking: "none", addressed: 2, verdict: "ADVANCED", complete: true},
		},
		fix: roundStory{objective: "answer the code review", acs: "AC-1", subject: "Say what the depth counts", hypothesis: "-", result: "same code", decision: "kept", evidence: "-",
			did: "Named the unit of the depth.", check: "sweep: 440 rows, 0 FAIL", gap: "none"},
	}
}

// newStory is loop 02, the one that the demo's start command begins.
func newStory() story {
	return story{
		goal: "Short rows wait less at the output store (" + Mark + ").",
		criteria: []string{"AC-1: every cell of the sweep passes both gates (AC-1.1: the judge is unchanged).", "AC-2: short rows are faster than the locked baseline.",
			"AC-3: no required regime is slower than noise.", "AC-4: the targeted wait shrank."},
		tasks: []taskRow{
			{"task1: measure the baseline and name its top bubble", "AC-3", "analyze", "codex", 0, 0},
			{"task2: group the output stores behind a switch", "AC-2", "coding", "claude", 1, 2},
			{"task3: full sweep, judge untouched", "AC-1, AC-1.1", "coding", "claude", 2, 2},
			{"task4: capture the candidate", "AC-4", "analyze", "codex", 2, 2},
		},
		rounds: []roundStory{
			{objective: "measure the baseline", acs: "AC-3", subject: "Record the baseline of loop 02", hypothesis: "vmcnt at the store", result: "store wait on top of the short rows", decision: "go on",
				evidence: "bundle prefetch2", did: "Baseline sweep; the short rows wait at the store.", check: "sweep: 440 rows, 0 FAIL", gap: "no candidate yet, AC-2 and AC-4 are open", blocking: "none", addressed: 2, verdict: "ADVANCED"},
			{objective: "group four stores", acs: "AC-2", knob: "O_STORE_GROUP", value: 4, subject: "Group four output stores", hypothesis: "four stores hide each other", result: "no gain on mid rows", decision: "rejected",
				evidence: "sweep of round 1", did: "Groups of four help short rows and cost mid rows.", check: "sweep: 440 rows, 0 FAIL; mid rows 2.6 % slower", gap: "mid rows are slower than noise, so AC-3 is not met", blocking: "none", addressed: 2, verdict: "STALLED"},
			{objective: "group two stores", acs: "AC-1, AC-2, AC-3, AC-4", knob: "O_STORE_GROUP", value: 2, subject: "Group two output stores", hypothesis: "two stores hide one wait", result: "short rows 2 % faster", decision: "promoted",
				evidence: "sweep of round 2", did: "Groups of two help short rows and cost nothing.", check: "sweep: 440 rows, 0 FAIL; short rows 2 % faster", gap: "none", blocking: "none", addressed: 4, verdict: "ADVANCED", complete: true},
		},
		fix: roundStory{objective: "answer the code review", acs: "AC-1", subject: "Keep the last store group", hypothesis: "-", result: "same numbers", decision: "kept", evidence: "-",
			did: "The last group is kept when it is short.", check: "sweep: 440 rows, 0 FAIL", gap: "none"},
	}
}
