package overview

import (
	"fmt"
	"strconv"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/session"
	"kdapilot/engine/stall"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

func (s *Screen) notices(e *view.Env) []session.Notice {
	f := view.NewFilter(s.filter)
	if f.Empty() {
		return e.Snap.Notices
	}
	var out []session.Notice
	for _, n := range e.Snap.Notices {
		if f.Keep(n.Text, nil) {
			out = append(out, n)
		}
	}
	return out
}

// attention lists the notices, reds first; the selected one stays in view.
func (s *Screen) attention(e *view.Env, w, h int) []string {
	list := s.notices(e)
	out := nextLines(e, w)
	if len(list) == 0 {
		switch {
		case s.filter != "":
			return append(out, note("nothing fits the filter", w, e.Look)...)
		case len(out) > 0:
			return out
		case e.Snap.Loops.Origin.Status == fact.NotRead || !e.Snap.Gates.Known && e.Snap.Mode == session.Live:
			return note("not read yet", w, e.Look)
		}
		return []string{e.Look.Good.Paint(draw.Fit("nothing needs you", w))}
	}
	for i := min(s.top, len(list)-1); i < len(list) && len(out) < h; i++ {
		n := list[i]
		word, paint := "note ", e.Look.Dim
		switch n.Severity {
		case session.Red:
			word, paint = "RED  ", e.Look.Bad
		case session.Amber:
			word, paint = "amber", e.Look.Warn
		}
		for k, l := range draw.Wrap(n.Text, max(w-6, 8)) {
			head := paint.Paint(word) + " "
			if k > 0 {
				head = "      "
			}
			out = append(out, draw.Fit(head+l, w))
		}
	}
	return out
}

// nextLines say what waits for a person, with the key that leads there.
func nextLines(e *view.Env, w int) []string {
	step := e.Snap.Next()
	if step.Text == "" {
		return nil
	}
	text := step.Text
	if a, ok := e.Keys.Action(screenOf(step.Area)); ok {
		text += " (" + strings.Join(a.Keys, " ") + ")"
	}
	var out []string
	for k, l := range draw.Wrap(text, max(w-6, 8)) {
		head := "      "
		if k == 0 {
			head = e.Look.Ball.Paint("next ") + " "
		}
		out = append(out, draw.Fit(head+e.Look.Strong.Paint(l), w))
	}
	return out
}

func attentionLines(*view.Env, int, int) []string { return nil }

// stallLines shows the newest trace: headline, trust, freshness, the classes as
// bars, and how they moved against the trace before.
func stallLines(e *view.Env, w, h int) []string {
	look := e.Look
	if len(e.Snap.Bundles) == 0 {
		return note("No flyprof bundle or trace found below this folder. "+statusWords(e.Snap.BundlesStatus.Status.String(), e.Snap.BundlesStatus.Why), w, look)
	}
	b := e.Snap.Bundles[0]
	a := e.Snap.Analyses[b.Path]
	if a == nil {
		why := e.Snap.AnalysisErrs[b.Path]
		if why == "" {
			why = "not read yet"
		}
		return note(b.Name+": "+why, w, look)
	}
	var before *stall.Analysis
	if len(e.Snap.Bundles) > 1 {
		before = e.Snap.Analyses[e.Snap.Bundles[1].Path]
	}
	out := []string{draw.FitMiddle(b.Name, w), headline(a, look, w)}
	if h < 4 {
		return out
	}
	out = append(out, trustLine(a, look, w))
	if before != nil && h > 5 {
		out = append(out, look.Dim.Paint(draw.FitMiddle("against "+e.Snap.Bundles[1].Name, w)))
	}
	return append(out, classLines(a, before, look, w, h-len(out))...)
}

func headline(a *stall.Analysis, look style.Look, w int) string {
	t := a.Bubbles.Totals
	s := look.Strong.Paint(fmt.Sprintf("%s%% stalled", t.StallPct))
	if b, ok := a.Bubbles.TopBubble(); ok {
		s += ", waits in " + look.Strong.Paint(fmt.Sprintf("%s %s%%", b.Class, b.Pct))
	}
	return draw.Fit(s, w)
}

func trustLine(a *stall.Analysis, look style.Look, w int) string {
	paint := look.Warn
	if a.Freshness.Verdict == stall.Fresh {
		paint = look.Good
	}
	s := paint.Paint(string(a.Freshness.Verdict))
	if a.Trust.ExecutedPct != nil {
		p := look.Dim
		if a.Trust.Weak {
			p = look.Bad
		}
		s += p.Paint(fmt.Sprintf("  executed %s%%", *a.Trust.ExecutedPct))
	}
	if n := a.Trust.WaveFiles; n != nil {
		s += look.Dim.Paint("  " + view.Count(*n, "wave"))
	}
	return draw.Fit(s, w)
}

func classLines(a, before *stall.Analysis, look style.Look, w, h int) []string {
	var d *stall.Delta
	if before != nil {
		v := stall.Compare(before, a, stall.DefaultFloor)
		d = &v
	}
	var out []string
	barW := max(w-30, 4)
	for i, c := range a.Bubbles.Taxonomy.ByClass {
		if i >= h {
			break
		}
		name := string(c.Class)
		if c.IsBubble {
			name += "*"
		}
		bar := look.Bar.Paint(draw.Bar(float64(c.Pct), 100, barW, look))
		out = append(out, draw.Fit(draw.PadRight(name, 10)+" "+draw.PadLeft(strconv.FormatFloat(float64(c.Pct), 'f', 1, 64), 5)+" "+bar+" "+change(d, c.Class, look), w))
	}
	return out
}

func change(d *stall.Delta, c stall.Class, look style.Look) string {
	if d == nil {
		return ""
	}
	if !d.Comparable {
		return look.Dim.Paint("not comparable")
	}
	for _, x := range d.Classes {
		if x.Class != c {
			continue
		}
		s := view.Signed(float64(x.DeltaPP), 1) + " pp"
		switch x.Verdict {
		case stall.Shrank:
			return look.Good.Paint(s)
		case stall.Grew:
			return look.Warn.Paint(s)
		default:
			return look.Dim.Paint("~ " + s)
		}
	}
	return ""
}

// benchLines shows what the newest rows are worth and, if there is a set to
// compare with, the regimes.
func benchLines(e *view.Env, w, h int) []string {
	look := e.Look
	if len(e.Snap.Sets) == 0 {
		text := "No rows yet. Run a preset (o, then r)."
		if e.Snap.RunsStatus.Status == fact.NotRead {
			text = "not read yet"
		}
		return append(runLines(e, w), note(text, w, look)...)
	}
	out := runLines(e, w)
	set := e.Snap.Sets[0]
	out = append(out, draw.Sides(set.Label, view.Age(e.Now, set.When), w), truthLine(set.Result, look, w))
	d := e.Snap.Delta
	if d == nil || d.Cand != set.ID {
		return append(out, note("nothing to compare with", w, look)...)
	}
	c := &d.Comparison
	out = append(out, draw.Fit("against "+d.Comparison.Base+": "+look.Strong.Paint(string(c.Verdict)), w))
	out = append(out, regimeLines(c.Regimes, w, h-len(out), look)...)
	return append(out, setLines(e, w, h-len(out))...)
}

// regimeLines are the regimes as a table: never a headline without its count,
// its interval and its holes.
func regimeLines(list []bench.RegimeResult, w, h int, look style.Look) []string {
	if len(list) == 0 || h < 2 {
		return nil
	}
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "regime", Grow: true, Min: 10},
			{Title: "n", Align: draw.Right},
			{Title: "us ratio", Align: draw.Right},
			{Title: "95 %", Priority: 3},
			{Title: "faster", Align: draw.Right, Priority: 1},
			{Title: "slower", Align: draw.Right, Priority: 1},
			{Title: "worst", Align: draw.Right, Priority: 2},
			{Title: "holes", Align: draw.Right},
		},
		Len: len(list), Selected: -1, Noun: "regimes",
		Row: func(i int) []string {
			r := &list[i]
			ci, holes := "", look.Dim.Paint("0")
			if r.GeomeanCI != nil {
				ci = fmt.Sprintf("%.3f..%.3f", r.GeomeanCI[0], r.GeomeanCI[1])
			}
			if n := len(r.Holes); n > 0 {
				holes = look.Bad.Paint(strconv.Itoa(n))
			}
			return []string{r.Name, strconv.Itoa(r.N), ratio(r.Geomean), ci, strconv.Itoa(r.Wins), strconv.Itoa(r.Losses), ratio(r.Max), holes}
		},
	}
	return t.Render(w, min(h, len(list)+2), look)
}

// setLines name the other sets of rows there are, where there is room.
func setLines(e *view.Env, w, h int) []string {
	rest := e.Snap.Sets[1:]
	if len(rest) == 0 || h < 3 {
		return nil
	}
	out := []string{"", e.Look.Heading.Paint(draw.Fit("before that", w))}
	for i := range rest[:min(len(rest), h-2)] {
		out = append(out, draw.Sides("  "+rest[i].Label+"  "+strings.TrimRight(draw.Strip(truthLine(rest[i].Result, e.Look, w-10)), " "), e.Look.Dim.Paint(view.Age(e.Now, rest[i].When)), w))
	}
	return out
}

func ratio(n bench.Num) string {
	if !n.OK {
		return "-"
	}
	return fmt.Sprintf("%.3f", n.V)
}

func truthLine(r *bench.Result, look style.Look, w int) string {
	if r == nil {
		return look.Dim.Paint(draw.Fit("rows not read yet", w))
	}
	counts := fmt.Sprintf("%d rows", len(r.AllRows()))
	if r.Truth == nil {
		return draw.Fit(counts+look.Dim.Paint("  not judged"), w)
	}
	paint := look.Bad
	if r.Truth.Outcome == bench.OutcomePass {
		paint = look.Good
	}
	s := paint.Paint(string(r.Truth.Outcome)) + "  " + counts
	if len(r.Truth.Reasons) > 0 {
		s += ": " + r.Truth.Reasons[0].Text
	}
	return draw.Fit(s, w)
}

// runLines names the runs that are going.
func runLines(e *view.Env, w int) []string {
	var out []string
	for i := range e.Snap.Runs {
		r := &e.Snap.Runs[i]
		if r.State.Final() {
			continue
		}
		s := string(r.State) + " " + r.Manifest.Preset
		if r.Progress.Expected != nil {
			s += fmt.Sprintf("  %d of %d cells", r.Progress.Done, *r.Progress.Expected)
		} else if r.Progress.Done > 0 {
			s += fmt.Sprintf("  %d cells", r.Progress.Done)
		}
		out = append(out, draw.Fit(e.Look.Accent.Paint(s), w))
	}
	return out
}

func statusWords(status, why string) string {
	if status == "ok" {
		return ""
	}
	return "(" + status + " " + why + ")"
}
