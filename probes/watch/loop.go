package watch

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pending is the hint in the making.
type pending struct {
	tags, paths map[string]bool
	rescan      bool
	first, last time.Time
}

func (p *pending) empty() bool { return len(p.tags) == 0 }

func (p *pending) add(now time.Time, tag, path string) {
	if p.tags == nil {
		p.tags, p.paths, p.first = map[string]bool{}, map[string]bool{}, now
	}
	p.last = now
	p.tags[tag] = true
	if len(p.paths) < maxPaths {
		p.paths[path] = true
	} else if !p.paths[path] {
		p.rescan = true
	}
}

// ready is when the hint may go out: after a moment of quiet, but soon in any
// case.
func (p *pending) ready() time.Time {
	a, b := p.last.Add(quiet), p.first.Add(atMost)
	if a.Before(b) {
		return a
	}
	return b
}

func (p *pending) hint() Hint {
	return Hint{Tags: slices.Sorted(maps.Keys(p.tags)), Paths: slices.Sorted(maps.Keys(p.paths)), Rescan: p.rescan}
}

// loop is the only goroutine that touches the watcher's state. With nothing
// pending and nothing polled no timer is set.
func (w *Watcher) loop(ctx context.Context) {
	var events chan fsnotify.Event
	var errs chan error
	if w.fs != nil {
		defer w.fs.Close()
		events, errs = w.fs.Events, w.fs.Errors
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		var out chan Hint
		var hint Hint
		now := time.Now()
		wake := w.nextPoll()
		if !w.pending.empty() {
			if at := w.pending.ready(); !at.After(now) {
				out, hint = w.hints, w.pending.hint()
				hint.Missing = w.Status().Missing
			} else if wake.IsZero() || at.Before(wake) {
				wake = at
			}
		}
		timer.Stop()
		if !wake.IsZero() {
			timer.Reset(max(wake.Sub(now), 0))
		}
		select {
		case <-ctx.Done():
			return
		case out <- hint:
			w.pending = pending{}
		case <-timer.C:
			w.pollDue(time.Now())
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.handle(ev, time.Now())
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			w.trouble(err, time.Now())
		}
	}
}

// handle turns one event into pending paths and keeps the watches right.
func (w *Watcher) handle(ev fsnotify.Event, now time.Time) {
	path := filepath.Clean(ev.Name)
	gone := ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	if gone {
		w.forget(path)
	}
	dir := false
	if ev.Has(fsnotify.Create) {
		st, err := os.Lstat(path)
		dir = err == nil && st.IsDir()
	}
	for _, r := range w.roots {
		if r.holds(path) {
			w.pending.add(now, r.Tag, r.shown(path))
			if dir && r.Recursive && path != r.real && !w.skip[filepath.Base(path)] {
				w.addTree(r, path)
				w.publish()
			}
		}
		// Something happened to the root itself or on the way to it.
		if (path == r.next || path == r.real && gone || path == r.sentinel && gone) && (r.missing || r.replaced()) {
			w.rearm(r, now)
		}
	}
	if gone {
		w.publish()
	}
}

// rearm follows a root that came, went or was replaced; everything below it
// must be read again.
func (w *Watcher) rearm(r *root, now time.Time) {
	was := r.missing
	if !was {
		w.forget(r.real)
	}
	w.arm(r)
	if was && r.missing {
		return // a step on the way to it came or went
	}
	w.pending.add(now, r.Tag, r.Path)
	w.pending.rescan = true
	w.publish()
}

// trouble handles what the kernel could not deliver. After an overflow nothing
// is known about what happened meanwhile, folders included.
func (w *Watcher) trouble(err error, now time.Time) {
	for _, r := range w.roots {
		if errors.Is(err, fsnotify.ErrEventOverflow) {
			if !r.missing && !r.replaced() {
				w.addTree(r, r.real)
			} else {
				w.arm(r)
			}
		} else {
			w.poll(r, "inotify: "+err.Error())
		}
		w.pending.add(now, r.Tag, r.Path)
	}
	w.pending.rescan = len(w.roots) > 0
	w.publish()
}
