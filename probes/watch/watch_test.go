package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start watches and stops when the test ends.
func start(t *testing.T, roots []Root, opts ...Option) *Watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w, err := New(ctx, roots, append(opts, Report(func(err error) { t.Error(err) }))...)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		for range w.Hints() {
		}
	})
	return w
}

// until receives hints until one satisfies ok.
func until(t *testing.T, w *Watcher, what string, ok func(Hint) bool) Hint {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case h, open := <-w.Hints():
			if !open {
				t.Fatalf("%s: the watcher ended", what)
			}
			if ok(h) {
				return h
			}
		case <-limit:
			t.Fatalf("%s: no such hint; status %+v", what, w.Status())
		}
	}
}

func names(path string) func(Hint) bool {
	return func(h Hint) bool { return slices.Contains(h.Paths, path) }
}

// silent fails if a hint comes within a moment.
func silent(t *testing.T, w *Watcher, what string) {
	t.Helper()
	select {
	case h := <-w.Hints():
		t.Errorf("%s: hint %+v", what, h)
	case <-time.After(150 * time.Millisecond):
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestReplacedFilesStayVisible(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/state.md", "0")
	w := start(t, []Root{{Path: dir, Tag: "loop"}})
	silent(t, w, "nothing happened")
	for i := range 3 {
		put(t, dir+"/tmp", fmt.Sprint(i))
		if err := os.Rename(dir+"/tmp", dir+"/state.md"); err != nil {
			t.Fatal(err)
		}
		h := until(t, w, "replace", names(dir+"/state.md"))
		if len(h.Tags) != 1 || h.Tags[0] != "loop" || h.Rescan {
			t.Errorf("hint %+v", h)
		}
	}
	if s := w.Status(); s.Mode != Notify || s.Every != 0 || s.Why != nil {
		t.Errorf("status %+v", s)
	}
}

func TestNewFolderIsReportedItself(t *testing.T) {
	dir := t.TempDir()
	w := start(t, []Root{{Path: dir, Recursive: true, Tag: "x"}})
	seen := map[string]bool{}
	for i := range 50 {
		d := fmt.Sprintf("%s/loop%02d/deep", dir, i)
		put(t, d+"/born-early.md", "x")
	}
	covered := func() bool {
		for i := range 50 {
			if !seen[fmt.Sprintf("%s/loop%02d", dir, i)] {
				return false
			}
		}
		return true
	}
	until(t, w, "50 folders", func(h Hint) bool {
		for _, p := range h.Paths {
			seen[p] = true
		}
		return covered()
	})
	put(t, dir+"/loop07/deep/later.md", "x")
	until(t, w, "file in a new folder", names(dir+"/loop07/deep/later.md"))
}

func TestSkippedAndNotRecursive(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/a/viz-venv/lib/x", "x")
	put(t, dir+"/b/sub/x", "x")
	w := start(t, []Root{{Path: dir + "/a", Recursive: true, Tag: "a"}, {Path: dir + "/b", Tag: "b"}}, Skip("more"))
	put(t, dir+"/a/viz-venv/lib/x", "y")
	put(t, dir+"/b/sub/x", "y")
	put(t, dir+"/a-sibling", "y")
	silent(t, w, "skipped folders, depth and siblings")
	put(t, dir+"/b/x", "y")
	until(t, w, "plain folder", names(dir+"/b/x"))
	if f := w.Status().Folders; f != 2 {
		t.Errorf("%d folders watched", f)
	}
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/real/sub/x", "x")
	for from, to := range map[string]string{dir + "/real/sub/loop": dir + "/real", dir + "/link": dir + "/real"} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	w := start(t, []Root{{Path: dir + "/link", Recursive: true, Tag: "x"}})
	put(t, dir+"/real/sub/x", "y")
	until(t, w, "path as given", names(dir+"/link/sub/x"))
	if f := w.Status().Folders; f != 2 {
		t.Errorf("%d folders watched in a loop of links", f)
	}
}

func TestRootComesAndGoes(t *testing.T) {
	dir := t.TempDir()
	root := dir + "/wt/.humanize/rlcr"
	w := start(t, []Root{{Path: root, Recursive: true, Tag: "x"}})
	if s := w.Status(); len(s.Missing) != 1 || s.Every != 0 {
		t.Fatalf("a missing root must not be polled: %+v", s)
	}
	back := func(h Hint) bool { return h.Rescan && len(h.Missing) == 0 && slices.Contains(h.Paths, root) }
	gone := func(h Hint) bool { return len(h.Missing) == 1 }
	put(t, root+"/loop/state.md", "x")
	until(t, w, "it appears", back)
	put(t, root+"/loop/state.md", "y")
	until(t, w, "it is watched", names(root+"/loop/state.md"))
	if err := os.RemoveAll(dir + "/wt"); err != nil {
		t.Fatal(err)
	}
	until(t, w, "it is removed", gone)
	put(t, root+"/loop/state.md", "z")
	until(t, w, "it is back", back)
	put(t, root+"/loop/state.md", "zz")
	until(t, w, "it is watched again", names(root+"/loop/state.md"))
	if err := os.Rename(root, root+".old"); err != nil {
		t.Fatal(err)
	}
	until(t, w, "it is moved away", gone)
	put(t, root+".old/loop/state.md", "zzz")
	put(t, root+"/new.md", "x")
	until(t, w, "another took its place", back)
}

func TestMovedFolderChangesItsName(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/old/deep/x", "x")
	w := start(t, []Root{{Path: dir, Recursive: true, Tag: "x"}})
	if err := os.Rename(dir+"/old", dir+"/new"); err != nil {
		t.Fatal(err)
	}
	until(t, w, "new name", names(dir+"/new"))
	put(t, dir+"/new/deep/x", "y")
	h := until(t, w, "below the new name", names(dir+"/new/deep/x"))
	if slices.ContainsFunc(h.Paths, func(p string) bool { return strings.HasPrefix(p, dir+"/old/") }) {
		t.Errorf("events under the old name: %v", h.Paths)
	}
}

func TestOverflowRescansAll(t *testing.T) {
	dir := t.TempDir()
	w := &Watcher{maxFolders: 100, pollEvery: time.Hour, remote: remoteFS, dirs: map[string]bool{}, skip: map[string]bool{}}
	w.roots = []*root{{Root: Root{Path: dir, Recursive: true, Tag: "x"}}}
	w.open()
	defer w.fs.Close()
	w.arm(w.roots[0])
	put(t, dir+"/missed/x", "x") // nobody handles the event
	w.trouble(fsnotify.ErrEventOverflow, time.Now())
	if h := w.pending.hint(); !h.Rescan || len(h.Tags) != 1 || !w.dirs[w.roots[0].real+"/missed"] {
		t.Errorf("hint %+v, folders %v", h, w.dirs)
	}
	if s := w.Status(); s.Mode != Notify {
		t.Errorf("an overflow is no reason to poll: %+v", s)
	}
}

func TestPolling(t *testing.T) {
	for name, c := range map[string]struct {
		opt  Option
		mode Mode
		why  string
	}{
		"remote":    {func(w *Watcher) { w.remote = func(string) string { return "lies on NFS" } }, Mixed, "NFS"},
		"folders":   {MaxFolders(1), Mixed, "more folders"},
		"instances": {func(w *Watcher) { w.noNotify = unix.EMFILE }, Polling, "max_user_instances"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir+"/a/b/x", "x")
			w := start(t, []Root{{Path: dir, Recursive: true, Tag: "x"}}, PollEvery(30*time.Millisecond), c.opt)
			s := w.Status()
			if s.Mode != c.mode || s.Every < 30*time.Millisecond || len(s.Why) != 1 || !strings.Contains(s.Why[0], c.why) {
				t.Errorf("status %+v", s)
			}
			silent(t, w, "polling without a change")
			put(t, dir+"/a/b/x", "longer")
			until(t, w, "polled change", func(h Hint) bool { return len(h.Tags) == 1 })
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			until(t, w, "polled removal", func(h Hint) bool { return len(h.Missing) == 1 })
			put(t, dir+"/a/b/x", "x")
			until(t, w, "polled return", func(h Hint) bool { return len(h.Missing) == 0 && h.Rescan })
		})
	}
}

func TestBusyFileGivesFewHints(t *testing.T) {
	dir := t.TempDir()
	w := start(t, []Root{{Path: dir, Tag: "x"}})
	f, err := os.Create(dir + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	done := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(done)
		for time.Since(began) < 600*time.Millisecond {
			fmt.Fprintln(f, "line")
			time.Sleep(time.Millisecond)
		}
	}()
	n := 0
	for open := true; open; {
		select {
		case <-w.Hints():
			n++
		case <-done:
			open = false
		}
	}
	if n < 1 || n > 60 {
		t.Errorf("%d hints in 600 ms of writing", n)
	}
}

func TestBadArguments(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/file", "x")
	for _, r := range []Root{{Path: "relative"}, {Path: dir + "/file"}} {
		if _, err := New(context.Background(), []Root{r}); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
}

// BenchmarkLatency reports the time from a file's change to the hint in hand.
func BenchmarkLatency(b *testing.B) {
	dir := b.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, err := New(ctx, []Root{{Path: dir, Recursive: true, Tag: "x"}})
	if err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		if err := os.WriteFile(dir+"/f", []byte(fmt.Sprint(i)), 0o644); err != nil {
			b.Fatal(err)
		}
		<-w.Hints()
		took = append(took, time.Since(began))
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}
