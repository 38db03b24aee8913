package draw

// piece is one line of wrapped text.
type piece struct {
	text string // ends with its colours closed; not padded
	w    int    // cells
	at   int    // byte offset in the source of the first unit on the line
}

// Wrap breaks s at blanks, and inside words longer than a line, into lines of
// exactly w cells. Line breaks in s are kept. Empty text gives one blank line;
// w <= 0 gives none.
func Wrap(s string, w int) []string {
	pieces := wrap(s, w, true)
	out := make([]string, len(pieces))
	for i, p := range pieces {
		out[i] = p.text + blanks(w-p.w)
	}
	return out
}

// WrapHard breaks s at exactly w cells, blanks or not: for code and logs.
func WrapHard(s string, w int) []string {
	pieces := wrap(s, w, false)
	out := make([]string, len(pieces))
	for i, p := range pieces {
		out[i] = p.text + blanks(w-p.w)
	}
	return out
}

// wrapper carries the line that is being filled.
type wrapper struct {
	w      int
	out    []piece
	b      []byte
	col    int
	at     int // source offset of the line
	state  sgr
	breakB int // where the line may break: length of b before the blank
	breakC int // its column
	breakS sgr // its colours
	afterB int // length of b after the blank
	afterC int
	afterI int // source offset after the blank
}

// wrap is the general line breaker. With words it prefers blanks and swallows
// the blank it breaks at.
func wrap(s string, w int, words bool) []piece {
	if w <= 0 {
		return nil
	}
	if len(s) <= w && ascii(s) {
		return []piece{{text: s, w: len(s)}}
	}
	wr := wrapper{w: w, b: make([]byte, 0, min(len(s), 4*w)+16), breakB: -1}
	for i := 0; i < len(s); {
		if s[i] == '\n' {
			wr.flush(len(wr.b), wr.col, wr.state)
			wr.start(i+1, nil, 0, wr.state)
			i++
			continue
		}
		u := next(s, i, wr.col)
		if u.w > w { // a wide rune in one column, a tab in a few
			u = unit{kind: instead, size: u.size, w: 1, text: "?"}
			if s[i] == '\t' {
				u.text = " "
			}
		}
		if words && s[i] == ' ' && wr.col > 0 && u.w == 1 {
			if wr.col == w { // the blank that does not fit is the break
				wr.flush(len(wr.b), wr.col, wr.state)
				wr.start(i+1, nil, 0, wr.state)
				i++
				continue
			}
			wr.breakB, wr.breakC, wr.breakS = len(wr.b), wr.col, wr.state
			wr.b = append(wr.b, ' ')
			wr.col++
			i++
			wr.afterB, wr.afterC, wr.afterI = len(wr.b), wr.col, i
			continue
		}
		if wr.col+u.w > w {
			wr.overflow(i)
			continue // decode again: a tab depends on the column
		}
		wr.b = u.appendTo(wr.b, s, i, &wr.state)
		wr.col += u.w
		i += u.size
	}
	wr.flush(len(wr.b), wr.col, wr.state)
	return wr.out
}

// overflow ends the line at the last blank, or here.
func (wr *wrapper) overflow(i int) {
	if wr.breakB < 0 {
		wr.flush(len(wr.b), wr.col, wr.state)
		wr.start(i, nil, 0, wr.state)
		return
	}
	rest := append([]byte(nil), wr.b[wr.afterB:]...)
	col, at := wr.col-wr.afterC, wr.afterI
	open := wr.breakS
	final := wr.state
	wr.flush(wr.breakB, wr.breakC, wr.breakS)
	wr.start(at, rest, col, open)
	wr.state = final
}

// flush emits the line up to n bytes and col cells.
func (wr *wrapper) flush(n, col int, state sgr) {
	text := string(wr.b[:n]) + state.shut()
	wr.out = append(wr.out, piece{text: text, w: col, at: wr.at})
}

// start begins a line with rest already on it.
func (wr *wrapper) start(at int, rest []byte, col int, open sgr) {
	wr.b = append(wr.b[:0], open.open()...)
	wr.b = append(wr.b, rest...)
	wr.col, wr.at, wr.breakB = col, at, -1
	wr.state = open
}
