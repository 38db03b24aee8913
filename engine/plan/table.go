package plan

import (
	"regexp"
	"strings"

	"kdapilot/engine/text"
)

// column names what a column of the task table holds.
type column int

const (
	colOther column = iota
	colID
	colText
	colTargets
	colTag
	colDepends
)

func columnOf(head string) column {
	head = strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune("`*_", r) {
			return -1
		}
		return r
	}, head))
	switch {
	case head == "task id" || head == "id" || head == "task":
		return colID
	case strings.HasPrefix(head, "description"):
		return colText
	case strings.HasPrefix(head, "target ac"):
		return colTargets
	case strings.HasPrefix(head, "tag"):
		return colTag
	case strings.HasPrefix(head, "depend"):
		return colDepends
	}
	return colOther
}

var reRule = regexp.MustCompile(`^\s*\|?(\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$`)

// tasks reads every table of the task section that has a task id column and a
// tag or target column.
func (d *Doc) tasks() {
	from, to := d.span("Task Breakdown")
	var cols []column
	for i := from; i < to; i++ {
		l := &d.lines[i]
		if l.level > 0 || l.fence || l.draft || strings.TrimSpace(l.text) == "" {
			cols = nil
			continue
		}
		if l.hidden || !strings.Contains(l.text, "|") {
			continue // a reviewer's comment between two rows does not end a table
		}
		if cols == nil {
			if i+1 < to && reRule.MatchString(d.lines[i+1].text) {
				cols = columns(cells(l.text))
				i++ // the rule
			}
			continue
		}
		if len(d.Tasks) >= MaxItems {
			d.note(i+1, "more tasks than are kept")
			return
		}
		d.task(i+1, cols, cells(l.text))
	}
}

// columns returns a non-nil, possibly empty, list: empty for another table.
func columns(heads []string) []column {
	out := make([]column, 0, len(heads))
	seen := map[column]bool{}
	for _, h := range heads {
		c := columnOf(h)
		out, seen[c] = append(out, c), true
	}
	if !seen[colID] || !seen[colTag] && !seen[colTargets] {
		return []column{}
	}
	return out
}

func (d *Doc) task(n int, cols []column, row []string) {
	if len(cols) == 0 {
		return
	}
	if len(row) != len(cols) {
		d.note(n, "the row has another number of cells than the head of its table")
	}
	t := Task{Line: n}
	for i, c := range row {
		if i >= len(cols) {
			break
		}
		switch cols[i] {
		case colID:
			t.ID = text.Clip(bare(c), 80)
		case colText:
			t.Text = text.Clip(c, maxText)
		case colTargets:
			t.Targets = ids(c)
		case colTag:
			t.Tag = text.Clip(bare(c), 80)
		case colDepends:
			t.Depends = ids(c)
		}
	}
	d.Tasks = append(d.Tasks, t)
}

// cells splits a table row; \| is a bar inside a cell.
func cells(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	if strings.HasSuffix(row, "|") && !strings.HasSuffix(row, `\|`) {
		row = row[:len(row)-1]
	}
	var out []string
	var b strings.Builder
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] == '\\' && i+1 < len(row) && row[i+1] == '|':
			b.WriteByte('|')
			i++
		case row[i] == '|' && len(out) < 64:
			out = append(out, strings.TrimSpace(b.String()))
			b.Reset()
		default:
			b.WriteByte(row[i])
		}
	}
	return append(out, strings.TrimSpace(b.String()))
}

// ids splits a cell that lists ids; a dash, "none" or nothing is no id.
func ids(cell string) []string {
	var out []string
	for _, f := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(" \t,;/+&`*", r) }) {
		switch strings.ToLower(f) {
		case "-", "—", "–", "none", "n", "a", "and":
			continue
		}
		if len(out) < 100 {
			out = append(out, text.Clip(f, 80))
		}
	}
	return out
}
