package harness

import (
	"bytes"
	"strconv"

	"kdapilot/engine/bench"
)

// varlenRow reads a row of #683's varlen section, whose order is us, tflops,
// max_err, status and which has no cosine:
//
//	[512, 256]   2   64   64  128   bf16   causal |  121.3  188.1  2.34e-02  FAIL
func (f *flash) varlenRow(head, rest []byte) bool {
	list, cfg := cutList(head)
	if list == nil {
		return false
	}
	f.w.cut(cfg)
	w := f.w.w[:f.w.n]
	if len(w) != 6 || !isMask(w[5]) {
		return false
	}
	var shape [4]int64
	for i := range shape {
		var ok bool
		if shape[i], ok = integer(w[i]); !ok {
			return false
		}
	}
	dtype, mask := string(w[4]), string(w[5])
	r := bench.Row{Section: "varlen"}
	if !f.varlenNumbers(&r, rest) {
		f.c.diag(bench.Amber, "an incomplete varlen row was not read: %s", head)
		return true
	}
	k := append(f.key[:0], "varlen"...)
	k = appendCompact(k, list)
	for i, name := range [...]string{"", "_H", "_Hkv", "_D"} {
		if name != "" {
			k = strconv.AppendInt(append(k, name...), shape[i], 10)
		}
	}
	k = append(append(append(append(k, '_'), dtype...), '_'), mask...)
	f.key = k
	f.file(&f.c.varlen, k, func() bench.Fields {
		return bench.Fields{
			{Name: "seqlens", Value: bench.Str(said(string(list)))},
			{Name: "B", Value: bench.Int(shape[0])}, {Name: "H", Value: bench.Int(shape[1])},
			{Name: "Hkv", Value: bench.Int(shape[2])}, {Name: "D", Value: bench.Int(shape[3])},
			{Name: "dtype", Value: bench.Str(said(dtype))}, {Name: "causal", Value: bench.Bool(mask == "causal")},
		}
	}, r)
	return true
}

func (f *flash) varlenNumbers(r *bench.Row, rest []byte) bool {
	t := bytes.TrimSpace(rest)
	if bytes.HasPrefix(t, []byte("ERR: ")) || bytes.HasPrefix(t, []byte("RAISED: ")) {
		r.Status, r.Error = bench.Error, said(string(t[:min(len(t), maxText)]))
		return true
	}
	if string(t) == "SKIP" {
		r.Status = bench.Skip
		return true
	}
	f.w.cut(t)
	if f.w.n < 4 {
		return false
	}
	var ok [3]bool
	r.US, ok[0] = num(f.w.w[0])
	r.TFLOPS, ok[1] = num(f.w.w[1])
	r.MaxErr, ok[2] = num(f.w.w[2])
	r.Status = statusWord(f.w.w[3])
	return ok == [3]bool{true, true, true} && r.Status != ""
}

// extraRow reads a row of the extra section's final table:
//
//	[1024]  [4096]  16  2  64  bf16  causal  Path | PASS | 0.00e+00 1.00000 | 1393.2 10.8
func (f *flash) extraRow(head, rest []byte) bool {
	end := bytes.IndexByte(rest, '|')
	if end < 0 {
		return false
	}
	st := statusWord(bytes.TrimSpace(rest[:end]))
	if st == "" {
		return false
	}
	key, fields, ok := f.extraConfig(head)
	if !ok {
		return false
	}
	r := bench.Row{Section: "extra", Status: st}
	if !f.numbers(&r, rest[end+1:]) {
		f.c.diag(bench.Amber, "an incomplete extra row was not read: %s", head)
		return true
	}
	if s, ok := f.extraSaid[string(key)]; ok {
		r.MD5, r.RefMD5, r.Warnings = s.md5, s.refMD5, s.warnings
	}
	f.file(&f.c.extra, f.uncut(key), fields, r)
	return true
}

// uncut tells cells apart whose lists were cut to the same label: a second
// row with a cut label is another cell, not a reprint.
func (f *flash) uncut(key []byte) []byte {
	if !bytes.Contains(key, []byte("...")) || len(f.extraSeen) >= maxRows {
		return key
	}
	f.extraSeen[string(key)]++
	if n := f.extraSeen[string(key)]; n > 1 {
		return strconv.AppendInt(append(key, '#'), int64(n), 10)
	}
	return key
}

// extraConfig reads "Sq Skv H Hkv D dtype causal [Path]".
func (f *flash) extraConfig(head []byte) (key []byte, fields func() bench.Fields, ok bool) {
	sq, cfg := cutList(head)
	skv, cfg := cutList(cfg)
	if sq == nil || skv == nil {
		return nil, nil, false
	}
	f.w.cut(cfg)
	w := f.w.w[:f.w.n]
	if len(w) < 5 || !isMask(w[4]) {
		return nil, nil, false
	}
	h, ok1 := integer(w[0])
	hkv, ok2 := integer(w[1])
	if !ok1 || !ok2 {
		return nil, nil, false
	}
	d, dtype, mask, path := string(w[2]), string(w[3]), string(w[4]), said(joinWords(w[5:]))
	k := appendCompact(append(f.key[:0], "Sq"...), sq)
	k = appendCompact(append(k, "_Skv"...), skv)
	k = strconv.AppendInt(append(k, "_H"...), h, 10)
	k = strconv.AppendInt(append(k, "_Hkv"...), hkv, 10)
	k = append(append(append(append(append(append(k, "_D"...), d...), '_'), dtype...), '_'), mask...)
	f.key = k
	return k, func() bench.Fields {
		fs := bench.Fields{
			{Name: "Sq", Value: bench.Str(said(string(sq)))}, {Name: "Skv", Value: bench.Str(said(string(skv)))},
			{Name: "H", Value: bench.Int(h)}, {Name: "Hkv", Value: bench.Int(hkv)}, {Name: "D", Value: headSize(d)},
			{Name: "dtype", Value: bench.Str(said(dtype))}, {Name: "causal", Value: bench.Bool(mask == "causal")},
		}
		if path != "" {
			fs = append(fs, bench.Field{Name: "path", Value: bench.Str(path)})
		}
		return fs
	}, true
}

// headSize is a number, or a label such as "192/128" where the V head has
// another size.
func headSize(d string) bench.Value {
	if v, ok := integer([]byte(d)); ok {
		return bench.Int(v)
	}
	return bench.Str(said(d))
}

// cutList cuts a leading "[1, 2, 3]" off, also one that the harness shortened
// to "[1, 2...". nil when there is none.
func cutList(b []byte) (list, rest []byte) {
	b = bytes.TrimLeft(b, " ")
	if len(b) == 0 || b[0] != '[' {
		return nil, b
	}
	end := bytes.IndexByte(b, ']') + 1
	if dots := bytes.Index(b, []byte("...")); dots > 0 && (end == 0 || dots+3 < end) {
		end = dots + 3
	}
	if end == 0 {
		return nil, b
	}
	return b[:end], b[end:]
}

// appendCompact appends a list without its blanks.
func appendCompact(k, list []byte) []byte {
	for _, c := range list {
		if c != ' ' {
			k = append(k, c)
		}
	}
	return k
}

func isMask(b []byte) bool { return string(b) == "causal" || string(b) == "nocausal" }
