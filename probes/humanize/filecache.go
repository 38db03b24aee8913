package humanize

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"syscall"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// key identifies the bytes of a file or the names of a folder without reading
// them.
type key struct {
	size, mtime int64 // bytes, ns
	inode       uint64
}

// settled is how much older than the read a modification time must be to prove
// that nothing changed since: the kernel's clock ticks every few milliseconds,
// so a write right after a read can leave the time as it was.
const settled = 50 * time.Millisecond

// stat is what one look at a path gives.
type stat struct {
	key
	mod     time.Time
	regular bool
}

// look follows a symbolic link to a regular file, never into a folder.
func look(path string) (stat, error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = os.Stat(path)
	}
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func statOf(info fs.FileInfo) stat {
	s := stat{mod: info.ModTime(), regular: info.Mode().IsRegular()}
	s.size, s.mtime = info.Size(), s.mod.UnixNano()
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	return s
}

// entry is one parsed file.
type entry struct {
	key
	readAt time.Time
	value  any
	origin fact.Origin
	used   int // the scan that last asked for it
}

// cache keeps parsed files by path and what they were parsed as.
type cache struct {
	files map[string]*entry
	scan  int
	reads int // files really read, for tests
}

func (c *cache) begin() {
	if c.files == nil {
		c.files = map[string]*entry{}
	}
	c.scan++
}

// sweep drops what the finished scan did not ask for.
func (c *cache) sweep() {
	for p, e := range c.files {
		if e.used != c.scan {
			delete(c.files, p)
		}
	}
}

// parsed returns the parsed value of a file, reading it only when it changed.
// as tells apart different readings of the same file. st is the file's stat.
func parsed[T any](c *cache, path, as string, st stat, limit int64, tail bool, parse func(b []byte, o *fact.Origin) T) (T, fact.Origin) {
	id := path + "\x00" + as
	if e := c.files[id]; e != nil && e.key == st.key && e.readAt.Sub(st.mod) > settled {
		e.used = c.scan
		if v, ok := e.value.(T); ok {
			return v, e.origin
		}
	}
	var b []byte
	var o fact.Origin
	var err error
	if tail {
		b, _, o, err = readfile.Tail(path, limit)
	} else {
		b, o, err = readfile.All(path, limit)
	}
	c.reads++
	o.Why = text.Line(o.Why)
	var v T
	if err == nil {
		v = parse(b, &o)
	}
	c.files[id] = &entry{key: st.key, readAt: o.ReadAt, value: v, origin: o, used: c.scan}
	return v, o
}

// names lists a folder, sorted, at most limit entries; cut tells that there were
// more. A symbolic link is not followed.
func names(dir string, limit int) (list []string, cut bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, &fs.PathError{Op: "read", Path: dir, Err: errors.New("not a folder (" + info.Mode().Type().String() + ")")}
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	list, err = f.Readdirnames(limit + 1)
	if len(list) > limit {
		list, cut = list[:limit], true
	}
	if errors.Is(err, io.EOF) {
		err = nil // an empty folder
	}
	sort.Strings(list)
	return list, cut, err
}

// isFolder reports a real folder, not a link to one; link reports a link.
func isFolder(path string) (folder, link bool, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, false, err
	}
	return info.IsDir(), info.Mode()&fs.ModeSymlink != 0, nil
}

func join(elem ...string) string { return filepath.Join(elem...) }
