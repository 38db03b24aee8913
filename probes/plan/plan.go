// Package plan reads the plan and the draft of a worktree, and what the file
// system says about the plan's path that Humanize's setup will look at.
//
// Guarantees: reads are bounded and hashed, never wait on a pipe, and a file
// that is being written keeps its last good bytes with the status Torn.
//
// What may not enter: what a plan says (engine/plan), and git: whether the plan
// is tracked is asked elsewhere.
package plan

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/plan"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// Limit is how many bytes of a plan or draft are read; a longer one is
// Unreadable, since a cut plan must not be approved.
const Limit = plan.MaxBytes

// settle is how old an empty file must be before it counts as empty and not as
// one that an editor is about to fill.
const settle = 2 * time.Second

// File is one file with its bytes as they are on disk.
type File struct {
	// Path is relative to the worktree, with slashes.
	Path string
	// Bytes are those that Origin.SHA256 is about; nil when there are none.
	Bytes  []byte
	Origin fact.Origin
}

// Reader reads the files of one worktree and remembers their last good bytes.
// It may be used by several goroutines.
type Reader struct {
	root string
	mu   sync.Mutex
	last map[string]File
}

// NewReader reads below the worktree root.
func NewReader(root string) *Reader { return &Reader{root: root, last: map[string]File{}} }

// Read reads a file by its path relative to the worktree. It always answers:
// the Origin's Status and Why say what went wrong.
func (r *Reader) Read(rel string) File {
	f := File{Path: filepath.ToSlash(rel)}
	torn := ""
	// A second try helps against a writer that was just finishing.
	for range 2 {
		f.Bytes, f.Origin, torn = readWhole(filepath.Join(r.root, filepath.FromSlash(rel)))
		if torn == "" {
			break
		}
	}
	f.Origin.Why = text.Line(f.Origin.Why)
	return r.keep(f, torn)
}

// keep remembers good bytes, and gives back the last good ones for torn ones.
func (r *Reader) keep(f File, torn string) File {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, had := r.last[f.Path]
	if torn == "" && f.Origin.Status == fact.OK && len(f.Bytes) == 0 && had && len(last.Bytes) > 0 && f.Origin.ReadAt.Sub(f.Origin.ModTime) < settle {
		torn = "it is empty now"
	}
	switch {
	case torn != "" && had:
		last.Origin.Status, last.Origin.Why = fact.Torn, torn
		return last
	case torn != "":
		f.Bytes, f.Origin.SHA256 = nil, ""
		f.Origin.Status, f.Origin.Why = fact.Torn, torn
	case f.Origin.Status == fact.OK:
		r.last[f.Path] = f
	case f.Origin.Status == fact.Missing:
		delete(r.last, f.Path)
	}
	return f
}

// readWhole reads a file and says in torn when it changed meanwhile.
func readWhole(p string) (b []byte, o fact.Origin, torn string) {
	before, berr := os.Stat(p)
	b, o, err := readfile.Hashed(p, Limit)
	if err != nil {
		return nil, o, ""
	}
	after, aerr := os.Stat(p)
	if berr != nil || aerr != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) || after.Size() != int64(len(b)) {
		return b, o, "it changed while it was read"
	}
	return b, o, ""
}

// PathOf looks at the plan's path as Humanize's setup does. Tracked and Status
// are git's and stay unknown. Counts are those of the bytes in f.
func PathOf(root string, f File) plan.PathFacts {
	var out plan.PathFacts
	rel := f.Path
	if rel == "" || path.IsAbs(rel) || strings.ContainsRune(rel, 0) {
		return out // refused by its text alone
	}
	at := root
	parts := strings.Split(rel, "/")
	out.ParentsKnown, out.Symlink, out.InSubmodule = true, plan.No, plan.No
	for i, name := range parts {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				out.ParentsKnown = false
			}
			break
		}
		last := i == len(parts)-1
		switch link := info.Mode()&fs.ModeSymlink != 0; {
		case link && last:
			out.Symlink = plan.Yes
		case link && out.SymlinkParent == "":
			out.SymlinkParent = strings.Join(parts[:i+1], "/")
		case !last && at != root && name != ".." && name != ".":
			if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
				out.InSubmodule = plan.Yes
			}
		}
	}
	full := filepath.Join(root, filepath.FromSlash(rel))
	out.DirExists = exists(filepath.Dir(full), true)
	out.Exists = exists(full, false)
	if out.Exists == plan.Yes {
		out.Readable = plan.Is(f.Origin.Status == fact.OK || f.Origin.Status == fact.Torn || readable(full) == nil)
		out.Inside = inside(root, full)
	}
	if f.Origin.Status == fact.OK {
		c := plan.Count(f.Bytes)
		out.Counts = &c
	}
	return out
}

func exists(p string, dir bool) plan.Tri {
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return plan.No
	case err != nil:
		return plan.NotKnown
	}
	return plan.Is(info.IsDir() == dir)
}

// readable opens a file without waiting for a writer, should it be a pipe.
func readable(p string) error {
	_, _, _, err := readfile.Tail(p, 1)
	return err
}

func inside(root, p string) plan.Tri {
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return plan.NotKnown
	}
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return plan.NotKnown
	}
	return plan.Is(strings.HasPrefix(real, realRoot+string(filepath.Separator)))
}
