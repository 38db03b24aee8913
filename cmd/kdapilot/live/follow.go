package live

import (
	"context"
	"strings"
	"sync"

	"kdapilot/engine/bench"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/probes/harness"
	"kdapilot/probes/run"
)

// followers tail the logs of runs that are going: rows as they arrive, and the
// log that is on screen.
type followers struct {
	s    *Session
	mu   sync.Mutex
	by   map[runs.ID]*follower
	pids map[int]bool
	log  *logTail
}

func newFollowers(s *Session) *followers {
	return &followers{s: s, by: map[runs.ID]*follower{}, pids: map[int]bool{}}
}

func (f *followers) claim(pid int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pids[pid] {
		return false
	}
	f.pids[pid] = true
	return true
}

func (f *followers) release(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.pids, pid)
}

// poke tells the follower of a run that its log grew; false if there is none.
func (f *followers) poke(id runs.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	fo := f.by[id]
	if fo == nil {
		return false
	}
	fo.job.poke()
	return true
}

// start follows a run that is going, once.
func (f *followers) start(r runs.Run) {
	if f.s.opt.Once {
		return
	}
	f.mu.Lock()
	fo := f.by[r.ID]
	if fo == nil {
		fo = newFollower(f.s, r)
		f.by[r.ID] = fo
		f.s.wg.Add(1)
		fo.job.start(f.s.ctx, f.s.lost, f.s.wg.Done)
	}
	f.mu.Unlock()
	fo.job.poke()
}

// follower reads one run's two logs from where it stopped.
type follower struct {
	s      *Session
	id     runs.ID
	dir    string
	out    *run.Tailer
	errs   *run.Tailer
	parser *harness.Parser
	track  runs.Track
	job    *job
	// manifest is set for captures of flyprof, whose stage is followed instead
	// of rows.
	manifest *runs.Manifest
}

func newFollower(s *Session, r runs.Run) *follower {
	f := &follower{s: s, id: r.ID, dir: r.Dir}
	f.out, f.errs = run.Attach(r.Dir)
	f.parser = harness.NewParser(harness.Options{Command: strings.Join(r.Manifest.Argv, " "), Sink: f.seen})
	started := r.Manifest.Started
	if r.Status != nil && !r.Status.ChildStarted.IsZero() {
		started = r.Status.ChildStarted
	}
	f.track = runs.NewTrack(started, r.Manifest.ExpectedCells)
	if r.Manifest.Kind == runs.Profile {
		f.manifest = &r.Manifest
	}
	f.job = newJob("follow "+string(r.ID), f.read)
	return f
}

func (f *follower) seen(e bench.Event) {
	if e.Kind == bench.EventCurrent {
		f.track = f.track.Begin(text.Line(e.Text))
	}
}

// read feeds what is new to the parser and publishes rows and progress.
func (f *follower) read(ctx context.Context) {
	if f.manifest != nil {
		f.readStage()
		return
	}
	grew := false
	for _, src := range []struct {
		t  *run.Tailer
		st harness.Stream
	}{{f.out, harness.Stdout}, {f.errs, harness.Stderr}} {
		for ctx.Err() == nil {
			c, err := src.t.ReadNew(run.ChunkBytes)
			if err != nil || len(c.Bytes) == 0 {
				break
			}
			grew = true
			f.parser.Feed(src.st, c.Bytes)
			if !c.More {
				break
			}
		}
	}
	f.s.pokeLog(f.id)
	if !grew {
		return
	}
	res := f.parser.Result()
	f.track = f.track.Cells(len(res.AllRows()), f.s.opt.Now())
	f.s.apply(session.ResultRead{ID: f.id, Result: &res}, session.ProgressRead{ID: f.id, Progress: f.track.At(f.s.opt.Now())})
}
