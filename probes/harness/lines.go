package harness

import "bytes"

const (
	// maxLine is how many bytes of one line are kept; the rest is counted and
	// dropped. Real lines reach 280 KB.
	maxLine = 4 << 20
	// trimAt is the pending size from which a progress line that never ends
	// is reduced to what follows its last carriage return.
	trimAt = 64 << 10
)

// splitter cuts one stream into lines. A line that lies whole inside a chunk
// is handed on without a copy; an unfinished one is held back.
type splitter struct {
	pending []byte
	// held counts the bytes of the unfinished line, dropped ones included.
	held    int
	lines   int
	longest int
	// cut counts lines that lost bytes to maxLine.
	cut int
}

// feed calls line for every line that b completes, without its newline and
// with only the last segment of a progress line. The slice is valid during
// the call only.
func (s *splitter) feed(b []byte, line func(b []byte, n int)) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			s.hold(b)
			return
		}
		l := b[:i]
		b = b[i+1:]
		size := len(l)
		if s.held > 0 {
			s.hold(l)
			l, size = s.pending, s.held
			if size > len(l) && size > maxLine {
				s.cut++
			}
		}
		s.lines++
		s.longest = max(s.longest, trimmedLen(l, size))
		line(lastSegment(l), s.lines)
		s.pending, s.held = s.pending[:0], 0
		if cap(s.pending) > maxLine/4 {
			s.pending = nil
		}
	}
}

// trimmedLen does not count the carriage return of a CRLF line.
func trimmedLen(l []byte, size int) int {
	if n := len(l); n > 0 && l[n-1] == '\r' {
		return size - 1
	}
	return size
}

func (s *splitter) hold(b []byte) {
	s.held += len(b)
	if room := maxLine - len(s.pending); room < len(b) {
		b = b[:max(room, 0)]
	}
	s.pending = append(s.pending, b...)
	if len(s.pending) > trimAt {
		if i := bytes.LastIndexByte(s.pending[:len(s.pending)-1], '\r'); i >= 0 {
			s.pending = append(s.pending[:0], s.pending[i+1:]...)
		}
	}
}

// tail gives the unfinished last line.
func (s *splitter) tail() []byte { return lastSegment(s.pending) }

// lastSegment keeps what a terminal would show of a line: the text after its
// last carriage return, ignoring those at the very end.
func lastSegment(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '\r' {
		b = b[:len(b)-1]
	}
	if i := bytes.LastIndexByte(b, '\r'); i >= 0 {
		return b[i+1:]
	}
	return b
}

const bom = "\xef\xbb\xbf"

// scrub removes escape sequences, a byte order mark and an ISO time prefix. It
// returns its argument unless there is an escape sequence to remove, in which
// case the result lies in scratch.
func scrub(b []byte, scratch *[]byte) []byte {
	if bytes.IndexByte(b, 0x1b) >= 0 {
		*scratch = stripEscapes((*scratch)[:0], b)
		b = *scratch
	}
	b = bytes.TrimPrefix(b, []byte(bom))
	return b[isoPrefix(b):]
}

// stripEscapes appends b to dst without CSI, OSC, DCS, APC, PM and SOS
// sequences and without other two-byte escapes.
func stripEscapes(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		if b[i] != 0x1b {
			dst = append(dst, b[i])
			i++
			continue
		}
		i++
		if i >= len(b) {
			break
		}
		switch b[i] {
		case '[':
			for i++; i < len(b) && (b[i] < 0x40 || b[i] > 0x7e); i++ {
				if b[i] < 0x20 {
					i--
					break
				}
			}
			i++
		case ']', 'P', '_', '^', 'X':
			i = stringEnd(b, i+1)
		default:
			i++
		}
	}
	return dst
}

// stringEnd finds the end of a control string: BEL or ESC backslash.
func stringEnd(b []byte, i int) int {
	for ; i < len(b); i++ {
		if b[i] == 7 {
			return i + 1
		}
		if b[i] == 0x1b {
			if i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
			return i
		}
	}
	return i
}

// isoPrefix is the length of a prefix such as "2026-06-09T09:00:00.0000000Z ",
// which CI logs put before every line, also behind a job name without blanks.
func isoPrefix(b []byte) int {
	const least = len("2026-06-09T09:00:00Z ")
	if len(b) < least || b[0] == ' ' {
		return 0
	}
	head := b[:min(len(b), 160)]
	for from := 0; ; {
		z := bytes.Index(head[from:], []byte("Z "))
		if z < 0 {
			return 0
		}
		end := from + z
		if bytes.IndexByte(head[:end], ' ') >= 0 {
			return 0
		}
		if t := bytes.LastIndexByte(head[:end], 'T'); t >= 10 && isDate(head[t-10:t]) && isClock(head[t+1:end]) {
			return end + 2
		}
		from = end + 1
	}
}

func isDate(b []byte) bool {
	for i, c := range b {
		if i == 4 || i == 7 {
			if c != '-' {
				return false
			}
		} else if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func isClock(b []byte) bool {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' {
		return false
	}
	for _, c := range b {
		if c != ':' && c != '.' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
