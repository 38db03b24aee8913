package live

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kdapilot/engine/repo"
	"kdapilot/engine/session"
	"kdapilot/probes/gitrepo"
	"kdapilot/probes/watch"
)

// Tags of the watched roots.
const (
	tagState = "state" // .humanize and what is below it
	tagCache = "cache" // reviewer logs outside the worktree
	tagGit   = "git"   // HEAD, index, branches
	tagTree  = "tree"  // the worktree's top and the folders with kernels and tests
	tagTrace = "trace" // profile/ and runs/
)

// rootsWatched keeps the watcher on the folders that exist now. A folder that
// appears later shows as a change of its parent, and the watcher is made anew.
type rootsWatched struct {
	s *Session

	mu     sync.Mutex
	extra  map[string][]watch.Root // by tag: folders learned from facts
	armed  []watch.Root
	cancel context.CancelFunc
}

func newRootsWatched(s *Session) *rootsWatched {
	return &rootsWatched{s: s, extra: map[string][]watch.Root{}}
}

// treeFolders are where kernels and judges live in a FlyDSL checkout; edits
// there change the dirty count and the freshness of traces.
var treeFolders = []string{"kernels", "tests", filepath.Join("tests", "kernels"), filepath.Join("python", "flydsl", "expr"), "scripts", "docs"}

func (r *rootsWatched) wanted() []watch.Root {
	root := r.s.opt.Root
	all := []watch.Root{
		{Path: root, Tag: tagTree},
		{Path: filepath.Join(root, ".humanize"), Recursive: true, Tag: tagState},
		{Path: filepath.Join(root, ".humanize-loop.local"), Recursive: true, Tag: tagState},
		{Path: filepath.Join(root, "profile"), Recursive: true, Tag: tagTrace},
		{Path: filepath.Join(root, "runs"), Recursive: true, Tag: tagTrace},
	}
	for _, d := range treeFolders {
		all = append(all, watch.Root{Path: filepath.Join(root, d), Tag: tagTree})
	}
	for _, tag := range []string{tagCache, tagGit} {
		all = append(all, r.extra[tag]...)
	}
	return slices.DeleteFunc(all, func(w watch.Root) bool {
		st, err := os.Stat(w.Path)
		return w.Path != root && (err != nil || !st.IsDir())
	})
}

// arm starts the watcher, or starts it anew when the folders to watch changed.
func (r *rootsWatched) arm() {
	if r.s.opt.Once {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	want := r.wanted()
	if slices.Equal(want, r.armed) {
		return
	}
	ctx, cancel := context.WithCancel(r.s.ctx)
	w, err := watch.New(ctx, want, watch.Report(r.s.lost))
	if err != nil {
		cancel()
		r.s.apply(session.WatchRead{Watch: session.Watch{Mode: "off", Why: []string{oneLine(err)}}})
		return
	}
	first := r.armed == nil
	if r.cancel != nil {
		r.cancel()
	}
	r.armed, r.cancel = want, cancel
	r.report(w)
	r.s.spawn("watch", func(context.Context) { r.serve(w) })
	if !first {
		// What was written between the old watcher and the new one.
		r.s.pokeAll()
	}
}

func (r *rootsWatched) report(w *watch.Watcher) {
	st := w.Status()
	r.s.apply(session.WatchRead{Watch: session.Watch{Mode: string(st.Mode), Every: st.Every, Folders: st.Folders, Why: st.Why}})
}

func (r *rootsWatched) serve(w *watch.Watcher) {
	st := w.Status()
	for h := range w.Hints() {
		r.s.hint(h)
		if now := w.Status(); now.Mode != st.Mode || now.Every != st.Every {
			st = now
			r.report(w)
		}
	}
}

// learn sets the folders of a tag and re-arms if that changes anything.
func (r *rootsWatched) learn(tag string, roots []watch.Root) {
	r.mu.Lock()
	same := slices.Equal(r.extra[tag], roots)
	r.extra[tag] = roots
	r.mu.Unlock()
	if !same {
		r.arm()
	}
}

func (r *rootsWatched) gitFolders(rp repo.Repo) {
	var roots []watch.Root
	for _, f := range gitrepo.WatchFolders(rp) {
		roots = append(roots, watch.Root{Path: f.Path, Recursive: f.Recursive, Tag: tagGit})
	}
	r.learn(tagGit, roots)
}

func (r *rootsWatched) cacheFolder(snap *session.Snapshot) {
	l := snap.Loops.Current()
	if l == nil || l.CacheDir == "" {
		return
	}
	// The parent, so that the next loop's folder is seen as well.
	r.learn(tagCache, []watch.Root{{Path: filepath.Dir(l.CacheDir), Recursive: true, Tag: tagCache}})
}

// hint wakes the jobs whose folders changed.
func (s *Session) hint(h watch.Hint) {
	if h.Rescan || len(h.Missing) > 0 {
		s.pokeAll()
		s.roots.arm()
		return
	}
	for _, tag := range h.Tags {
		switch tag {
		case tagCache:
			s.jobs.loops.poke()
		case tagGit:
			s.jobs.repo.poke()
		case tagTree:
			s.jobs.repo.poke()
			s.jobs.bundles.poke()
			s.roots.arm()
		case tagTrace:
			s.jobs.bundles.poke()
			s.follow.pokeProfiles()
		}
	}
	for _, p := range h.Paths {
		s.hintPath(p)
	}
}

// hintPath wakes the job concerned by one path below .humanize.
func (s *Session) hintPath(path string) {
	rel, err := filepath.Rel(s.path(".humanize"), path)
	if err != nil || strings.HasPrefix(rel, "..") {
		if strings.HasPrefix(path, s.path(".humanize-loop.local")) {
			s.jobs.loops.poke()
		}
		return
	}
	part := strings.Split(rel, string(filepath.Separator))
	switch {
	case part[0] == "kernel-agent":
		s.jobs.plan.poke()
	case part[0] != "kdapilot":
		s.jobs.loops.poke()
		switch {
		case rel == ".":
			s.pokeAll()
		case part[len(part)-1] == "plan.md": // the copy that the seal is compared with
			s.jobs.plan.poke()
		}
	case len(part) == 1:
		s.pokeAll()
	case rel == filepath.Join("kdapilot", "preflight.json"):
		s.jobs.ready.poke()
	case part[1] == "runs":
		s.hintRun(part[2:])
	case part[1] == "bundles":
		s.jobs.bundles.poke()
		s.follow.pokeProfiles()
	default:
		s.jobs.state.poke()
		s.jobs.plan.poke()
	}
}

func (s *Session) pokeAll() {
	for _, j := range s.allJobs() {
		j.poke()
	}
}
