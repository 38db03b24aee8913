package harness

import "strings"

// pyKind is the class of a Python token, as far as a scan for literals needs
// it.
type pyKind byte

const (
	pyOther pyKind = iota
	pyName
	pyString // text is the literal without quotes; escapes are kept as written
)

type pyTok struct {
	kind pyKind
	text string
	line int
}

// maxPyTokens bounds one scan; a 5,000-line harness has about 60,000.
const maxPyTokens = 1 << 20

// pyTokens splits Python source into names, strings and single characters.
// Comments and blanks are left out. A string with an f prefix that holds a
// brace is no literal and comes out as pyOther.
func pyTokens(src []byte) []pyTok {
	p := pyLexer{src: string(src), line: 1}
	for p.i < len(p.src) && len(p.out) < maxPyTokens {
		p.next()
	}
	return p.out
}

type pyLexer struct {
	src     string
	i, line int
	out     []pyTok
}

func (p *pyLexer) next() {
	c := p.src[p.i]
	switch {
	case c == '\n':
		p.line++
		p.i++
	case c == ' ', c == '\t', c == '\r', c == '\\':
		p.i++
	case c == '#':
		if n := strings.IndexByte(p.src[p.i:], '\n'); n >= 0 {
			p.i += n
		} else {
			p.i = len(p.src)
		}
	case c == '"', c == '\'':
		p.str("")
	case nameByte(c):
		start := p.i
		for p.i < len(p.src) && nameByte(p.src[p.i]) {
			p.i++
		}
		word := p.src[start:p.i]
		if p.i < len(p.src) && (p.src[p.i] == '"' || p.src[p.i] == '\'') && len(word) <= 2 && strings.Trim(strings.ToLower(word), "rbfu") == "" {
			p.str(word)
			return
		}
		p.out = append(p.out, pyTok{pyName, word, p.line})
	default:
		p.out = append(p.out, pyTok{pyOther, p.src[p.i : p.i+1], p.line})
		p.i++
	}
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// str takes a string literal that begins here. One that is never closed ends at
// the end of its line, or of the source if it has three quotes.
func (p *pyLexer) str(prefix string) {
	quote := p.src[p.i : p.i+1]
	if strings.HasPrefix(p.src[p.i:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	line := p.line
	p.i += len(quote)
	start := p.i
	for p.i < len(p.src) && !strings.HasPrefix(p.src[p.i:], quote) {
		switch c := p.src[p.i]; {
		case c == '\\' && p.i+1 < len(p.src):
			p.i++
			if p.src[p.i] == '\n' {
				p.line++
			}
		case c == '\n' && len(quote) == 1:
			p.out = append(p.out, pyTok{pyOther, "", line})
			return
		case c == '\n':
			p.line++
		}
		p.i++
	}
	t := pyTok{pyString, p.src[start:min(p.i, len(p.src))], line}
	if strings.ContainsAny(prefix, "fF") && strings.Contains(t.text, "{") {
		t.kind, t.text = pyOther, ""
	}
	p.i = min(p.i+len(quote), len(p.src))
	p.out = append(p.out, t)
}
