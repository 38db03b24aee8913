package harness

import (
	"fmt"
	"strings"

	"kdapilot/engine/bench"
)

// flashCSV picks the layout of a flash-attention CSV: the normal one, compare
// mode (engines are discovered from their *_Time(us) columns), or varlen.
func flashCSV(s *sheet) func(*collector, *sheet) error {
	switch {
	case s.has("Sq"):
		return flashVarlenCSV
	case s.has("Status"):
		return flashNormalCSV
	}
	engines := flashEngines(s.head)
	return func(c *collector, s *sheet) error { return flashCompareCSV(c, s, engines) }
}

// flashEngines lists engines and ratios in column order.
func flashEngines(head []string) []string {
	var names []string
	for _, h := range head {
		if n, ok := strings.CutSuffix(h, "_Time(us)"); ok {
			names = append(names, n)
		} else if n, ok := strings.CutSuffix(h, "_TFLOPS%"); ok {
			names = append(names, n)
		}
	}
	return names
}

// flashAxes reads the axes of a dense CSV row; label is set for an AVG row,
// whose label stands in column B.
func flashAxes(s *sheet) (key string, f bench.Fields, label string, err error) {
	if b := s.get("B"); strings.HasPrefix(b, "AVG") {
		return "", nil, said(b), nil
	}
	var k strings.Builder
	for i, n := range [...]string{"B", "S", "H", "Hkv", "D"} {
		v, ok := integer([]byte(s.get(n)))
		if !ok {
			return "", nil, "", fmt.Errorf("column %s: want an integer, have %q", n, said(s.get(n)))
		}
		if i > 0 {
			k.WriteByte('_')
		}
		fmt.Fprintf(&k, "%s%d", n, v)
		f = append(f, bench.Field{Name: n, Value: bench.Int(v)})
	}
	dtype, mask := said(s.get("dtype")), s.get("causal")
	if !isMask([]byte(mask)) {
		return "", nil, "", fmt.Errorf("column causal: want causal or nocausal, have %q", said(mask))
	}
	fmt.Fprintf(&k, "_%s_%s", dtype, mask)
	f = append(f, bench.Field{Name: "dtype", Value: bench.Str(dtype)}, bench.Field{Name: "causal", Value: bench.Bool(mask == "causal")})
	if sp, ok := integer([]byte(s.get("kv_sp"))); ok {
		fmt.Fprintf(&k, "_sp%d", sp)
		f = append(f, bench.Field{Name: "kv_sp", Value: bench.Int(sp)})
	}
	if l := said(s.get("KVLayout")); l != "" {
		if l != "dense" {
			k.WriteString("_" + l)
		}
		f = append(f, bench.Field{Name: "kv_layout", Value: bench.Str(l)})
	}
	if p := said(s.get("Path")); p != "" {
		f = append(f, bench.Field{Name: "path", Value: bench.Str(p)})
	}
	return k.String(), f, "", nil
}

func flashNormalCSV(c *collector, s *sheet) error {
	key, f, label, err := flashAxes(s)
	if err != nil {
		return err
	}
	r := bench.Row{Key: key, Fields: f, Status: bench.Status(said(s.get("Status"))),
		US: numText(s.get("Time(us)")), TFLOPS: numText(s.get("TFLOPS")),
		MaxErr: numText(s.get("MaxErr")), MinCos: numText(s.get("MinCos"))}
	c.res.Mode = "normal"
	if label != "" {
		r.Key, r.Status, r.Fields = label, "--", bench.Fields{{Name: "label", Value: bench.Str(label)}}
		c.res.AvgRows = append(c.res.AvgRows, r)
		return nil
	}
	if r.Status == bench.Error {
		r.Error = "the CSV does not keep the text of an error"
	}
	c.res.RowLinesSeen++
	c.put(&c.rows, r)
	return nil
}

func flashCompareCSV(c *collector, s *sheet, engines []string) error {
	key, f, label, err := flashAxes(s)
	if err != nil {
		return err
	}
	c.res.Mode = "compare"
	cells := make(map[string][]string, len(engines))
	original := bench.Fields{}
	for _, n := range engines {
		if strings.Contains(n, "/") {
			cells[n] = []string{s.get(n + "_TFLOPS%"), s.get(n + "_MaxErr_ratio")}
			continue
		}
		w := []string{s.get(n + "_Time(us)"), s.get(n + "_TFLOPS"), s.get(n + "_MaxErr")}
		if s.has(n + "_Status") {
			w = append(w, s.get(n+"_MinCos"), s.get(n+"_Status"))
		}
		cells[n] = w
		original = append(original, bench.Field{Name: n, Value: engineBlock(w, false)})
	}
	blocks, ok := engineBlocks(engines, cells, false)
	if !ok {
		return fmt.Errorf("want at least one engine with its columns, have %q", said(strings.Join(engines, ",")))
	}
	if label != "" {
		c.res.AvgRows = append(c.res.AvgRows, bench.Row{Key: label, Status: "--",
			Fields: append(bench.Fields{{Name: "label", Value: bench.Str(label)}}, blocks...)})
		return nil
	}
	r := bench.Row{Key: key, Section: "compare"}
	fillCompare(&r, blocks)
	r.Fields = append(append(f, blocks...), bench.Field{Name: "engines", Value: bench.Obj(original)})
	c.res.RowLinesSeen++
	c.put(&c.compare, r)
	return nil
}

func flashVarlenCSV(c *collector, s *sheet) error {
	if strings.HasPrefix(s.get("Sq"), "AVG") {
		return nil
	}
	head := strings.Join([]string{s.get("Sq"), s.get("Skv"), s.get("H"), s.get("Hkv"), s.get("D"), s.get("dtype"), s.get("causal"), s.get("Path")}, " ")
	f := newFlash(c)
	key, fields, ok := f.extraConfig([]byte(head))
	if !ok {
		return fmt.Errorf("want Sq, Skv, H, Hkv, D, dtype, causal, have %q", said(head))
	}
	c.res.RowLinesSeen++
	c.put(&c.extra, bench.Row{Key: string(key), Section: "extra", Fields: fields(), Status: bench.Status(said(s.get("Status"))),
		US: numText(s.get("Time(us)")), TFLOPS: numText(s.get("TFLOPS")),
		MaxErr: numText(s.get("MaxErr")), MinCos: numText(s.get("MinCos"))})
	return nil
}
