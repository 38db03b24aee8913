package harness

import (
	"fmt"
	"strings"

	"kdapilot/engine/bench"
)

// rowscale reads test_fp8_gemm_rowscale.py and test_fp4_gemm_4wave.py: a
// bracketed header with the shape, a Throughput line, perhaps a torch
// baseline.
type rowscale struct {
	c     *collector
	row   bench.Row
	open  bool
	trace lastError
}

func newRowscale(c *collector) *rowscale { return &rowscale{c: c} }

func (r *rowscale) line(b []byte) {
	r.trace.line(b)
	if len(b) == 0 || b[0] != '[' && b[0] != 'S' {
		return
	}
	s := string(b[:min(len(b), maxText)])
	switch {
	case isRowscaleHeader(s):
		r.begin(s)
	case strings.HasPrefix(s, "[flyc] ") && strings.Contains(s, "Throughput: "):
		r.throughput(s)
	case strings.HasPrefix(s, "[torch."):
		r.baseline(s)
	case strings.HasPrefix(s, "Skipped: "):
		r.c.skip(strings.TrimPrefix(s, "Skipped: "))
	}
}

func isRowscaleHeader(s string) bool {
	return (strings.HasPrefix(s, "[fp8_gemm_") || strings.HasPrefix(s, "[fp4_gemm_")) && strings.Contains(s, " M=")
}

// begin reads "[fp8_gemm_4wave] M=4096 N=4096 K=4096 BLOCK_M=256 … xcd_remap=True".
func (r *rowscale) begin(s string) {
	r.abandon()
	name, _ := between(s, "[", "]")
	dtype, variant, _ := strings.Cut(name, "_gemm_")
	f := bench.Fields{}
	val := map[string]string{}
	for _, w := range strings.Fields(s)[1:] {
		k, v, ok := strings.Cut(w, "=")
		if !ok || len(f) > 24 {
			continue
		}
		val[k] = said(v)
		f = append(f, bench.Field{Name: said(strings.ToLower(k)), Value: flagValue(v)})
	}
	for i := range f[:min(3, len(f))] {
		f[i].Name = strings.ToUpper(f[i].Name)
	}
	f = append(f, bench.Field{Name: "dtype", Value: bench.Str(said(dtype))}, bench.Field{Name: "variant", Value: bench.Str(said(variant))})
	key := fmt.Sprintf("M%s_N%s_K%s_%s_%s_%sx%s", val["M"], val["N"], val["K"], said(dtype), said(variant), val["BLOCK_M"], val["BLOCK_N"])
	if val["preshuffle_b"] == "True" {
		key += "_preshuffle"
	}
	r.row, r.open = bench.Row{Key: key, Fields: f}, true
	r.c.current(key)
}

// flagValue reads True, False, integers and words.
func flagValue(v string) bench.Value {
	switch v {
	case "True":
		return bench.Bool(true)
	case "False":
		return bench.Bool(false)
	}
	if i, ok := integer([]byte(v)); ok {
		return bench.Int(i)
	}
	return bench.Str(said(v))
}

func (r *rowscale) throughput(s string) {
	if !r.open {
		return
	}
	var ok [2]bool
	r.row.US, ok[0] = numBefore(s, " us")
	r.row.TFLOPS, ok[1] = numBefore(s, " TFLOPS")
	if ok != [2]bool{true, true} {
		r.c.diag(bench.Amber, "a Throughput line was not read: %s", s)
		return
	}
	tb, _ := numBefore(s, " TB/s")
	r.row.Fields = append(r.row.Fields, bench.Field{Name: "tbps", Value: bench.FromNum(tb)})
	r.finish(bench.Pass, "")
}

func (r *rowscale) finish(st bench.Status, why string) {
	r.row.Status, r.row.Error, r.open = st, why, false
	r.c.res.RowLinesSeen++
	r.c.put(&r.c.rows, r.row)
}

// baseline reads "[torch._scaled_mm] Throughput: 91.0 us, 1509.50 TFLOPS, flydsl/torch=20.4%, ok=True".
func (r *rowscale) baseline(s string) {
	i, ok := r.c.rows.at([]byte(r.row.Key))
	if !ok {
		return
	}
	name, _ := between(s, "[", "]")
	f := bench.Fields{{Name: "name", Value: bench.Str(said(name))}}
	if why, ok := after(s, "] failed: "); ok {
		f = append(f, bench.Field{Name: "ok", Value: bench.Bool(false)}, bench.Field{Name: "error", Value: bench.Str(said(why))})
	} else {
		us, _ := numBefore(s, " us")
		tf, _ := numBefore(s, " TFLOPS")
		pct, _ := between(s, "flydsl/torch=", "%")
		good, _ := after(s, "ok=")
		f = append(f, bench.Field{Name: "us", Value: bench.FromNum(us)}, bench.Field{Name: "tflops", Value: bench.FromNum(tf)},
			bench.Field{Name: "flydsl_over_baseline_pct", Value: bench.FromNum(numText(pct))}, bench.Field{Name: "ok", Value: flagValue(strings.TrimSpace(good))})
	}
	row := &r.c.rows.rows[i]
	amend(row, "baseline", bench.Obj(f))
	if ok, is := lastOf(f).Truth(); is && !ok && len(row.Warnings) < 8 {
		row.Warnings = append(row.Warnings, "the output differs from "+said(name))
	}
}

func lastOf(f bench.Fields) bench.Value { v, _ := f.Get("ok"); return v }

func (r *rowscale) abandon() {
	if !r.open {
		return
	}
	why := r.trace.last
	if why == "" {
		why = "the run ended inside this cell"
	}
	r.finish(bench.Error, why)
}

func (r *rowscale) close(*int) { r.abandon() }
