package preflight

import (
	"slices"
	"time"
)

// Live is preflight as a screen shows it: the stored result, and the rows of a
// run that is under way on top of it. It is a value; With makes a new one.
type Live struct {
	Stored Stored
	// Running is true while checks are made; Since is when they began.
	Running bool
	Since   time.Time
	// Fresh are the rows of the run under way, as they came.
	Fresh []Row
}

// With adds a row that has just been made.
func (l Live) With(r Row) Live {
	l.Fresh = append(slices.Clone(l.Fresh), r)
	return l
}

// Shown is a row with whether it is of the run under way.
type Shown struct {
	Row
	// Old rows are of the stored result while a new one is being made.
	Old bool
}

// Rows gives one row per check, in order of need: what holds something shut
// first, then what is amber or not known, then the rest.
func (l Live) Rows() []Shown {
	byID := map[ID]Shown{}
	if r := l.Stored.Result; r != nil {
		for _, x := range r.Rows {
			byID[x.ID] = Shown{Row: x, Old: l.Running}
		}
	}
	for _, x := range l.Fresh {
		byID[x.ID] = Shown{Row: x}
	}
	var out []Shown
	for _, id := range Order() {
		if x, ok := byID[id]; ok {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Shown) int { return need(a.Row) - need(b.Row) })
	return out
}

func need(r Row) int {
	switch {
	case r.Holds():
		return 0
	case r.State != Green && r.State != NotNeeded:
		return 1
	default:
		return 2
	}
}
