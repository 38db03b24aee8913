package live

import (
	"context"
	"path/filepath"
	"sync"

	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/probes/flyprof"
	"kdapilot/probes/run"
)

// profiles remembers how flyprof runs ended and which of them this session
// started: only those are repeated, so that two cockpits never repeat one twice.
type profiles struct {
	mu      sync.Mutex
	ends    map[runs.ID]*profile.End
	started map[runs.ID]session.StartRun
	// retrying are the runs whose repetition is being started.
	retrying map[runs.ID]bool
}

func newProfiles() *profiles {
	return &profiles{ends: map[runs.ID]*profile.End{}, started: map[runs.ID]session.StartRun{}, retrying: map[runs.ID]bool{}}
}

// note remembers a profile that was started here.
func (p *profiles) note(id runs.ID, a session.StartRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started[id] = a
}

// end reads how a finished run ended, once: its folder is closed.
func (p *profiles) end(r *runs.Run) *profile.End {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.ends[r.ID]; e != nil {
		return e
	}
	e := flyprof.EndOf(r, filepath.Join(r.Dir, run.StdoutFile), filepath.Join(r.Dir, run.StderrFile))
	p.ends[r.ID] = e
	return e
}

// claim takes a run that is to be repeated: one that ended as transient, was
// started here and is no repetition itself.
func (p *profiles) claim(r *runs.Run, e *profile.End) (session.StartRun, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.started[r.ID]
	if !ok || p.retrying[r.ID] {
		return a, false
	}
	if e.Meaning != profile.Retry || r.Manifest.RetryOf != "" {
		delete(p.started, r.ID)
		return a, false
	}
	p.retrying[r.ID] = true
	a.RetryOf = r.ID
	return a, true
}

func (p *profiles) settle(id runs.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.started, id)
	delete(p.retrying, id)
}

// RetryPending reports whether a run that ended as transient is still to be
// repeated by this session.
func (s *Session) RetryPending(id runs.ID) bool {
	s.profiles.mu.Lock()
	defer s.profiles.mu.Unlock()
	_, ok := s.profiles.started[id]
	return ok
}

// profileEnds judges the finished profiles of a list. The second value is true
// when one was repeated, which has made a new list.
func (s *Session) profileEnds(ctx context.Context, list []runs.Run) (facts []session.Fact, again bool) {
	n := 0
	for i := range list {
		r := &list[i]
		if r.Manifest.Kind != runs.Profile || !r.State.Final() {
			continue
		}
		if n++; n > maxParsed {
			break
		}
		e := s.profiles.end(r)
		facts = append(facts, session.EndRead{ID: r.ID, End: e})
		if e.Stages != nil {
			r.Progress = stageProgress(e.Stages)
			r.Progress.Current = e.Stages.Final()
		}
		if a, ok := s.profiles.claim(r, e); ok {
			again = s.repeat(ctx, r, a) || again
		}
	}
	return facts, again
}

// repeat starts the one retry of a transient failure. It waits for the GPU
// rather than give up: the first attempt may just be leaving it.
func (s *Session) repeat(ctx context.Context, r *runs.Run, a session.StartRun) bool {
	reply, err := s.startRun(ctx, a)
	s.profiles.settle(r.ID)
	if err != nil {
		s.events.put(session.Event{Kind: session.ProbeLost, Bad: true, Text: "retry of " + string(r.ID) + " not started: " + oneLine(err)})
		return false
	}
	s.events.put(session.Event{Kind: session.RunEnded, Text: string(r.ID) + " ended as transient, retried once as " + reply.ID})
	return true
}

// stageProgress shows stages where other runs count cells.
func stageProgress(st *profile.Stages) runs.Progress {
	n := len(st.Plan)
	return runs.Progress{Done: st.At, Expected: &n, Current: st.Words()}
}

// pokeProfiles tells the running captures that a bundle changed.
func (f *followers) pokeProfiles() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fo := range f.by {
		if fo.manifest != nil {
			fo.job.poke()
		}
	}
}

// readStage publishes how far a capture got.
func (f *follower) readStage() {
	f.s.pokeLog(f.id)
	st := flyprof.StagesOf(f.manifest)
	if r := f.s.Snapshot().Run(f.id); st == nil || r != nil && r.State.Final() {
		return
	}
	p := stageProgress(st)
	p.ElapsedSeconds = f.track.At(f.s.opt.Now()).ElapsedSeconds
	f.s.apply(session.ProgressRead{ID: f.id, Progress: p})
}
