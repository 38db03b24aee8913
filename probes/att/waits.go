package att

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"kdapilot/engine/safe"
	"kdapilot/engine/stall"
)

// Limits of reading the wave files.
const (
	maxWaveFiles = 1 << 16
	maxWaveBytes = 64 << 20
	// firstTail is what is read of a wave file at first; the waits are its last
	// value and usually fit.
	firstTail = 32 << 10
	headBytes = 512
	maxWorker = 8
)

// waveFiles lists the wave files of a folder in string order, as flyprof's
// pattern se*_sm*_*.json finds them.
func waveFiles(dir string) (names []string, capped bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		if !isWaveFile(e.Name()) || e.IsDir() {
			continue
		}
		if len(names) == maxWaveFiles {
			return names, true, nil
		}
		names = append(names, e.Name())
	}
	return names, false, nil
}

// isWaveFile matches se*_sm*_*.json, which leaves out se*_perfcounter.json.
func isWaveFile(name string) bool {
	rest, ok := strings.CutPrefix(name, "se")
	if !ok {
		return false
	}
	rest, ok = strings.CutSuffix(rest, ".json")
	if !ok {
		return false
	}
	_, after, ok := strings.Cut(rest, "_sm")
	return ok && strings.Contains(after, "_")
}

// Waits reads the tails of the wave files: which memory operations each wait
// was for, and how long the waves were in which state. A wave file that can not
// be understood is counted and otherwise ignored, as flyprof does. The error is
// an *Error if the folder can not be listed, or the context's.
func (d *Dispatch) Waits(ctx context.Context) (stall.Waits, error) {
	if err := ctx.Err(); err != nil {
		return stall.Waits{}, err
	}
	names, capped, err := waveFiles(d.Dir)
	if err != nil {
		return stall.Waits{}, Broken(d.Dir, err, "can not be listed: %v", err)
	}
	workers := min(runtime.GOMAXPROCS(0), maxWorker, max(1, len(names)/4))
	type result struct {
		waves waves
		err   error
	}
	results := make(chan result, 2*workers)
	for w := range workers {
		safe.Go("wave files", func(err error) { results <- result{err: err} }, func() {
			r := result{}
			// Neighbours in the list are neighbours on disk: each worker takes a run.
			part := names[w*len(names)/workers : (w+1)*len(names)/workers]
			r.waves, r.err = readWaves(ctx, d.Dir, part)
			results <- r
		})
	}
	var all waves
	for range workers {
		r := <-results
		if r.err != nil {
			err = r.err
		}
		all.merge(&r.waves)
	}
	if err != nil {
		return stall.Waits{}, err
	}
	out := all.out()
	out.Files, out.Capped = len(names), capped
	return out, nil
}

// waves gathers what the wave files of one worker say.
type waves struct {
	edges    map[int64]*edgeSet
	broken   int
	read     int
	min, max int64
	cycles   stall.StateCycles
}

// edgeSet is a small set of line numbers that keeps no order.
type edgeSet struct {
	lines []int64
	big   map[int64]struct{}
}

// linearSet is the size up to which looking through the list beats a map.
const linearSet = 48

func (e *edgeSet) add(line int64) {
	if e.big != nil {
		if _, seen := e.big[line]; seen {
			return
		}
		e.big[line] = struct{}{}
		e.lines = append(e.lines, line)
		return
	}
	if slices.Contains(e.lines, line) {
		return
	}
	e.lines = append(e.lines, line)
	if len(e.lines) > linearSet {
		e.big = make(map[int64]struct{}, 2*linearSet)
		for _, l := range e.lines {
			e.big[l] = struct{}{}
		}
	}
}

func (w *waves) set(line int64) *edgeSet {
	e := w.edges[line]
	if e == nil {
		if w.edges == nil {
			w.edges = make(map[int64]*edgeSet)
		}
		e = &edgeSet{}
		w.edges[line] = e
	}
	return e
}

func (w *waves) merge(o *waves) {
	for line, set := range o.edges {
		mine := w.set(line)
		for _, l := range set.lines {
			mine.add(l)
		}
	}
	if o.read > 0 {
		if w.read == 0 || o.min < w.min {
			w.min = o.min
		}
		w.max = max(w.max, o.max)
	}
	w.read += o.read
	w.broken += o.broken
	w.cycles.Idle += o.cycles.Idle
	w.cycles.Exec += o.cycles.Exec
	w.cycles.Wait += o.cycles.Wait
	w.cycles.Stall += o.cycles.Stall
}

func (w *waves) out() stall.Waits {
	out := stall.Waits{Edges: make(map[int64][]int64, len(w.edges)), Broken: w.broken, InstsMin: w.min, InstsMax: w.max, Cycles: w.cycles}
	for line, set := range w.edges {
		slices.Sort(set.lines)
		out.Edges[line] = set.lines
	}
	return out
}

func readWaves(ctx context.Context, dir string, names []string) (waves, error) {
	var all waves
	buf := make([]byte, firstTail)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return waves{}, err
		}
		one, kept, ok := readWave(filepath.Join(dir, name), buf)
		buf = kept
		if !ok {
			all.broken++
			continue
		}
		all.addWave(&one)
	}
	return all, nil
}

func (w *waves) addWave(one *wave) {
	var line int64
	var set *edgeSet
	for _, e := range one.edges {
		if set == nil || e[0] != line {
			line, set = e[0], w.set(e[0])
		}
		set.add(e[1])
	}
	if w.read == 0 || one.insts < w.min {
		w.min = one.insts
	}
	w.max = max(w.max, one.insts)
	w.read++
	w.cycles.Idle += one.cycles.Idle
	w.cycles.Exec += one.cycles.Exec
	w.cycles.Wait += one.cycles.Wait
	w.cycles.Stall += one.cycles.Stall
}
