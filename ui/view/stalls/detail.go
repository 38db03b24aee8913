package stalls

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/stall"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// detail says everything about what is selected, in lines of w cells.
func (s *Screen) detail(e *view.Env, m *model, w int) []string {
	if m.cand == nil || m.cand.a == nil {
		return nil
	}
	switch s.level {
	case classes:
		if i := s.classAt(m); i >= 0 {
			return s.classDetail(e, m, &m.classes[i], w)
		}
	case lines:
		if i := s.lineAt(m); i >= 0 {
			return lineDetail(e, m, &m.lines[i], s.class, w)
		}
	case insts:
		if i := s.instAt(m); i >= 0 {
			return s.instDetail(e, m, &m.insts[i], w)
		}
	case waits:
		if h := m.hot(s.inst); h != nil {
			return s.instDetail(e, m, h, w)
		}
	}
	return []string{e.Look.Dim.Paint(draw.Fit("nothing selected", w))}
}

// pairs collects label and value lines; what is no pair goes between them.
type pairs struct {
	list []draw.Pair
	out  []string
	w    int
	look style.Look
}

func (p *pairs) add(label, value string) {
	p.list = append(p.list, draw.Pair{Label: label, Value: value})
}

func (p *pairs) lines(l ...string) {
	p.flush()
	for _, x := range l {
		p.out = append(p.out, draw.Fit(x, p.w))
	}
}

func (p *pairs) flush() {
	if len(p.list) > 0 {
		p.out = append(p.out, draw.KVs(p.list, p.w, p.look)...)
		p.list = nil
	}
}

func (s *Screen) classDetail(e *view.Env, m *model, c *classView, w int) []string {
	look := e.Look
	p := pairs{w: w, look: look}
	kind := "not a bubble: "
	if c.isBubble {
		kind = "bubble: "
	}
	p.add("class", look.Strong.Paint(string(c.Class))+"  "+kind+meaning(c.Class))
	p.add("share", shareLine(m, c, look))
	p.add("cost", costLine(m, c))
	if c.d != nil && c.d.Note != "" && m.delta.Comparable {
		p.add("mind", look.Warn.Paint(c.d.Note))
	}
	s.hottest(m, c.Class, &p)
	if m.delta != nil {
		targets(m.delta, &p, look)
	}
	p.flush()
	if !s.split(w) {
		p.lines("", look.Title.Paint("hypotheses, not facts"))
		p.out = append(p.out, hypothesisLines(e, m, w)...)
	}
	return p.out
}

// split reports whether the hypotheses have a pane of their own beside the
// detail.
func (s *Screen) split(int) bool { return s.w >= 160 && term.ClassOf(s.w, s.h) == term.FourPanes }

func shareLine(m *model, c *classView, look style.Look) string {
	out := pct(stall.Num(c.share())) + " % of stall"
	if c.cand != nil {
		out += fmt.Sprintf(" (rank %d)", c.cand.Rank)
	}
	if c.d == nil {
		return out
	}
	out += ", base " + pct(c.d.Before) + " %"
	if c.d.RankBefore != nil {
		out += fmt.Sprintf(" (rank %d)", *c.d.RankBefore)
	}
	if m.delta.Comparable {
		out += ", " + view.Signed(float64(c.d.DeltaPP), 2) + " points"
	}
	return out + ": " + changePaint(c.d, earned(m), look).Paint(string(c.d.Verdict))
}

func costLine(m *model, c *classView) string {
	var parts []string
	if c.cand == nil {
		parts = append(parts, "no stall in the candidate")
	} else if c.cand.PerHit != nil {
		parts = append(parts, cycles(c.cand.PerHit)+" stall cycles per hit")
	} else {
		parts = append(parts, "cycles per hit unknown")
	}
	if c.d != nil && c.d.HitBefore != nil {
		base := "base " + cycles(c.d.HitBefore)
		if r := ratioOf(c.d.HitBefore, c.d.HitAfter); m.delta.Comparable && r != "-" {
			base += " (" + r + ")"
		}
		parts = append(parts, base)
	}
	if c.cand != nil && c.cand.Insts > 0 {
		parts = append(parts, view.Count(c.cand.Insts, "instruction"), hits(c.cand.Hits)+" hits")
	}
	return strings.Join(parts, ", ")
}

// hottest names the first source lines or instructions of a class.
func (s *Screen) hottest(m *model, c stall.Class, p *pairs) {
	const most = 3
	label := "lines"
	if s.isa {
		label = "insts"
		all := m.facts.instsOf(c)
		for i := range all[:min(most, len(all))] {
			h := &all[i]
			p.add(label, fmt.Sprintf("%s %%  %s  %s", pct(m.cand.a.Bubbles.Of(h)), h.Addr, h.Inst))
			label = ""
		}
		return
	}
	all := m.facts.linesOf(c)
	for i := range all[:min(most, len(all))] {
		p.add(label, fmt.Sprintf("%s %% of all  %s", pct(all[i].OfAll), place(all[i].Source)))
		label = ""
	}
}

// targets are the things a person may mean by "the bubble"; those about one
// class share a line.
func targets(d *stall.Delta, p *pairs, look style.Look) {
	label := "moved"
	for i := range d.Targets {
		t := &d.Targets[i]
		first := slices.IndexFunc(d.Targets, func(x stall.Target) bool { return x.Class == t.Class })
		if first < i {
			continue
		}
		var kinds []string
		for _, x := range d.Targets {
			if x.Class != t.Class {
				continue
			}
			kind := x.Kind
			if x.Now != x.Class && x.Now != "" {
				kind += " (now " + string(x.Now) + ")"
			}
			kinds = append(kinds, kind)
		}
		text := string(t.Class) + " "
		if d.Comparable {
			text += fmt.Sprintf("%s -> %s %%, %s", pct(t.Before), pct(t.After), t.Verdict)
		} else {
			text += string(t.Verdict)
		}
		p.add(label, text+look.Dim.Paint("; was "+strings.Join(kinds, ", ")))
		label = ""
	}
}

func lineDetail(e *view.Env, m *model, l *stall.LineShare, c stall.Class, w int) []string {
	look := e.Look
	p := pairs{w: w, look: look}
	p.add("line", where(l.Source, look))
	p.add("share", fmt.Sprintf("%s %% of %s, %s %% of all stall; mostly %s", pct(l.OfClass), c, pct(l.OfAll), l.Dom))
	p.add("cost", fmt.Sprintf("%s stall cycles per hit, %s hits, %s", cycles(l.PerHit), hits(l.Hits), view.Count(l.Insts, "instruction")))
	p.lines(snippet(m.cand.a, l.Source, w, look)...)
	all := m.facts.instsAt(c, l.Source)
	label := "insts"
	for i := range all[:min(3, len(all))] {
		h := &all[i]
		p.add(label, fmt.Sprintf("%s %%  %s  %s", pct(m.cand.a.Bubbles.Of(h)), h.Addr, h.Inst))
		label = ""
	}
	p.flush()
	return p.out
}

// where is a source line with its folder, which is long and matters less.
func where(source string, look style.Look) string {
	if source == "" {
		return "maps to no source line"
	}
	out := look.Strong.Paint(place(source))
	if i := strings.LastIndexByte(source, '/'); i > 0 && !strings.Contains(source, " -> ") {
		out += look.Dim.Paint("  in " + source[:i])
	}
	return out
}

func (s *Screen) instDetail(e *view.Env, m *model, h *stall.Hotspot, w int) []string {
	look, a := e.Look, m.cand.a
	p := pairs{w: w, look: look}
	p.add("inst", h.Addr+"  "+look.Strong.Paint(h.Inst))
	p.add("share", fmt.Sprintf("%s %% of all stall; stalled %s %% of its own latency", pct(a.Bubbles.Of(h)), h.StallPct))
	p.add("cost", fmt.Sprintf("%s stall cycles per hit, %s hits, class %s", cycles(h.PerHit()), hits(h.Hit), h.Class))
	p.add("line", where(h.Source, look))
	if s.level != waits {
		producerPairs(m, h, &p)
	}
	src, isa := snippet(a, h.Source, w, look), aroundLines(a, h.CodeLine, w, look)
	if s.isa {
		src, isa = isa, src
	}
	p.lines(src...)
	p.lines(isa...)
	if s.level == waits && len(m.prods) > 0 {
		pr := &m.prods[s.prodAt(m)]
		p.add("producer", look.Strong.Paint(pr.Inst))
		p.add("its line", place(pr.Source))
		p.lines(snippet(a, pr.Source, w, look)...)
	}
	p.flush()
	return p.out
}

func producerPairs(m *model, h *stall.Hotspot, p *pairs) {
	all := m.facts.producersOf(h.CodeLine)
	label := "waits for"
	for i, x := range all {
		if i == 4 {
			p.add("", fmt.Sprintf("and %d more: enter lists them", len(all)-i))
			break
		}
		p.add(label, x.Inst+"  "+p.look.Dim.Paint(place(x.Source)))
		label = ""
	}
	if len(all) == 0 {
		p.add(label, p.look.Dim.Paint(pending(m.cand.a, h)))
	}
}

// snippet is the source around a line, or one line that says why it is not
// here.
func snippet(a *stall.Analysis, source string, w int, look style.Look) []string {
	if source == "" {
		return nil
	}
	sn, ok := a.Snippets[source]
	if !ok {
		return []string{look.Dim.Paint(draw.Fit(noSnippet(a, source), w))}
	}
	width := len(strconv.Itoa(sn.Line + len(sn.Lines)))
	out := make([]string, 0, len(sn.Lines))
	for _, l := range sn.Lines {
		text := strings.ReplaceAll(l.Text, "\t", "    ")
		sign := " "
		if l.Hot {
			sign = look.Pointer
		}
		text = draw.Fit(fmt.Sprintf("%s %*d  %s", sign, width, l.N, text), w)
		if l.Hot {
			text = look.Strong.Paint(text)
		} else {
			text = look.Code.Paint(text)
		}
		out = append(out, text)
	}
	return out
}

func noSnippet(a *stall.Analysis, source string) string {
	path, _, _ := stall.SplitSource(source)
	for _, f := range a.Freshness.Files {
		if f.Traced == path && f.State == stall.NoCopy {
			return "source text: its copy is missing beside the trace"
		}
	}
	if a.Dir == "" {
		return "source text: no decoded trace here, so no copies of the sources"
	}
	if len(a.Snippets) == 0 {
		return "source text: no copies of the sources beside the trace"
	}
	return "source text: kept for the 25 hottest lines only"
}

// aroundLines are the instructions before and after one, in program order.
func aroundLines(a *stall.Analysis, line int64, w int, look style.Look) []string {
	rows, at := a.Around(line, 4)
	out := make([]string, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		share := a.Bubbles.Of(&stall.Hotspot{Stall: r.Stall})
		sign := " "
		if i == at {
			sign = look.Pointer
		}
		text := draw.Fit(fmt.Sprintf("%s %6s %%  %#x  %s", sign, pct(share), r.Addr, r.ISA), w)
		if r.IsLabel() {
			text = draw.Fit("  "+r.ISA, w)
		}
		if i == at {
			text = look.Strong.Paint(text)
		}
		out = append(out, text)
	}
	return out
}
