package stalls

import (
	"kdapilot/engine/fact"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// Render implements view.Screen.
func (s *Screen) Render(e *view.Env, w, h int) []string {
	s.w, s.h = w, h
	m := s.model(e)
	if len(m.all) == 0 {
		return draw.Block(draw.Wrap(empty(e), w), w, h)
	}
	var out []string
	switch c := term.ClassOf(w, h); {
	case h < 8:
		out = append(s.head(e, m, w, 1, 2), s.content(e, m, s.focus, w, h-1)...)
	case c == term.FourPanes && h >= 16:
		out = s.wide(e, m, w, h)
	case c == term.FourPanes, c == term.TwoPanes:
		out = s.stacked(e, m, w, h)
	default:
		out = s.single(e, m, w, h)
	}
	return draw.Block(out, w, h)
}

// empty says why there is no bundle: nobody looked, it can not be read, or
// there is none, and then what to do.
func empty(e *view.Env) string {
	o := e.Snap.BundlesStatus
	switch o.Status {
	case fact.NotRead:
		return "Bundles: not read yet."
	case fact.Unreadable, fact.Torn:
		return "Bundles can not be looked for: " + o.Why
	}
	s := "None: no flyprof bundle and no decoded trace in this folder.\n\n"
	if e.Snap.Mode != session.Offline {
		s = "None: no flyprof bundle and no decoded trace below profile/, runs/ or .humanize/kdapilot/bundles/.\n\nPress o, then r and run the flyprof preset. "
	}
	s += "A trace elsewhere: kdapilot show stalls PATH, or kdapilot review PATH for this screen."
	if o.Why != "" {
		s += "\n\n" + o.Why
	}
	return s
}

// wide is bundles and trust on the left, the drill on the right with the
// selected one below it; 160 columns and more have room for the hypotheses
// beside that.
func (s *Screen) wide(e *view.Env, m *model, w, h int) []string {
	left := min(max(w*3/10, 45), 60)
	bundlesH := min(len(m.bundles)+4, h/3)
	if s.focus == bundles {
		bundlesH = min(len(m.bundles)+10, h/2)
	}
	side := draw.JoinV(s.box(e, m, bundles, left, bundlesH), s.box(e, m, about, left, h-bundlesH))
	right := w - left
	head := s.head(e, m, right-1, max(h/4, 5), h/2)
	for i := range head {
		head[i] = " " + head[i]
	}
	rest := h - len(head)
	top, bottom := s.share(e, m, right-2, rest, 2)
	main := append(head, s.box(e, m, drill, right, top)...)
	switch {
	case bottom == 0:
	case w >= 160:
		half := right / 2
		main = append(main, draw.JoinH(s.box(e, m, detail, right-half, bottom), s.box(e, m, hypotheses, half, bottom))...)
	case s.focus == hypotheses:
		main = append(main, s.box(e, m, hypotheses, right, bottom)...)
	default:
		main = append(main, s.box(e, m, detail, right, bottom)...)
	}
	return draw.JoinH(side, main)
}

// stacked is the drill with one other pane below it; a list of bundles or a
// long text gets the room alone where there is little.
func (s *Screen) stacked(e *view.Env, m *model, w, h int) []string {
	head := s.head(e, m, w, max(h*2/5, 3), h*3/5)
	rest := h - len(head)
	below := s.focus
	if below == drill {
		below = detail
	}
	if below != detail && rest < 24 {
		return append(head, s.panel(e, m, below, w, rest)...)
	}
	top, bottom := s.share(e, m, w, rest, 1)
	out := append(head, s.panel(e, m, drill, w, top)...)
	if bottom > 0 {
		out = append(out, s.panel(e, m, below, w, bottom)...)
	}
	return out
}

// single is one pane below the head.
func (s *Screen) single(e *view.Env, m *model, w, h int) []string {
	room := max(h*2/5, 3)
	if s.focus == drill { // a short list leaves more room
		room = max(room, min(h-s.rows(m)-3, h*3/5))
	}
	head := s.head(e, m, w, room, h*3/5)
	return append(head, s.panel(e, m, s.focus, w, h-len(head))...)
}

// share splits h lines between the drill and what is below it: the list gets
// what it needs as long as the other keeps its part.
func (s *Screen) share(e *view.Env, m *model, w, h, edge int) (top, bottom int) {
	need := s.rows(m) + 2 + edge
	least := min(len(s.text(e, m, detail, w))+edge, h*2/5)
	if s.focus != drill && s.focus != detail {
		least = h * 2 / 5
	}
	top = max(min(need, h-least), min(6, h))
	if bottom = h - top; h < 10 || bottom < 2+edge {
		return h, 0
	}
	return top, bottom
}

func (s *Screen) rows(m *model) int {
	if m.cand == nil || m.cand.a == nil {
		return 1
	}
	return [...]int{len(m.classes), len(m.lines), len(m.insts), len(m.prods)}[s.level]
}

func (s *Screen) box(e *view.Env, m *model, p pane, w, h int) []string {
	iw, ih := draw.InnerSize(w, h)
	body := s.content(e, m, p, iw, ih)
	return draw.Box(s.title(e, m, p, iw, ih), body, w, h, s.focus == p, e.Look)
}

func (s *Screen) panel(e *view.Env, m *model, p pane, w, h int) []string {
	body := s.content(e, m, p, w, h-1)
	return draw.Panel(s.title(e, m, p, w, h-1), body, w, h, s.focus == p, e.Look)
}

// content is the inside of a pane in w by h cells.
func (s *Screen) content(e *view.Env, m *model, p pane, w, h int) []string {
	h = max(h, 0)
	switch p {
	case bundles:
		return s.bundleTable(e, m, w, h)
	case drill:
		if m.cand == nil || m.cand.a == nil {
			why := "nothing to show"
			if m.cand != nil {
				why = m.cand.why()
			}
			return draw.Block(draw.Wrap(why, w), w, h)
		}
		return [...]func(*view.Env, *model, int, int) []string{s.classTable, s.lineTable, s.instTable, s.waitTable}[s.level](e, m, w, h)
	}
	text := s.text(e, m, p, w)
	s.page[p] = max(h, 1)
	s.scroll[p] = min(s.scroll[p], max(len(text)-h, 0))
	return draw.Block(text[min(s.scroll[p], len(text)):], w, h)
}

// text is a pane that can be scrolled, whole.
func (s *Screen) text(e *view.Env, m *model, p pane, w int) []string {
	switch p {
	case detail:
		return s.detail(e, m, w)
	case hypotheses:
		return hypothesisLines(e, m, w)
	default:
		return aboutText(e, m, w)
	}
}

func (s *Screen) title(e *view.Env, m *model, p pane, w, h int) string {
	switch p {
	case bundles:
		if o := e.Snap.BundlesStatus; o.Why != "" {
			return "bundles: " + o.Why
		}
		return "bundles"
	case drill:
		return s.drillTitle(m, w, e.Look)
	}
	name := [...]string{detail: "selected", hypotheses: "hypotheses, not facts", about: "how far it carries"}[p]
	if n := len(s.text(e, m, p, w)); n > h && h > 0 {
		name += " " + draw.Position(s.scroll[p], h, n)
	}
	return name
}

func (s *Screen) drillTitle(m *model, w int, look style.Look) string {
	switch s.level {
	case lines:
		return "source lines that stall in " + string(s.class)
	case insts:
		if s.every {
			return string(s.class) + " instructions"
		}
		return string(s.class) + " instructions of this line"
	case waits:
		return "what it waits for"
	}
	if s.perHit {
		return "classes: cycles per hit  (* bubble)"
	}
	if w >= 56 && m.delta != nil && m.delta.Comparable {
		return "classes: share of stall  (* bubble, " + look.Shade + " gone, " + look.Grown + " new)"
	}
	return "classes: share of stall  (* bubble)"
}
