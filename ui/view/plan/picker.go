package plan

import (
	"strings"

	"kdapilot/ui/draw"
	"kdapilot/ui/style"
)

// row is one entry of the outline or the list.
type row struct {
	// key is the entry's identity; selection follows it. "" for a title between
	// entries, which can not be selected.
	key   string
	line  int    // source line it leads to
	plain string // what y copies
	// left may be wrapped, right stays on the first line.
	left, right string
	indent      int
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
}

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
	var lines []string
	from, to := 0, 0
	for i := range p.rows {
		if i == sel {
			from = len(lines)
			// A title right above belongs to what is shown.
			for k := i - 1; k >= 0 && p.rows[k].key == "" && from > 0; k-- {
				from--
			}
		}
		lines = append(lines, p.rows[i].draw(w, i == sel && focus, wrap, look)...)
		if i == sel {
			to = len(lines) - 1
		}
	}
	if p.top > from || !focus && sel == p.first() {
		p.top = from
	}
	p.top = max(min(max(p.top, to-h+1), len(lines)-h), 0)
	return draw.Block(lines[min(p.top, len(lines)):], w, h)
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
	if r.key == "" {
		if r.left == "" {
			return []string{draw.Fit("", w)}
		}
		return []string{look.Heading.Paint(draw.Sides(r.left, r.right, w))}
	}
	pad := strings.Repeat(" ", 2+r.indent)
	if selected {
		pad = ">" + pad[1:]
	}
	rw := draw.Width(r.right)
	room := w - len(pad) - rw
	if rw > 0 {
		room--
	}
	if room < 4 {
		return []string{draw.Fit(pad+r.left, w)}
	}
	parts := []string{draw.Fit(r.left, room)}
	if wrap {
		parts = draw.Wrap(r.left, room)
		if max := 3; len(parts) > max && !selected {
			parts = parts[:max]
			parts[max-1] = draw.Fit(strings.TrimRight(draw.Strip(parts[max-1]), " ")+" "+style.Cut, room)
		}
	}
	out := make([]string, 0, len(parts))
	for i, t := range parts {
		line := pad + t
		if i == 0 && rw > 0 {
			line += " " + r.right
		}
		if i == 0 {
			pad = strings.Repeat(" ", len(pad))
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
