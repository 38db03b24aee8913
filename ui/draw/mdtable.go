package draw

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	xast "github.com/yuin/goldmark/extension/ast"
)

// mdCell is one cell of a markdown table.
type mdCell struct {
	text string
	w    int
}

// mdRow is one row and the source line it stands on.
type mdRow struct {
	cells []mdCell
	line  int
}

// minCell is the least width a wrapped column may have.
const minCell = 6

// table draws a table in the room there is: whole, with wrapped cells, or as
// records when even that is too narrow.
func (m *markdown) table(n *xast.Table, in indent) {
	var rows []mdRow
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		if row, ok := m.tableRow(r); ok {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return
	}
	m.gap(rows[0].line, in)
	room := m.room(&in)
	widths, fits := tableWidths(rows, room)
	if !fits {
		m.records(rows, in)
		return
	}
	for i, row := range rows {
		if i > 1 {
			m.gap(row.line, in)
		}
		m.drawRow(row, widths, in)
		in = in.below()
		if i == 0 {
			m.tableRule(widths, row.line+1, in)
		}
	}
}

func (m *markdown) tableRow(n ast.Node) (mdRow, bool) {
	ink := m.look.Text
	if _, ok := n.(*xast.TableHeader); ok {
		ink = m.look.Header
	}
	row := mdRow{line: -1}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		il := m.inline(c, ink)
		t := flat(il.text())
		row.cells = append(row.cells, mdCell{text: t, w: Width(t)})
		if row.line < 0 && len(il.from) > 0 {
			row.line = m.lineOf(il.from[0])
		}
	}
	if extra := m.surplus(n.LastChild()); extra != "" {
		row.cells = append(row.cells, mdCell{text: m.look.Warn.Paint(extra), w: Width(extra)})
	}
	if row.line < 0 { // no text in any cell: the gap shows the row
		return row, false
	}
	return row, true
}

// surplus returns what stands on a row after its last cell: GFM drops cells
// that have no header, a reviewer has to see them.
func (m *markdown) surplus(last ast.Node) string {
	if last == nil || last.Lines() == nil || last.Lines().Len() == 0 {
		return ""
	}
	stop := last.Lines().At(last.Lines().Len() - 1).Stop
	line := m.lineOf(max(stop-1, 0))
	end := len(m.src)
	if line+1 < len(m.starts) {
		end = m.starts[line+1]
	}
	return flat(strings.Trim(string(m.src[min(stop, end):end]), " \t\r\n|"))
}

// tableWidths shares room among the columns: each gets what it needs, and the
// widest give way until all fits. It fails when that would leave less than
// minCell for one of them.
func tableWidths(rows []mdRow, room int) (widths []int, fits bool) {
	for _, r := range rows {
		for i, c := range r.cells {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], c.w)
		}
	}
	total := 3 * (len(widths) - 1) // " | " between
	for _, w := range widths {
		total += w
	}
	for total > room {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minCell {
			return nil, false
		}
		// Give up at once what the second widest allows, to stay linear.
		second := minCell
		for i, w := range widths {
			if i != widest {
				second = max(second, min(w, widths[widest]-1))
			}
		}
		give := min(total-room, max(widths[widest]-second, 1))
		widths[widest] -= give
		total -= give
	}
	return widths, true
}

func (m *markdown) drawRow(row mdRow, widths []int, in indent) {
	columns := make([][]string, len(widths))
	h := 1
	for i, w := range widths {
		s := ""
		if i < len(row.cells) {
			s = row.cells[i].text
		}
		columns[i] = Wrap(s, w)
		h = max(h, len(columns[i]))
	}
	sep := m.look.Border.Paint(m.look.Frame.V)
	for y := range h {
		var b strings.Builder
		n := 0
		for i, w := range widths {
			if i > 0 {
				b.WriteString(" " + sep + " ")
				n += 3
			}
			if y < len(columns[i]) {
				b.WriteString(columns[i][y])
			} else {
				b.WriteString(blanks(w))
			}
			n += w
		}
		m.emit(in.first, in, piece{text: b.String(), w: n}, row.line, 0)
		in = in.below()
	}
}

func (m *markdown) tableRule(widths []int, line int, in indent) {
	n := 3 * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	m.emit(in.first, in, piece{text: Rule(n, m.look), w: n}, line, 0)
}

// records draws each row as "header: value" lines.
func (m *markdown) records(rows []mdRow, in indent) {
	m.room(&in)
	head := rows[0]
	m.cursor = max(m.cursor, min(head.line+2, len(m.starts))) // header and its rule
	if len(rows) == 1 {
		for _, c := range head.cells {
			m.record(c.text, head.line, in)
			in = in.below()
		}
		return
	}
	for i, row := range rows[1:] {
		if i > 0 {
			m.emit(in.first, in, piece{}, row.line, 0)
		}
		for k, c := range row.cells {
			label := ""
			if k < len(head.cells) {
				label = m.look.Dim.Paint(Strip(head.cells[k].text)+":") + " "
			}
			m.record(label+c.text, row.line, in)
			in = in.below()
		}
	}
}

func (m *markdown) record(s string, line int, in indent) {
	room := m.room(&in)
	for _, p := range wrap(s, room, true) {
		m.emit(in.first, in, p, line, 0)
		in = in.below()
	}
}
