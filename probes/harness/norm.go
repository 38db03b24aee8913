package harness

import (
	"math"
	"strings"

	"kdapilot/engine/bench"
)

// norm reads test_layernorm.py, test_rmsnorm.py and test_softmax.py: a block
// of lines per shape that ends in PASSED or FAILED.
type norm struct {
	c     *collector
	row   bench.Row
	open  bool
	table perfTable
	trace lastError
}

func newNorm(c *collector) *norm { return &norm{c: c} }

func (n *norm) line(b []byte) {
	n.trace.line(b)
	if len(b) == 0 || b[0] == ' ' {
		return
	}
	s := string(b[:min(len(b), maxText)])
	if n.table.line(n.c, s) {
		return
	}
	switch {
	case strings.HasPrefix(s, "Testing "):
		n.begin(s)
	case strings.HasSuffix(s, "TESTS PASSED"), strings.HasSuffix(s, "TESTS FAILED"):
		n.abandon()
		n.c.verdict(s)
	case !n.open:
	case s == "PASSED":
		n.finish(bench.Pass, "")
	case s == "FAILED":
		n.finish(bench.Fail, "")
	case strings.HasPrefix(s, "[FAIL] "):
		n.finish(bench.Error, said(strings.TrimPrefix(s, "[FAIL] ")))
	default:
		n.number(s)
	}
}

// begin reads "Testing LayerNorm (M=64, N=256, dtype=f32)". Keys of other
// operations begin with their name.
func (n *norm) begin(s string) {
	op, rest, ok := strings.Cut(strings.TrimPrefix(s, "Testing "), " (")
	if !ok || !strings.Contains(rest, "M=") {
		return
	}
	n.abandon()
	f := bench.Fields{}
	var key []string
	for _, p := range strings.Split(strings.TrimSuffix(rest, ")"), ",") {
		k, v, ok := strings.Cut(strings.TrimSpace(p), "=")
		if !ok || len(f) > 12 {
			continue
		}
		f = append(f, bench.Field{Name: said(k), Value: flagValue(v)})
		if k == "dtype" {
			key = append(key, said(v))
		} else {
			key = append(key, said(k)+said(v))
		}
	}
	op = strings.ReplaceAll(strings.ToLower(said(op)), " ", "_")
	if op != "layernorm" {
		key = append([]string{op}, key...)
	}
	f = append(f, bench.Field{Name: "op", Value: bench.Str(op)})
	n.row, n.open = bench.Row{Key: strings.Join(key, "_"), Fields: f}, true
	n.c.current(n.row.Key)
}

// number reads one measured line of the open block. Milliseconds are printed
// with four decimals, so the time has a step of 0.1 us.
func (n *norm) number(s string) {
	add := func(name string, v bench.Num) {
		n.row.Fields = n.row.Fields.With(name, bench.FromNum(v))
	}
	switch {
	case strings.HasPrefix(s, "Kernel avg time: "):
		if ms, ok := numBefore(s, " ms"); ok {
			n.row.US = bench.Of(math.Round(ms.V*1e4) / 10)
		}
	case strings.HasPrefix(s, "Bandwidth: "):
		if v, ok := numBefore(s, " GB/s"); ok {
			add("gbps", v)
		}
	case strings.HasPrefix(s, "[Perf] FlyDSL "):
		if v, ok := numBefore(s, " us"); ok {
			add("graph_us", v)
		}
	case strings.HasPrefix(s, "Max absolute error: "):
		v, _ := between(s, "error: ", " (")
		n.row.MaxErr = numText(v)
		if tol, ok := between(s, "atol=", ")"); ok {
			add("atol", numText(tol))
		}
	case strings.HasPrefix(s, "Max quant diff: "):
		v, _ := between(s, "diff: ", " (")
		add("quant_diff", numText(v))
	case strings.HasPrefix(s, "Max scale diff: "):
		v, _ := between(s, "diff: ", " (")
		add("scale_diff", numText(v))
	}
}

func (n *norm) finish(st bench.Status, why string) {
	n.row.Status, n.row.Error, n.open = st, why, false
	n.c.res.RowLinesSeen++
	n.c.put(&n.c.rows, n.row)
}

func (n *norm) abandon() {
	if !n.open {
		return
	}
	why := n.trace.last
	if why == "" {
		why = "the run ended inside this cell"
	}
	n.finish(bench.Error, why)
}

func (n *norm) close(*int) { n.abandon() }

// perfTable reads "op shape dtype FlyDSL(gpu us) AIter(gpu us) speedup".
type perfTable struct{ inside bool }

// line reports whether the table took the line.
func (t *perfTable) line(c *collector, s string) bool {
	if strings.HasPrefix(s, "op ") && strings.Contains(s, "FlyDSL(gpu us)") {
		t.inside = true
		return true
	}
	if !t.inside {
		return false
	}
	w := strings.Fields(s)
	if len(w) != 6 {
		t.inside = false
		return false
	}
	r := bench.Row{Key: said(w[0] + "_" + w[1] + "_" + w[2]), Status: "--", Fields: bench.Fields{
		{Name: "op", Value: bench.Str(said(w[0]))}, {Name: "shape", Value: bench.Str(said(w[1]))}, {Name: "dtype", Value: bench.Str(said(w[2]))},
		{Name: "flydsl_us", Value: bench.FromNum(numText(w[3]))}, {Name: "aiter_us", Value: bench.FromNum(numText(w[4]))},
		{Name: "speedup", Value: bench.FromNum(numText(strings.TrimSuffix(w[5], "x")))}}}
	r.US = numText(w[3])
	if len(c.res.PerfTable) < maxRows {
		c.res.PerfTable = append(c.res.PerfTable, r)
	}
	return true
}
