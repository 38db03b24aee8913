package watch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// root is one watched root and what is known of it.
type root struct {
	Root
	// real is Path with links resolved, as events name it.
	real    string
	info    os.FileInfo // to see that the folder was replaced by another
	missing bool
	// sentinel is the nearest existing folder above Path, watched so that the
	// root's coming and going shows; next is the entry in it that leads to Path.
	sentinel, next string

	polled string // why it is polled; empty when it is not
	every  time.Duration
	due    time.Time
	sign   uint64
}

// holds reports whether an event at path concerns the root.
func (r *root) holds(path string) bool {
	if r.missing {
		return false
	}
	if path == r.real {
		return true
	}
	return r.Recursive && below(path, r.real) || filepath.Dir(path) == r.real
}

// shown turns a real path into one under the root as it was given.
func (r *root) shown(path string) string {
	if rel, ok := strings.CutPrefix(path, r.real); ok {
		return r.Path + rel
	}
	return path
}

func below(path, dir string) bool {
	return len(path) > len(dir) && strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// arm looks at the root as it is now and watches it, or the place where it will
// come back.
func (w *Watcher) arm(r *root) {
	r.polled, r.every = "", 0
	for range 3 { // it may come or go between looking and watching
		st, err := os.Stat(r.Path)
		r.missing = err != nil || !st.IsDir()
		r.real, r.info = r.Path, st
		if !r.missing {
			if p, err := filepath.EvalSymlinks(r.Path); err == nil {
				r.real = p
			}
		}
		w.watchAbove(r)
		if r.missing {
			if _, err := os.Lstat(r.next); err == nil && r.next != r.Path {
				continue // an ancestor has appeared meanwhile
			}
			if st, err := os.Stat(r.Path); err == nil && st.IsDir() {
				continue
			}
			r.sign = 0
			return
		}
		break
	}
	w.addTree(r, r.real)
	if why := w.remote(r.real); why != "" {
		w.poll(r, why)
	}
}

// watchAbove moves the sentinel to the nearest existing folder above the root.
func (w *Watcher) watchAbove(r *root) {
	dir := filepath.Dir(r.Path)
	next := r.Path
	for {
		if st, err := os.Stat(dir); err == nil && st.IsDir() || dir == "/" {
			break
		}
		next, dir = dir, filepath.Dir(dir)
	}
	if p, err := filepath.EvalSymlinks(dir); err == nil {
		dir = p
	}
	old := r.sentinel
	r.sentinel, r.next = dir, filepath.Join(dir, filepath.Base(next))
	if old != "" && old != dir {
		w.release(old)
	}
	// While the root is there, its own watch tells when it goes.
	if err := w.add(dir); err != nil && r.missing {
		w.poll(r, "is not there, and "+dir+" can not be watched: "+err.Error())
	}
}

// release drops a watch nobody needs any more.
func (w *Watcher) release(dir string) {
	if w.fs == nil || w.dirs[dir] {
		return
	}
	for _, r := range w.roots {
		if r.sentinel == dir {
			return
		}
	}
	_ = w.fs.Remove(dir) // gone already is fine
}

func (w *Watcher) add(dir string) error {
	if w.fs == nil {
		return errors.New(w.fsWhy)
	}
	err := w.fs.Add(dir)
	if errors.Is(err, unix.ENOSPC) {
		return errors.New("no inotify watch left for this user (fs.inotify.max_user_watches)")
	}
	return err
}

// addTree watches dir and, in a recursive root, every folder below it. Links are
// not followed, so a loop of links can not catch it. The watch is set before the
// folder is listed: what appears later sends an event, what was there is found.
func (w *Watcher) addTree(r *root, dir string) {
	if w.fs == nil {
		w.poll(r, w.fsWhy)
		return
	}
	for todo := []string{dir}; len(todo) > 0; {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !w.dirs[d] && len(w.dirs) >= w.maxFolders {
			w.poll(r, "more folders than are watched")
			return
		}
		if err := w.add(d); err != nil {
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
				continue // gone again; its parent tells
			}
			w.poll(r, "watching "+filepath.Base(d)+": "+err.Error())
			continue
		}
		w.dirs[d] = true
		if !r.Recursive {
			return
		}
		entries, err := os.ReadDir(d)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() && !w.skip[e.Name()] {
				todo = append(todo, filepath.Join(d, e.Name()))
			}
		}
	}
}

// forget drops the watches of a folder that was removed or moved away, and of
// all below it: a moved folder would go on sending events under its old name.
func (w *Watcher) forget(dir string) {
	for d := range w.dirs {
		if d == dir || below(d, dir) {
			delete(w.dirs, d)
			w.release(d)
		}
	}
}

// replaced reports whether the root is not the folder it was when it was armed.
func (r *root) replaced() bool {
	st, err := os.Stat(r.Path)
	if gone := err != nil || !st.IsDir(); gone || r.missing {
		return gone != r.missing
	}
	return !os.SameFile(st, r.info)
}
