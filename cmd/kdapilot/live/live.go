package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"kdapilot/engine/safe"
	"kdapilot/engine/session"
	"kdapilot/probes/gitrepo"
	"kdapilot/probes/humanize"
	"kdapilot/probes/plan"
	"kdapilot/probes/run"
	"kdapilot/probes/store"
)

// Options say what to open.
type Options struct {
	// Root is the worktree or copied folder, absolute.
	Root string
	// Mode Offline looks at no git, no processes and takes no actions.
	Mode session.Mode
	// Self is the path of this binary, which supervises runs.
	Self string
	// Simulated marks the demo world.
	Simulated bool
	// Deliver, if set, takes the start command in place of a tmux pane (demo).
	Deliver func(text string) error
	// After, if set, is closed when the first frame has been drawn: until then
	// only the loops are read, so that nothing stands between a person and the
	// first thing to see.
	After <-chan struct{}
	// Once reads everything once and watches nothing: for `kdapilot show`.
	Once bool
	// TTY says that standard input and output are terminals; gates need it.
	TTY bool
	// Workspace is where checkouts lie, for the repairs of preflight.
	Workspace string
	Now       func() time.Time
}

// Session is a session.Session on a folder.
type Session struct {
	opt    Options
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	pub    *publisher
	events *mailbox

	git     gitrepo.Git
	loops   *humanize.Scanner
	runner  *run.Runner
	parsed  *parsedRuns
	bundles *openBundles
	follow  *followers
	roots   *rootsWatched
	store   store.Store
	plans   *plan.Reader
	gates   *gateReader
	ready   readiness
	// profiles are the runs of flyprof this session judges and repeats.
	profiles *profiles

	jobs struct{ repo, loops, plan, bundles, runs, state, ready *job }
}

var _ session.Session = (*Session)(nil)

// Open starts reading opt.Root. It returns at once: the first snapshot says
// "not read yet" everywhere and facts follow. Close ends it.
func Open(ctx context.Context, opt Options) (*Session, error) {
	st, err := os.Stat(opt.Root)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", opt.Root, err)
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("open %s: expected a folder (a worktree)", opt.Root)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	s := &Session{opt: opt, events: newMailbox()}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.pub = newPublisher(&session.Snapshot{Version: 1, At: opt.Now(), Mode: opt.Mode, Root: opt.Root, Simulated: opt.Simulated}, opt.Now)
	var procs humanize.Processes
	if opt.Mode == session.Live {
		procs = humanize.Proc{}
	}
	s.loops = humanize.NewScanner(opt.Root, humanize.Options{Processes: procs, Now: opt.Now})
	s.runner = run.New(run.Local{Self: opt.Self})
	s.store, s.plans, s.gates = store.New(opt.Root), plan.NewReader(opt.Root), newGateReader()
	s.parsed, s.bundles, s.profiles = newParsedRuns(), newOpenBundles(), newProfiles()
	s.follow, s.roots = newFollowers(s), newRootsWatched(s)
	s.startJobs()
	return s, nil
}

func (s *Session) startJobs() {
	s.jobs.loops = newJob("read loops", s.readLoops)
	s.jobs.repo = newJob("read git", s.readRepo)
	s.jobs.plan = newJob("read plan and gates", s.readPlan)
	s.jobs.bundles = newJob("find bundles", s.readBundles)
	s.jobs.runs = newJob("list runs", s.readRuns)
	s.jobs.state = newJob("read journal", s.readState)
	s.jobs.ready = newJob("read preflight", s.readReady)
	if s.opt.Once {
		s.readTask() // git and runs are read against its base, and only once
	}
	for _, j := range s.allJobs() {
		s.wg.Add(1)
		j.start(s.ctx, s.lost, s.wg.Done)
	}
	if !s.opt.Once {
		s.roots.arm()
	}
	if s.opt.After == nil {
		s.pokeAll()
		return
	}
	s.jobs.loops.poke()
	s.spawn("first frame", func(ctx context.Context) {
		select {
		case <-s.opt.After:
			s.pokeAll()
		case <-ctx.Done():
		}
	})
}

func (s *Session) allJobs() []*job {
	return []*job{s.jobs.loops, s.jobs.repo, s.jobs.plan, s.jobs.runs, s.jobs.bundles, s.jobs.state, s.jobs.ready}
}

// Ready waits until everything has been read once.
func (s *Session) Ready(ctx context.Context) error { return awaitFirst(ctx, s.allJobs()...) }

// awaitFirst waits until each job has run once.
func awaitFirst(ctx context.Context, jobs ...*job) error {
	for _, j := range jobs {
		select {
		case <-j.first:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Close ends all reading and waits for it.
func (s *Session) Close() {
	s.cancel()
	s.wg.Wait()
}

// Snapshot implements session.Session.
func (s *Session) Snapshot() *session.Snapshot { return s.pub.newest.Load() }

// Changed implements session.Session.
func (s *Session) Changed() <-chan struct{} { return s.pub.changed }

// Events implements session.Session.
func (s *Session) Events() <-chan session.Event { return s.events.out }

// lost turns a panic of a reading goroutine into an event.
func (s *Session) lost(err error) {
	s.events.put(session.Event{Kind: session.ProbeLost, Bad: true, Text: "stopped reading: " + err.Error() + " (the rest goes on)"})
}

// spawn runs fn on a goroutine that Close waits for.
func (s *Session) spawn(name string, fn func(ctx context.Context)) {
	s.wg.Add(1)
	safe.Go(name, s.lost, func() {
		defer s.wg.Done()
		fn(s.ctx)
	})
}

// apply reduces facts and sends the events that follow from the change.
func (s *Session) apply(facts ...session.Fact) *session.Snapshot {
	before, after := s.pub.apply(facts...)
	for _, e := range session.Moved(before, after) {
		s.events.put(e)
	}
	return after
}

// path joins names below the root.
func (s *Session) path(names ...string) string {
	return filepath.Join(append([]string{s.opt.Root}, names...)...)
}
