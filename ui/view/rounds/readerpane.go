package rounds

import (
	"fmt"
	"slices"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// readerPane is the text with a breadcrumb and where it came from.
func (s *Screen) readerPane(e *view.Env, w, h int) []string {
	r := &s.read
	iw, ih := s.inner(w, h)
	crumb := fmt.Sprintf("%s > round %d", loopName(r.loop, iw-44), r.round)
	all := r.texts(e)
	if len(all) == 0 {
		r.isLog, r.laid = false, laid{}
		lines := draw.Wrap(r.noTexts(e), iw)
		return s.frame(e, crumb, lines, w, h, true)
	}
	t := &all[r.index(all)]
	if r.isLog = t.Kind == "log"; r.isLog {
		r.top = 0
	}
	notes := r.notes(e, t, iw)
	notes = notes[:min(len(notes), max(ih-3, 0))] // the text matters more
	body := r.body(e, t, iw, max(ih-len(notes)-1, 1))
	head := append([]string{r.names(all, t, iw, e.Look)}, notes...)
	lines := append(head, body...)
	if s.class <= term.Narrow {
		return draw.Panel(crumb+" > "+t.Kind, lines, w, h, true, e.Look)
	}
	note := keyOf(e, keys.PrevSection) + " " + keyOf(e, keys.NextSection) + " other texts, " + keyOf(e, keys.Filter) + " search, " + keyOf(e, keys.Back) + " back"
	return draw.BoxNote(crumb+" > "+t.Kind, note, lines, w, h, true, e.Look)
}

// noTexts says why there is nothing to read.
func (r *reader) noTexts(e *view.Env) string {
	switch l := e.Snap.Loops.Find(r.loop); {
	case l == nil:
		return "The loop's folder is gone."
	case l.RoundN(r.round) == nil:
		return "The round's files are gone."
	case e.Snap.Round != nil && e.Snap.Round.Loop == r.loop && e.Snap.Round.Round == r.round:
		return "This round has no texts."
	default:
		return "Not read yet; enter asks again."
	}
}

// place is where the text stands.
func (r *reader) place() string {
	if r.isLog {
		return r.log.Status(draw.Slice(r.laid.rows), r.w, r.h)
	}
	return draw.Position(r.top, min(r.h, len(r.laid.rows)), len(r.laid.rows))
}

// notes are the file of a text, and what a reader must know before believing
// it, closed by a rule.
func (r *reader) notes(e *view.Env, t *session.RoundText, w int) []string {
	look := e.Look
	out := []string{look.Dim.Paint(draw.Fit(r.source(e, t, w), w))}
	add := func(paint style.Token, texts ...string) {
		for _, s := range texts {
			for _, l := range draw.Wrap(s, w) {
				out = append(out, paint.Paint(l))
			}
		}
	}
	add(look.Warn, cutWord(t)...)
	if l := e.Snap.Loops.Find(r.loop); l != nil && l.RoundN(r.round) != nil {
		rec := l.RoundN(r.round)
		switch {
		case t.Kind == "summary" && rec.Summary.Scaffold && t.Text != "":
			add(look.Warn, "a scaffold: nobody has filled it in")
		case t.Kind == "review-result" && rec.CouldNotRun != "":
			add(look.Bad, fmt.Sprintf("the reviewer could not work, line %d: %s", rec.CouldNotRunLine, rec.CouldNotRun))
			add(style.Token{}, readAs(l, rec)...)
		case t.Kind == "review-result":
			add(style.Token{}, readAs(l, rec)...)
		case t.Kind == "log" && l.Reviewer.Alive && l.Reviewer.Round == r.round:
			add(look.Accent, "the reviewer is at work, this grows")
		}
	}
	if r.search != "" {
		s := "/" + r.search
		if r.found == 0 && !r.seekIt {
			s += "  not found"
		}
		add(look.Warn, draw.Fit(s, w))
	}
	return append(out, draw.Rule(w, look))
}

// cutWord says what is missing of a text.
func cutWord(t *session.RoundText) []string {
	var out []string
	switch {
	case t.Cut && t.Kind == "log":
		out = append(out, "cut: only the end is shown, "+sizeWord(t.Origin.Size)+" are on disk")
	case t.Cut:
		out = append(out, "cut: the end is left out, "+sizeWord(t.Origin.Size)+" are on disk")
	}
	if t.Origin.Status == fact.Torn {
		out = append(out, "being written: "+or(t.Origin.Why, "these are the last good bytes"))
	}
	return out
}

// names are the texts of the round; those that are empty stand in parentheses.
func (r *reader) names(all []session.RoundText, t *session.RoundText, w int, look style.Look) string {
	var names []string
	for i := range all {
		n := all[i].Kind
		if all[i].Text == "" {
			n = "(" + n + ")"
		}
		switch {
		case &all[i] == t:
			n = look.Select.Paint("[" + n + "]")
		case all[i].Text == "":
			n = look.Dim.Paint(n)
		}
		names = append(names, n)
	}
	s, place := strings.Join(names, " "), r.place()
	if draw.Width(s)+2+draw.Width(place) > w { // the one that is shown, and how many there are
		s = look.Select.Paint("["+t.Kind+"]") + fmt.Sprintf(" %d of %d", slices.IndexFunc(all, func(x session.RoundText) bool { return x.Kind == t.Kind })+1, len(all))
	}
	return draw.Sides(s, look.Dim.Paint(place), w)
}

// source is the file a text comes from, its size and age.
func (r *reader) source(e *view.Env, t *session.RoundText, w int) string {
	path := below(e, or(t.Origin.Path, t.Name))
	var more string
	if t.Origin.Status.Known() {
		more = ", " + sizeWord(t.Origin.Size) + ", " + or(ago(e, t.Origin.ModTime), "age not known")
	}
	room := max(w-draw.Width(more), 12)
	if draw.Width(path) > room && room < 48 {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	if draw.Width(path) > room {
		path = draw.FitMiddle(path, room)
	}
	return path + more
}

// readAs is what Humanize takes from a review.
func readAs(l *loop.Loop, r *loop.Round) []string {
	if r.Kind == "" {
		return nil
	}
	s := "read as: " + verdictWord(l, r)
	if r.VerdictLineNo > 0 {
		s += fmt.Sprintf(", line %d", r.VerdictLineNo)
	}
	if r.Marker != "" {
		s += ", ends with " + string(r.Marker)
	}
	if f := foundWord(r); f != "-" {
		s += ", found " + f
	}
	return []string{s}
}

func (r *reader) body(e *view.Env, t *session.RoundText, w, h int) []string {
	r.w, r.h = w, h
	if t.Text == "" {
		r.laid, r.top, r.found = laid{}, 0, 0
		return draw.Block(draw.Wrap(empty(e, r, t), w), w, h)
	}
	rows := r.lay(t, w, e.Look)
	if r.seekIt {
		r.seek(r.top, 1)
	}
	if r.isLog {
		v := r.log
		v.Paint = func(line string) style.Token { return paintLog(line, e.Look) }
		return v.Render(draw.Slice(rows), w, h, e.Look)
	}
	r.top = min(r.top, max(len(rows)-h, 0))
	out := draw.Block(slices.Clone(rows[r.top:min(r.top+h, len(rows))]), w, h)
	if i := r.found - 1 - r.top; r.found > 0 && i >= 0 && i < len(out) {
		out[i] = e.Look.Match.Paint(draw.Strip(out[i]))
	}
	return out
}

// empty says why a text holds nothing.
func empty(e *view.Env, r *reader, t *session.RoundText) string {
	why := strings.TrimSpace(t.Origin.Status.String() + " " + t.Origin.Why)
	if t.Origin.Status == fact.OK {
		return "The file is empty."
	}
	if t.Kind != "review-result" || t.Origin.Status != fact.Missing {
		return why
	}
	if l := e.Snap.Loops.Find(r.loop); l != nil {
		if rec := l.RoundN(r.round); rec != nil && rec.Passed {
			return why + "; a code review that finds nothing leaves no result"
		}
	}
	return why
}

// paintLog colours what a reader of a reviewer's log looks for.
func paintLog(line string, look style.Look) style.Token {
	switch {
	case strings.Contains(line, "[P0]"), strings.Contains(line, "[P1]"), strings.Contains(line, "rror:"), strings.Contains(line, "ERROR"):
		return look.Bad
	case strings.Contains(line, "[P2]"), strings.Contains(line, "[P3]"), strings.Contains(line, "arning"):
		return look.Warn
	default:
		return style.Token{}
	}
}
