package view

import (
	"strings"

	"github.com/sahilm/fuzzy"
)

// Filter is a compiled filter: "text" keeps what contains it, "!text" what does
// not, "-f text" what matches loosely. Several words must all hold. Case counts
// only where the filter has a capital. "axis:value" words compare with the
// fields a row offers.
type Filter struct {
	words []word
	fuzzy string
}

type word struct {
	text, axis, op string
	not, exact     bool
}

// NewFilter compiles text; any text is a valid filter.
func NewFilter(text string) Filter {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "-f"); ok && (rest == "" || rest[0] == ' ') {
		return Filter{fuzzy: strings.TrimSpace(rest)}
	}
	var f Filter
	for _, s := range strings.Fields(text) {
		w := word{text: s}
		if rest, ok := strings.CutPrefix(s, "!"); ok {
			w.not, w.text = true, rest
		}
		for _, op := range []string{">=", "<=", ":", "=", ">", "<"} {
			if axis, val, ok := strings.Cut(w.text, op); ok && axis != "" && val != "" && plainWord(axis) {
				w.axis, w.op, w.text = axis, op, val
				break
			}
		}
		if w.text == "" {
			continue
		}
		w.exact = w.text != strings.ToLower(w.text)
		f.words = append(f.words, w)
	}
	return f
}

func plainWord(s string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r >= '0' && r <= '9') {
			return false
		}
	}
	return true
}

// Empty reports whether the filter keeps everything.
func (f Filter) Empty() bool { return len(f.words) == 0 && f.fuzzy == "" }

// Keep reports whether a row with this text passes. axis, if not nil, gives the
// row's value of a named field and whether it has one; a word whose axis the
// row does not have is looked for in the text as it was written.
func (f Filter) Keep(text string, axis func(name string) (string, bool)) bool {
	if f.fuzzy != "" {
		return len(fuzzy.Find(f.fuzzy, []string{text})) > 0
	}
	for _, w := range f.words {
		if w.match(text, axis) == w.not {
			return false
		}
	}
	return true
}

func (w word) match(text string, axis func(string) (string, bool)) bool {
	if w.axis != "" {
		if axis != nil {
			if v, ok := axis(w.axis); ok {
				return compare(v, w.op, w.text)
			}
		}
		return contains(text, w.axis+w.op+w.text, w.exact || w.axis != strings.ToLower(w.axis))
	}
	return contains(text, w.text, w.exact)
}

func contains(text, s string, exact bool) bool {
	if exact {
		return strings.Contains(text, s)
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(s))
}
