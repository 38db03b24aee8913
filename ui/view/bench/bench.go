// Package bench is the screen of the numbers: which base against which
// candidate, what each run is worth, regimes first, then cells, then one cell
// with its repeats, references and gates.
//
// Guarantees: a failed, missing or skipped cell is listed and counted; no
// geometric mean stands without n, wins, losses and holes beside it; what can
// not be decided says so, and why.
//
// What may not enter: a comparison made here. The screen shows Snapshot.Delta
// and asks for another pair with CompareSets.
package bench

import (
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// level is how deep the screen is drilled.
type level int

const (
	regimes level = iota
	cells
	oneCell
)

// Screen is the bench screen. Selection is by name: regime, cell key, set id.
type Screen struct {
	level  level
	regime string // whose cells are listed; "" all
	// What is selected, by identity.
	selRegime, selCell, selRow, selSet string
	sets                               bool // the list of sets has the focus
	filter                             string
	open                               bool // only what is not settled
	sort                               [3]int
	flip                               [3]bool
	scroll                             int // first line of the open cell
	page                               int // rows that the list showed last
	w, h                               int // size drawn last, for writing the pane
	cache                              cache
}

// New returns the bench screen.
func New() *Screen { return &Screen{page: 10, w: 80, h: 20} }

// Context implements view.Screen.
func (s *Screen) Context() keys.Context { return keys.Bench }

// Filter implements view.Screen.
func (s *Screen) Filter() string { return s.filter }

// SetFilter implements view.Screen: words, or axes such as dtype:fp8 S>4096.
func (s *Screen) SetFilter(_ *view.Env, text string) { s.filter = text }

// Show implements view.Screen. target is a set id (it becomes the candidate), a
// regime, or a cell key.
func (s *Screen) Show(e *view.Env, target string) view.Ask {
	if target == "" {
		return view.Ask{}
	}
	if set := e.Snap.Set(target); set != nil {
		s.level, s.sets, s.selSet = regimes, false, target
		if d := e.Snap.Delta; d != nil && d.Cand == target {
			return view.Ask{}
		}
		return view.Ask{Do: []session.Action{session.CompareSets{Cand: target}}}
	}
	m := s.model(e)
	if d := m.delta; d != nil {
		for i := range d.Comparison.Regimes {
			if d.Comparison.Regimes[i].Name == target {
				s.level, s.regime, s.selRegime, s.filter, s.sets = cells, target, target, "", false
				return view.Ask{}
			}
		}
		for i := range d.Comparison.Cells {
			if c := &d.Comparison.Cells[i]; c.Key == target {
				s.level, s.regime, s.selCell, s.filter, s.open, s.sets = cells, "", c.Section+sep+c.Key, "", false, false
				return view.Ask{}
			}
		}
	}
	if e.Snap.Run(runs.ID(target)) != nil {
		return view.Ask{Say: "run " + target + " has no rows to show"}
	}
	return view.Ask{Say: "no set, regime or cell is called " + target}
}

// Selected implements view.Screen.
func (s *Screen) Selected(e *view.Env) string {
	m := s.model(e)
	switch {
	case s.sets:
		if i := m.setAt(s.selSet); i >= 0 {
			return setFact(e, &e.Snap.Sets[i])
		}
	case m.delta == nil:
		if i := s.rowAt(m); i >= 0 {
			return rowFact(m.rows[i].row)
		}
	case s.level == regimes:
		if i := s.regimeAt(m); i >= 0 {
			return regimeFact(m.regimes[i])
		}
	default:
		if i := s.cellAt(m); i >= 0 {
			return cellFact(&m.cells[i])
		}
	}
	return ""
}

// Act implements view.Screen.
func (s *Screen) Act(e *view.Env, id keys.ID) (view.Ask, bool) {
	if len(e.Snap.Sets) == 0 {
		return view.Ask{}, false
	}
	if s.move(e, id) {
		return view.Ask{}, true
	}
	m := s.model(e)
	switch id {
	case keys.NextPane, keys.PrevPane:
		s.toSets(m, !s.sets)
	case keys.Drill, keys.MoveRight:
		return s.drill(e, m), true
	case keys.Back, keys.MoveLeft:
		return view.Ask{}, s.out() || id == keys.MoveLeft
	case keys.Regimes:
		s.toggle(m)
	case keys.OnlyOpen:
		s.open = !s.open
	case keys.Sort:
		k := s.table(m)
		s.sort[k] = (s.sort[k] + 1) % len(orders()[k])
	case keys.SortFlip:
		s.flip[s.table(m)] = !s.flip[s.table(m)]
	case keys.SetBase:
		return s.setBase(e, m), true
	case keys.ClearBase:
		s.sets = false
		return view.Ask{Do: []session.Action{session.CompareSets{}}, Say: "the newest set against the newest older one of its family"}, true
	case keys.Write:
		return s.export(e, m), true
	case keys.RunAgain:
		return s.runAgain(e, m), true
	case keys.PrevSection:
		s.neighbour(m, -1)
	case keys.NextSection:
		s.neighbour(m, 1)
	default:
		return view.Ask{}, false
	}
	return view.Ask{}, true
}

// move changes the selection; it reports whether id is a movement.
func (s *Screen) move(e *view.Env, id keys.ID) bool {
	by, ok := map[keys.ID]int{
		keys.Up: -1, keys.Down: 1, keys.PageUp: -s.page, keys.PageDown: s.page,
		keys.HalfUp: -max(s.page/2, 1), keys.HalfDown: max(s.page/2, 1),
		keys.Top: -1 << 30, keys.Bottom: 1 << 30, keys.NextMatch: 1, keys.PrevMatch: -1,
	}[id]
	if !ok {
		return false
	}
	m := s.model(e)
	step := func(i, n int) int { return min(max(i+by, 0), n-1) }
	switch {
	case s.sets:
		s.selSet = e.Snap.Sets[step(max(m.setAt(s.selSet), 0), len(e.Snap.Sets))].ID
	case m.delta == nil:
		if n := len(m.rows); n > 0 {
			s.selRow = m.rows[step(s.rowAt(m), n)].id
		}
	case s.level == oneCell:
		s.scroll = max(s.scroll+by, 0) // Render brings it back into range
	case s.level == regimes:
		if n := len(m.regimes); n > 0 {
			s.selRegime = m.regimes[step(s.regimeAt(m), n)].Name
		}
	default:
		if n := len(m.cells); n > 0 {
			s.selCell = m.cells[step(s.cellAt(m), n)].id
		}
	}
	return true
}

func (s *Screen) toSets(m *model, on bool) {
	s.sets = on
	if on && m.setAt(s.selSet) < 0 && m.delta != nil {
		s.selSet = m.delta.Base
	}
}

// drill goes one step in; in the list of sets it takes the selected one as the
// candidate.
func (s *Screen) drill(e *view.Env, m *model) view.Ask {
	switch {
	case s.sets:
		s.sets = false
		set := &e.Snap.Sets[max(m.setAt(s.selSet), 0)]
		s.selSet = set.ID
		if d := m.delta; d != nil && d.Base != set.ID {
			return view.Ask{Do: []session.Action{session.CompareSets{Base: d.Base, Cand: set.ID}}}
		}
		return view.Ask{Do: []session.Action{session.CompareSets{Cand: set.ID}}}
	case m.delta == nil:
	case s.level == regimes:
		if i := s.regimeAt(m); i >= 0 {
			s.level, s.regime = cells, m.regimes[i].Name
		}
	case s.level == cells:
		if i := s.cellAt(m); i >= 0 {
			s.level, s.scroll, s.selCell = oneCell, 0, m.cells[i].id
		}
	}
	return view.Ask{}
}

// out goes one step out; it reports whether there was one.
func (s *Screen) out() bool {
	switch {
	case s.sets:
		s.sets = false
	case s.level == oneCell:
		s.level = cells
	case s.level == cells:
		s.level = regimes
	default:
		return false
	}
	return true
}

func (s *Screen) toggle(m *model) {
	if s.sets = false; m.delta == nil {
		return
	}
	if s.level == regimes {
		s.level, s.regime = cells, ""
		return
	}
	s.level = regimes
}

// setBase takes the selected set as the base. Outside the list of sets it opens
// it, so that nobody sets a base unseen.
func (s *Screen) setBase(e *view.Env, m *model) view.Ask {
	if !s.sets {
		s.toSets(m, true)
		return view.Ask{Say: "pick the base: b takes it, enter takes a candidate, esc leaves"}
	}
	set := &e.Snap.Sets[max(m.setAt(s.selSet), 0)]
	cand := ""
	if m.delta != nil {
		cand = m.delta.Cand
	} else if len(e.Snap.Sets) > 0 {
		cand = e.Snap.Sets[0].ID
	}
	if set.ID == cand {
		return view.Ask{Say: "that set is the candidate: pick another, or take another candidate with enter"}
	}
	s.sets = false
	return view.Ask{Do: []session.Action{session.CompareSets{Base: set.ID, Cand: cand}}}
}

// neighbour lists the cells of the regime before or after.
func (s *Screen) neighbour(m *model, by int) {
	if m.delta == nil || s.level != cells || s.regime == "" {
		return
	}
	all := m.delta.Comparison.Regimes
	for i := range all {
		if all[i].Name == s.regime {
			j := min(max(i+by, 0), len(all)-1)
			s.regime, s.selRegime, s.selCell = all[j].Name, all[j].Name, ""
			return
		}
	}
}

// runAgain asks the runs screen to run the candidate's command once more.
func (s *Screen) runAgain(e *view.Env, m *model) view.Ask {
	set := m.cand
	if i := m.setAt(s.selSet); s.sets && i >= 0 {
		set = &e.Snap.Sets[i]
	}
	if set == nil || set.Run == nil {
		return view.Ask{Say: "these rows come from a file, not from a run of this cockpit: press r for a preset"}
	}
	return view.Ask{Go: keys.GoRuns, Target: string(set.Run.ID), Act: keys.RunAgain}
}

var _ view.Screen = (*Screen)(nil)
