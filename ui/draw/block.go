package draw

import (
	"strings"

	"kdapilot/ui/style"
)

// Block returns exactly h lines of exactly w cells: lines are fitted, missing
// ones are blank, surplus ones are dropped.
func Block(lines []string, w, h int) []string {
	if h <= 0 {
		return nil
	}
	out := make([]string, h)
	for i := range out {
		if i < len(lines) {
			out[i] = Fit(lines[i], w)
		} else {
			out[i] = blanks(w)
		}
	}
	return out
}

// Box draws a titled border around lines: exactly w by h cells. The inside is
// InnerSize. A focused box has heavier lines and an accented title, so focus
// shows without colour. Below three columns or two rows there is no room for a
// border and lines are drawn alone.
func Box(title string, lines []string, w, h int, focus bool, look style.Look) []string {
	return BoxNote(title, "", lines, w, h, focus, look)
}

// BoxNote is Box with a short note in the bottom border, such as a position.
func BoxNote(title, note string, lines []string, w, h int, focus bool, look style.Look) []string {
	if w < 3 || h < 2 {
		return Block(lines, w, h)
	}
	frame, edge, head := look.Frame, look.Border, look.Title
	if focus {
		frame, edge, head = look.Focus, look.BorderFocus, look.BorderFocus
	}
	out := make([]string, 0, h)
	out = append(out, borderLine(frame.TopLeft, frame.H, frame.TopRight, title, w, edge, head, false))
	side := edge.Paint(frame.V)
	blank := side + blanks(w-2) + side
	for i := range h - 2 {
		if i < len(lines) {
			out = append(out, side+Fit(lines[i], w-2)+side)
		} else {
			out = append(out, blank)
		}
	}
	return append(out, borderLine(frame.BottomLeft, frame.H, frame.BottomRight, note, w, edge, look.Dim, true))
}

// InnerSize returns the room inside a Box of w by h cells.
func InnerSize(w, h int) (innerW, innerH int) {
	if w < 3 || h < 2 {
		return max(w, 0), max(h, 0)
	}
	return w - 2, h - 2
}

// borderLine is one horizontal border with text in it, to the left or right.
func borderLine(left, line, right, text string, w int, edge, ink style.Token, atRight bool) string {
	room := w - 2
	n := min(Width(text)+2, room-2) // a blank on each side of the text
	if text == "" || n < 3 {
		return edge.Paint(left + strings.Repeat(line, room) + right)
	}
	label := " " + ink.Paint(FitMiddle(text, n-2)) + " "
	if atRight {
		return edge.Paint(left+strings.Repeat(line, room-n-1)) + label + edge.Paint(line+right)
	}
	return edge.Paint(left+line) + label + edge.Paint(strings.Repeat(line, room-n-1)+right)
}

// Panel is Box for narrow terminals: a title line with a rule and no side
// borders, so that a line can be copied whole. Exactly w by h cells, h-1 lines
// of content.
func Panel(title string, lines []string, w, h int, focus bool, look style.Look) []string {
	if h <= 0 {
		return nil
	}
	out := make([]string, 0, h)
	out = append(out, TitleRule(title, w, focus, look))
	return append(out, Block(lines, w, h-1)...)
}

// Rule is a horizontal line of w cells.
func Rule(w int, look style.Look) string {
	if w <= 0 {
		return ""
	}
	return look.Border.Paint(strings.Repeat(look.Glyphs.Rule, w))
}

// TitleRule is a title followed by a rule, w cells.
func TitleRule(title string, w int, focus bool, look style.Look) string {
	if w <= 0 {
		return ""
	}
	line, edge, head := look.Glyphs.Rule, look.Border, look.Title
	if focus {
		line, edge, head = look.RuleHeavy, look.BorderFocus, look.BorderFocus
	}
	n := min(Width(title), w)
	if n == 0 {
		return edge.Paint(strings.Repeat(line, w))
	}
	out := head.Paint(FitMiddle(title, n))
	if n == w {
		return out
	}
	return out + " " + edge.Paint(strings.Repeat(line, w-n-1))
}

// JoinH puts blocks beside each other. Each part must be lines of one width, as
// the other helpers return them; nothing is measured again but the width of a
// part that is shorter than the highest one, which is filled with blanks.
func JoinH(parts ...[]string) []string {
	h := 0
	for _, p := range parts {
		h = max(h, len(p))
	}
	if h == 0 {
		return nil
	}
	fill := make([]string, len(parts))
	for i, p := range parts {
		if len(p) > 0 && len(p) < h {
			fill[i] = blanks(Width(p[0]))
		}
	}
	out := make([]string, h)
	for y := range out {
		n := 0
		for i, p := range parts {
			if y < len(p) {
				n += len(p[y])
			} else {
				n += len(fill[i])
			}
		}
		var b strings.Builder
		b.Grow(n)
		for i, p := range parts {
			if y < len(p) {
				b.WriteString(p[y])
			} else {
				b.WriteString(fill[i])
			}
		}
		out[y] = b.String()
	}
	return out
}

// JoinV puts blocks below each other. All parts should have the same width.
func JoinV(parts ...[]string) []string {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	out := make([]string, 0, n)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// Stripe repeats a piece of text h times, as a separator for JoinH.
func Stripe(piece string, h int) []string {
	out := make([]string, max(h, 0))
	for i := range out {
		out[i] = piece
	}
	return out
}

// Overlay lays box over base with its upper left corner at cell (x, y) and
// returns a new block of the size of base. What would stand outside is clipped;
// x and y may be negative.
func Overlay(base, box []string, x, y int) []string {
	out := append([]string(nil), base...)
	if len(box) == 0 || len(base) == 0 {
		return out
	}
	w, bw := Width(base[0]), 0
	for _, l := range box {
		bw = max(bw, Width(l))
	}
	from, to := max(x, 0), min(x+bw, w)
	if from >= to {
		return out
	}
	for i, l := range box {
		row := y + i
		if row < 0 || row >= len(base) {
			continue
		}
		mid := l
		if n := Width(l); n != bw || from != x || to != x+bw {
			mid = Cut(l, from-x, to-from)
		}
		out[row] = Cut(base[row], 0, from) + mid + Cut(base[row], to, w-to)
	}
	return out
}

// OverlayCenter lays box over the middle of base.
func OverlayCenter(base, box []string) []string {
	if len(base) == 0 || len(box) == 0 {
		return append([]string(nil), base...)
	}
	return Overlay(base, box, max((Width(base[0])-Width(box[0]))/2, 0), max((len(base)-len(box))/2, 0))
}
