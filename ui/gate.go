package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"kdapilot/engine/gate"
	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	viewgate "kdapilot/ui/view/gate"
)

// gateOverlay is an open gate: it owns all keys, hands them to the state machine
// of engine/gate, and shows what that says.
type gateOverlay struct {
	id      gate.ID
	request int // of the action under way; 0: none
	facts   *gate.Facts
	open    *gate.Session
	failed  string
	sealing bool
	top     int
}

// readScreen is the plan screen: it knows what has been read of the plan with
// these bytes.
type readScreen interface {
	SeenOf(sha256 string) map[string]bool
}

func (m *Model) seenOf(sha256 string) map[string]bool {
	for _, t := range m.tabs {
		if r, ok := t.screen.(readScreen); ok {
			return r.SeenOf(sha256)
		}
	}
	return nil
}

// openGate asks for fresh facts; the gate shows when they are there.
func (m *Model) openGate(id keys.ID) tea.Cmd {
	if id == keys.OpenG1 {
		return m.startGate(gate.G1)
	}
	// The panes the command could go to are asked for now, to be there later.
	return tea.Batch(m.startGate(gate.G2), m.do(session.ListPanes{}))
}

func (m *Model) startGate(id gate.ID) tea.Cmd {
	cmd := m.do(session.OpenGate{Gate: id})
	m.overlay = &gateOverlay{id: id, request: m.reqID}
	return cmd
}

type gateQuiet struct{}

// quietTick draws the gate again when keys begin to count.
func quietTick() tea.Cmd {
	return tea.Tick(gate.Quiet+10*time.Millisecond, func(time.Time) tea.Msg { return gateQuiet{} })
}

func (g *gateOverlay) message(*Model, tea.Msg) tea.Cmd { return nil }

func (g *gateOverlay) paste(m *Model, _ string) tea.Cmd {
	if g.open == nil {
		return nil
	}
	g.open.Paste(m.cfg.Now())
	return tea.Batch(m.noteRefusals(g), quietTick())
}

// noteRefusals writes refusals down and says the last one on screen: a person
// whose link hands over several keys at once has to know why nothing stands
// there. Why a gate is shut or void is said by the gate itself.
func (m *Model) noteRefusals(g *gateOverlay) tea.Cmd {
	list := g.open.TakeRefusals()
	if len(list) == 0 {
		return nil
	}
	if p := g.open.Phase(); p == gate.Settling || p == gate.Armed {
		g.failed = "not taken: " + list[len(list)-1].Why + "; wait a moment, then type it again"
	}
	return m.do(session.NoteRefusals{List: list})
}

func (g *gateOverlay) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	now := m.cfg.Now()
	a, ok := m.cfg.Keys.Match(keys.Gate, k.String())
	switch {
	case ok && a.ID == keys.ForceQuit:
		return tea.Quit
	case ok && a.ID == keys.GateCancel:
		if g.sealing {
			return nil // the seal is being written: its answer decides
		}
		m.overlay = nil
		m.say = message{text: "left " + g.id.Title() + ": nothing approved"}
		return nil
	case ok && a.ID == keys.GateUp:
		g.top = max(g.top-3, 0)
	case ok && a.ID == keys.GateDown:
		g.top += 3
	}
	if g.open == nil || g.sealing {
		return nil
	}
	switch {
	case ok && a.ID == keys.GateConfirm:
		g.open.Other(now)
		if g.open.Matches() {
			return g.seal(m)
		}
		return quietTick()
	case k.String() == "backspace":
		g.open.Backspace(now)
	case k.Text != "":
		if g.open.Key(k.Text, now); g.open.Typed() != "" {
			g.failed = ""
		}
	default:
		g.open.Other(now)
	}
	return tea.Batch(m.noteRefusals(g), quietTick())
}

// seal commits the decision; the state machine is the action's until it
// answers.
func (g *gateOverlay) seal(m *Model) tea.Cmd {
	g.sealing = true
	cmd := m.do(session.SealGate{Session: g.open, Seen: m.seenOf(g.open.Would.Plan.SHA256), SeenOf: g.open.Would.Plan.SHA256})
	g.request = m.reqID
	return cmd
}

// overlayChanged shows a gate that is open what just changed.
func (m *Model) overlayChanged() tea.Cmd {
	g, ok := m.overlay.(*gateOverlay)
	if !ok || g.open == nil || g.sealing || m.snap.Gates.Facts == nil {
		return nil
	}
	m.rev++
	sha := m.snap.Gates.Facts.Plan.SHA256
	f := m.snap.Gates.FactsWith(m.seenOf(sha), sha)
	g.open.See(f)
	return m.noteRefusals(g)
}

// overlayReply takes the answer a gate waits for.
func (m *Model) overlayReply(r replied) tea.Cmd {
	g, ok := m.overlay.(*gateOverlay)
	if !ok || r.id != g.request {
		return nil
	}
	g.request = 0
	switch {
	case r.err != nil:
		g.sealing = false
		g.failed = r.err.Error()
		return nil
	case g.open == nil && r.reply.Gate != nil:
		f := *r.reply.Gate
		f.Seen, f.SeenOf = m.seenOf(f.Plan.SHA256), f.Plan.SHA256
		g.facts = &f
		g.open = gate.OpenSession(g.id, &f, m.cfg.Now())
		return quietTick()
	case r.reply.Seal != nil:
		m.overlay = nil
		if g.id == gate.G2 {
			m.overlay = newPrompt(deliverPrompt(m.snap, strings.Join(r.reply.Seal.Argv, " ")))
		}
	}
	return nil
}

func (g *gateOverlay) draw(m *Model, base []string, w, h int) []string {
	v := viewgate.Screen{
		ID: g.id, Facts: g.facts, Session: g.open, Failed: g.failed, Sealing: g.sealing, Top: g.top,
		PlanNow: m.snap.Plan.Text, Now: m.cfg.Now(),
	}
	lines, top := v.Draw(m.env(), w, h)
	g.top = top
	return overlayAt(base, lines, w, h)
}
