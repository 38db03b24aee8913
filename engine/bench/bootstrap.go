package bench

import (
	"math"
	"math/rand/v2"
	"slices"
)

// minShapes is the least number of cells for which a geometric mean gets an
// interval; below it the cells are listed and that is all.
const minShapes = 6

// replicates is how many Hodges–Lehmann replicates are drawn per cell: fewer
// where there are so many cells that the draw between cells dominates.
func replicates(cells int) int { return min(256, max(16, 100_000/max(cells, 1))) }

// dice draws indices, two from each 64-bit number: the bootstrap draws tens of
// millions. The bias of scaling 32 bits to n is below n/2^32.
type dice struct {
	rng  *rand.Rand
	left uint64
	half bool
}

func (d *dice) index(n int) int {
	if d.half = !d.half; d.half {
		d.left = d.rng.Uint64()
		return int(d.left >> 32 * uint64(n) >> 32)
	}
	return int(d.left & 0xffffffff * uint64(n) >> 32)
}

// resampleCell draws replicates of a cell's log ratio: repeats of both arms
// with replacement, then the median of all pairwise differences.
func (d *dice) resampleCell(logBase, logCand, out, buf []float64) []float64 {
	nb, nc := len(logBase), len(logCand)
	b, c := make([]float64, nb), make([]float64, nc)
	for i := range out {
		for j := range b {
			b[j] = logBase[d.index(nb)]
		}
		for j := range c {
			c[j] = logCand[d.index(nc)]
		}
		out[i], buf = pairMedian(b, c, buf)
	}
	return buf
}

// pairMedian is the median of all c−b. It sorts both arms and finds the
// middle by selection over the m pairwise differences.
func pairMedian(b, c, buf []float64) (float64, []float64) {
	if len(b) == 1 && len(c) == 1 {
		return c[0] - b[0], buf
	}
	buf = buf[:0]
	for _, x := range c {
		for _, y := range b {
			buf = append(buf, x-y)
		}
	}
	m := len(buf)
	hi := selectNth(buf, m/2)
	if m%2 == 1 {
		return hi, buf
	}
	lo := buf[0]
	for _, v := range buf[:m/2] {
		if v > lo {
			lo = v
		}
	}
	return (lo + hi) / 2, buf
}

// selectNth partially sorts v so that v[n] is the n-th smallest and nothing
// before it is larger, and returns it.
func selectNth(v []float64, n int) float64 {
	lo, hi := 0, len(v)-1
	for lo < hi {
		p := v[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for v[i] < p {
				i++
			}
			for v[j] > p {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			hi = j
		case n >= i:
			lo = i
		default:
			return v[n]
		}
	}
	return v[n]
}

// geomeanInterval is the nested bootstrap: cells with replacement, and for
// each draw one of the cell's replicates. nil below minShapes cells.
func (d *dice) geomeanInterval(cells [][]float64, resamples int, alpha float64) *[2]float64 {
	if len(cells) < minShapes {
		return nil
	}
	// Beyond 2000 cells the mean of a resample is so steady that fewer of
	// them give the same interval.
	means := make([]float64, max(400, min(resamples, 4_000_000/len(cells))))
	for r := range means {
		s := 0.0
		for range cells {
			c := cells[d.index(len(cells))]
			s += c[d.index(len(c))]
		}
		means[r] = s / float64(len(cells))
	}
	slices.Sort(means)
	at := func(q float64) float64 {
		return math.Exp(means[int(math.Round(q*float64(len(means)-1)))])
	}
	return &[2]float64{at(alpha / 2), at(1 - alpha/2)}
}
