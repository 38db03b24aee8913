// Package rounds is the screen of the loops: round by round what was asked, what
// the reviewer said, which criteria are proven and which only claimed, and why
// the next stop would be refused. Enter reads the texts of a round.
//
// What may not enter: judging a review or a tracker (engine/loop), and changing
// anything in a loop's folder.
package rounds

import (
	"fmt"
	"strconv"
	"strings"

	"kdapilot/engine/loop"
	"kdapilot/ui/keys"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// pane is what has the focus.
type pane int

const (
	table  pane = iota // the rounds
	detail             // what the selected round left
	facts              // where the loop is, and why the next stop is refused
	proof              // criteria and tasks; below facts where there is no room
	loops
	panes
)

// Screen is the rounds screen. A loop is selected by its name, a round by its
// number; until a person moves, the newest of both is followed.
type Screen struct {
	loop  string // "": the loop Humanize follows
	round int
	moved bool // round is a person's choice
	focus pane

	filter  string // of the rounds
	loopsOf string // of the loops
	scroll  [panes]int
	page    int // rows the focused pane showed last
	class   term.Class
	read    reader
	proofs  proofCache
}

// New returns the rounds screen.
func New() *Screen { return &Screen{page: 10, class: term.FourPanes} }

// Context implements view.Screen.
func (s *Screen) Context() keys.Context {
	if s.read.open && s.read.isLog {
		return keys.Log
	}
	return keys.Rounds
}

// current is the selected loop, the one Humanize follows if none is; nil when
// there is none.
func (s *Screen) current(e *view.Env) *loop.Loop {
	if s.loop != "" {
		if l := e.Snap.Loops.Find(s.loop); l != nil {
			return l
		}
	}
	if l := e.Snap.Loops.Current(); l != nil {
		return l
	}
	if len(e.Snap.Loops.Loops) > 0 {
		return &e.Snap.Loops.Loops[0]
	}
	return nil
}

// Filter implements view.Screen: the search while a text is read.
func (s *Screen) Filter() string {
	switch {
	case s.read.open:
		return s.read.search
	case s.focus == loops:
		return s.loopsOf
	default:
		return s.filter
	}
}

// SetFilter implements view.Screen.
func (s *Screen) SetFilter(e *view.Env, text string) {
	switch {
	case s.read.open:
		s.read.find(e, text)
	case s.focus == loops:
		s.loopsOf = text
	default:
		s.filter = text
	}
}

// Show implements view.Screen: target is a loop's name, a round's number, or
// "loop/round".
func (s *Screen) Show(e *view.Env, target string) view.Ask {
	name, number, both := strings.Cut(target, "/")
	if !both {
		if _, err := strconv.Atoi(target); err == nil {
			name, number = "", target
		}
	}
	if name != "" {
		if e.Snap.Loops.Find(name) == nil {
			return view.Ask{Say: "no loop is called " + name}
		}
		s.pickLoop(name)
		s.moved, s.read.open = false, false
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return view.Ask{}
	}
	s.filter, s.read.open = "", false
	if l := s.current(e); l != nil {
		if l.RoundN(n) == nil {
			return view.Ask{Say: fmt.Sprintf("loop %s has no round %d", l.Name, n)}
		}
		s.pickRound(e, l, n)
	}
	return view.Ask{}
}

// Selected implements view.Screen.
func (s *Screen) Selected(e *view.Env) string {
	if s.read.open {
		return s.read.line(e)
	}
	l := s.current(e)
	if l == nil {
		return ""
	}
	switch s.focus {
	case loops:
		return loopLine(l)
	case facts:
		return stopLine(l)
	case proof:
		return l.Name + "  " + tally(l.Tracker.Criteria)
	}
	all := s.list(l)
	if len(all) == 0 {
		return ""
	}
	return l.Name + "  " + oneLine(l, all[s.at(all)])
}

var _ view.Screen = (*Screen)(nil)
