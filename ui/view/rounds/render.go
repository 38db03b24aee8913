package rounds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/ui/draw"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// Render implements view.Screen.
func (s *Screen) Render(e *view.Env, w, h int) []string {
	l := s.current(e)
	if l == nil {
		return draw.Block(draw.Wrap(none(e), w), w, h)
	}
	class := term.ClassOf(w, h)
	s.bare = class <= term.Narrow
	if s.read.open {
		if class == term.FourPanes {
			left := max(w*2/5, 54)
			return draw.Block(draw.JoinH(s.left(e, l, left, h), s.readerPane(e, l, w-left, h)), w, h)
		}
		return draw.Block(s.readerPane(e, l, w, h), w, h)
	}
	switch class {
	case term.FourPanes:
		left := max(w*2/5, 58)
		return draw.Block(draw.JoinH(s.left(e, l, left, h), s.factsPane(e, l, w-left, h)), w, h)
	case term.TwoPanes:
		left := w / 2
		return draw.Block(draw.JoinH(s.left(e, l, left, h), s.factsPane(e, l, w-left, h)), w, h)
	}
	switch s.focus {
	case facts:
		return draw.Block(s.factsPane(e, l, w, h), w, h)
	case loops:
		return draw.Block(s.loopsPane(e, l, w, h), w, h)
	default:
		return draw.Block(s.narrow(e, l, w, h), w, h)
	}
}

// left is the rounds, with the loops above them when there are several.
func (s *Screen) left(e *view.Env, l *loop.Loop, w, h int) []string {
	n := len(e.Snap.Loops.Loops)
	if n < 2 || h < 14 {
		return s.listAndDetail(e, l, w, h)
	}
	lh := min(n+4, max(h/3, 6))
	return draw.JoinV(s.loopsPane(e, l, w, lh), s.listAndDetail(e, l, w, h-lh))
}

// listAndDetail are the rounds and, where there is room below them, what the
// selected one says.
func (s *Screen) listAndDetail(e *view.Env, l *loop.Loop, w, h int) []string {
	all := s.list(l)
	rows := min(len(all)+4, h/2)
	if len(all) == 0 || h-rows < 6 {
		return s.roundsPane(e, l, w, h)
	}
	r := all[s.at(all)]
	iw, _ := s.inner(w, h-rows)
	lines := detailLines(e, l, r, iw)
	dh := min(h-rows, len(lines)+2)
	return draw.JoinV(s.roundsPane(e, l, w, h-dh), s.frame(e, "round "+strconv.Itoa(r.N)+", enter reads it", lines, w, dh, false))
}

// narrow is the rounds with what matters most of the loop above them.
func (s *Screen) narrow(e *view.Env, l *loop.Loop, w, h int) []string {
	head := []string{
		draw.KV("loop", l.Name, 6, w, e.Look),
		draw.KV("phase", phaseLine(e, l), 6, w, e.Look),
		draw.KV("strip", strip(l, e.Look), 6, w, e.Look),
	}
	if h < 12 {
		head = head[1:2]
	}
	return append(head, s.listAndDetail(e, l, w, h-len(head))...)
}

func phaseLine(e *view.Env, l *loop.Loop) string {
	s := e.Look.Strong.Paint(loopWord(l))
	if marks := marksOf(l); len(marks) > 0 {
		s += "  " + e.Look.Warn.Paint(strings.Join(marks, ", "))
	}
	return s
}

// frame draws side borders only where there is room for them, so that a line of
// a narrow screen can be copied whole.
func (s *Screen) frame(e *view.Env, title string, lines []string, w, h int, focus bool) []string {
	if s.bare {
		return draw.Panel(title, lines, w, h, focus, e.Look)
	}
	return draw.Box(title, lines, w, h, focus, e.Look)
}

func (s *Screen) inner(w, h int) (int, int) {
	if s.bare {
		return w, max(h-1, 0)
	}
	return draw.InnerSize(w, h)
}

func (s *Screen) roundsPane(e *view.Env, l *loop.Loop, w, h int) []string {
	iw, ih := s.inner(w, h)
	all := s.list(l)
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "round", Align: draw.Right},
			{Title: "kind", Min: 7, Priority: 2},
			{Title: "verdict", Min: 9, Max: 14},
			{Title: "end", Min: 4, Max: 8, Priority: 6},
			{Title: "AC", Align: draw.Right, Priority: 1},
			{Title: "found", Min: 6, Max: 24, Priority: 3},
			{Title: "work", Align: draw.Right, Priority: 4},
			{Title: "review", Align: draw.Right, Priority: 5},
			{Title: "files", Min: 5, Priority: 7, Grow: true},
		},
		Len: len(all), Selected: s.at(all), Noun: "rounds", Empty: s.noRounds(l),
		Row: func(i int) []string { return roundCells(e, l, all[i]) },
	}
	if len(all) == 1 {
		t.Noun = "round"
	}
	if s.filter != "" {
		t.Note = "/" + s.filter
	}
	shown := max(t.Height(ih), 1)
	if s.focus == table {
		s.page = shown
	}
	t.Top = draw.Window(0, t.Selected, t.Len, shown)
	title := "rounds of " + l.Name
	if w < 60 {
		title = "rounds"
	}
	if !whole(l.Origin.Status) {
		title += ", last good reading"
	}
	return s.frame(e, title, t.Render(iw, ih, e.Look), w, h, s.focus == table && !s.read.open)
}

// whole reports whether a state was read whole.
func whole(st fact.Status) bool { return st == fact.OK || st == fact.Missing }

func (s *Screen) noRounds(l *loop.Loop) string {
	if s.filter != "" && len(l.Rounds) > 0 {
		return "no round fits the filter " + s.filter
	}
	return "no round has left a file yet"
}

func roundCells(e *view.Env, l *loop.Loop, r *loop.Round) []string {
	look := e.Look
	word := verdictWord(l, r)
	ac := "-"
	if r.ACsMet.Known {
		ac = r.ACsMet.String() + "/" + r.ACsTotal.String()
	}
	work, review := spans(r)
	return []string{
		strconv.Itoa(r.N), kindWord(r), verdictPaint(word, look).Paint(word), or(string(r.Marker), "-"), ac, or(foundWord(r), "-"),
		look.Dim.Paint(took(work)), look.Dim.Paint(took(review)), look.Dim.Paint(strings.Join(r.Files, " ")),
	}
}

func (s *Screen) loopsPane(e *view.Env, l *loop.Loop, w, h int) []string {
	iw, ih := s.inner(w, h)
	all := s.loopList(e)
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "loop", Min: 19},
			{Title: "state", Min: 14, Max: 24},
			{Title: "round", Align: draw.Right},
			{Title: "verdicts", Min: 8, Priority: 2},
			{Title: "marks", Min: 8, Priority: 1, Grow: true},
		},
		Len: len(all), Selected: slices.IndexFunc(all, func(x *loop.Loop) bool { return x == l }), Noun: "loops", Note: s.loopsOf,
		Row: func(i int) []string {
			x := all[i]
			return []string{x.Name, loopWord(x), x.Round.String() + "/" + x.Max.String(), strip(x, e.Look), e.Look.Warn.Paint(shortMarks(x))}
		},
		Empty: "no loop fits the filter " + s.loopsOf,
	}
	shown := max(t.Height(ih), 1)
	if s.focus == loops {
		s.page = shown
	}
	t.Top = draw.Window(0, max(t.Selected, 0), t.Len, shown)
	title := "loops"
	if n := e.Snap.Loops.Dropped; n > 0 {
		title += fmt.Sprintf(", %d older ones left out", n)
	}
	return s.frame(e, title, t.Render(iw, ih, e.Look), w, h, s.focus == loops && !s.read.open)
}

func (s *Screen) factsPane(e *view.Env, l *loop.Loop, w, h int) []string {
	iw, ih := s.inner(w, h)
	lines := factLines(e, l, iw)
	if s.focus == facts {
		s.page = max(ih, 1)
	}
	top := s.window(len(lines), ih)
	title := "state, criteria, next stop"
	if len(lines) > ih {
		title += " " + draw.Position(top, min(ih, len(lines)), len(lines))
	}
	return s.frame(e, title, lines[top:], w, h, s.focus == facts && !s.read.open)
}
