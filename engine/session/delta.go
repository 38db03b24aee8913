package session

import (
	"fmt"
	"slices"

	"kdapilot/engine/bench"
	"kdapilot/engine/family"
	"kdapilot/engine/repo"
	"kdapilot/engine/runs"
)

// Pairing says what to compare.
type Pairing struct {
	// Sets are all there are, newest first.
	Sets []RowSet
	// Base and Cand are the ids a person picked; "" for the standard ones.
	Base, Cand string
	// Locked is the commit of the locked base, "" when there is none.
	Locked string
	// Options are those of the task; see BenchOptions.
	Options bench.Options
	// Required gives the cells that a preset has to print, nil when nobody says.
	Required func(preset string) []string
}

// BenchOptions are how rows of a family are compared: its bar, its regimes, and
// the floors measured on this host, nil for none.
func BenchOptions(f *family.Family, floors map[string]float64) bench.Options {
	o := bench.Options{KeepSamples: true, CellFloor: floors}
	if f == nil {
		return o
	}
	o.Bar = f.Bar.GainPct / 100
	if len(f.Regimes) > 0 {
		o.Regime = func(r *bench.Row) string {
			if r.Section == "" {
				if name := f.Regime(r.Key); name != "" {
					return name
				}
			}
			return bench.DefaultRegime(r)
		}
	}
	return o
}

// Compare compares two arms. An arm is a set with its repeats: the same preset
// at the same commit on the same device, judged by the same files. The standard
// candidate is the newest set; its standard base is the arm at the locked base,
// else the newest older commit, else the run before. Nil when there is no such
// pair, or when an id names no set.
func Compare(p Pairing) *Delta {
	cand := find(p.Sets, p.Cand)
	if p.Cand == "" {
		cand = newest(p.Sets)
	}
	if cand == nil || cand.Result == nil {
		return nil
	}
	base := find(p.Sets, p.Base)
	if p.Base == "" {
		base = standardBase(p.Sets, cand, p.Locked)
	}
	if base == nil || base.Result == nil || base.ID == cand.ID {
		return nil
	}
	bases, cands := repeats(p.Sets, base), repeats(p.Sets, cand)
	if sameArm(base, cand) { // one run against another of the same arm
		bases, cands = []*RowSet{base}, []*RowSet{cand}
	}
	o := ArmOptions(p.Options, bases, cands)
	if p.Required != nil && base.Run != nil && cand.Run != nil && base.Run.Manifest.Preset == cand.Run.Manifest.Preset {
		o.Required = p.Required(cand.Run.Manifest.Preset)
	}
	d := &Delta{Base: base.ID, Cand: cand.ID, Picked: p.Base != "" || p.Cand != "", BaseSets: ids(bases), CandSets: ids(cands)}
	d.Comparison = bench.Compare(arm(bases), arm(cands), o)
	d.Trend = trendOf(p.Sets, d, o.Regime)
	return d
}

// newest is the newest set that ran to its end, however it ended; the newest of
// all when none did.
func newest(sets []RowSet) *RowSet {
	for i := range sets {
		if !sets[i].cut() {
			return &sets[i]
		}
	}
	if len(sets) == 0 {
		return nil
	}
	return &sets[0]
}

func find(sets []RowSet, id string) *RowSet {
	for i := range sets {
		if sets[i].ID == id {
			return &sets[i]
		}
	}
	return nil
}

func ids(sets []*RowSet) []string {
	out := make([]string, len(sets))
	for i, s := range sets {
		out[i] = s.ID
	}
	return out
}

func (s *RowSet) head() string {
	if s.Run == nil {
		return ""
	}
	return s.Run.Manifest.Head
}

// sameSuite: what two sets ran can be put beside each other at all.
func sameSuite(a, b *RowSet) bool {
	return a.Result != nil && b.Result != nil && a.Result.Family == b.Result.Family && a.Result.Mode == b.Result.Mode
}

// sameArm: two sets are repeats of each other.
func sameArm(a, b *RowSet) bool {
	if a.Run == nil || b.Run == nil || a.head() == "" || !sameSuite(a, b) {
		return false
	}
	ma, mb := &a.Run.Manifest, &b.Run.Manifest
	return ma.Head == mb.Head && ma.DirtyHash == mb.DirtyHash && ma.Preset == mb.Preset && slices.Equal(ma.Argv, mb.Argv) && len(Unlike(a, b)) == 0
}

// contaminated: somebody else used the device during the run.
func (s *RowSet) contaminated() bool {
	return s.Run != nil && s.Run.Result != nil && len(s.Run.Result.Foreign) > 0
}

// cut: the run did not come to its own end, because a person stopped it or its
// supervisor is gone.
func (s *RowSet) cut() bool {
	return s.Run != nil && s.Run.State != "" && s.Run.State != runs.Ended
}

// repeats are all sets of the arm that s belongs to, s first. Those during which
// somebody else used the device, and those that were cut short, are left out; s
// itself stays.
func repeats(sets []RowSet, s *RowSet) []*RowSet {
	out := []*RowSet{s}
	for i := range sets {
		if x := &sets[i]; x.ID != s.ID && sameArm(x, s) && !x.contaminated() && !x.cut() {
			out = append(out, x)
		}
	}
	return out
}

// standardBase is what the candidate is compared with when nobody picked.
func standardBase(sets []RowSet, cand *RowSet, locked string) *RowSet {
	var older, before *RowSet
	seen := false
	for i := range sets {
		s := &sets[i]
		if s.ID == cand.ID {
			seen = true
			continue
		}
		if !sameSuite(s, cand) || s.cut() {
			continue
		}
		same := s.presetName() == cand.presetName() && len(Unlike(s, cand)) == 0 && s.head() != "" && s.head() != cand.head()
		if same && s.head() == locked {
			return s
		}
		if same && older == nil && seen {
			older = s
		}
		if seen && (before == nil || len(Unlike(before, cand)) > 0 && len(Unlike(s, cand)) == 0) {
			before = s
		}
	}
	if older != nil {
		return older
	}
	return before
}

// arm joins the runs of one side.
func arm(sets []*RowSet) bench.Arm {
	a := bench.Arm{Label: sets[0].Label}
	if n := len(sets); n > 1 {
		a.Label = fmt.Sprintf("%s @ %s, %d runs", sets[0].presetName(), repo.Short(sets[0].head()), n)
	}
	for _, s := range sets {
		a.Runs = append(a.Runs, s.Result.AllRows())
	}
	return a
}
