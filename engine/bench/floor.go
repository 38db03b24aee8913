package bench

import "math"

// MeasuredFloor is what runs of the base against itself say about a host: a
// change below it can not be told from nothing.
type MeasuredFloor struct {
	// Cells maps a key to its floor as a fraction.
	Cells map[string]float64 `json:"cells"`
	// Unmeasured are keys without a usable A/A pair, each with the reason.
	Unmeasured []Hole `json:"unmeasured"`
	// False are cells that A/A called faster or slower at the default floor:
	// the host is noisier than the statistics assume.
	False []string `json:"false_alarms"`
	// N is the least number of runs a side behind a measured cell.
	N int `json:"n"`
}

// MeasureFloor takes two arms of the same commit, interleaved on the same card,
// and gives per cell the largest deviation from 1 that its A/A interval
// reaches (at one run a side: the deviation itself), but never less than half
// the printed step. Options.CellFloor takes the result.
func MeasureFloor(a, b Arm, opt Options) MeasuredFloor {
	c := Compare(a, b, opt)
	out := MeasuredFloor{Cells: make(map[string]float64), Unmeasured: []Hole{}, False: []string{}}
	step := opt.withDefaults().StepUS
	for i := range c.Cells {
		cell := &c.Cells[i]
		if !cell.Ratio.OK {
			out.Unmeasured = append(out.Unmeasured, Hole{cell.Key, cell.Why})
			continue
		}
		dev := math.Abs(cell.Ratio.V - 1)
		if cell.CI95 != nil {
			dev = max(dev, math.Abs(cell.CI95[0]-1), math.Abs(cell.CI95[1]-1))
		}
		out.Cells[cell.Key] = max(dev, step/2/cell.BaseMedian.V)
		if cell.Verdict == Faster || cell.Verdict == Slower {
			out.False = append(out.False, cell.Key)
		}
		if n := min(cell.NBase, cell.NCand); out.N == 0 || n < out.N {
			out.N = n
		}
	}
	return out
}
