package stall

import (
	"cmp"
	"slices"
)

// ClassCost is one class with what a hit of it costs.
type ClassCost struct {
	ClassShare
	// Insts are the instructions of the class in the trace, Hits their
	// executions; both are 0 when the rows were not there to count.
	Insts int
	Hits  int64
	// PerHit is in stall cycles per execution of an instruction of the class;
	// nil when nothing could be counted.
	PerHit *Num
}

// Costs lists the classes with stall in rank order. Without rows only the
// shares are known.
func (a *Analysis) Costs() []ClassCost {
	insts, hits := map[Class]int{}, ClassHits(a.Rows)
	for i := range a.Rows {
		if r := &a.Rows[i]; !r.IsLabel() {
			insts[r.Class]++
		}
	}
	out := make([]ClassCost, 0, len(a.Bubbles.Taxonomy.ByClass))
	for _, s := range a.Bubbles.Taxonomy.ByClass {
		out = append(out, ClassCost{ClassShare: s, Insts: insts[s.Class], Hits: hits[s.Class], PerHit: ratio(s.Cycles, hits[s.Class])})
	}
	return out
}

// LineShare is one source line seen through one class.
type LineShare struct {
	// Source is "file:line", possibly an inline chain, or "" for what maps to no
	// line.
	Source string
	// OfClass is in per cent of the stall of the class, OfAll of all stall.
	OfClass, OfAll Num
	// Dom is the class with most stall at this line, whichever was asked for.
	Dom Class
	// Insts are its instructions of the class that stalled, Hits their
	// executions, PerHit the stall cycles of one of them.
	Insts  int
	Hits   int64
	PerHit *Num
}

// LinesOf lists the source lines with stall in one class, most first. Without
// rows it knows only those of the artifact's hotspots.
func (a *Analysis) LinesOf(c Class) []LineShare {
	type group struct {
		stall, hits int64
		insts       int
		all         tally
	}
	groups := map[string]*group{}
	var names []string
	add := func(source string, class Class, stall, hit int64) {
		g := groups[source]
		if g == nil {
			g = &group{}
			groups[source] = g
			names = append(names, source)
		}
		g.all.add(class, stall)
		if class == c {
			g.stall += stall
			g.hits += hit
			g.insts++
		}
	}
	for i := range a.Rows {
		if r := &a.Rows[i]; r.Stall > 0 {
			add(r.Source, r.Class, r.Stall, r.Hit)
		}
	}
	if a.Rows == nil {
		for i := range a.Bubbles.Hotspots {
			h := &a.Bubbles.Hotspots[i]
			add(h.Source, h.Class, h.Stall, h.Hit)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return groups[n].insts == 0 })
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(groups[y].stall, groups[x].stall) })
	ofClass, _ := a.Bubbles.Class(c)
	out := make([]LineShare, 0, len(names))
	for _, n := range names {
		g := groups[n]
		out = append(out, LineShare{
			Source: n, Dom: g.all.ranked()[0], Insts: g.insts, Hits: g.hits, PerHit: ratio(g.stall, g.hits),
			OfClass: share(g.stall, ofClass.Cycles, 2), OfAll: share(g.stall, a.Bubbles.Totals.TotalStall, 2),
		})
	}
	return out
}

// InstsOfClass lists the instructions of one class that stalled, whatever their
// source line, most stall first, ties in program order. Without rows it knows
// only the artifact's hotspots.
func (a *Analysis) InstsOfClass(c Class) []Hotspot {
	var out []Hotspot
	for i := range a.Rows {
		if r := &a.Rows[i]; r.Class == c && r.Stall > 0 && !r.IsLabel() {
			out = append(out, r.hotspot())
		}
	}
	if a.Rows == nil {
		for i := range a.Bubbles.Hotspots {
			if h := &a.Bubbles.Hotspots[i]; h.Class == c {
				out = append(out, *h)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y Hotspot) int { return cmp.Compare(y.Stall, x.Stall) })
	return out
}

// Of is the share of an instruction's stall in all stall, in per cent.
func (b *Bubbles) Of(h *Hotspot) Num { return share(h.Stall, b.Totals.TotalStall, 2) }

// PerHit is the stall cycles of one execution; nil when it was not executed.
func (h *Hotspot) PerHit() *Num { return ratio(h.Stall, h.Hit) }
