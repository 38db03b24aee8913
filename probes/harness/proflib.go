package harness

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"kdapilot/engine/bench"
)

// profLib reads the logs of flydsl-kernel-profiling-lib: a line per case, then
// a line with its result.
type profLib struct {
	c    *collector
	row  bench.Row
	open bool
}

func newProfLib(c *collector) *profLib { return &profLib{c: c} }

func (p *profLib) line(b []byte) {
	if len(b) == 0 {
		return
	}
	switch {
	case b[0] == '[':
		p.begin(string(b[:min(len(b), maxText)]))
	case b[0] == '{' && len(b) < 1<<16:
		p.host(b)
	case p.open && b[0] == ' ':
		p.result(strings.TrimPrefix(string(b[:min(len(b), maxText)]), "  "))
	}
}

// host reads the JSON line that describes the machine.
func (p *profLib) host(b []byte) {
	var h struct {
		GPU  string `json:"gpu"`
		Arch string `json:"rocm_arch"`
	}
	if json.Unmarshal(b, &h) == nil && h.GPU != "" {
		p.c.res.GPU, p.c.res.GPUArch = said(h.GPU), said(h.Arch)
	}
}

// begin reads "[1/198] LABEL B=1 S=128 H=32/32 D=128 bf16 causal provider=X".
func (p *profLib) begin(s string) {
	count, rest, ok := strings.Cut(strings.TrimPrefix(s, "["), "] ")
	at, total, isCount := strings.Cut(count, "/")
	w := strings.Fields(rest)
	if !ok || !isCount || len(w) < 8 || !strings.HasPrefix(w[len(w)-1], "provider=") {
		return
	}
	p.abandon()
	label, provider := said(w[0]), said(strings.TrimPrefix(w[len(w)-1], "provider="))
	f := bench.Fields{{Name: "index", Value: intText(at)}, {Name: "total", Value: intText(total)}, {Name: "label", Value: bench.Str(label)}}
	for _, x := range w[1 : len(w)-1] {
		name, v, ok := strings.Cut(x, "=")
		switch {
		case ok && name == "H":
			h, kv, _ := strings.Cut(v, "/")
			f = append(f, bench.Field{Name: "H", Value: intText(h)}, bench.Field{Name: "Hkv", Value: intText(kv)})
		case ok:
			f = append(f, bench.Field{Name: said(name), Value: flagValue(v)})
		case isMask([]byte(x)):
			f = append(f, bench.Field{Name: "causal", Value: bench.Bool(x == "causal")})
		default:
			f = append(f, bench.Field{Name: "dtype", Value: bench.Str(said(x))})
		}
	}
	f = append(f, bench.Field{Name: "provider", Value: bench.Str(provider)}, bench.Field{Name: "correctness", Value: bench.Null()})
	if n, ok := integer([]byte(total)); ok && n < maxRows {
		p.c.res.Planned = int(n)
	}
	p.row, p.open = bench.Row{Key: label + "_" + provider, Fields: f}, true
	p.c.current(p.row.Key)
}

// result reads "ok 103.3 us 332.6 TFLOPS correctness=pass", "unsupported: why"
// and "failed: why". Build chatter may stand between.
func (p *profLib) result(s string) {
	r := &p.row
	switch {
	case strings.HasPrefix(s, "ok "):
		r.Status = bench.OK
		var ok [2]bool
		r.US, ok[0] = numBefore(s, " us")
		r.TFLOPS, ok[1] = numBefore(s, " TFLOPS")
		if ok != [2]bool{true, true} {
			return
		}
		if v, ok := after(s, "correctness="); ok {
			r.Fields = r.Fields.With("correctness", bench.Str(said(v)))
			r.Fields = append(r.Fields, bench.Field{Name: "cockpit_gate", Value: bench.Str(said(v))})
		}
	case strings.HasPrefix(s, "unsupported: "):
		r.Status, r.Error = bench.Unsupported, reason(s, "unsupported: ")
	case strings.HasPrefix(s, "failed: "):
		r.Status, r.Error = bench.Failed, reason(s, "failed: ")
	default:
		return
	}
	p.open = false
	p.c.res.RowLinesSeen++
	p.c.put(&p.c.rows, *r)
}

// reason keeps the text as printed, with a trailing blank where there is one.
func reason(s, prefix string) string {
	v := strings.TrimPrefix(s, prefix)
	if clean := said(v); clean != strings.TrimRight(v, " ") {
		return clean
	}
	return v
}

func (p *profLib) abandon() {
	if !p.open {
		return
	}
	p.row.Status, p.row.Error, p.open = bench.Failed, "the run ended inside this case", false
	p.c.put(&p.c.rows, p.row)
}

func (p *profLib) close(*int) { p.abandon() }

// profLibCase reads a record of results_*.jsonl or .csv.
func profLibCase(c *collector, f bench.Fields) {
	get := func(n string) bench.Value { v, _ := f.Get(n); return v }
	r := bench.Row{Key: said(get("label").Text() + "_" + get("provider").Text()), Status: bench.Status(said(get("status").Text())),
		US: numOf(get("us_median")), TFLOPS: numOf(get("tflops")), MaxErr: numOf(get("max_err")), MinCos: numOf(get("min_cos")), Error: said(get("err").Text())}
	for _, m := range f {
		switch m.Name {
		case "status", "us_median", "tflops", "max_err", "min_cos", "err":
		default:
			r.Fields = append(r.Fields, m)
		}
	}
	r.Fields = append(r.Fields, bench.Field{Name: "cockpit_gate", Value: get("correctness")})
	c.res.RowLinesSeen++
	c.put(&c.rows, r)
}

// profLibResult reads a record of the result tables. cache_state belongs to
// the key: hot and flushed times are different quantities.
func profLibResult(c *collector, f bench.Fields) {
	get := func(n string) bench.Value { v, _ := f.Get(n); return v }
	r := bench.Row{Status: bench.Status(said(get("benchmark_status").Text())), US: numOf(get("median_us")), TFLOPS: numOf(get("effective_tflops"))}
	r.Key = strings.Join([]string{said(get("op_type").Text()), said(get("model").Text()), argsWord(get("args")), said(get("dtype").Text()), said(get("provider").Text())}, "_")
	if s := said(get("stage").Text()); s != "" && s != said(get("model").Text()) {
		r.Key += "_" + s
	}
	r.Error = said(firstText(get("correctness_error"), get("skip_reason")))
	if g := said(get("gpu").Text()); g != "" && c.res.GPU == "" {
		c.res.GPU, c.res.GPUArch = g, said(get("arch").Text())
	}
	gate := "not_checked"
	if ok, is := get("correct").Truth(); is {
		gate = map[bool]string{true: "pass", false: "fail"}[ok]
	}
	r.Fields = append(append(bench.Fields{}, f...), bench.Field{Name: "cockpit_gate", Value: bench.Str(gate)})
	c.res.RowLinesSeen++
	c.put(&c.rows, r)
}

func firstText(v ...bench.Value) string {
	for _, x := range v {
		if t := x.Text(); t != "" {
			return t
		}
	}
	return ""
}

// argsWord is the arguments of a case as one word: K8192-M16-N5120.
func argsWord(v bench.Value) string {
	f := v.Object()
	if f == nil {
		var parsed bench.Fields
		if json.Unmarshal([]byte(v.Text()), &parsed) != nil {
			return said(v.Text())
		}
		f = parsed
	}
	var w []string
	for _, m := range f {
		w = append(w, fmt.Sprintf("%s%s", said(m.Name), said(m.Value.Text())))
	}
	sort.Strings(w)
	return strings.Join(w, "-")
}

// numOf reads a number that a CSV gives as text.
func numOf(v bench.Value) bench.Num {
	if n := v.Num(); n.OK {
		return n
	}
	return numText(v.Text())
}

// profLibCSV reads either table through the JSON form of its record.
func profLibCSV(s *sheet) func(*collector, *sheet) error {
	results := s.has("run_id")
	return func(c *collector, s *sheet) error {
		f := make(bench.Fields, 0, len(s.head))
		for i, h := range s.head {
			v := csvValue(s.rec[i])
			if !v.IsNull() && (strings.HasSuffix(h, "commit") || strings.HasSuffix(h, "_id") || strings.HasSuffix(h, "version")) {
				v = bench.Str(said(s.rec[i]))
			}
			f = append(f, bench.Field{Name: said(h), Value: v})
		}
		if results {
			profLibResult(c, f)
		} else {
			profLibCase(c, f)
		}
		return nil
	}
}

// csvValue types a cell as the JSON form of the same record has it.
func csvValue(s string) bench.Value {
	switch s {
	case "":
		return bench.Null()
	case "True", "False":
		return bench.Bool(s == "True")
	}
	if v, ok := integer([]byte(s)); ok {
		return bench.Int(v)
	}
	if n := numText(s); n.OK && !strings.Contains(s, ",") {
		return bench.FromNum(n)
	}
	return bench.Str(said(s))
}
