package harness

import (
	"strings"

	"kdapilot/engine/bench"
)

// runBench reads scripts/run_benchmark.sh, the CI logs around it, and the
// output of compare_benchmark.py. The script prints numbers and says ok for
// shapes whose run failed; the failures are on stderr only.
type runBench struct {
	c *collector
	// tables counts table headers: only the first is the current run, a
	// second one is the rebuilt baseline.
	tables  int
	inside  bool
	summary bool
	labels  [2]string
	compare table
	failed  []string
	perf    perfTable
	totals  bench.Fields
	below   int
}

func newRunBench(c *collector) *runBench { return &runBench{c: c} }

func (r *runBench) line(b []byte) {
	if len(b) == 0 {
		return
	}
	s := string(b[:min(len(b), maxText)])
	if r.perf.line(r.c, s) {
		return
	}
	switch {
	case strings.HasPrefix(s, "op ") && strings.Contains(s, " TB/s ") && strings.HasSuffix(strings.TrimSpace(s), "TFLOPS"):
		r.tables++
		r.inside, r.summary = true, false
	case strings.HasPrefix(s, "[run_benchmark] GPU arch: "):
		v, _ := between(s, "GPU arch: ", " ")
		r.c.res.GPUArch = said(v)
	case strings.HasPrefix(s, "Benchmark Summary"):
		r.inside, r.summary = false, true
	case strings.HasPrefix(s, "=== Benchmark: "):
		v, _ := between(s, "=== Benchmark: ", " ===")
		cur, base, _ := strings.Cut(v, " vs ")
		r.labels, r.inside = [2]string{said(cur), said(base)}, false
	case strings.HasPrefix(s, "All benchmarks passed!"), strings.HasPrefix(s, "Some benchmarks failed."):
		r.c.verdict(s)
	case strings.Contains(s, " failed. Log: "):
		op, path, _ := strings.Cut(s, " failed. Log: ")
		if len(r.failed) < maxRows {
			r.failed = append(r.failed, said(path))
		}
		r.c.diag(bench.Red, "the run of %s failed, its table row may still show a number: %s", op, path)
	case strings.Contains(s, " skipped (pytest.skip; see "):
		r.c.skip(s)
	case strings.HasPrefix(s, "Skipped ") && strings.Contains(s, " new current-only "):
		r.c.diag(bench.Amber, "%s", s)
	case r.labels[0] != "" && strings.Contains(s, " ratio="):
		r.ratio(s)
	case strings.HasSuffix(s, "[SKIP]") && strings.Contains(s, "missing row"):
		r.c.skip(s)
	case r.summary:
		r.count(s)
	case r.inside:
		r.row(s)
	}
}

// row reads "op shape dtype TB/s TFLOPS". The three names are cut at their
// column width.
func (r *runBench) row(s string) {
	w := strings.Fields(s)
	if len(w) != 5 || strings.HasPrefix(w[0], "--") {
		return
	}
	if r.tables > 1 {
		return
	}
	row := bench.Row{Key: said(w[0] + "_" + w[1] + "_" + w[2]), Status: bench.OK, Fields: bench.Fields{
		{Name: "op", Value: bench.Str(said(w[0]))}, {Name: "shape_truncated", Value: bench.Str(said(w[1]))}, {Name: "dtype", Value: bench.Str(said(w[2]))}}}
	if !runBenchNumbers(&row, w[3], w[4]) {
		return
	}
	r.c.res.RowLinesSeen++
	r.c.put(&r.c.rows, row)
}

// runBenchNumbers reads the two cells and derives the status of a table row.
func runBenchNumbers(row *bench.Row, tb, tf string) bool {
	var tbps bench.Num
	if tb == "skip" && tf == "skip" {
		row.Status = bench.SkipCell
	} else {
		var ok [2]bool
		tbps, ok[0] = num([]byte(tb))
		row.TFLOPS, ok[1] = num([]byte(tf))
		if ok != [2]bool{true, true} {
			return false
		}
		if !tbps.OK && !row.TFLOPS.OK {
			row.Status = bench.Missing
		}
	}
	row.Fields = append(row.Fields, bench.Field{Name: "tbps", Value: bench.FromNum(tbps)})
	return true
}

// count reads "Total: 58 tests", "Success: 54" and so on.
func (r *runBench) count(s string) {
	for _, n := range [...]string{"Total", "Success", "Skipped", "Failed"} {
		if v, ok := strings.CutPrefix(s, n+": "); ok {
			first, _, _ := strings.Cut(v, " ")
			r.totals = r.totals.With(strings.ToLower(n), intText(first))
		}
	}
	if v, ok := strings.CutPrefix(s, "Logs: "); ok {
		r.totals = r.totals.With("logs", bench.Str(said(v)))
	}
}

// ratio reads a line of compare_benchmark.py:
//
//	gemm 8192x… fp8  main= 1863.950 TFLOPS  current= 2339.370 TFLOPS  ratio= 1.255x  delta= +475.420 ( +25.5%)
func (r *runBench) ratio(s string) {
	w := strings.Fields(s)
	if len(w) < 4 {
		return
	}
	val := func(mark, stop string) bench.Num {
		v, _ := between(s, mark, stop)
		return numText(strings.TrimPrefix(strings.TrimSpace(v), "+"))
	}
	unit := "TFLOPS"
	if strings.Contains(s, " TB/s") {
		unit = "TB/s"
	}
	pct := val("(", "%)")
	base, cur := val(" "+r.labels[1]+"=", " "+unit), val(" "+r.labels[0]+"=", " "+unit)
	ratio := val("ratio=", "x")
	if !ratio.OK || !pct.OK || !base.OK || !cur.OK {
		r.c.diag(bench.Amber, "a comparison line was not read: %s", s)
		return
	}
	row := bench.Row{Key: said(w[0] + "_" + w[1] + "_" + w[2] + "_vs_" + r.labels[1]), Status: "--", Fields: bench.Fields{
		{Name: "op", Value: bench.Str(said(w[0]))}, {Name: "shape", Value: bench.Str(said(w[1]))}, {Name: "dtype", Value: bench.Str(said(w[2]))},
		{Name: "base_label", Value: bench.Str(r.labels[1])}, {Name: "base", Value: bench.FromNum(base)}, {Name: "unit", Value: bench.Str(unit)},
		{Name: "current", Value: bench.FromNum(cur)}, {Name: "ratio", Value: bench.FromNum(ratio)},
		{Name: "delta", Value: bench.FromNum(val("delta=", "("))}, {Name: "pct", Value: bench.FromNum(pct)},
		{Name: "regression", Value: bench.Bool(pct.V <= -3)}}}
	if pct.V <= -3 {
		r.below++
	}
	r.c.res.RowLinesSeen++
	r.c.put(&r.compare, row)
}

// close invalidates rows whose run failed, and files the comparison: it is
// the main table where there is no other.
func (r *runBench) close(*int) {
	for _, path := range r.failed {
		r.invalidate(path)
	}
	if r.totals != nil {
		r.c.res.Summary = bench.Obj(r.totals)
	}
	if len(r.compare.rows) == 0 {
		return
	}
	if r.tables == 0 {
		r.c.rows = r.compare
		r.c.total("compared", len(r.compare.rows))
		r.c.total("regressions_at_minus_3", r.below)
		return
	}
	for _, row := range r.compare.rows {
		row.Section = "compare"
		r.c.put(&r.c.compare, row)
	}
}

// invalidate marks the row whose log the script named as failed. The log's
// name has the shape with other separators.
func (r *runBench) invalidate(path string) {
	name := strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".log")
	hit := false
	for i := range r.c.rows.rows {
		row := &r.c.rows.rows[i]
		if !ofLog(row, name) {
			continue
		}
		hit = true
		amend(row, "cockpit_gate", bench.Str("fail"))
		row.Warnings = append(row.Warnings, "its run failed: "+path)
	}
	if !hit {
		r.c.diag(bench.Red, "no table row could be matched with the failed run %s: do not trust any number of that operation", path)
	}
}

// ofLog reports whether a log file's name belongs to a table row: the data
// type must occur, and the shape with any separators. The mask (attention) or
// the tile (GEMM) must fit where the row has one.
func ofLog(row *bench.Row, name string) bool {
	shape, rest, _ := strings.Cut(row.Axis("shape_truncated").Text(), "_")
	squeezed := strings.ReplaceAll(name, "_", "")
	if !strings.Contains(squeezed, shape) || !strings.Contains(name, row.Axis("dtype").Text()) {
		return false
	}
	switch {
	case rest == "nocausal":
		return strings.HasSuffix(name, "nocausal")
	case rest == "causal":
		return strings.HasSuffix(name, "causal") && !strings.HasSuffix(name, "nocausal")
	case strings.HasPrefix(rest, "tile"):
		tile, _, _ := strings.Cut(strings.TrimPrefix(rest, "tile"), "_")
		return strings.Contains(name+"_", "_t"+tile+"_")
	}
	return strings.HasPrefix(name, row.Axis("op").Text())
}

// runBenchCSV reads the script's CSV, which says ok for failed runs as well.
func runBenchCSV(c *collector, s *sheet) error {
	row := bench.Row{Key: said(s.get("op") + "_" + s.get("shape") + "_" + s.get("dtype")), Fields: bench.Fields{
		{Name: "op", Value: bench.Str(said(s.get("op")))}, {Name: "shape", Value: bench.Str(said(s.get("shape")))}, {Name: "dtype", Value: bench.Str(said(s.get("dtype")))},
		{Name: "tbps", Value: bench.FromNum(numText(s.get("tbps")))}}, TFLOPS: numText(s.get("tflops")), Status: bench.Status(said(s.get("status")))}
	c.res.RowLinesSeen++
	c.put(&c.rows, row)
	return nil
}

// ciHistoryCSV reads the dashboard's history: one row per run and shape.
func ciHistoryCSV(c *collector, s *sheet) error {
	f := bench.Fields{}
	for _, h := range s.head {
		if n := numText(s.get(h)); n.OK && (h == "current" || h == "main" || h == "delta_pct") {
			f = append(f, bench.Field{Name: h, Value: bench.FromNum(n)})
		} else {
			f = append(f, bench.Field{Name: said(h), Value: bench.Str(said(s.get(h)))})
		}
	}
	key := said(strings.Join([]string{s.get("run_id"), s.get("arch"), s.get("op"), s.get("shape"), s.get("dtype"), s.get("metric")}, "_"))
	c.res.RowLinesSeen++
	c.put(&c.rows, bench.Row{Key: key, Status: "--", Fields: f})
	return nil
}
