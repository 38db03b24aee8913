package plan

import (
	"strings"

	"kdapilot/ui/draw"
	"kdapilot/ui/style"
)

// row is one entry of the outline or the list.
type row struct {
	// key is the entry's identity; selection follows it. What has none can not be
	// selected: a title between groups, or with label set the head of a few rows.
	key   string
	label bool
	line  int    // source line it leads to
	plain string // what y copies
	// sign stands before left, which may be wrapped; right stays on the first line.
	sign, left, right string
	indent            int
	// more is shown below the entry while it is selected.
	more string
	note bool // drawn dim
}

// picker is a list of rows with a selection and a window. The zero picker is
// empty.
type picker struct {
	rows  []row
	key   string // selected
	top   int    // first drawn line
	h     int    // as last drawn
	stale bool   // rows must be made anew
	drawn drawn
}

// drawn are the lines of all rows as drawn last, and which of them are the
// selected entry's.
type drawn struct {
	w        int
	key      string
	focus    bool
	lines    []string
	from, to int
}

// set replaces the rows.
func (p *picker) set(rows []row) { p.rows, p.drawn = rows, drawn{} }

func (p *picker) index() int {
	first := -1
	for i := range p.rows {
		if p.rows[i].key == "" {
			continue
		}
		if first < 0 {
			first = i
		}
		if p.rows[i].key == p.key {
			return i
		}
	}
	return first
}

func (p *picker) selected() *row {
	if i := p.index(); i >= 0 {
		return &p.rows[i]
	}
	return nil
}

// move selects the entry by steps further on.
func (p *picker) move(by int) {
	at := p.index()
	if at < 0 {
		return
	}
	dir := 1
	if by < 0 {
		dir, by = -1, -by
	}
	for i := at + dir; i >= 0 && i < len(p.rows) && by > 0; i += dir {
		if p.rows[i].key != "" {
			at = i
			by--
		}
	}
	p.key = p.rows[at].key
}

// render draws the window: h lines of w cells. Titles stay above their entries.
func (p *picker) render(w, h int, focus, wrap bool, look style.Look) []string {
	p.h = h
	sel := p.index()
	if sel >= 0 {
		p.key = p.rows[sel].key
	}
	if !wrap {
		return p.single(w, h, sel, focus, look)
	}
	if d := &p.drawn; d.lines == nil || d.w != w || d.key != p.key || d.focus != focus {
		p.drawn = p.draw(w, sel, focus, look)
	}
	d := &p.drawn
	if p.top > d.from || !focus && sel == p.first() {
		p.top = d.from
	}
	p.top = max(min(max(p.top, d.to-h+1), len(d.lines)-h), 0)
	return draw.Block(d.lines[min(p.top, len(d.lines)):min(p.top+h, len(d.lines))], w, h)
}

// single draws rows that take one line each: only those in the window.
func (p *picker) single(w, h, sel int, focus bool, look style.Look) []string {
	p.top = draw.Window(p.top, max(sel, 0), len(p.rows), h)
	lines := make([]string, 0, h)
	for i := p.top; i < min(p.top+h, len(p.rows)); i++ {
		lines = append(lines, p.rows[i].draw(w, i == sel && focus, false, look)...)
	}
	return draw.Block(lines, w, h)
}

func (p *picker) draw(w, sel int, focus bool, look style.Look) drawn {
	d := drawn{w: w, key: p.key, focus: focus, lines: make([]string, 0, len(p.rows))}
	head := 0 // where the titles above the next entry begin
	for i := range p.rows {
		at := len(d.lines)
		d.lines = append(d.lines, p.rows[i].draw(w, i == sel && focus, true, look)...)
		if i == sel {
			d.from, d.to = head, len(d.lines)-1
		}
		if p.rows[i].key != "" {
			head = len(d.lines)
		} else if i > 0 && p.rows[i-1].key != "" {
			head = at
		}
	}
	return d
}

func (p *picker) first() int {
	for i := range p.rows {
		if p.rows[i].key != "" {
			return i
		}
	}
	return -1
}

func (r *row) draw(w int, selected, wrap bool, look style.Look) []string {
	if r.key == "" && !r.label {
		if r.left == "" {
			return []string{draw.Fit("", w)}
		}
		return []string{look.Heading.Paint(draw.Sides(r.left, r.right, w))}
	}
	pad := strings.Repeat(" ", 2+r.indent)
	first := pad
	if selected {
		first = ">" + pad[1:]
	}
	if r.sign != "" {
		first, pad = first+r.sign+" ", pad+"  "
	}
	room := w - len(pad)
	if n := draw.Width(r.right); n > 0 {
		room -= n + 1
	}
	if room < 4 {
		return []string{draw.Fit(first+r.left, w)}
	}
	out := make([]string, 0, 2)
	for i, t := range r.parts(room, wrap, selected) {
		line := pad + t
		if i == 0 {
			line = first + t
			if r.right != "" {
				line += " " + r.right
			}
		}
		switch {
		case selected:
			line = look.Select.Paint(draw.Fit(draw.Strip(line), w))
		case r.note:
			line = look.Dim.Paint(draw.Fit(line, w))
		}
		out = append(out, draw.Fit(line, w))
	}
	if selected && r.more != "" {
		for _, t := range draw.Wrap(r.more, max(w-len(pad), 1)) {
			out = append(out, draw.Fit(pad+look.Dim.Paint(t), w))
		}
	}
	return out
}

// maxParts is how many lines an entry takes that is not selected.
const maxParts = 3

func (r *row) parts(room int, wrap, selected bool) []string {
	if !wrap {
		return []string{draw.Fit(r.left, room)}
	}
	parts := draw.Wrap(r.left, room)
	if len(parts) > maxParts && !selected {
		parts = parts[:maxParts]
		last := strings.TrimRight(draw.Strip(parts[maxParts-1]), " ")
		parts[maxParts-1] = draw.Fit(draw.Cut(last, 0, min(draw.Width(last), max(room-2, 0)))+" "+style.Cut, room)
	}
	return parts
}
