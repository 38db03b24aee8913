// Package stalls is the screen of the bubbles: which class of instruction the
// sampled waves waited in, where in the source and the ISA, for whom, and
// whether that changed against a bundle a person picked as the base.
//
// Guarantees: trust and freshness stand beside the bars; shares and cycles per
// hit are compared, raw cycles are never drawn; below the noise floor it reads
// "no change seen"; nothing is opened and no base is taken unless a person says
// so; opportunities are called hypotheses.
//
// What may not enter: a number made up here. Classes, lines, instructions and
// verdicts come from engine/stall.
package stalls

import (
	"path/filepath"

	"kdapilot/engine/session"
	"kdapilot/engine/stall"
	"kdapilot/engine/text"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// level is how deep the screen is drilled.
type level int

const (
	classes level = iota
	lines
	insts
	waits
)

// pane is what can have the focus, in the order of tab.
type pane int

const (
	drill pane = iota
	detail
	hypotheses
	bundles
	about
	panes
)

// none is the selection of nobody: "" is a source that maps to no line.
const none = "\x00"

// Screen is the stalls screen. Selection is by name: bundle path, class, source
// line, instruction line.
type Screen struct {
	focus pane
	cand  string // path of the bundle shown; "" the newest
	base  string // path of the bundle a person picked as the base
	asked map[string]bool

	level  level
	class  stall.Class // drilled into
	source string      // drilled into, unless every
	every  bool        // instructions of all source lines of the class
	inst   int64       // drilled into

	selBundle string
	selClass  stall.Class
	selSource string
	selInst   int64
	selProd   int64

	isa    bool // instructions rather than source lines
	perHit bool // cycles per hit rather than share
	filter [tables]string
	sort   [tables]int
	flip   [tables]bool

	scroll [panes]int // first line of the panes of text
	page   [panes]int // rows or lines they showed last
	w, h   int        // size drawn last, for writing the pane
	cache  cache
}

// New returns the stalls screen.
func New() *Screen {
	s := &Screen{asked: map[string]bool{}, selSource: none, w: 80, h: 20}
	for i := range s.page {
		s.page[i] = 10
	}
	return s
}

// Context implements view.Screen.
func (s *Screen) Context() keys.Context { return keys.Stalls }

// Filter implements view.Screen: each list has its own.
func (s *Screen) Filter() string { return s.filter[s.table()] }

// SetFilter implements view.Screen: words, or fields such as share>5 bubble:yes.
func (s *Screen) SetFilter(_ *view.Env, text string) { s.filter[s.table()] = text }

// Show implements view.Screen. target is the path or the name of a bundle, or a
// stall class of the bundle that is shown.
func (s *Screen) Show(e *view.Env, target string) view.Ask {
	if target == "" {
		return view.Ask{}
	}
	for i := range e.Snap.Bundles {
		if b := &e.Snap.Bundles[i]; b.Path == target || b.Name == target {
			return s.take(e, b.Path)
		}
	}
	m := s.model(e)
	for _, c := range m.classesOf() {
		if string(c) == target {
			s.focus, s.level, s.selClass, s.filter[tClasses] = drill, classes, c, ""
			return view.Ask{}
		}
	}
	if filepath.IsAbs(target) {
		return s.take(e, target)
	}
	return view.Ask{Say: "no bundle and no stall class here is called " + text.Line(target)}
}

// take makes a bundle the candidate and has it opened if it is not.
func (s *Screen) take(e *view.Env, path string) view.Ask {
	s.focus, s.level, s.cand, s.selBundle = drill, classes, path, path
	s.scroll = [panes]int{}
	ask := s.open(e, path)
	if path == s.base {
		s.base = ""
		ask.Say = "it was the base: there is no base now"
	}
	return ask
}

// open asks for a bundle that was not read yet.
func (s *Screen) open(e *view.Env, path string) view.Ask {
	if e.Snap.Analyses[path] != nil && e.Snap.AnalysisErrs[path] == "" {
		return view.Ask{}
	}
	s.asked[path] = true
	return view.Ask{Do: []session.Action{session.OpenBundle{Path: path}}}
}

// Act implements view.Screen.
func (s *Screen) Act(e *view.Env, id keys.ID) (view.Ask, bool) {
	switch id {
	case keys.Run:
		return view.Ask{Go: keys.GoRuns, Act: keys.Run}, true
	case keys.NextPane, keys.PrevPane:
		s.nextPane(e, id == keys.NextPane)
		return view.Ask{}, true
	case keys.Back, keys.MoveLeft:
		return view.Ask{}, s.out() || id == keys.MoveLeft
	}
	m := s.model(e)
	if len(m.all) == 0 {
		return view.Ask{}, false
	}
	if s.move(m, id) {
		return view.Ask{}, true
	}
	switch id {
	case keys.Drill, keys.MoveRight:
		return s.in(e, m), true
	case keys.Source:
		return s.toggle(m), true
	case keys.Metric:
		s.perHit = !s.perHit
		if s.perHit {
			return view.Ask{Say: "stall cycles per hit: no noise floor is known for them, so no verdict"}, true
		}
		return view.Ask{Say: "share of all stall cycles"}, true
	case keys.Sort:
		t := s.table()
		s.sort[t] = (s.sort[t] + 1) % len(orders()[t])
	case keys.SortFlip:
		s.flip[s.table()] = !s.flip[s.table()]
	case keys.SetBase:
		return s.setBase(e, m), true
	case keys.ClearBase:
		if s.base == "" {
			return view.Ask{Say: "there is no base: b on an older bundle picks one"}, true
		}
		s.base = ""
		return view.Ask{Say: "no base: the shares stand alone"}, true
	case keys.Write:
		return s.export(e, m), true
	case keys.PrevSection:
		s.neighbour(m, -1)
	case keys.NextSection:
		s.neighbour(m, 1)
	default:
		return view.Ask{}, false
	}
	return view.Ask{}, true
}

// nextPane moves the focus. Panes that stand inside another one at this width
// are stepped over.
func (s *Screen) nextPane(e *view.Env, forward bool) {
	by := 1
	if !forward {
		by = int(panes) - 1
	}
	s.focus = (s.focus + pane(by)) % panes
	if s.focus == bundles && s.selBundle == "" {
		if m := s.model(e); m.cand != nil {
			s.selBundle = m.cand.Path
		}
	}
}

// out goes one step out: the filter, the pane, the level. It reports whether
// there was one.
func (s *Screen) out() bool {
	switch {
	case s.Filter() != "":
		s.filter[s.table()] = ""
	case s.focus != drill:
		s.focus = drill
	case s.level == waits:
		s.level = insts
	case s.level == insts && !s.every:
		s.level = lines
	case s.level > classes:
		s.level = classes
	default:
		return false
	}
	return true
}

// in goes one step in; in the list of bundles it takes the selected one as the
// candidate.
func (s *Screen) in(e *view.Env, m *model) view.Ask {
	if s.focus == bundles {
		if i := s.bundleAt(m); i >= 0 {
			return s.take(e, m.bundles[i].Path)
		}
		return view.Ask{}
	}
	if s.focus != drill {
		return view.Ask{}
	}
	if m.cand != nil && m.cand.a == nil {
		return s.open(e, m.cand.Path)
	}
	// From here on a newer capture may not slip under what is looked at.
	if m.cand != nil {
		s.cand = m.cand.Path
	}
	s.scroll[detail] = 0
	switch s.level {
	case classes:
		if i := s.classAt(m); i >= 0 {
			s.class, s.selClass = m.classes[i].Class, m.classes[i].Class
			s.source, s.selSource, s.inst, s.selInst = "", none, 0, 0
			s.every = s.isa
			s.toLevel(lines)
			if s.isa {
				s.toLevel(insts)
			}
		}
	case lines:
		if i := s.lineAt(m); i >= 0 {
			s.source, s.selSource, s.every, s.selInst = m.lines[i].Source, m.lines[i].Source, false, 0
			s.toLevel(insts)
		}
	case insts:
		if i := s.instAt(m); i >= 0 {
			s.inst, s.selInst, s.selProd = m.insts[i].CodeLine, m.insts[i].CodeLine, 0
			s.toLevel(waits)
		}
	case waits:
		return view.Ask{Say: "this is the innermost level: esc goes back"}
	}
	return view.Ask{}
}

func (s *Screen) toLevel(l level) {
	s.level = l
	s.filter[s.table()] = ""
}

// toggle switches between source lines and instructions.
func (s *Screen) toggle(m *model) view.Ask {
	s.isa = !s.isa
	switch s.level {
	case classes:
		if s.isa {
			return view.Ask{Say: "enter lists instructions"}
		}
		return view.Ask{Say: "enter lists source lines"}
	case lines:
		if i := s.lineAt(m); i >= 0 {
			s.selSource = m.lines[i].Source
			if hot := m.facts.instsAt(s.class, s.selSource); len(hot) > 0 {
				s.selInst = hot[0].CodeLine
			}
		}
		s.level, s.every, s.isa = insts, true, true
	case insts:
		if i := s.instAt(m); i >= 0 {
			s.selInst, s.selSource = m.insts[i].CodeLine, m.insts[i].Source
		}
		if s.every {
			s.level, s.every, s.isa = lines, false, false
		} else {
			s.every, s.isa = true, true
		}
	}
	return view.Ask{}
}

// setBase takes the selected bundle as the base. Outside the list of bundles it
// only goes there, so that nobody sets a base unseen.
func (s *Screen) setBase(e *view.Env, m *model) view.Ask {
	if s.focus != bundles {
		if len(m.all) < 2 {
			return view.Ask{Say: "the only bundle: nothing to compare with"}
		}
		s.focus, s.filter[tBundles] = bundles, ""
		s.selBundle = m.natural()
		return view.Ask{Say: "pick the base: b takes it, enter takes a candidate, esc leaves"}
	}
	i := s.bundleAt(m)
	if i < 0 {
		return view.Ask{}
	}
	path := m.bundles[i].Path
	if m.cand != nil && path == m.cand.Path {
		return view.Ask{Say: "that bundle is the candidate: pick another, or take another candidate with enter"}
	}
	s.base, s.focus = path, drill
	if s.cand == "" && m.cand != nil {
		s.cand = m.cand.Path
	}
	return s.open(e, path)
}

var _ view.Screen = (*Screen)(nil)
