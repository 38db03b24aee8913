// Package rounds is the screen of the loops: round by round what was asked, what
// the reviewer said, which criteria are proven and which only claimed, and why
// the next stop would be refused. Enter reads the texts of a round.
//
// What may not enter: judging a review or a tracker (engine/loop), and changing
// anything in a loop's folder.
package rounds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/loop"
	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// pane is what has the focus.
type pane int

const (
	table pane = iota
	facts
	loops
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
	scroll  int    // first line of the facts
	page    int    // rows the focused pane showed last
	bare    bool   // no room for side borders
	read    reader
}

// New returns the rounds screen.
func New() *Screen { return &Screen{page: 10} }

// Context implements view.Screen.
func (s *Screen) Context() keys.Context { return keys.Rounds }

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

// list are the rounds of l that fit the filter, newest first.
func (s *Screen) list(l *loop.Loop) []*loop.Round {
	if l == nil {
		return nil
	}
	f := view.NewFilter(s.filter)
	out := make([]*loop.Round, 0, len(l.Rounds))
	for i := len(l.Rounds) - 1; i >= 0; i-- {
		r := &l.Rounds[i]
		if f.Empty() || f.Keep(oneLine(l, r)+" "+titles(r), func(n string) (string, bool) { return axis(r, n) }) {
			out = append(out, r)
		}
	}
	return out
}

func titles(r *loop.Round) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(f.Severity + " " + f.Title + " ")
	}
	return b.String()
}

func axis(r *loop.Round, name string) (string, bool) {
	switch strings.ToLower(name) {
	case "round":
		return strconv.Itoa(r.N), true
	case "verdict":
		return string(r.Verdict), true
	case "kind":
		return string(r.Kind), true
	case "findings":
		return strconv.Itoa(len(r.Findings)), true
	}
	return "", false
}

// at is where the selected round is in the list, the first if it is not there.
func (s *Screen) at(all []*loop.Round) int {
	if !s.moved {
		return 0
	}
	return max(slices.IndexFunc(all, func(r *loop.Round) bool { return r.N == s.round }), 0)
}

// loopList are the loops that fit their filter, newest first.
func (s *Screen) loopList(e *view.Env) []*loop.Loop {
	f := view.NewFilter(s.loopsOf)
	var out []*loop.Loop
	for i := range e.Snap.Loops.Loops {
		l := &e.Snap.Loops.Loops[i]
		if f.Empty() || f.Keep(l.Name+" "+loopWord(l)+" "+strings.Join(marksOf(l), " ")+" "+l.BaseBranch, nil) {
			out = append(out, l)
		}
	}
	return out
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
		s.loop, s.moved, s.read.open = name, false, false
	}
	if n, err := strconv.Atoi(number); err == nil {
		s.round, s.moved, s.filter, s.read.open = n, true, "", false
	}
	return view.Ask{}
}

// Selected implements view.Screen.
func (s *Screen) Selected(e *view.Env) string {
	l := s.current(e)
	if l == nil {
		return ""
	}
	if s.read.open {
		return s.read.line()
	}
	if s.focus == loops {
		return l.Name + "  " + loopWord(l)
	}
	all := s.list(l)
	if len(all) == 0 {
		return ""
	}
	return l.Name + "  " + oneLine(l, all[s.at(all)])
}

// oneLine is a round in plain words.
func oneLine(l *loop.Loop, r *loop.Round) string {
	parts := []string{"round " + strconv.Itoa(r.N), kindWord(r), verdictWord(l, r)}
	if r.ACsMet.Known {
		parts = append(parts, "AC "+r.ACsMet.String()+"/"+r.ACsTotal.String())
	}
	if f := foundWord(r); f != "" {
		parts = append(parts, f)
	}
	return strings.Join(parts, "  ")
}

// Act implements view.Screen.
func (s *Screen) Act(e *view.Env, id keys.ID) (view.Ask, bool) {
	l := s.current(e)
	if l == nil {
		return view.Ask{}, false
	}
	if s.read.open {
		return s.actReader(e, l, id)
	}
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
	s.round, s.moved = r.N, true
	s.read.begin(bestKind(r))
	if t := e.Snap.Round; t != nil && t.Loop == l.Name && t.Round == r.N {
		return view.Ask{}
	}
	return view.Ask{Do: []session.Action{session.OpenRound{Loop: l.Name, Round: r.N}}}
}

// bestKind is the text of a round that a reader wants first.
func bestKind(r *loop.Round) string {
	for _, k := range []string{"review-result", "summary", "contract", "prompt"} {
		if r.Has(k) && !(k == "summary" && r.Summary.Scaffold) {
			return k
		}
	}
	return ""
}

// turn goes to the next pane; the loops have one only when there are several.
func (s *Screen) turn(e *view.Env, by int) {
	panes := []pane{table, facts}
	if len(e.Snap.Loops.Loops) > 1 {
		panes = append(panes, loops)
	}
	i := max(slices.Index(panes, s.focus), 0)
	s.focus = panes[(i+by+len(panes))%len(panes)]
}

// turnLoop selects an older (1) or newer (-1) loop.
func (s *Screen) turnLoop(e *view.Env, by int) {
	all := s.loopList(e)
	if len(all) == 0 {
		return
	}
	i := max(slices.IndexFunc(all, func(l *loop.Loop) bool { return l == s.current(e) }), 0)
	s.pickLoop(all[min(max(i+by, 0), len(all)-1)].Name)
}

func (s *Screen) pickLoop(name string) {
	if s.loop != name {
		s.loop, s.moved, s.scroll = name, false, 0
	}
}

// move selects or scrolls in the focused pane.
func (s *Screen) move(e *view.Env, l *loop.Loop, by int) {
	switch s.focus {
	case facts:
		s.scroll = max(s.scroll+by, 0) // Render brings it back into range
	case loops:
		all := s.loopList(e)
		if len(all) == 0 {
			return
		}
		i := max(slices.IndexFunc(all, func(x *loop.Loop) bool { return x == l }), 0)
		s.pickLoop(all[min(max(i+by, 0), len(all)-1)].Name)
	default:
		all := s.list(l)
		if len(all) == 0 {
			return
		}
		i := min(max(s.at(all)+by, 0), len(all)-1)
		s.round, s.moved = all[i].N, i > 0 // the newest is followed
	}
}

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
		return -1 << 30, true
	case keys.Bottom:
		return 1 << 30, true
	}
	return 0, false
}

// none says why there is no loop.
func none(e *view.Env) string {
	o := e.Snap.Loops.Origin
	switch {
	case !o.Status.Known() && o.Status.String() != "missing":
		return strings.TrimSpace("Loops: " + o.Status.String() + " " + o.Why)
	case e.Snap.Mode == session.Offline:
		return "No loop in this folder: there is neither .humanize/rlcr nor .humanize-loop.local in it."
	default:
		return fmt.Sprintf("No loop yet. Review the plan (%s), approve it (%s), then start the loop (%s).", keyOf(e, keys.GoPlan), keyOf(e, keys.OpenG1), keyOf(e, keys.OpenG2))
	}
}

func keyOf(e *view.Env, id keys.ID) string {
	if a, ok := e.Keys.Action(id); ok && len(a.Keys) > 0 {
		return keys.Show(a.Keys[0])
	}
	return string(id)
}

// window brings the scroll of the facts back into range.
func (s *Screen) window(n, h int) int {
	s.scroll = min(s.scroll, max(n-h, 0))
	return s.scroll
}

var _ view.Screen = (*Screen)(nil)
