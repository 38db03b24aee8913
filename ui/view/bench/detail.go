package bench

import (
	"fmt"
	"math"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// detail says everything about what is selected in lines of w cells.
func (s *Screen) detail(e *view.Env, m *model, w int) []string {
	switch {
	case m.delta == nil:
		if i := s.rowAt(m); i >= 0 {
			return rowDetail(e, m.rows[i].row, w)
		}
	case s.level == regimes:
		if i := s.regimeAt(m); i >= 0 {
			return regimeDetail(e, m, m.regimes[i], w)
		}
	default:
		if i := s.cellAt(m); i >= 0 {
			return cellDetail(e, m, &m.cells[i], w)
		}
	}
	return []string{e.Look.Dim.Paint(draw.Fit("nothing selected", w))}
}

// pairs collects label and value lines.
type pairs struct {
	list []draw.Pair
}

func (p *pairs) add(label, value string) {
	p.list = append(p.list, draw.Pair{Label: label, Value: value})
}

func regimeDetail(e *view.Env, m *model, r *bench.RegimeResult, w int) []string {
	look := e.Look
	var p pairs
	p.add("cells", counts(r, look))
	p.add("time ratio", headline(r, look))
	if r.Worst != "" {
		p.add("worst", fmt.Sprintf("%s  %s", ratio(r.Max), r.Worst))
	}
	for i, h := range r.Holes {
		label := ""
		if i == 0 {
			label = "holes"
		}
		p.add(label, look.Bad.Paint(h.Key+": "+h.Why))
	}
	if n := r.OutsideFaster + r.OutsideSlower; n > 0 {
		p.add("band", fmt.Sprintf("single runs outside the noise band: %d faster, %d slower; that proves nothing", r.OutsideFaster, r.OutsideSlower))
	}
	c := &m.delta.Comparison
	for i, note := range c.Notes {
		label := ""
		if i == 0 {
			label = "notes"
		}
		p.add(label, look.Dim.Paint(note))
	}
	if c.ByChance > 0 {
		p.add("by chance", look.Dim.Paint(fmt.Sprintf("%.1f cells would look different at alpha %.2f if nothing had changed", c.ByChance, c.Alpha)))
	}
	if len(c.New) > 0 {
		p.add("new cells", view.Count(len(c.New), "cell")+" only the candidate has: "+strings.Join(c.New[:min(3, len(c.New))], ", "))
	}
	return draw.KVs(p.list, w, look)
}

// headline is the geometric mean with all that must stand beside it.
func headline(r *bench.RegimeResult, look style.Look) string {
	if !r.Geomean.OK {
		return "no cell has a delta"
	}
	s := "geomean " + look.Strong.Paint(ratio(r.Geomean)) + " (below 1 is faster)"
	if r.GeomeanCI != nil {
		s += ", 95 % interval " + interval(r.GeomeanCI)
	} else {
		s += ", no interval from this few cells or repeats"
	}
	return s + ", range " + span(r.Min, r.Max)
}

func cellDetail(e *view.Env, m *model, c *cellView, w int) []string {
	look := e.Look
	var p pairs
	p.add("cell", look.Strong.Paint(c.Key))
	word := verdictPaintCell(c.Verdict, look).Paint(string(c.Verdict))
	if c.Why != "" {
		word += ": " + c.Why
	}
	p.add("verdict", word)
	if bench.TooGood(c.Cell) {
		p.add("", look.Bad.Paint("more than ten times faster: ask a second clock before believing it"))
	}
	p.add("status", sideStatus("base", c.base, look)+", "+sideStatus("cand", c.cand, look))
	if c.Ratio.OK {
		p.add("ratio", ratioLine(c.Cell))
	}
	out := draw.KVs(p.list, w, look)
	out = append(out, plot(c.Cell, w, look)...)
	p.list = nil
	gates(e, c, &p)
	references(m, c, &p, look)
	if len(c.Flags) > 0 {
		p.add("flags", look.Warn.Paint(strings.Join(c.Flags, ", ")))
	}
	if c.cand != nil {
		if c.cand.Error != "" {
			p.add("error", look.Bad.Paint(c.cand.Error))
		}
		for _, t := range c.cand.Warnings {
			p.add("warning", look.Warn.Paint(t))
		}
	}
	p.add("regime", c.Regime)
	if r := c.cand; r != nil {
		p.add("printed", axes(r))
	}
	if c.base != nil && c.cand != nil && (c.base.TFLOPS.OK || c.cand.TFLOPS.OK) {
		p.add("TFLOPS", look.Dim.Paint(micros(c.base.TFLOPS)+" and "+micros(c.cand.TFLOPS)+" as printed; deltas come from us"))
	}
	return append(out, draw.KVs(p.list, w, look)...)
}

func sideStatus(name string, r *bench.Row, look style.Look) string {
	s := name + " " + status(r)
	if r != nil && r.Status.Class() == bench.ClassUngated {
		s += " (no gate looked at it)"
	}
	return hurt(r, look).Paint(s)
}

func ratioLine(c *bench.Cell) string {
	s := fmt.Sprintf("%s (%s %%)", ratio(c.Ratio), view.Signed((c.Ratio.V-1)*100, 1))
	if c.CI95 != nil {
		s += ", 95 % interval " + interval(c.CI95)
	}
	if c.P.OK {
		s += fmt.Sprintf(", p %.3f", c.P.V)
	}
	if c.PHolm.OK {
		s += fmt.Sprintf(", Holm %.3f", c.PHolm.V)
	}
	if c.Method != "" {
		s += ", " + c.Method
	}
	return s + fmt.Sprintf(", floor %.1f %%", c.Floor*100)
}

// plot draws the repeats of both arms on one axis, with the floor around the
// base median as marks.
func plot(c *bench.Cell, w int, look style.Look) []string {
	arms := []struct {
		name   string
		n      int
		values []float64
		median bench.Num
	}{{"base", c.NBase, c.Base, c.BaseMedian}, {"cand", c.NCand, c.Cand, c.CandMedian}}
	lo, hi := math.Inf(1), math.Inf(-1)
	kept := true
	for i := range arms {
		a := &arms[i]
		if len(a.values) == 0 && a.median.Finite() {
			a.values, kept = []float64{a.median.V}, kept && a.n <= 1
		}
		for _, v := range a.values {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	if math.IsInf(lo, 0) || w < 16 {
		return nil
	}
	var marks []float64
	if c.BaseMedian.Positive() && c.Ratio.OK && c.Floor > 0 {
		marks = []float64{c.BaseMedian.V * (1 - c.Floor), c.BaseMedian.V * (1 + c.Floor)}
		lo, hi = math.Min(lo, marks[0]), math.Max(hi, marks[1])
	}
	pad := (hi - lo) * 0.05
	lo, hi = lo-pad, hi+pad
	labels := 22
	if w < 60 {
		labels = 20
	}
	plotW := max(w-labels-1, 8)
	var out []string
	for _, a := range arms {
		label := fmt.Sprintf("%s %s us n %d", a.name, draw.PadLeft(micros(a.median), max(labels-13, 7)), a.n)
		out = append(out, draw.Fit(draw.Fit(label, labels)+" "+draw.DotPlot(draw.Dots{Values: a.values, Lo: lo, Hi: hi, Marks: marks}, plotW, look), w))
	}
	axis := fmt.Sprintf("%.1f .. %.1f us", lo, hi)
	if len(marks) > 0 {
		axis += ", " + look.Frame.V + " floor around the base"
	}
	if !kept {
		axis += ", medians only"
	}
	return append(out, draw.Fit(draw.Fit("", min(labels+1, max(w-draw.Width(axis), 0)))+look.Dim.Paint(axis), w))
}

// gates are the values of the candidate against the family's limits.
func gates(e *view.Env, c *cellView, p *pairs) {
	if c.cand == nil {
		return
	}
	look := e.Look
	dtype := c.cand.Axis("dtype").Text()
	seen := map[string]bool{}
	if f := e.Snap.Family; f != nil {
		for _, g := range f.GatesFor(dtype) {
			v := metric(c.cand, g.Metric)
			seen[g.Metric] = true
			limit := fmt.Sprintf("%s %s %g", g.Metric, g.Op, g.Limit)
			switch {
			case !v.OK:
				p.add("gate", look.Warn.Paint(limit+": not measured by this run"))
			case g.Pass(v.V):
				p.add("gate", limit+": "+value(g.Metric, v)+look.Good.Paint(" holds"))
			default:
				p.add("gate", look.Bad.Paint(limit+": "+value(g.Metric, v)+" FAILS"))
			}
		}
	}
	for _, name := range []string{"max_err", "min_cos"} {
		if v := metric(c.cand, name); v.OK && !seen[name] {
			p.add(name, value(name, v)+look.Dim.Paint(" (no gate known)"))
		}
	}
}

func metric(r *bench.Row, name string) bench.Num {
	switch name {
	case "max_err":
		return r.MaxErr
	case "min_cos":
		return r.MinCos
	}
	v, _ := r.Fields.Get(name)
	return v.Num()
}

func value(name string, v bench.Num) string {
	if name == "min_cos" {
		return cosine(v)
	}
	return sci(v)
}

// references are other engines' numbers for the cell, from the compare rows of
// the candidate's set, the base's, or the newest set that has them.
func references(m *model, c *cellView, p *pairs, look style.Look) {
	for _, name := range []string{"backend", "Path", "path"} {
		if c.cand != nil {
			if v := c.cand.Axis(name).Text(); v != "" {
				p.add("ran on", v)
				break
			}
		}
	}
	row, from := referenceRow(m, c.Key)
	if row == nil {
		p.add("reference", look.Dim.Paint("none: no compare rows for this cell"))
		return
	}
	for _, f := range row.Fields {
		o := f.Value.Object()
		if !isEngine(o) || f.Name == "flydsl" {
			continue
		}
		p.add("reference", engine(f.Name, o, c.CandMedian, look)+look.Dim.Paint("  "+from))
	}
}

func referenceRow(m *model, key string) (*bench.Row, string) {
	find := func(r *bench.Result) *bench.Row {
		if r == nil {
			return nil
		}
		for i := range r.CompareRows {
			if r.CompareRows[i].Key == key {
				return &r.CompareRows[i]
			}
		}
		return nil
	}
	if m.cand != nil {
		if r := find(m.cand.Result); r != nil {
			return r, "same run"
		}
	}
	for i := range m.snap.Sets {
		if r := find(m.snap.Sets[i].Result); r != nil {
			return r, "from " + m.snap.Sets[i].Label
		}
	}
	return nil, ""
}

// isEngine tells the block of an engine from other blocks of a compare row.
func isEngine(o bench.Fields) bool {
	_, us := o.Get("us")
	_, state := o.Get("state")
	return us || state
}

// engine is one reference: what it is, its time, and how the cell stands to it.
func engine(name string, o bench.Fields, own bench.Num, look style.Look) string {
	get := func(n string) bench.Num { v, _ := o.Get(n); return v.Num() }
	state, _ := o.Get("state")
	us := get("us")
	switch {
	case state.Text() == "error":
		return name + " " + look.Bad.Paint("ERR")
	case state.Text() == "absent" || !us.OK:
		return name + " did not run"
	}
	s := fmt.Sprintf("%s %s us", name, micros(us))
	if own.Positive() && us.Positive() {
		s += fmt.Sprintf(", cand takes %.2fx", own.V/us.V)
	}
	if v := get("max_err"); v.OK {
		s += ", max_err " + sci(v)
	}
	return s
}

func rowDetail(e *view.Env, r *bench.Row, w int) []string {
	look := e.Look
	var p pairs
	p.add("cell", look.Strong.Paint(r.Key))
	state := hurt(r, look).Paint(string(r.Status))
	p.add("status", fmt.Sprintf("%s  %s us  max_err %s  min_cos %s", state, micros(r.US), sci(r.MaxErr), cosine(r.MinCos)))
	if r.Error != "" {
		p.add("error", look.Bad.Paint(r.Error))
	}
	for _, t := range r.Warnings {
		p.add("warning", look.Warn.Paint(t))
	}
	for _, f := range r.Fields {
		if o := f.Value.Object(); isEngine(o) {
			p.add("engine", engine(f.Name, o, r.US, look))
		}
	}
	p.add("printed", axes(r))
	if r.MD5 != "" {
		p.add("md5", r.MD5)
	}
	if r.Line > 0 {
		p.add("log line", fmt.Sprintf("%d, printed %d times", r.Line, r.Seen))
	}
	return draw.KVs(p.list, w, look)
}

// axes are the fields of a row as the harness printed them: its axes, and
// numbers that have no column of their own, such as logits_diff.
func axes(r *bench.Row) string {
	var out []string
	for _, f := range r.Fields {
		if len(f.Value.Object()) == 0 && !f.Value.IsNull() {
			out = append(out, f.Name+" "+f.Value.Text())
		}
	}
	return strings.Join(out, "  ")
}
