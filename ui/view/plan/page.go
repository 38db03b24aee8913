package plan

import (
	"sort"
	"strings"

	"kdapilot/ui/draw"
	"kdapilot/ui/style"
)

// page is the plan's text laid out for one width.
type page struct {
	text   string
	w      int
	look   style.Look
	rows   []draw.MDLine
	group  []int // by row: index into groups
	groups []group
	shown  []bool // by row: was on screen in this layout
}

// group are the rows that show one source line, and those lines after it that
// have no row of their own since they were joined with it.
type group struct {
	from, to    int // source lines, inclusive
	first, last int // rows, inclusive
	left        int // rows that were not on screen
}

func newPage(text string, lines, w int, look style.Look) *page {
	p := &page{text: text, w: w, look: look, rows: draw.Markdown(text, w, look)}
	p.group, p.shown = make([]int, len(p.rows)), make([]bool, len(p.rows))
	for i, r := range p.rows {
		k := len(p.groups) - 1
		if k < 0 || r.Source > p.groups[k].from {
			from := r.Source
			if k < 0 {
				from = 1
			} else {
				p.groups[k].to = r.Source - 1
			}
			p.groups = append(p.groups, group{from: from, to: lines, first: i})
			k++
		}
		p.groups[k].last = i
		p.groups[k].left++
		p.group[i] = k
	}
	if len(p.groups) > 0 && p.rows[0].Source > 1 {
		p.groups[0].from = 1
	}
	return p
}

// show marks rows [top, top+h) as on screen and calls done for the source lines
// that are now shown whole.
func (p *page) show(top, h int, done func(from, to int)) {
	for i := max(top, 0); i < min(top+h, len(p.rows)); i++ {
		if p.shown[i] {
			continue
		}
		p.shown[i] = true
		g := &p.groups[p.group[i]]
		if g.left--; g.left == 0 {
			done(g.from, g.to)
		}
	}
}

// rowOf is the first row that shows a source line.
func (p *page) rowOf(line int) int {
	k := sort.Search(len(p.groups), func(k int) bool { return p.groups[k].to >= line })
	if k == len(p.groups) {
		return max(len(p.rows)-1, 0)
	}
	return p.groups[k].first
}

// search is the text looked for and the source lines that hold it.
type search struct {
	text  string
	lines []int
}

func (f *search) find(lines []string) {
	f.lines = nil
	if f.text == "" {
		return
	}
	fold := strings.ToLower(f.text) == f.text
	for i, l := range lines {
		if fold {
			l = strings.ToLower(l)
		}
		if strings.Contains(l, f.text) {
			f.lines = append(f.lines, i+1)
		}
	}
}

// from is the first hit at or after a line, going round; 0 for none.
func (f *search) from(line int) int { return f.next(line-1, 1) }

// next is the hit after a line, or before it when dir is negative, going round.
func (f *search) next(line, dir int) int {
	n := len(f.lines)
	if n == 0 {
		return 0
	}
	if dir < 0 {
		return f.lines[(sort.SearchInts(f.lines, line)+n-1)%n]
	}
	return f.lines[sort.SearchInts(f.lines, line+1)%n]
}

// number is which hit a line is, 1-based; 0 for none.
func (f *search) number(line int) int {
	i := sort.SearchInts(f.lines, line)
	if i < len(f.lines) && f.lines[i] == line {
		return i + 1
	}
	return 0
}

// light paints every place of the searched text in a drawn row.
func (f *search) light(row string, w int, look style.Look) string {
	plain := draw.Strip(row)
	if strings.ToLower(f.text) == f.text {
		// Lower case may have another length in bytes: then nothing is painted
		// rather than the wrong cells.
		if low := strings.ToLower(plain); len(low) == len(plain) {
			plain = low
		}
	}
	if !strings.Contains(plain, f.text) {
		return row
	}
	var out strings.Builder
	cell, at := 0, 0
	for {
		k := strings.Index(plain[at:], f.text)
		if k < 0 {
			break
		}
		a := draw.Width(plain[:at+k])
		b := draw.Width(plain[:at+k+len(f.text)])
		out.WriteString(draw.Cut(row, cell, a-cell))
		out.WriteString(look.Match.Paint(draw.Strip(draw.Cut(row, a, b-a))))
		cell, at = b, at+k+len(f.text)
	}
	out.WriteString(draw.Cut(row, cell, max(w-cell, 0)))
	return out.String()
}
