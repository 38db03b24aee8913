package bench

import (
	"fmt"

	"kdapilot/ui/draw"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// Render implements view.Screen.
func (s *Screen) Render(e *view.Env, w, h int) []string {
	s.w, s.h = w, h
	if len(e.Snap.Sets) == 0 {
		return draw.Block(draw.Wrap(empty(e), w), w, h)
	}
	m := s.model(e)
	if m.delta == nil {
		s.level = regimes
	}
	var out []string
	switch c := term.ClassOf(w, h); {
	case h < 8:
		out = s.low(e, m, w, h)
	case c == term.FourPanes:
		left := min(max(w/4, 38), 50)
		out = draw.JoinH(s.boxed(e, w-left, h, m), s.setBox(e, m, left, h))
	case s.sets:
		out = s.panel(e, "sets", s.setTable(e, m, w, h-1), w, h)
	default:
		out = s.column(e, m, w, h, false)
	}
	return draw.Block(out, w, h)
}

// low is for a handful of lines: the verdict with its counts, and the list.
func (s *Screen) low(e *view.Env, m *model, w, h int) []string {
	if m.delta == nil {
		return append(s.head(e, m, w, 1, 1), s.list(e, m, w, h-1)...)
	}
	return append([]string{s.verdictLines(e, m, w)[0].text}, s.list(e, m, w, h-1)...)
}

func (s *Screen) setBox(e *view.Env, m *model, w, h int) []string {
	iw, ih := draw.InnerSize(w, h)
	return draw.Box("sets", s.setTable(e, m, iw, ih), w, h, s.sets, e.Look)
}

func (s *Screen) boxed(e *view.Env, w, h int, m *model) []string { return s.column(e, m, w, h, true) }

// column is head, list and detail below each other.
func (s *Screen) column(e *view.Env, m *model, w, h int, box bool) []string {
	head := s.head(e, m, w, max(h*2/5, 2), h*3/5)
	h -= len(head)
	edge, inner := 1, w
	if box {
		edge, inner = 2, w-2
	}
	if s.level == oneCell {
		lines := s.detail(e, m, inner)
		rows := max(h-edge, 1)
		s.page = rows
		s.scroll = min(s.scroll, max(len(lines)-rows, 0))
		title := s.title(m)
		if len(lines) > rows {
			title += " " + draw.Position(s.scroll, rows, len(lines))
		}
		return append(head, s.pane(e, title, draw.Block(lines[s.scroll:], inner, rows), w, h, box, !s.sets)...)
	}
	lines := s.detail(e, m, inner)
	// The list gets what it needs as long as the detail keeps its share.
	share := min(len(lines)+edge, h*2/5)
	lh := max(min(s.rows(m)+2+edge, h-share), min(6, h))
	dh := h - lh
	if h < 9 || dh < 2+edge {
		lh, dh = h, 0
	}
	out := append(head, s.pane(e, s.title(m), s.list(e, m, inner, max(lh-edge, 1)), w, lh, box, !s.sets)...)
	if dh > 0 {
		room := dh - edge
		if len(lines) > room {
			what := "enter opens"
			if s.table(m) == tRegimes {
				what = "enter lists the cells"
			}
			more := e.Look.Dim.Paint(fmt.Sprintf("%d more lines: %s", len(lines)-room+1, what))
			lines = append(append([]string(nil), lines[:max(room-1, 0)]...), more)
		}
		out = append(out, s.pane(e, "selected", lines, w, dh, box, false)...)
	}
	return out
}

func (s *Screen) rows(m *model) int {
	return [...]int{len(m.regimes), len(m.cells), len(m.rows)}[s.table(m)]
}

func (s *Screen) list(e *view.Env, m *model, w, h int) []string {
	switch s.table(m) {
	case tRegimes:
		return s.regimeTable(e, m, w, h)
	case tCells:
		return s.cellTable(e, m, w, h)
	default:
		return s.rowTable(e, m, w, h)
	}
}

func (s *Screen) title(m *model) string {
	switch {
	case m.delta == nil:
		return "rows" + m.common()
	case s.level == regimes:
		return "regimes: time of candidate / base"
	case s.level == oneCell:
		return "cell"
	case s.regime == "":
		return "cells of all regimes" + m.common()
	default:
		return "cells of " + s.regime + m.common()
	}
}

func (s *Screen) pane(e *view.Env, title string, lines []string, w, h int, box, focus bool) []string {
	if box {
		return draw.Box(title, lines, w, h, focus, e.Look)
	}
	return draw.Panel(title, lines, w, h, focus, e.Look)
}

func (s *Screen) panel(e *view.Env, title string, lines []string, w, h int) []string {
	return draw.Panel(title, lines, w, h, true, e.Look)
}

// common says what the names in the list leave out.
func (m *model) common() string {
	section, key := "", ""
	switch {
	case len(m.cells) > 0:
		section, key = m.cells[0].Section, m.cells[0].Key
	case len(m.rows) > 0:
		section, key = m.rows[0].row.Section, m.rows[0].row.Key
	}
	if c := m.names.Common(section, key); c != "" {
		return ", each " + c
	}
	return ""
}
