package stalls

import (
	"slices"

	"kdapilot/engine/stall"
	"kdapilot/ui/keys"
)

// move changes the selection, or scrolls where there is text; it reports
// whether id is a movement.
func (s *Screen) move(m *model, id keys.ID) bool {
	page := s.page[s.focus]
	by, ok := map[keys.ID]int{
		keys.Up: -1, keys.Down: 1, keys.PageUp: -page, keys.PageDown: page,
		keys.HalfUp: -max(page/2, 1), keys.HalfDown: max(page/2, 1),
		keys.Top: -1 << 30, keys.Bottom: 1 << 30, keys.NextMatch: 1, keys.PrevMatch: -1,
	}[id]
	if !ok {
		return false
	}
	step := func(i, n int) int { return min(max(i+by, 0), n-1) }
	if s.focus == bundles {
		if n := len(m.bundles); n > 0 {
			s.selBundle = m.bundles[step(s.bundleAt(m), n)].Path
		}
		return true
	}
	if s.focus != drill {
		s.scroll[s.focus] = max(s.scroll[s.focus]+by, 0) // Render brings it back into range
		return true
	}
	s.scroll[detail] = 0
	switch s.level {
	case classes:
		if n := len(m.classes); n > 0 {
			s.selClass = m.classes[step(s.classAt(m), n)].Class
		}
	case lines:
		if n := len(m.lines); n > 0 {
			s.selSource = m.lines[step(s.lineAt(m), n)].Source
		}
	case insts:
		if n := len(m.insts); n > 0 {
			s.selInst = m.insts[step(s.instAt(m), n)].CodeLine
		}
	case waits:
		if n := len(m.prods); n > 0 {
			s.selProd = m.prods[step(s.prodAt(m), n)].CodeLine
		}
	}
	return true
}

// neighbour opens what stands before or after, one level out: another class,
// another source line, another instruction.
func (s *Screen) neighbour(m *model, by int) {
	other := func(i, n int) (int, bool) {
		if i < 0 || i+by < 0 || i+by >= n {
			return 0, false
		}
		return i + by, true
	}
	switch {
	case s.level == waits:
		i := slices.IndexFunc(m.insts, func(h stall.Hotspot) bool { return h.CodeLine == s.inst })
		if j, ok := other(i, len(m.insts)); ok {
			s.inst, s.selInst, s.selProd = m.insts[j].CodeLine, m.insts[j].CodeLine, 0
		}
	case s.level == insts && !s.every:
		i := slices.IndexFunc(m.lines, func(l stall.LineShare) bool { return l.Source == s.source })
		if j, ok := other(i, len(m.lines)); ok {
			s.source, s.selSource, s.selInst = m.lines[j].Source, m.lines[j].Source, 0
		}
	case s.level >= lines:
		i := slices.IndexFunc(m.classes, func(c classView) bool { return c.Class == s.class })
		if j, ok := other(i, len(m.classes)); ok {
			s.class, s.selClass = m.classes[j].Class, m.classes[j].Class
			s.selSource, s.selInst = none, 0
		}
	default:
		s.move(m, map[int]keys.ID{-1: keys.Up, 1: keys.Down}[by])
	}
}

// Where the selection is in a list: the selected one, else the first; -1 when
// the list is empty.

func (s *Screen) bundleAt(m *model) int {
	sel := s.selBundle
	if sel == "" && m.cand != nil {
		sel = m.cand.Path
	}
	return at(len(m.bundles), slices.IndexFunc(m.bundles, func(b *bundleView) bool { return b.Path == sel }))
}

func (s *Screen) classAt(m *model) int {
	return at(len(m.classes), slices.IndexFunc(m.classes, func(c classView) bool { return c.Class == s.selClass }))
}

func (s *Screen) lineAt(m *model) int {
	return at(len(m.lines), slices.IndexFunc(m.lines, func(l stall.LineShare) bool { return l.Source == s.selSource }))
}

func (s *Screen) instAt(m *model) int {
	return at(len(m.insts), slices.IndexFunc(m.insts, func(h stall.Hotspot) bool { return h.CodeLine == s.selInst }))
}

func (s *Screen) prodAt(m *model) int {
	return at(len(m.prods), slices.IndexFunc(m.prods, func(p stall.Producer) bool { return p.CodeLine == s.selProd }))
}

func at(n, i int) int {
	if n == 0 {
		return -1
	}
	return max(i, 0)
}
