package run

import (
	"context"
	"encoding/json"
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
	// Sample reads clocks, power and temperature of the GPUs before, during and
	// after the run. Nil means nobody does, and the result says so.
	Sample func(ctx context.Context, gpus []runs.GPU) ([]runs.GPUSample, error)
	// Every is the time between looks, 10 s if zero; SampleEvery that between
	// samples, 5 s if zero.
	Every, SampleEvery time.Duration
}

// during is the word for a look while the run lasts.
const during = "during"

const (
	lookEvery    = 10 * time.Second
	sampleEvery  = 5 * time.Second
	lookTimeout  = 10 * time.Second
	foreignLimit = 200   // sightings kept in one result
	sampleLimit  = 600   // samples kept in one result, thinned out beyond that
	sampleLines  = 20000 // lines of the samples file: 27 hours of one device
)

// watchman collects what the looks saw; one goroutine at a time uses it.
type watchman struct {
	g    Guard
	gpus []runs.GPU
	seen []runs.Foreign
	why  string
	n    int

	// dir is the run folder; file is the samples file once there was a sample.
	dir   string
	file  *os.File
	lines int
	// Every stride-th moment of the run goes into the result.
	moments, stride int
	samples         []runs.GPUSample
	samplesWhy      string
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
func (w *watchman) sample(when string) {
	if w.g.Sample == nil || len(w.gpus) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	got, err := w.g.Sample(ctx, w.gpus)
	if err != nil {
		w.samplesWhy = text.Line("reading the GPU " + when + " the run: " + err.Error())
		return
	}
	w.stride = max(w.stride, 1)
	for _, s := range got {
		s.When, s.At = when, time.Now().UTC()
		if when != during || w.moments%w.stride == 0 {
			w.samples = append(w.samples, s)
		}
		w.write(s)
	}
	if when == during {
		w.moments++
	}
	if len(w.samples) > sampleLimit {
		w.samples = thin(w.samples)
		w.stride *= 2
	}
}

// thin drops every second moment of those during the run, of all devices alike.
func thin(all []runs.GPUSample) []runs.GPUSample {
	out, nth := all[:0], map[int]int{}
	for _, s := range all {
		if s.When == during {
			if nth[s.GPU]++; nth[s.GPU]%2 == 0 {
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// write adds a sample to the file at once: a supervisor that is killed leaves
// what it saw.
func (w *watchman) write(s runs.GPUSample) {
	if w.dir == "" || w.lines >= sampleLines {
		return
	}
	b, err := json.Marshal(s)
	if err == nil && w.file == nil {
		w.file, err = openLog(w.dir, SamplesFile)
	}
	if err == nil {
		_, err = w.file.Write(append(b, '\n'))
	}
	if w.lines++; err != nil {
		w.samplesWhy, w.lines = text.Line("samples file: "+err.Error()), sampleLines
	} else if w.lines == sampleLines {
		w.samplesWhy = "more samples than the samples file keeps"
	}
}

// patrol looks now and then until the returned function is called.
func (w *watchman) patrol() (stop func()) {
	if w.idle() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	safe.Go("GPU guard", func(err error) { w.why = err.Error(); close(done) }, func() {
		look := time.NewTicker(orElse(w.g.Every, lookEvery))
		defer look.Stop()
		sample := time.NewTicker(orElse(w.g.SampleEvery, sampleEvery))
		defer sample.Stop()
		for {
			select {
			case <-ctx.Done():
				close(done)
				return
			case <-look.C:
				w.look(during)
			case <-sample.C:
				w.sample(during)
			}
		}
	})
	return func() { cancel(); <-done }
}

func orElse(d, standard time.Duration) time.Duration {
	if d <= 0 {
		return standard
	}
	return d
}

// close ends the samples file: the folder is about to be hashed.
func (w *watchman) close() {
	if w.file != nil {
		_ = w.file.Close()
		w.file = nil
	}
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
