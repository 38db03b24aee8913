package harness

import (
	"bytes"
	"strconv"
	"strings"

	"kdapilot/engine/bench"
)

// words is a line cut at blanks without allocation; more words than fit are
// left in rest.
type words struct {
	w [24][]byte
	n int
}

// cut fills w with the blank-separated words of b.
func (w *words) cut(b []byte) {
	w.n = 0
	for i := 0; i < len(b) && w.n < len(w.w); {
		for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
			i++
		}
		start := i
		for i < len(b) && b[i] != ' ' && b[i] != '\t' {
			i++
		}
		if i > start {
			w.w[w.n] = b[start:i]
			w.n++
		}
	}
}

// num reads a cell: an absent one ("N/A", "--", "-", "n/a", empty) gives
// ok and no value; anything else that is not a number gives !ok.
func num(b []byte) (v bench.Num, ok bool) {
	if absent(b) {
		return bench.Num{}, true
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return bench.Num{}, false
	}
	return bench.Of(f), true
}

func absent(b []byte) bool {
	switch len(b) {
	case 0:
		return true
	case 1:
		return b[0] == '-'
	case 2:
		return b[0] == '-' && b[1] == '-'
	case 3:
		return string(b) == "N/A" || string(b) == "n/a"
	}
	return false
}

// fixed1 reads a number printed with %.1f that other text may have been
// written behind without a blank: "44.5Memory access fault".
func fixed1(b []byte) (v bench.Num, ok bool) {
	if v, ok := num(b); ok {
		return v, true
	}
	i := bytes.IndexByte(b, '.')
	if i <= 0 || i+1 >= len(b) || b[i+1] < '0' || b[i+1] > '9' {
		return bench.Num{}, false
	}
	return num(b[:i+2])
}

// integer reads a plain decimal that fits a shape.
func integer(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	var v int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, true
}

// after gives what follows mark in s, up to the end.
func after(s, mark string) (string, bool) {
	i := strings.Index(s, mark)
	if i < 0 {
		return "", false
	}
	return s[i+len(mark):], true
}

// between gives the text after mark up to the next stop.
func between(s, mark, stop string) (string, bool) {
	r, ok := after(s, mark)
	if !ok {
		return "", false
	}
	if i := strings.Index(r, stop); i >= 0 {
		return r[:i], true
	}
	return r, true
}

// numText reads a printed number with optional thousands separators.
func numText(s string) bench.Num {
	s = strings.TrimSpace(s)
	if strings.IndexByte(s, ',') >= 0 {
		s = strings.ReplaceAll(s, ",", "")
	}
	v, ok := num([]byte(s))
	if !ok {
		return bench.Num{}
	}
	return v
}

// intText reads an integer field, null when it is not one.
func intText(s string) bench.Value {
	if v, ok := integer([]byte(strings.TrimSpace(s))); ok {
		return bench.Int(v)
	}
	return bench.Null()
}

// numBefore reads the number that stands before unit, for example "50.6" of
// "50.6 us," with unit " us".
func numBefore(s, unit string) (bench.Num, bool) {
	i := strings.Index(s, unit)
	if i < 0 {
		return bench.Num{}, false
	}
	head := strings.TrimRight(s[:i], " ")
	j := strings.LastIndexAny(head, " |:=(\t")
	v, ok := num([]byte(head[j+1:]))
	return v, ok && v.OK
}
