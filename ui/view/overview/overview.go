// Package overview is the first screen: where the loop is and who has the ball,
// what needs a person, which stall the kernel waits in, and what the last
// numbers say.
//
// What may not enter: drilling down. Enter goes to the screen that can.
package overview

import (
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// pane is one box of the overview.
type pane struct {
	title string
	goTo  keys.ID
	lines func(e *view.Env, w, h int) []string
	// rows is how many lines the pane wants at width w.
	share int
}

// Screen is the overview.
type Screen struct {
	focus  int
	top    int
	filter string
}

// New returns the overview.
func New() *Screen { return &Screen{} }

func panes() []pane {
	return []pane{
		{"loop", keys.GoRounds, loopLines, 5},
		{"attention", keys.GoRounds, attentionLines, 4},
		{"stalls", keys.GoStalls, stallLines, 4},
		{"bench", keys.GoBench, benchLines, 3},
	}
}

// Context implements view.Screen.
func (s *Screen) Context() keys.Context { return keys.Overview }

// Filter implements view.Screen.
func (s *Screen) Filter() string { return s.filter }

// SetFilter implements view.Screen: it narrows the attention list.
func (s *Screen) SetFilter(_ *view.Env, text string) { s.filter, s.top = text, 0 }

// Show implements view.Screen.
func (s *Screen) Show(*view.Env, string) view.Ask { return view.Ask{} }

// Selected implements view.Screen: the first thing that needs a person.
func (s *Screen) Selected(e *view.Env) string {
	list := s.notices(e)
	if len(list) == 0 {
		return ""
	}
	i := min(s.top, len(list)-1)
	return list[i].Text
}

// Act implements view.Screen.
func (s *Screen) Act(e *view.Env, id keys.ID) (view.Ask, bool) {
	n := len(panes())
	switch id {
	case keys.NextPane:
		s.focus = (s.focus + 1) % n
	case keys.PrevPane:
		s.focus = (s.focus + n - 1) % n
	case keys.Down:
		s.top = min(s.top+1, max(len(s.notices(e))-1, 0))
	case keys.Up:
		s.top = max(s.top-1, 0)
	case keys.Top:
		s.top = 0
	case keys.Drill:
		return s.drill(e), true
	default:
		return view.Ask{}, false
	}
	return view.Ask{}, true
}

// drill goes to the screen of the focused pane; from the attention list, to
// the screen the selected notice belongs to.
func (s *Screen) drill(e *view.Env) view.Ask {
	p := panes()[s.focus]
	if p.title == "attention" {
		if list := s.notices(e); len(list) > 0 {
			return view.Ask{Go: screenOf(list[min(s.top, len(list)-1)].Area)}
		}
		if step := e.Snap.Next(); step.Text != "" && step.Area != "gate" {
			return view.Ask{Go: screenOf(step.Area)}
		}
		return view.Ask{Say: "nothing needs you"}
	}
	return view.Ask{Go: p.goTo}
}

func screenOf(area string) keys.ID {
	switch area {
	case "plan":
		return keys.GoPlan
	case "gate":
		return keys.OpenG2
	case "setup":
		return keys.GoSetup
	case "stalls":
		return keys.GoStalls
	case "bench":
		return keys.GoBench
	case "runs":
		return keys.GoRuns
	default:
		return keys.GoRounds
	}
}

// Render implements view.Screen.
func (s *Screen) Render(e *view.Env, w, h int) []string {
	all := panes()
	all[1].lines = s.attention
	switch term.ClassOf(w, h) {
	case term.FourPanes:
		left, right := w*11/20, w-w*11/20
		return draw.JoinH(
			s.column(e, all, []int{0, 2}, left, h),
			s.column(e, all, []int{1, 3}, right, h))
	case term.TwoPanes:
		half := w / 2
		return draw.JoinH(
			s.column(e, all, []int{0, 2}, half, h),
			s.column(e, all, []int{1, 3}, w-half, h))
	default:
		return s.stack(e, all, w, h)
	}
}

// column stacks boxes by their share of the height.
func (s *Screen) column(e *view.Env, all []pane, which []int, w, h int) []string {
	total := 0
	for _, i := range which {
		total += all[i].share
	}
	var parts [][]string
	left := h
	for k, i := range which {
		ph := h * all[i].share / total
		if k == len(which)-1 {
			ph = left
		} else {
			// A pane with little to say leaves its room to the one below.
			iw, ih := draw.InnerSize(w, ph)
			ph = min(ph, max(len(trimBlank(all[i].lines(e, iw, ih)))+2, 5))
		}
		left -= ph
		iw, ih := draw.InnerSize(w, ph)
		parts = append(parts, draw.Box(all[i].title, all[i].lines(e, iw, ih), w, ph, i == s.focus, e.Look))
	}
	return draw.JoinV(parts...)
}

// stack is for narrow screens: every pane as a title and its lines, without
// side borders, cut at the bottom. Each pane gets what it needs, the first ones
// first.
func (s *Screen) stack(e *view.Env, all []pane, w, h int) []string {
	order := []int{0, 1, 3, 2}
	var out []string
	for k, i := range order {
		room := h - len(out) - 1
		// Leave two lines for each pane still to come.
		room -= 3 * (len(order) - k - 1)
		if k == 0 {
			room = min(room, h*2/5) // the loop does not push what needs a person off the screen
		}
		room = max(room, 1)
		lines := trimBlank(all[i].lines(e, w, room))
		if len(lines) > room {
			lines = lines[:room]
		}
		out = append(out, draw.TitleRule(all[i].title, w, i == s.focus, e.Look))
		out = append(out, lines...)
	}
	return draw.Block(out, w, h)
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && len(draw.Plain(lines[len(lines)-1:])) <= 1 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// note is a dim sentence for what is not there.
func note(text string, w int, look style.Look) []string {
	var out []string
	for _, l := range draw.Wrap(text, w) {
		out = append(out, look.Dim.Paint(l))
	}
	return out
}
