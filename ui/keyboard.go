package ui

import (
	tea "charm.land/bubbletea/v2"

	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// key routes a key press: to the overlay if there is one, else to the screen,
// else to the actions that work everywhere.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	if m.overlay != nil {
		return m.overlay.key(m, k)
	}
	m.say = message{}
	a, ok := m.match(k.String())
	if !ok {
		return nil
	}
	if a.Operate && !m.operate {
		m.say = message{text: m.whyNoOperate(a), bad: true}
		return nil
	}
	if ask, handled := m.screen().Act(m.env(), a.ID); handled {
		return m.ask(ask)
	}
	return m.global(a.ID)
}

// match looks a key up in the screen's context: a focused log first, then its
// screen, then everywhere.
func (m *Model) match(key string) (keys.Action, bool) {
	ctx := m.screen().Context()
	if ctx == keys.Log {
		for _, a := range m.cfg.Keys.Actions(keys.Log) {
			for _, k := range a.Keys {
				if k == keys.Normal(key) {
					return a, true
				}
			}
		}
		ctx = m.tabs[m.active].context
	}
	return m.cfg.Keys.Match(ctx, key)
}

func (m *Model) whyNoOperate(a keys.Action) string {
	if m.cfg.ReadOnly {
		return "this is a copied folder, read-only: " + a.Short + " is not available"
	}
	return a.Short + " needs operate mode: press o first"
}

// global does the actions that mean the same on every screen.
func (m *Model) global(id keys.ID) tea.Cmd {
	for _, t := range m.tabs {
		if t.id == id {
			return m.goTo(id, "")
		}
	}
	switch id {
	case keys.Quit, keys.ForceQuit:
		return tea.Quit
	case keys.Suspend:
		return tea.Suspend
	case keys.Redraw:
		return tea.ClearScreen
	case keys.Rescan:
		return m.rescan()
	case keys.ShowHelp:
		m.overlay = newHelp(m)
	case keys.Palette:
		m.overlay = newPalette(m)
	case keys.Filter:
		m.overlay = newFilter(m)
	case keys.Operate:
		m.toggleOperate()
	case keys.Zoom:
		m.zoom = !m.zoom
	case keys.Back:
		m.goBack()
	case keys.Copy:
		return m.copySelected()
	case keys.CopyPane:
		return m.copy(m.plainBody())
	case keys.Write:
		return m.writePane()
	case keys.OpenG1, keys.OpenG2:
		return m.openGate(id)
	case keys.Run:
		if m.tabs[m.active].id != keys.GoRuns { // runs are started where they show
			return m.ask(view.Ask{Go: keys.GoRuns, Act: keys.Run})
		}
	}
	return nil
}

func (m *Model) toggleOperate() {
	switch {
	case m.cfg.ReadOnly:
		m.say = message{text: "this is a copied folder: it can only be read", bad: true}
	case m.operate:
		m.operate = false
		m.say = message{text: "read-only again"}
	default:
		m.operate = true
		m.say = message{text: "operate mode: gate and run keys are armed"}
	}
}

// goBack leaves zoom, then the filter, then the screen.
func (m *Model) goBack() {
	switch {
	case m.zoom:
		m.zoom = false
	case m.screen().Filter() != "":
		m.screen().SetFilter(m.env(), "")
	case len(m.back) > 0:
		m.active = m.back[len(m.back)-1]
		m.back = m.back[:len(m.back)-1]
	}
}

func (m *Model) copySelected() tea.Cmd {
	s := m.screen().Selected(m.env())
	if s == "" {
		m.say = message{text: "nothing is selected"}
		return nil
	}
	return m.copy(s)
}

// plainBody is the pane as it stands, without colour.
func (m *Model) plainBody() string {
	w, h := m.bodySize()
	return draw.Plain(m.screen().Render(m.env(), w, h))
}

// act lets the palette do what a key does.
func (m *Model) act(id keys.ID) tea.Cmd {
	a, ok := m.cfg.Keys.Action(id)
	if !ok {
		return nil
	}
	if a.Operate && !m.operate {
		m.say = message{text: m.whyNoOperate(a), bad: true}
		return nil
	}
	// An action of another screen goes there first.
	if ctx := m.tabs[m.active].context; !a.In(ctx) && !a.In(keys.Global) && !a.In(keys.Log) {
		for _, t := range m.tabs {
			if a.In(t.context) {
				m.goTo(t.id, "")
				break
			}
		}
	}
	if ask, handled := m.screen().Act(m.env(), id); handled {
		return m.ask(ask)
	}
	return m.global(id)
}
