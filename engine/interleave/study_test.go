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
// a log-normal with a slow drift of the whole host and rare outliers; the
// candidate is faster by effect. It counts cells by verdict.
type study struct {
	trials, cells, repeats int
	effect                 float64 // candidate/base time
	floor                  float64
}

type rates struct{ faster, slower, same, undecided int }

func (r rates) String() string {
	n := float64(r.faster + r.slower + r.same + r.undecided)
	p := func(k int) float64 { return 100 * float64(k) / n }
	return fmt.Sprintf("faster %5.1f %%  slower %4.1f %%  same %5.1f %%  undecided %5.1f %%", p(r.faster), p(r.slower), p(r.same), p(r.undecided))
}

func (s study) run(seed uint64) rates {
	dice := rand.New(rand.NewPCG(seed, 17))
	var out rates
	for trial := range s.trials {
		sides := map[interleave.Arm]*bench.Arm{interleave.Base: {Label: "base"}, interleave.Candidate: {Label: "candidate"}}
		drift, slope := 0.0, (dice.Float64()-0.5)*0.01/float64(2*s.repeats) // half a percent over the sequence, either way
		for _, a := range interleave.Order(s.repeats, seed+uint64(trial)) {
			drift += slope
			var rows []bench.Row
			for c := range s.cells {
				us := (20 + 60*float64(c)) * math.Exp(drift+0.004*dice.NormFloat64())
				if dice.IntN(50) == 0 {
					us *= 1.03 // a neighbour, a clock step
				}
				if a == interleave.Candidate {
					us *= s.effect
				}
				rows = append(rows, bench.Row{Key: fmt.Sprintf("c%d", c), Status: bench.Pass, US: bench.Of(math.Round(us*10) / 10)})
			}
			sides[a].Runs = append(sides[a].Runs, rows)
		}
		c := bench.Compare(*sides[interleave.Base], *sides[interleave.Candidate], bench.Options{Floor: bench.Floor{Rel: s.floor, AbsUS: 0.11}, Resamples: 200})
		for i := range c.Cells {
			switch c.Cells[i].Verdict {
			case bench.Faster:
				out.faster++
			case bench.Slower:
				out.slower++
			case bench.Same:
				out.same++
			default:
				out.undecided++
			}
		}
	}
	return out
}

// TestTwoHundredTrials: how often an interleaved comparison is right, wrong and
// undecided, for a real gain of 3 % and for none.
func TestTwoHundredTrials(t *testing.T) {
	for _, c := range []struct {
		name         string
		s            study
		rightAtLeast float64
		wrongAtMost  float64
	}{
		{"3 % gain, 5 a side", study{200, 10, 5, 0.97, 0.005}, 0.80, 0.001},
		{"3 % gain, 10 a side", study{200, 10, 10, 0.97, 0.005}, 0.97, 0.001},
		{"nothing changed, 5 a side", study{200, 10, 5, 1, 0.005}, 0, 0.02},
		{"nothing changed, 10 a side", study{200, 10, 10, 1, 0.005}, 0, 0.02},
	} {
		got := c.s.run(42)
		n := float64(c.s.trials * c.s.cells)
		t.Logf("%-28s %v", c.name, got)
		right, wrong := float64(got.faster)/n, float64(got.slower)/n
		if c.s.effect == 1 {
			right, wrong = float64(got.same)/n, float64(got.faster+got.slower)/n
		}
		if right < c.rightAtLeast || wrong > c.wrongAtMost {
			t.Errorf("%s: right %.3f (want %.3f or more), wrong %.4f (want %.4f or less)", c.name, right, c.rightAtLeast, wrong, c.wrongAtMost)
		}
	}
}
