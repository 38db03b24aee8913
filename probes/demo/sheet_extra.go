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

// extras plays the section after the table. ok is false when a case failed,
// done is false when the context ended.
func (h *sheet) extras(ctx context.Context) (ok, done bool) {
	const head = "  Sq                       Skv                         H  Hkv    D  dtype   causal Path                 | Status |   MaxErr   MinCos |   Time(us)   TFLOPS"
	wide := len(head)
	h.line("%s\nAdditional dense/varlen/cross-length cases: FlyDSL vs reference\n%s", strings.Repeat("=", wide), strings.Repeat("=", wide))
	var lines []string
	records := [][]string{{"Sq", "Skv", "H", "Hkv", "D", "dtype", "causal", "Path", "Status", "MaxErr", "MinCos", "Time(us)", "TFLOPS"}}
	sums := map[string]*row{}
	counts := map[string]float64{}
	for _, dtype := range h.fl.dtypes {
		for _, mask := range h.fl.masks {
			for _, p := range extraCases() {
				for _, d := range []int{64, 128} {
					if !h.pace.wait(ctx, 0.2) {
						return false, false
					}
					c, n := h.extra(p, d, dtype, mask)
					label := fmt.Sprintf("  %-24s %-24s %4d %4d %4d %6s %8s", cut(list(p.q)), cut(list(p.kv)), p.h, p.hkv, d, dtype, mask)
					h.line("%s %20s ...", label, "")
					lines = append(lines, fmt.Sprintf("%s %20s | %s", label, "", n.cells()))
					records = append(records, []string{list(p.q), list(p.kv), fmt.Sprint(p.h), fmt.Sprint(p.hkv), fmt.Sprint(d), dtype, mask, "", n.status,
						n.num("%.2e", n.maxErr), n.num("%.5f", n.minCos), n.time("%.1f", n.us), n.time("%.1f", n.tflops)})
					for _, g := range groups(h.fl.dtypes, h.fl.masks) {
						if !g.takes(c) {
							continue
						}
						if sums[g.name] == nil {
							sums[g.name] = &row{}
						}
						s := sums[g.name]
						s.n.us, s.n.tflops, s.n.maxErr, s.n.minCos = s.n.us+n.us, s.n.tflops+n.tflops, s.n.maxErr+n.maxErr, s.n.minCos+n.minCos
						counts[g.name]++
					}
				}
			}
		}
	}
	h.line("\n%s\n  %s\n%s\n  %s", head, strings.Repeat("-", wide-2), strings.Join(lines, "\n"), strings.Repeat("-", wide-2))
	for _, g := range groups(h.fl.dtypes, h.fl.masks) {
		if s, k := sums[g.name], counts[g.name]; k > 0 {
			h.line("%103s | %6s | %8.2e %8.5f | %10.1f %9.1f", "AVG ("+g.name+")", "--", s.n.maxErr/k, s.n.minCos/k, s.n.us/k, s.n.tflops/k)
		}
	}
	h.line("%s", strings.Repeat("=", wide))
	return h.save("fmha_varlen_perf_"+gpuWord+".csv", records, "Varlen results saved to: "), true
}

// extra makes up the numbers of one case from its longest sequence.
func (h *sheet) extra(p pair, d int, dtype, mask string) (cell, number) {
	s := 1
	for i := range p.q {
		s = max(s, p.q[i], p.kv[i])
	}
	c := cell{b: len(p.q), s: s, h: p.h, hkv: p.hkv, d: d, sp: 1, dtype: dtype, mask: mask}
	return c, h.measure(c)
}
