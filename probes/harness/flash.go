package harness

import (
	"bytes"
	"strconv"
	"strings"

	"kdapilot/engine/bench"
)

// flash reads tests/kernels/test_flash_attn_fwd.py in all its layouts: with
// KVLayout (#758 and later), with kv_sp (#683 to #757), with neither (#629 to
// #682), the varlen section of #683, the extra section since #704, and
// compare mode (flash_compare.go).
type flash struct {
	c *collector
	w words
	// key is scratch for building a row key.
	key []byte
	// kvLayout is set once a header with that column was seen.
	kvLayout bool
	section  section
	// engines are the column blocks of the compare header.
	engines []string

	// What the verbose block said since the last row.
	md5, refMD5 string
	warnings    []string
	// extraSaid holds the same for the extra section, whose rows come last.
	extraSaid map[string]blockSaid
	extraKey  string
	extraSeen map[string]int
}

type blockSaid struct {
	md5, refMD5 string
	warnings    []string
}

type section int

const (
	secDense section = iota
	secVarlen
	secExtra
	secCompare
)

func newFlash(c *collector) *flash {
	c.res.Mode = "normal"
	return &flash{c: c, extraSaid: map[string]blockSaid{}, extraSeen: map[string]int{}}
}

func (f *flash) close(*int) {}

// line is called for every line; most are histogram lines without a "|".
func (f *flash) line(b []byte) {
	if len(b) < 4 {
		return
	}
	bar := bytes.IndexByte(b, '|')
	if bar < 0 {
		f.plain(b)
		return
	}
	if bytes.HasPrefix(b, []byte("    [FlyDSL ")) {
		f.c.diag(bench.Info, "%s", b[:min(len(b), 600)])
		return
	}
	head := b[:bar]
	switch {
	case f.section == secVarlen && f.varlenRow(head, b[bar+1:]):
	case f.section == secExtra && f.extraRow(head, b[bar+1:]):
	case f.section == secCompare:
		f.compareLine(b, bar)
	default:
		f.dense(b, bar)
	}
}

// dense reads a dense row behind the first bar that a status word follows: a
// progress bar may have left its own bars on the line.
func (f *flash) dense(b []byte, bar int) {
	for at, tries := bar, 0; tries < 8; tries++ {
		if f.denseRow(b[:at], b[at+1:]) {
			return
		}
		next := bytes.IndexByte(b[at+1:], '|')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	f.header(b[:bar])
}

// plain handles the lines without a column bar.
func (f *flash) plain(b []byte) {
	switch b[0] {
	case ' ':
		f.indented(b)
	case 'F':
		f.title(string(b[:min(len(b), 400)]))
	case 'G':
		if v, ok := bytes.CutPrefix(b, []byte("GPU: ")); ok {
			f.c.res.GPU = said(string(v))
		}
	case 'Q':
		if bytes.HasPrefix(b, []byte("QKV varlen ")) {
			f.section = secVarlen
		}
	case 'A':
		if bytes.HasPrefix(b, []byte("Additional dense/varlen")) {
			f.section = secExtra
		} else if bytes.HasPrefix(b, []byte("All tests PASSED")) {
			f.c.verdict("All tests PASSED")
		}
	case 'S':
		if bytes.HasPrefix(b, []byte("Some tests FAILED")) {
			f.c.verdict("Some tests FAILED")
		}
	case 'R', 'V':
		for _, m := range [...]string{"Results saved to: ", "Varlen results saved to: "} {
			if v, ok := bytes.CutPrefix(b, []byte(m)); ok {
				f.c.csv(string(v))
			}
		}
	}
}

// title reads the first line of a run.
func (f *flash) title(s string) {
	switch {
	case strings.HasPrefix(s, "FlyDSL flash_attn_func ("):
		f.section, f.c.res.Mode = secDense, "normal"
		if strings.Contains(s, "fp8") {
			f.c.res.Mode = "normal fp8"
		}
	case strings.HasPrefix(s, "FlyDSL vs "):
		f.section, f.c.res.Mode = secCompare, "compare"
	}
}

// indented handles tag lines, warnings and progress lines.
func (f *flash) indented(b []byte) {
	if b[1] != ' ' {
		return
	}
	switch {
	case b[2] == '[':
		f.tagged(b)
	case b[2] == 'W' && bytes.HasPrefix(b, []byte("  Warning: result contains ")):
		if len(f.warnings) < 8 {
			f.warnings = append(f.warnings, said(string(b[len("  Warning: "):])))
		}
		f.remember()
	case (f.section == secCompare || f.section == secExtra) && bytes.HasSuffix(b, []byte(" ...")):
		f.progress(b)
	}
}

// tagged reads "[TAG] result_md5 = …" and the progress lines of the extra
// section, which begin with a list as well.
func (f *flash) tagged(b []byte) {
	if f.section == secExtra && bytes.HasSuffix(b, []byte(" ...")) {
		f.progress(b)
		return
	}
	i := bytes.Index(b, []byte("] re"))
	if i < 0 {
		return
	}
	rest := b[i+2:]
	if v, ok := bytes.CutPrefix(rest, []byte("result_md5 = ")); ok && len(v) <= 64 {
		f.md5, f.warnings = string(v), nil
	} else if v, ok := bytes.CutPrefix(rest, []byte("ref_md5    = ")); ok && len(v) <= 64 {
		f.refMD5 = string(v)
	}
	f.remember()
}

// remember files what the block said under the running extra case.
func (f *flash) remember() {
	if f.section == secExtra && f.extraKey != "" && len(f.extraSaid) < maxRows {
		f.extraSaid[f.extraKey] = blockSaid{f.md5, f.refMD5, f.warnings}
	}
}

// progress reports the running cell of compare mode and the extra section.
func (f *flash) progress(b []byte) {
	b = bytes.TrimSuffix(b, []byte(" ..."))
	f.c.current(string(b))
	switch f.section {
	case secCompare:
		f.c.res.Planned++
	case secExtra:
		f.md5, f.refMD5, f.warnings = "", "", nil
		if key, _, ok := f.extraConfig(b); ok {
			f.extraKey = string(key)
			f.c.res.Planned++
		}
	}
}

// header learns the layout from the column titles.
func (f *flash) header(head []byte) {
	if !bytes.Contains(head, []byte(" Hkv ")) || !bytes.Contains(head, []byte("causal")) {
		return
	}
	switch {
	case bytes.Contains(head, []byte("KVLayout")):
		f.kvLayout = true
		f.c.res.Version = "KVLayout layout (#758 and later)"
	case bytes.Contains(head, []byte("kv_sp")):
		f.c.res.Version = "kv_sp layout (#683 to #757)"
	default:
		f.c.res.Version = "first layout (#629 to #682)"
	}
}

// denseRow reads "B S H Hkv D dtype causal … | STATUS | … | …". It reports
// whether the line was a row or an average.
func (f *flash) denseRow(head, rest []byte) bool {
	end := bytes.IndexByte(rest, '|')
	if end < 0 {
		return false
	}
	status := bytes.TrimSpace(rest[:end])
	if bytes.Equal(status, []byte("--")) {
		return f.average(head, rest[end+1:])
	}
	st := statusWord(status)
	if st == "" {
		return false
	}
	key, fields, ok := f.config(head)
	if !ok {
		return false
	}
	r := bench.Row{Status: st}
	if !f.numbers(&r, rest[end+1:]) {
		f.c.diag(bench.Amber, "an incomplete row was not read: %s", head)
		return true
	}
	f.c.res.RowLinesSeen++
	r.MD5, r.RefMD5, r.Warnings = f.md5, f.refMD5, f.warnings
	f.md5, f.refMD5, f.warnings = "", "", nil
	f.file(&f.c.rows, key, fields, r)
	return true
}

// file puts a row under its key; a key seen before keeps its fields.
func (f *flash) file(t *table, key []byte, fields func() bench.Fields, r bench.Row) {
	if i, ok := t.at(key); ok {
		r.Key, r.Fields = t.rows[i].Key, t.rows[i].Fields
	} else {
		r.Key, r.Fields = string(key), fields()
	}
	f.c.put(t, r)
}

func statusWord(b []byte) bench.Status {
	switch string(b) {
	case "PASS":
		return bench.Pass
	case "FAIL":
		return bench.Fail
	case "ERROR":
		return bench.Error
	case "SKIP":
		return bench.Skip
	case "BENCHERR":
		return bench.BenchErr
	}
	return ""
}

// numbers fills a row from what follows the status cell. PASS, FAIL and
// BENCHERR need both pairs complete.
func (f *flash) numbers(r *bench.Row, rest []byte) bool {
	switch r.Status {
	case bench.Error:
		r.Error = said(string(rest[:min(len(rest), maxText)]))
		return true
	case bench.Skip:
		return true
	}
	bar := bytes.IndexByte(rest, '|')
	if bar < 0 {
		return false
	}
	var ok [4]bool
	f.w.cut(rest[:bar])
	if f.w.n != 2 {
		return false
	}
	r.MaxErr, ok[0] = num(f.w.w[0])
	r.MinCos, ok[1] = num(f.w.w[1])
	f.w.cut(rest[bar+1:])
	if f.w.n < 2 {
		return false
	}
	r.US, ok[2] = num(f.w.w[0])
	r.TFLOPS, ok[3] = fixed1(f.w.w[1])
	return ok == [4]bool{true, true, true, true}
}

// config reads the axes before the first bar. Text that another writer left
// on the line before the axes is tolerated: the axes are found from the
// causal word backwards. The returned function makes the fields; it must be
// called before the next line.
func (f *flash) config(head []byte) (key []byte, fields func() bench.Fields, ok bool) {
	f.w.cut(head)
	w := f.w.w[:f.w.n]
	at := -1
	for i := 6; i < len(w); i++ {
		if c := w[i]; len(c) >= 6 && (string(c) == "causal" || string(c) == "nocausal") {
			at = i
			break
		}
	}
	if at < 0 {
		return nil, nil, false
	}
	var shape [5]int64
	for i := range shape {
		if shape[i], ok = integer(w[at-6+i]); !ok {
			return nil, nil, false
		}
	}
	dtype, mask, tail := w[at-1], w[at], w[at+1:]
	split, hasSplit := int64(0), false
	if len(tail) > 0 {
		if split, hasSplit = integer(tail[0]); hasSplit {
			tail = tail[1:]
		}
	}
	k := f.key[:0]
	for i, name := range [...]string{"B", "_S", "_H", "_Hkv", "_D"} {
		k = append(k, name...)
		k = strconv.AppendInt(k, shape[i], 10)
	}
	k = append(k, '_')
	k = append(append(append(k, dtype...), '_'), mask...)
	if hasSplit {
		k = append(k, "_sp"...)
		k = strconv.AppendInt(k, split, 10)
	}
	var layout []byte
	if len(tail) > 0 && (f.kvLayout || isKVLayout(tail[0])) {
		layout, tail = tail[0], tail[1:]
		if string(layout) != "dense" {
			k = append(append(k, '_'), layout...)
		}
	}
	f.key = k
	causal := len(mask) == 6
	return k, func() bench.Fields {
		fs := make(bench.Fields, 0, 9)
		for i, name := range [...]string{"B", "S", "H", "Hkv", "D"} {
			fs = append(fs, bench.Field{Name: name, Value: bench.Int(shape[i])})
		}
		fs = append(fs, bench.Field{Name: "dtype", Value: bench.Str(f.word(dtype))},
			bench.Field{Name: "causal", Value: bench.Bool(causal)})
		if hasSplit {
			fs = append(fs, bench.Field{Name: "kv_sp", Value: bench.Int(split)})
		}
		if layout != nil {
			fs = append(fs, bench.Field{Name: "kv_layout", Value: bench.Str(f.word(layout))})
		}
		if len(tail) > 0 {
			fs = append(fs, bench.Field{Name: "path", Value: bench.Str(said(joinWords(tail)))})
		}
		return fs
	}, true
}

// word shares the few strings that fill most cells.
func (f *flash) word(b []byte) string {
	switch string(b) {
	case "bf16":
		return "bf16"
	case "fp16":
		return "fp16"
	case "fp8":
		return "fp8"
	case "dense":
		return "dense"
	}
	return said(string(b))
}

func isKVLayout(b []byte) bool {
	return string(b) == "dense" || bytes.HasPrefix(b, []byte("linear:")) || bytes.HasPrefix(b, []byte("vectorized:"))
}

// average keeps the harness's own means under their label.
func (f *flash) average(head, rest []byte) bool {
	label := bytes.TrimSpace(head)
	if !bytes.HasPrefix(label, []byte("AVG (")) {
		return false
	}
	name := said(string(label))
	r := bench.Row{Key: name, Status: "--", Fields: bench.Fields{{Name: "label", Value: bench.Str(name)}}}
	if f.numbers(&r, rest) && len(f.c.res.AvgRows) < 256 {
		f.c.res.AvgRows = append(f.c.res.AvgRows, r)
	}
	return true
}
