package session

// Log is a growing list of clean log lines with numbers that stay: line n is
// line n for ever, even when the oldest are dropped. It is an immutable value;
// Append returns the next one and shares everything it can, so that a snapshot
// of a log costs a few words. Only one goroutine may append to the newest Log.
type Log struct {
	chunks [][]string
	first  int // number of the oldest line kept
	end    int // one past the newest
	bytes  int // of the text kept
}

const (
	logChunk    = 512
	logMaxBytes = 48 << 20
)

// First is the number of the oldest line kept.
func (l Log) First() int { return l.first }

// End is one past the number of the newest line.
func (l Log) End() int { return l.end }

// Line returns line n, or "" outside [First, End).
func (l Log) Line(n int) string {
	if n < l.first || n >= l.end {
		return ""
	}
	// Every chunk but the last is full, so a number is a place.
	i := n - l.first
	return l.chunks[i/logChunk][i%logChunk]
}

// Append returns l with lines added. The oldest chunks are dropped while more
// than 48 MiB of text are kept, but never the newest chunk.
func (l Log) Append(lines ...string) Log {
	if len(lines) == 0 {
		return l
	}
	next := Log{first: l.first, end: l.end, bytes: l.bytes}
	next.chunks = make([][]string, len(l.chunks), len(l.chunks)+len(lines)/logChunk+2)
	copy(next.chunks, l.chunks)
	for _, s := range lines {
		last := len(next.chunks) - 1
		if last < 0 || len(next.chunks[last]) == logChunk {
			next.chunks = append(next.chunks, make([]string, 0, logChunk))
			last++
		}
		next.chunks[last] = append(next.chunks[last], s)
		next.bytes += len(s)
		next.end++
	}
	for len(next.chunks) > 1 && next.bytes > logMaxBytes {
		for _, s := range next.chunks[0] {
			next.bytes -= len(s)
		}
		next.first += len(next.chunks[0])
		next.chunks = next.chunks[1:]
	}
	return next
}
