package bench

import (
	"math"
	"slices"
)

// bimodal reports two groups of at least two repeats that a gap of more than
// five times the median gap separates.
func bimodal(v []float64) bool {
	if len(v) < 5 {
		return false
	}
	s := slices.Clone(v)
	slices.Sort(s)
	gaps := make([]float64, len(s)-1)
	for i := range gaps {
		gaps[i] = s[i+1] - s[i]
	}
	typical := Median(gaps)
	for i, g := range gaps {
		// A gap under one percent is the printed step or plain noise.
		if i >= 1 && i < len(gaps)-1 && g > 5*typical && g > 0.01*s[i] {
			return true
		}
	}
	return false
}

// drifting reports a rank correlation of time with run order that a random
// order would reach in less than one case of a hundred.
func drifting(v []float64) bool {
	n := len(v)
	if n < 6 {
		return false
	}
	r := midRanks(v)
	m := float64(n+1) / 2
	var num, den, ord float64
	for i, x := range r {
		d := float64(i+1) - m
		num += d * (x - m)
		den += (x - m) * (x - m)
		ord += d * d
	}
	if den == 0 {
		return false
	}
	rho := num / math.Sqrt(den*ord)
	t := rho * math.Sqrt(float64(n-2)/math.Max(1e-12, 1-rho*rho))
	// 2.58 is the normal quantile; the t quantile is larger at small n.
	return math.Abs(t) > 2.58*(1+2.5/float64(n-2))
}

// midRanks gives the rank of every element, ties sharing their mean.
func midRanks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case v[a] < v[b]:
			return -1
		case v[a] > v[b]:
			return 1
		}
		return a - b
	})
	out := make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			out[at] = float64(i+1+j) / 2
		}
		i = j
	}
	return out
}

// wide reports p90/p10 above 1.2, which the profiling library calls unstable.
func wide(v []float64) bool {
	if len(v) < 5 {
		return false
	}
	s := slices.Clone(v)
	slices.Sort(s)
	q := func(p float64) float64 {
		x := p * float64(len(s)-1)
		i := int(x)
		if i+1 >= len(s) {
			return s[len(s)-1]
		}
		return s[i] + (x-float64(i))*(s[i+1]-s[i])
	}
	return q(0.1) > 0 && q(0.9)/q(0.1) > 1.2
}
