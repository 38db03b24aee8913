package stalls

import (
	"strconv"
	"strings"

	"kdapilot/engine/stall"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

func (s *Screen) note(t int) string {
	note := orders()[t][s.sort[t]].name
	if s.flip[t] {
		note += ", turned round"
	}
	if s.filter[t] != "" {
		note += "  /" + s.filter[t]
	}
	return note
}

// table draws a list and remembers how many rows it shows.
func (s *Screen) draw(p pane, t draw.Table, w, h int, look style.Look) []string {
	s.page[p] = max(t.Height(h), 1)
	t.Top = draw.Window(0, t.Selected, t.Len, s.page[p])
	return t.Render(w, h, look)
}

func (s *Screen) nothing(t int, why string) string {
	if s.filter[t] != "" {
		return "nothing fits the filter " + s.filter[t]
	}
	return why
}

// classTable is the bars. With a base, its share, the points and the word stand
// beside them; where the two can not be compared, the word alone.
func (s *Screen) classTable(e *view.Env, m *model, w, h int) []string {
	look := e.Look
	t := draw.Table{
		Len: len(m.classes), Selected: s.classAt(m), Noun: noun(len(m.classes), "class"), Note: s.note(tClasses),
		Empty: s.nothing(tClasses, "nothing stalled in the sampled waves"),
	}
	switch {
	case s.perHit:
		s.hitColumns(m, &t, w, look)
	default:
		s.shareColumns(m, &t, w, look)
	}
	return s.draw(drill, t, w, h, look)
}

func (s *Screen) shareColumns(m *model, t *draw.Table, w int, look style.Look) {
	top := 0.0
	for i := range m.classes {
		top = max(top, m.classes[i].share())
		if d := m.classes[i].d; d != nil {
			top = max(top, float64(d.Before))
		}
	}
	based := m.delta != nil
	barW := barWidth(w, 24, based)
	t.Columns = []draw.Column{
		{Title: "class", Min: classW(w, based), Max: 12},
		{Title: "%", Align: draw.Right},
	}
	if barW > 0 {
		t.Columns = append(t.Columns, draw.Column{Title: "", Min: barW, Max: barW, Priority: 1})
	}
	if based {
		t.Columns = append(t.Columns,
			draw.Column{Title: "base", Align: draw.Right},
			draw.Column{Title: "points", Align: draw.Right, Priority: 2},
			draw.Column{Title: "", Min: len(stall.NoChange)})
	}
	t.Columns = append(t.Columns,
		draw.Column{Title: "cyc/hit", Align: draw.Right, Priority: 3},
		draw.Column{Title: "hits", Align: draw.Right, Priority: 5},
		draw.Column{Title: "insts", Align: draw.Right, Priority: 6})
	t.Row = func(i int) []string {
		c := &m.classes[i]
		out := []string{className(c.Class, look), pct(stall.Num(c.share()))}
		if barW > 0 {
			bar := draw.Bar(c.share(), top, barW, look)
			if based && m.delta.Comparable {
				bar = draw.BarPair(float64(c.d.Before), c.share(), top, barW, look)
			}
			out = append(out, look.Bar.Paint(bar))
		}
		if based {
			points := "-"
			if m.delta.Comparable {
				points = view.Signed(float64(c.d.DeltaPP), 2)
			}
			out = append(out, look.Before.Paint(pct(c.d.Before)), points, changePaint(c.d, earned(m), look).Paint(string(c.d.Verdict)))
		}
		if c.cand == nil {
			return append(out, "-", "-", "-")
		}
		return append(out, cycles(c.cand.PerHit), counted(c.cand.Hits), counted(int64(c.cand.Insts)))
	}
}

func (s *Screen) hitColumns(m *model, t *draw.Table, w int, look style.Look) {
	top := 0.0
	for i := range m.classes {
		if v, ok := m.classes[i].cost(); ok {
			top = max(top, v)
		}
		if d := m.classes[i].d; d != nil && d.HitBefore != nil {
			top = max(top, float64(*d.HitBefore))
		}
	}
	based := m.delta != nil
	barW := barWidth(w, 18, based)
	t.Columns = []draw.Column{
		{Title: "class", Min: classW(w, based), Max: 12},
		{Title: "cyc/hit", Align: draw.Right},
	}
	if barW > 0 {
		t.Columns = append(t.Columns, draw.Column{Title: "", Min: barW, Max: barW, Priority: 1})
	}
	if based {
		t.Columns = append(t.Columns,
			draw.Column{Title: "base", Align: draw.Right},
			draw.Column{Title: "ratio", Align: draw.Right})
	}
	t.Columns = append(t.Columns,
		draw.Column{Title: "% stall", Align: draw.Right, Priority: 2},
		draw.Column{Title: "hits", Align: draw.Right, Priority: 4},
		draw.Column{Title: "insts", Align: draw.Right, Priority: 5})
	t.Row = func(i int) []string {
		c := &m.classes[i]
		v, _ := c.cost()
		var cost *stall.Num
		if c.cand != nil {
			cost = c.cand.PerHit
		}
		out := []string{className(c.Class, look), cycles(cost)}
		if barW > 0 {
			out = append(out, look.Bar.Paint(draw.Bar(v, top, barW, look)))
		}
		if based {
			r := "-"
			if m.delta.Comparable {
				r = ratioOf(c.d.HitBefore, c.d.HitAfter)
			}
			out = append(out, look.Before.Paint(cycles(c.d.HitBefore)), r)
		}
		out = append(out, pct(stall.Num(c.share())))
		if c.cand == nil {
			return append(out, "-", "-")
		}
		return append(out, counted(c.cand.Hits), counted(int64(c.cand.Insts)))
	}
}

// barWidth is what the bar gets: what is left when the columns that have to
// stay took theirs; others is the room of those that come with a wide screen.
func barWidth(w, others int, based bool) int {
	left := w - 2 - classW(w, based) - 2 - 7
	if based {
		left -= 2 + 5 + 2 + 6 + 2 + len(stall.NoChange)
	}
	switch {
	case w >= 100:
		left -= others
	case w >= 70:
		left -= 9
	}
	if left < 6 {
		return 0
	}
	return min(left, 80)
}

// classW is the room of a class's name: the longest one, where there is room.
func classW(w int, based bool) int {
	if based && w < 44 {
		return 8
	}
	return len(stall.VMemStore) + 1
}

func className(c stall.Class, look style.Look) string {
	if c.IsBubble() {
		return look.Strong.Paint(mark(c))
	}
	return mark(c)
}

// counted is a count that is 0 only when nobody counted.
func counted(n int64) string {
	if n == 0 {
		return "-"
	}
	return hits(n)
}

func (s *Screen) lineTable(e *view.Env, m *model, w, h int) []string {
	look := e.Look
	top := 0.0
	for i := range m.lines {
		top = max(top, float64(m.lines[i].OfClass))
	}
	barW := min(max(w-86, 0), 30)
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "source line", Min: min(18, w/2), Middle: true, Grow: true},
			{Title: "% class", Align: draw.Right},
			{Title: "% all", Align: draw.Right, Priority: 1},
			{Title: "", Min: max(barW, 1), Max: max(barW, 1), Priority: 6},
			{Title: "cyc/hit", Align: draw.Right, Priority: 2},
			{Title: "dominant", Min: 8, Max: 11, Priority: 3},
			{Title: "hits", Align: draw.Right, Priority: 4},
			{Title: "insts", Align: draw.Right, Priority: 5},
		},
		Len: len(m.lines), Selected: s.lineAt(m), Noun: noun(len(m.lines), "line"), Note: s.partNote(m, tLines),
		Empty: s.nothing(tLines, "no stall in "+string(s.class)+" any more: esc goes back"),
		Row: func(i int) []string {
			l := &m.lines[i]
			return []string{
				place(l.Source), pct(l.OfClass), pct(l.OfAll), look.Bar.Paint(draw.Bar(float64(l.OfClass), top, barW, look)),
				cycles(l.PerHit), className(l.Dom, look), hits(l.Hits), strconv.Itoa(l.Insts),
			}
		},
	}
	if barW < 8 {
		t.Columns = append(t.Columns[:3:3], t.Columns[4:]...)
		row := t.Row
		t.Row = func(i int) []string { r := row(i); return append(r[:3:3], r[4:]...) }
	}
	return s.draw(drill, t, w, h, look)
}

// partNote adds, where only stored artifacts are there, that the list is not
// whole.
func (s *Screen) partNote(m *model, t int) string {
	if m.cand.a.Rows == nil {
		return s.note(t) + "  only the artifact's 25 hotspots"
	}
	return s.note(t)
}

func (s *Screen) instTable(e *view.Env, m *model, w, h int) []string {
	look := e.Look
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "addr", Priority: 2},
			{Title: "instruction", Min: min(16, w/2), Max: 60, Grow: true},
			{Title: "% all", Align: draw.Right},
			{Title: "cyc/hit", Align: draw.Right, Priority: 1},
			{Title: "hits", Align: draw.Right, Priority: 3},
			{Title: "stalled", Align: draw.Right, Priority: 5},
			{Title: "for", Align: draw.Right, Priority: 4},
			{Title: "source line", Min: 16, Priority: 6, Middle: true},
		},
		Len: len(m.insts), Selected: s.instAt(m), Noun: noun(len(m.insts), "instruction"), Note: s.partNote(m, tInsts),
		Empty: s.nothing(tInsts, "no instruction stalls here any more: esc goes back"),
		Row: func(i int) []string {
			h := &m.insts[i]
			return []string{
				h.Addr, h.Inst, pct(m.cand.a.Bubbles.Of(h)), cycles(h.PerHit()), hits(h.Hit),
				h.StallPct.String() + "%", waitsFor(m.cand.a, h), place(h.Source),
			}
		},
	}
	if !s.every {
		t.Columns = t.Columns[:7]
	}
	return s.draw(drill, t, w, h, look)
}

// waitsFor is how many producers a wait has, "?" while nobody knows.
func waitsFor(a *stall.Analysis, h *stall.Hotspot) string {
	switch n := len(a.Waits.Edges[h.CodeLine]); {
	case n > 0:
		return strconv.Itoa(n)
	case len(h.Producers) > 0:
		return strconv.Itoa(len(h.Producers))
	case a.WaitsPending && h.Class.IsBubble() && h.Class != stall.Barrier:
		return "?"
	default:
		return "-"
	}
}

func (s *Screen) waitTable(e *view.Env, m *model, w, h int) []string {
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "memory operation", Min: min(16, w/2), Grow: true},
			{Title: "source line", Min: min(max(w/4, 14), 30), Priority: 1, Middle: true},
			{Title: "row", Align: draw.Right, Priority: 2},
		},
		Len: len(m.prods), Selected: s.prodAt(m), Noun: noun(len(m.prods), "producer"), Note: s.note(tWaits),
		Row: func(i int) []string {
			p := &m.prods[i]
			return []string{p.Inst, place(p.Source), strconv.FormatInt(p.CodeLine, 10)}
		},
	}
	if len(m.prods) == 0 && s.filter[tWaits] == "" {
		s.page[drill] = 1
		return draw.Block(draw.Wrap(pending(m.cand.a, m.hot(s.inst)), w), w, h)
	}
	t.Empty = s.nothing(tWaits, "")
	return s.draw(drill, t, w, h, e.Look)
}

// bundleTable lists the bundles: C marks the candidate, B the base.
func (s *Screen) bundleTable(e *view.Env, m *model, w, h int) []string {
	look := e.Look
	sel := -1
	if s.focus == bundles {
		sel = s.bundleAt(m)
	}
	about := s.bundleLines(e, m, w)
	if len(m.bundles)+2+len(about) > h {
		about = about[:max(min(len(about), h-5), 0)]
	}
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "", Min: 1, Max: 1},
			{Title: "bundle", Min: min(max(w*2/5-2, 14), w/2), Middle: true, Grow: true},
			{Title: "state", Min: 12, Priority: 1},
			{Title: "age", Align: draw.Right, Priority: 2},
			{Title: "asks", Min: 8, Max: 24, Priority: 3},
			{Title: "kind", Priority: 4},
		},
		Len: len(m.bundles), Selected: sel, Noun: noun(len(m.bundles), "bundle"), Note: bundleNote(s),
		Empty: s.nothing(tBundles, "no bundle"),
		Row: func(i int) []string {
			b := m.bundles[i]
			return []string{markOf(m, b), b.short, statePaint(b, look).Paint(b.state()), ageOf(e, b), b.question(), b.Kind}
		},
	}
	return append(s.draw(bundles, t, w, max(h-len(about), 0), look), about...)
}

// bundleLines say more about the bundle under the cursor.
func (s *Screen) bundleLines(e *view.Env, m *model, w int) []string {
	i := s.bundleAt(m)
	if s.focus != bundles || i < 0 {
		return nil
	}
	b, look := m.bundles[i], e.Look
	out := []string{draw.FitMiddle(b.Name, w)}
	if b.a == nil {
		paint := look.Dim
		if b.err != "" {
			paint = look.Bad
		}
		return append(out, draw.Wrap(paint.Paint(b.why()), w)...)
	}
	out = append(out, draw.Wrap(freshPaint(b.a.Freshness.Verdict, look).Paint(freshText(b.a)), w)...)
	out = append(out, draw.FitMiddle(b.a.Trust.Kernel, w))
	return append(out, draw.Wrap(look.Dim.Paint(strings.Join(trust(&b.a.Trust), ", ")), w)...)
}

func bundleNote(s *Screen) string {
	note := "enter opens, b base"
	if s.filter[tBundles] != "" || s.sort[tBundles] > 0 || s.flip[tBundles] {
		note = s.note(tBundles)
	}
	return note
}

func statePaint(b *bundleView, look style.Look) style.Token {
	switch {
	case b.a != nil:
		return freshPaint(b.a.Freshness.Verdict, look)
	case b.err != "":
		return look.Bad
	default:
		return look.Dim
	}
}

func markOf(m *model, b *bundleView) string {
	switch b {
	case m.base:
		return "B"
	case m.cand:
		return "C"
	default:
		return ""
	}
}
