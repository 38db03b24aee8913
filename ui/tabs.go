package ui

import (
	"strconv"

	"kdapilot/engine/session"
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
