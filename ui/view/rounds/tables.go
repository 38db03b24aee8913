package rounds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/loop"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// roundColumns are the columns that have something to say in these rounds.
func roundColumns(l *loop.Loop, all []*loop.Round) []draw.Column {
	out := []draw.Column{
		{Title: "round", Align: draw.Right},
		{Title: "kind", Min: widest(all, 4, func(r *loop.Round) string { return kindWord(l, r) }), Priority: 5},
		{Title: "verdict", Min: 9, Max: 14},
		{Title: "end", Min: 8, Max: 8, Priority: 1},
		{Title: "AC", Align: draw.Right, Priority: 2},
		{Title: "gap/blk/q", Min: min(widest(all, 9, foundCell), 20), Max: 20, Priority: 3},
		{Title: "work", Align: draw.Right, Priority: 4},
		{Title: "review", Align: draw.Right, Priority: 4},
		{Title: "files", Min: widest(all, 5, filesWord), Priority: 6, Grow: true},
	}
	if !slices.ContainsFunc(all, func(r *loop.Round) bool { return r.Marker != "" }) {
		out = slices.Delete(out, 3, 4)
	}
	return out
}

func widest(all []*loop.Round, least int, word func(*loop.Round) string) int {
	for _, r := range all {
		least = max(least, draw.Width(word(r)))
	}
	return least
}

func (s *Screen) roundsPane(e *view.Env, l *loop.Loop, w, h int) []string {
	iw, ih := s.inner(w, h)
	all := s.list(l)
	columns := roundColumns(l, all)
	t := draw.Table{
		Columns: columns, Len: len(all), Selected: s.at(all), Noun: plural(len(all), "round"), Empty: s.noRounds(l),
		Row: func(i int) []string { return roundCells(e, l, all[i], len(columns)) },
	}
	if s.filter != "" {
		t.Note = "/" + s.filter
	} else if n := l.RoundsDropped; n > 0 {
		t.Note = fmt.Sprintf("%d more are not looked at", n)
	}
	shown := max(t.Height(ih), 1)
	if s.focus == table {
		s.page = shown
	}
	t.Top = draw.Window(0, t.Selected, t.Len, shown)
	title := "rounds"
	switch {
	case !whole(l.Origin.Status):
		title += ", last good reading"
	case !s.moved && len(all) > 1 && l.Phase.Active() && !l.Ignored:
		title += ", newest followed"
	}
	return s.frame(e, title, t.Render(iw, ih, e.Look), w, h, s.focus == table && !s.read.open)
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func (s *Screen) noRounds(l *loop.Loop) string {
	if s.filter != "" && len(l.Rounds) > 0 {
		return "no round fits the filter " + s.filter
	}
	return "no round has left a file yet"
}

// roundCells are the cells of a round; without the end column there are eight.
func roundCells(e *view.Env, l *loop.Loop, r *loop.Round, columns int) []string {
	look := e.Look
	word := verdictWord(l, r)
	work, review := spanWords(e, l, r)
	out := []string{strconv.Itoa(r.N), kindWord(l, r), verdictPaint(word, look).Paint(word)}
	if columns == 9 {
		out = append(out, look.Strong.Paint(or(string(r.Marker), "-")))
	}
	return append(out, acWord(r), foundCell(r), look.Dim.Paint(work), look.Dim.Paint(review), look.Dim.Paint(filesWord(r)))
}

func (s *Screen) loopsPane(e *view.Env, l *loop.Loop, w, h int) []string {
	iw, ih := s.inner(w, h)
	all := s.loopList(e)
	nameW := 19
	switch {
	case iw < 44:
		nameW = 11
	case iw < 64:
		nameW = 14
	}
	marked := slices.ContainsFunc(all, func(x *loop.Loop) bool { return shortMarks(x) != "" })
	columns := []draw.Column{
		{Title: "loop", Min: nameW, Max: nameW},
		{Title: "state", Min: 12, Max: 24},
		{Title: "marks", Min: 7, Max: 15},
		{Title: "round", Align: draw.Right, Priority: 1},
		{Title: "verdicts", Min: 8, Max: 24, Priority: 2},
		{Title: "base", Min: 12, Priority: 3, Middle: true, Grow: true},
	}
	if !marked {
		columns = slices.Delete(columns, 2, 3)
	}
	t := draw.Table{
		Columns: columns, Len: len(all), Selected: slices.Index(all, l), Noun: plural(len(all), "loop"),
		Empty: "no loop fits the filter " + s.loopsOf,
		Row: func(i int) []string {
			x := all[i]
			out := []string{loopName(x.Name, nameW), strings.Replace(loopWord(x), ": ", " ", 1), e.Look.Warn.Paint(shortMarks(x)), x.Round.String() + "/" + x.Max.String(), strip(x, 24, e.Look), base(x)}
			if !marked {
				out = slices.Delete(out, 2, 3)
			}
			return out
		},
	}
	if s.loopsOf != "" {
		t.Note = "/" + s.loopsOf
	}
	shown := max(t.Height(ih), 1)
	if s.focus == loops {
		s.page = shown
	}
	t.Top = draw.Window(0, max(t.Selected, 0), t.Len, shown)
	title := "loops"
	if n := e.Snap.Loops.Dropped; n > 0 {
		title += fmt.Sprintf(", %d older left out", n)
	}
	if iw > 50 && !s.read.open {
		title += ": " + keyOf(e, keys.PrevSection) + " " + keyOf(e, keys.NextSection) + " older, newer"
	}
	return s.frame(e, title, t.Render(iw, ih, e.Look), w, h, s.focus == loops && !s.read.open)
}
