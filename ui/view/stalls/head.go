package stalls

import (
	"fmt"
	"strings"

	"kdapilot/engine/stall"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

const labelW = 5

// headLine is one line of the head; of too many the highest rank goes first.
type headLine struct {
	text string
	rank int
	more bool // goes on from the line before
	cut  bool // what went on from here was dropped
}

// head says where one is, what the capture is for, how far it carries and what
// it is compared with, in about h lines. Where one is, that coverage is too
// weak for a verdict, and the verdict itself go only beyond most lines.
func (s *Screen) head(e *view.Env, m *model, w, h, most int) []string {
	all := []headLine{{text: s.path(e, m, w)}}
	if m.cand == nil || m.cand.a == nil {
		return []string{all[0].text}
	}
	all = append(all, weakLines(e, m, w)...)
	all = append(all, baseLines(e, m, w)...)
	all = append(all, aboutLines(e, m.cand, w)...)
	for len(all) > max(h, 1) {
		k := 0
		for i := range all {
			if all[i].rank > all[k].rank || all[i].rank == all[k].rank && all[k].rank > 0 {
				k = i
			}
		}
		if all[k].rank == 0 && len(all) <= most {
			break
		}
		if all[k].rank == 0 {
			k = len(all) - 1 // where one is goes last
		}
		if all[k].more {
			all[k-1].cut = true
		}
		all = append(all[:k], all[k+1:]...)
	}
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].text
		if all[i].cut {
			out[i] = draw.Cut(all[i].text, 0, w-1) + style.Cut
		}
	}
	return out
}

// add appends text below a label, wrapped to at most most lines; the rank rises
// by more after the first.
func add(out []headLine, label, text string, most, rank, more, w int, look style.Look) []headLine {
	for i, l := range wrapped(label, text, labelW, w, look) {
		if i == most {
			out[len(out)-1].cut = true
			break
		}
		out = append(out, headLine{text: l, rank: rank + min(i, 1)*more, more: i > 0})
	}
	return out
}

// path is the breadcrumb: bundle, class, source line, instruction.
func (s *Screen) path(e *view.Env, m *model, w int) string {
	look := e.Look
	if m.cand == nil {
		return draw.Fit("no bundle", w)
	}
	parts := []string{m.cand.short}
	if m.cand.a != nil {
		if s.level >= lines {
			parts = append(parts, string(s.class))
		}
		if s.level >= insts {
			if s.every {
				parts = append(parts, "all lines")
			} else {
				parts = append(parts, place(s.source))
			}
		}
		if s.level == waits {
			parts = append(parts, strings.SplitN(s.instName(m), " ", 2)[0])
		}
		if len(parts) > 1 && w < 60 {
			parts = parts[1:]
		}
	}
	label := "at"
	room := w - labelW - 1
	if e.Snap.Simulated {
		room -= len("SIMULATED ")
	}
	text := crumbs(parts, room, look)
	if e.Snap.Simulated {
		text = look.Simulated.Paint("SIMULATED") + " " + text
	}
	return draw.KV(label, text, labelW, w, look)
}

// instName is the instruction drilled into, by address.
func (s *Screen) instName(m *model) string {
	if h := m.hot(s.inst); h != nil {
		return h.Addr + " " + h.Inst
	}
	return fmt.Sprintf("line %d", s.inst)
}

// crumbs joins the parts in w cells; the longest is cut in its middle until all
// fit, the last one stays strong.
func crumbs(parts []string, w int, look style.Look) string {
	const sep = " > "
	width := make([]int, len(parts))
	total := len(sep) * (len(parts) - 1)
	for i, p := range parts {
		width[i] = draw.Width(p)
		total += width[i]
	}
	for total > w {
		k := 0
		for i := range width {
			if width[i] > width[k] {
				k = i
			}
		}
		if width[k] <= 4 {
			break
		}
		width[k]--
		total--
	}
	for i := range parts {
		parts[i] = draw.FitMiddle(parts[i], width[i])
		if i == len(parts)-1 {
			parts[i] = look.Strong.Paint(parts[i])
		}
	}
	return strings.Join(parts, look.Dim.Paint(sep))
}

// weakLines warn before anything else is read.
func weakLines(e *view.Env, m *model, w int) []headLine {
	var out []headLine
	for _, side := range []struct {
		label string
		b     *bundleView
	}{{"weak", m.cand}, {"weak", m.base}} {
		a := analysisOf(side.b)
		if a == nil || !a.Trust.Weak {
			continue
		}
		t := &a.Trust
		text := fmt.Sprintf("only %s of the kernel executed: no verdict", percent(t.ExecutedPct))
		if side.b == m.base {
			text = "base: " + text
		}
		out = add(out, side.label, e.Look.Bad.Paint(text), 2, 0, 0, w, e.Look)
	}
	return out
}

// baseLines say what it is compared with and what came of it.
func baseLines(e *view.Env, m *model, w int) []headLine {
	look := e.Look
	var out []headLine
	switch {
	case m.base == nil && len(m.all) < 2:
		return add(topLines(m, w, look), "base", look.Dim.Paint("none: the only bundle"), 1, 3, 0, w, look)
	case m.base == nil:
		return append(topLines(m, w, look), headLine{text: draw.KV("base", look.Dim.Paint("no base picked: b on an older bundle"), labelW, w, look)})
	case m.base.a == nil:
		return add(topLines(m, w, look), "base", look.Warn.Paint(m.base.short+": "+m.base.why()), 2, 0, 0, w, look)
	}
	state := freshPaint(m.base.a.Freshness.Verdict, look).Paint(string(m.base.a.Freshness.Verdict))
	if m.cand.ModTime.Before(m.base.ModTime) {
		state += look.Warn.Paint(", newer than the candidate")
	}
	right := state + " " + look.Dim.Paint(ageOf(e, m.base)) + " "
	room := w - labelW - 1
	name := draw.FitMiddle(m.base.short, max(min(draw.Width(m.base.short), room-draw.Width(right)-1), 8))
	out = append(out, headLine{text: draw.KV("base", draw.Sides(name, right, room), labelW, w, look), rank: 1})
	return append(out, verdictLines(e, m, w)...)
}

// topLines name the bubble without a base.
func topLines(m *model, w int, look style.Look) []headLine {
	b := &m.cand.a.Bubbles
	text := "nothing stalled in the sampled waves"
	if top, ok := b.TopBubble(); ok {
		text = look.Strong.Paint(string(top.Class)) + " " + pct(top.Pct) + " % of stall, the top bubble"
		if top.Rank > 1 {
			text += fmt.Sprintf(" (rank %d)", top.Rank)
		}
	} else if top, ok := b.Top(); ok {
		text = "no bubble; most stall in " + look.Strong.Paint(string(top.Class)) + " " + pct(top.Pct) + " %"
	}
	text += look.Dim.Paint(fmt.Sprintf("; stall is %s %% of latency", b.Totals.StallPct))
	return add(nil, "waits", text, 2, 0, 4, w, look)
}

// verdictLines are the word on the bubble, or all reasons why there is none.
func verdictLines(e *view.Env, m *model, w int) []headLine {
	look, d := e.Look, m.delta
	if d == nil {
		return nil
	}
	var out []headLine
	if !d.Comparable {
		out = add(out, "delta", look.Bad.Paint(strings.ToUpper(string(stall.NotComparable))+": "+strings.Join(d.Reasons, "; ")), 4, 0, 0, w, look)
		return out
	}
	text := ""
	if t := mainTarget(d); t != nil {
		c := m.view(t.Class)
		paint := look.Text
		if c != nil && c.d != nil {
			paint = changePaint(c.d, earned(m), look)
		}
		text = fmt.Sprintf("%s %s %s -> %s %%, %s points", paint.Paint(strings.ToUpper(string(t.Verdict))),
			look.Strong.Paint(string(t.Class)), pct(t.Before), pct(t.After), view.Signed(float64(t.DeltaPP), 2))
		text += look.Dim.Paint(" (was " + t.Kind + ")")
		if t.Now != t.Class && t.Now != "" {
			text += ", now " + look.Strong.Paint(string(t.Now)) + " is"
		}
	}
	out = add(out, "delta", text, 3, 0, 2, w, look)
	all := fmt.Sprintf("all stall %s -> %s %% of latency, %s; floor %s points", d.StallPct.Before, d.StallPct.After, d.StallPct.Verdict, d.FloorPP)
	out = add(out, "", look.Dim.Paint(all), 2, 4, 1, w, look)
	for _, c := range d.Cautions {
		out = add(out, "", look.Warn.Paint(c), 2, 6, 1, w, look)
	}
	return out
}

// mainTarget is the bubble a person means first: the top bubble class before,
// else the top class.
func mainTarget(d *stall.Delta) *stall.Target {
	for _, kind := range []string{"top bubble class", "top class"} {
		for i := range d.Targets {
			if d.Targets[i].Kind == kind {
				return &d.Targets[i]
			}
		}
	}
	return nil
}

// earned says that green may be used: real tools, and artifacts that belong
// together.
func earned(m *model) bool {
	for _, a := range []*stall.Analysis{analysisOf(m.cand), analysisOf(m.base)} {
		if a == nil || a.Trust.Weak || a.Freshness.Verdict == stall.Inconsistent {
			return false
		}
	}
	return !m.snap.Simulated
}

// aboutLines are question, trust and freshness of the candidate.
func aboutLines(e *view.Env, b *bundleView, w int) []headLine {
	look, a := e.Look, b.a
	var out []headLine
	asks := look.Dim.Paint("no question recorded")
	if a.Question != "" {
		asks = look.Strong.Paint(a.Question)
	}
	out = add(out, "asks", asks+look.Dim.Paint(" ("+one(usedShort(a), bound(&a.Report))+")"), 2, 4, 4, w, look)
	text := strings.Join(trust(&a.Trust), ", ")
	if a.Trust.Weak {
		text = look.Warn.Paint(text)
	}
	out = add(out, "trust", text, 4, 1, 1, w, look)
	fresh := freshPaint(a.Freshness.Verdict, look).Paint(string(a.Freshness.Verdict))
	if why := decisive(&a.Freshness); why != "" {
		fresh += ": " + why
	}
	if n := len(a.Freshness.Reasons) - 1; n > 0 {
		fresh += look.Dim.Paint(fmt.Sprintf(" (+%d)", n))
	}
	if w < 60 {
		out = append(out, headLine{text: draw.KV("state", fresh, labelW, w, look), rank: 1})
	} else {
		out = add(out, "state", fresh, 2, 1, 4, w, look)
	}
	for _, f := range a.Findings {
		if f.Bad {
			out = add(out, "!", look.Bad.Paint(f.Text), 2, 3, 3, w, look)
		}
	}
	if b.err != "" {
		out = add(out, "!", look.Bad.Paint("last good reading; now "+b.err), 2, 1, 3, w, look)
	}
	if a.WaitsPending {
		out = add(out, "", look.Warn.Paint("producers of waits: still reading the wave files"), 1, 5, 0, w, look)
	}
	return out
}

// decisive is the reason that made the verdict, with files by their names: the
// first one, but what could not be verified is summed up last.
func decisive(f *stall.Freshness) string {
	if len(f.Reasons) == 0 {
		return ""
	}
	why := f.Reasons[0]
	if f.Verdict == stall.Unverifiable {
		why = f.Reasons[len(f.Reasons)-1]
	}
	words := strings.Split(why, " ")
	for i, x := range words {
		if strings.HasPrefix(x, "/") {
			words[i] = x[strings.LastIndexByte(x, '/')+1:]
		}
	}
	return strings.Join(words, " ")
}

// usedShort is usedWord for a crowded line.
func usedShort(a *stall.Analysis) string {
	if a.Used == stall.Computed {
		return "computed"
	}
	return string(a.Used)
}

// usedWord says which artifact the numbers are from.
func usedWord(a *stall.Analysis) string {
	if a.Used == stall.Computed {
		return "computed from the trace"
	}
	return "read from " + string(a.Used)
}
