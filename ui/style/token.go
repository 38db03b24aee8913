// Package style is the paint shelf: semantic tokens, themes and glyph sets. A
// screen asks for Good, Dim or Select, never for green or grey, so that a theme
// can serve dark and light backgrounds, sixteen colours, no colour at all, and
// eyes that do not separate red from green.
//
// Guarantees: a token never paints a background (Select reverses instead), and
// it ends with the matching "off" codes, never with a full reset, so painted
// text can stand inside painted text. Meaning must not rest on a token alone:
// the caller adds a word, a sign or a glyph.
//
// What may not enter: knowledge of the domain, of the terminal (the caller
// picks theme, glyphs and depth), package state.
package style

import "strings"

// Token is one way to paint text. The zero Token paints nothing.
type Token struct {
	open, shut string // SGR sequences, both empty or both set
}

// Paint returns s between the token's sequences. Text that was painted before
// keeps its own colour, and the token comes back after it. Empty text stays
// empty. s must be one line.
func (t Token) Paint(s string) string {
	if t.open == "" || s == "" {
		return s
	}
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = reopen(s, t.open)
	}
	return t.open + s + t.shut
}

// Open returns the sequence that switches the token on, "" for plain text.
func (t Token) Open() string { return t.open }

// Close returns the sequence that switches the token off again.
func (t Token) Close() string { return t.shut }

// Plain reports whether the token paints nothing.
func (t Token) Plain() bool { return t.open == "" }

// reopen writes open again after each inner sequence that switches something
// off, because "default foreground" would otherwise end the outer colour too.
func reopen(s, open string) string {
	var b strings.Builder
	b.Grow(len(s) + 2*len(open))
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		j := strings.IndexByte(s[i:], 'm')
		if j < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i+j+1])
		if switchesOff(s[i+2 : i+j]) {
			b.WriteString(open)
		}
		s = s[i+j+1:]
	}
}

func switchesOff(params string) bool {
	first, _, _ := strings.Cut(params, ";")
	switch first {
	case "", "0", "22", "23", "24", "27", "29", "39", "49":
		return true
	default:
		return false
	}
}

// attr is a text attribute that works without colour.
type attr string

const (
	bold      attr = "1"
	faint     attr = "2"
	italic    attr = "3"
	underline attr = "4"
	reverse   attr = "7"
)

// token builds a Token from a foreground (SGR parameters such as "32" or
// "38;5;28"; "" for the default) and attributes.
func token(fg string, attrs ...attr) Token {
	var on, off []string
	for _, a := range attrs {
		on = append(on, string(a))
		switch a {
		case bold, faint:
			off = append(off, "22")
		case italic:
			off = append(off, "23")
		case underline:
			off = append(off, "24")
		case reverse:
			off = append(off, "27")
		}
	}
	if fg != "" {
		on = append(on, fg)
		off = append(off, "39")
	}
	if len(on) == 0 {
		return Token{}
	}
	return Token{
		open: "\x1b[" + strings.Join(on, ";") + "m",
		shut: "\x1b[" + strings.Join(off, ";") + "m",
	}
}
