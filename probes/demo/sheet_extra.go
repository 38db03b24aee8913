package demo

import (
	"context"
	"fmt"
	"strings"
)

// pair is one varlen or cross-length case.
type pair struct {
	q, kv  []int
	h, hkv int
}

// extraCases are the 13 cases of the harness.
func extraCases() []pair {
	same := func(h, hkv int, s ...int) pair { return pair{s, s, h, hkv} }
	cross := func(q, kv int) pair { return pair{[]int{q}, []int{kv}, 64, 8} }
	return []pair{
		same(64, 64, 1024, 1024), same(64, 8, 1024, 8192), same(64, 8, 1024, 8192, 3, 31, 65, 127), same(64, 64, 1, 3, 31, 33, 63, 65),
		cross(31, 65), cross(63, 33), cross(129, 255), cross(257, 127), cross(1024, 8192), cross(8192, 1024),
		{[]int{1024, 8192}, []int{8192, 1024}, 64, 8},
		{[]int{31, 33, 63, 65}, []int{65, 63, 33, 31}, 64, 64},
		{[]int{127, 129, 255, 257}, []int{257, 255, 129, 127}, 64, 8},
	}
}

func list(v []int) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ", ") }

// cut shortens a label to 24 characters as the harness does.
func cut(s string) string {
	if len(s) > 24 {
		return s[:21] + "..."
	}
	return s
}

// extraRow is one case with its numbers; c carries its dtype and mask.
type extraRow struct {
	p pair
	c cell
	n number
}

func (r extraRow) label() string {
	return fmt.Sprintf("  %-24s %-24s %4d %4d %4d %6s %8s %20s", cut(list(r.p.q)), cut(list(r.p.kv)), r.p.h, r.p.hkv, r.c.d, r.c.dtype, r.c.mask, "")
}

// extras plays the section after the table. ok is false when its CSV could not
// be written, done is false when the context ended.
func (h *sheet) extras(ctx context.Context) (ok, done bool) {
	const head = "  Sq                       Skv                         H  Hkv    D  dtype   causal Path                 | Status |   MaxErr   MinCos |   Time(us)   TFLOPS"
	rule, dashes := strings.Repeat("=", ruleWidth), "  "+strings.Repeat("-", len(head)-2)
	h.line("%s\nAdditional dense/varlen/cross-length cases: FlyDSL vs reference\n%s", rule, rule)
	rows, done := h.extraRows(ctx)
	if !done {
		return false, false
	}
	h.line("\n%s\n%s", head, dashes)
	plain := make([]row, 0, len(rows))
	for _, r := range rows {
		h.line("%s | %s", r.label(), r.n.cells())
		plain = append(plain, row{r.c, r.n})
	}
	h.line("%s", dashes)
	for _, a := range averagesOf(plain, h.fl.dtypes, h.fl.masks) {
		h.line("%103s | %s", a.name, a.text)
	}
	h.line("%s", strings.Repeat("=", len(head)))
	return h.save("fmha_varlen_perf_"+gpuWord+".csv", extraCSV(rows), "Varlen results saved to: "), true
}

func (h *sheet) extraRows(ctx context.Context) (rows []extraRow, done bool) {
	for _, dtype := range h.fl.dtypes {
		for _, mask := range h.fl.masks {
			for _, p := range extraCases() {
				for _, d := range []int{64, 128} {
					if !h.pace.wait(ctx, 0.2) {
						return nil, false
					}
					r := extraRow{p: p, c: p.cell(d, dtype, mask)}
					r.n = h.measure(r.c)
					h.line("%s ...", r.label())
					rows = append(rows, r)
				}
			}
		}
	}
	return rows, true
}

// cell stands for the case in the made-up timing: its longest sequence.
func (p pair) cell(d int, dtype, mask string) cell {
	s := 1
	for i := range p.q {
		s = max(s, p.q[i], p.kv[i])
	}
	return cell{b: len(p.q), s: s, h: p.h, hkv: p.hkv, d: d, sp: 1, dtype: dtype, mask: mask}
}

func extraCSV(rows []extraRow) [][]string {
	out := [][]string{{"Sq", "Skv", "H", "Hkv", "D", "dtype", "causal", "Path", "Status", "MaxErr", "MinCos", "Time(us)", "TFLOPS"}}
	for _, r := range rows {
		out = append(out, []string{list(r.p.q), list(r.p.kv), fmt.Sprint(r.p.h), fmt.Sprint(r.p.hkv), fmt.Sprint(r.c.d), r.c.dtype, r.c.mask, "", r.n.status,
			r.n.num("%.2e", r.n.maxErr), r.n.num("%.5f", r.n.minCos), r.n.time("%.1f", r.n.us), r.n.time("%.1f", r.n.tflops)})
	}
	return out
}
