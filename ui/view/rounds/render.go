package rounds

import (
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// Render implements view.Screen.
func (s *Screen) Render(e *view.Env, w, h int) []string {
	s.class = term.ClassOf(w, h)
	s.settle(e)
	l := s.current(e)
	lines := s.panes(e, l, w, h)
	if len(lines) != h { // panes are drawn to size; what stands alone is not
		lines = draw.Block(lines, w, h)
	}
	return lines
}

func (s *Screen) panes(e *view.Env, l *loop.Loop, w, h int) []string {
	switch {
	case s.read.open:
		return s.reading(e, l, w, h)
	case l == nil:
		return draw.Block(draw.Wrap(none(e), w), w, h)
	case s.class == term.FourPanes:
		left := leftWidth(w)
		return draw.JoinH(s.left(e, l, left, h), s.right(e, l, w-left, h))
	case s.class == term.TwoPanes:
		left := w / 2
		return draw.JoinH(s.left(e, l, left, h), s.factsPane(e, l, w-left, h))
	}
	switch s.focus {
	case facts:
		return s.factsPane(e, l, w, h)
	case loops:
		return s.loopsPane(e, l, w, h)
	case detail:
		return s.detailPane(e, l, w, h)
	default:
		return s.narrow(e, l, w, h)
	}
}

func leftWidth(w int) int { return max(w*9/20, 62) }

// reading is the text that is read, beside the rounds where there is room.
func (s *Screen) reading(e *view.Env, l *loop.Loop, w, h int) []string {
	if s.class != term.FourPanes || l == nil {
		return s.readerPane(e, w, h)
	}
	left := max(w*2/5, 46)
	return draw.JoinH(s.left(e, l, left, h), s.readerPane(e, w-left, h))
}

// left is the rounds, with the loops above them when there are several and what
// the selected round left below.
func (s *Screen) left(e *view.Env, l *loop.Loop, w, h int) []string {
	n := len(e.Snap.Loops.Loops)
	if n < 2 || h < 14 {
		return s.listAndDetail(e, l, w, h)
	}
	lh := min(n+4, max(h/4, 7))
	return draw.JoinV(s.loopsPane(e, l, w, lh), s.listAndDetail(e, l, w, h-lh))
}

// right is where the loop is, above what is claimed and proven.
func (s *Screen) right(e *view.Env, l *loop.Loop, w, h int) []string {
	iw, _ := s.inner(w, h)
	state, proofs := factLines(e, l, iw), s.proofLines(e, l, iw)
	// Either gets what it needs while the other has half.
	top := min(len(state)+2, max(h/2, h-len(proofs)-2))
	return draw.JoinV(
		s.scrolled(e, facts, "loop "+l.Name, state, w, top),
		s.scrolled(e, proof, "claimed and verified", proofs, w, h-top))
}

// factsPane is both parts of right in one.
func (s *Screen) factsPane(e *view.Env, l *loop.Loop, w, h int) []string {
	iw, _ := s.inner(w, h)
	lines := factLines(e, l, iw)
	lines = append(append(lines, ""), s.proofLines(e, l, iw)...)
	return s.scrolled(e, facts, "loop "+loopName(l.Name, w-20), lines, w, h)
}

// listAndDetail are the rounds and, where there is room below them, what the
// selected one says.
func (s *Screen) listAndDetail(e *view.Env, l *loop.Loop, w, h int) []string {
	rh := max(min(len(s.list(l))+4, h/2), 5)
	if len(l.Rounds) == 0 || h-rh < 5 {
		return s.roundsPane(e, l, w, h)
	}
	return draw.JoinV(s.roundsPane(e, l, w, rh), s.detailPane(e, l, w, h-rh))
}

// narrow is the rounds with what matters most of the loop above them.
func (s *Screen) narrow(e *view.Env, l *loop.Loop, w, h int) []string {
	var head []string
	for _, x := range []struct{ label, value string }{
		{"loop", l.Name},
		{"", e.Look.Warn.Paint(strings.Join(marksOf(l), ", "))},
		{"round", l.Round.String() + " of " + l.Max.String() + ", " + e.Look.Strong.Paint(loopWord(l))},
		{"strip", join(strip(l, w-22, e.Look), stallWord(l, e.Look))},
		{"stop", stopHead(e, l)},
	} {
		if x.value != "" {
			head = append(head, draw.KV(x.label, x.value, 6, w, e.Look))
		}
	}
	if h < 12 {
		head = head[:1]
	}
	return append(head, s.listAndDetail(e, l, w, h-len(head))...)
}

// stopHead is the next stop in few words; the facts have them all.
func stopHead(e *view.Env, l *loop.Loop) string {
	if len(l.NextStop) == 0 || !l.Phase.Active() || l.Ignored {
		return ""
	}
	var gates []string
	for _, r := range l.NextStop {
		if !slices.Contains(gates, r.Gate) {
			gates = append(gates, r.Gate)
		}
	}
	return e.Look.Warn.Paint(stopWord(l.NextStop[0])+": ") + strings.Join(gates, ", ")
}

func phaseLine(e *view.Env, l *loop.Loop) string {
	s := e.Look.Strong.Paint(loopWord(l))
	if m := marksOf(l); len(m) > 0 {
		s += "  " + e.Look.Warn.Paint(strings.Join(m, ", "))
	}
	return s
}

// frame draws side borders only where there is room for them, so that a line of
// a narrow screen can be copied whole.
func (s *Screen) frame(e *view.Env, title string, lines []string, w, h int, focus bool) []string {
	if s.class <= term.Narrow {
		return draw.Panel(title, lines, w, h, focus, e.Look)
	}
	return draw.Box(title, lines, w, h, focus, e.Look)
}

func (s *Screen) inner(w, h int) (int, int) {
	if s.class <= term.Narrow {
		return w, max(h-1, 0)
	}
	return draw.InnerSize(w, h)
}

// scrolled is a pane of lines that scroll when it has the focus.
func (s *Screen) scrolled(e *view.Env, p pane, title string, lines []string, w, h int) []string {
	_, ih := s.inner(w, h)
	if s.focus == p {
		s.page = max(ih, 1)
	}
	top := min(s.scroll[p], max(len(lines)-ih, 0))
	s.scroll[p] = top
	if len(lines) > ih && ih > 0 {
		title += "  " + draw.Position(top, ih, len(lines))
	}
	return s.frame(e, title, lines[top:], w, h, s.focus == p && !s.read.open)
}

func (s *Screen) detailPane(e *view.Env, l *loop.Loop, w, h int) []string {
	iw, _ := s.inner(w, h)
	all := s.list(l)
	if len(all) == 0 {
		return s.scrolled(e, detail, "round", []string{e.Look.Dim.Paint(s.noRounds(l))}, w, h)
	}
	r := all[s.at(all)]
	title := "round " + strconv.Itoa(r.N)
	if !s.read.open {
		title += ", " + keyOf(e, keys.Drill) + " reads it"
	}
	return s.scrolled(e, detail, title, detailLines(e, l, r, iw), w, h)
}

// whole reports whether a state was read whole.
func whole(st fact.Status) bool { return st == fact.OK || st == fact.Missing }
