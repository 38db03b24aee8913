package rounds

import (
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
	"kdapilot/ui/view/viewtest"
)

func known(n int) loop.Int { return loop.Int{N: n, Known: true} }

func at(ago time.Duration) time.Time { return viewtest.Now.Add(-ago) }

// sample is the common one with a whole tracker that says who claims what, and
// with the reviewers' starts.
func sample() *session.Snapshot {
	s := viewtest.Sample()
	l := &s.Loops.Loops[0]
	l.Keys = []string{"session_id"}
	t := &l.Tracker
	t.Whole = true
	for i, text := range []string{"fp8 forward is right on the dense grid (min_cos 0.999)", "bf16 stays bit-identical to the locked base", "the headline shape reaches 1.3x of bf16", "no regime is slower than 0.97x", "causal rows above 8192 wait less than 30 %", "no spills", "the ledger says what failed"} {
		t.Criteria[i].Text = text
	}
	t.Active = []loop.Task{
		{Task: "task3: wide MFMA for QK", AC: "AC-3", Status: "done (round 2, pending verification)", Owner: "claude", Claimed: true},
		{Task: "task4: sweep of all regimes", AC: "AC-4", Status: "completed", Owner: "claude", Claimed: true, Notes: "no numbers given"},
		{Task: "task5: prefetch K", AC: "AC-5", Status: "in_progress", Owner: "claude"},
		{Task: "task6: registers", AC: "AC-6", Status: "pending"},
		{Task: "task7: ledger", AC: "AC-7", Status: "pending"},
	}
	t.CompletedT = []loop.Row{{Cells: []string{"AC-1", "task1: fp8 kernel", "0", "1", "sweep of 16 rows, min_cos 0.99999"}}, {Cells: []string{"AC-2", "task2: ISA compare", "1", "2", "identical"}}}
	t.QueuedT = []loop.Row{{Cells: []string{"wording of the ledger", "1", "no number depends on it", "finalize"}}}
	for i := range l.Rounds {
		r := &l.Rounds[i]
		if r.Kind != "" {
			began := r.Reviewed.Add(-time.Duration(14+i) * time.Minute)
			r.Run = &loop.Attempt{Status: fact.OK, CmdModTime: began}
			r.Contract.Success = "AC-3 at 1.3x, measured on all rows"
			r.Blocking, r.Queued = known(i/2), known(1)
			r.VerdictLine, r.VerdictLineNo = "Mainline Progress Verdict: "+strings.ToUpper(string(r.Verdict)), 31
		}
	}
	return s
}

// several is the sample with a loop that ended, one that Humanize ignores and
// one of the old layout.
func several() *session.Snapshot {
	s := sample()
	code := loop.Loop{Name: "2026-08-20_10-00-00", Layout: loop.RLCR, StateFile: "complete-state.md", Phase: loop.Ended, Outcome: "complete", PhaseSince: at(20 * time.Hour), Origin: fact.Origin{Status: fact.OK}, Closing: loop.Closing{FinalizeSummary: 1200, AnalysisReport: 3400, AnalysisDone: 20}}
	code.Round, code.Max = known(2), known(8)
	code.BaseBranch, code.BaseCommit = "rocm-kda-base/fa-fp8", "68d36f462617685a434349b6b88f0f61161f91f7"
	code.Rounds = []loop.Round{
		{N: 0, Files: []string{"prompt", "review-result", "summary"}, Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.Advanced, Marker: loop.MarkComplete}},
		{N: 1, Files: []string{"prompt", "review-result"}, Review: loop.Review{Kind: loop.CodeReview, Findings: []loop.Finding{{Severity: "P1", Title: "LDS written past its end", Path: "kernels/flash_attn_gfx950.py", From: 412}, {Severity: "P2", Title: "name"}, {Severity: "P2", Title: "doc"}}}},
		{N: 2, Files: []string{"prompt"}, Passed: true},
	}
	ignored := loop.Loop{Name: "2026-08-19_10-00-00", Layout: loop.RLCR, StateFile: "state.md", Phase: loop.Implementing, Ignored: true, Origin: fact.Origin{Status: fact.OK},
		Warnings: []loop.Warning{{ID: "ignored-active", Severity: loop.Amber, Text: "active on disk, ignored by Humanize: a newer loop folder exists"}}}
	old := loop.Loop{Name: "2026-08-18_10-00-00", Layout: loop.Local, StateFile: "state.md", Phase: loop.Ended, Outcome: "cancel", Origin: fact.Origin{Status: fact.OK}}
	s.Loops.Loops = append(s.Loops.Loops, code, ignored, old)
	return s
}

// opened is the sample with the texts of round 2.
func opened() *session.Snapshot {
	s := sample()
	dir := s.Loops.Loops[0].Dir + "/"
	ok := func(name string) fact.Origin {
		return fact.Origin{Path: dir + name, Status: fact.OK, Size: 900, ModTime: at(time.Hour)}
	}
	log := ok("round-2-codex-run.log")
	log.Size = 2 << 20
	s.Round = &session.RoundTexts{Loop: s.Loops.Loops[0].Name, Round: 2, Texts: []session.RoundText{
		{Kind: "contract", Name: "round-2-contract.md", Text: "# Round 2 Contract\n\nReach the gate.\n", Origin: ok("round-2-contract.md")},
		{Kind: "review-result", Name: "round-2-review-result.md", Text: "# Review\n\n## Mainline Progress\n\nMainline Progress Verdict: STALLED\n\n- [P1] The wait moved, it did not shrink\n- [P2] A name\n\n" + strings.Repeat("The rows above 8192 wait as before.\n\n", 30), Origin: ok("round-2-review-result.md")},
		{Kind: "prompt", Name: "round-2-prompt.md", Origin: fact.Origin{Path: dir + "round-2-prompt.md", Status: fact.Missing, Why: "no such file"}},
		{Kind: "log", Name: "round-2-codex-run.log", Text: strings.Repeat("thinking about the wait at line 585 of the kernel, which is long enough to wrap on narrow screens\n", 200) + "- [P1] The wait moved\nend of the log\n", Cut: true, Origin: log},
	}}
	return s
}

func waiting() *session.Snapshot {
	s := sample()
	l := &s.Loops.Loops[0]
	l.Phase, l.PhaseSince = loop.AwaitingSummaryReview, at(20*time.Minute)
	l.Ball, l.NextStop = loop.Ball{Who: loop.Codex, Since: at(20 * time.Minute), Why: "the reviewer of round 3 is at work"}, nil
	l.Reviewer = loop.Reviewer{Open: true, Round: 3, Kind: loop.SummaryReview, Checked: fact.OK, Alive: true, PID: 4711, Started: at(20 * time.Minute), Deadline: at(-70 * time.Minute), HostDeadline: at(-100 * time.Minute), Log: "/c/round-3.log", LogBytes: 120_000, LogModTime: at(time.Minute)}
	l.Rounds[3].Summary.Scaffold = false
	l.Rounds[3].Run = &loop.Attempt{CmdModTime: at(20 * time.Minute)}
	return s
}

// finalizing is a loop whose code review was clean and whose summary is due.
func finalizing() *session.Snapshot {
	s := sample()
	l := &s.Loops.Loops[0]
	l.Phase, l.StateFile, l.ReviewStarted = loop.Finalizing, "finalize-state.md", true
	l.Rounds[2].Verdict, l.Rounds[2].Marker, l.LastVerdict = loop.Advanced, loop.MarkComplete, loop.Advanced
	l.Rounds[3].Passed, l.Rounds[3].CodeRun = true, &loop.Attempt{CmdModTime: at(time.Hour)}
	l.StallCount, l.Closing = known(0), loop.Closing{FinalizeSummary: -1, AnalysisReport: -1, AnalysisDone: -1}
	l.NextStop = []loop.Refusal{{Gate: "summary", Text: "finalize-summary.md is missing"}}
	l.Warnings = nil
	return s
}

// broken is a loop whose state file could not be read; the last good values
// were kept.
func broken() *session.Snapshot {
	s := sample()
	s.Loops.Loops[0].Origin = fact.Origin{Status: fact.Torn, Why: "state.md is empty", Path: "state.md"}
	return s
}

// act does what a person does between two frames of w by 36 cells.
func act(t *testing.T, s *Screen, e *view.Env, ids ...keys.ID) view.Ask {
	t.Helper()
	var ask view.Ask
	for _, id := range ids {
		s.Render(e, 120, 36)
		var ok bool
		if ask, ok = s.Act(e, id); !ok {
			t.Fatalf("%s was not handled", id)
		}
	}
	return ask
}
