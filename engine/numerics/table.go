package numerics

import (
	"fmt"
	"math"
	"strings"
)

// Table is the result as plain text: what was computed, then one line per
// design. It ends with a newline and has no tabs or control characters.
func (r Result) Table() string {
	var b strings.Builder
	for _, l := range r.heading() {
		b.WriteString(l + "\n")
	}
	rows := [][]string{r.columns()}
	for _, o := range r.Designs {
		rows = append(rows, r.cells(o))
	}
	b.WriteString(align(rows))
	return b.String()
}

// heading says what the numbers depend on.
func (r Result) heading() []string {
	var lines []string
	switch {
	case r.Config.Attention != nil:
		c := r.Config.Attention
		mask := "non-causal"
		if c.Causal {
			mask = "causal"
		}
		lines = append(lines,
			fmt.Sprintf("attention  %s  %s", c.Shape, mask),
			fmt.Sprintf("inputs %s, scales %s, values %s, output %s", c.Inputs, c.Scales, c.Values, c.Output),
			"reference f64 from "+string(c.Reference)+" inputs")
	case r.Config.GEMM != nil:
		c := r.Config.GEMM
		lines = append(lines,
			fmt.Sprintf("MXFP4 GEMM  M%d N%d K%d  per-1x%d e8m0 scales", c.M, c.N, c.K, mxBlock),
			fmt.Sprintf("values %s, output %s", c.Values, c.Output),
			"reference f64 from "+string(c.Reference)+" operands, quant_ columns always from original ones")
	default:
		lines = append(lines, "no configuration recorded")
	}
	lines = append(lines, fmt.Sprintf("seed %d", r.Seed))
	if r.ElapsedSeconds != nil {
		lines[len(lines)-1] += fmt.Sprintf(", %.2f s", *r.ElapsedSeconds)
	}
	if len(r.Designs) > 0 {
		lines = append(lines, "gate "+r.Designs[0].Gate.String())
	}
	return append(lines, "")
}

// String is the gate in the words of the harness.
func (g Gate) String() string {
	var parts []string
	if g.MaxErr != nil {
		parts = append(parts, fmt.Sprintf("max_err < %g", *g.MaxErr))
	}
	if g.MinCos != nil {
		parts = append(parts, fmt.Sprintf("min_cos > %g", *g.MinCos))
	}
	if g.LogitsDiff != nil {
		parts = append(parts, fmt.Sprintf("logits_diff <= %g", *g.LogitsDiff))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, " AND ")
}

func (r Result) columns() []string {
	c := []string{"design", "gate", "max_err", "min_cos", "cos"}
	if r.Probe == ProbeMXFP4GEMM {
		return append(c, "logits_diff", "quant_min_cos", "quant_logits_diff", "non_finite")
	}
	return append(c, "p_flushed", "p_saturated", "non_finite")
}

func (r Result) cells(o Outcome) []string {
	verdict := "FAIL"
	if o.Pass {
		verdict = "PASS"
	}
	c := []string{o.Name, verdict, number("%.3e", float64(o.MaxErr)), number("%.6f", float64(o.MinCos)), number("%.6f", float64(o.Cos))}
	if r.Probe == ProbeMXFP4GEMM {
		c = append(c, optional("%.3e", (*float64)(o.LogitsDiff)))
		if q := o.Quantisation; q != nil {
			c = append(c, number("%.6f", float64(q.MinCos)), number("%.3e", float64(q.LogitsDiff)))
		} else {
			c = append(c, "-", "-")
		}
	} else {
		c = append(c, percent(o.PFlushed), percent(o.PSaturated))
	}
	return append(c, fmt.Sprint(o.NonFinite))
}

// number writes "nan" for what could not be measured.
func number(format string, v float64) string {
	if math.IsNaN(v) {
		return "nan"
	}
	return fmt.Sprintf(format, v)
}

// optional writes "-" for what does not apply.
func optional(format string, v *float64) string {
	if v == nil {
		return "-"
	}
	return number(format, *v)
}

func percent(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100*(*v))
}

// align pads the first two columns on the right and the others on the left.
func align(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], len(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		for i, c := range r {
			if i > 0 {
				b.WriteString("  ")
			}
			if i < 2 {
				fmt.Fprintf(&b, "%-*s", width[i], c)
			} else {
				fmt.Fprintf(&b, "%*s", width[i], c)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
