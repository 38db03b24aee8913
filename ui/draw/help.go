package draw

import "kdapilot/ui/style"

// Group is a titled list of keys.
type Group struct {
	Title string
	Hints []Hint
}

// Help lays groups out in as many columns as fit, each group whole, filled from
// top to bottom so that columns end up about equally high. Lines are exactly w
// cells.
func Help(groups []Group, w int, look style.Look) []string {
	if w <= 0 || len(groups) == 0 {
		return nil
	}
	keyW, textW := 0, 0
	for _, g := range groups {
		textW = max(textW, Width(g.Title)-keyW)
		for _, h := range g.Hints {
			keyW = max(keyW, Width(h.Keys))
			textW = max(textW, Width(h.Text))
		}
	}
	keyW = min(keyW, max(w/3, 1))
	const gap = 3
	colW := min(keyW+2+textW, w)
	n := min(max((w+gap)/(colW+gap), 1), len(groups))
	colW = (w - gap*(n-1)) / n

	blocks := make([][]string, len(groups))
	total := 0
	for i, g := range groups {
		blocks[i] = helpGroup(g, keyW, colW, look)
		total += len(blocks[i]) + 1
	}
	columns := pack(blocks, n, total, colW)
	parts := make([][]string, 0, 2*n)
	h := 0
	for _, c := range columns {
		h = max(h, len(c))
	}
	for i, c := range columns {
		if i > 0 {
			parts = append(parts, Stripe(blanks(gap), h))
		}
		parts = append(parts, Block(c, colW, h))
	}
	out := JoinH(parts...)
	used := colW*len(columns) + gap*(len(columns)-1)
	for i := range out {
		out[i] += blanks(w - used)
	}
	return out
}

// pack fills n columns in order with the least height that holds all blocks.
func pack(blocks [][]string, n, total, w int) [][]string {
	for limit := (total + n - 1) / n; ; limit++ {
		columns := [][]string{nil}
		for _, b := range blocks {
			last := len(columns) - 1
			switch c := columns[last]; {
			case len(c) == 0:
				columns[last] = b
			case len(c)+1+len(b) <= limit:
				columns[last] = append(append(c, blanks(w)), b...)
			default:
				columns = append(columns, b)
			}
		}
		if len(columns) <= n {
			return columns
		}
	}
}

func helpGroup(g Group, keyW, w int, look style.Look) []string {
	out := []string{look.Title.Paint(Fit(g.Title, w))}
	for _, h := range g.Hints {
		if keyW+2 >= w {
			out = append(out, Fit(look.Key.Paint(flat(h.Keys))+" "+flat(h.Text), w))
			continue
		}
		lead := look.Key.Paint(Fit(h.Keys, keyW)) + "  "
		for _, t := range Wrap(h.Text, w-keyW-2) {
			out = append(out, lead+t)
			lead = blanks(keyW + 2)
		}
	}
	return out
}
