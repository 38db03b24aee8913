package stalls

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"kdapilot/engine/session"
	"kdapilot/engine/stall"
	"kdapilot/engine/text"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// export asks in which form the trace is to be kept. All classes go out, also
// those a filter hides.
func (s *Screen) export(e *view.Env, m *model) view.Ask {
	if m.cand == nil || m.cand.a == nil {
		return view.Ask{Say: "nothing to write: this bundle was not read"}
	}
	pane := draw.Plain(s.Render(e, s.w, s.h))
	list := s.listCSV(m)
	return view.Ask{Prompt: &view.Prompt{
		Title: "write to a file",
		Entries: []view.Entry{
			{Label: "Markdown", Note: "trust, classes, hottest lines, hypotheses"},
			{Label: "CSV", Note: "all classes, with the base if there is one"},
			{Label: "list as CSV", Note: "the list on screen, as filtered"},
			{Label: "pane", Note: "what is on screen, as text"},
		},
		Accept: func(_ *view.Env, _ string, i int) view.Ask {
			name, body := "stalls", pane
			switch i {
			case 0:
				name, body = "stalls.md", asMarkdown(m)
			case 1:
				name, body = "stalls.csv", asCSV(m)
			case 2:
				name, body = "stalls-list.csv", list
			case 3:
			default:
				return view.Ask{Say: "nothing written: choose one of the four"}
			}
			return view.Ask{Do: []session.Action{session.WriteFile{Name: name, Text: body}}}
		},
	}}
}

// table writes CSV. A strings.Builder never fails, so neither does the writer.
func table(rows [][]string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.WriteAll(rows)
	return b.String()
}

func asCSV(m *model) string {
	rows := [][]string{{"class", "is_bubble", "share_pct", "cycles_per_hit", "hits", "instructions", "base_share_pct", "base_cycles_per_hit", "points", "verdict", "note"}}
	for i := range m.ranked {
		c := &m.ranked[i]
		r := []string{string(c.Class), strconv.FormatBool(c.isBubble), pct(stall.Num(c.share())), "", "", "", "", "", "", "", ""}
		if c.cand != nil {
			r[3] = numText(c.cand.PerHit)
			if c.cand.Insts > 0 {
				r[4], r[5] = strconv.FormatInt(c.cand.Hits, 10), strconv.Itoa(c.cand.Insts)
			}
		}
		if c.d != nil {
			r[6], r[7], r[9], r[10] = pct(c.d.Before), numText(c.d.HitBefore), string(c.d.Verdict), c.d.Note
			if m.delta.Comparable {
				r[8] = view.Signed(float64(c.d.DeltaPP), 2)
			}
		}
		rows = append(rows, r)
	}
	return table(rows)
}

// listCSV is the list that is on screen, filtered and sorted as it stands.
func (s *Screen) listCSV(m *model) string {
	b := &m.cand.a.Bubbles
	var rows [][]string
	switch s.level {
	case classes:
		rows = append(rows, []string{"class", "share_pct", "cycles_per_hit"})
		for i := range m.classes {
			c := &m.classes[i]
			cost := ""
			if c.cand != nil {
				cost = numText(c.cand.PerHit)
			}
			rows = append(rows, []string{string(c.Class), pct(stall.Num(c.share())), cost})
		}
	case lines:
		rows = append(rows, []string{"source", "of_class_pct", "of_all_pct", "cycles_per_hit", "dominant", "hits", "instructions"})
		for _, l := range m.lines {
			rows = append(rows, []string{l.Source, pct(l.OfClass), pct(l.OfAll), numText(l.PerHit), string(l.Dom), strconv.FormatInt(l.Hits, 10), strconv.Itoa(l.Insts)})
		}
	case insts:
		rows = append(rows, []string{"addr", "inst", "class", "of_all_pct", "cycles_per_hit", "hits", "source"})
		for i := range m.insts {
			h := &m.insts[i]
			rows = append(rows, []string{h.Addr, h.Inst, string(h.Class), pct(b.Of(h)), numText(h.PerHit()), strconv.FormatInt(h.Hit, 10), h.Source})
		}
	case waits:
		rows = append(rows, []string{"row", "inst", "source"})
		for _, p := range m.prods {
			rows = append(rows, []string{strconv.FormatInt(p.CodeLine, 10), p.Inst, p.Source})
		}
	}
	return table(rows)
}

func asMarkdown(m *model) string {
	a := m.cand.a
	var b strings.Builder
	line := func(cells ...string) {
		for i := range cells {
			cells[i] = strings.ReplaceAll(text.Line(cells[i]), "|", "\\|")
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	if m.snap.Simulated {
		b.WriteString("**SIMULATED: the tools were stand-ins, no number here is evidence.**\n\n")
	}
	fmt.Fprintf(&b, "Trace: %s (%s).", text.Line(m.cand.Name), usedWord(a))
	if m.base != nil && m.base.a != nil {
		fmt.Fprintf(&b, " Base: %s.", text.Line(m.base.Name))
	}
	b.WriteString("\n\n")
	if a.Trust.Weak {
		b.WriteString("**Coverage is too weak for a verdict.**\n\n")
	}
	fmt.Fprintf(&b, "Kernel: %s. Question: %s. Trust: %s. Freshness: %s.\n\n",
		text.Line(a.Trust.Kernel), text.Line(questionOf(a)), text.Line(strings.Join(trust(&a.Trust), ", ")), text.Line(freshText(a)))
	if d := m.delta; d != nil {
		if d.Comparable {
			fmt.Fprintf(&b, "Noise floor: %s points; smaller changes read \"%s\".\n\n", d.FloorPP, stall.NoChange)
		} else {
			fmt.Fprintf(&b, "**Not comparable:** %s.\n\n", text.Line(strings.Join(d.Reasons, "; ")))
		}
	}
	line("class", "bubble", "share %", "base %", "points", "verdict", "cycles/hit", "base cycles/hit")
	line("---", "---", "---:", "---:", "---:", "---", "---:", "---:")
	for i := range m.ranked {
		line(classCells(m, &m.ranked[i])...)
	}
	if top, ok := a.Bubbles.TopBubble(); ok {
		fmt.Fprintf(&b, "\nHottest lines of %s:\n\n", top.Class)
		line("source line", "% of class", "% of all", "cycles/hit")
		line("---", "---:", "---:", "---:")
		all := m.facts.linesOf(top.Class)
		for _, l := range all[:min(10, len(all))] {
			line(place(l.Source), pct(l.OfClass), pct(l.OfAll), cycles(l.PerHit))
		}
	}
	b.WriteString("\nHypotheses (rules of flyprof that fired, not facts):\n\n")
	for i := range a.Report.Recommendations {
		r := &a.Report.Recommendations[i]
		fmt.Fprintf(&b, "%d. %s (%s): maybe %s, because %s\n", r.Rank, text.Line(r.Rule), text.Line(confidence(r, style.Look{})), text.Line(r.Knob), text.Line(because(r)))
	}
	if len(a.Report.Recommendations) == 0 {
		b.WriteString("No rule fired.\n")
	}
	return b.String()
}

func classCells(m *model, c *classView) []string {
	out := []string{string(c.Class), yesNo(c.isBubble), pct(stall.Num(c.share())), "", "", "", "-", ""}
	if c.cand != nil {
		out[6] = cycles(c.cand.PerHit)
	}
	if c.d != nil {
		out[3], out[5], out[7] = pct(c.d.Before), string(c.d.Verdict), cycles(c.d.HitBefore)
		if m.delta.Comparable {
			out[4] = view.Signed(float64(c.d.DeltaPP), 2)
		}
	}
	return out
}

func questionOf(a *stall.Analysis) string {
	if a.Question == "" {
		return "none recorded"
	}
	return a.Question
}

func freshText(a *stall.Analysis) string {
	return one(append([]string{string(a.Freshness.Verdict)}, a.Freshness.Reasons...)...)
}

// Selected implements view.Screen: one line with what must stand beside it.
func (s *Screen) Selected(e *view.Env) string {
	m := s.model(e)
	if s.focus == bundles {
		if i := s.bundleAt(m); i >= 0 {
			b := m.bundles[i]
			return text.Line(b.Name + ": " + one(b.state(), b.question(), b.why()))
		}
		return ""
	}
	if m.cand == nil || m.cand.a == nil {
		return ""
	}
	fact := s.fact(m)
	if fact == "" {
		return ""
	}
	t := &m.cand.a.Trust
	sim := ""
	if m.snap.Simulated {
		sim = "SIMULATED "
	}
	return text.Line(fmt.Sprintf("%s%s [%s %s, executed %s, %s]", sim, fact, m.cand.Name, t.Kernel, percent(t.ExecutedPct), m.cand.a.Freshness.Verdict))
}

func (s *Screen) fact(m *model) string {
	b := &m.cand.a.Bubbles
	switch s.level {
	case classes:
		if i := s.classAt(m); i >= 0 {
			c := &m.classes[i]
			return string(c.Class) + ": " + shareLine(m, c, style.Look{}) + "; " + costLine(m, c)
		}
	case lines:
		if i := s.lineAt(m); i >= 0 {
			l := &m.lines[i]
			return fmt.Sprintf("%s: %s %% of %s, %s %% of all stall, %s cycles per hit", l.Source, pct(l.OfClass), s.class, pct(l.OfAll), cycles(l.PerHit))
		}
	case insts:
		if i := s.instAt(m); i >= 0 {
			h := &m.insts[i]
			return fmt.Sprintf("%s %s at %s: %s %% of all stall, %s cycles per hit, %d hits", h.Addr, h.Inst, place(h.Source), pct(b.Of(h)), cycles(h.PerHit()), h.Hit)
		}
	case waits:
		if i := s.prodAt(m); i >= 0 {
			p := &m.prods[i]
			return fmt.Sprintf("%s waits for %s at %s", s.instName(m), p.Inst, place(p.Source))
		}
	}
	return ""
}
