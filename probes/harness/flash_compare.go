package harness

import (
	"bytes"
	"strings"

	"kdapilot/engine/bench"
)

// compareLine reads the table of compare mode: one block of columns per
// engine, one per ratio. It checks max_err only and never gates.
func (f *flash) compareLine(b []byte, bar int) {
	if bytes.Contains(b[:bar], []byte(" Hkv ")) {
		f.header(b[:bar])
		f.engines = nil
		for _, s := range strings.Split(string(b[bar+1:min(len(b), maxText)]), "|") {
			f.engines = append(f.engines, said(s))
		}
		return
	}
	if len(f.engines) == 0 {
		return
	}
	blocks := bytes.Split(b[bar+1:min(len(b), bar+1+maxText)], []byte("|"))
	if len(blocks) != len(f.engines) {
		return
	}
	cells := make(map[string][]string, len(blocks))
	for i, name := range f.engines {
		cells[name] = strings.Fields(string(blocks[i]))
	}
	label := bytes.TrimSpace(b[:bar])
	if bytes.HasPrefix(label, []byte("AVG (")) {
		f.compareAverage(said(string(label)), cells)
		return
	}
	key, fields, ok := f.config(b[:bar])
	if !ok {
		return
	}
	r := bench.Row{Section: "compare"}
	blocksOf, ok := engineBlocks(f.engines, cells, true)
	if !ok {
		f.c.diag(bench.Amber, "an incomplete compare row was not read: %s", b[:bar])
		return
	}
	fillCompare(&r, blocksOf)
	f.c.res.RowLinesSeen++
	r.Key = string(key)
	r.Fields = append(fields(), blocksOf...)
	f.c.put(&f.c.compare, r)
}

func (f *flash) compareAverage(label string, cells map[string][]string) {
	blocks, ok := engineBlocks(f.engines, cells, true)
	if !ok || len(f.c.res.AvgRows) >= 256 {
		return
	}
	r := bench.Row{Key: label, Status: "--", Fields: append(bench.Fields{{Name: "label", Value: bench.Str(label)}}, blocks...)}
	f.c.res.AvgRows = append(f.c.res.AvgRows, r)
}

// fillCompare takes the first engine (FlyDSL) as the row's own numbers.
func fillCompare(r *bench.Row, blocks bench.Fields) {
	own := blocks[0].Value.Object()
	get := func(name string) bench.Num { v, _ := own.Get(name); return v.Num() }
	r.US, r.TFLOPS, r.MaxErr, r.MinCos = get("us"), get("tflops"), get("max_err"), get("min_cos")
	state, _ := own.Get("state")
	word, _ := own.Get("status_cell")
	switch {
	case state.Text() == "error":
		r.Status, r.Error = bench.Error, "ERR in the TFLOPS cell"
	case state.Text() == "absent":
		r.Status = bench.Skip
	case statusWord([]byte(word.Text())) != "":
		r.Status = bench.Status(word.Text())
	default:
		r.Status = "--"
	}
}

// engineBlocks turns the cells of each engine and ratio into objects named
// like flydsl, aiter_ck and fly_vs_ck, the engines first.
func engineBlocks(names []string, cells map[string][]string, printed bool) (bench.Fields, bool) {
	var engines, ratios bench.Fields
	for _, name := range names {
		w := cells[name]
		if _, ref, ok := strings.Cut(name, "/"); ok {
			if len(w) != 2 {
				return nil, false
			}
			ratios = append(ratios, bench.Field{Name: "fly_vs_" + strings.TrimPrefix(strings.ToLower(ref), "aiter_"), Value: ratioBlock(w)})
			continue
		}
		if len(w) != 3 && len(w) != 5 {
			return nil, false
		}
		engines = append(engines, bench.Field{Name: strings.ToLower(name), Value: engineBlock(w, printed)})
	}
	return append(engines, ratios...), len(engines) > 0
}

// engineBlock reads "us tflops max_err [min_cos status]". "ERR" stands in the
// TFLOPS cell of a table; in a CSV an error looks like an absent engine.
func engineBlock(w []string, printed bool) bench.Value {
	state := "ok"
	if w[1] == "ERR" {
		state = "error"
	} else if absent([]byte(w[0])) && absent([]byte(w[1])) {
		state = "absent"
	}
	f := bench.Fields{
		{Name: "us", Value: bench.FromNum(numText(w[0]))},
		{Name: "tflops", Value: bench.FromNum(numText(w[1]))},
		{Name: "max_err", Value: bench.FromNum(numText(w[2]))},
	}
	if len(w) == 5 {
		f = append(f, bench.Field{Name: "min_cos", Value: bench.FromNum(numText(w[3]))},
			bench.Field{Name: "status_cell", Value: cell(w[4], printed)})
	}
	return bench.Obj(append(f, bench.Field{Name: "state", Value: bench.Str(state)}))
}

// cell keeps a word as printed; the empty cell of a CSV is null.
func cell(s string, printed bool) bench.Value {
	if s == "" && !printed {
		return bench.Null()
	}
	return bench.Str(said(s))
}

// ratioBlock reads "91.0% 1.00x"; "nanx" is NaN, "--" and "N/A" are absent.
func ratioBlock(w []string) bench.Value {
	return bench.Obj(bench.Fields{
		{Name: "tflops_pct", Value: bench.FromNum(numText(strings.TrimSuffix(w[0], "%")))},
		{Name: "max_err_ratio", Value: bench.FromNum(numText(strings.TrimSuffix(w[1], "x")))},
	})
}
