package interleave_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kdapilot/engine/bench"
	"kdapilot/engine/interleave"
)

// study runs a stand-in sweep of cells many times: every run takes its time from
// a log-normal of 0.4 %, rare outliers and a drift of the whole host that is drawn
// for each trial; the candidate takes effect times the base's time.
type study struct {
	trials, cells, repeats int
	effect                 float64
	// floor is the share below which nothing counts; measured runs the base
	// against itself first and takes what that gives.
	floor    float64
	measured bool
	// drift is how much slower or faster the host gets over the sequence at most.
	drift float64
	// blocks replaces the drawn order by all of the base, then all of the
	// candidate.
	blocks bool
}

// rates count verdicts: of cells, and of whole comparisons.
type rates struct {
	n             map[bench.CellVerdict]int
	whole         map[bench.CompareVerdict]int
	cells, trials int
	covered       int     // trials whose overall interval holds the truth
	bias          float64 // sum of overall ratio / truth - 1
}

func (r rates) cell(v bench.CellVerdict) float64     { return float64(r.n[v]) / float64(r.cells) }
func (r rates) trial(v bench.CompareVerdict) float64 { return float64(r.whole[v]) / float64(r.trials) }

func (r rates) String() string {
	return fmt.Sprintf("cells: faster %5.1f %%  slower %4.1f %%  same %5.1f %%  undecided %5.1f %%;  geomean covers %5.1f %%, bias %+.2f %%;  whole: faster %.1f %%, slower or mixed %.1f %%",
		100*r.cell(bench.Faster), 100*r.cell(bench.Slower), 100*r.cell(bench.Same), 100*r.cell(bench.Undecided),
		100*float64(r.covered)/float64(r.trials), 100*r.bias/float64(r.trials),
		100*r.trial(bench.VerdictFaster), 100*(r.trial(bench.VerdictSlower)+r.trial(bench.VerdictMixed)))
}

// arms are the rows of one sequence.
func (s study) arms(dice *rand.Rand, seed uint64, effect float64) (base, cand bench.Arm) {
	order := interleave.Order(s.repeats, seed)
	if s.blocks {
		for i := range order {
			order[i] = interleave.Base
			if i >= s.repeats {
				order[i] = interleave.Candidate
			}
		}
	}
	sides := map[interleave.Arm]*bench.Arm{interleave.Base: &base, interleave.Candidate: &cand}
	base.Label, cand.Label = "base", "candidate"
	drift, slope := 0.0, (2*dice.Float64()-1)*s.drift/float64(len(order))
	for _, a := range order {
		drift += slope
		var rows []bench.Row
		for c := range s.cells {
			us := (20 + 60*float64(c)) * math.Exp(drift+0.004*dice.NormFloat64())
			if dice.IntN(50) == 0 {
				us *= 1.03 // a neighbour, a clock step
			}
			if a == interleave.Candidate {
				us *= effect
			}
			rows = append(rows, bench.Row{Key: fmt.Sprintf("c%d", c), Status: bench.Pass, US: bench.Of(math.Round(us*10) / 10)})
		}
		sides[a].Runs = append(sides[a].Runs, rows)
	}
	return base, cand
}

func (s study) run(seed uint64) rates {
	dice := rand.New(rand.NewPCG(seed, 17))
	out := rates{n: map[bench.CellVerdict]int{}, whole: map[bench.CompareVerdict]int{}}
	for trial := range s.trials {
		opt := bench.Options{Floor: bench.Floor{Rel: s.floor, AbsUS: 0.11}, Resamples: 200}
		if s.measured {
			a, b := s.arms(dice, seed+uint64(trial)+1e6, 1)
			opt.CellFloor = bench.MeasureFloor(a, b, opt).Cells
		}
		base, cand := s.arms(dice, seed+uint64(trial), s.effect)
		c := bench.Compare(base, cand, opt)
		for i := range c.Cells {
			out.n[c.Cells[i].Verdict]++
			out.cells++
		}
		out.trials++
		out.whole[c.Verdict]++
		if ci := c.Overall.GeomeanCI; ci != nil && ci[0] <= s.effect && s.effect <= ci[1] {
			out.covered++
		}
		out.bias += c.Overall.Geomean.V/s.effect - 1
	}
	return out
}

// TestTwoHundredTrials: how often an interleaved comparison is right, wrong and
// undecided, for a real gain of 3 % and for none.
func TestTwoHundredTrials(t *testing.T) {
	const gain, none = 0.97, 1.0
	for _, c := range []struct {
		name string
		s    study
		// right and wrong are shares of cells, falsely of whole comparisons that
		// claim a gain or a loss that is not there.
		right, wrong, falsely float64
	}{
		{"3 % gain, 5 a side", study{trials: 200, cells: 10, repeats: 5, effect: gain, floor: 0.005, drift: 0.005}, 0.80, 0.001, 0.001},
		{"3 % gain, 10 a side", study{trials: 200, cells: 10, repeats: 10, effect: gain, floor: 0.005, drift: 0.005}, 0.97, 0.001, 0.001},
		{"3 % gain, 5 a side, measured floor", study{trials: 200, cells: 10, repeats: 5, effect: gain, floor: 0.005, drift: 0.005, measured: true}, 0.80, 0.001, 0.001},
		{"nothing, 5 a side", study{trials: 200, cells: 10, repeats: 5, effect: none, floor: 0.005, drift: 0.005}, 0, 0.02, 0.05},
		{"nothing, 10 a side", study{trials: 200, cells: 10, repeats: 10, effect: none, floor: 0.005, drift: 0.005}, 0, 0.02, 0.05},
		{"nothing, 5 a side, measured floor", study{trials: 200, cells: 10, repeats: 5, effect: none, floor: 0.005, drift: 0.005, measured: true}, 0, 0.005, 0.03},
		{"nothing, 10 a side, measured floor", study{trials: 200, cells: 10, repeats: 10, effect: none, floor: 0.005, drift: 0.005, measured: true}, 0, 0.01, 0.05},
		// Of many cells a few are called slower by chance; the whole must not be.
		{"nothing, 5 a side, 110 cells", study{trials: 30, cells: 110, repeats: 5, effect: none, floor: 0.005, drift: 0.005}, 0, 0.02, 0.07},
		{"same, measured floor", study{trials: 30, cells: 110, repeats: 5, effect: none, floor: 0.005, drift: 0.005, measured: true}, 0, 0.005, 0.07},
		{"same, floor of a shared node", study{trials: 30, cells: 110, repeats: 5, effect: none, floor: 0.02, drift: 0.005}, 0, 0.001, 0.02},
		{"nothing, 10 a side, host drifts 4 %", study{trials: 200, cells: 10, repeats: 10, effect: none, floor: 0.005, drift: 0.04}, 0, 0.02, 0.05},
	} {
		got := c.s.run(42)
		t.Logf("%-35s %v", c.name, got)
		right, wrong, falsely := got.cell(bench.Faster), got.cell(bench.Slower), got.trial(bench.VerdictSlower)+got.trial(bench.VerdictMixed)
		if c.s.effect == none {
			right, wrong = got.cell(bench.Same), got.cell(bench.Faster)+got.cell(bench.Slower)
			falsely += got.trial(bench.VerdictFaster)
		}
		if right < c.right || wrong > c.wrong || falsely > c.falsely {
			t.Errorf("%s: right %.3f (want %.3f or more), wrong %.4f (want %.4f or less), falsely %.3f (want %.3f or less)", c.name, right, c.right, wrong, c.wrong, falsely, c.falsely)
		}
	}
}

// TestTurnsBeatBlocks: on a host that drifts, all of the base and then all of the
// candidate finds changes that are not there; the drawn turns do not.
func TestTurnsBeatBlocks(t *testing.T) {
	s := study{trials: 200, cells: 10, repeats: 10, effect: 1, floor: 0.005, drift: 0.04}
	turns := s.run(7)
	s.blocks = true
	blocks := s.run(7)
	t.Logf("turns  %v", turns)
	t.Logf("blocks %v", blocks)
	wrong := func(r rates) float64 { return r.cell(bench.Faster) + r.cell(bench.Slower) }
	if wrong(blocks) < 0.3 || wrong(turns) > 0.02 {
		t.Errorf("wrong cells: blocks %.3f, turns %.3f", wrong(blocks), wrong(turns))
	}
}
