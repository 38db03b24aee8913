package harness

import (
	"fmt"
	"strings"

	"kdapilot/engine/bench"
)

// moe reads the FlyDSL MoE command lines (test_moe_gemm.py and
// test_moe_gemm_2stage.py) in their four formats, A to D of the contract. The
// tool has no gate: it exits 0 whatever the cosine is, so each row carries the
// gate of the pytest suite, cos > 0.99, as cockpit_gate.
type moe struct {
	c *collector
	// open is a format D record that waits for its kernel and bandwidth lines.
	open  *bench.Row
	seen  map[string]int
	last  map[string]string
	trace lastError
}

func newMoE(c *collector) *moe {
	return &moe{c: c, seen: map[string]int{}, last: map[string]string{}}
}

func (m *moe) line(b []byte) {
	m.trace.line(b)
	if len(b) == 0 {
		return
	}
	s := string(b[:min(len(b), maxText)])
	switch {
	case strings.HasPrefix(s, "FlyDSL MoE stage"):
		m.flush()
		m.row(s)
	case m.open != nil && strings.HasPrefix(s, "  kernel: "):
		m.kernel(s)
	case m.open != nil && strings.HasPrefix(s, "  bandwidth"):
		m.bandwidth(s)
	case strings.HasPrefix(s, "[aiter] stage"):
		m.aiter(s)
	default:
		m.skip(s)
	}
}

// row reads the first (in A to C the only) line of a record.
func (m *moe) row(s string) {
	stage, dtype, mode, kernel, rest := moeHead(strings.TrimPrefix(s, "FlyDSL MoE "))
	f := bench.Fields{{Name: "stage", Value: bench.Str(stage)}, {Name: "dtype", Value: bench.Str(dtype)}, {Name: "mode", Value: strOrNull(mode)}}
	if kernel != "" {
		f = append(f, bench.Field{Name: "kernel", Value: bench.Str(kernel)})
	}
	r := bench.Row{Status: bench.Measured}
	if strings.Contains(rest, "shape=(") {
		r.Fields, r.Key = moeBenchmark(f, rest, stage, dtype, mode)
		m.open = &r
		m.c.current(r.Key)
		return
	}
	if !moeNumbers(&r, rest) {
		m.c.diag(bench.Amber, "a MoE line was not read: %s", s)
		return
	}
	f, name := moeShape(f, rest)
	tb, _ := moeNum(rest, "TB/s=", " TB/s")
	f = append(f, bench.Field{Name: "tbps", Value: bench.FromNum(tb)})
	if cos, ok := moeNum(rest, "cos=", ""); ok {
		f = append(f, bench.Field{Name: "cos", Value: bench.FromNum(cos)}, bench.Field{Name: "cockpit_gate", Value: bench.Str(cosGate(cos))})
	}
	r.Fields = f
	r.Key = moeKey(stage, dtype, mode, name)
	if !strings.HasPrefix(name, "t") && stage == "stage1" {
		// Format A prints stage 1 once per stage 2 mode and without a shape:
		// two prints are two measurements.
		if len(m.seen) < maxRows {
			m.seen[r.Key]++
		}
		if m.seen[r.Key] > 1 {
			r.Key = fmt.Sprintf("%s#%d", r.Key, m.seen[r.Key])
		}
	}
	m.file(r)
}

func (m *moe) file(r bench.Row) {
	m.last[r.Axis("stage").Text()] = r.Key
	m.c.res.RowLinesSeen++
	m.c.put(&m.c.rows, r)
}

func (m *moe) flush() {
	if m.open == nil {
		return
	}
	r := *m.open
	m.open = nil
	if !r.US.OK {
		r.Status, r.Error = bench.Error, "no kernel line followed"
	}
	m.file(r)
}

// moeHead takes "stage1[fp8]: …", "stage2 [moe_gemm2] fp8 atomic | …",
// "stage2[fp8] atomic: …" and "stage2[kernel] fp4 atomic benchmark | …" apart.
func moeHead(s string) (stage, dtype, mode, kernel, rest string) {
	end := strings.IndexAny(s, ":|")
	if end < 0 {
		end = len(s)
	}
	head, rest := s[:end], s[end:]
	stage = said(head[:min(len(head), len("stage1"))])
	bracket, _ := between(head, "[", "]")
	words := ""
	if i := strings.IndexByte(head, ']'); i >= 0 {
		words = head[i+1:]
	}
	for _, w := range strings.Fields(words) {
		switch {
		case w == "atomic" || w == "reduce":
			mode = w
		case w == "benchmark":
		case dtype == "":
			dtype = said(w)
		}
	}
	if dtype == "" {
		dtype = said(bracket)
	} else {
		kernel = said(bracket)
	}
	return stage, dtype, mode, kernel, rest
}

func strOrNull(s string) bench.Value {
	if s == "" {
		return bench.Null()
	}
	return bench.Str(s)
}

// moeNumbers reads us and TFLOPS; "nan us" is a value.
func moeNumbers(r *bench.Row, s string) bool {
	var ok [2]bool
	r.US, ok[0] = numBefore(s, " us")
	r.TFLOPS, ok[1] = moeNum(s, "TFLOPS=", " TFLOPS")
	return ok == [2]bool{true, true}
}

// moeNum reads "name=1.2" or, where that is absent, "1.2 unit".
func moeNum(s, name, unit string) (bench.Num, bool) {
	if v, ok := after(s, name); ok {
		if i := strings.IndexAny(v, " ,|)"); i >= 0 {
			v = v[:i]
		}
		n, ok := num([]byte(v))
		return n, ok && n.OK
	}
	if unit == "" {
		return bench.Num{}, false
	}
	return numBefore(s, unit)
}

// moeShape adds the axes: a shape word "t256-d2048x1024-e16k4" (B, C), or
// "8192x8192, E=16, K=4, M_eff=131072" or "(logical, M=131072)" (A). name
// tells the cell apart.
func moeShape(f bench.Fields, s string) (bench.Fields, string) {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '|' || r == ',' }) {
		if len(w) > 3 && w[0] == 't' && w[1] >= '0' && w[1] <= '9' && strings.Contains(w, "-d") && strings.Contains(w, "-e") {
			return append(f, bench.Field{Name: "shape", Value: bench.Str(said(w))}), said(w)
		}
	}
	var name string
	meff, _ := moeNum(s, "M_eff=", "")
	if !meff.OK {
		meff, _ = moeNum(s, " M=", "")
	}
	if e, ok := moeNum(s, " E=", ""); ok {
		k, _ := moeNum(s, " K=", "")
		dims, _, _ := strings.Cut(strings.TrimLeft(s, "| "), ",")
		model, inter, _ := strings.Cut(dims, "x")
		f = append(f, bench.Field{Name: "model_dim", Value: intText(model)}, bench.Field{Name: "inter_dim", Value: intText(inter)},
			bench.Field{Name: "experts", Value: numInt(e)}, bench.Field{Name: "topk", Value: numInt(k)})
		name = fmt.Sprintf("d%s-e%sk%s-", said(dims), e, k)
	}
	if meff.OK {
		f = append(f, bench.Field{Name: "m_eff", Value: numInt(meff)})
		name += fmt.Sprintf("M%.0f", meff.V)
	}
	if p95, ok := moeNum(s, "p95=", ""); ok {
		f = append(f, bench.Field{Name: "p95_us", Value: bench.FromNum(p95)})
	}
	if dw, ok := between(s, "doweight_stage1=", ")"); ok {
		f = append(f, bench.Field{Name: "doweight_stage1", Value: flagValue(dw)})
		name += "_dw" + said(dw)
	}
	return f, name
}

func numInt(n bench.Num) bench.Value {
	if !n.Finite() || n.V > 1e15 || n.V < 0 {
		return bench.Null()
	}
	return bench.Int(int64(n.V))
}

// moeBenchmark reads "shape=(4096,7168,2048), E=32, K=8, tile=(64,256,256)".
func moeBenchmark(f bench.Fields, s, stage, dtype, mode string) (bench.Fields, string) {
	shape, _ := between(s, "shape=(", ")")
	tile, _ := between(s, "tile=(", ")")
	e, _ := moeNum(s, " E=", "")
	k, _ := moeNum(s, " K=", "")
	d := append(strings.Split(shape, ","), "", "", "")
	f = append(f, bench.Field{Name: "tokens", Value: intText(d[0])}, bench.Field{Name: "model_dim", Value: intText(d[1])},
		bench.Field{Name: "inter_dim", Value: intText(d[2])}, bench.Field{Name: "experts", Value: numInt(e)},
		bench.Field{Name: "topk", Value: numInt(k)}, bench.Field{Name: "tile", Value: bench.Str(said(tile))})
	name := fmt.Sprintf("t%s-d%sx%s-e%sk%s_tile%s", said(d[0]), said(d[1]), said(d[2]), e, k, strings.ReplaceAll(said(tile), ",", "x"))
	return f, moeKey(stage, dtype, mode, name)
}

func moeKey(stage, dtype, mode, name string) string {
	parts := []string{stage, dtype}
	if mode != "" {
		parts = append(parts, mode)
	}
	return strings.Join(append(parts, name), "_")
}

func (m *moe) kernel(s string) {
	if !moeNumbers(m.open, s) {
		m.c.diag(bench.Amber, "a kernel line was not read: %s", s)
		return
	}
	tb, _ := numBefore(s, " TB/s")
	m.open.Fields = append(m.open.Fields, bench.Field{Name: "tbps", Value: bench.FromNum(tb)})
	if meff, ok := moeNum(s, " M=", ""); ok {
		m.open.Fields = append(m.open.Fields, bench.Field{Name: "m_eff", Value: numInt(meff)})
	}
}

func (m *moe) bandwidth(s string) {
	read, _ := between(s, "read ", " GB/s")
	write, _ := between(s, "write ", " GB/s")
	m.open.Fields = append(m.open.Fields, bench.Field{Name: "read_gbps", Value: bench.FromNum(numText(read))},
		bench.Field{Name: "write_gbps", Value: bench.FromNum(numText(write))})
	m.flush()
}

// aiter adds the reference line to the row it follows.
func (m *moe) aiter(s string) {
	stage := s[len("[aiter] "):min(len(s), len("[aiter] stage1"))]
	i, ok := m.c.rows.at([]byte(m.last[stage]))
	if !ok {
		return
	}
	us, _ := numBefore(s, " us")
	tf, _ := numBefore(s, " TFLOPS")
	up, _ := between(s, "speedups: ", "x")
	r := &m.c.rows.rows[i]
	amend(r, "aiter_us", bench.FromNum(us))
	amend(r, "aiter_tflops", bench.FromNum(tf))
	amend(r, "speedup", bench.FromNum(numText(up)))
}

// skip keeps what the harness says it did not run.
func (m *moe) skip(s string) {
	for _, p := range [...]string{"[skip] ", "[xfail/skip] ", "Skipping "} {
		why, ok := strings.CutPrefix(s, p)
		if !ok {
			continue
		}
		why = said(why)
		if mode, ok := between(why, "stage2 ", " mode does not"); ok && p == "[skip] " {
			m.c.put(&m.c.rows, bench.Row{Key: "stage2_" + mode, Status: bench.Skip, Fields: bench.Fields{
				{Name: "stage", Value: bench.Str("stage2")}, {Name: "mode", Value: bench.Str(mode)}, {Name: "reason", Value: bench.Str(why)}}})
			return
		}
		m.c.skip(why)
		return
	}
}

// cosGate is the pytest suite's gate. A cosine of nan is a skipped reference
// or an all-zero output: nothing was checked.
func cosGate(cos bench.Num) string {
	switch {
	case !cos.Finite():
		return "not_checked"
	case cos.V > 0.99:
		return "pass"
	}
	return "fail"
}

func (m *moe) close(exit *int) {
	m.flush()
	if len(m.c.rows.rows) == 0 && m.trace.last != "" {
		m.c.diag(bench.Red, "%s", m.trace.last)
	}
}

// kdaCSV reads the campaign tables of the MoE work: the kernel path (stage 1 +
// stage 2 + sorting, cold) is the row's time, e2e (hot) stands beside it.
func kdaCSV(c *collector, s *sheet) error {
	key := said(s.get("model") + "_" + s.get("dtype") + "_t" + s.get("token"))
	r := bench.Row{Key: key, Status: bench.Measured, US: numText(s.get("kernel_path_us")), TFLOPS: numText(s.get("effective_tflops"))}
	for _, n := range [...]string{"model", "dtype", "act", "gpu_model", "commit"} {
		r.Fields = append(r.Fields, bench.Field{Name: n, Value: bench.Str(said(s.get(n)))})
	}
	for _, n := range [...]string{"token", "model_dim", "inter_dim", "experts", "topk"} {
		r.Fields = append(r.Fields, bench.Field{Name: n, Value: intText(s.get(n))})
	}
	for _, n := range [...]string{"stage1_us", "stage2_us", "sorting_us", "kernel_path_us_p95", "e2e_us", "e2e_us_p95", "logits_diff"} {
		r.Fields = append(r.Fields, bench.Field{Name: n, Value: bench.FromNum(numText(s.get(n)))})
	}
	diff := numText(s.get("logits_diff"))
	switch {
	case s.get("correctness_pass") == "True" && diff.Finite() && diff.V <= 0.01:
		r.Status = bench.Pass
	case s.get("correctness_pass") == "False" || diff.OK:
		r.Status, r.Error = bench.Fail, said(s.get("strict_error"))
	}
	c.res.RowLinesSeen++
	c.put(&c.rows, r)
	return nil
}
