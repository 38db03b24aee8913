package loop

import (
	"slices"
	"strings"
	"time"

	"kdapilot/engine/fact"
)

// Names of the files that decide.
const (
	stateActive    = "state.md"
	stateFinalize  = "finalize-state.md"
	stateAnalysis  = "methodology-analysis-state.md"
	stateSuffix    = "-state.md"
	MarkParked     = "bg-pending.marker"
	MarkReviewing  = ".review-phase-started"
	MarkExitReason = ".methodology-exit-reason"
	MarkCancel     = ".cancel-requested"
)

// MarkerNames are the marker files that a loop lists, sorted.
func MarkerNames() []string {
	return []string{MarkCancel, MarkExitReason, MarkReviewing, MarkParked}
}

// PickState chooses, among the file names of a loop folder, the one that says
// where the loop is, in Humanize's order; "" when there is none. The outcome is
// set for ended loops: the word before -state.md, whatever it is.
func PickState(names []string) (file string, outcome Word) {
	ended := ""
	found := map[string]bool{}
	for _, n := range names {
		found[n] = true
		if x, ok := strings.CutSuffix(n, stateSuffix); ok && x != "" && n != stateFinalize && n != stateAnalysis {
			if ended == "" || rankEnd(n) < rankEnd(ended) || (rankEnd(n) == rankEnd(ended) && n < ended) {
				ended = n
			}
		}
	}
	for _, n := range []string{stateAnalysis, stateFinalize, stateActive} {
		if found[n] {
			return n, ""
		}
	}
	return ended, Word(strings.TrimSuffix(ended, stateSuffix))
}

// rankEnd puts the end names of 1.16 before any other.
func rankEnd(file string) int {
	ends := []string{"complete", "stop", "maxiter", "cancel", "unexpected"}
	if i := slices.Index(ends, strings.TrimSuffix(file, stateSuffix)); i >= 0 {
		return i
	}
	return len(ends)
}

// Active reports whether Humanize would count the folder as a running loop,
// whether or not its state can be read.
func (l *Loop) Active() bool {
	switch string(l.StateFile) {
	case stateActive, stateFinalize, stateAnalysis:
		return true
	}
	return false
}

// decidePhase applies the first match of: analysis, finalize, live reviewer,
// parked, review phase, implementation, ended.
func (l *Loop) decidePhase() Phase {
	switch string(l.StateFile) {
	case "":
		return Unknown
	case stateAnalysis:
		return Analyzing
	case stateFinalize:
		return Finalizing
	case stateActive:
	default:
		return Ended
	}
	switch {
	case !l.Origin.Status.Known():
		return Unknown
	case l.Reviewer.Alive && l.Reviewer.Kind == CodeReview:
		return AwaitingCodeReview
	case l.Reviewer.Alive:
		return AwaitingSummaryReview
	case slices.Contains(l.Markers, MarkParked):
		return Parked
	case l.ReviewStarted:
		return ReviewFixing
	}
	return Implementing
}

// Candidates are the reviewer starts that could still be running: those of the
// current round and of the code review after it. Logs of these are worth a look
// at processes; empty means that no wait is possible. Cancelling does not kill a
// reviewer, so a cancelled loop may still have one.
func (l *Loop) Candidates() []*Attempt {
	if string(l.StateFile) != stateActive && l.Outcome != "cancel" {
		return nil
	}
	var out []*Attempt
	for i := range l.Rounds {
		r := &l.Rounds[i]
		if l.Round.Known && r.N < l.Round.N {
			continue
		}
		for _, a := range []*Attempt{r.Run, r.CodeRun} {
			if a != nil && a.Log != "" {
				out = append(out, a)
			}
		}
	}
	return out
}

// hostLimit is what Humanize's hooks.json grants one stop hook, both reviewers
// together.
const hostLimit = 7200 * time.Second

// defaultTimeout is codex_timeout where neither .cmd nor state say.
const defaultTimeout = 5400 * time.Second

// SetReviewer fills Reviewer from the rounds' attempts. checked tells whether
// processes were looked at, pid answers for a log path: 0 when nobody writes.
func (l *Loop) SetReviewer(checked fact.Status, why string, pid func(log string) int) {
	l.Reviewer = Reviewer{Checked: checked, Why: why}
	var newest *Attempt
	for _, a := range l.Candidates() {
		if p := pid(a.Log); p > 0 {
			l.describe(a, p)
			return
		}
		if l.open(a) && (newest == nil || a.Began().After(newest.Began())) {
			newest = a
		}
	}
	if newest != nil {
		l.describe(newest, 0)
	}
}

// open tells whether the files of an attempt look like a wait: no result newer
// than the start, and nothing on standard output yet.
func (l *Loop) open(a *Attempt) bool {
	r, _ := l.roundOf(a)
	if a == r.CodeRun && l.Round.Known && r.N <= l.Round.N {
		return false // the round was opened because of this very review
	}
	answered := r.Has("review-result") && !r.Reviewed.Before(a.CmdModTime)
	return !answered && a.OutBytes <= 0
}

func (l *Loop) roundOf(a *Attempt) (*Round, Kind) {
	for i := range l.Rounds {
		switch a {
		case l.Rounds[i].Run:
			return &l.Rounds[i], SummaryReview
		case l.Rounds[i].CodeRun:
			return &l.Rounds[i], CodeReview
		}
	}
	return &Round{}, ""
}

func (l *Loop) describe(a *Attempt, pid int) {
	r, kind := l.roundOf(a)
	v := &l.Reviewer
	v.Open, v.Round, v.Kind = true, r.N, kind
	v.Alive, v.PID = pid > 0, pid
	v.Started = a.Began()
	v.Log, v.LogBytes, v.LogModTime = a.Log, a.LogBytes, a.LogModTime
	timeout := a.Timeout
	if timeout == 0 && l.CodexTimeout.Known {
		timeout = time.Duration(l.CodexTimeout.N) * time.Second
	}
	if timeout == 0 {
		timeout = defaultTimeout
	}
	if v.Started.IsZero() {
		return
	}
	v.Deadline = v.Started.Add(timeout)
	host := v.Started
	// COMPLETE in a summary review runs the code review in the same stop, so the
	// hook began with the summary review before it.
	if before := l.RoundN(r.N - 1); kind == CodeReview && before != nil && before.Run != nil && before.Marker == MarkComplete {
		if b := before.Run.Began(); !b.IsZero() && v.Started.Sub(b) < hostLimit {
			host = b
		}
	}
	v.HostDeadline = host.Add(hostLimit)
}

// RoundN returns the record of round n, or nil.
func (l *Loop) RoundN(n int) *Round {
	for i := range l.Rounds {
		if l.Rounds[i].N == n {
			return &l.Rounds[i]
		}
	}
	return nil
}

// ReviewKind tells what the review of round n looked at, from what the loop
// says about itself; "" when it does not say and the caller must look at the
// text.
func (l *Loop) ReviewKind(n int) Kind {
	if l.BuildDone.Known {
		// A review-only loop says 0 and has no summary review of round 0, but it
		// has no result of round 0 either.
		if n > l.BuildDone.N {
			return CodeReview
		}
		return SummaryReview
	}
	if r := l.RoundN(n); r != nil && (r.Run == nil) != (r.CodeRun == nil) {
		if r.CodeRun != nil {
			return CodeReview
		}
		return SummaryReview
	}
	if l.Has("review_started") && !l.ReviewStarted {
		return SummaryReview
	}
	return ""
}

// GuessKind looks at the text of a review where ReviewKind can not tell.
func GuessKind(b []byte) Kind {
	if s := ParseSummaryReview(b); s.VerdictLineNo == 0 && s.Marker == "" && len(ParseCodeReview(b).Findings) > 0 {
		return CodeReview
	}
	return SummaryReview
}

// decideSince finds the file time that began the phase.
func (l *Loop) decideSince() time.Time {
	opened := l.Origin.ModTime
	if l.Round.Known {
		if r := l.RoundN(l.Round.N); r != nil && !r.Opened.IsZero() {
			opened = r.Opened
		}
	}
	switch l.Phase {
	case Implementing:
		return opened
	case ReviewFixing:
		return latest(opened, l.MarkerSince[MarkReviewing])
	case AwaitingSummaryReview, AwaitingCodeReview:
		return l.Reviewer.Started
	case Parked:
		return l.MarkerSince[MarkParked]
	case Analyzing:
		return latest(l.MarkerSince[MarkExitReason], l.Origin.ModTime)
	case Finalizing:
		return latest(l.lastReview(), l.Origin.ModTime)
	case Ended:
		if t := l.MarkerSince[MarkCancel]; l.Outcome == "cancel" && !t.IsZero() {
			return t
		}
		return l.LastChange
	}
	return time.Time{}
}

// lastReview is the newest sign of a reviewer.
func (l *Loop) lastReview() time.Time {
	var t time.Time
	for i := range l.Rounds {
		r := &l.Rounds[i]
		t = latest(t, r.Reviewed)
		for _, a := range []*Attempt{r.Run, r.CodeRun} {
			if a != nil {
				t = latest(t, latest(a.LogModTime, a.CmdModTime))
			}
		}
	}
	return t
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
