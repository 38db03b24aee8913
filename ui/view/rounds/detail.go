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
	if !r.Passed && !(l.Round.Known && r.N > l.Round.N) { // else only a code review's, which has neither
		b.contract(&r.Contract)
		b.summary(l, r)
	}
	b.times(l, r)
	b.kv("files", or(strings.Join(r.Files, " "), "none"))
	return b.out
}

func (b *builder) review(l *loop.Loop, r *loop.Round) {
	look := b.e.Look
	word := verdictWord(l, r)
	s := verdictPaint(word, look).Paint(word)
	if r.Marker != "" {
		s += "  ends with " + look.Strong.Paint(string(r.Marker))
	}
	if k := kindWord(l, r); k != "-" {
		s += look.Dim.Paint("  " + map[string]string{"code": "code review", "alignment": "full alignment check", "summary": "summary review"}[k])
	}
	b.kv("review", join(s, look.Dim.Paint(ago(b.e, r.Reviewed))))
	if word == "open" && !l.ReviewStarted && alignment(l, r.N) {
		b.text("", "its review will be a full alignment check", look.Dim)
	}
	if r.VerdictLine != "" {
		b.text("", fmt.Sprintf("line %d: %s", r.VerdictLineNo, r.VerdictLine), look.Dim)
		if r.VerdictLenient != "" && r.VerdictLenient != r.Verdict {
			b.text("", "a person would read "+string(r.VerdictLenient)+" there, Humanize does not", look.Warn)
		}
	}
	if r.CouldNotRun != "" {
		b.text("", fmt.Sprintf("line %d: %s", r.CouldNotRunLine, r.CouldNotRun), look.Bad)
	}
	if s := r.ReviewStatus.Status; s == fact.Torn || s == fact.Unreadable {
		b.text("", s.String()+": "+r.ReviewStatus.Why, look.Bad)
	}
	b.found(r)
}

// found are the findings and the counts that a review names by convention.
func (b *builder) found(r *loop.Round) {
	look := b.e.Look
	for _, f := range r.Findings {
		at := ""
		if f.Path != "" {
			at = look.Dim.Paint(fmt.Sprintf("  %s:%d", below(b.e, f.Path), f.From))
		}
		b.kv(look.Warn.Paint(f.Severity), f.Title+at)
	}
	if a := acWord(r); a != "-" {
		b.kv("criteria", a+" met")
	}
	if f := foundWord(r); f != "-" && len(r.Findings) == 0 {
		b.kv("found", f)
	}
	b.kv("blockers", r.CriticalBlockers)
	if r.RemainingRounds != "" {
		b.kv("to go", r.RemainingRounds+look.Dim.Paint("  rounds, the reviewer guesses"))
	}
	if r.Forgotten.Known && r.Forgotten.N > 0 || r.Unjustified.Known && r.Unjustified.N > 0 {
		b.text("", fmt.Sprintf("%s forgotten items, %s deferrals without a reason", r.Forgotten, r.Unjustified), look.Warn)
	}
	if r.OpenQuestion {
		b.text("", fmt.Sprintf("an open question at line %d", r.OpenQuestionLine), look.Warn)
	}
}

// below is a path without the folder that was opened.
func below(e *view.Env, path string) string {
	if rel, ok := strings.CutPrefix(path, e.Snap.Root+"/"); ok && e.Snap.Root != "" {
		return rel
	}
	return path
}

func (b *builder) contract(c *loop.Contract) {
	switch {
	case c.Status == fact.Missing:
		b.kv("contract", b.e.Look.Dim.Paint("none"))
		return
	case !c.Status.Known():
		if c.Status == fact.Unreadable {
			b.text("contract", c.Status.String(), b.e.Look.Warn)
		}
		return
	}
	b.kv("contract", or(c.Objective, sizeWord(c.Bytes)+", no objective line"))
	if len(c.ACs) > 0 {
		b.kv("", "aims at "+strings.Join(c.ACs, ", "))
	}
	b.kv("success", c.Success)
	b.kv("in scope", c.InScope)
	b.kv("not now", c.OutScope)
}

func (b *builder) summary(l *loop.Loop, r *loop.Round) {
	s, look := &r.Summary, b.e.Look
	switch {
	case s.Status == fact.Missing:
		b.kv("summary", look.Dim.Paint("none"))
	case s.Status == fact.Unreadable:
		b.text("summary", s.Status.String(), look.Warn)
	case !s.Status.Known():
	case s.Scaffold:
		b.text("summary", "still the scaffold: not filled in", look.Warn)
	default:
		b.kv("summary", join(sizeWord(s.Bytes), look.Dim.Paint(ago(b.e, s.ModTime))))
	}
	d := &s.Delta
	switch {
	case !s.Status.Known() || !l.BitlessonNeeded:
	case d.Problem != "":
		b.text("lesson", d.Problem, look.Warn)
	case d.Action != "":
		b.kv("lesson", join(d.Action, strings.Join(d.IDs, " ")))
	}
	if s.UpdateRequest {
		b.kv("", "asks the reviewer to update the goal tracker")
	}
}

// times are when the round was opened, how long it was worked on, and how long
// its review took.
func (b *builder) times(l *loop.Loop, r *loop.Round) {
	work, review := spanWords(b.e, l, r)
	var parts []string
	if !r.Opened.IsZero() {
		parts = append(parts, "opened "+until(b.e, r.Opened))
	}
	if work != "-" && !strings.HasSuffix(work, "+") { // else it was opened so long ago
		parts = append(parts, "worked on "+work)
	}
	if so, ok := strings.CutSuffix(review, "+"); ok {
		parts = append(parts, "in review for "+so)
	} else if review != "-" {
		parts = append(parts, "reviewed for "+review)
	}
	b.text("times", strings.Join(parts, ", "), style.Token{})
}
