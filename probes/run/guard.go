package run

import (
	"context"
	"os"
	"time"

	"kdapilot/engine/runs"
	"kdapilot/engine/safe"
	"kdapilot/engine/text"
)

// Guard looks for other users of the GPUs while a run is on. It lives in the
// supervisor, since the cockpit may be gone.
type Guard struct {
	// Look lists processes on the GPUs for which ours is false. It is called
	// before the start, every Every while the run lasts, and after its end. Nil
	// means nobody looks, and the result says so.
	Look func(ctx context.Context, gpus []runs.GPU, ours func(pid int) bool) ([]runs.Foreign, error)
	// Sample reads clocks, power and temperature of the GPUs at the same moments.
	// Nil means nobody does, and the result says so.
	Sample func(ctx context.Context, gpus []runs.GPU) ([]runs.GPUSample, error)
	// Every is 10 s if zero.
	Every time.Duration
}

const (
	lookEvery    = 10 * time.Second
	lookTimeout  = 10 * time.Second
	foreignLimit = 200 // sightings kept in one result
	sampleLimit  = 2000
)

// watchman collects what the looks saw; one goroutine at a time uses it.
type watchman struct {
	g    Guard
	gpus []runs.GPU
	seen []runs.Foreign
	why  string
	n    int

	samples    []runs.GPUSample
	samplesWhy string
}

func (w *watchman) idle() bool {
	return w.g.Look == nil && w.g.Sample == nil || len(w.gpus) == 0
}

// look notes what is there now.
func (w *watchman) look(when string) {
	if w.idle() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	w.sample(ctx, when)
	if w.g.Look == nil {
		return
	}
	me := os.Getpid()
	own := map[int]bool{me: true}
	for _, st := range offspring(me) {
		own[st.pid] = true
	}
	found, err := w.g.Look(ctx, w.gpus, func(pid int) bool { return own[pid] })
	if err != nil {
		w.why = text.Line("looking " + when + " the run: " + err.Error())
		return
	}
	w.n++
	for _, f := range found {
		if len(w.seen) == foreignLimit {
			w.why = "more sightings than are kept"
			return
		}
		f.When, f.At = when, time.Now().UTC()
		w.seen = append(w.seen, f)
	}
}

// sample notes how the devices stand.
func (w *watchman) sample(ctx context.Context, when string) {
	if w.g.Sample == nil {
		return
	}
	got, err := w.g.Sample(ctx, w.gpus)
	switch {
	case err != nil:
		w.samplesWhy = text.Line("reading the GPU " + when + " the run: " + err.Error())
	case len(w.samples)+len(got) > sampleLimit:
		w.samplesWhy = "more samples than are kept"
	default:
		for _, s := range got {
			s.When, s.At = when, time.Now().UTC()
			w.samples = append(w.samples, s)
		}
	}
}

// patrol looks now and then until the returned function is called.
func (w *watchman) patrol() (stop func()) {
	if w.idle() {
		return func() {}
	}
	every := w.g.Every
	if every <= 0 {
		every = lookEvery
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	safe.Go("GPU guard", func(err error) { w.why = err.Error(); close(done) }, func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				close(done)
				return
			case <-tick.C:
				w.look("during")
			}
		}
	})
	return func() { cancel(); <-done }
}

// report puts the sightings into the result.
func (w *watchman) report(res *runs.Result) {
	res.Foreign, res.ForeignLooks, res.ForeignWhy = w.seen, w.n, w.why
	res.Samples, res.SamplesWhy = w.samples, w.samplesWhy
	if w.g.Sample == nil {
		res.SamplesWhy = "nobody read clocks, power and temperature"
	}
	if w.g.Look == nil && len(w.gpus) > 0 {
		res.ForeignWhy = "nobody looked for other users of the GPU"
	}
}
