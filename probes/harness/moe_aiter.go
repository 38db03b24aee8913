package harness

import (
	"fmt"
	"math"
	"strings"

	"kdapilot/engine/bench"
)

// aiterMoE reads aiter's op_tests/test_moe_2stage.py. Everything is on stderr,
// with a one-line prefix or, under AITER_LOG_MORE, a prefix line of its own.
// The legacy sweep only warns and exits 0, so the status here is the strict
// rule: no NaN, and not (a mismatch and logits_diff > 0.01).
type aiterMoE struct {
	c *collector
	// call holds the arguments of the running test_fmoe call.
	call   map[string]string
	inCall bool
	nan    bool
	// key is the row that later lines speak about.
	key string
	// columns are those of the markdown summary.
	columns []string
}

func newAiterMoE(c *collector) *aiterMoE { return &aiterMoE{c: c, call: map[string]string{}} }

func (a *aiterMoE) line(b []byte) {
	if len(b) == 0 {
		return
	}
	s := strings.TrimPrefix(string(b[:min(len(b), maxText)]), "[aiter] ")
	if a.inCall && a.argument(s) {
		return
	}
	switch {
	case strings.HasPrefix(s, "calling test_fmoe("):
		a.begin(strings.TrimPrefix(s, "calling test_fmoe("))
	case strings.HasPrefix(s, "ck_moe_2stages:"):
		a.measured(s)
	case strings.HasPrefix(s, "[perf] "):
		a.perf(s)
	case strings.HasPrefix(s, "| "):
		a.table(s)
	case strings.HasPrefix(s, "-->max abs delta:"):
		v, _ := between(s, "-->max abs delta:", ",")
		d, _ := after(s, "delta details: ")
		a.warn("max abs delta "+said(v)+", "+said(d), "max_abs_delta", numText(v))
	case strings.HasPrefix(s, "logits_diff: "):
		v, _ := between(s, "logits_diff: ", " is too large")
		a.logits(numText(v))
	case strings.HasPrefix(s, "[moe_2stage] logits_diff="):
		v, _ := between(s, "logits_diff=", " ")
		m, _ := after(s, "mismatch_ratio=")
		a.set("mismatch_ratio", bench.FromNum(numText(m)))
		a.logits(numText(v))
	case strings.HasPrefix(s, "output contains NaN"):
		a.nan = true
	default:
		a.rest(s)
	}
}

// begin starts a call; its arguments follow, one a line.
func (a *aiterMoE) begin(first string) {
	a.call, a.inCall, a.nan, a.key = map[string]string{}, true, false, ""
	a.argument(first)
}

// argument reads "token = 16," and reports whether it was one.
func (a *aiterMoE) argument(s string) bool {
	name, v, ok := strings.Cut(s, "=")
	name = strings.TrimSpace(name)
	if !ok || strings.ContainsAny(name, " ([") || len(a.call) > 64 {
		a.inCall = false
		return false
	}
	v = strings.TrimSpace(v)
	if t, last := strings.CutSuffix(v, ")"); last && strings.Count(v, "(") < strings.Count(v, ")") {
		v, a.inCall = t, false
	}
	a.call[name] = said(strings.TrimSuffix(v, ","))
	return true
}

// measured reads the line of checkAllclose:
//
//	ck_moe_2stages:   34.34 us,     2.89 tflops......(quant:…)[checkAllclose atol=0.01 rtol=0.01 passed~]
//	ck_moe_2stages: 1137.33 us, 0.15 tflops, 41.17 GB/s (M=1,dim=7168/512,E=256,topk=8,…)…
func (a *aiterMoE) measured(s string) {
	if strings.Contains(s, "[checkAllclose head]") {
		return
	}
	us, ok := numBefore(s, " us")
	if !ok {
		a.c.diag(bench.Amber, "a ck_moe_2stages line was not read: %s", s)
		return
	}
	tf, _ := numBefore(s, " tflops")
	r := bench.Row{US: us, TFLOPS: tf}
	r.Key, r.Fields = a.cell(s)
	if gb, ok := numBefore(s, " GB/s"); ok {
		r.Fields = append(r.Fields, bench.Field{Name: "gbps", Value: bench.FromNum(gb)})
	}
	r.Fields = append(r.Fields, checkFields(s)...)
	word := r.Axis("allclose").Text()
	r.Status = bench.Pass
	if word != "passed" {
		r.Warnings = []string{"checkAllclose " + word}
	}
	if a.nan {
		r.Status = bench.Fail
		r.Fields = append(r.Fields, bench.Field{Name: "logits_diff", Value: bench.Float(math.NaN())})
		r.Warnings = append(r.Warnings, "output contains NaN")
	} else if word == "catastrophic" {
		r.Status = bench.Fail
	}
	a.key = r.Key
	a.c.res.RowLinesSeen++
	a.c.put(&a.c.rows, r)
}

// cell names the configuration: from the line itself where it has the shape,
// else from the arguments of the call.
func (a *aiterMoE) cell(s string) (string, bench.Fields) {
	if in, ok := between(s, "(M=", ")"); ok {
		in = "M=" + in
		get := func(n string) string { v, _ := between(","+in, ","+n+"=", ","); return said(v) }
		model, inter, _ := strings.Cut(get("dim"), "/")
		return fmt.Sprintf("fmoe_t%s_d%sx%s_e%sk%s", get("M"), model, inter, get("E"), get("topk")), a.axes(get("M"), model, inter, get("E"), get("topk"))
	}
	g := func(n string) string { return a.call[n] }
	return aiterKey(g("AQDType"), g("WQDType"), g("token"), g("model_dim"), g("inter_dim"), g("E"), g("topk")),
		a.axes(g("token"), g("model_dim"), g("inter_dim"), g("E"), g("topk"))
}

func (a *aiterMoE) axes(token, model, inter, e, k string) bench.Fields {
	f := bench.Fields{{Name: "token", Value: intText(token)}, {Name: "model_dim", Value: intText(model)}, {Name: "inter_dim", Value: intText(inter)},
		{Name: "E", Value: intText(e)}, {Name: "topk", Value: intText(k)}}
	for _, n := range [...]string{"qType", "AQDType", "WQDType", "strict_accuracy"} {
		if v := a.call[n]; v != "" {
			f = append(f, bench.Field{Name: n, Value: bench.Str(v)})
		}
	}
	return f
}

// aiterKey is fmoe_a4w4_t1_d7168x256_e257k9; the widths are left out where the
// types are not known.
func aiterKey(aq, wq, token, model, inter, e, k string) string {
	q := ""
	if x, y := bits(aq), bits(wq); x != "" && y != "" {
		q = "a" + x + "w" + y + "_"
	}
	return fmt.Sprintf("fmoe_%st%s_d%sx%s_e%sk%s", q, said(token), said(model), said(inter), said(e), said(k))
}

// bits is the width in a torch type name.
func bits(dtype string) string {
	for _, p := range [...]struct{ in, out string }{{"float4", "4"}, {"float8", "8"}, {"int8", "8"}, {"int4", "4"}, {"bfloat16", "16"}, {"float16", "16"}} {
		if strings.Contains(dtype, p.in) {
			return p.out
		}
	}
	return ""
}

// checkFields reads "[checkAllclose atol=0.01 rtol=0.01 failed!]".
func checkFields(s string) bench.Fields {
	in, ok := after(s, "[checkAllclose ")
	if !ok {
		return nil
	}
	at, _ := between(in, "atol=", " ")
	rt, _ := between(in, "rtol=", " ")
	word := ""
	for _, w := range [...]string{"passed", "warning", "failed", "catastrophic"} {
		if strings.Contains(in, w+"~") || strings.Contains(in, w+"!") {
			word = w
			break
		}
	}
	return bench.Fields{{Name: "atol", Value: bench.FromNum(numText(at))}, {Name: "rtol", Value: bench.FromNum(numText(rt))}, {Name: "allclose", Value: bench.Str(word)}}
}

// perf reads the line of the one-stage test that people paste.
func (a *aiterMoE) perf(s string) {
	us, ok := between(s, "asm_avg: ", " us")
	if !ok {
		return
	}
	get := func(n string) string {
		v, _ := between(s, n+"=", ",")
		return said(strings.TrimSpace(v))
	}
	ref, _ := between(s, "torch_avg: ", " us")
	up, _ := between(s, "uplift: ", "%")
	token, model, inter, e, k := get("token"), get("model_dim"), get("inter_dim"), get("E"), get("topk")
	r := bench.Row{Key: fmt.Sprintf("fmoe_%s_t%s_d%sx%s_e%sk%s", get("quant"), token, model, inter, e, k), US: numText(us),
		Fields: append(a.axes(token, model, inter, e, k), checkFields(s)...)}
	r.Fields = append(r.Fields, bench.Field{Name: "ref_us", Value: bench.FromNum(numText(ref))}, bench.Field{Name: "uplift_pct", Value: bench.FromNum(numText(up))})
	r.Status = bench.Pass
	if w := r.Axis("allclose").Text(); w == "failed" || w == "catastrophic" {
		r.Status = bench.Fail
		r.Warnings = []string{"checkAllclose " + w}
	}
	a.key = r.Key
	a.c.res.RowLinesSeen++
	a.c.put(&a.c.rows, r)
}

// row finds the row that the running lines speak about.
func (a *aiterMoE) row() *bench.Row {
	if i, ok := a.c.rows.at([]byte(a.key)); ok && a.key != "" {
		return &a.c.rows.rows[i]
	}
	return nil
}

func (a *aiterMoE) set(name string, v bench.Value) {
	if r := a.row(); r != nil {
		amend(r, name, v)
	}
}

func (a *aiterMoE) warn(text, name string, v bench.Num) {
	r := a.row()
	if r == nil {
		return
	}
	amend(r, name, bench.FromNum(v))
	if len(r.Warnings) < 8 {
		r.Warnings = append(r.Warnings, text)
	}
}

// logits applies the strict rule to the running row.
func (a *aiterMoE) logits(v bench.Num) {
	r := a.row()
	if r == nil || !v.OK {
		return
	}
	amend(r, "logits_diff", bench.FromNum(v))
	if !v.Finite() || v.V > 0.01 && r.Axis("allclose").Text() != "passed" {
		r.Status = bench.Fail
		a.c.emitRow(r)
	}
}

// table reads the markdown summary, which is also what people paste.
func (a *aiterMoE) table(s string) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(s), "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if cells[0] == "dtype" {
		a.columns = cells
		return
	}
	if len(cells) != len(a.columns) || strings.HasPrefix(cells[0], ":-") {
		return
	}
	get := func(n string) string {
		for i, c := range a.columns {
			if c == n {
				return said(cells[i])
			}
		}
		return ""
	}
	a.call = map[string]string{"qType": get("qType"), "AQDType": get("AQDType"), "WQDType": get("WQDType")}
	key := aiterKey(get("AQDType"), get("WQDType"), get("token"), get("model_dim"), get("inter_dim"), get("E"), get("topk"))
	if _, ok := a.c.rows.at([]byte(key)); !ok {
		r := bench.Row{Key: key, US: numText(get("us")), Status: bench.Pass,
			Fields: a.axes(get("token"), get("model_dim"), get("inter_dim"), get("E"), get("topk"))}
		if !r.US.Finite() {
			r.Status = bench.Missing
		}
		if e := numText(get("err")); e.OK {
			r.Fields = append(r.Fields, bench.Field{Name: "err", Value: bench.FromNum(e)})
			if e.V != 0 {
				// A mismatching fraction without a logits_diff decides nothing.
				r.Status = bench.Measured
				r.Fields = append(r.Fields, bench.Field{Name: "cockpit_gate", Value: bench.Str("not_checked")})
			}
		}
		a.c.put(&a.c.rows, r)
	}
	a.key = key
	a.logits(numText(get("logits_diff")))
}

// rest reads verdicts, skips and totals.
func (a *aiterMoE) rest(s string) {
	switch {
	case strings.Contains(s, "gfx1250 FAIL]"):
		if r := a.row(); r != nil {
			r.Status = bench.Fail
			a.c.emitRow(r)
		}
	case strings.HasPrefix(s, "skip moe_2stage case"):
		a.skipped(s)
	case strings.HasPrefix(s, "moe_2stage: scanned "):
		for _, p := range [...]struct{ name, mark, stop string }{{"scanned", "scanned ", " "}, {"recorded", "recorded ", " "}, {"skipped", "skipped ", ")"}} {
			if v, ok := between(s, p.mark, p.stop); ok {
				if n, ok := integer([]byte(v)); ok && n > 0 {
					a.c.total(p.name, int(n))
				}
			}
		}
	case strings.HasPrefix(s, "AssertionError: accuracy check failed"):
		if r := a.row(); r != nil {
			r.Status, r.Error = bench.Fail, said(s)
			a.c.emitRow(r)
		}
	case strings.HasPrefix(s, "accuracy check failed"):
		a.c.diag(bench.Amber, "%s", s)
	}
	// "[cuda.Event] …" and "[TILE] …" lines, and the prefix line of
	// AITER_LOG_MORE, hold nothing to keep.
}

func (a *aiterMoE) skipped(s string) {
	token, _ := between(s, "token=", " ")
	reason := "other"
	switch {
	case strings.Contains(s, "OOM"):
		reason = "OOM"
	case strings.Contains(s, "estimated"):
		reason = "memory estimate"
	}
	if len(a.c.res.Skipped) < 1000 {
		a.c.res.Skipped = append(a.c.res.Skipped, bench.Row{Key: "fmoe_t" + said(token), Status: bench.Skip, Error: said(s),
			Fields: bench.Fields{{Name: "token", Value: intText(token)}, {Name: "reason", Value: bench.Str(reason)}}})
	}
}

func (a *aiterMoE) close(*int) {}

// aiterCSV reads the tuned and untuned configuration tables. An untuned row
// has no numbers: it is a cell that could be run.
func aiterCSV(c *collector, s *sheet) error {
	g := func(n string) string { return said(s.get(n)) }
	r := bench.Row{Status: "--", US: numText(s.get("us")), TFLOPS: numText(s.get("tflops"))}
	r.Key = aiterKey(g("q_dtype_a"), g("q_dtype_w"), g("token"), g("model_dim"), g("inter_dim"), g("expert"), g("topk")) +
		"_" + strings.TrimPrefix(g("act_type"), "ActivationType.") + "_" + strings.TrimPrefix(g("q_type"), "QuantType.") + "_g" + g("use_g1u1") + "_w" + g("doweight_stage1")
	for _, h := range s.head {
		switch h {
		case "us", "tflops":
		case "token", "model_dim", "inter_dim", "expert", "topk":
			r.Fields = append(r.Fields, bench.Field{Name: h, Value: intText(s.get(h))})
		default:
			r.Fields = append(r.Fields, bench.Field{Name: said(h), Value: bench.Str(g(h))})
		}
	}
	if s.has("us") {
		r.Status = bench.Measured
	}
	c.res.RowLinesSeen++
	c.put(&c.rows, r)
	return nil
}
