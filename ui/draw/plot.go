package draw

import (
	"math"
	"strings"

	"kdapilot/ui/style"
)

// eighths returns how many eighths of a cell value fills on a bar of w cells
// that stands for max, 0 for what is no number. Anything above zero shows at
// least one eighth, so that small is not drawn as nothing.
func eighths(value, top float64, w int) int {
	if w <= 0 || math.IsNaN(value) || math.IsNaN(top) || top <= 0 || value <= 0 {
		return 0
	}
	if value >= top {
		return w * 8
	}
	return min(max(int(math.Round(value/top*float64(w)*8)), 1), w*8)
}

// Bar is a bar of w cells that is full at max. It is not painted. Values that
// are no number, and those below zero, are drawn empty: say so beside it.
func Bar(value, top float64, w int, look style.Look) string {
	if w <= 0 {
		return ""
	}
	n := eighths(value, top, w)
	full, part := n/8, n%8
	var b strings.Builder
	b.WriteString(strings.Repeat(look.Eighths[8], full))
	used := full
	if part > 0 && full < w {
		mark := look.Eighths[part]
		if full == 0 && mark == " " { // ASCII has no eighths
			mark = look.Sliver
		}
		b.WriteString(mark)
		used++
	}
	b.WriteString(blanks(w - used))
	return b.String()
}

// BarPair shows before and after on one bar of w cells: what both share is
// solid, what went away is shaded, what was added is dense. Unpainted, so it
// reads without colour.
func BarPair(before, after, top float64, w int, look style.Look) string {
	if w <= 0 {
		return ""
	}
	cells := func(v float64) int { return (eighths(v, top, w) + 4) / 8 }
	a, b := cells(before), cells(after)
	tail := look.Shade
	if b > a {
		tail = look.Grown
	}
	return strings.Repeat(look.Eighths[8], min(a, b)) + strings.Repeat(tail, max(a, b)-min(a, b)) + blanks(w-max(a, b))
}

// BarLines is before and after as two bars of w cells, one below the other.
func BarLines(before, after, top float64, w int, look style.Look) []string {
	return []string{
		look.Before.Paint(Bar(before, top, w, look)),
		look.Bar.Paint(Bar(after, top, w, look)),
	}
}

// Spark is one line of w cells: the last w values, each between the least and
// the greatest shown. A value that is no number leaves a gap.
func Spark(values []float64, w int, look style.Look) string {
	if w > 0 && len(values) > w {
		values = values[len(values)-w:]
	}
	lo, hi := bounds(values)
	return SparkIn(values, lo, hi, w, look)
}

// SparkIn is Spark between lo and hi, so that lines can be read against each
// other and noise does not fill the line. What lies outside is drawn at the
// edge.
func SparkIn(values []float64, lo, hi float64, w int, look style.Look) string {
	if w <= 0 {
		return ""
	}
	if len(values) > w {
		values = values[len(values)-w:]
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b.WriteString(" ")
		case hi <= lo:
			b.WriteString(look.Levels[4])
		default:
			b.WriteString(look.Levels[1+int(math.Round(min(max(fraction(v, lo, hi), 0), 1)*7))])
		}
	}
	b.WriteString(blanks(w - len(values)))
	return b.String()
}

// bounds returns the least and the greatest finite value; lo > hi if none.
func bounds(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	return lo, hi
}

// fraction returns where v stands between lo and hi, 0 to 1, whatever they are.
func fraction(v, lo, hi float64) float64 {
	f := (v - lo) / (hi - lo)
	if math.IsInf(hi-lo, 0) {
		f = (v/2 - lo/2) / (hi/2 - lo/2)
	}
	if math.IsNaN(f) {
		return 0
	}
	return math.Min(math.Max(f, 0), 1)
}

// Dots describes a dot plot.
type Dots struct {
	Values []float64
	// Lo and Hi are the ends of the axis; when Hi <= Lo they follow the values.
	Lo, Hi float64
	// Marks are values drawn as a vertical line behind the dots, such as 1.0
	// or the bar to pass.
	Marks []float64
}

// DotPlot draws the values on an axis of w cells: "o" one, "8" two, "@" three or
// more in the same cell. Values outside the axis stand at its end as "<" or ">".
// What is no number is left out.
func DotPlot(d Dots, w int, look style.Look) string {
	if w <= 0 {
		return ""
	}
	lo, hi := d.Lo, d.Hi
	if !(hi > lo) {
		lo, hi = bounds(d.Values)
	}
	cells := make([]string, w)
	for i := range cells {
		cells[i] = " "
	}
	at := func(v float64) int {
		if !(hi > lo) {
			return w / 2
		}
		return int(math.Round(fraction(v, lo, hi) * float64(w-1)))
	}
	for _, m := range d.Marks {
		if m >= lo && m <= hi {
			cells[at(m)] = look.Frame.V
		}
	}
	count := make([]int, w)
	under, over := false, false
	for _, v := range d.Values {
		switch {
		case math.IsNaN(v):
		case hi > lo && v < lo:
			under = true
		case hi > lo && v > hi:
			over = true
		default:
			i := at(v)
			count[i]++
			cells[i] = [...]string{"o", "8", "@"}[min(count[i], 3)-1]
		}
	}
	if under {
		cells[0] = "<"
	}
	if over {
		cells[w-1] = ">"
	}
	return strings.Join(cells, "")
}
