package rounds

import (
	"fmt"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// detailLines are what the files of one round say, the reviewer's word first.
func detailLines(e *view.Env, l *loop.Loop, r *loop.Round, w int) []string {
	b := builder{e: e, w: w}
	b.review(l, r)
	b.contract(&r.Contract)
	b.summary(l, r)
	b.kv("files", strings.Join(r.Files, " "))
	return b.out
}

func (b *builder) review(l *loop.Loop, r *loop.Round) {
	look := b.e.Look
	word := verdictWord(l, r)
	s := verdictPaint(word, look).Paint(word)
	if r.Marker != "" {
		s += "  ends with " + look.Strong.Paint(string(r.Marker))
	}
	if !r.Reviewed.IsZero() {
		s += look.Dim.Paint("  " + view.Age(b.e.Now, r.Reviewed))
	}
	b.kv("review", s)
	if r.VerdictLine != "" {
		b.text("", fmt.Sprintf("line %d: %s", r.VerdictLineNo, r.VerdictLine), look.Dim)
		if r.VerdictLenient != "" && r.VerdictLenient != r.Verdict {
			b.text("", "a person would read "+string(r.VerdictLenient)+" there", look.Warn)
		}
	}
	if r.CouldNotRun != "" {
		b.text("", fmt.Sprintf("line %d: %s", r.CouldNotRunLine, r.CouldNotRun), look.Bad)
	}
	if s := r.ReviewStatus.Status; s == fact.Torn || s == fact.Unreadable {
		b.text("", s.String()+": "+r.ReviewStatus.Why, look.Bad)
	}
	for _, f := range r.Findings {
		at := ""
		if f.Path != "" {
			at = fmt.Sprintf("  %s:%d", f.Path, f.From)
		}
		b.text(look.Warn.Paint(f.Severity), f.Title+at, style.Token{})
	}
	if f := foundWord(r); f != "" && len(r.Findings) == 0 {
		b.kv("found", f)
	}
	for _, x := range []struct{ label, value string }{{"blockers", r.CriticalBlockers}, {"to go", r.RemainingRounds}} {
		if x.value != "" {
			b.text(x.label, x.value, style.Token{})
		}
	}
	if r.Forgotten.Known && r.Forgotten.N > 0 || r.Unjustified.Known && r.Unjustified.N > 0 {
		b.kv("", look.Warn.Paint(fmt.Sprintf("%s forgotten items, %s deferrals without a reason", r.Forgotten, r.Unjustified)))
	}
	if r.OpenQuestion {
		b.kv("", look.Warn.Paint(fmt.Sprintf("an open question at line %d", r.OpenQuestionLine)))
	}
}

func (b *builder) contract(c *loop.Contract) {
	switch {
	case c.Status == fact.Missing:
		b.kv("contract", b.e.Look.Dim.Paint("none"))
		return
	case c.Status != fact.OK:
		return
	}
	b.text("contract", or(c.Objective, fmt.Sprintf("%d bytes, no objective line", c.Bytes)), style.Token{})
	if len(c.ACs) > 0 {
		b.text("", "aims at "+strings.Join(c.ACs, ", "), style.Token{})
	}
	if c.Success != "" {
		b.text("success", c.Success, style.Token{})
	}
}

func (b *builder) summary(l *loop.Loop, r *loop.Round) {
	s, look := &r.Summary, b.e.Look
	switch {
	case s.Status == fact.Missing:
		b.kv("summary", look.Dim.Paint("none"))
	case s.Status != fact.OK:
	case s.Scaffold:
		b.kv("summary", look.Warn.Paint("still the scaffold"))
	default:
		b.kv("summary", fmt.Sprintf("%d bytes", s.Bytes)+look.Dim.Paint("  "+view.Age(b.e.Now, s.ModTime)))
	}
	if s.Delta.Problem != "" && l.BitlessonNeeded {
		b.text("", s.Delta.Problem, look.Warn)
	}
}
