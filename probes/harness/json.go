package harness

import (
	"bytes"
	"errors"
	"fmt"

	"kdapilot/engine/bench"
)

// readJSONL reads one record per line. Its family follows from the members.
func readJSONL(c *collector, b []byte) (Family, error) {
	family := Unknown
	for n := 1; len(b) > 0; n++ {
		l, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		l = bytes.TrimSpace(l)
		if len(l) == 0 {
			continue
		}
		f, err := bench.ParseFields(l)
		if err != nil {
			if len(rest) == 0 && family != Unknown {
				c.line = n
				c.diag(bench.Amber, "the last record is unfinished and was not read")
				return family, nil
			}
			return family, fmt.Errorf("line %d: want one JSON object per line: %w", n, err)
		}
		c.line = n
		got, err := jsonRow(c, f.MapText(said))
		if err != nil {
			return family, fmt.Errorf("line %d: %w", n, err)
		}
		if family == Unknown {
			family = got
		}
	}
	if family == Unknown {
		return family, errors.New("line 1: want the records of a known harness")
	}
	return family, nil
}

// jsonRow files one record.
func jsonRow(c *collector, f bench.Fields) (Family, error) {
	has := func(n string) bool { _, ok := f.Get(n); return ok }
	switch {
	case has("key") && has("status"):
		r, err := bench.RowFrom(f)
		if err != nil {
			return Unknown, err
		}
		c.put(c.tableOf(r.Section), r)
		return rowsFamily, nil
	case has("label") && has("provider") && has("us_median"):
		profLibCase(c, f)
		return ProfLib, nil
	case has("run_id") && has("op_type") && has("median_us"):
		profLibResult(c, f)
		return ProfLib, nil
	case has("variant") && has("B") && has("S") && has("us"):
		return repeatRow(c, f)
	}
	return Unknown, errors.New("want a record of a known harness: a row with key and status, or one of the profiling library")
}

func (c *collector) tableOf(section string) *table {
	switch section {
	case "varlen":
		return &c.varlen
	case "extra":
		return &c.extra
	case "compare":
		return &c.compare
	}
	return &c.rows
}

// rowsFamily is the answer for files of rows that kdapilot itself wrote.
const rowsFamily Family = "rows"

// repeatRow reads a record of repeated flash-attention runs: the axes, a
// variant and a run number. The same cell occurs once per run, so these rows
// are kept as they come and are not joined by key.
func repeatRow(c *collector, f bench.Fields) (Family, error) {
	get := func(n string) string { v, _ := f.Get(n); return said(v.Text()) }
	mask := get("causal")
	sp := get("kv_sp")
	if sp == "" {
		sp = "1"
	}
	key := fmt.Sprintf("B%s_S%s_H%s_Hkv%s_D%s_%s_%s_sp%s", get("B"), get("S"), get("H"), get("Hkv"), get("D"), get("dtype"), mask, sp)
	var g bench.Fields
	for _, m := range f {
		switch m.Name {
		case "us", "tflops", "status":
		case "causal":
			g = append(g, bench.Field{Name: "causal", Value: bench.Bool(mask == "causal")})
		default:
			g = append(g, m)
		}
	}
	us, _ := f.Get("us")
	tf, _ := f.Get("tflops")
	c.repeats = append(c.repeats, bench.Row{Key: key, Fields: g, Status: bench.Status(get("status")), US: numOf(us), TFLOPS: numOf(tf), Line: c.line})
	return FlashAttn, nil
}

// readJSON reads the summary that aiter's benchmark driver writes (a list of
// cases), or a result that kdapilot printed with --json.
func readJSON(c *collector, b []byte) (Family, error) {
	v, err := bench.ParseValue(bytes.TrimSpace(b))
	if err != nil {
		return Unknown, fmt.Errorf("want JSON: %w", err)
	}
	v = v.MapText(said)
	if f := v.Object(); f != nil {
		return ownResult(c, f)
	}
	items := v.Items()
	if len(items) == 0 || items[0].Object() == nil {
		return Unknown, errors.New("want a list of cases or a result with rows")
	}
	if _, ok := items[0].Object().Get("fused_us"); !ok {
		return Unknown, errors.New("want cases with fused_us, or a result with rows")
	}
	for i, it := range items {
		aiterSummary(c, i, it.Object())
	}
	c.res.Summary = v
	return MoEAiter, nil
}

// aiterSummary makes a row of a case; it says nothing about correctness.
func aiterSummary(c *collector, i int, f bench.Fields) {
	get := func(n string) bench.Value { v, _ := f.Get(n); return v }
	r := bench.Row{Status: bench.Measured, US: numOf(get("fused_us")), Fields: f}
	r.Key = fmt.Sprintf("fmoe_t%s_d%sx%s_e%sk%s", said(get("token").Text()), said(get("model_dim").Text()), said(get("inter_dim").Text()), said(get("expert").Text()), said(get("topk").Text()))
	c.line = i + 1
	c.put(&c.rows, r)
}

// ownResult reads back what show rows --json printed.
func ownResult(c *collector, f bench.Fields) (Family, error) {
	if _, ok := f.Get("rows"); !ok {
		return Unknown, errors.New("want a result with rows")
	}
	for _, list := range [...]string{"rows", "varlen_rows", "extra_rows", "compare_rows"} {
		v, _ := f.Get(list)
		for i, it := range v.Items() {
			r, err := bench.RowFrom(it.Object())
			if err != nil {
				return Unknown, fmt.Errorf("%s[%d]: %w", list, i, err)
			}
			c.put(c.tableOf(r.Section), r)
		}
	}
	fam, _ := f.Get("family")
	if fam.Text() == "" {
		return rowsFamily, nil
	}
	return Family(said(fam.Text())), nil
}
