package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kdapilot/engine/loop"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// loopWord is where a loop is, or how it ended.
func loopWord(l *loop.Loop) string {
	if l.Phase == loop.Ended {
		return "ended: " + or(string(l.Outcome), "unknown")
	}
	return strings.ReplaceAll(string(l.Phase), "-", " ")
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

func kindWord(r *loop.Round) string {
	switch r.Kind {
	case loop.SummaryReview:
		return "summary"
	case loop.CodeReview:
		return "code"
	}
	if r.Passed {
		return "code"
	}
	return "-"
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
	case l.Phase.Awaiting():
		return "in review"
	case l.Phase.Active():
		return "open"
	default:
		return "no review"
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
	case "stalled", "findings", "unknown", "never reviewed", "no review":
		return look.Warn
	default:
		return look.Accent
	}
}

// letter is one cell of the strip: A advanced, S stalled, R regressed, C code
// review with findings, c clean, ! could not run, ? unknown, - no review, . open.
func letter(l *loop.Loop, r *loop.Round) string {
	switch verdictWord(l, r) {
	case "advanced":
		return "A"
	case "stalled":
		return "S"
	case "regressed":
		return "R"
	case "findings":
		return "C"
	case "clean":
		return "c"
	case "could not run":
		return "!"
	case "unknown":
		return "?"
	case "open", "in review":
		return "."
	default:
		return "-"
	}
}

// strip are the letters of all rounds, oldest first.
func strip(l *loop.Loop, look style.Look) string {
	var b strings.Builder
	for i := range l.Rounds {
		r := &l.Rounds[i]
		b.WriteString(verdictPaint(verdictWord(l, r), look).Paint(letter(l, r)))
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}

// foundWord counts what the reviewer found: findings by severity, else the
// lanes of a summary review.
func foundWord(r *loop.Round) string {
	if len(r.Findings) > 0 {
		n := map[string]int{}
		for _, f := range r.Findings {
			n[f.Severity]++
		}
		var parts []string
		for _, k := range sortedKeys(n) {
			parts = append(parts, fmt.Sprintf("%s x%d", k, n[k]))
		}
		return strings.Join(parts, " ")
	}
	var parts []string
	for _, x := range []struct {
		n    loop.Int
		word string
	}{{r.Gaps, "gap"}, {r.Blocking, "blocking"}, {r.Queued, "queued"}} {
		if x.n.Known && x.n.N > 0 {
			word := x.word
			if word == "gap" && x.n.N > 1 {
				word = "gaps"
			}
			parts = append(parts, fmt.Sprintf("%d %s", x.n.N, word))
		}
	}
	return strings.Join(parts, " ")
}

func sortedKeys(m map[string]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// spans are how long a round was worked on and how long its review took; zero
// where the files do not tell.
func spans(r *loop.Round) (work, review time.Duration) {
	run := r.Run
	if r.CodeRun != nil && (run == nil || r.Kind == loop.CodeReview) {
		run = r.CodeRun
	}
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

// took is a span in words; "-" where it is not known.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
	default:
		return fmt.Sprintf("%d:%02d h", int(d.Hours()), int(d.Minutes())%60)
	}
}

func until(e *view.Env, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	if t.After(e.Now) {
		return "in " + took(t.Sub(e.Now))
	}
	return took(e.Now.Sub(t)) + " ago"
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func short(sha string) string { return sha[:min(len(sha), 9)] }
