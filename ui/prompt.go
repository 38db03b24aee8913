package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
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
	in   textinput.Model
	sel  int
	live bool // a filter: the screen follows every key
}

func newPrompt(q view.Prompt) *prompt {
	p := &prompt{q: q, in: textinput.New()}
	p.in.Prompt = ""
	p.in.KeyMap.Paste = key.NewBinding() // it would start a program
	p.in.SetStyles(textinput.Styles{})   // no blink: a screen at rest writes nothing
	p.in.Focus()
	p.in.SetValue(q.Text)
	return p
}

// newFilter is the prompt that sets the screen's filter as it is typed.
func newFilter(m *Model) *prompt {
	p := newPrompt(view.Prompt{Title: "filter", Text: m.screen().Filter()})
	p.live = true
	return p
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
		Title: "palette: an action, `run COMMAND`, or `flyprof run|diff|wiki|list|doctor`", Entries: entries,
		Accept: func(e *view.Env, typed string, i int) view.Ask {
			if cmd, ok := strings.CutPrefix(strings.TrimSpace(typed), "run "); ok {
				return runCommand(e, cmd)
			}
			if cmd, ok := strings.CutPrefix(strings.TrimSpace(typed)+" ", "flyprof "); ok {
				return flyprofCommand(e, cmd)
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
	p.edit(m, tea.PasteMsg{Content: first(text.Clean(s))})
	return nil
}

// edit hands a key or a paste to the input line; what was chosen from a list
// that changes is chosen anew.
func (p *prompt) edit(m *Model, msg tea.Msg) {
	was := p.in.Value()
	p.in, _ = p.in.Update(msg)
	if p.in.Value() == was {
		return
	}
	p.sel = 0
	if p.live {
		m.screen().SetFilter(m.env(), p.in.Value())
	}
}

func (p *prompt) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	if a, ok := m.cfg.Keys.Match(keys.Prompt, k.String()); ok {
		return p.action(m, a.ID)
	}
	p.edit(m, k)
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
			p.in.SetValue(p.q.Entries[hits[p.sel]].Label)
			p.in.CursorEnd()
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
		return m.ask(p.q.Accept(m.env(), p.in.Value(), i))
	}
	return nil
}

// hits are the indexes of the entries that fit what was typed, best first.
func (p *prompt) hits() []int {
	var out []int
	if p.in.Value() == "" {
		for i := range p.q.Entries {
			out = append(out, i)
		}
		return out
	}
	for _, f := range fuzzy.FindFrom(p.in.Value(), entries(p.q.Entries)) {
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
	if p.live {
		// The filter sits on the last line, so that its effect is in view.
		out := append([]string(nil), base[:len(base)-1]...)
		hint := look.Dim.Paint("  text  !without  -f fuzzy  dtype:fp8 S>4096")
		return append(out, draw.Fit(look.Key.Paint("/")+p.in.View()+hint, w))
	}
	hits := p.hits()
	boxW, boxH := overlayRoom(w, h, 84, max(len(p.q.Entries)+4, 5))
	innerW, innerH := draw.InnerSize(boxW, boxH)
	p.in.SetWidth(max(innerW-3, 1))
	rows, labelW := max(innerH-2, 0), labelWidth(p.q.Entries, innerW)
	top := draw.Window(0, p.sel, len(hits), rows)
	lines := []string{draw.Fit(look.Key.Paint("> ")+p.in.View(), innerW), draw.Rule(innerW, look)}
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
