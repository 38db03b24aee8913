// Package text makes outside text safe to draw. Logs, plans, branch names and
// reviews can hold escape sequences that would move the cursor, set the
// clipboard or recolour the screen; nothing reaches a snapshot before it went
// through Clean or Line.
//
// What may not enter: layout. Widths, wrapping and colour live in ui/draw.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Clean strips control sequences (CSI, OSC, DCS, APC, PM, SOS), all C0 and C1
// control characters except newline and tab, bidirectional overrides and
// zero-width marks. A carriage return followed by newline becomes a newline;
// any other carriage return becomes a newline as well, so that progress output
// reads as lines. Invalid UTF-8 bytes become U+FFFD.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	s = ansi.Strip(sevenBit(s))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case hostile(r):
			return -1
		default:
			return r
		}
	}, s)
}

// Line is Clean for text that must stay on one line: newlines and tabs become
// single blanks and the ends are trimmed.
func Line(s string) string {
	s = Clean(s)
	if !strings.ContainsAny(s, "\n\t") {
		return strings.TrimSpace(s)
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, s))
}

// Clip shortens s to at most n bytes without cutting a rune and marks the cut.
// It bounds how much of a megabyte line is ever carried into a snapshot.
func Clip(s string, n int) string {
	if len(s) <= n || n < 0 {
		return s
	}
	const mark = "..."
	if n < len(mark) {
		return mark[:n]
	}
	cut := n - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}

// plain is the fast path: printable ASCII, newline and tab need no work.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || (c < 0x20 && c != '\n' && c != '\t') {
			return false
		}
	}
	return true
}

// sevenBit rewrites the one-character C1 controls (U+0080 to U+009F) as the
// two-character escapes that ansi.Strip parses.
func sevenBit(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 && r <= 0x9f }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r >= 0x80 && r <= 0x9f {
			b.WriteByte(0x1b)
			r -= 0x40
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hostile(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, // bidi overrides
		r == 0x200b, r == 0x200c, r == 0x200d, r == 0x200e, r == 0x200f, r == 0x2060, r == 0xfeff:
		return true
	default:
		return false
	}
}
