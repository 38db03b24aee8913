package stall

import (
	"cmp"
	"slices"
)

// Drilling down: class -> source line -> instructions -> producers of a wait.
// These work on the rows, so they show more than the 25 of the artifact; they
// return nothing when only stored artifacts were there.

// SourcesOf lists the source lines with stall in one class, most first. Stall
// and Pct count that class only; Pct is in per cent of all stall cycles.
func (a *Analysis) SourcesOf(c Class) []SourceShare {
	at := map[string]int{}
	var out []SourceShare
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Class != c || r.Stall <= 0 {
			continue
		}
		k, seen := at[r.Source]
		if !seen {
			k = len(out)
			at[r.Source] = k
			out = append(out, SourceShare{Source: r.Source, DomClass: c})
		}
		out[k].Stall += r.Stall
	}
	for i := range out {
		out[i].Pct = share(out[i].Stall, a.Bubbles.Totals.TotalStall, 2)
	}
	slices.SortStableFunc(out, func(x, y SourceShare) int { return cmp.Compare(y.Stall, x.Stall) })
	return out
}

// InstsOf lists the instructions of one source line that pass the class filter
// ("" for all), most stall first, ties in program order.
func (a *Analysis) InstsOf(source string, c Class) []Hotspot {
	var out []Hotspot
	for i := range a.Rows {
		if r := &a.Rows[i]; r.Source == source && (c == "" || r.Class == c) && !r.IsLabel() {
			out = append(out, r.hotspot())
		}
	}
	slices.SortStableFunc(out, func(x, y Hotspot) int { return cmp.Compare(y.Stall, x.Stall) })
	return out
}

// ProducersOf lists what the wait at a line was for; nil before the wave files
// were read. A stored artifact knows only those of its hotspots.
func (a *Analysis) ProducersOf(line int64) []Producer {
	if p := Producers(a.Rows, a.Waits.Edges[line]); p != nil {
		return p
	}
	for i := range a.Bubbles.Hotspots {
		if a.Bubbles.Hotspots[i].CodeLine == line {
			return a.Bubbles.Hotspots[i].Producers
		}
	}
	return nil
}

// Around returns up to n instructions before and after a line, in program
// order, and the place of the line among them (-1 if it is not a row).
func (a *Analysis) Around(line int64, n int) (rows []Row, at int) {
	for i := range a.Rows {
		if a.Rows[i].Line == line {
			from := max(0, i-n)
			return a.Rows[from:min(len(a.Rows), i+n+1)], i - from
		}
	}
	return nil, -1
}
