package loop

import (
	"fmt"
	"slices"
	"time"

	"kdapilot/engine/fact"
)

// warnings runs every check in turn. Checks that end up in prose elsewhere
// (base branch moved, tree, tracked .humanize) belong to git's facts.
func (l *Loop) warnings(now time.Time) []Warning {
	w := warner{l: l, now: now, active: l.Active() && !l.Ignored, out: []Warning{}}
	w.damaged()
	if l.ListingCut || l.RoundsDropped > 0 {
		w.add(Warning{ID: "folder-too-large", Severity: Amber, Path: l.Dir, Text: "the loop folder holds more than is looked at: rounds or files are left out"})
	}
	if l.Ignored {
		w.add(Warning{ID: "ignored-active", Severity: Amber, Text: "active on disk, ignored by Humanize: a newer loop folder exists", Path: l.Dir})
	}
	if w.active {
		w.unbound()
		w.parked()
		w.lags()
		w.lastRound()
		w.schema()
	}
	w.reviewer()
	w.verdict()
	w.reviews()
	return w.out
}

type warner struct {
	l      *Loop
	now    time.Time
	active bool
	out    []Warning
}

func (w *warner) add(x Warning) { w.out = append(w.out, x) }

func (w *warner) damaged() {
	l := w.l
	switch {
	case l.StateFile == "":
		w.add(Warning{ID: "no-state", Severity: Note, Text: "no state file: not a loop yet, or damaged", Path: l.Dir})
	case l.Origin.Status != fact.OK && l.Outcome != "unexpected":
		sev := Amber
		if l.Active() {
			sev = Red
		}
		w.add(Warning{ID: "state-unreadable", Severity: sev, Text: l.Origin.Why, Path: l.Origin.Path, Line: l.Origin.Line})
	case l.Outcome == "unexpected":
		w.add(Warning{ID: "ended-unexpected", Severity: Red, Text: "Humanize could not read the state and ended the loop: " + orWord(Word(l.Origin.Why), "no reason found"), Path: l.Origin.Path, Line: l.Origin.Line})
	}
}

func (w *warner) unbound() {
	l := w.l
	if !l.Has("session_id") || l.SessionID != "" || !l.Origin.Status.Known() {
		return
	}
	x := Warning{ID: "unbound-session", Severity: Red, Path: l.Origin.Path, Since: l.SignalSince,
		Text: "no session id: any Claude session in this worktree drives the loop or is blocked by it"}
	if l.SignalPending {
		x.Text += "; the session signal is still waiting"
		// Binding takes seconds after setup; until then it is only news.
		if !l.SignalSince.IsZero() && w.now.Sub(l.SignalSince) < time.Minute {
			x.Severity = Note
		}
	}
	w.add(x)
}

func (w *warner) parked() {
	if slices.Contains(w.l.Markers, MarkParked) {
		w.add(Warning{ID: "parked", Severity: Amber, Path: MarkParked, Since: w.l.MarkerSince[MarkParked],
			Text: "a stop passed unreviewed while background tasks ran; the marker stays until the next stop"})
	}
}

// lags compares the state's round with the files: work written for rounds the
// state never reached means that no stop hook runs.
func (w *warner) lags() {
	l := w.l
	if !l.Round.Known {
		return
	}
	high, summaries, results := l.Round.N, 0, 0
	for i := range l.Rounds {
		r := &l.Rounds[i]
		if r.Has("summary") || r.Has("contract") || r.Has("prompt") {
			high = max(high, r.N)
		}
		if r.Has("summary") {
			summaries++
		}
		if r.Has("review-result") {
			results++
		}
	}
	if high > l.Round.N {
		w.add(Warning{ID: "state-lags-files", Severity: Red, Path: l.Origin.Path,
			Text: fmt.Sprintf("state says round %d, files go to round %d (%d summaries, %d review results): the stop hook does not run", l.Round.N, high, summaries, results)})
	}
	if l.Phase != Implementing && l.Phase != ReviewFixing {
		return
	}
	if cur := l.RoundN(l.Round.N); cur != nil && l.droppedSummary(cur, w.now) {
		w.add(Warning{ID: "nobody-reviewing", Severity: Amber, Since: cur.Summary.ModTime,
			Text: fmt.Sprintf("summary of round %d is written, no review was started: look whether the session is alive and its stop hook fires", cur.N)})
	}
}

func (w *warner) lastRound() {
	l := w.l
	if l.ReviewStarted || !l.Max.Known || !l.Round.Known || string(l.StateFile) != stateActive {
		return
	}
	switch l.Max.N - l.Round.N {
	case 0:
		w.add(Warning{ID: "last-round-unreviewed", Severity: Amber, Text: fmt.Sprintf("round %d of %d: last, unreviewed", l.Round.N, l.Max.N)})
	case 1:
		w.add(Warning{ID: "last-reviewed-round", Severity: Note, Text: fmt.Sprintf("round %d of %d: the last one that is reviewed", l.Round.N, l.Max.N)})
	}
	if l.StallCount.Known && l.StallCount.N >= 2 {
		w.add(Warning{ID: "stalled", Severity: Red, Text: fmt.Sprintf("%d rounds without progress: one more ends the loop", l.StallCount.N)})
	}
}

func (w *warner) schema() {
	if w.l.Plan.Differs && !w.l.ReviewStarted && string(w.l.StateFile) == stateActive {
		w.add(Warning{ID: "plan-differs", Severity: Red, Path: w.l.PlanFile,
			Text: "plan differs from the loop's copy: stops are refused, and the reviewer does not see the change"})
	}
}

// reviewer warns of one that hangs, died or outlived its loop.
func (w *warner) reviewer() {
	v := &w.l.Reviewer
	switch {
	case v.Alive && w.l.Phase == Ended:
		w.add(Warning{ID: "reviewer-outlives-loop", Severity: Note, Path: v.Log, Since: v.Started,
			Text: fmt.Sprintf("the %s of round %d still runs (pid %d) although the loop has ended", spoken(v.Kind), v.Round, v.PID)})
	case v.Alive && !v.Deadline.IsZero() && w.now.After(v.Deadline):
		w.add(Warning{ID: "reviewer-overdue", Severity: Red, Path: v.Log, Since: v.Deadline,
			Text: fmt.Sprintf("the %s of round %d runs past its timeout (pid %d)", spoken(v.Kind), v.Round, v.PID)})
	case v.Alive && !v.HostDeadline.IsZero() && w.now.After(v.HostDeadline):
		w.add(Warning{ID: "reviewer-overdue", Severity: Amber, Path: v.Log, Since: v.HostDeadline,
			Text: "the stop hook is past the host's own limit and may have been killed"})
	case v.Open && !v.Alive && v.Checked == fact.OK && w.active:
		w.add(Warning{ID: "review-unfinished", Severity: Amber, Path: v.Log, Since: v.Started,
			Text: fmt.Sprintf("the %s of round %d did not finish and no reviewer runs: failed, timed out or was killed", spoken(v.Kind), v.Round)})
	case v.Open && !v.Alive && w.active:
		text := fmt.Sprintf("a %s of round %d was started; whether it runs was not checked", spoken(v.Kind), v.Round)
		if v.Why != "" {
			text += ": " + v.Why
		}
		w.add(Warning{ID: "review-unchecked", Severity: Note, Path: v.Log, Since: v.Started, Text: text})
	}
	for _, f := range v.Missed {
		w.add(Warning{ID: "finding-missed", Severity: Red, Path: v.Log, Line: f.Line,
			Text: fmt.Sprintf("code review finding %s %s stands where Humanize does not look", f.Severity, f.Title)})
	}
}

// verdict warns of a summary review the loop is stuck on.
func (w *warner) verdict() {
	l := w.l
	if !w.active || string(l.StateFile) != stateActive {
		return
	}
	r := l.RoundN(l.Round.N)
	if r == nil || !l.stuckOnVerdict(r) {
		return
	}
	path := fmt.Sprintf("round-%d-review-result.md", r.N)
	x := Warning{ID: "verdict-missing", Severity: Red, Path: path, Line: r.VerdictLineNo, Since: r.Reviewed,
		Text: "the review has no usable verdict, the state did not move"}
	if r.VerdictLine != "" {
		x.Text = "the review's verdict can not be read, the state did not move: " + r.VerdictLine
	}
	w.add(x)
	if a := r.Run; a != nil && r.Reviewed.Before(a.CmdModTime) && !l.Reviewer.Alive {
		w.add(Warning{ID: "stale-result", Severity: Red, Path: path, Since: a.CmdModTime,
			Text: "the review result is older than the last review run: its answer was not taken, the loop is stuck until the file is removed"})
	}
}

// reviews warns of what single results say.
func (w *warner) reviews() {
	l := w.l
	for i := range l.Rounds {
		r := &l.Rounds[i]
		path := fmt.Sprintf("round-%d-review-result.md", r.N)
		if r.ReviewStatus.Status == fact.Unreadable {
			w.add(Warning{ID: "review-unreadable", Severity: Amber, Path: path, Text: r.ReviewStatus.Why})
		}
		if r.CouldNotRun != "" {
			w.add(Warning{ID: "reviewer-could-not-run", Severity: Red, Path: path, Line: r.CouldNotRunLine,
				Text: "the reviewer could not work, yet its verdict counts: " + r.CouldNotRun})
		}
	}
	if w.active && l.questionOpen() {
		before := l.RoundN(l.Round.N - 1)
		w.add(Warning{ID: "open-question", Severity: Amber, Path: fmt.Sprintf("round-%d-review-result.md", before.N), Line: before.OpenQuestionLine,
			Text: fmt.Sprintf("the review of round %d asks open questions", before.N)})
	}
	w.repeated()
}

// repeated points out a finding that came back in the next code review.
func (w *warner) repeated() {
	var before *Round
	for i := range w.l.Rounds {
		r := &w.l.Rounds[i]
		if r.Kind != CodeReview {
			continue
		}
		for _, f := range r.Findings {
			if before != nil && slices.ContainsFunc(before.Findings, func(o Finding) bool { return o.Title == f.Title && o.Path == f.Path }) {
				w.add(Warning{ID: "finding-repeated", Severity: Amber, Path: fmt.Sprintf("round-%d-review-result.md", r.N), Line: f.Line,
					Text: fmt.Sprintf("the same finding in rounds %d and %d: %s", before.N, r.N, f.Title)})
			}
		}
		before = r
	}
}

// Mark is one place of the stall strip.
type Mark struct {
	Round int `json:"round"`
	// Letter: A advanced, S stalled, R regressed, ? no usable verdict, C complete,
	// X stopped by the reviewer, F code review findings, P code review passed,
	// "." open, "-" never reviewed, "!" the reviewer could not work.
	Letter string `json:"letter"`
}

// Strip is the loop's rounds as one letter each, ascending.
func (l *Loop) Strip() []Mark {
	out := make([]Mark, 0, len(l.Rounds))
	for i := range l.Rounds {
		out = append(out, Mark{Round: l.Rounds[i].N, Letter: l.letter(&l.Rounds[i])})
	}
	return out
}

func (l *Loop) letter(r *Round) string {
	switch {
	case r.CouldNotRun != "":
		return "!"
	case r.Kind == CodeReview:
		return "F"
	case r.Marker == MarkComplete:
		return "C"
	case r.Marker == MarkStop:
		return "X"
	case r.Kind == SummaryReview:
		switch r.Verdict {
		case Advanced:
			return "A"
		case Stalled:
			return "S"
		case Regressed:
			return "R"
		}
		return "?"
	case r.Passed:
		return "P"
	case r.Unreviewed, l.passedOver(r):
		return "-"
	}
	return "."
}

// passedOver tells that no review of the round will come any more, because the
// loop went on to another round or towards its end.
func (l *Loop) passedOver(r *Round) bool {
	if l.Rounds[len(l.Rounds)-1].N != r.N {
		return true
	}
	return l.Phase == Ended || l.Phase == Finalizing || l.Phase == Analyzing
}
