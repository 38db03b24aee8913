package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

func (s *Screen) note(k int) string {
	note := "sorted " + orders()[k][s.sort[k]].name
	if s.flip[k] {
		note += ", turned round"
	}
	if s.open {
		note += "  open only"
	}
	if s.filter != "" {
		note += "  /" + s.filter
	}
	return note
}

// render draws a table and remembers how many rows it shows.
func (s *Screen) render(t draw.Table, w, h int, look style.Look) []string {
	s.page = max(t.Height(h), 1)
	t.Top = draw.Window(0, t.Selected, t.Len, s.page)
	return t.Render(w, h, look)
}

func (s *Screen) regimeTable(e *view.Env, m *model, w, h int) []string {
	look := e.Look
	if w < 50 {
		return s.render(s.narrowRegimes(m, look), w, h, look)
	}
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "regime", Min: 14, Max: 30, Middle: true},
			{Title: "n", Align: draw.Right},
			{Title: "win", Align: draw.Right},
			{Title: "loss", Align: draw.Right},
			{Title: "hole", Align: draw.Right},
			{Title: "geomean", Align: draw.Right, Priority: 1},
			{Title: "same", Align: draw.Right, Priority: 3},
			{Title: "undec.", Align: draw.Right, Priority: 2},
			{Title: "trend", Min: trendCells, Max: trendCells, Priority: 3},
			{Title: "95 % interval", Align: draw.Right, Priority: 4},
			{Title: "min-max", Align: draw.Right, Priority: 5},
			{Title: "worst cell", Min: 16, Priority: 6, Middle: true, Grow: true},
		},
		Len: len(m.regimes), Selected: s.regimeAt(m), Noun: noun(len(m.regimes), "regime"), Note: s.note(tRegimes),
		Empty: s.nothing("regimes"),
		Row: func(i int) []string {
			c := regimeCells(m.regimes[i], look)
			return slices.Insert(c, 8, trend(m.delta.Trend, m.regimes[i].Name, look))
		},
	}
	if m.delta.Trend == nil {
		t.Columns = slices.Delete(t.Columns, 8, 9)
		row := t.Row
		t.Row = func(i int) []string { return slices.Delete(row(i), 8, 9) }
	}
	return s.render(t, w, h, look)
}

// trendCells is the width of a sparkline: one cell per set, the newest last.
const trendCells = 12

// trendBand is the least that a sparkline spans: smaller moves stay flat, for
// single sets prove nothing.
const trendBand = 0.05

// trendBounds is the scale that all regimes share.
func trendBounds(t *session.Trend) (lo, hi float64) {
	lo, hi = 1-trendBand, 1+trendBand
	for _, l := range t.Lines {
		for _, p := range l.Points {
			if p.OK {
				lo, hi = min(lo, p.V), max(hi, p.V)
			}
		}
	}
	return lo, hi
}

// trend is the way of a regime over the sets before, slower is higher.
func trend(t *session.Trend, regime string, look style.Look) string {
	l := t.Line(regime)
	if l == nil {
		return ""
	}
	lo, hi := trendBounds(t)
	var v []float64
	for _, p := range l.Points {
		if !p.OK {
			p.V = math.NaN()
		}
		v = append(v, p.V)
	}
	return look.Bar.Paint(draw.SparkIn(v, lo, hi, trendCells, look))
}

// narrowRegimes is the table for 40 columns: wins and losses share one column.
func (s *Screen) narrowRegimes(m *model, look style.Look) draw.Table {
	return draw.Table{
		Columns: []draw.Column{
			{Title: "regime", Min: 13, Max: 24, Middle: true},
			{Title: "n", Align: draw.Right},
			{Title: "w/l", Align: draw.Right},
			{Title: "hole", Align: draw.Right},
			{Title: "ratio", Align: draw.Right, Priority: 1},
		},
		Len: len(m.regimes), Selected: s.regimeAt(m), Noun: noun(len(m.regimes), "regime"), Note: s.note(tRegimes), Empty: s.nothing("regimes"),
		Row: func(i int) []string {
			c := regimeCells(m.regimes[i], look)
			return []string{c[0], c[1], c[2] + "/" + c[3], c[4], c[5]}
		},
	}
}

func (s *Screen) nothing(noun string) string {
	switch {
	case s.filter != "":
		return "no " + noun + " fit the filter " + s.filter
	case s.open:
		return "no open " + noun + ": everything is faster or same (u shows all)"
	default:
		return "no " + noun
	}
}

func regimeCells(r *bench.RegimeResult, look style.Look) []string {
	holes := strconv.Itoa(len(r.Holes))
	if len(r.Holes) > 0 {
		holes = look.Bad.Paint(holes + "!")
	}
	losses := strconv.Itoa(r.Losses)
	if r.Losses > 0 {
		losses = look.Bad.Paint(losses)
	}
	return []string{
		r.Name, strconv.Itoa(r.N), strconv.Itoa(r.Wins), losses, holes, ratio(r.Geomean),
		strconv.Itoa(r.Same), strconv.Itoa(r.Undecided), interval(r.GeomeanCI), span(r.Min, r.Max), r.Worst,
	}
}

func ratio(n bench.Num) string {
	if !n.OK {
		return "-"
	}
	return strconv.FormatFloat(n.V, 'f', 3, 64)
}

func interval(ci *[2]float64) string {
	if ci == nil {
		return "none"
	}
	return fmt.Sprintf("%.3f..%.3f", ci[0], ci[1])
}

func span(lo, hi bench.Num) string {
	if !lo.OK || !hi.OK {
		return "-"
	}
	return ratio(lo) + "-" + ratio(hi)
}

// micros is a time as precise as harnesses print it.
func micros(n bench.Num) string {
	if !n.OK {
		return "-"
	}
	if math.Abs(n.V) >= 1e6 {
		return strconv.FormatFloat(n.V, 'f', 0, 64)
	}
	return strconv.FormatFloat(n.V, 'f', 1, 64)
}

func sci(n bench.Num) string {
	if !n.OK {
		return "-"
	}
	return strconv.FormatFloat(n.V, 'e', 2, 64)
}

func cosine(n bench.Num) string {
	if !n.OK {
		return "-"
	}
	return strconv.FormatFloat(n.V, 'f', 5, 64)
}

func status(r *bench.Row) string {
	if r == nil {
		return "missing"
	}
	return string(r.Status)
}

func (s *Screen) cellTable(e *view.Env, m *model, w, h int) []string {
	look := e.Look
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "cell", Min: m.nameMin(w), Max: 46, Middle: true},
			{Title: "verdict", Min: 9, Max: 14},
			{Title: "ratio", Align: draw.Right},
			{Title: "base us", Align: draw.Right, Priority: 2},
			{Title: "cand us", Align: draw.Right, Priority: 1},
			{Title: "base/cand", Min: 9, Max: 16, Priority: 3},
			{Title: "95 % interval", Align: draw.Right, Priority: 4},
			{Title: "p Holm", Align: draw.Right, Priority: 5},
			{Title: "n b/c", Align: draw.Right, Priority: 6},
			{Title: "max_err", Align: draw.Right, Priority: 7},
			{Title: "min_cos", Align: draw.Right, Priority: 7},
			{Title: "TFLOPS", Align: draw.Right, Priority: 9},
			{Title: "why, flags", Min: 14, Priority: 8, Grow: true},
		},
		Len: len(m.cells), Selected: s.cellAt(m), Noun: noun(len(m.cells), "cell"), Note: s.note(tCells), Empty: s.nothing("cells"),
		Row: func(i int) []string { return cellCells(m, &m.cells[i], look) },
	}
	return s.render(t, w, h, look)
}

func cellCells(m *model, c *cellView, look style.Look) []string {
	key := m.names.Short(c.Section, c.Key)
	states := hurt(c.base, look).Paint(status(c.base)) + "/" + hurt(c.cand, look).Paint(status(c.cand))
	var maxErr, minCos, tflops bench.Num
	if c.cand != nil {
		maxErr, minCos, tflops = c.cand.MaxErr, c.cand.MinCos, c.cand.TFLOPS
	}
	p := "-"
	if c.PHolm.OK {
		p = strconv.FormatFloat(c.PHolm.V, 'f', 3, 64)
	}
	return []string{
		key, verdictPaintCell(c.Verdict, look).Paint(verdictWord(c.Cell)), ratio(c.Ratio), micros(c.BaseMedian), micros(c.CandMedian), states,
		ci(c.Cell), p, fmt.Sprintf("%d/%d", c.NBase, c.NCand), sci(maxErr), cosine(minCos), look.Dim.Paint(micros(tflops)), remark(c.Cell),
	}
}

// hurt is the paint of a row's status: red when it failed or is not there,
// amber when no gate looked at it.
func hurt(r *bench.Row, look style.Look) style.Token {
	switch {
	case r == nil:
		return look.Bad
	case r.Status.Class() == bench.ClassPass:
		return look.Text
	case r.Status.Class() == bench.ClassUngated:
		return look.Warn
	default:
		return look.Bad
	}
}

func ci(c *bench.Cell) string {
	if c.CI95 == nil {
		return "-"
	}
	return interval(c.CI95)
}

// verdictWord is "no delta" for a cell that can have none, so that the column
// stays narrow; the reason stands beside it.
func verdictWord(c *bench.Cell) string {
	if c.Verdict == bench.NotComparable {
		return "no delta"
	}
	return string(c.Verdict)
}

func verdictPaintCell(v bench.CellVerdict, look style.Look) style.Token {
	switch v {
	case bench.Faster:
		return look.Good
	case bench.Same:
		return look.Text
	case bench.Undecided:
		return look.Warn
	default:
		return look.Bad
	}
}

func remark(c *bench.Cell) string {
	var parts []string
	if bench.TooGood(c) {
		parts = append(parts, "too good: ask a second clock")
	}
	parts = append(parts, c.Flags...)
	if c.Band != "" {
		parts = append(parts, c.Band+" the band")
	}
	if c.Why != "" {
		parts = append(parts, c.Why)
	}
	return strings.Join(parts, ", ")
}

func (s *Screen) rowTable(e *view.Env, m *model, w, h int) []string {
	look := e.Look
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "cell", Min: m.nameMin(w), Max: 46, Middle: true},
			{Title: "status", Min: 6},
			{Title: "us", Align: draw.Right},
			{Title: "TFLOPS", Align: draw.Right, Priority: 5},
			{Title: "max_err", Align: draw.Right, Priority: 2},
			{Title: "min_cos", Align: draw.Right, Priority: 1},
			{Title: "section", Priority: 3},
			{Title: "warnings", Align: draw.Right, Priority: 4},
			{Title: "error", Min: 12, Priority: 6, Grow: true},
		},
		Len: len(m.rows), Selected: s.rowAt(m), Noun: noun(len(m.rows), "row"), Note: s.note(tRows), Empty: s.nothing("rows"),
		Row: func(i int) []string { return rowCells(m, m.rows[i].row, look) },
	}
	return s.render(t, w, h, look)
}

func rowCells(m *model, r *bench.Row, look style.Look) []string {
	state := hurt(r, look).Paint(string(r.Status))
	section := r.Section
	if section == "" {
		section = "main"
	}
	warn := "-"
	if n := len(r.Warnings); n > 0 {
		warn = look.Warn.Paint(strconv.Itoa(n))
	}
	return []string{strings.TrimPrefix(m.names.Short(r.Section, r.Key), r.Section+" "), state, micros(r.US), look.Dim.Paint(micros(r.TFLOPS)), sci(r.MaxErr), cosine(r.MinCos), section, warn, r.Error}
}

// setTable lists the sets: B marks the base, C the candidate.
func (s *Screen) setTable(e *view.Env, m *model, w, h int) []string {
	look := e.Look
	sel := -1
	if s.sets {
		sel = max(m.setAt(s.selSet), 0)
	}
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "", Min: 1, Max: 1},
			{Title: "set", Min: 19, Middle: true, Grow: true},
			{Title: "worth", Min: 10, Priority: 1, Max: 14},
			{Title: "age", Align: draw.Right, Priority: 2},
			{Title: "rows", Align: draw.Right, Priority: 3},
		},
		Len: len(e.Snap.Sets), Selected: sel, Noun: noun(len(e.Snap.Sets), "set"), Note: "b base, enter cand",
		Row: func(i int) []string {
			set := &e.Snap.Sets[i]
			word, paint := worth(e.Snap, set, look)
			if simulated(e.Snap, set) {
				word = "SIM " + word
			}
			n := "-"
			if set.Result != nil {
				n = strconv.Itoa(len(set.Result.AllRows()))
			}
			return []string{mark(m, set), set.Label, paint.Paint(word), view.Age(e.Now, set.When), n}
		},
	}
	if s.sets {
		return s.render(t, w, h, look)
	}
	return t.Render(w, h, look)
}

func mark(m *model, set *session.RowSet) string {
	switch {
	case m.base != nil && set.ID == m.base.ID && m.delta != nil:
		return "B"
	case m.cand != nil && set.ID == m.cand.ID:
		return "C"
	case m.delta != nil && slices.Contains(m.delta.BaseSets, set.ID):
		return "b"
	case m.delta != nil && slices.Contains(m.delta.CandSets, set.ID):
		return "c"
	default:
		return ""
	}
}

// nameMin is the least width of the names: what they need, within reason.
func (m *model) nameMin(w int) int {
	if w < 50 {
		return min(m.nameW, 20)
	}
	return min(m.nameW, 28)
}

func noun(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
