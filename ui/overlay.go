package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// overlay owns all keys while it is there. key may take itself away by setting
// m.overlay.
type overlay interface {
	draw(m *Model, base []string, w, h int) []string
	key(m *Model, k tea.KeyPressMsg) tea.Cmd
	// paste gets bracketed paste; an overlay that takes no text ignores it.
	paste(m *Model, text string) tea.Cmd
	// message gets what the model itself has no use for, timers above all.
	message(m *Model, msg tea.Msg) tea.Cmd
}

// plainOverlay is for overlays that take no paste and no messages.
type plainOverlay struct{}

func (plainOverlay) paste(*Model, string) tea.Cmd    { return nil }
func (plainOverlay) message(*Model, tea.Msg) tea.Cmd { return nil }

func (m *Model) paste(text string) tea.Cmd {
	if m.overlay == nil {
		m.say = message{text: "pasted text is ignored here", bad: true}
		return nil
	}
	return m.overlay.paste(m, text)
}

// overlayRoom is the size of an overlay's box: the whole width where it is
// narrow, a calm middle where it is wide.
func overlayRoom(w, h, wantW, wantH int) (int, int) {
	if w <= 80 {
		return w, min(h, wantH)
	}
	return min(w-4, wantW), min(h-2, wantH)
}

// confirm is a question that wants a word typed; enter does nothing until it
// matches, and keys count only after a quiet moment.
type confirm struct {
	plainOverlay
	q      view.Confirm
	typed  string
	opened time.Time
	last   time.Time
	armed  bool
}

// confirmQuiet is how long input has to be quiet before a question takes keys,
// so that keys still in flight from the screen below do not answer it.
const confirmQuiet = 425 * time.Millisecond

func newConfirm(q view.Confirm, now time.Time) *confirm {
	return &confirm{q: q, opened: now, last: now}
}

func (c *confirm) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	now := m.cfg.Now()
	quiet := now.Sub(c.last) >= confirmQuiet
	c.last = now
	a, ok := m.cfg.Keys.Match(keys.Confirm, k.String())
	switch {
	case ok && a.ID == keys.ForceQuit:
		return tea.Quit
	case ok && a.ID == keys.ConfirmCancel:
		m.overlay = nil
		return nil
	}
	if !c.armed {
		if !quiet {
			return nil
		}
		c.armed = true
	}
	switch {
	case ok && a.ID == keys.ConfirmAccept:
		if c.typed != c.q.Word {
			return nil
		}
		m.overlay = nil
		return m.ask(view.Ask{Do: c.q.Do})
	case k.String() == "backspace":
		if n := len(c.typed); n > 0 {
			c.typed = c.typed[:n-1]
		}
	case k.Text != "" && len(c.typed) < 64:
		c.typed += k.Text
	}
	return nil
}

func (c *confirm) draw(m *Model, base []string, w, h int) []string {
	look := m.cfg.Look
	boxW, _ := overlayRoom(w, h, 72, h)
	innerW, _ := draw.InnerSize(boxW, h)
	var lines []string
	for _, l := range c.q.Lines {
		lines = append(lines, draw.Wrap(l, innerW)...)
	}
	lines = append(lines, "",
		draw.Fit("type "+look.Strong.Paint(c.q.Word)+" and press enter; esc leaves it", innerW),
		draw.Fit("> "+c.typed+look.Select.Paint(" "), innerW))
	boxH := min(len(lines)+2, h)
	return draw.OverlayCenter(base, draw.Box(c.q.Title, lines, boxW, boxH, true, look))
}

// help shows the keys of the screen below.
type help struct {
	plainOverlay
	sections []keys.Section
	title    string
	top      int
}

func newHelp(m *Model) *help {
	return &help{sections: m.cfg.Keys.HelpFor(m.tabs[m.active].context), title: "keys: " + m.tabs[m.active].title}
}

func (o *help) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	a, ok := m.cfg.Keys.Match(keys.Help, k.String())
	if !ok {
		return nil
	}
	switch a.ID {
	case keys.HelpClose:
		m.overlay = nil
	case keys.HelpUp:
		o.top = max(o.top-3, 0)
	case keys.HelpDown:
		o.top += 3
	case keys.ForceQuit:
		return tea.Quit
	}
	return nil
}

func (o *help) draw(m *Model, base []string, w, h int) []string {
	look := m.cfg.Look
	boxW, boxH := overlayRoom(w, h, 96, h)
	innerW, innerH := draw.InnerSize(boxW, boxH)
	var lines []string
	for _, s := range o.sections {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, look.Heading.Paint(s.Title))
		pairs := make([]draw.Pair, len(s.Hints))
		for i, h := range s.Hints {
			pairs[i] = draw.Pair{Label: h.Keys, Value: h.Text}
		}
		lines = append(lines, draw.KVs(pairs, innerW, look)...)
	}
	o.top = max(min(o.top, len(lines)-innerH), 0)
	note := draw.Position(o.top, min(innerH, len(lines)), len(lines))
	return draw.OverlayCenter(base, draw.BoxNote(o.title, note, lines[o.top:], boxW, boxH, true, look))
}

// first is the first line of a text.
func first(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
