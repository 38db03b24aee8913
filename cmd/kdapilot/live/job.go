package live

import (
	"context"

	"kdapilot/engine/safe"
)

// job is one probe's reading, run on a goroutine of its own whenever it was
// poked since it last began.
type job struct {
	name string
	run  func(context.Context)
	wake chan struct{}
	// first is closed when the job has run once.
	first chan struct{}
}

func newJob(name string, run func(context.Context)) *job {
	return &job{name: name, run: run, wake: make(chan struct{}, 1), first: make(chan struct{})}
}

// poke asks for a run. It never blocks; pokes that come before the run begins
// are one.
func (j *job) poke() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// start runs the job until ctx ends. A panic ends only this job and is handed
// to lost.
func (j *job) start(ctx context.Context, lost func(error), done func()) {
	safe.Go(j.name, lost, func() {
		defer done()
		open := true
		for {
			select {
			case <-ctx.Done():
				return
			case <-j.wake:
				j.run(ctx)
				if open {
					close(j.first)
					open = false
				}
			}
		}
	})
}
