package att

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// maxDepth is how deeply nested a value may be. The deepest known file nests
// six levels, a source tree some twenty.
const maxDepth = 200

// scanner pulls values out of a JSON text without building a tree. Traces are
// arrays of a million small numbers; encoding/json takes ten times as long over
// them. It is strict: what it accepts is JSON.
type scanner struct {
	b     []byte
	i     int
	depth int
}

// syntaxError says where a JSON text stops being what was expected.
type syntaxError struct {
	offset int
	want   string
	got    string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("byte %d: want %s, found %s", e.offset, e.want, e.got)
}

func (s *scanner) fail(want string) error {
	got := "the end of the file"
	if s.i < len(s.b) {
		got = strconv.QuoteToASCII(string(s.b[s.i:min(len(s.b), s.i+12)]))
	}
	return &syntaxError{offset: s.i, want: want, got: got}
}

// peek skips blanks and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) expect(c byte) error {
	if s.peek() != c || s.i >= len(s.b) {
		return s.fail(strconv.QuoteRune(rune(c)))
	}
	s.i++
	return nil
}

// end checks that nothing follows.
func (s *scanner) end() error {
	if s.peek(); s.i < len(s.b) {
		return s.fail("the end of the file")
	}
	return nil
}

// list reads a bracketed, comma-separated sequence; item reads one element.
func (s *scanner) list(open, shut byte, item func() error) error {
	if err := s.expect(open); err != nil {
		return err
	}
	if s.depth++; s.depth > maxDepth {
		return s.fail(fmt.Sprintf("at most %d nested values", maxDepth))
	}
	defer func() { s.depth-- }()
	if s.peek() == shut {
		s.i++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.i++
		case shut:
			s.i++
			return nil
		default:
			return s.fail("',' or " + strconv.QuoteRune(rune(shut)))
		}
	}
}

// array calls item at the start of each element; item must consume it.
func (s *scanner) array(item func() error) error { return s.list('[', ']', item) }

// object calls value after each key; value must consume the value. The key is
// only valid until value returns.
func (s *scanner) object(value func(key string) error) error {
	return s.list('{', '}', func() error {
		key, err := s.text()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		return value(key)
	})
}

// str reads a string and returns the place of its content; escaped says that
// the content has to go through unquote.
func (s *scanner) str() (from, to int, escaped bool, err error) {
	if s.peek() != '"' {
		return 0, 0, false, s.fail("a string")
	}
	s.i++
	from = s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return from, s.i - 1, escaped, nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return 0, 0, false, err
			}
		case c < 0x20:
			return 0, 0, false, s.fail("a string without control characters")
		default:
			s.i++
		}
	}
	return 0, 0, false, s.fail("the end of a string")
}

// escape steps over one backslash escape.
func (s *scanner) escape() error {
	if s.i+1 >= len(s.b) {
		s.i = len(s.b)
		return s.fail("an escape")
	}
	switch s.b[s.i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i += 2
		return nil
	case 'u':
		for k := 2; k < 6; k++ {
			if s.i+k >= len(s.b) || !isHex(s.b[s.i+k]) {
				return s.fail("four hex digits after \\u")
			}
		}
		s.i += 6
		return nil
	}
	return s.fail("a known escape")
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// text reads a string and decodes it.
func (s *scanner) text() (string, error) {
	from, to, escaped, err := s.str()
	if err != nil {
		return "", err
	}
	return unquote(s.b[from:to], escaped), nil
}

// unquote decodes the content of a string that str has checked.
func unquote(b []byte, escaped bool) string {
	if !escaped {
		return string(b)
	}
	quoted := make([]byte, 0, len(b)+2)
	quoted = append(append(append(quoted, '"'), b...), '"')
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		return string(b)
	}
	return out
}

// integer reads a number. ok is false, with the number consumed, when it has a
// fraction or exponent or does not fit 64 bits.
func (s *scanner) integer() (n int64, ok bool, err error) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return 0, false, s.fail("a number")
	}
	neg := s.b[s.i] == '-'
	if neg {
		s.i++
	}
	start := s.i
	var v uint64
	ok = true
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		d := uint64(s.b[s.i] - '0')
		if v > (math.MaxInt64-d)/10 {
			ok = false
		} else {
			v = v*10 + d
		}
		s.i++
	}
	if s.i == start || (s.b[start] == '0' && s.i > start+1) {
		return 0, false, s.fail("a number")
	}
	if s.i < len(s.b) && (s.b[s.i] == '.' || s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		return 0, false, s.fraction()
	}
	if n = int64(v); neg {
		n = -n
	}
	return n, ok, nil
}

// fraction steps over the rest of a number that is not an integer.
func (s *scanner) fraction() error {
	digits := func() error {
		start := s.i
		for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
			s.i++
		}
		if s.i == start {
			return s.fail("a digit")
		}
		return nil
	}
	if s.b[s.i] == '.' {
		s.i++
		if err := digits(); err != nil {
			return err
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		return digits()
	}
	return nil
}

// skip steps over any value.
func (s *scanner) skip() error {
	switch c := s.peek(); c {
	case '{':
		return s.object(func(string) error { return s.skip() })
	case '[':
		return s.array(s.skip)
	case '"':
		_, _, _, err := s.str()
		return err
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	_, _, err := s.integer()
	return err
}

func (s *scanner) word(w string) error {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return s.fail(w)
	}
	s.i += len(w)
	return nil
}

// null consumes a null if one is next.
func (s *scanner) null() bool {
	return s.peek() == 'n' && s.word("null") == nil
}
