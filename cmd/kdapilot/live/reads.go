package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/repo"
	"kdapilot/engine/session"
	"kdapilot/probes/flyprof"
	"kdapilot/probes/humanize"
	"kdapilot/probes/proc"
	"kdapilot/probes/rocmreport"
)

func (s *Session) readLoops(ctx context.Context) {
	set, err := s.loops.Scan(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil && set.Origin.Status == fact.NotRead {
		set.Origin = fact.Origin{Path: s.path(".humanize"), ReadAt: s.opt.Now(), Status: fact.Unreadable, Why: err.Error()}
	}
	sealed, base := sealedView(s.Snapshot()), s.lockedBase()
	snap := s.apply(session.LoopsRead{Set: set, Now: s.opt.Now()})
	switch {
	case s.opt.Once: // the gates wait for the loops by themselves
	case s.lockedBase() != base:
		s.jobs.repo.poke() // which wakes the gates
	case sealedView(snap) != sealed:
		s.jobs.plan.poke()
	}
	s.roots.cacheFolder(snap)
	if l := snap.Loops.Current(); l != nil && l.Reviewer.Alive && !s.opt.Once {
		// A reviewer that is killed writes nothing: its end is the only sign.
		s.once("reviewer", l.Reviewer.PID, s.jobs.loops.poke)
	}
	if r := snap.Round; r != nil {
		s.loadRound(ctx, r.Loop, r.Round)
	}
}

// sealedView is what the gates hold against a seal in the current loop: a loop
// that somebody starts past them, or changes, has to turn red at once.
func sealedView(snap *session.Snapshot) string {
	l := snap.Loops.Current()
	if l == nil {
		return snap.Loops.Origin.Status.String()
	}
	return fmt.Sprint(snap.Loops.Origin.Status, l.Dir, l.Phase.Active(), l.Origin.Status, l.StartedAt, l.BaseBranch, l.BaseCommit, l.Max, l.Model, l.Effort, l.CodexTimeout)
}

// once waits for the end of a process on a goroutine, one per pid, and then
// calls fn.
func (s *Session) once(what string, pid int, fn func()) {
	if !s.follow.claim(pid) {
		return
	}
	s.spawn("wait for "+what, func(ctx context.Context) {
		err := proc.Wait(ctx, pid)
		s.follow.release(pid)
		if err == nil {
			fn()
		}
	})
}

func (s *Session) readRepo(ctx context.Context) {
	if s.opt.Mode == session.Offline {
		s.apply(session.RepoRead{Repo: repo.Repo{State: repo.None, Why: "offline: a copied folder", Origin: fact.Origin{Path: s.opt.Root, Status: fact.Missing}}})
		return
	}
	if s.opt.Once && awaitFirst(ctx, s.jobs.loops) != nil { // a loop may name the base
		return
	}
	r := s.git.Snapshot(ctx, s.opt.Root, s.lockedBase())
	if ctx.Err() != nil {
		return
	}
	s.apply(session.RepoRead{Repo: r, Now: s.opt.Now()})
	s.roots.gitFolders(r)
	s.headMoved(r.Head)
	s.jobs.plan.poke()
}

// loadRound reads the texts of one round.
func (s *Session) loadRound(ctx context.Context, name string, n int) {
	snap := s.Snapshot()
	l := snap.Loops.Find(name)
	if l == nil {
		return
	}
	texts, err := humanize.Round(ctx, l, n)
	if err != nil {
		return
	}
	out := &session.RoundTexts{Loop: name, Round: n}
	for _, t := range []struct {
		kind string
		text humanize.Text
	}{
		{"contract", texts.Contract}, {"summary", texts.Summary}, {"review-result", texts.ReviewResult},
		{"prompt", texts.Prompt}, {"review-prompt", texts.ReviewPrompt}, {"log", texts.Log},
	} {
		if t.text.Origin.Status == fact.NotRead && t.text.Text == "" {
			continue
		}
		out.Texts = append(out.Texts, session.RoundText{Kind: t.kind, Name: t.text.Name, Text: t.text.Text, Cut: t.text.Cut, Origin: t.text.Origin})
	}
	s.apply(session.RoundRead{Round: out})
}

// openBundles remembers at which state of the bundle each trace was loaded.
type openBundles struct {
	mu     sync.Mutex
	loaded map[string]time.Time // Bundle.Path -> Bundle.ModTime when loaded
}

func newOpenBundles() *openBundles { return &openBundles{loaded: map[string]time.Time{}} }

// swap notes that path was loaded at mod and tells whether it was so before.
func (o *openBundles) swap(path string, mod time.Time) (same bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	was, ok := o.loaded[path]
	o.loaded[path] = mod
	return ok && was.Equal(mod)
}

// readBundles lists the bundles and loads the newest two and those a person
// opened.
func (s *Session) readBundles(ctx context.Context) {
	places, err := flyprof.Discover(ctx, s.opt.Root)
	if s.opt.Mode == session.Offline && err == nil && len(places.Found) == 0 {
		// A copied folder may be a bundle itself, without its worktree.
		places, err = flyprof.DiscoverIn(ctx, s.opt.Root)
	}
	if ctx.Err() != nil {
		return
	}
	o := fact.Origin{Path: s.opt.Root, ReadAt: s.opt.Now(), Status: fact.OK}
	if err != nil {
		o.Status, o.Why = fact.Unreadable, err.Error()
	} else if places.Unread != "" {
		o.Why = "not looked into: " + places.Unread
		if len(places.Found) == 0 {
			o.Status = fact.Unreadable
		}
	} else if places.Cut {
		o.Why = "more folders than are looked at; older bundles are left out"
	}
	list := make([]session.Bundle, 0, len(places.Found))
	for _, f := range places.Found {
		name, err := filepath.Rel(s.opt.Root, f.Path)
		if err != nil {
			name = f.Path
		} else if name == "." {
			name = filepath.Base(f.Path)
		}
		list = append(list, session.Bundle{Path: f.Path, Name: name, Kind: string(f.Kind), ModTime: f.ModTime, HasTrace: f.HasTrace, HasBubbles: f.HasBubbles, HasReport: f.HasReport})
	}
	s.apply(session.BundlesRead{Bundles: list, Origin: o}, session.ReportsRead{Reports: rocmreport.Find(ctx, s.opt.Root)})
	for i, b := range list {
		if i < 2 {
			s.loadBundle(ctx, b.Path, b.ModTime)
		}
	}
	for path := range s.Snapshot().Analyses {
		for _, b := range list {
			if b.Path == path {
				s.loadBundle(ctx, b.Path, b.ModTime)
			}
		}
	}
}

// loadBundle reads one trace: the classes first, the producers of the waits
// when the wave files have been read.
func (s *Session) loadBundle(ctx context.Context, path string, mod time.Time) {
	opts := flyprof.Options{Now: s.opt.Now()}
	if s.opt.Mode == session.Live {
		opts.Worktree = s.opt.Root
	}
	a, err := flyprof.Load(ctx, path, opts)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.apply(session.AnalysisRead{Path: path, Err: oneLine(err)})
		return
	}
	same := s.bundles.swap(path, mod)
	if old := s.Snapshot().Analyses[path]; old != nil && !old.WaitsPending && a.WaitsPending && same {
		// Only the worktree moved, not the trace: the edges found are still good.
		a.Bubbles, a.Waits, a.Trust, a.WaitsPending = old.Bubbles, old.Waits, old.Trust, false
	}
	s.apply(session.AnalysisRead{Path: path, Analysis: &a})
	if !a.WaitsPending {
		return
	}
	s.spawn("read waits", func(ctx context.Context) {
		full, err := flyprof.AddWaits(ctx, a)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				s.apply(session.AnalysisRead{Path: path, Err: "waits: " + oneLine(err)})
			}
			return
		}
		s.apply(session.AnalysisRead{Path: path, Analysis: &full})
	})
}
