package draw

import "kdapilot/ui/style"

// Group is a titled list of keys.
type Group struct {
	Title string
	Hints []Hint
}

const (
	helpGap    = 3
	helpColumn = 46 // least width of a column of help
)

// helpLine is one line of help before it is put in a column.
type helpLine struct {
	text  string
	title bool
	blank bool
}

// Help lays groups out in as many columns as fit, filled from top to bottom and
// about equally high. A long group may go on in the next column, a title never
// stands alone at the foot of one. Lines are exactly w cells.
func Help(groups []Group, w int, look style.Look) []string {
	if w <= 0 || len(groups) == 0 {
		return nil
	}
	n := max((w+helpGap)/(helpColumn+helpGap), 1)
	colW := (w - helpGap*(n-1)) / n
	var lines []helpLine
	for i, g := range groups {
		if i > 0 {
			lines = append(lines, helpLine{text: blanks(colW), blank: true})
		}
		lines = append(lines, helpGroup(g, colW, look)...)
	}
	columns := pack(lines, n)
	h := 0
	for _, c := range columns {
		h = max(h, len(c))
	}
	var parts [][]string
	used := 0
	for i, c := range columns {
		if i > 0 {
			parts = append(parts, Stripe(blanks(helpGap), h))
			used += helpGap
		}
		parts = append(parts, Block(c, colW, h))
		used += colW
	}
	if used < w {
		parts = append(parts, Stripe(blanks(w-used), h))
	}
	return JoinH(parts...)
}

// pack fills at most n columns in order with the least height that holds all.
func pack(lines []helpLine, n int) [][]string {
	for limit := max((len(lines)+n-1)/n, 1); ; limit++ {
		columns := [][]string{nil}
		for i, l := range lines {
			last := len(columns) - 1
			full := len(columns[last]) >= limit || l.title && len(columns[last]) > 0 && len(columns[last])+2 > limit && i+1 < len(lines)
			if full {
				columns = append(columns, nil)
				last++
			}
			if l.blank && len(columns[last]) == 0 {
				continue
			}
			columns[last] = append(columns[last], l.text)
		}
		if len(columns) <= n {
			return columns
		}
	}
}

func helpGroup(g Group, w int, look style.Look) []helpLine {
	keyW := 0
	for _, h := range g.Hints {
		keyW = max(keyW, Width(h.Keys))
	}
	keyW = min(keyW, max(w*2/5, 1))
	out := []helpLine{{text: look.Title.Paint(Fit(g.Title, w)), title: true}}
	for _, h := range g.Hints {
		if keyW+2 >= w {
			out = append(out, helpLine{text: Fit(look.Key.Paint(flat(h.Keys))+" "+flat(h.Text), w)})
			continue
		}
		lead := look.Key.Paint(Fit(h.Keys, keyW)) + "  "
		for _, t := range Wrap(h.Text, w-keyW-2) {
			out = append(out, helpLine{text: lead + t})
			lead = blanks(keyW + 2)
		}
	}
	return out
}
