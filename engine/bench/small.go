package bench

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// pool gathers the within-arm variance of log(us) over all cells of a regime,
// for cells with too few repeats to have a variance of their own.
type pool struct {
	ss float64
	df int
}

// add takes the deviations of one arm of one cell.
func (p *pool) add(logs []float64) {
	if len(logs) < 2 {
		return
	}
	m := mean(logs)
	for _, v := range logs {
		p.ss += (v - m) * (v - m)
	}
	p.df += len(logs) - 1
}

// spread is the pooled standard deviation of log(us), about the cv; NaN when
// nothing was repeated.
func (p *pool) spread() float64 {
	if p.df == 0 {
		return math.NaN()
	}
	return math.Sqrt(p.ss / float64(p.df))
}

// studentInterval is the small-n interval on log(ratio): a t interval around
// shift with variance max(pooled, quantisation q²/12), q the printed step as
// a share of the base time. P is the matching two-sided probability. Source:
// contracts' noise section, recommendation 3.
func studentInterval(shift float64, nb, nc int, p pool, step, alpha float64) (lo, hi, prob float64, ok bool) {
	if p.df < 2 {
		return 0, 0, 0, false
	}
	v := math.Max(p.ss/float64(p.df), step*step/12)
	if v == 0 {
		return 0, 0, 0, false
	}
	se := math.Sqrt(v * (1/float64(nb) + 1/float64(nc)))
	t := stats.TDist{V: float64(p.df)}
	h := studentQuantile(t, 1-alpha/2) * se
	prob = 2 * (1 - t.CDF(math.Abs(shift)/se))
	return shift - h, shift + h, math.Min(1, math.Max(0, prob)), true
}

// studentQuantile inverts the distribution by bisection; p is above 0.5.
func studentQuantile(t stats.TDist, p float64) float64 {
	lo, hi := 0.0, 1e4
	for range 80 {
		m := (lo + hi) / 2
		if t.CDF(m) < p {
			lo = m
		} else {
			hi = m
		}
	}
	return hi
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}
