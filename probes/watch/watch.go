// Package watch tells that something changed below a folder, never what it now
// says: a Hint makes the probe concerned read again. It watches folders, since
// a watch on a file goes deaf after the first atomic replace.
//
// Guarantees: nothing wakes up while nothing changes, except where the kernel
// may not tell (network and FUSE file systems, exhausted watches): there a slow
// poll runs and Status says so. A burst the kernel dropped becomes a hint to
// rescan everything. A folder that appears is watched and reported itself,
// because files born before the watch send no event. A root that vanishes is
// reported and picked up again when it comes back.
//
// What may not enter: reading file contents.
package watch

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"kdapilot/engine/safe"
)

// Root is a folder to watch. Tag is handed back in hints, so that the receiver
// knows which probe to wake; several roots may share one. The folder need not
// exist yet.
type Root struct {
	Path      string
	Recursive bool
	Tag       string
}

// Hint says that something at or below these paths changed. If Rescan is true,
// Paths is not complete and everything below the tags' roots must be read again.
type Hint struct {
	// Tags and Paths are sorted and without duplicates. A path is the changed
	// file, or a folder whose whole content is new to the watcher.
	Tags   []string
	Paths  []string
	Rescan bool
	// Missing lists the roots that are gone at the moment.
	Missing []string
}

// Mode is how the watcher learns of changes.
type Mode string

// The modes, from best to worst.
const (
	Notify  Mode = "inotify"
	Mixed   Mode = "inotify, some folders polled"
	Polling Mode = "polling"
)

// Status is how well the watcher sees.
type Status struct {
	Mode Mode `json:"mode"`
	// Every is the shortest poll interval in use; zero when nothing is polled.
	Every time.Duration `json:"every,omitempty"`
	// Why says, root by root, why it is polled or not seen whole.
	Why     []string `json:"why,omitempty"`
	Folders int      `json:"folders"`
	Missing []string `json:"missing,omitempty"`
}

// The defaults. Quiet and atMost keep the way from a file to the screen under
// 100 ms even while a log is being written.
const (
	quiet      = 25 * time.Millisecond
	atMost     = 60 * time.Millisecond
	pollEvery  = 2 * time.Second
	maxFolders = 4096
	maxEntries = 20000 // files and folders that one poll of a root looks at
	maxPaths   = 1024  // paths of one hint
)

// Option changes a default.
type Option func(*Watcher)

// Skip leaves out folders of these names, beside the ones left out by default.
func Skip(names ...string) Option {
	return func(w *Watcher) {
		for _, n := range names {
			w.skip[n] = true
		}
	}
}

// MaxFolders bounds how many folders are watched in all; a root that does not
// fit is polled.
func MaxFolders(n int) Option { return func(w *Watcher) { w.maxFolders = n } }

// PollEvery is the interval of the slow poll, where one is needed.
func PollEvery(d time.Duration) Option { return func(w *Watcher) { w.pollEvery = d } }

// Report receives a panic of the watcher's goroutine; the hint channel is
// closed after it.
func Report(fn func(error)) Option { return func(w *Watcher) { w.report = fn } }

// Watcher watches until its context ends. Hints and Status may be used from any
// goroutine.
type Watcher struct {
	hints chan Hint

	maxFolders int
	pollEvery  time.Duration
	skip       map[string]bool
	report     func(error)
	seed       maphash.Seed
	// Seams for tests: what inotify_init failed with, and why a path needs
	// polling.
	noNotify error
	remote   func(path string) string

	mu     sync.Mutex
	status Status

	// All below belongs to the loop.
	fs      *fsnotify.Watcher // nil when the kernel gave none
	fsWhy   string
	roots   []*root
	dirs    map[string]bool // watched folders of the trees, by real path
	pending pending
}

// New starts watching until ctx ends; the hint channel is closed then. When it
// returns, changes from now on lead to a hint: read the folders after New, not
// before. It fails only on bad arguments: what can not be watched is polled and
// shown in Status.
func New(ctx context.Context, roots []Root, opts ...Option) (*Watcher, error) {
	w := &Watcher{
		hints: make(chan Hint), maxFolders: maxFolders, pollEvery: pollEvery, report: func(error) {}, remote: remoteFS,
		skip: map[string]bool{"viz-venv": true, "jit-cache": true, "__pycache__": true, "node_modules": true},
		dirs: map[string]bool{}, seed: maphash.MakeSeed(),
	}
	for _, o := range opts {
		o(w)
	}
	for _, r := range roots {
		if !filepath.IsAbs(r.Path) {
			return nil, fmt.Errorf("watching %q: expected an absolute path", r.Path)
		}
		if st, err := os.Stat(r.Path); err == nil && !st.IsDir() {
			return nil, fmt.Errorf("watching %s: expected a folder", r.Path)
		}
		r.Path = filepath.Clean(r.Path)
		w.roots = append(w.roots, &root{Root: r})
	}
	if w.pollEvery <= 0 || w.maxFolders < 0 {
		return nil, errors.New("watch: the poll interval must be positive and the folder limit not negative")
	}
	w.open()
	for _, r := range w.roots {
		w.arm(r)
	}
	w.publish()
	safe.Go("watch", w.report, func() { defer close(w.hints); w.loop(ctx) })
	return w, nil
}

// Hints delivers one hint at a time; while nobody receives, hints are merged.
func (w *Watcher) Hints() <-chan Hint { return w.hints }

// Status is how well the watcher sees at the moment.
func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

func (w *Watcher) open() {
	err := w.noNotify
	if err == nil {
		if w.fs, err = fsnotify.NewWatcher(); err == nil {
			return
		}
		w.fs = nil
	}
	w.fsWhy = "inotify: " + err.Error()
	if errors.Is(err, unix.EMFILE) {
		w.fsWhy = "no inotify instance left for this user (fs.inotify.max_user_instances)"
	}
}

// publish makes the status visible to other goroutines.
func (w *Watcher) publish() {
	s := Status{Mode: Notify, Folders: len(w.dirs)}
	polled := 0
	for _, r := range w.roots {
		if r.missing {
			s.Missing = append(s.Missing, r.Path)
		}
		if r.polled == "" {
			continue
		}
		polled++
		s.Why = append(s.Why, r.Path+": "+r.polled)
		if s.Every == 0 || r.every < s.Every {
			s.Every = r.every
		}
	}
	switch {
	case polled > 0 && (w.fs == nil || len(w.dirs) == 0):
		s.Mode = Polling
	case polled > 0:
		s.Mode = Mixed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status = s
}
