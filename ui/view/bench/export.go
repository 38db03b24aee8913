package bench

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// export asks in which form the numbers are to be kept. All cells go out, also
// those a filter hides: a file that leaves reds out would lie.
func (s *Screen) export(e *view.Env, m *model) view.Ask {
	pane := draw.Plain(s.Render(e, s.w, s.h))
	return view.Ask{Prompt: &view.Prompt{
		Title: "write to a file",
		Entries: []view.Entry{
			{Label: "CSV", Note: "one line per cell, all cells"},
			{Label: "JSON", Note: "the comparison as `compare --json` prints it"},
			{Label: "Markdown", Note: "regimes, holes and cells as tables"},
			{Label: "pane", Note: "what is on screen, as text"},
		},
		Accept: func(_ *view.Env, _ string, i int) view.Ask {
			name, text := "bench", pane
			switch i {
			case 0:
				name, text = "bench.csv", asCSV(m)
			case 1:
				name, text = "bench.json", asJSON(m)
			case 2:
				name, text = "bench.md", asMarkdown(m)
			case 3:
			default:
				return view.Ask{Say: "nothing written: choose one of the four"}
			}
			return view.Ask{Do: []session.Action{session.WriteFile{Name: name, Text: text}}}
		},
	}}
}

func asCSV(m *model) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	// A strings.Builder never fails, so neither does the writer.
	if m.delta == nil {
		_ = w.Write([]string{"key", "section", "status", "us", "tflops", "max_err", "min_cos", "error"})
		for _, r := range alone(m) {
			_ = w.Write([]string{r.Key, r.Section, string(r.Status), num(r.US), num(r.TFLOPS), num(r.MaxErr), num(r.MinCos), r.Error})
		}
		w.Flush()
		return b.String()
	}
	_ = w.Write([]string{"key", "section", "regime", "n_base", "n_cand", "base_us", "cand_us", "ratio", "ci95_low", "ci95_high", "p", "p_holm", "verdict", "base_status", "cand_status", "flags", "why"})
	for i := range m.delta.Comparison.Cells {
		c := &m.delta.Comparison.Cells[i]
		id := c.Section + sep + c.Key
		lo, hi := "", ""
		if c.CI95 != nil {
			lo, hi = num(bench.Of(c.CI95[0])), num(bench.Of(c.CI95[1]))
		}
		_ = w.Write([]string{
			c.Key, c.Section, c.Regime, strconv.Itoa(c.NBase), strconv.Itoa(c.NCand), num(c.BaseMedian), num(c.CandMedian), num(c.Ratio), lo, hi,
			num(c.P), num(c.PHolm), string(c.Verdict), status(m.rowsOf[0][id]), status(m.rowsOf[1][id]), strings.Join(c.Flags, " "), c.Why,
		})
	}
	w.Flush()
	return b.String()
}

func alone(m *model) []bench.Row {
	if m.cand == nil || m.cand.Result == nil {
		return nil
	}
	return m.cand.Result.AllRows()
}

func num(n bench.Num) string {
	if !n.OK {
		return ""
	}
	return n.String()
}

func asJSON(m *model) string {
	var v any = alone(m)
	if m.delta != nil {
		v = m.delta.Comparison
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "can not be written as JSON: " + err.Error() + "\n"
	}
	return string(b) + "\n"
}

func asMarkdown(m *model) string {
	var b strings.Builder
	line := func(cells ...string) {
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	if m.delta == nil {
		line("cell", "section", "status", "us", "max_err", "min_cos", "error")
		line("---", "---", "---", "---:", "---:", "---:", "---")
		for _, r := range alone(m) {
			line(r.Key, r.Section, string(r.Status), micros(r.US), sci(r.MaxErr), cosine(r.MinCos), r.Error)
		}
		return b.String()
	}
	c := &m.delta.Comparison
	if simulatedAny(m.snap, m) {
		b.WriteString("**SIMULATED: the tools were stand-ins, no number here is evidence.**\n\n")
	}
	fmt.Fprintf(&b, "Base: %s (%s). Candidate: %s (%s). Runs: %d and %d.\n\n", c.Base, side(m, m.base), c.Cand, side(m, m.cand), m.nBase, m.nCand)
	fmt.Fprintf(&b, "Verdict: **%s**: %s\n\nRatios are candidate/base time; below 1 is faster.\n\n", c.Verdict, c.Why)
	line("regime", "n", "faster", "slower", "same", "undecided", "holes", "geomean", "95 % interval", "range", "worst cell")
	line("---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---", "---", "---")
	for i := range c.Regimes {
		r := &c.Regimes[i]
		line(r.Name, strconv.Itoa(r.N), strconv.Itoa(r.Wins), strconv.Itoa(r.Losses), strconv.Itoa(r.Same), strconv.Itoa(r.Undecided), strconv.Itoa(len(r.Holes)), ratio(r.Geomean), interval(r.GeomeanCI), span(r.Min, r.Max), r.Worst)
	}
	b.WriteString("\n")
	line("cell", "section", "n", "base us", "cand us", "ratio", "95 % interval", "p (Holm)", "verdict", "why")
	line("---", "---", "---", "---:", "---:", "---:", "---", "---:", "---", "---")
	for i := range c.Cells {
		x := &c.Cells[i]
		line(x.Key, x.Section, fmt.Sprintf("%d/%d", x.NBase, x.NCand), micros(x.BaseMedian), micros(x.CandMedian), ratio(x.Ratio), ci(x), x.PHolm.String(), string(x.Verdict), remark(x))
	}
	return b.String()
}

func side(m *model, set *session.RowSet) string {
	if set == nil {
		return "gone"
	}
	word, _ := worth(m.snap, set, style.Look{})
	return word
}

// Facts for the clipboard: one line each, with what must stand beside them.

func setFact(e *view.Env, set *session.RowSet) string {
	word, _ := worth(e.Snap, set, e.Look)
	return set.Label + ": " + word + ", " + strings.Join(factsOf(set, 0), ", ")
}

func regimeFact(r *bench.RegimeResult) string {
	return fmt.Sprintf("%s: n %d, %d faster, %d slower, %d same, %d undecided, %d holes, geomean ratio %s (%s), range %s, worst %s",
		r.Name, r.N, r.Wins, r.Losses, r.Same, r.Undecided, len(r.Holes), ratio(r.Geomean), interval(r.GeomeanCI), span(r.Min, r.Max), r.Worst)
}

func cellFact(c *cellView) string {
	return fmt.Sprintf("%s: base %s us (n %d, %s), cand %s us (n %d, %s), ratio %s %s, %s %s",
		c.Key, micros(c.BaseMedian), c.NBase, status(c.base), micros(c.CandMedian), c.NCand, status(c.cand), ratio(c.Ratio), ci(c.Cell), c.Verdict, remark(c.Cell))
}

func rowFact(r *bench.Row) string {
	return fmt.Sprintf("%s: %s, %s us, max_err %s, min_cos %s %s", r.Key, r.Status, micros(r.US), sci(r.MaxErr), cosine(r.MinCos), r.Error)
}
