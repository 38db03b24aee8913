package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"kdapilot/cmd/kdapilot/ready"
	"kdapilot/engine/journal"
	"kdapilot/engine/preflight"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/probes/host"
)

// readiness guards preflight: one run of the checks at a time.
type readiness struct {
	mu      sync.Mutex
	running bool
	head    string // HEAD when the environment was looked at
}

// checkOptions are what preflight looks at here.
func (s *Session) checkOptions() (host.Options, error) {
	o, err := ready.Options(s.opt.Root)
	o.Now = s.opt.Now
	return o, err
}

// readReady reads the stored result of preflight and, where there is one, the
// environment it is compared with.
func (s *Session) readReady(ctx context.Context) {
	live := s.Snapshot().Preflight
	if live.Running {
		return
	}
	if s.opt.Mode == session.Offline {
		live.Stored = host.LoadCopy(s.opt.Root)
		s.apply(session.PreflightRead{Live: live})
		return
	}
	o, err := s.checkOptions()
	if err != nil {
		live.Stored = preflight.Stored{Why: oneLine(err)}
	} else {
		live.Stored = ready.Stand(ctx, o, true)
	}
	if ctx.Err() != nil {
		return
	}
	s.ready.mu.Lock()
	s.ready.head = s.Snapshot().Repo.Head
	s.ready.mu.Unlock()
	s.apply(session.PreflightRead{Live: live})
	s.jobs.plan.poke() // what setup would refuse depends on it
}

// headMoved has the environment looked at again when HEAD is another one: a
// result is bound to it.
func (s *Session) headMoved(head string) {
	s.ready.mu.Lock()
	moved := s.ready.head != "" && s.ready.head != head
	s.ready.mu.Unlock()
	if moved {
		s.jobs.ready.poke()
	}
}

// checkHost starts the checks; rows and result come as snapshots.
func (s *Session) checkHost(askModel bool) (session.Reply, error) {
	if s.opt.Mode != session.Live {
		return session.Reply{}, errReadOnly
	}
	o, err := s.checkOptions()
	if err != nil {
		return session.Reply{}, fmt.Errorf("preflight: %w", err)
	}
	o.AskCodex = askModel
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if s.ready.running {
		return session.Reply{}, errors.New("preflight: the checks are being made already")
	}
	s.ready.running = true
	s.spawn("preflight", func(ctx context.Context) { s.makeChecks(ctx, o) })
	return session.Reply{Text: "preflight: checking"}, nil
}

func (s *Session) makeChecks(ctx context.Context, o host.Options) {
	live := preflight.Live{Stored: s.Snapshot().Preflight.Stored, Running: true, Since: s.opt.Now()}
	s.apply(session.PreflightRead{Live: live})
	r := host.Run(ctx, o, func(row preflight.Row) {
		live = live.With(row)
		s.apply(session.PreflightRead{Live: live})
	})
	var err error
	if ctx.Err() == nil {
		_, err = host.Save(o.Root, r)
	}
	live.Running, live.Fresh = false, nil
	s.apply(session.PreflightRead{Live: live})
	s.ready.mu.Lock()
	s.ready.running = false
	s.ready.mu.Unlock()
	s.readReady(ctx)
	switch holding := r.Holding(); {
	case err != nil:
		s.events.put(session.Event{Kind: session.ProbeLost, Bad: true, Text: "preflight: " + oneLine(err)})
	case len(holding) > 0:
		var ids []string
		for _, x := range holding {
			ids = append(ids, string(x.ID))
		}
		s.events.put(session.Event{Kind: session.Checked, Bad: true, Text: fmt.Sprintf("preflight: %d of %d checks hold the gate: %s", len(holding), len(r.Rows), strings.Join(ids, " "))})
	default:
		s.events.put(session.Event{Kind: session.Checked, Text: fmt.Sprintf("preflight: %s, %d checks", r.State, len(r.Rows))})
	}
}

// repairHost does one repair and checks again.
func (s *Session) repairHost(ctx context.Context, name string) (session.Reply, error) {
	if s.opt.Mode != session.Live {
		return session.Reply{}, errReadOnly
	}
	o, err := s.checkOptions()
	if err != nil {
		return session.Reply{}, fmt.Errorf("repair: %w", err)
	}
	said, err := ready.Repair(ctx, name, o, s.opt.Workspace)
	if err != nil {
		return session.Reply{}, fmt.Errorf("repair %s: %w", text.Line(name), err)
	}
	line := strings.Join(said, "; ")
	s.note(ctx, journal.Record{Kind: "repair", Text: text.Clip(text.Line(name+": "+line), 400)})
	if _, err := s.checkHost(name == preflight.FixCodex); err != nil {
		return session.Reply{}, err
	}
	if line == "" {
		line = "asking the model"
	}
	return session.Reply{Text: text.Line(line) + "; checking again"}, nil
}
