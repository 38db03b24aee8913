// Package runs is the screen of what was and is being run: the list of runs,
// the live log of the selected one, its rows as they arrive, and everything its
// manifest and result say. Runs are started, repeated and cancelled from here,
// each after a question that shows the exact command.
//
// What may not enter: starting anything by itself, and a judgement of its own:
// outcomes come from bench.Truth, as the session made it.
package runs

import (
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// pane is what has the focus.
type pane int

const (
	list pane = iota
	log
	rows
	panes
)

// Screen is the runs screen. The selection is a run id.
type Screen struct {
	sel     runs.ID
	focus   pane
	details bool // everything about the selected run, in place of the panes
	scroll  int  // first line of the details
	log     draw.LogView
	back    int // rows of the rows pane above its end
	filter  string
	sort    int
	flip    bool
	page    int // rows the focused pane showed last
	logW    int
	logH    int
	pages   [panes]int
}

// New returns the runs screen.
func New() *Screen {
	return &Screen{log: fresh(), page: 10, logW: 80, logH: 20}
}

func fresh() draw.LogView { return draw.LogView{Follow: true, Paint: nil} }

// Context implements view.Screen.
func (s *Screen) Context() keys.Context {
	if s.focus == log && !s.details {
		return keys.Log
	}
	return keys.Runs
}

// Filter implements view.Screen: the search when the log has the focus.
func (s *Screen) Filter() string {
	if s.Context() == keys.Log {
		return s.log.Search
	}
	return s.filter
}

// SetFilter implements view.Screen: it narrows the list, or searches the log
// when that has the focus.
func (s *Screen) SetFilter(e *view.Env, text string) {
	if s.Context() != keys.Log {
		s.filter = text
		return
	}
	s.log.Find(text)
	if text != "" {
		s.log.Next(e.Snap.Log, 1, s.logW, s.logH)
	}
}

// Show implements view.Screen: target is a run id. Whatever is selected then,
// its log is asked for.
func (s *Screen) Show(e *view.Env, target string) view.Ask {
	if target != "" {
		if e.Snap.Run(runs.ID(target)) == nil {
			return view.Ask{Say: "no run is called " + target}
		}
		s.pick(runs.ID(target))
		s.filter, s.details = "", false
	}
	if r := s.run(e); r != nil {
		s.pick(r.ID)
	}
	return s.follow(e)
}

// pick selects a run; another run's log starts at its end.
func (s *Screen) pick(id runs.ID) {
	if s.sel != id {
		s.sel, s.log, s.back, s.scroll = id, fresh(), 0, 0
	}
}

// follow asks for the log of the selected run unless it is there.
func (s *Screen) follow(e *view.Env) view.Ask {
	r := s.run(e)
	if r == nil || e.Snap.LogID == r.ID {
		return view.Ask{}
	}
	return view.Ask{Do: []session.Action{session.OpenLog{ID: r.ID}}}
}

// Selected implements view.Screen.
func (s *Screen) Selected(e *view.Env) string {
	r := s.run(e)
	if r == nil {
		return ""
	}
	if s.focus == log && s.log.Found > 0 && e.Snap.LogID == r.ID {
		return e.Snap.Log.Line(s.log.Found - 1)
	}
	return oneLine(e, r)
}

// Act implements view.Screen.
func (s *Screen) Act(e *view.Env, id keys.ID) (view.Ask, bool) {
	if id == keys.Run {
		return choosePreset(e), true
	}
	r := s.run(e)
	if r == nil {
		return view.Ask{}, false
	}
	s.pick(r.ID)
	if ask, ok := s.move(e, id); ok {
		return ask, true
	}
	switch id {
	case keys.NextPane, keys.PrevPane:
		by := 1
		if id == keys.PrevPane {
			by = int(panes) - 1
		}
		s.details, s.focus = false, (s.focus+pane(by))%panes
		return s.follow(e), true
	case keys.Drill:
		s.details, s.scroll = !s.details, 0
	case keys.Back:
		return view.Ask{}, s.out()
	case keys.Follow:
		if s.log.Follow = !s.log.Follow; s.log.Follow {
			s.log.End()
		}
	case keys.Wrap:
		s.log.Wrap, s.log.Left = !s.log.Wrap, 0
	case keys.Sort:
		s.sort = (s.sort + 1) % len(orders())
	case keys.SortFlip:
		s.flip = !s.flip
	case keys.RunAgain:
		return again(e, r), true
	case keys.Cancel:
		return cancel(e, r), true
	case keys.SetBase:
		return toBench(e, r), true
	default:
		return view.Ask{}, false
	}
	return view.Ask{}, true
}

// out goes one step out; it reports whether there was one.
func (s *Screen) out() bool {
	switch {
	case s.details:
		s.details = false
	case s.focus == log && s.log.Search != "":
		s.log.Find("")
	case s.focus != list:
		s.focus = list
	default:
		return false
	}
	return true
}

// toBench shows the run's rows where they can be compared.
func toBench(e *view.Env, r *runs.Run) view.Ask {
	if e.Snap.Set(string(r.ID)) == nil {
		return view.Ask{Say: "no rows to compare in run " + string(r.ID) + ": " + noRows(r)}
	}
	return view.Ask{Go: keys.GoBench, Target: string(r.ID)}
}

// steps are how far a key moves, in rows; page is a pane's height.
func steps(id keys.ID, page int) (by int, ok bool) {
	switch id {
	case keys.Up:
		return -1, true
	case keys.Down:
		return 1, true
	case keys.PageUp:
		return -page, true
	case keys.PageDown:
		return page, true
	case keys.HalfUp:
		return -max(page/2, 1), true
	case keys.HalfDown:
		return max(page/2, 1), true
	case keys.Top:
		return -1 << 30, true
	case keys.Bottom:
		return 1 << 30, true
	}
	return 0, false
}

// move scrolls or selects in the focused pane.
func (s *Screen) move(e *view.Env, id keys.ID) (view.Ask, bool) {
	by, vertical := steps(id, max(s.page, 1))
	switch {
	case s.details:
		if vertical {
			s.scroll = max(s.scroll+by, 0) // Render brings it back into range
		}
		return view.Ask{}, vertical
	case s.focus == log:
		return view.Ask{}, s.moveLog(e, id, by, vertical)
	case s.focus == rows:
		if r := s.run(e); r != nil && r.Manifest.Kind == runs.Profile {
			by = -by // see rowLines
		}
		if vertical {
			s.back = max(s.back-by, 0)
		}
		return view.Ask{}, vertical
	case id == keys.MoveRight:
		s.focus = log
		return s.follow(e), true
	case id == keys.NextMatch:
		by, vertical = 1, true
	case id == keys.PrevMatch:
		by, vertical = -1, true
	}
	if !vertical {
		return view.Ask{}, false
	}
	all := s.list(e)
	if len(all) == 0 {
		return view.Ask{}, true
	}
	s.pick(all[min(max(s.at(all)+by, 0), len(all)-1)].ID)
	return s.follow(e), true
}

func (s *Screen) moveLog(e *view.Env, id keys.ID, by int, vertical bool) bool {
	lines := e.Snap.Log
	switch {
	case id == keys.Top:
		s.log.Home(lines)
	case id == keys.Bottom:
		s.log.End()
	case vertical:
		s.log.Scroll(lines, by, s.logW, s.logH)
	case id == keys.MoveLeft:
		s.log.Pan(-8)
	case id == keys.MoveRight:
		s.log.Pan(8)
	case id == keys.NextMatch:
		s.log.Next(lines, 1, s.logW, s.logH)
	case id == keys.PrevMatch:
		s.log.Next(lines, -1, s.logW, s.logH)
	default:
		return false
	}
	return true
}

var _ view.Screen = (*Screen)(nil)
