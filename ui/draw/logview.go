package draw

import (
	"strconv"
	"strings"

	"kdapilot/ui/style"
)

// LogView is a window on Lines. It is a value: moving returns nothing and
// changes only the view. Only what is visible is ever looked at, so a log of a
// million lines costs the same as one of fifty. The zero LogView stands at the
// top; set Follow to stand at the end.
type LogView struct {
	Top    int    // number of the first visible line
	Row    int    // rows of line Top above the window, when wrapping
	Left   int    // first visible cell, when not wrapping
	Wrap   bool   // long lines continue below instead of running out
	Follow bool   // stay at the end as lines arrive
	Search string // highlighted; case counts only if it holds a capital
	Found  int    // line the last search stopped at, plus one; 0: none
	// Paint, when set, colours a line by what it says, before the highlight.
	Paint func(line string) style.Token
}

// maxRows bounds how many rows one line may take when wrapped, so that a line
// of megabytes can not stall a frame.
const maxRows = 2000

// rows returns how many rows line n takes.
func (v LogView) rows(lines Lines, n, w int) int {
	if !v.Wrap || w <= 0 {
		return 1
	}
	l := lines.Line(n)
	if ascii(l) {
		return min(max((len(l)+w-1)/w, 1), maxRows)
	}
	return min(len(wrap(bounded(l, w), w, false)), maxRows)
}

// bounded cuts a line that would take more than maxRows rows.
func bounded(l string, w int) string {
	if limit := 4 * w * maxRows; len(l) > limit {
		return l[:limit]
	}
	return l
}

// settle returns the view with Top and Row inside lines: at the end when
// following, else not beyond it.
func (v LogView) settle(lines Lines, w, h int) LogView {
	top, row := v.end(lines, w, h)
	if v.Follow || v.Top > top || v.Top == top && v.Row > row {
		v.Top, v.Row = top, row
	}
	if v.Top < lines.First() {
		v.Top, v.Row = lines.First(), 0
	}
	if v.Row > 0 { // the width may have changed since
		v.Row = min(v.Row, v.rows(lines, v.Top, w)-1)
	}
	v.Row = max(v.Row, 0)
	v.Left = max(v.Left, 0)
	return v
}

// end returns the position that shows the last h rows.
func (v LogView) end(lines Lines, w, h int) (top, row int) {
	n := lines.End()
	left := h
	for n > lines.First() && left > 0 {
		n--
		r := v.rows(lines, n, w)
		if r > left {
			return n, r - left
		}
		left -= r
	}
	return n, 0
}

// Scroll moves by rows, down when positive. Reaching the end by moving down
// turns Follow on, moving up turns it off.
func (v *LogView) Scroll(lines Lines, rows, w, h int) {
	*v = v.settle(lines, w, h)
	if rows < 0 {
		v.Follow = false
	}
	for ; rows < 0; rows++ {
		if v.Row > 0 {
			v.Row--
		} else if v.Top > lines.First() {
			v.Top--
			v.Row = v.rows(lines, v.Top, w) - 1
		} else {
			return
		}
	}
	top, row := v.end(lines, w, h)
	for ; rows > 0; rows-- {
		if v.Top > top || v.Top == top && v.Row >= row {
			v.Follow = true
			return
		}
		if v.Row++; v.Row >= v.rows(lines, v.Top, w) {
			v.Top, v.Row = v.Top+1, 0
		}
	}
}

// Home goes to the oldest line, End to the newest and follows.
func (v *LogView) Home(lines Lines) { v.Follow, v.Top, v.Row = false, lines.First(), 0 }

// End goes to the newest line and follows.
func (v *LogView) End() { v.Follow = true }

// Pan moves sideways by cells; it does nothing when wrapping.
func (v *LogView) Pan(cells int) {
	if !v.Wrap {
		v.Left = max(v.Left+cells, 0)
	}
}

// Reveal puts line n a third below the top edge.
func (v *LogView) Reveal(lines Lines, n, w, h int) {
	v.Follow = false
	v.Top, v.Row = max(n-h/3, lines.First()), 0
	*v = v.settle(lines, w, h)
}

// Find sets the text to search for; Next then starts at the top of the window.
func (v *LogView) Find(text string) { v.Search, v.Found = text, 0 }

// Next goes to the next line that holds Search after the last hit (or the
// window's top), backwards when dir is negative, and goes round once. It
// reports whether there is one.
func (v *LogView) Next(lines Lines, dir, w, h int) bool {
	total := lines.End() - lines.First()
	if v.Search == "" || total <= 0 {
		return false
	}
	step := 1
	if dir < 0 {
		step = -1
	}
	n := v.Found - 1
	if n < lines.First() || n >= lines.End() {
		n = v.settle(lines, w, h).Top - step
	}
	find := finder(v.Search)
	for range total {
		if n += step; n >= lines.End() {
			n = lines.First()
		} else if n < lines.First() {
			n = lines.End() - 1
		}
		if find(lines.Line(n)) >= 0 {
			v.Found = n + 1
			v.Reveal(lines, n, w, h)
			return true
		}
	}
	return false
}

// Render draws the window: exactly w by h cells.
func (v LogView) Render(lines Lines, w, h int, look style.Look) []string {
	if w <= 0 || h <= 0 {
		return Block(nil, w, h)
	}
	v = v.settle(lines, w, h)
	out := make([]string, 0, h)
	for n, skip := v.Top, v.Row; n < lines.End() && len(out) < h; n++ {
		out = v.appendLine(out, lines.Line(n), skip, w, h, look)
		skip = 0
	}
	for len(out) < h {
		out = append(out, blanks(w))
	}
	return out
}

// Status says in few words where the view stands: position, following, search.
func (v LogView) Status(lines Lines, w, h int) string {
	v = v.settle(lines, w, h)
	s := Position(v.Top-lines.First(), h, lines.End()-lines.First())
	if lines.First() > 0 {
		s += " (older lines dropped)"
	}
	if v.Follow {
		s += " follow"
	}
	if v.Wrap {
		s += " wrap"
	} else if v.Left > 0 {
		s += " col " + strconv.Itoa(v.Left+1)
	}
	return s
}

func (v LogView) appendLine(out []string, l string, skip, w, h int, look style.Look) []string {
	if v.Search != "" {
		l = v.highlight(l, look)
	} else if v.Paint != nil {
		l = v.Paint(l).Paint(l)
	}
	if !v.Wrap {
		return append(out, v.cut(l, w))
	}
	if ascii(l) { // no need to break what is above or below the window
		if l == "" {
			return append(out, blanks(w))
		}
		for at := skip * w; at < min(len(l), maxRows*w) && len(out) < h; at += w {
			out = append(out, Fit(l[at:min(at+w, len(l))], w))
		}
		return out
	}
	for i, p := range wrap(bounded(l, w), w, false) {
		if i >= skip && i < maxRows && len(out) < h {
			out = append(out, p.text+blanks(w-p.w))
		}
	}
	return out
}

// cut shows the window of a line that does not wrap, with a mark where it runs
// out at the right.
func (v LogView) cut(l string, w int) string {
	if v.Left == 0 {
		return Fit(l, w)
	}
	return Cut(l, v.Left, w)
}

// highlight paints the hits of Search in l.
func (v LogView) highlight(l string, look style.Look) string {
	base := style.Token{}
	if v.Paint != nil {
		base = v.Paint(l)
	}
	plain := Strip(l)
	find := finder(v.Search)
	var b strings.Builder
	for plain != "" {
		i := find(plain)
		if i < 0 {
			break
		}
		b.WriteString(base.Paint(plain[:i]))
		b.WriteString(look.Match.Paint(plain[i : i+len(v.Search)]))
		plain = plain[i+len(v.Search):]
	}
	b.WriteString(base.Paint(plain))
	return b.String()
}

// finder returns a search for needle: as it is when it holds a capital letter,
// else without regard to ASCII case. It never allocates per line.
func finder(needle string) func(string) int {
	if needle == "" {
		return func(string) int { return -1 }
	}
	if strings.ContainsFunc(needle, func(r rune) bool { return r >= 'A' && r <= 'Z' }) {
		return func(s string) int { return strings.Index(s, needle) }
	}
	lo, up := needle[0], upper(needle[0])
	return func(s string) int {
		for i := 0; i+len(needle) <= len(s); i++ {
			if (s[i] == lo || s[i] == up) && equalFold(s[i:i+len(needle)], needle) {
				return i
			}
		}
		return -1
	}
}

func equalFold(s, lower string) bool {
	for i := range len(lower) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
