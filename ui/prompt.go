package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"kdapilot/engine/text"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// prompt is a list to choose from with a line that narrows it, or a bare input
// line.
type prompt struct {
	q    view.Prompt
	text string
	sel  int
	live bool // a filter: the screen follows every key
}

func newPrompt(q view.Prompt) *prompt { return &prompt{q: q, text: q.Text} }

// newFilter is the prompt that sets the screen's filter as it is typed.
func newFilter(m *Model) *prompt {
	return &prompt{q: view.Prompt{Title: "filter", Text: m.screen().Filter()}, text: m.screen().Filter(), live: true}
}

// newPalette lists every action by its name.
func newPalette(m *Model) *prompt {
	var ids []keys.ID
	var entries []view.Entry
	for _, a := range m.cfg.Keys.All() {
		if onlyModal(a) || a.Long == "" {
			continue
		}
		note := ""
		if len(a.Keys) > 0 {
			note = keys.Show(a.Keys[0])
		}
		if a.Operate {
			note += "  operate"
		}
		ids = append(ids, a.ID)
		entries = append(entries, view.Entry{Label: a.Long, Note: note})
	}
	return newPrompt(view.Prompt{
		Title: "palette: an action, or `run COMMAND`", Entries: entries,
		Accept: func(e *view.Env, typed string, i int) view.Ask {
			if cmd, ok := strings.CutPrefix(strings.TrimSpace(typed), "run "); ok {
				return runCommand(e, cmd)
			}
			if i < 0 {
				return view.Ask{Say: "no such action: " + typed}
			}
			return view.Ask{Act: ids[i]}
		},
	})
}

func onlyModal(a keys.Action) bool {
	for _, c := range a.Contexts {
		if !c.Modal() {
			return false
		}
	}
	return true
}

func (p *prompt) message(*Model, tea.Msg) tea.Cmd { return nil }

// paste puts the first pasted line into the input line: typing is harmless
// here, nothing is started by it.
func (p *prompt) paste(m *Model, s string) tea.Cmd {
	p.edit(m, p.text+first(text.Clean(s)))
	return nil
}

func (p *prompt) edit(m *Model, s string) {
	p.text, p.sel = s, 0
	if p.live {
		m.screen().SetFilter(m.env(), s)
	}
}

func (p *prompt) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	a, ok := m.cfg.Keys.Match(keys.Prompt, k.String())
	if ok {
		return p.action(m, a.ID)
	}
	switch s := k.String(); {
	case s == "backspace":
		if r := []rune(p.text); len(r) > 0 {
			p.edit(m, string(r[:len(r)-1]))
		}
	case s == "ctrl+u":
		p.edit(m, "")
	case s == "ctrl+w":
		p.edit(m, strings.TrimRight(p.text[:strings.LastIndex(" "+strings.TrimRight(p.text, " "), " ")], " "))
	case k.Text != "":
		p.edit(m, p.text+text.Clean(k.Text))
	}
	return nil
}

func (p *prompt) action(m *Model, id keys.ID) tea.Cmd {
	hits := p.hits()
	switch id {
	case keys.ForceQuit:
		return tea.Quit
	case keys.PromptCancel:
		m.overlay = nil
		if p.live {
			m.screen().SetFilter(m.env(), p.q.Text)
		}
	case keys.PromptPrev:
		p.sel = max(p.sel-1, 0)
	case keys.PromptNext:
		p.sel = min(p.sel+1, max(len(hits)-1, 0))
	case keys.PromptComplete:
		if p.sel < len(hits) {
			p.text = p.q.Entries[hits[p.sel]].Label
		}
	case keys.PromptAccept:
		m.overlay = nil
		if p.live || p.q.Accept == nil {
			return nil
		}
		i := -1
		if p.sel < len(hits) {
			i = hits[p.sel]
		}
		return m.ask(p.q.Accept(m.env(), p.text, i))
	}
	return nil
}

// hits are the indexes of the entries that fit what was typed, best first.
func (p *prompt) hits() []int {
	var out []int
	if p.text == "" {
		for i := range p.q.Entries {
			out = append(out, i)
		}
		return out
	}
	for _, f := range fuzzy.FindFrom(p.text, entries(p.q.Entries)) {
		out = append(out, f.Index)
	}
	return out
}

type entries []view.Entry

func (e entries) String(i int) string { return e[i].Label }
func (e entries) Len() int            { return len(e) }

// entryLine puts the label first, for it is what is chosen by, and the notes of
// all entries into one column behind the labels.
func entryLine(mark string, e view.Entry, labelW, w int) string {
	room := w - labelW - draw.Width(mark) - 2
	if room < 8 || e.Note == "" {
		return draw.Fit(mark+e.Label, w)
	}
	return draw.Fit(mark+draw.Fit(e.Label, labelW)+"  "+draw.Fit(e.Note, room), w)
}

// labelWidth is the width of the longest label, at most two thirds of w.
func labelWidth(list []view.Entry, w int) int {
	n := 0
	for _, e := range list {
		n = max(n, draw.Width(e.Label))
	}
	return min(n, w*2/3)
}

func (p *prompt) draw(m *Model, base []string, w, h int) []string {
	look := m.cfg.Look
	input := look.Key.Paint("> ") + p.text + look.Select.Paint(" ")
	if p.live {
		// The filter sits on the last line, so that its effect is in view.
		out := append([]string(nil), base[:len(base)-1]...)
		hint := look.Dim.Paint("  text  !without  -f fuzzy  dtype:fp8 S>4096")
		return append(out, draw.Fit(look.Key.Paint("/")+p.text+look.Select.Paint(" ")+hint, w))
	}
	hits := p.hits()
	boxW, boxH := overlayRoom(w, h, 84, max(len(p.q.Entries)+4, 5))
	innerW, innerH := draw.InnerSize(boxW, boxH)
	rows, labelW := max(innerH-2, 0), labelWidth(p.q.Entries, innerW)
	top := draw.Window(0, p.sel, len(hits), rows)
	lines := []string{draw.Fit(input, innerW), draw.Rule(innerW, look)}
	for i := top; i < len(hits) && i < top+rows; i++ {
		e := p.q.Entries[hits[i]]
		line := entryLine("  ", e, labelW, innerW)
		if i == p.sel {
			line = look.Select.Paint(draw.Strip(entryLine("> ", e, labelW, innerW)))
		}
		lines = append(lines, line)
	}
	if len(p.q.Entries) > 0 && len(hits) == 0 {
		lines = append(lines, look.Dim.Paint("  nothing fits"))
	}
	return draw.OverlayCenter(base, draw.Box(p.q.Title, lines, boxW, boxH, true, look))
}
