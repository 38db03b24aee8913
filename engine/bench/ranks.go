package bench

import (
	"math"
	"slices"
)

// exactLimit is the largest sample per side for which the permutation
// distribution is counted; beyond it the normal approximation is used.
const exactLimit = 30

// ranker computes Mann–Whitney tests and Hodges–Lehmann intervals and keeps
// the tables and buffers between cells. It is not safe for concurrent use.
type ranker struct {
	// crit holds, per pair of sizes, the order statistic that bounds the
	// interval.
	crit map[[3]int]int
	all  []ranked
	dp   []float64
	diff []float64
}

type ranked struct {
	v    float64
	base bool
}

func newRanker() *ranker { return &ranker{crit: make(map[[3]int]int)} }

// mannWhitney gives U of the base sample (pairs in which base is larger, ties
// half) and the exact two-sided conditional permutation probability with
// mid-ranks, P(|U−mu| >= |u−mu|). Source: Klotz 1966; contracts' noise
// section. Samples must not be empty.
func (k *ranker) mannWhitney(base, cand []float64) (u, p float64) {
	nb, nc := len(base), len(cand)
	k.all = k.all[:0]
	for _, v := range base {
		k.all = append(k.all, ranked{v, true})
	}
	for _, v := range cand {
		k.all = append(k.all, ranked{v, false})
	}
	slices.SortFunc(k.all, func(a, b ranked) int {
		switch {
		case a.v < b.v:
			return -1
		case a.v > b.v:
			return 1
		}
		return 0
	})
	sum, ties := 0, make([]int, 0, 64)
	for i := 0; i < len(k.all); {
		j, own := i, 0
		for ; j < len(k.all) && k.all[j].v == k.all[i].v; j++ {
			if k.all[j].base {
				own++
			}
		}
		// Twice the mid-rank of ranks i+1 … j.
		sum += own * (i + 1 + j)
		ties = append(ties, j-i)
		i = j
	}
	u = float64(sum)/2 - float64(nb*(nb+1))/2
	if nb > exactLimit || nc > exactLimit {
		return u, normalP(u, nb, nc, ties)
	}
	return u, k.exactP(sum, nb, nc, ties)
}

// exactP counts the ways to choose nb of the pooled mid-ranks whose doubled
// sum lies at least as far from its mean as sum does.
func (k *ranker) exactP(sum, nb, nc int, ties []int) float64 {
	n := nb + nc
	mean := nb * (n + 1)
	dev := sum - mean
	if dev < 0 {
		dev = -dev
	}
	if dev == 0 {
		return 1
	}
	low, high := mean-dev, mean+dev
	top := nb * (n + n - nb + 1)
	if nb == nc {
		// Choosing the complement mirrors the distribution, so the lower
		// tail is enough.
		top = low
	}
	width := top + 1
	if need := (nb + 1) * width; cap(k.dp) < need {
		k.dp = make([]float64, need)
	} else {
		k.dp = k.dp[:need]
		clear(k.dp)
	}
	k.dp[0] = 1
	k.count(nb, width, ties)
	row := k.dp[nb*width : (nb+1)*width]
	var tail float64
	for s, ways := range row {
		if s <= low || s >= high {
			tail += ways
		}
	}
	if nb == nc {
		tail *= 2
	}
	return math.Min(1, tail/choose(n, nb))
}

// count fills dp[j*width+s] with the number of ways to choose j ranks with
// doubled sum s.
func (k *ranker) count(nb, width int, ties []int) {
	first, maxSum := 0, 0
	for _, t := range ties {
		rank := first + 1 + first + t
		first += t
		limit := min(width-1, maxSum+min(t, nb)*rank)
		for j := min(nb, first); j >= 1; j-- {
			to := k.dp[j*width : (j+1)*width]
			for take := 1; take <= min(t, j); take++ {
				ways, shift := choose(t, take), take*rank
				if shift >= width {
					break
				}
				from := k.dp[(j-take)*width : (j-take+1)*width]
				for s := shift; s <= limit; s++ {
					to[s] += ways * from[s-shift]
				}
			}
		}
		maxSum = limit
	}
}

// choose is the binomial coefficient.
func choose(n, k int) float64 {
	k = min(k, n-k)
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return math.Round(c)
}

// normalP is the normal approximation with tie and continuity correction.
func normalP(u float64, nb, nc int, ties []int) float64 {
	n := float64(nb + nc)
	corr := 0.0
	for _, t := range ties {
		f := float64(t)
		corr += f*f*f - f
	}
	v := float64(nb*nc) / 12 * (n + 1 - corr/(n*(n-1)))
	if v <= 0 {
		return 1
	}
	z := (math.Abs(u-float64(nb*nc)/2) - 0.5) / math.Sqrt(v)
	return math.Min(1, math.Erfc(z/math.Sqrt2))
}

// hodgesLehmann gives the median of all log(cand/base) and the order
// statistics of those logs at the exact no-ties U critical value: an interval
// with coverage of at least 1−alpha. ok is false when n is too small for one.
func (k *ranker) hodgesLehmann(logBase, logCand []float64, alpha float64) (shift, lo, hi float64, ok bool) {
	k.diff = k.diff[:0]
	for _, c := range logCand {
		for _, b := range logBase {
			k.diff = append(k.diff, c-b)
		}
	}
	slices.Sort(k.diff)
	shift = sortedMedian(k.diff)
	c := k.critical(len(logBase), len(logCand), alpha)
	if c < 1 {
		return shift, 0, 0, false
	}
	return shift, k.diff[c-1], k.diff[len(k.diff)-c], true
}

// critical is the largest c with P(U <= c−1) <= alpha/2 without ties.
func (k *ranker) critical(nb, nc int, alpha float64) int {
	id := [3]int{nb, nc, int(math.Round(alpha * 1e9))}
	if c, ok := k.crit[id]; ok {
		return c
	}
	c := 0
	if nb > exactLimit || nc > exactLimit {
		z := math.Sqrt2 * math.Erfinv(1-alpha)
		sd := math.Sqrt(float64(nb*nc) * float64(nb+nc+1) / 12)
		c = max(0, int(float64(nb*nc)/2-z*sd))
	} else {
		total, cum := choose(nb+nc, nb), 0.0
		for u, ways := range uCounts(nb, nc) {
			if cum += ways; cum/total > alpha/2 {
				c = u
				break
			}
		}
	}
	k.crit[id] = c
	return c
}

// uCounts gives the number of arrangements with each U, without ties, as the
// coefficients of the Gaussian binomial.
func uCounts(nb, nc int) []float64 {
	f := make([]float64, nb*nc+1)
	f[0] = 1
	for i := 1; i <= nb; i++ {
		for s := len(f) - 1; s >= nc+i; s-- {
			f[s] -= f[s-nc-i]
		}
		for s := i; s < len(f); s++ {
			f[s] += f[s-i]
		}
	}
	return f
}

// sortedMedian is the median of a sorted sample, NaN when empty.
func sortedMedian(s []float64) float64 {
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// Median is the median of a sample in any order, NaN when empty.
func Median(v []float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return sortedMedian(s)
}

// LeastP is the smallest two-sided probability that a Mann–Whitney test can
// reach with these sizes: 2/C(nb+nc, nb). At n=3 it is 0.10.
func LeastP(nb, nc int) float64 { return math.Min(1, 2/choose(nb+nc, nb)) }

// Holm corrects probabilities for the number of tests; the result is in the
// order of p. Source: Holm 1979, step-down Bonferroni.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(p))
	worst := 0.0
	for i, at := range order {
		worst = math.Max(worst, math.Min(1, p[at]*float64(len(p)-i)))
		out[at] = worst
	}
	return out
}
