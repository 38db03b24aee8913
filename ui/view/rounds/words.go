package rounds

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// loopWord is where a loop is, or how it ended.
func loopWord(l *loop.Loop) string {
	if l.Phase == loop.Ended {
		return "ended: " + or(string(l.Outcome), "unknown")
	}
	return strings.ReplaceAll(or(string(l.Phase), "unknown"), "-", " ")
}

// marksOf are the words that set a loop apart.
func marksOf(l *loop.Loop) []string {
	var out []string
	if l.Ignored {
		out = append(out, "ignored by Humanize")
	}
	if l.Layout != loop.RLCR {
		out = append(out, "legacy layout "+string(l.Layout))
	}
	return out
}

// shortMarks are the first words of marksOf.
func shortMarks(l *loop.Loop) string {
	var out []string
	for _, m := range marksOf(l) {
		word, _, _ := strings.Cut(m, " ")
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// loopName is a loop's name in w cells: without year and seconds where they do
// not fit.
func loopName(name string, w int) string {
	if draw.Width(name) <= w {
		return name
	}
	if t, err := time.Parse("2006-01-02_15-04-05", name); err == nil {
		if w < 14 {
			return t.Format("01-02 15:04")
		}
		return t.Format("01-02 15:04:05")
	}
	return strings.TrimRight(draw.FitMiddle(name, w), " ")
}

// base is what the loop was locked to.
func base(l *loop.Loop) string {
	return or(strings.Trim(l.BaseBranch+" @ "+l.BaseCommit[:min(len(l.BaseCommit), 9)], " @"), "-")
}

// kindWord is what a round's review looks at. Every so many rounds a summary
// review is a full alignment check.
func kindWord(l *loop.Loop, r *loop.Round) string {
	switch {
	case r.Kind == loop.CodeReview || r.Passed:
		return "code"
	case r.Kind == loop.SummaryReview && alignment(l, r.N):
		return "alignment"
	case r.Kind == loop.SummaryReview:
		return "summary"
	}
	return "-"
}

func alignment(l *loop.Loop, n int) bool {
	every := l.FullReviewRound
	return every.Known && every.N > 0 && (n+1)%every.N == 0
}

// verdictWord is what came of a round, or why nothing did.
func verdictWord(l *loop.Loop, r *loop.Round) string {
	switch {
	case r.CouldNotRun != "":
		return "could not run"
	case r.Kind == loop.CodeReview && len(r.Findings) > 0:
		return "findings"
	case r.Kind == loop.CodeReview || r.Passed:
		return "clean"
	case r.Kind != "":
		return or(string(r.Verdict), "unknown")
	case r.Unreviewed:
		return "never reviewed"
	case !last(l, r):
		return "no review"
	case l.Phase.Awaiting() && l.Reviewer.Round == r.N:
		return "in review"
	case l.Phase == loop.Ended || l.Phase == loop.Finalizing || l.Phase == loop.Analyzing:
		return "no review"
	case l.Phase == loop.Parked:
		return "parked"
	case l.Reviewer.Open && l.Reviewer.Round == r.N:
		if l.Reviewer.Checked == fact.OK {
			return "unfinished"
		}
		return "in review?"
	default:
		return "open"
	}
}

func last(l *loop.Loop, r *loop.Round) bool {
	return len(l.Rounds) > 0 && l.Rounds[len(l.Rounds)-1].N == r.N
}

// verdictPaint goes with verdictWord; the word stays.
func verdictPaint(word string, look style.Look) style.Token {
	switch word {
	case "advanced", "clean":
		return look.Good
	case "regressed", "could not run":
		return look.Bad
	case "stalled", "findings", "unknown", "never reviewed", "no review", "parked", "unfinished":
		return look.Warn
	default:
		return look.Accent
	}
}

// acWord is how many criteria the review held to be met.
func acWord(r *loop.Round) string {
	if !r.ACsMet.Known && !r.ACsTotal.Known {
		return "-"
	}
	return r.ACsMet.String() + "/" + r.ACsTotal.String()
}

// foundWord counts what the reviewer found: findings by severity, else the
// lanes of a summary review; "none" only where a review says so.
func foundWord(r *loop.Round) string {
	if len(r.Findings) > 0 {
		n := map[string]int{}
		for _, f := range r.Findings {
			n[f.Severity]++
		}
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(n)) {
			parts = append(parts, fmt.Sprintf("%s x%d", k, n[k]))
		}
		return strings.Join(parts, " ")
	}
	if r.Passed {
		return "none"
	}
	var parts []string
	known := 0
	for _, x := range []struct {
		n    loop.Int
		word string
	}{{r.Gaps, "gap"}, {r.Blocking, "blocking"}, {r.Queued, "queued"}} {
		if x.n.Known {
			known++
		}
		if x.n.Known && x.n.N > 0 {
			word := x.word
			if word == "gap" && x.n.N > 1 {
				word = "gaps"
			}
			parts = append(parts, fmt.Sprintf("%d %s", x.n.N, word))
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case known == 3:
		return "none"
	default:
		return "-"
	}
}

// foundCell is foundWord in few cells: findings by severity, else the lanes gaps,
// blocking and queued, "?" for one the review does not count.
func foundCell(r *loop.Round) string {
	switch {
	case len(r.Findings) > 0:
		return strings.ReplaceAll(foundWord(r), " x", "x")
	case r.Passed:
		return "none"
	case !r.Gaps.Known && !r.Blocking.Known && !r.Queued.Known:
		return "-"
	}
	return r.Gaps.String() + "/" + r.Blocking.String() + "/" + r.Queued.String()
}

// filesWord says which of a round's files are not there.
func filesWord(r *loop.Round) string {
	if len(r.Files) == 0 {
		return "none"
	}
	var lacks []string
	for _, f := range []string{"contract", "summary", "review-result"} {
		if !r.Has(f) && !(f == "review-result" && r.Passed) {
			lacks = append(lacks, strings.TrimPrefix(f, "review-"))
		}
	}
	if len(lacks) == 0 {
		return "all"
	}
	return "no " + strings.Join(lacks, ", ")
}

// reviewRun is the start of the reviewer whose word counts for the round.
func reviewRun(r *loop.Round) *loop.Attempt {
	if r.CodeRun != nil && (r.Run == nil || r.Kind == loop.CodeReview || r.Passed) {
		return r.CodeRun
	}
	return r.Run
}

// spans are how long a round was worked on and how long its review took; zero
// where the files do not tell.
func spans(r *loop.Round) (work, review time.Duration) {
	run := reviewRun(r)
	handed := r.Summary.ModTime
	if run != nil && !run.Began().IsZero() {
		handed = run.Began()
	}
	if !r.Opened.IsZero() && handed.After(r.Opened) {
		work = handed.Sub(r.Opened)
	}
	if run != nil && !run.Began().IsZero() && r.Reviewed.After(run.Began()) {
		review = r.Reviewed.Sub(run.Began())
	}
	return work, review
}

// spanWords are the spans in words. What still runs has a "+".
func spanWords(e *view.Env, l *loop.Loop, r *loop.Round) (work, review string) {
	w, v := spans(r)
	work, review = took(w), took(v)
	switch word := verdictWord(l, r); {
	case word == "open" && r.Opened.IsZero(), word == "open" && l.Ignored:
		work = "-"
	case word == "open":
		work = soFar(e, r.Opened)
	case word == "in review" && !l.Reviewer.Started.IsZero():
		review = soFar(e, l.Reviewer.Started)
	}
	return work, review
}

// soFar is the time since t with a "+". The clock of a screen steps once a
// minute, so t may lie a little ahead of it.
func soFar(e *view.Env, t time.Time) string {
	if d := e.Now.Sub(t); d >= time.Minute {
		return took(d) + "+"
	}
	return "<1 min+"
}

// took is a span in words; "-" where it is not known.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return "<1 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d:%02d h", int(d.Hours()), int(d.Minutes())%60)
	}
}

// sizeWord is a number of bytes in the unit that fits.
func sizeWord(n int64) string {
	switch {
	case n < 1000:
		return view.Count(int(n), "byte")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}

// until says how far away t is, on either side of now; "at a time not known".
func until(e *view.Env, t time.Time) string {
	if t.IsZero() {
		return "at a time not known"
	}
	if d := e.Now.Sub(t); d > -time.Minute && d < time.Minute {
		return "just now"
	}
	if t.After(e.Now) {
		return "in " + took(t.Sub(e.Now))
	}
	return view.Age(e.Now, t) + " ago"
}

// since is how long something has been so.
func since(e *view.Env, t time.Time) string {
	switch age := view.Age(e.Now, t); age {
	case "-":
		return ""
	case "now":
		return "just now"
	default:
		return "for " + age
	}
}

// ago is since for what happened once.
func ago(e *view.Env, t time.Time) string {
	switch age := view.Age(e.Now, t); {
	case age == "-":
		return ""
	case age == "now", strings.HasPrefix(age, "in "):
		return age
	default:
		return age + " ago"
	}
}

// stopWord is what becomes of the next stop.
func stopWord(r loop.Refusal) string {
	if r.Ends {
		return "ends the loop"
	}
	return "refused"
}

// wrapTo wraps s to at most n lines; what does not fit is cut with a mark.
func wrapTo(s string, w, n int) []string {
	lines := draw.Wrap(s, w)
	if len(lines) <= n {
		return lines
	}
	lines[n-1] = draw.Fit(strings.TrimRight(draw.Strip(lines[n-1]), " ")+" "+draw.Strip(lines[n]), w)
	return lines[:n]
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
