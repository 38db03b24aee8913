package measure

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/probes/run"
)

// job is one run to start, or to take up when it is still there, and to wait for.
type job struct {
	start   session.StartRun
	id      runs.ID
	limit   time.Duration
	started func(runs.ID) error
}

// do gives the run as it ended. A stop of ctx, or the limit, which is counted
// from when the command began, cancels it first.
func (j job) do(ctx context.Context, s *live.Session) (runs.Run, error) {
	id := j.id
	if id == "" || !going(s.Snapshot(), id) {
		reply, err := s.Do(context.WithoutCancel(ctx), j.start)
		if err != nil {
			return runs.Run{}, err
		}
		id = runs.ID(reply.ID)
		if err := j.started(id); err != nil {
			return runs.Run{}, err
		}
	}
	stop, over := ctx.Done(), (<-chan time.Time)(nil)
	late := false
	for {
		r := s.Snapshot().Run(id)
		if r != nil && r.State == runs.Running && j.limit > 0 && over == nil && !late {
			t := time.NewTimer(j.limit) // waiting for the GPU does not count
			defer t.Stop()
			over = t.C
		}
		if r != nil && r.State.Final() {
			if late && r.State == runs.Cancelled {
				return *r, fmt.Errorf("%w: run %s took more than %v", ErrTimeout, id, j.limit)
			}
			return *r, nil
		}
		select {
		case <-stop:
			stop = nil
		case <-over:
			over, late = nil, true
		case <-s.Changed():
			continue
		case <-s.Events():
			continue
		}
		if _, err := s.Do(context.WithoutCancel(ctx), session.CancelRun{ID: id}); err != nil && !errors.Is(err, run.ErrFinal) {
			return runs.Run{}, fmt.Errorf("%w: %w", ErrStopped, err)
		}
	}
}

// pace is how long the runs took so far.
type pace struct {
	n     int
	spent time.Duration
}

func (p *pace) add(r *runs.Run) {
	if r.Result != nil {
		p.n, p.spent = p.n+1, p.spent+r.Result.Ended.Sub(r.Manifest.Started)
	}
}

// words say how long so many runs will take, "" for less than a minute or before
// one has ended.
func (p *pace) words(left int) string {
	if p.n == 0 {
		return ""
	}
	if d := p.spent / time.Duration(p.n) * time.Duration(left); d >= time.Minute {
		return ", about " + strings.TrimSuffix(d.Round(time.Minute).String(), "0s") + " left"
	}
	return ""
}
