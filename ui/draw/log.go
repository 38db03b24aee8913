package draw

// Lines is a growing list of lines with numbers that stay: line n is line n
// for ever, even when the oldest are dropped.
type Lines interface {
	First() int        // number of the oldest line that is still there
	End() int          // one past the number of the newest line
	Line(n int) string // line n; "" outside [First, End)
}

// Ring keeps the newest lines, bounded in count and bytes. It belongs to one
// goroutine.
type Ring struct {
	lines    []string // circular, from head
	head     int
	count    int
	first    int
	bytes    int
	maxLines int
	maxBytes int
}

// NewRing returns a ring of at most maxLines lines and maxBytes bytes; values
// below one mean 200000 lines and 64 MiB.
func NewRing(maxLines, maxBytes int) *Ring {
	if maxLines < 1 {
		maxLines = 200_000
	}
	if maxBytes < 1 {
		maxBytes = 64 << 20
	}
	return &Ring{maxLines: maxLines, maxBytes: maxBytes}
}

// Append adds lines and drops the oldest when there are too many. The newest
// line is always kept, whatever its size.
func (r *Ring) Append(lines ...string) {
	for _, l := range lines {
		for r.count > 0 && (r.count >= r.maxLines || r.bytes+len(l) > r.maxBytes) {
			r.drop()
		}
		if r.count == len(r.lines) {
			r.grow()
		}
		r.lines[(r.head+r.count)%len(r.lines)] = l
		r.count++
		r.bytes += len(l)
	}
}

func (r *Ring) drop() {
	r.bytes -= len(r.lines[r.head])
	r.lines[r.head] = ""
	r.head = (r.head + 1) % len(r.lines)
	r.count--
	r.first++
}

func (r *Ring) grow() {
	bigger := make([]string, min(max(2*len(r.lines), 256), r.maxLines))
	for i := range r.count {
		bigger[i] = r.lines[(r.head+i)%len(r.lines)]
	}
	r.lines, r.head = bigger, 0
}

// First implements Lines.
func (r *Ring) First() int { return r.first }

// End implements Lines.
func (r *Ring) End() int { return r.first + r.count }

// Dropped returns how many lines are gone.
func (r *Ring) Dropped() int { return r.first }

// Line implements Lines.
func (r *Ring) Line(n int) string {
	if n < r.first || n >= r.End() {
		return ""
	}
	return r.lines[(r.head+n-r.first)%len(r.lines)]
}

// Slice makes a fixed list of lines readable as Lines, numbered from zero.
type Slice []string

// First implements Lines.
func (s Slice) First() int { return 0 }

// End implements Lines.
func (s Slice) End() int { return len(s) }

// Line implements Lines.
func (s Slice) Line(n int) string {
	if n < 0 || n >= len(s) {
		return ""
	}
	return s[n]
}
