package numerics

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"kdapilot/engine/safe"
)

// maxWorkers bounds the memory of a probe, since every worker has its own
// scratch space.
const maxWorkers = 64

// workers fills in the default: as many as there are processors to run on.
func workerCount(asked int) int {
	if asked <= 0 {
		asked = runtime.GOMAXPROCS(0)
	}
	return min(asked, maxWorkers)
}

// forEach calls do for every item below n, from several workers at once. It
// stops early when ctx ends or a worker panics, and returns after all workers
// have.
func forEach(ctx context.Context, workers, n int, do func(worker, item int)) error {
	workers = max(1, min(workers, n))
	ended := make(chan error, workers)
	var next atomic.Int64
	var stop atomic.Bool
	for w := range workers {
		safe.Go("numerics worker", func(err error) {
			stop.Store(true)
			ended <- err
		}, func() {
			for ctx.Err() == nil && !stop.Load() {
				item := int(next.Add(1)) - 1
				if item >= n {
					break
				}
				do(w, item)
			}
			ended <- nil
		})
	}
	var failed error
	for range workers {
		if err := <-ended; err != nil && failed == nil {
			failed = err
		}
	}
	if failed != nil {
		return failed
	}
	return ctx.Err()
}

// ticker counts finished blocks and tells the caller, one call at a time.
type ticker struct {
	mu     sync.Mutex
	p      Progress
	report func(Progress)
}

func (t *ticker) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.p.Done++
	if t.report != nil {
		t.report(t.p)
	}
}
