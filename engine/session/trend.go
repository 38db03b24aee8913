package session

import (
	"slices"

	"kdapilot/engine/bench"
)

// maxTrend bounds how many sets a trend goes back.
const maxTrend = 40

// Trend shows where each regime went over the sets that can be compared with
// the newest of Delta: same family, mode, device, judge files. Its base is the
// oldest of them.
type Trend struct {
	// Sets are RowSet ids, oldest first; each line has one point per set.
	Sets  []string
	Lines []bench.TrendLine
}

// trendOf follows the candidate of d back through sets, which are newest first;
// nil when there are fewer than three sets to follow.
func trendOf(sets []RowSet, d *Delta, regime func(*bench.Row) string) *Trend {
	cand := find(sets, d.Cand)
	if cand == nil || cand.Result == nil {
		return nil
	}
	var chain []*RowSet
	for i := range sets {
		s := &sets[i]
		if s.When.After(cand.When) || s.Result == nil || len(chain) == maxTrend || s.presetName() != cand.presetName() {
			continue
		}
		if s.Result.Family == cand.Result.Family && s.Result.Mode == cand.Result.Mode && len(Unlike(s, cand)) == 0 {
			chain = append(chain, s)
		}
	}
	if len(chain) < 3 {
		return nil
	}
	slices.Reverse(chain)
	t := &Trend{}
	var rows [][]bench.Row
	for _, s := range chain {
		t.Sets = append(t.Sets, s.ID)
		rows = append(rows, s.Result.AllRows())
	}
	t.Lines = bench.Trend(rows[0], rows, regime)
	return t
}

func (s *RowSet) presetName() string {
	if s.Run == nil {
		return ""
	}
	return s.Run.Manifest.Preset
}

// Line finds the line of a regime, or nil.
func (t *Trend) Line(regime string) *bench.TrendLine {
	if t == nil {
		return nil
	}
	for i := range t.Lines {
		if t.Lines[i].Regime == regime {
			return &t.Lines[i]
		}
	}
	return nil
}
