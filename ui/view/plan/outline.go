package plan

import (
	"fmt"
	"strconv"

	"kdapilot/engine/plan"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
)

// outlineRows makes the outline: headings with a read mark and what stands
// under them.
func (s *Screen) outlineRows(seen map[string]bool, look style.Look) []row {
	if s.tally == nil {
		s.tally = s.counts()
	}
	at := sectionAt(s.doc, s.here())
	out := make([]row, 0, len(s.doc.Sections))
	for i := range s.doc.Sections {
		x := &s.doc.Sections[i]
		sign := look.Dim.Paint(look.Off)
		if seen[x.ID] {
			sign = look.Good.Paint(look.Check)
		}
		title := x.Title
		if title == "" {
			title = "(untitled)"
		}
		if i == at {
			title = look.Strong.Paint(title)
		}
		out = append(out, row{
			key: x.ID, line: x.Line, plain: x.Title, sign: sign, left: title,
			right: s.tally[i].draw(look), indent: indentOf(x), note: x.InDraft,
		})
	}
	return out
}

func indentOf(x *plan.Section) int {
	n := 2 * min(max(x.Level-2, 0), 3)
	if x.InDraft && x.Parent != "" {
		n += 2
	}
	return n
}

// count is what stands directly under one heading.
type count struct{ blocks, criteria, tasks, decisions, pending int }

func (s *Screen) counts() []count {
	out := make([]count, len(s.doc.Sections))
	add := func(line int, f func(*count)) {
		if i := sectionAt(s.doc, line); i >= 0 && line > 0 {
			f(&out[i])
		}
	}
	for i := range s.issues {
		if s.issues[i].Blocks {
			add(s.issues[i].Line, func(c *count) { c.blocks++ })
		}
	}
	for i := range s.doc.Criteria {
		add(s.doc.Criteria[i].Line, func(c *count) { c.criteria++ })
	}
	for i := range s.doc.Tasks {
		add(s.doc.Tasks[i].Line, func(c *count) { c.tasks++ })
	}
	for i := range s.doc.Decisions {
		d := &s.doc.Decisions[i]
		add(d.Line, func(c *count) {
			c.decisions++
			if d.Pending {
				c.pending++
			}
		})
	}
	return out
}

func (c count) draw(look style.Look) string {
	text := ""
	switch {
	case c.criteria > 0:
		text = strconv.Itoa(c.criteria) + " AC"
	case c.tasks > 0:
		text = strconv.Itoa(c.tasks) + " task" + plural(c.tasks)
	case c.pending > 0:
		text = fmt.Sprintf("%d/%d DEC open", c.pending, c.decisions)
	case c.decisions > 0:
		text = strconv.Itoa(c.decisions) + " DEC"
	}
	text = look.Dim.Paint(text)
	if c.blocks > 0 {
		if text != "" {
			text += " "
		}
		text += look.Bad.Paint("!" + strconv.Itoa(c.blocks))
	}
	return text
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// gutterWidth is the room before the text: a mark and, where there is room,
// the line number.
func gutterWidth(lines, w int) int {
	if w <= 42 {
		return 2
	}
	return len(strconv.Itoa(max(lines, 1))) + 3
}

// gutter is what stands before one drawn row. first is true on the first row of
// a source line.
func (s *Screen) gutter(line, gw int, first bool, look style.Look) string {
	if !first {
		return draw.Fit("", gw)
	}
	sign := " "
	switch {
	case line == s.at:
		sign = look.Accent.Paint(">")
	case s.marks[line] == blocks:
		sign = look.Bad.Paint("!")
	case s.marks[line] == asks:
		sign = look.Info.Paint("?")
	}
	if gw < 4 {
		return draw.Fit(sign, gw)
	}
	return sign + look.Dim.Paint(draw.PadLeft(strconv.Itoa(line), gw-2)) + " "
}
