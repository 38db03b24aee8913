// Package gate draws an open gate: what the decision binds, what must hold, what
// changed meanwhile, and the phrase to type.
//
// What may not enter: the decision. The state machine is engine/gate's; this
// room shows it.
package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kdapilot/engine/gate"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// Screen is what one drawing of a gate needs.
type Screen struct {
	ID gate.ID
	// Facts and Session are nil while fresh facts are read.
	Facts   *gate.Facts
	Session *gate.Session
	// Failed says why the gate did not open, or why the seal was refused.
	Failed  string
	Sealing bool
	// Top is the first visible line of the body.
	Top int
	// PlanNow is the plan's text as it is on disk now.
	PlanNow string
	Now     time.Time
}

// Draw gives the box, and Top corrected to what fits.
func (s Screen) Draw(e *view.Env, w, h int) ([]string, int) {
	boxW, most, edges := min(w, 110), h, 2
	if w > 84 {
		boxW, most = min(w-4, 110), h-2
	}
	innerW, _ := draw.InnerSize(boxW, most)
	if boxW <= term.NarrowMax {
		innerW, edges = boxW, 1
	}
	foot := s.foot(e, innerW)
	body := s.body(e, innerW)
	boxH := min(most, len(body)+len(foot)+edges)
	innerH := boxH - edges
	room := max(innerH-len(foot), 1)
	top := max(min(s.Top, len(body)-room), 0)
	lines := draw.Block(body[top:], innerW, room)
	lines = append(lines, foot...)
	title := s.ID.Title()
	if e.Snap.Simulated {
		title = "SIMULATED " + title
	}
	note := draw.Position(top, min(room, len(body)), len(body))
	if boxW <= term.NarrowMax {
		return draw.Panel(title, lines, boxW, boxH, true, e.Look), top
	}
	return draw.BoxNote(title, note, lines, boxW, boxH, true, e.Look), top
}

// body is everything above the phrase.
func (s Screen) body(e *view.Env, w int) []string {
	look := e.Look
	if s.Session == nil {
		if s.Failed != "" {
			return wrap(look.Bad, s.Failed, w)
		}
		return wrap(look.Dim, "reading plan, base, tree and seals anew ...", w)
	}
	var out []string
	if s.Session.Phase() == gate.Voided {
		out = append(out, s.voided(e, w)...)
	}
	out = append(out, wrap(look.Text, s.sentence(), w)...)
	if s.ID == gate.G2 {
		// What is about to be run is read before anything else.
		out = append(out, "")
		out = append(out, draw.KVs([]draw.Pair{
			{Label: "command", Value: strings.Join(s.Session.Would.Argv, " ")},
			{Label: "in", Value: e.Snap.Root},
		}, w, look)...)
	}
	out = append(out, "", look.Heading.Paint(draw.Fit("what must hold", w)))
	for _, p := range closedFirst(s.Session.Pre) {
		out = append(out, precondition(p, look, w)...)
	}
	out = append(out, "", look.Heading.Paint(draw.Fit("what the seal binds", w)))
	out = append(out, s.bound(e, w)...)
	out = append(out, "")
	return append(out, wrap(look.Dim, "A process of your own user can forge files; the seal shows what you saw, it can not stop that.", w)...)
}

// sentence says in one sentence what typing the phrase does.
func (s Screen) sentence() string {
	if s.ID == gate.G1 {
		return "You approve the plan as it was on screen. The loop may then be started on it; any changed byte of plan, draft, judges or base makes this void."
	}
	return "You seal the start of the loop on " + s.Session.Would.BaseBranch + ". Nothing is sent yet: you then pick where the command goes."
}

// closedFirst puts what keeps the gate shut at the top, else keeps the order.
func closedFirst(pre []gate.Precondition) []gate.Precondition {
	out := slices.Clone(pre)
	slices.SortStableFunc(out, func(a, b gate.Precondition) int { return rank(a.State) - rank(b.State) })
	return out
}

func rank(s gate.State) int {
	switch {
	case s.Closes():
		return 0
	case s == gate.Green:
		return 2
	default:
		return 1
	}
}

func precondition(p gate.Precondition, look style.Look, w int) []string {
	if p.State == gate.Green {
		return []string{holds(p, look, w)}
	}
	mark, paint := look.Cross+" ", look.Bad
	switch p.State {
	case gate.Unknown:
		mark = "? "
	case gate.Waived:
		mark, paint = "w ", look.Warn
	case gate.NotRun:
		mark, paint = "- ", look.Warn
	}
	out := []string{draw.Fit(paint.Paint(mark+string(p.State))+"  "+p.Title, w)}
	const most = 12
	for i, ev := range p.Evidence {
		if i == most {
			out = append(out, look.Dim.Paint(draw.Fit(fmt.Sprintf("    and %d more", len(p.Evidence)-most), w)))
			break
		}
		for _, l := range draw.Wrap(ev, max(w-4, 4)) {
			out = append(out, draw.Fit("    "+l, w))
		}
	}
	if p.Waiver != nil {
		out = append(out, wrap(look.Warn, "    waived by "+p.Waiver.Who+": "+p.Waiver.Why, w)...)
	}
	if p.Clears != "" && p.State.Closes() {
		for _, l := range draw.Wrap("clears: "+p.Clears, max(w-4, 4)) {
			out = append(out, draw.Fit("    "+look.Info.Paint(l), w))
		}
	}
	return out
}

// holds is a green precondition on one line, with what was seen where there is
// room.
func holds(p gate.Precondition, look style.Look, w int) string {
	line := look.Good.Paint(look.Check) + " " + p.Title
	if room := w - draw.Width(line) - 2; room >= 12 && len(p.Evidence) > 0 {
		ev := p.Evidence[0]
		if n := len(p.Evidence); n > 1 {
			ev = fmt.Sprintf("%s, and %d more", ev, n-1)
		}
		line += "  " + look.Dim.Paint(draw.FitMiddle(ev, min(room, draw.Width(ev))))
	}
	return draw.Fit(line, w)
}

// bound lists what the seal binds; gate 2 shows the whole start command.
func (s Screen) bound(e *view.Env, w int) []string {
	look := e.Look
	would := s.Session.Would
	pairs := []draw.Pair{
		{Label: "seal", Value: would.ID[:min(16, len(would.ID))]},
		{Label: "plan", Value: would.Plan.Path + "  " + short(would.Plan.SHA256)},
		{Label: "draft", Value: would.Draft.Path + "  " + short(would.Draft.SHA256)},
	}
	for _, j := range would.Judges {
		pairs = append(pairs, draw.Pair{Label: "judge", Value: j.Path + "  " + short(j.SHA256)})
	}
	pairs = append(pairs, draw.Pair{Label: "base", Value: would.BaseBranch + " @ " + short(would.BaseCommit)})
	if s.ID == gate.G2 {
		pairs = append(pairs,
			draw.Pair{Label: "HEAD", Value: would.Branch + " @ " + short(would.Head)},
			draw.Pair{Label: "gate 1", Value: short(would.G1)},
			draw.Pair{Label: "preflight", Value: would.Preflight},
			draw.Pair{Label: "Humanize", Value: orNone(would.Humanize)})
	}
	return draw.KVs(pairs, w, look)
}

// voided says what moved while the gate was open; for the plan, line by line.
func (s Screen) voided(e *view.Env, w int) []string {
	look := e.Look
	out := wrap(look.Bad, "VOID: something changed while this gate was open. Leave (esc) and look again.", w)
	for _, c := range s.Session.Changed {
		out = append(out, wrap(look.Bad, look.Cross+" "+c.String(), w)...)
		if c.What == "plan" && s.Facts != nil {
			out = append(out, draw.DiffLines(draw.Diff(s.Facts.PlanText, s.PlanNow, 2), w, look)...)
		}
	}
	return append(out, "")
}

// foot is the phrase and the line it is typed on.
func (s Screen) foot(e *view.Env, w int) []string {
	look := e.Look
	rule := draw.Rule(w, look)
	leave := look.Dim.Paint(draw.Fit("esc leaves, nothing approved; up and down scroll", w))
	switch {
	case s.Session == nil:
		return []string{rule, leave}
	case s.Sealing:
		return []string{rule, draw.Fit("reading everything once more ...", w), leave}
	}
	var say string
	switch s.Session.Phase() {
	case gate.Shut:
		_, why := gate.Open(s.Session.Pre)
		say = look.Bad.Paint("shut: ") + why
	case gate.Voided:
		say = look.Bad.Paint("void: nothing can be typed")
	default:
		say = "type  " + look.Strong.Paint(s.Session.Would.Phrase()) + "  then enter"
		if !s.Session.Counts(s.Now) {
			say = look.Dim.Paint("wait: keys count after a quiet moment")
		}
	}
	out := []string{rule}
	if s.Failed != "" {
		out = append(out, wrap(look.Bad, s.Failed, w)...)
	}
	out = append(out, draw.Fit(say, w))
	if p := s.Session.Phase(); p != gate.Shut && p != gate.Voided {
		out = append(out, draw.Fit("> "+s.Session.Typed()+look.Select.Paint(" "), w))
	}
	return append(out, leave)
}

func wrap(t style.Token, text string, w int) []string {
	lines := draw.Wrap(text, w)
	for i := range lines {
		lines[i] = t.Paint(lines[i])
	}
	return lines
}

func short(sha string) string {
	if sha == "" {
		return "none"
	}
	return sha[:min(12, len(sha))]
}

func orNone(s string) string {
	if s == "" {
		return "version not known"
	}
	return s
}
