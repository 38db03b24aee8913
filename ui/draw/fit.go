package draw

import "kdapilot/ui/style"

// Fit returns s in exactly w cells: padded on the right, or cut at the end with
// the mark style.Cut in the last cell.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if ascii(s) {
		switch n := len(s); {
		case n == w:
			return s
		case n < w:
			return s + blanks(w-n)
		default:
			return s[:w-1] + style.Cut
		}
	}
	line, _ := fit(s, w)
	return line
}

// flat returns s as this package draws it, at its own width: safe to put after
// other text, where a tab would otherwise count differently.
func flat(s string) string {
	if ascii(s) {
		return s
	}
	return Fit(s, Width(s))
}

// PadRight is Fit: text to the left, blanks to the right.
func PadRight(s string, w int) string { return Fit(s, w) }

// PadLeft returns s in exactly w cells with its right edge at the right. Text
// that is too long is cut at the end and marked: a number never loses digits
// silently.
func PadLeft(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if n := Width(s); n < w {
		return blanks(w-n) + Fit(s, n)
	}
	return Fit(s, w)
}

// Center returns s in the middle of exactly w cells.
func Center(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(s)
	if n >= w {
		return Fit(s, w)
	}
	left := (w - n) / 2
	return blanks(left) + Fit(s, w-left)
}

// FitMiddle returns name in exactly w cells and cuts it in the middle, because
// kernels, branches and runs differ at the end of their names.
func FitMiddle(name string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(name)
	if n <= w {
		return Fit(name, w)
	}
	head := (w - 1) / 2
	tail := w - 1 - head
	if ascii(name) {
		return name[:head] + style.Cut + name[n-tail:]
	}
	return Cut(name, 0, head) + style.Cut + Cut(name, n-tail, tail)
}

// fit is the general case of Fit; it also returns the cells used by text.
func fit(s string, w int) (line string, used int) {
	b := make([]byte, 0, min(len(s), 4*w)+w+8)
	var (
		state    sgr
		col      int
		markAt   int // length of b where the cut mark would go
		markCol  int
		markAttr sgr
	)
	for i := 0; i < len(s); {
		u := next(s, i, col)
		if col+u.w > w {
			b = append(b[:markAt], blanks(w-1-markCol)...)
			b = append(b, markAttr.shut()...)
			return string(append(b, style.Cut...)), w
		}
		b = u.appendTo(b, s, i, &state)
		i += u.size
		col += u.w
		if col <= w-1 {
			markAt, markCol, markAttr = len(b), col, state
		}
	}
	b = append(b, state.shut()...)
	return string(append(b, blanks(w-col)...)), col
}

// appendTo writes the unit of s at i and follows its colour.
func (u unit) appendTo(b []byte, s string, i int, state *sgr) []byte {
	switch u.kind {
	case instead:
		return append(b, u.text...)
	case colour:
		state.apply(s[i : i+u.size])
	}
	return append(b, s[i:i+u.size]...)
}

// Cut returns the w cells of s that start at cell left, for horizontal scrolling
// and compositing. No mark is added. A wide rune that only half fits becomes
// blanks. left below zero counts as zero.
func Cut(s string, left, w int) string {
	if w <= 0 {
		return ""
	}
	left = max(left, 0)
	if ascii(s) {
		if left >= len(s) {
			return blanks(w)
		}
		end := min(left+w, len(s))
		return s[left:end] + blanks(w-(end-left))
	}
	b := make([]byte, 0, min(len(s), 4*w)+w+8)
	var state sgr
	col, out := 0, 0 // cell in s, cells written
	for i := 0; i < len(s) && out < w; {
		u := next(s, i, col)
		at := i
		i += u.size
		from, to := max(col, left), min(col+u.w, left+w)
		col += u.w
		switch {
		case u.kind == colour && col >= left:
			if out == 0 && len(b) == 0 {
				b = append(b, state.open()...)
			}
			b = u.appendTo(b, s, at, &state)
		case u.kind == colour:
			state.apply(s[at:i])
		case u.w == 0 || to <= from: // invisible, or left of the window
		default:
			if out == 0 && len(b) == 0 {
				b = append(b, state.open()...)
			}
			if to-from == u.w {
				b = u.appendTo(b, s, at, &state)
			} else {
				b = append(b, blanks(to-from)...)
			}
			out += to - from
		}
	}
	b = append(b, state.shut()...)
	return string(append(b, blanks(w-out)...))
}
