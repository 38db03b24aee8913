package session

import (
	"fmt"
	"slices"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/runs"
)

// UnlikeArms names the fields in which the runs of two arms differ such that
// their times must not be compared: any run against the first of the base, and
// the uncommitted bytes within each arm, which would make it two arms.
func UnlikeArms(base, cand []*RowSet) []string {
	if len(base) == 0 || len(cand) == 0 {
		return nil
	}
	var out []string
	note := func(more ...string) {
		for _, m := range more {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	for _, side := range [...]struct {
		name string
		sets []*RowSet
	}{{"base", base}, {"candidate", cand}} {
		for _, s := range side.sets {
			note(Unlike(base[0], s)...)
			if edited(side.sets[0], s) {
				note(side.name + ": its code changed between its runs")
			}
		}
	}
	return out
}

// ArmOptions are o with what the runs of two arms themselves say against
// comparing them: fields that differ, and runs that can not be trusted.
func ArmOptions(o bench.Options, base, cand []*RowSet) bench.Options {
	o.Differs, o.BaseBroken, o.CandBroken = UnlikeArms(base, cand), broken(base), broken(cand)
	return o
}

// broken says which runs can not be trusted, and why.
func broken(sets []*RowSet) []string {
	var out []string
	for _, s := range sets {
		why := ""
		if s.Result != nil && s.Result.Truth != nil {
			why = s.Result.Truth.Broken()
		}
		if s.cut() {
			why = "it is " + string(s.Run.State)
		}
		if why != "" {
			out = append(out, s.ID+": "+why)
		}
	}
	return out
}

// edited: the code of two runs of one arm is not the same. Runs that were copied
// away from their tree, or that nobody looked at, can not be told apart.
func edited(a, b *RowSet) bool {
	if a.Run == nil || b.Run == nil {
		return false
	}
	ma, mb := &a.Run.Manifest, &b.Run.Manifest
	return ma.Head != mb.Head || ma.DirtyFiles != nil && mb.DirtyFiles != nil && ma.DirtyHash != mb.DirtyHash
}

// countFlags are the options by which harnesses are told how often to repeat, by
// what they mean.
var countFlags = map[string]string{
	"--warmup": "warmup", "--num_warmup": "warmup", "--num-warmup": "warmup",
	"--iters": "iters", "--num_iters": "iters", "--num-iters": "iters",
}

// countsOf are warmup and iterations as a command names them.
func countsOf(argv []string) map[string]string {
	out := map[string]string{}
	for i, a := range argv {
		name, value, joined := strings.Cut(a, "=")
		what, ok := countFlags[name]
		if ok && !joined && i+1 < len(argv) {
			value = argv[i+1]
		}
		if ok && value != "" {
			out[what] = value
		}
	}
	return out
}

// unlikeCounts: both commands name a count, and not the same one.
func unlikeCounts(b, c []string) []string {
	cb, cc := countsOf(b), countsOf(c)
	var out []string
	for _, what := range [...]string{"warmup", "iters"} {
		if x, y := cb[what], cc[what]; x != "" && y != "" && x != y {
			out = append(out, what+": "+x+" and "+y)
		}
	}
	return out
}

// Unlike names the fields in which two runs differ such that their times must
// not be compared: another device, another harness, a stand-in against a real
// tool. Sets without a manifest can not be checked and pass.
func Unlike(b, c *RowSet) []string {
	var out []string
	if b.Result.GPU != "" && c.Result.GPU != "" && b.Result.GPU != c.Result.GPU {
		out = append(out, "gpu: "+b.Result.GPU+" and "+c.Result.GPU)
	}
	if b.Run == nil || c.Run == nil {
		return out
	}
	mb, mc := &b.Run.Manifest, &c.Run.Manifest
	if len(mb.GPUs) > 0 && len(mc.GPUs) > 0 && otherDevice(mb.GPUs[0], mc.GPUs[0]) {
		out = append(out, fmt.Sprintf("device: GPU %d %s and GPU %d %s", mb.GPUs[0].Index, mb.GPUs[0].ID, mc.GPUs[0].Index, mc.GPUs[0].ID))
	}
	if mb.Simulated != mc.Simulated {
		out = append(out, "simulated and not simulated")
	}
	if !(mb.Simulated && mc.Simulated) && mb.Place.Host != mc.Place.Host && mb.Place.Host != "" && mc.Place.Host != "" {
		out = append(out, "host: "+mb.Place.Host+" and "+mc.Place.Host)
	}
	if pb, pc := perfLevel(b), perfLevel(c); pb != pc && pb != "" && pc != "" {
		out = append(out, "clock policy: "+pb+" and "+pc)
	}
	out = append(out, unlikeCounts(mb.Argv, mc.Argv)...)
	hashes := map[string]string{}
	for _, h := range mb.Harness {
		hashes[h.Path] = h.SHA256
	}
	for _, h := range mc.Harness {
		if was, ok := hashes[h.Path]; ok && was != h.SHA256 {
			out = append(out, "judge file "+h.Path+" differs")
		}
	}
	return out
}

// otherDevice tells two devices apart. An id that the tools did not give says
// nothing.
func otherDevice(a, b runs.GPU) bool {
	return a.Index != b.Index || a.ID != "" && b.ID != "" && a.ID != b.ID
}

// perfLevel is the clock policy during a run, "" when it was not seen.
func perfLevel(s *RowSet) string {
	if s.Run.Result == nil {
		return ""
	}
	for _, x := range s.Run.Result.Samples {
		if x.PerfLevel != "" {
			return x.PerfLevel
		}
	}
	return ""
}

// clockBand is how far the median clocks of two arms may lie apart before they
// explain a difference by themselves.
const clockBand = 0.02

// ClockWords compares the shader clocks seen during the runs of two arms; "" when
// nobody read them on either side.
func ClockWords(base, cand []*RowSet) string {
	b, nb := medianClock(base)
	c, nc := medianClock(cand)
	if nb == 0 || nc == 0 {
		return ""
	}
	words := fmt.Sprintf("clock: base %.0f MHz, candidate %.0f MHz (medians of %d and %d samples)", b, c, nb, nc)
	if d := c/b - 1; d > clockBand || d < -clockBand {
		words += fmt.Sprintf(": %+.1f %%, more than %.0f %% apart: the clock may be the difference", 100*d, 100*clockBand)
	}
	return words
}

func medianClock(sets []*RowSet) (mhz float64, n int) {
	var all []float64
	for _, s := range sets {
		if s.Run == nil || s.Run.Result == nil {
			continue
		}
		for _, x := range s.Run.Result.Samples {
			if x.When == "during" && x.ClockMHz != nil && *x.ClockMHz > 0 {
				all = append(all, *x.ClockMHz)
			}
		}
	}
	if len(all) == 0 {
		return 0, 0
	}
	return bench.Median(all), len(all)
}
