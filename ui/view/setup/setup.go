// Package setup is the screen of preflight: one row per check, what was seen,
// what to do, and whether gate 2 would take the result.
//
// What may not enter: checking or repairing. Both are actions of the session,
// and a repair is asked about first.
package setup

import (
	"strings"

	"kdapilot/engine/preflight"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// Screen is the setup screen. The selection is a check's id.
type Screen struct {
	sel    preflight.ID
	top    int
	page   int
	filter string
	detail bool // the selected row fills a narrow screen
}

// New returns the setup screen.
func New() *Screen { return &Screen{page: 10} }

// Context implements view.Screen.
func (s *Screen) Context() keys.Context { return keys.Setup }

// Filter implements view.Screen.
func (s *Screen) Filter() string { return s.filter }

// SetFilter implements view.Screen.
func (s *Screen) SetFilter(_ *view.Env, text string) { s.filter, s.top = text, 0 }

// Show implements view.Screen: target is a check's id, for example PF-04.
func (s *Screen) Show(_ *view.Env, target string) view.Ask {
	if target != "" {
		s.sel, s.filter = preflight.ID(target), ""
	}
	return view.Ask{}
}

// Selected implements view.Screen.
func (s *Screen) Selected(e *view.Env) string {
	rows := s.rows(e)
	if len(rows) == 0 {
		return ""
	}
	r := rows[s.index(rows)]
	parts := append([]string{string(r.ID), string(r.State), r.Title}, r.Seen...)
	if r.Do != "" {
		parts = append(parts, "do: "+r.Do)
	}
	return strings.Join(parts, "  ")
}

// rows are those the filter keeps.
func (s *Screen) rows(e *view.Env) []preflight.Shown {
	f := view.NewFilter(s.filter)
	var out []preflight.Shown
	for _, r := range e.Snap.Preflight.Rows() {
		text := strings.Join(append([]string{string(r.ID), string(r.State), r.Title, r.Do}, r.Seen...), " ")
		axis := func(name string) (string, bool) {
			switch name {
			case "id":
				return string(r.ID), true
			case "state":
				return string(r.State), true
			case "blocks":
				return r.Blocks, true
			}
			return "", false
		}
		if f.Keep(text, axis) {
			out = append(out, r)
		}
	}
	return out
}

// index finds the selected row; the first when it is not there.
func (s *Screen) index(rows []preflight.Shown) int {
	for i, r := range rows {
		if r.ID == s.sel {
			return i
		}
	}
	return 0
}

// Act implements view.Screen.
func (s *Screen) Act(e *view.Env, id keys.ID) (view.Ask, bool) {
	rows := s.rows(e)
	move := map[keys.ID]int{
		keys.Down: 1, keys.Up: -1, keys.PageDown: s.page, keys.PageUp: -s.page,
		keys.HalfDown: s.page / 2, keys.HalfUp: -s.page / 2, keys.Top: -len(rows), keys.Bottom: len(rows),
	}
	if by, ok := move[id]; ok {
		if len(rows) > 0 {
			s.sel = rows[min(max(s.index(rows)+by, 0), len(rows)-1)].ID
		}
		return view.Ask{}, true
	}
	switch id {
	case keys.Check:
		return s.check(e, rows), true
	case keys.Repair:
		return s.fix(rows), true
	case keys.Drill:
		s.detail = len(rows) > 0
		return view.Ask{}, true
	case keys.Back:
		was := s.detail
		s.detail = false
		return view.Ask{}, was
	}
	return view.Ask{}, false
}

// check makes the checks again. On the row of the model it asks the model, which
// costs money, so it is asked about first.
func (s *Screen) check(e *view.Env, rows []preflight.Shown) view.Ask {
	if e.Snap.Preflight.Running {
		return view.Ask{Say: "checks are being made"}
	}
	if len(rows) == 0 || rows[s.index(rows)].ID != preflight.Codex {
		return view.Ask{Do: []session.Action{session.CheckHost{}}, Say: "checking"}
	}
	return view.Ask{Confirm: &view.Confirm{
		Title: "Ask the model?", Word: "ask",
		Lines: []string{"One short request to the reviewer's model, at most 90 s.", "All other checks are made as well."},
		Do:    []session.Action{session.CheckHost{AskModel: true}},
	}}
}

func (s *Screen) fix(rows []preflight.Shown) view.Ask {
	if len(rows) == 0 {
		return view.Ask{Say: "nothing to repair"}
	}
	r := rows[s.index(rows)]
	if r.Fix == "" {
		return view.Ask{Say: "no repair for " + string(r.ID) + ": " + firstOf(r.Do, "it is "+string(r.State))}
	}
	return view.Ask{Confirm: &view.Confirm{
		Title: "Repair " + string(r.ID) + "?", Word: r.Fix,
		Lines: append(append([]string{r.Title}, r.Seen...), "", "kdapilot preflight --fix "+r.Fix),
		Do:    []session.Action{session.RepairHost{Name: r.Fix}},
	}}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Render implements view.Screen.
func (s *Screen) Render(e *view.Env, w, h int) []string {
	live := e.Snap.Preflight
	rows := s.rows(e)
	if len(rows) == 0 {
		return frame("setup", s.empty(live, w), w, h, true, e.Look)
	}
	s.sel = rows[s.index(rows)].ID
	switch {
	case w >= 100:
		left := w * 3 / 5
		return draw.JoinH(s.list(e, live, rows, left, h), s.about(e, rows, w-left, h))
	case s.detail:
		return s.about(e, rows, w, h)
	case h >= 16:
		// The row at hand gets the room it needs, the list what is left.
		iw, _ := inner(w, h)
		below := min(h/2, len(aboutLines(e, rows[s.index(rows)], iw))+2)
		return draw.JoinV(s.list(e, live, rows, w, h-below), s.about(e, rows, w, below))
	default:
		return s.list(e, live, rows, w, h)
	}
}
