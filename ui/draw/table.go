package draw

import (
	"slices"
	"strconv"
	"strings"

	"kdapilot/ui/style"
)

// Align is where text stands in its column.
type Align int

// Alignments. Numbers belong to the right, so that digits line up.
const (
	Left Align = iota
	Right
)

// Column describes one column of a Table.
type Column struct {
	Title string
	// Min and Max bound the width in cells. Min 0 means the width of the
	// title; Max 0 means no bound.
	Min, Max int
	// Priority says who leaves first when there is no room: the highest
	// number, and of equals the one further right. Columns of priority 0 stay
	// until they are alone.
	Priority int
	Align    Align
	// Middle cuts long text in the middle: for names that differ at the end.
	Middle bool
	// Grow gives the column the room that is left over.
	Grow bool
}

// Table draws rows on demand: only those that are visible are asked for. It is
// a value; where it is scrolled to and what is selected belong to the caller,
// who keeps them by identity.
type Table struct {
	Columns []Column
	Len     int                  // number of rows
	Row     func(i int) []string // cells of row i, one per column; may be painted
	// Needs holds the cells each column wants, as Measure found them. Without
	// it a column follows the visible rows, and its width changes with
	// scrolling.
	Needs    []int
	Top      int    // first visible row; corrected so that Selected is visible
	Selected int    // -1: none
	Bare     bool   // no gutter for the pointer
	Plain    bool   // no footer
	Noun     string // what rows are, for the footer: "cells"; default "rows"
	Note     string // more for the footer, such as the filter
	Empty    string // said in place of rows when there are none
}

const (
	columnGap = 2
	// minColumn is the least width of a column that is not told otherwise;
	// text of up to shortColumn cells is not cut for want of room.
	minColumn   = 3
	shortColumn = 8
)

// Measure returns the widths for Needs from the titles and at most limit rows
// (0: all), spread evenly over the table. Call it once per set of rows.
func (t Table) Measure(limit int) []int {
	needs := t.titleNeeds()
	step := 1
	if limit > 0 && t.Len > limit {
		step = (t.Len + limit - 1) / limit
	}
	for i := 0; i < t.Len; i += step {
		t.widen(needs, t.Row(i))
	}
	return needs
}

func (t Table) titleNeeds() []int {
	needs := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		needs[i] = Width(c.Title)
	}
	return needs
}

func (t Table) widen(needs []int, cells []string) {
	for c := range min(len(needs), len(cells)) {
		needs[c] = max(needs[c], Width(cells[c]))
	}
}

// Height returns the rows a Table of h lines shows at once.
func (t Table) Height(h int) int {
	h-- // header
	if !t.Plain {
		h--
	}
	return max(h, 0)
}

// Start returns the first row Render will show in h lines. Keep it as Top to
// make scrolling move as little as possible.
func (t Table) Start(h int) int { return Window(t.Top, t.Selected, t.Len, t.Height(h)) }

// Render draws the table in exactly w by h cells: header, rows, footer. With
// fewer than three lines the footer goes, with one line the header too.
func (t Table) Render(w, h int, look style.Look) []string {
	if w <= 0 || h <= 0 {
		return Block(nil, w, h)
	}
	header := h >= 2
	t.Plain = t.Plain || h < 3
	rows := h
	if header {
		rows--
	}
	if !t.Plain {
		rows--
	}
	top := Window(t.Top, t.Selected, t.Len, rows)
	cells := t.visible(top, rows)
	lay := t.layout(w, cells)

	out := make([]string, 0, h)
	if header {
		out = append(out, lay.header(t, look))
	}
	for i, row := range cells {
		out = append(out, lay.row(t, row, top+i == t.Selected, look))
	}
	if t.Len == 0 && rows > 0 {
		out = append(out, look.Dim.Paint(Fit(blanks(t.gutter())+flat(t.Empty), w)))
	}
	for range rows - max(len(cells), min(1-min(t.Len, 1), rows)) {
		out = append(out, blanks(w))
	}
	if !t.Plain {
		out = append(out, t.footer(top, rows, w, lay, look))
	}
	return out
}

func (t Table) visible(top, rows int) [][]string {
	n := min(rows, t.Len-top)
	if n <= 0 || t.Row == nil {
		return nil
	}
	cells := make([][]string, n)
	for i := range cells {
		cells[i] = t.Row(top + i)
	}
	return cells
}

func (t Table) gutter() int {
	if t.Bare {
		return 0
	}
	return 2
}

// layout is which columns are drawn and how wide.
type layout struct {
	w       int
	gutter  int
	columns []int // indices into Table.Columns
	widths  []int
	hidden  []string // titles of columns without room
}

func (t Table) layout(w int, cells [][]string) layout {
	needs := t.titleNeeds()
	if len(t.Needs) == len(needs) {
		copy(needs, t.Needs)
	} else {
		for _, row := range cells {
			t.widen(needs, row)
		}
	}
	lay := layout{w: w, gutter: min(t.gutter(), w)}
	room := w - lay.gutter
	for i := range t.Columns {
		lay.columns = append(lay.columns, i)
		lay.widths = append(lay.widths, t.least(i, needs[i]))
	}
	for len(lay.columns) > 1 && lay.total() > room {
		k := lay.first(t)
		lay.hidden = append(lay.hidden, t.Columns[lay.columns[k]].Title)
		lay.columns = append(lay.columns[:k], lay.columns[k+1:]...)
		lay.widths = append(lay.widths[:k], lay.widths[k+1:]...)
	}
	if len(lay.columns) == 1 {
		lay.widths[0] = min(lay.widths[0], room)
	}
	t.spread(&lay, needs, room)
	return lay
}

// least returns the width below which column i is dropped rather than squeezed.
func (t Table) least(i, need int) int {
	c := t.Columns[i]
	least := c.Min
	if least <= 0 {
		least = max(Width(c.Title), minColumn, min(need, shortColumn))
		if c.Align == Right { // a number is shown whole or not at all
			least = max(least, need)
		}
	}
	if c.Max > 0 {
		least = min(least, c.Max)
	}
	return max(min(least, max(need, c.Min)), 1)
}

// spread hands the room that is left to the columns that want more, those of
// low priority number first and equals evenly, and the rest to the one that
// grows.
func (t Table) spread(lay *layout, needs []int, room int) {
	left := room - lay.total()
	for _, p := range lay.priorities(t) {
		for gave := true; gave && left > 0; {
			gave = false
			for k, i := range lay.columns {
				c := t.Columns[i]
				want := needs[i]
				if c.Max > 0 {
					want = min(want, c.Max)
				}
				if c.Priority == p && left > 0 && lay.widths[k] < want {
					lay.widths[k]++
					left--
					gave = true
				}
			}
		}
	}
	for k, i := range lay.columns {
		if t.Columns[i].Grow && left > 0 {
			lay.widths[k] += left
			left = 0
		}
	}
}

// priorities returns the priorities of the drawn columns, rising, each once.
func (l layout) priorities(t Table) []int {
	var out []int
	for _, i := range l.columns {
		out = append(out, t.Columns[i].Priority)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (l layout) total() int {
	n := columnGap * (len(l.widths) - 1)
	for _, w := range l.widths {
		n += w
	}
	return n
}

// first returns which drawn column leaves first.
func (l layout) first(t Table) int {
	k := len(l.columns) - 1
	for j := len(l.columns) - 1; j >= 0; j-- {
		if t.Columns[l.columns[j]].Priority > t.Columns[l.columns[k]].Priority {
			k = j
		}
	}
	return k
}

func (l layout) header(t Table, look style.Look) string {
	return l.line(t, blanks(l.gutter), look.Header, func(i int) string { return t.Columns[i].Title })
}

func (l layout) row(t Table, cells []string, selected bool, look style.Look) string {
	cell := func(i int) string {
		if i < len(cells) {
			return cells[i]
		}
		return ""
	}
	if !selected {
		return l.line(t, blanks(l.gutter), style.Token{}, cell)
	}
	mark := Fit(look.Pointer, l.gutter)
	line := l.line(t, mark, style.Token{}, func(i int) string { return Strip(cell(i)) })
	return look.Select.Paint(line)
}

// line draws one line of cells. Colour inside a selected row is stripped before,
// because it is unreadable when reversed; words and signs stay.
func (l layout) line(t Table, gutter string, ink style.Token, cell func(i int) string) string {
	var b strings.Builder
	b.Grow(l.w + 32)
	b.WriteString(gutter)
	used := l.gutter
	for k, i := range l.columns {
		if k > 0 {
			b.WriteString(blanks(columnGap))
			used += columnGap
		}
		c, w := t.Columns[i], l.widths[k]
		text := cell(i)
		switch {
		case c.Align == Right:
			text = PadLeft(text, w)
		case c.Middle:
			text = FitMiddle(text, w)
		default:
			text = Fit(text, w)
		}
		b.WriteString(ink.Paint(text))
		used += w
	}
	b.WriteString(blanks(l.w - used))
	return b.String()
}

// footer counts rows, and names the columns that had no room: nothing is hidden
// without a word.
func (t Table) footer(top, rows, w int, lay layout, look style.Look) string {
	noun := t.Noun
	if noun == "" {
		noun = "rows"
	}
	var left string
	if t.Len > rows {
		left = Position(top, rows, t.Len) + " " + noun
	} else {
		left = strconv.Itoa(t.Len) + " " + noun
	}
	if t.Selected >= 0 && t.Selected < t.Len && t.Len > rows {
		left = "#" + strconv.Itoa(t.Selected+1) + " " + left
	}
	if t.Note != "" {
		left += "  " + flat(t.Note)
	}
	left = blanks(lay.gutter) + left
	right := ""
	if len(lay.hidden) > 0 {
		right = "hidden: " + flat(strings.Join(lay.hidden, ", "))
		if Width(left)+Width(right)+2 > w {
			right = "+" + strconv.Itoa(len(lay.hidden)) + " hidden"
		}
	}
	if Width(left)+Width(right)+1 > w {
		right = ""
	}
	return look.Dim.Paint(Fit(Sides(left, right, w), w))
}
