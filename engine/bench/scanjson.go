package bench

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds nested JSON values.
const maxDepth = 32

// scanner reads JSON by recursive descent.
type scanner struct {
	b []byte
	i int
}

func (p *scanner) want(what string) error {
	if p.i >= len(p.b) {
		return fmt.Errorf("byte %d: want %s, have the end", p.i, what)
	}
	return fmt.Errorf("byte %d: want %s, have %q", p.i, what, p.b[p.i])
}

func (p *scanner) space() {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// peek is the next byte that is no blank, 0 at the end.
func (p *scanner) peek() byte {
	p.space()
	if p.i >= len(p.b) {
		return 0
	}
	return p.b[p.i]
}

func (p *scanner) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, fmt.Errorf("byte %d: JSON nested deeper than %d", p.i, maxDepth)
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"':
		s, err := p.str()
		return Str(s), err
	case c == '-' || c >= '0' && c <= '9':
		return p.num()
	case c == 't':
		return Bool(true), p.word("true")
	case c == 'f':
		return Bool(false), p.word("false")
	case c == 'n':
		return Null(), p.word("null")
	}
	return Value{}, p.want("a JSON value")
}

func (p *scanner) word(w string) error {
	if len(p.b)-p.i < len(w) || string(p.b[p.i:p.i+len(w)]) != w {
		return p.want(w)
	}
	p.i += len(w)
	return nil
}

func (p *scanner) object(depth int) (Value, error) {
	p.i++
	f := make(Fields, 0, 16)
	if p.peek() == '}' {
		p.i++
		return Obj(f), nil
	}
	for {
		if p.peek() != '"' {
			return Value{}, p.want("a member name")
		}
		name, err := p.str()
		if err != nil {
			return Value{}, err
		}
		if p.peek() != ':' {
			return Value{}, p.want("':'")
		}
		p.i++
		v, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		f = append(f, Field{name, v})
		switch p.peek() {
		case ',':
			p.i++
		case '}':
			p.i++
			return Obj(f), nil
		default:
			return Value{}, p.want("',' or '}'")
		}
	}
}

func (p *scanner) list(depth int) (Value, error) {
	p.i++
	l := []Value{}
	if p.peek() == ']' {
		p.i++
		return List(l...), nil
	}
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		l = append(l, v)
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			return List(l...), nil
		default:
			return Value{}, p.want("',' or ']'")
		}
	}
}

// str reads a string. One without escapes and beyond-ASCII bytes is taken as
// it is; any other goes through encoding/json.
func (p *scanner) str() (string, error) {
	start := p.i
	simple := true
	for p.i++; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; {
		case c == '"':
			p.i++
			raw := p.b[start:p.i]
			if simple {
				return shared(raw[1 : len(raw)-1]), nil
			}
			var s string
			if err := json.Unmarshal(raw, &s); err != nil {
				return "", fmt.Errorf("byte %d: %w", start, err)
			}
			return s, nil
		case c == '\\':
			simple = false
			p.i++
		case c < 0x20:
			return "", p.want("the rest of a string")
		case c >= utf8.RuneSelf:
			simple = false
		}
	}
	return "", p.want("the end of a string")
}

// shared gives the few strings that nearly every row repeats without a copy.
func shared(b []byte) string {
	for _, s := range [...]string{"key", "status", "us", "tflops", "max_err", "min_cos", "error", "B", "S", "H", "Hkv", "D", "dtype", "causal", "kv_sp", "kv_layout", "PASS", "FAIL", "bf16", "fp16", "fp8", "dense"} {
		if string(b) == s {
			return s
		}
	}
	return string(b)
}

// num reads a number in JSON's grammar.
func (p *scanner) num() (Value, error) {
	start := p.i
	if p.b[p.i] == '-' {
		p.i++
	}
	switch first := p.at(); {
	case first == '0':
		p.i++
	case first >= '1' && first <= '9':
		p.digits()
	default:
		return Value{}, p.want("a digit")
	}
	if p.at() == '.' {
		p.i++
		if !p.digits() {
			return Value{}, p.want("a digit")
		}
	}
	if c := p.at(); c == 'e' || c == 'E' {
		p.i++
		if c := p.at(); c == '+' || c == '-' {
			p.i++
		}
		if !p.digits() {
			return Value{}, p.want("a digit")
		}
	}
	return number(p.b[start:p.i]), nil
}

func (p *scanner) at() byte {
	if p.i < len(p.b) {
		return p.b[p.i]
	}
	return 0
}

func (p *scanner) digits() bool {
	start := p.i
	for p.at() >= '0' && p.at() <= '9' {
		p.i++
	}
	return p.i > start
}

// number keeps integers that a float holds exactly as integers. A number
// beyond the range of a float is an infinity.
func number(b []byte) Value {
	if len(b) < 16 {
		if i, err := strconv.ParseInt(string(b), 10, 64); err == nil {
			return Int(i)
		}
	}
	f, _ := strconv.ParseFloat(string(b), 64)
	return Float(f)
}
