package numerics

import "math"

// zeroRow is the length below which a reference row has no direction: such rows
// are left out of the cosine, as in the harness, and only their error counts.
const zeroRow = 1e-6

// tally is the error of a design over some rows. Merging tallies in row order
// gives the same result however the rows were shared out.
type tally struct {
	maxErr, minCos     float64
	worstErr, worstCos Place
	nonFinite          int64
	xy, xx, yy         float64 // sums of products over all rows
	positive           int64   // probabilities above zero before packing
	flushed, saturated int64
}

func newTally() tally {
	return tally{maxErr: -1, minCos: math.Inf(1), worstErr: Place{Row: -1}, worstCos: Place{Row: -1}}
}

// row adds one output row against its reference.
func (t *tally) row(at Place, out []float32, ref []float64) {
	var xy, xx, yy float64
	ref = ref[:len(out)]
	for i, o := range out {
		x, y := float64(o), ref[i]
		d := math.Abs(x - y)
		if !(d <= math.MaxFloat64) {
			t.nonFinite++
			continue
		}
		if d > t.maxErr {
			t.maxErr, t.worstErr = d, at
		}
		xy += float64(x * y)
		xx += float64(x * x)
		yy += float64(y * y)
	}
	t.xy += xy
	t.xx += xx
	t.yy += yy
	if yy <= zeroRow*zeroRow {
		return
	}
	if c := cosine(xy, xx, yy); c < t.minCos {
		t.minCos, t.worstCos = c, at
	}
}

// cosine clamps each length at 1e-8 as torch.nn.functional.cosine_similarity
// does; an output of zeros has the cosine 0.
func cosine(xy, xx, yy float64) float64 {
	return xy / (max(math.Sqrt(xx), 1e-8) * max(math.Sqrt(yy), 1e-8))
}

// merge adds the tally of later rows.
func (t *tally) merge(o tally) {
	if o.maxErr > t.maxErr {
		t.maxErr, t.worstErr = o.maxErr, o.worstErr
	}
	if o.minCos < t.minCos {
		t.minCos, t.worstCos = o.minCos, o.worstCos
	}
	t.nonFinite += o.nonFinite
	t.xy += o.xy
	t.xx += o.xx
	t.yy += o.yy
	t.positive += o.positive
	t.flushed += o.flushed
	t.saturated += o.saturated
}

// errors are the metrics; one with nothing to compare is not a number.
func (t tally) errors() Errors {
	nan := Metric(math.NaN())
	e := Errors{MaxErr: Metric(t.maxErr), MinCos: Metric(t.minCos), Cos: nan, LogitsDiff: nan}
	if t.maxErr < 0 {
		e.MaxErr = nan
	}
	if sum := t.xx + t.yy; sum > 0 {
		e.LogitsDiff = Metric(1 - 2*t.xy/sum)
	}
	if t.yy > 0 {
		e.Cos = Metric(cosine(t.xy, t.xx, t.yy))
	}
	return e
}

// outcome applies the gate.
func (t tally) outcome(name string, g Gate) Outcome {
	e := t.errors()
	o := Outcome{
		Name: name, MaxErr: e.MaxErr, MinCos: e.MinCos, Cos: e.Cos,
		WorstErr: t.worstErr, WorstCos: t.worstCos, NonFinite: t.nonFinite, Gate: g,
	}
	if g.LogitsDiff != nil {
		o.LogitsDiff = &e.LogitsDiff
	}
	o.Pass = g.passes(o)
	return o
}

// packing adds the shares of flushed and saturated probabilities.
func (o Outcome) packing(t tally) Outcome {
	if t.positive > 0 {
		flushed := float64(t.flushed) / float64(t.positive)
		saturated := float64(t.saturated) / float64(t.positive)
		o.PFlushed, o.PSaturated = &flushed, &saturated
	}
	return o
}
