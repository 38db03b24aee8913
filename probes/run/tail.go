package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ChunkBytes is a good size for one ReadNew.
const ChunkBytes = 256 << 10

// Tailer follows a growing file by offset. It keeps no file open between calls,
// so it can not pin a removed log, and it never reads more than asked for.
type Tailer struct {
	path   string
	offset int64
}

// NewTailer follows path from offset; a cockpit that comes back passes the
// offset it stopped at, or 0 for everything.
func NewTailer(path string, offset int64) *Tailer { return &Tailer{path: path, offset: max(offset, 0)} }

// Attach returns tailers for both logs of a run folder, from the start.
func Attach(dir string) (stdout, stderr *Tailer) {
	return NewTailer(filepath.Join(dir, StdoutFile), 0), NewTailer(filepath.Join(dir, StderrFile), 0)
}

// Offset is where the next ReadNew starts, in bytes.
func (t *Tailer) Offset() int64 { return t.offset }

// Chunk is what one ReadNew found.
type Chunk struct {
	Bytes []byte
	// Offset is where Bytes starts in the file.
	Offset int64
	// More is true when there is more to read at once.
	More bool
	// Restarted is true when the file had become shorter and is read again from
	// its start: what was read before is void.
	Restarted bool
}

// ReadNew reads at most limit bytes that were not read before. A file that is
// not there yet is an empty chunk.
func (t *Tailer) ReadNew(limit int) (Chunk, error) {
	f, err := os.OpenFile(t.path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Chunk{Offset: t.offset}, nil
	}
	if err != nil {
		return Chunk{}, fmt.Errorf("following a log: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return Chunk{}, fmt.Errorf("following %s: %w", t.path, err)
	}
	if !st.Mode().IsRegular() {
		return Chunk{}, fmt.Errorf("following %s: not a regular file", t.path)
	}
	c := Chunk{}
	if st.Size() < t.offset {
		t.offset, c.Restarted = 0, true
	}
	c.Offset = t.offset
	n := min(st.Size()-t.offset, int64(max(limit, 0)))
	if n <= 0 {
		return c, nil
	}
	buf := make([]byte, n)
	got, err := f.ReadAt(buf, t.offset)
	if err != nil && err != io.EOF {
		return Chunk{}, fmt.Errorf("following %s at byte %d: %w", t.path, t.offset, err)
	}
	c.Bytes = buf[:got]
	t.offset += int64(got)
	c.More = t.offset < st.Size()
	return c, nil
}

// Line is one whole line without its end. Bytes are as the program wrote them.
type Line struct {
	Bytes []byte
	// Offset is where the line starts in the file; Full is its length there,
	// more than len(Bytes) when the line was cut at the limit.
	Offset, Full int64
}

// Lines turns chunks into lines, holding an unfinished last line back. A line
// over the limit is cut, not split, so line numbers stay true and a megabyte
// line costs no megabyte.
type Lines struct {
	limit  int
	held   []byte
	start  int64 // offset of the held line
	length int64 // its length so far
	begun  bool
}

// NewLines keeps at most limit bytes of each line.
func NewLines(limit int) *Lines { return &Lines{limit: max(limit, 1)} }

// Feed takes the next chunk and returns the lines it finished.
func (l *Lines) Feed(c Chunk) []Line {
	if c.Restarted {
		*l = Lines{limit: l.limit}
	}
	if !l.begun {
		l.start, l.begun = c.Offset, true
	}
	var out []Line
	b := c.Bytes
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.hold(b)
			return out
		}
		l.hold(b[:i])
		out = append(out, l.take())
		l.start += out[len(out)-1].Full + 1
		b = b[i+1:]
	}
}

// Rest returns the unfinished last line, for when the run has ended.
func (l *Lines) Rest() (Line, bool) {
	if l.length == 0 {
		return Line{}, false
	}
	rest := l.take()
	l.start += rest.Full
	return rest, true
}

func (l *Lines) hold(b []byte) {
	l.length += int64(len(b))
	if room := l.limit - len(l.held); room > 0 {
		l.held = append(l.held, b[:min(room, len(b))]...)
	}
}

func (l *Lines) take() Line {
	line := Line{Bytes: l.held, Offset: l.start, Full: l.length}
	if l.length == int64(len(l.held)) {
		line.Bytes = bytes.TrimSuffix(l.held, []byte{'\r'})
	}
	l.held, l.length = nil, 0
	return line
}
