package loop

import (
	"fmt"
	"slices"
	"time"

	"kdapilot/engine/fact"
)

// How long nothing may happen before a hand-over counts as dropped. A reviewer
// that died is noticed by Claude within a turn; a written summary is followed by
// a stop within minutes.
const (
	quietAfterReview  = 5 * time.Minute
	quietAfterSummary = 10 * time.Minute
)

// Judge derives everything that follows from the facts at time now: phase,
// since when, ball, next stop, warnings. lessons and git are those of the
// worktree. Call it again with a later now to let ages ripen.
func (l *Loop) Judge(now time.Time, lessons Bitlessons, g Git) {
	if l.Layout == PR {
		l.judgePR()
		return
	}
	l.Phase = l.decidePhase()
	l.PhaseSince = l.decideSince()
	for i := range l.Rounds {
		r := &l.Rounds[i]
		r.Unreviewed = l.Max.Known && l.Round.Known && r.N == l.Max.N && r.N == l.Round.N &&
			!l.ReviewStarted && !r.Has("review-result")
		r.Passed = l.passed(r)
	}
	l.Ball = l.decideBall(now)
	// While a reviewer runs, a stop is under way: what the one after it will meet
	// depends on the answer.
	l.NextStop = []Refusal{}
	if l.Active() && !l.Ignored && !l.Phase.Awaiting() {
		l.NextStop = l.Refusals(g, lessons)
	}
	l.Warnings = l.warnings(now)
}

// passed tells a clean code review: it leaves no result, and only the way the
// loop went on proves it. A loop cancelled later proves nothing.
func (l *Loop) passed(r *Round) bool {
	if r.CodeRun == nil || r.Has("review-result") || (l.Round.Known && r.N <= l.Round.N) {
		return false
	}
	switch string(l.StateFile) {
	case stateFinalize:
		return true
	case stateAnalysis:
		return l.OutcomeToCome == "complete"
	}
	return l.Outcome == "complete"
}

// judgePR keeps to what is safe to say about a loop of the dropped PR kind.
func (l *Loop) judgePR() {
	l.Phase = Unknown
	if l.StateFile != "" {
		l.Phase = Ended
	}
	if l.Active() {
		l.Phase = Implementing
	}
	l.PhaseSince = l.LastChange
	l.NextStop, l.Warnings = []Refusal{}, []Warning{}
	l.Ball = Ball{Who: Undecided, Since: l.LastChange, Why: "a pull request loop of Humanize 1.4 to 1.15, not followed"}
}

// Judge judges every loop and marks those that Humanize ignores.
func (s *Set) Judge(now time.Time) {
	markIgnored(s.Loops)
	for i := range s.Loops {
		s.Loops[i].Judge(now, s.Bitlessons, s.Git)
	}
	if c, l := s.Consulting(now), s.Current(); c != nil && l != nil && l.Ball.Who == Claude && l.Phase.Active() {
		l.Ball.Why += "; consulting " + orWord(Word(c.Tool), "a model")
	}
}

// consultLimit is how long a consultation without a stated timeout may take.
const consultLimit = time.Hour

// Consulting returns the newest consultation that may still run: it has no
// result and its timeout has not passed. Nil when there is none.
func (s *Set) Consulting(now time.Time) *Consultation {
	for i := range s.Consultations {
		c := &s.Consultations[i]
		limit := c.Timeout
		if limit == 0 {
			limit = consultLimit
		}
		if c.Status == "open" && !c.Started.IsZero() && now.Sub(c.Started) < limit {
			return c
		}
	}
	return nil
}

// At returns the set judged at a later time; the receiver is not changed.
func (s Set) At(now time.Time) Set {
	s.Loops = cloneLoops(s.Loops)
	s.Judge(now)
	return s
}

func cloneLoops(in []Loop) []Loop {
	out := slices.Clone(in)
	for i := range out {
		out[i].Rounds = slices.Clone(out[i].Rounds)
	}
	return out
}

// Keep puts the last good state and tracker of prev in place of what s could
// not read, marked Torn with the reason; s and prev are not changed. It is how
// a file caught mid-write does not blank the screen. Where no loop could be
// looked at at all, those of prev stay; the set's Origin says why.
func (s Set) Keep(prev Set, now time.Time) Set {
	if s.Origin.Status == fact.Unreadable && len(s.Loops) == 0 && len(prev.Loops) > 0 {
		s.Loops = cloneLoops(prev.Loops)
		s.Judge(now)
		return s
	}
	var out []Loop
	for i := range s.Loops {
		l, old := &s.Loops[i], prev.Find(s.Loops[i].Name)
		if old == nil || old.Layout != l.Layout {
			continue
		}
		if l.Origin.Status == fact.Unreadable && l.StateFile == "" && old.Origin.Status.Known() {
			if out == nil {
				out = cloneLoops(s.Loops)
			}
			out[i] = cloneLoops([]Loop{*old})[0]
			out[i].Origin.Status, out[i].Origin.Why = fact.Torn, l.Origin.Why
			continue
		}
		state := string(l.StateFile) == stateActive && l.Origin.Status != fact.OK && old.Origin.Status.Known()
		tracker := l.Tracker.Origin.Status == fact.Unreadable && old.Tracker.Origin.Status.Known()
		if !state && !tracker {
			continue
		}
		if out == nil {
			out = cloneLoops(s.Loops)
		}
		if state {
			out[i].State, out[i].Origin.Status = old.State, fact.Torn
		}
		if tracker {
			o := l.Tracker.Origin
			o.Status = fact.Torn
			out[i].Tracker = old.Tracker
			out[i].Tracker.Origin = o
		}
	}
	if out == nil {
		return s
	}
	s.Loops = out
	s.Judge(now)
	return s
}

// markIgnored follows the hook's search: newest to oldest among folders with a
// state file, the first one whose session id is empty or the session's own
// decides, and an older one is never looked at. A folder that no session can
// reach is ignored. loops are newest first.
func markIgnored(loops []Loop) {
	for i := range loops {
		l := &loops[i]
		l.Ignored = false
		if !l.Active() || l.Layout == PR {
			continue
		}
		for j := range loops[:i] {
			n := &loops[j]
			if n.Layout != l.Layout || n.StateFile == "" {
				continue
			}
			if n.SessionID == "" || n.SessionID == l.SessionID {
				l.Ignored = true
				break
			}
		}
	}
}

// decideBall says whose move it is.
func (l *Loop) decideBall(now time.Time) Ball {
	b := Ball{Since: l.PhaseSince}
	switch l.Phase {
	case Unknown:
		b.Who, b.Why = Nobody, "no usable state file"
		if l.Origin.Why != "" {
			b.Who, b.Why = Undecided, l.Origin.Why
		}
	case Ended:
		b.Who, b.Why = Nobody, "the loop ended: "+string(l.Outcome)
	case AwaitingSummaryReview, AwaitingCodeReview:
		b.Who, b.Why = Codex, fmt.Sprintf("%s of round %d is running (pid %d)", spoken(l.Reviewer.Kind), l.Reviewer.Round, l.Reviewer.PID)
	case Parked:
		b.Who, b.Why = Nobody, "parked by a stop while background tasks ran; no review until the next stop"
	case Analyzing:
		b.Who, b.Why = Claude, "methodology analysis, then the loop ends as "+orWord(l.OutcomeToCome, "?")
		if l.Closing.AnalysisReport > 0 && l.Closing.AnalysisDone <= 0 {
			b.Who, b.Why = Human, "analysis report written; Claude may be asking whether to file an issue upstream"
		}
	case Finalizing:
		b.Who, b.Why = Claude, "code review passed: finalize summary and a clean tree end the loop"
	default:
		return l.workBall(now)
	}
	return l.ignoredBall(b)
}

func (l *Loop) ignoredBall(b Ball) Ball {
	if l.Ignored {
		b.Who, b.Why = Nobody, "active on disk, but Humanize only looks at a newer loop"
	}
	return b
}

// workBall decides for the two phases in which Claude works between stops.
func (l *Loop) workBall(now time.Time) Ball {
	b := Ball{Who: Claude, Since: l.PhaseSince, Why: fmt.Sprintf("round %s of %s", l.Round, l.Max)}
	if l.Phase == ReviewFixing {
		b.Why = fmt.Sprintf("fixing code review findings, round %s", l.Round)
	}
	v := &l.Reviewer
	cur := l.RoundN(l.Round.N)
	switch {
	case l.Ignored:
		return l.ignoredBall(b)
	case v.Open && !v.Alive && v.Checked != fact.OK:
		b.Who, b.Since = Undecided, v.Started
		b.Why = fmt.Sprintf("a %s of round %d was started; whether it runs was not checked", spoken(v.Kind), v.Round)
	case v.Open && !v.Alive:
		b.Since = latest(v.LogModTime, v.Started)
		b.Why = fmt.Sprintf("the %s of round %d ended without a result; the stop was refused", spoken(v.Kind), v.Round)
		if now.Sub(latest(b.Since, l.LastChange)) > quietAfterReview {
			b.Who = Nobody
			b.Why = fmt.Sprintf("the %s of round %d did not finish, no reviewer runs and nothing was written since", spoken(v.Kind), v.Round)
		}
	case l.questionOpen():
		b.Who, b.Why = Human, fmt.Sprintf("the review of round %d raises open questions that Claude must ask you", l.Round.N-1)
	case cur != nil && l.droppedSummary(cur, now):
		b.Who, b.Since = Nobody, cur.Summary.ModTime
		b.Why = fmt.Sprintf("summary of round %d is written, but no review was started", cur.N)
	case cur != nil && cur.Unreviewed:
		b.Why += ": the last one, it will not be reviewed"
	}
	return b
}

// questionOpen: the review before this round raised questions, the loop asks
// them, and Claude has not gone on to write the contract or the summary.
func (l *Loop) questionOpen() bool {
	before := l.RoundN(l.Round.N - 1)
	if !l.AskCodexQuestion || !l.Round.Known || before == nil || !before.OpenQuestion {
		return false
	}
	cur := l.RoundN(l.Round.N)
	return cur == nil || (!cur.Has("contract") && !cur.Summary.Filled())
}

// droppedSummary: everything for a stop is written, and no review came of it
// for a while.
func (l *Loop) droppedSummary(cur *Round, now time.Time) bool {
	if !cur.Summary.Filled() || cur.Summary.ModTime.IsZero() {
		return false
	}
	a := cur.Run
	if l.Phase == ReviewFixing {
		a = nil
		if next := l.RoundN(cur.N + 1); next != nil {
			a = next.CodeRun
		}
	} else if cur.Has("review-result") {
		return false
	}
	if a != nil && !a.CmdModTime.Before(cur.Summary.ModTime) {
		return false
	}
	return now.Sub(latest(cur.Summary.ModTime, l.LastChange)) > quietAfterSummary
}

func spoken(k Kind) string {
	if k == CodeReview {
		return "code review"
	}
	return "summary review"
}

func orWord(w Word, other string) string {
	if w == "" {
		return other
	}
	return string(w)
}
