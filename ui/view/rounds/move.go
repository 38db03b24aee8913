package rounds

import (
	"slices"

	"kdapilot/engine/loop"
	"kdapilot/ui/keys"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// Act implements view.Screen.
func (s *Screen) Act(e *view.Env, id keys.ID) (view.Ask, bool) {
	if s.read.open {
		return s.actReader(e, id)
	}
	l := s.current(e)
	if l == nil {
		return view.Ask{}, false
	}
	s.settle(e)
	if by, ok := steps(id, s.page); ok {
		s.move(e, l, by)
		return view.Ask{}, true
	}
	switch id {
	case keys.NextPane, keys.MoveRight:
		s.turn(e, 1)
	case keys.PrevPane, keys.MoveLeft:
		s.turn(e, -1)
	case keys.PrevSection:
		s.turnLoop(e, 1)
	case keys.NextSection:
		s.turnLoop(e, -1)
	case keys.Drill:
		return s.drill(e, l), true
	case keys.Back:
		was := s.focus
		s.focus = table
		return view.Ask{}, was != table
	default:
		return view.Ask{}, false
	}
	return view.Ask{}, true
}

// shown are the panes that can have the focus; the loops have one only when
// there are several.
func (s *Screen) shown(e *view.Env) []pane {
	out := []pane{table, detail, facts}
	if s.class == term.FourPanes {
		out = append(out, proof)
	}
	if len(e.Snap.Loops.Loops) > 1 {
		out = append(out, loops)
	}
	return out
}

// settle moves the focus away from a pane that is not shown any more.
func (s *Screen) settle(e *view.Env) {
	if slices.Contains(s.shown(e), s.focus) {
		return
	}
	if s.focus == proof {
		s.focus = facts // which holds the same where there is no room for both
		return
	}
	s.focus, s.loopsOf = table, ""
}

// drill reads the selected round; on the loops it goes to their rounds.
func (s *Screen) drill(e *view.Env, l *loop.Loop) view.Ask {
	if s.focus == loops {
		s.focus = table
		return view.Ask{}
	}
	all := s.list(l)
	if len(all) == 0 {
		return view.Ask{Say: "there is no round to read"}
	}
	r := all[s.at(all)]
	s.read.begin(l.Name, r)
	return s.read.load(e)
}

// turn goes to the next pane.
func (s *Screen) turn(e *view.Env, by int) {
	all := s.shown(e)
	i := max(slices.Index(all, s.focus), 0)
	s.focus = all[(i+by+len(all))%len(all)]
}

// turnLoop selects an older (1) or newer (-1) loop.
func (s *Screen) turnLoop(e *view.Env, by int) {
	all := s.loopList(e)
	if len(all) == 0 {
		return
	}
	cur := s.current(e)
	i := slices.Index(all, cur)
	if i < 0 {
		i, by = 0, 0
	}
	s.pickLoop(all[min(max(i+by, 0), len(all)-1)].Name)
}

func (s *Screen) pickLoop(name string) {
	if s.loop != name {
		s.loop, s.moved, s.scroll = name, false, [panes]int{}
	}
}

// pickRound selects a round and stays with its loop. The newest round of the
// loop that Humanize follows is followed itself.
func (s *Screen) pickRound(e *view.Env, l *loop.Loop, n int) {
	if n != s.round || !s.moved {
		s.scroll[detail] = 0
	}
	s.loop, s.round = l.Name, n
	s.moved = len(l.Rounds) == 0 || l.Rounds[len(l.Rounds)-1].N != n
	if !s.moved && l == e.Snap.Loops.Current() {
		s.loop = ""
	}
}

// move selects or scrolls in the focused pane.
func (s *Screen) move(e *view.Env, l *loop.Loop, by int) {
	switch s.focus {
	case table:
		if all := s.list(l); len(all) > 0 {
			s.pickRound(e, l, all[min(max(s.at(all)+by, 0), len(all)-1)].N)
		}
	case loops:
		s.turnLoop(e, by)
	default:
		s.scroll[s.focus] = max(s.scroll[s.focus]+by, 0) // Render brings it back into range
	}
}

// far is further than any list is long.
const far = 1 << 30

// steps are how far a key moves, in rows; page is a pane's height.
func steps(id keys.ID, page int) (by int, ok bool) {
	switch id {
	case keys.Up, keys.PrevMatch:
		return -1, true
	case keys.Down, keys.NextMatch:
		return 1, true
	case keys.PageUp:
		return -max(page, 1), true
	case keys.PageDown:
		return max(page, 1), true
	case keys.HalfUp:
		return -max(page/2, 1), true
	case keys.HalfDown:
		return max(page/2, 1), true
	case keys.Top:
		return -far, true
	case keys.Bottom:
		return far, true
	}
	return 0, false
}
