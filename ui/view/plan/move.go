package plan

import (
	"kdapilot/engine/plan"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// Act implements view.Screen.
func (s *Screen) Act(e *view.Env, id keys.ID) (view.Ask, bool) {
	s.sync(e)
	switch id {
	case keys.OpenG1:
		return view.Ask{Gate: keys.OpenG1}, true
	case keys.ShowDiff:
		return s.toggleDiff(e), true
	case keys.Back:
		return view.Ask{}, s.back()
	}
	if s.diff.on {
		return view.Ask{}, s.diff.act(id)
	}
	if s.doc == nil {
		return view.Ask{}, false
	}
	switch id {
	case keys.NextPane:
		s.turn(1)
	case keys.PrevPane:
		s.turn(paneCount - 1)
	case keys.NextUnread:
		return s.nextUnread(), true
	case keys.NextSection:
		s.section(1)
	case keys.PrevSection:
		s.section(-1)
	case keys.NextMatch:
		return s.match(1)
	case keys.PrevMatch:
		return s.match(-1)
	default:
		if s.focus != textPane {
			return view.Ask{}, s.pick(id)
		}
		return view.Ask{}, s.scrollBy(id)
	}
	return view.Ask{}, true
}

// back leaves the diff, then a side pane; then it is the model's.
func (s *Screen) back() bool {
	switch {
	case s.diff.on:
		s.diff.on = false
	case s.focus != textPane:
		s.focus = textPane
	default:
		return false
	}
	return true
}

func (s *Screen) turn(by int) {
	s.focus = (s.focus + by) % paneCount
	if s.focus != textPane {
		s.side = s.focus
	}
}

// scrollBy moves the text.
func (s *Screen) scrollBy(id keys.ID) bool {
	by, ok := step(id, s.rows)
	if !ok {
		return id == keys.Drill
	}
	s.at, s.want = 0, 0
	s.top += by
	s.clamp()
	return true
}

// step is how far a movement goes in a pane of h rows.
func step(id keys.ID, h int) (int, bool) {
	const far = 1 << 30
	switch id {
	case keys.Down:
		return 1, true
	case keys.Up:
		return -1, true
	case keys.PageDown:
		return max(h-2, 1), true
	case keys.PageUp:
		return -max(h-2, 1), true
	case keys.HalfDown:
		return max(h/2, 1), true
	case keys.HalfUp:
		return -max(h/2, 1), true
	case keys.Bottom:
		return far, true
	case keys.Top:
		return -far, true
	}
	return 0, false
}

func (s *Screen) clamp() {
	if s.page == nil {
		s.top = max(s.top, 0)
		return
	}
	s.top = max(min(s.top, len(s.page.rows)-s.rows), 0)
}

// pick moves in the outline or the list; enter goes to the line.
func (s *Screen) pick(id keys.ID) bool {
	p := &s.outline
	if s.focus == listPane {
		p = &s.list
	}
	if id == keys.Drill {
		if r := p.selected(); r != nil && r.line > 0 {
			s.jump(r.line)
		}
		return true
	}
	by, ok := step(id, p.h)
	if ok {
		p.move(by)
	}
	return ok
}

// jump goes to a line, points at it, and focuses the text.
func (s *Screen) jump(line int) {
	s.focus, s.diff.on = textPane, false
	s.goTo(line, 2)
}

// goTo brings a source line on screen with above rows over it.
func (s *Screen) goTo(line, above int) {
	s.at, s.want, s.above = line, line, above
	s.settle()
}

// settle carries out a wanted jump as soon as the text is laid out.
func (s *Screen) settle() {
	if s.want == 0 || s.page == nil {
		return
	}
	s.top = s.page.rowOf(s.want) - s.above
	s.want = 0
	s.clamp()
}

// topLine is the source line on top of the pane.
func (s *Screen) topLine() int {
	switch {
	case s.want > 0:
		return s.want
	case s.page == nil || len(s.page.rows) == 0:
		return 1
	}
	return s.page.rows[min(s.top, len(s.page.rows)-1)].Source
}

// here is the line movements start from: where a jump led to, else the top.
func (s *Screen) here() int {
	if s.at > 0 {
		return s.at
	}
	return s.topLine()
}

// section goes to the next heading, or to the one before.
func (s *Screen) section(dir int) {
	s.focus = textPane
	n, to := s.here(), 0
	for _, x := range s.doc.Sections {
		if dir < 0 && x.Line < n {
			to = x.Line
		}
		if dir > 0 && x.Line > n {
			to = x.Line
			break
		}
	}
	if to > 0 {
		s.goTo(to, 0)
	}
}

func (s *Screen) nextUnread() view.Ask {
	if s.uncounted != "" {
		return view.Ask{Say: s.uncounted}
	}
	n := s.reading.Next(s.here())
	if n == 0 {
		return view.Ask{Say: "every section was on screen"}
	}
	s.focus = textPane
	above := 1
	if i := sectionAt(s.doc, n); i >= 0 && s.doc.Sections[i].Line == n {
		above = 0
	}
	s.goTo(n, above)
	return view.Ask{}
}

// unread is the first section that was not on screen whole, nil for none.
func (s *Screen) unread(seen map[string]bool) *plan.Section {
	for i := range s.doc.Sections {
		if x := &s.doc.Sections[i]; !seen[x.ID] {
			return x
		}
	}
	return nil
}

func (s *Screen) match(dir int) (view.Ask, bool) {
	if s.search.text == "" {
		return view.Ask{}, false
	}
	n := s.search.next(s.here(), dir)
	if n == 0 {
		return view.Ask{Say: "not found: " + s.search.text}, true
	}
	s.focus = textPane
	s.goTo(n, 2)
	return view.Ask{}, true
}
