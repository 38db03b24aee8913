package ui

import (
	"strconv"

	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// tab is one of the numbered screens.
type tab struct {
	id      keys.ID
	key     string
	title   string
	context keys.Context
	area    string // of the notices that mark it
	screen  view.Screen
}

// mark is the short sign after the tab's title: reds, else ambers, else
// nothing.
func (t tab) mark(s *session.Snapshot) string {
	red, amber := 0, 0
	for _, n := range s.Notices {
		if n.Area != t.area {
			continue
		}
		switch n.Severity {
		case session.Red:
			red++
		case session.Amber:
			amber++
		}
	}
	switch {
	case red > 0:
		return "!" + strconv.Itoa(red)
	case amber > 0:
		return "?" + strconv.Itoa(amber)
	default:
		return ""
	}
}

// absent stands where a screen is not built yet; it says so and does nothing.
type absent struct {
	context keys.Context
	what    string
}

func (a *absent) Context() keys.Context                   { return a.context }
func (a *absent) Act(*view.Env, keys.ID) (view.Ask, bool) { return view.Ask{}, false }
func (a *absent) SetFilter(*view.Env, string)             {}
func (a *absent) Filter() string                          { return "" }
func (a *absent) Selected(*view.Env) string               { return "" }
func (a *absent) Show(*view.Env, string) view.Ask         { return view.Ask{} }
func (a *absent) Render(e *view.Env, w, h int) []string {
	return draw.Block(append([]string{""}, draw.Wrap(" "+a.what, w)...), w, h)
}
