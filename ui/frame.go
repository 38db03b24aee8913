package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
)

// Below this size there is room for one line of status only.
const (
	tinyW = 20
	tinyH = 6
)

// View draws the whole screen from the snapshot and the model's own state.
func (m *Model) View() tea.View {
	v := tea.NewView(m.frame())
	if m.cfg.Drawn != nil && m.cached.body != "" {
		m.cfg.Drawn()
		m.cfg.Drawn = nil
	}
	v.AltScreen = true
	v.WindowTitle = m.title()
	return v
}

// frame is the screen as text. It is drawn again only when the snapshot, the
// ui state, the size or the minute changed.
func (m *Model) frame() string {
	if m.w <= 0 || m.h <= 0 {
		return ""
	}
	key := frameKey{version: m.snap.Version, rev: m.rev, w: m.w, h: m.h, now: m.now}
	if m.cached.body == "" || m.cached.key != key {
		m.cached = frame{key: key, body: strings.Join(m.lines(), "\n")}
	}
	return m.cached.body
}

func (m *Model) lines() []string {
	if m.w < tinyW || m.h < tinyH {
		return draw.Block([]string{m.tinyLine()}, m.w, m.h)
	}
	var base []string
	w, h := m.bodySize()
	if !m.zoom {
		base = append(base, m.header(m.w)...)
		base = append(base, m.tabStrip(m.w))
	}
	base = append(base, draw.Block(m.screen().Render(m.env(), w, h), w, h)...)
	if !m.zoom {
		base = append(base, m.bottom(m.w))
	}
	base = draw.Block(base, m.w, m.h)
	if m.overlay != nil {
		base = m.overlay.draw(m, base, m.w, m.h)
	}
	return base
}

// bodySize is the room of the screen between header and footer.
func (m *Model) bodySize() (w, h int) {
	if m.zoom {
		return m.w, m.h
	}
	return m.w, max(m.h-4, 1)
}

func (m *Model) tabStrip(w int) string {
	tabs := make([]draw.Tab, len(m.tabs))
	for i, t := range m.tabs {
		tabs[i] = draw.Tab{Key: t.key, Title: t.title, Mark: t.mark(m.snap)}
	}
	return draw.Tabs(tabs, m.active, w, m.cfg.Look)
}

// bottom is the last line: a message if there is one, else the keys that work
// here.
func (m *Model) bottom(w int) string {
	look := m.cfg.Look
	if m.say.text != "" {
		paint := look.Info
		mark := ""
		if m.say.bad {
			paint, mark = look.Bad, "! "
		}
		return draw.Fit(paint.Paint(draw.Strip(draw.Fit(mark+m.say.text, w))), w)
	}
	var hints []draw.Hint
	if f := m.screen().Filter(); f != "" {
		hints = append(hints, draw.Hint{Keys: "/" + f, Text: "esc clears"})
	}
	for _, h := range m.cfg.Keys.Footer(m.screen().Context(), m.operate) {
		if m.cfg.ReadOnly && h.ID == keys.Operate {
			continue // a copied folder can not be operated
		}
		hints = append(hints, draw.Hint{Keys: h.Keys, Text: h.Text})
	}
	return draw.Hints(hints, w, look)
}

// tinyLine is all there is room for in a sliver of a terminal: phase, round and
// the worst news.
func (m *Model) tinyLine() string {
	var parts []string
	for _, it := range m.statusItems() {
		if it.rank <= 1 {
			parts = append(parts, draw.Strip(it.short))
		}
	}
	return strings.Join(parts, " ")
}

func (m *Model) title() string {
	name := "kdapilot"
	if slug := m.snap.Task.Name(); slug != "" {
		name += " " + slug
	}
	if l := m.snap.Loops.Current(); l != nil {
		name += ": " + string(l.Phase)
	}
	return name
}

// item is one fact of the header. rank 0 stays longest.
type item struct {
	long, short string
	rank        int
}

// joinItems puts items on one line of w cells: all long, then those of high
// rank shortened, then dropped, from the least important on.
func joinItems(items []item, w int, look style.Look) string {
	const gap = "  "
	text := make([]string, len(items))
	total := 0
	for i, it := range items {
		text[i] = it.long
		total += draw.Width(it.long) + len(gap)
	}
	total -= len(gap)
	for pass := 0; pass < 2 && total > w; pass++ {
		for rank := 9; rank >= 0 && total > w; rank-- {
			for i := len(items) - 1; i >= 0 && total > w; i-- {
				if items[i].rank != rank || text[i] == "" {
					continue
				}
				was := draw.Width(text[i])
				if pass == 0 {
					text[i] = items[i].short
				} else if rank > 0 {
					text[i] = ""
				}
				total -= was - draw.Width(text[i])
				if text[i] == "" {
					total -= len(gap)
				}
			}
		}
	}
	var kept []string
	for _, s := range text {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return draw.Fit(strings.Join(kept, gap), w)
}
