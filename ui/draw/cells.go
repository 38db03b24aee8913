// Package draw turns text into rectangles of terminal cells: lines of exactly w
// cells, blocks of exactly h lines. It knows no domain, no terminal and no
// program; a screen is made of its pieces, joined line by line.
//
// Guarantees, each held by a property test over any width and any content:
// helpers that take a width return exactly that many cells per line, helpers
// that take a height return exactly that many lines, and nothing panics. Both
// ways in which terminals count cells (by rune and by grapheme cluster) agree
// on every line that leaves this package, because runes on which they differ
// are replaced.
//
// Text is expected to be clean (engine/text) but for SGR sequences of
// ui/style. Stray control bytes are replaced by "?", line breaks inside a line
// by a blank, tabs run to the next multiple of eight, invisible marks are
// dropped. Colours that are open at a cut are closed there.
//
// What may not enter: what the text means, input, time, I/O. All functions are
// pure; only Ring holds state, and it belongs to one goroutine.
package draw

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	tabStop = 8
	esc     = 0x1b
	// maxMarks bounds how many combining marks one cell may carry.
	maxMarks = 4
)

// kind tells what a unit of text is.
type kind uint8

const (
	glyph   kind = iota // copied as it is, one or two cells
	instead             // written as something else
	colour              // an SGR sequence, no cells
)

// unit is the smallest piece of a line that is kept or dropped as a whole.
type unit struct {
	kind kind
	size int    // bytes of the source
	w    int    // cells
	text string // what to write when kind is instead; may be ""
}

// next decodes the unit of s that starts at byte i, standing in column col.
func next(s string, i, col int) unit {
	c := s[i]
	switch {
	case c >= 0x20 && c < 0x7f:
		size := 1
		if i+1 < len(s) && s[i+1] >= 0xcc { // combining marks start with 0xcc, 0xcd
			size += marks(s[i+1:])
		}
		return unit{size: size, w: 1}
	case c == esc:
		if n := sgrLen(s[i:]); n > 0 {
			return unit{kind: colour, size: n}
		}
		return unit{kind: instead, size: 1, w: 1, text: "?"}
	case c == '\t':
		w := tabStop - col%tabStop
		return unit{kind: instead, size: 1, w: w, text: blanks(w)}
	case c == '\n' || c == '\r':
		return unit{kind: instead, size: 1, w: 1, text: " "}
	case c < 0x20 || c == 0x7f:
		return unit{kind: instead, size: 1, w: 1, text: "?"}
	default:
		return nextRune(s, i)
	}
}

func nextRune(s string, i int) unit {
	r, size := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && size <= 1 {
		return unit{kind: instead, size: 1, w: 1, text: "?"}
	}
	switch w := runeCells(r, s[i:i+size]); {
	case w > 0:
		return unit{size: size + marks(s[i+size:]), w: w}
	case r >= 0x1f1e6 && r <= 0x1f1ff: // flags: their letters
		return unit{kind: instead, size: size, w: 1, text: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[r-0x1f1e6:][:1]}
	case invisible(r):
		return unit{kind: instead, size: size}
	default:
		return unit{kind: instead, size: size, w: 1, text: "?"}
	}
}

// marks returns the bytes of the combining marks at the start of s that may
// sit on the cell before.
func marks(s string) int {
	n := 0
	for k := 0; k < maxMarks && n+1 < len(s); k++ {
		// U+0300..U+036F is CC 80..CD AF; U+034F joins graphemes and is left out.
		if s[n] != 0xcc && s[n] != 0xcd || s[n+1] < 0x80 || s[n+1] > 0xbf {
			break
		}
		if s[n] == 0xcd && (s[n+1] > 0xaf || s[n+1] == 0x8f) {
			break
		}
		n += 2
	}
	return n
}

// runeCells returns the cells of r, or 0 when r is not safe to draw: it is
// invisible, joins with its neighbours, or terminals disagree on its width.
// enc is r in UTF-8.
func runeCells(r rune, enc string) int {
	switch {
	case r >= 0xa0 && r < 0x300:
		if r == 0xad {
			return 0
		}
		return 1
	case r >= 0x2500 && r <= 0x259f: // box drawing, blocks
		return 1
	case r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3, // CJK, Hangul
		r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa: // kana
		return 2
	case joins(r):
		return 0
	}
	w := ansi.StringWidthWc(enc)
	if w != ansi.StringWidth(enc) || w < 1 || w > 2 {
		return 0
	}
	return w
}

// joins reports runes that can merge with the cell before or after, so that a
// cut or a join would change the count of cells.
func joins(r rune) bool {
	switch {
	case r >= 0x1100 && r <= 0x11ff, r >= 0xa960 && r <= 0xa97f, r >= 0xd7b0 && r <= 0xd7ff: // Hangul jamo
		return true
	case r == 0x0e33, r == 0x0eb3, r == 0xff9e, r == 0xff9f: // letters that extend
		return true
	case r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff: // flags, skin tones
		return true
	case r == 0x0d4e, r >= 0x111c2 && r <= 0x111c3, r >= 0x1193f && r <= 0x11941,
		r >= 0x11a3a && r <= 0x11a3f, r >= 0x11a84 && r <= 0x11a89, r == 0x11d46, r == 0x11f02: // prepended letters
		return true
	default:
		return unicode.In(r, unicode.M, unicode.C, unicode.Zl, unicode.Zp)
	}
}

// invisible reports marks that carry no text of their own and are dropped.
func invisible(r rune) bool {
	switch {
	case r == 0xad, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xfe00 && r <= 0xfe0f,
		r >= 0x1f3fb && r <= 0x1f3ff, r >= 0xe0000 && r <= 0xe01ef:
		return true
	default:
		return false
	}
}

// ascii reports whether s is printable ASCII only: then bytes are cells.
func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

const blankRun = "                                                                                                                                                                                                                                                                " // 256

// blanks returns n blanks without allocating for usual widths.
func blanks(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blankRun):
		return blankRun[:n]
	default:
		return strings.Repeat(" ", n)
	}
}

// Width returns how many cells s takes when drawn by this package.
func Width(s string) int {
	if ascii(s) {
		return len(s)
	}
	col := 0
	for i := 0; i < len(s); {
		u := next(s, i, col)
		i += u.size
		col += u.w
	}
	return col
}

// Strip removes SGR sequences and leaves everything else as it is.
func Strip(s string) string {
	if strings.IndexByte(s, esc) < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] == esc {
			if n := sgrLen(s[i:]); n > 0 {
				i += n
				continue
			}
		}
		b = append(b, s[i])
		i++
	}
	return string(b)
}

// Plain returns the lines without colour and without blanks at the end: what a
// copy to the clipboard or to a file should hold.
func Plain(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(Strip(l), " "))
		b.WriteByte('\n')
	}
	return b.String()
}
