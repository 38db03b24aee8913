package flyprof

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"kdapilot/engine/text"
)

// Bounds of Discover.
const (
	discoverDepth = 6
	discoverDirs  = 8192
	discoverFound = 512
)

// Places are what Discover found, newest first.
type Places struct {
	Found []Found
	// Cut says that a bound was reached and there may be more.
	Cut bool
	// Unread says why a folder could not be looked into, "" when all could: there
	// may be more in it.
	Unread string
}

// Discover looks for bundles and dispatch directories where they are kept in a
// worktree: below profile/, .humanize/kdapilot/bundles/ and runs/. It only lists
// folders and stats files. The error is the context's; of folders that can not
// be read, the first is named.
func Discover(ctx context.Context, worktree string) (Places, error) {
	return discover(ctx, worktree, "profile", filepath.Join(".humanize", "kdapilot", "bundles"), "runs")
}

// DiscoverIn looks at folder itself and everywhere below it: for a folder that
// was copied here on its own, a bundle or a few traces without their worktree.
// The bounds and the error are those of Discover.
func DiscoverIn(ctx context.Context, folder string) (Places, error) { return discover(ctx, folder, "") }

func discover(ctx context.Context, root string, below ...string) (Places, error) {
	d := discovery{ctx: ctx}
	for _, sub := range below {
		if err := d.walk(filepath.Join(root, sub), discoverDepth); err != nil {
			return Places{}, err
		}
	}
	slices.SortStableFunc(d.out.Found, func(a, b Found) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path))
	})
	return d.out, nil
}

type discovery struct {
	ctx  context.Context
	dirs int
	out  Places
}

// walk visits one folder. Symbolic links are not followed.
func (d *discovery) walk(dir string, depth int) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if d.dirs++; d.dirs > discoverDirs || len(d.out.Found) >= discoverFound {
		d.out.Cut = true
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		d.unread(err)
		return nil
	}
	f := Found{Path: dir}
	stamp := func(e fs.DirEntry) { f.ModTime = later(f.ModTime, e) }
	var subs []string
	dispatches := false
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir() && isDispatchName(name):
			dispatches = true
			f.ModTime = laterFile(f.ModTime, filepath.Join(dir, name, "code.json"))
		case e.IsDir() && name != ".git" && !strings.HasPrefix(name, ".cache"):
			subs = append(subs, name)
		case !e.Type().IsRegular():
		case name == "capture.json":
			f.HasCapture = true
			stamp(e)
		case name == "bubbles.json":
			f.HasBubbles = true
			stamp(e)
		case name == "report.json":
			f.HasReport = true
			stamp(e)
		case name == "code.json":
			f.HasTrace = true
			stamp(e)
		}
	}
	switch {
	case f.HasCapture || f.HasBubbles:
		f.Kind = Bundle
		f.HasTrace = f.HasTrace || d.traces(&f, filepath.Join(dir, "att"), 2)
	case dispatches:
		f.Kind, f.HasTrace = Dispatches, true
	case f.HasTrace:
		f.Kind = Dispatch
	default:
		return d.below(dir, subs, depth)
	}
	d.out.Found = append(d.out.Found, f)
	if f.Kind == Bundle {
		return d.below(dir, without(subs, "att"), depth)
	}
	return nil
}

// unread notes the first folder that is there and can not be looked into.
func (d *discovery) unread(err error) {
	absent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	if d.out.Unread == "" && !absent {
		d.out.Unread = text.Line(err.Error())
	}
}

func (d *discovery) below(dir string, subs []string, depth int) error {
	if depth == 0 {
		d.out.Cut = d.out.Cut || len(subs) > 0
		return nil
	}
	for _, s := range subs {
		if err := d.walk(filepath.Join(dir, s), depth-1); err != nil {
			return err
		}
	}
	return nil
}

// traces looks for dispatch directories in a bundle's att folder and below it.
func (d *discovery) traces(f *Found, dir string, depth int) bool {
	d.dirs++
	entries, err := os.ReadDir(dir)
	if err != nil || depth == 0 {
		return false
	}
	found := false
	for _, e := range entries {
		switch {
		case !e.IsDir():
		case isDispatchName(e.Name()):
			before := f.ModTime
			f.ModTime = laterFile(before, filepath.Join(dir, e.Name(), "code.json"))
			found = true
		default:
			found = d.traces(f, filepath.Join(dir, e.Name()), depth-1) || found
		}
	}
	return found
}

func later(t time.Time, e fs.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil || !info.ModTime().After(t) {
		return t
	}
	return info.ModTime()
}

func laterFile(t time.Time, path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil || !info.ModTime().After(t) {
		return t
	}
	return info.ModTime()
}

func without(in []string, name string) []string {
	return slices.DeleteFunc(in, func(s string) bool { return s == name })
}
