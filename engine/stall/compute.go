package stall

import (
	"cmp"
	"slices"
)

// topN is how many hotspots and source lines the artifact holds.
const topN = 25

// Compute makes the artifact from the kept rows of one trace. idle is the
// content of its occupancy field. The producers of the waits are attached
// later, by WithWaits, because they need the wave files.
func Compute(dispatchDir string, rows []Row, idle IdleWaves) Bubbles {
	b := Bubbles{DispatchDir: dispatchDir, Occupancy: idle}
	for i := range rows {
		r := &rows[i]
		b.Totals.TotalLatency += r.Latency
		b.Totals.TotalStall += r.Stall
		b.Totals.TotalIdle += r.Idle
		b.Totals.HitCount += r.Hit
	}
	b.Totals.Instructions = len(rows)
	b.Totals.StallPct = share(b.Totals.TotalStall, b.Totals.TotalLatency, 1)
	b.Taxonomy.ByClass = byClass(rows, b.Totals.TotalStall)
	b.Hotspots = hotspots(rows)
	b.BySource = bySource(rows, b.Totals.TotalStall)
	b.InstMix = instMix(rows)
	return b
}

// tally sums cycles by class and keeps the order in which classes were first
// seen, which is what breaks ties.
type tally struct {
	classes []Class
	cycles  map[Class]int64
}

func (t *tally) add(c Class, n int64) {
	if _, seen := t.cycles[c]; !seen {
		if t.cycles == nil {
			t.cycles = make(map[Class]int64, 4)
		}
		t.classes = append(t.classes, c)
	}
	t.cycles[c] += n
}

// ranked sorts by cycles, most first, ties in first-seen order.
func (t *tally) ranked() []Class {
	slices.SortStableFunc(t.classes, func(a, b Class) int { return cmp.Compare(t.cycles[b], t.cycles[a]) })
	return t.classes
}

func byClass(rows []Row, totalStall int64) ByClass {
	var t tally
	for i := range rows {
		if rows[i].Stall > 0 {
			t.add(rows[i].Class, rows[i].Stall)
		}
	}
	out := make(ByClass, 0, len(t.classes))
	for i, c := range t.ranked() {
		out = append(out, ClassShare{
			Class: c, Cycles: t.cycles[c], Pct: share(t.cycles[c], totalStall, 2), Rank: i + 1, IsBubble: c.IsBubble(),
		})
	}
	return out
}

func instMix(rows []Row) InstMix {
	var t tally
	for i := range rows {
		t.add(rows[i].Class, 1)
	}
	out := make(InstMix, 0, len(t.classes))
	for _, c := range t.ranked() {
		out = append(out, ClassFraction{Class: c, Fraction: Round(float64(t.cycles[c])/float64(len(rows)), 3)})
	}
	return out
}

func hotspots(rows []Row) []Hotspot {
	order := make([]int, 0, len(rows))
	for i := range rows {
		if rows[i].Stall > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[b].Stall, rows[a].Stall) })
	order = order[:min(len(order), topN)]
	out := make([]Hotspot, 0, len(order))
	for _, i := range order {
		out = append(out, rows[i].hotspot())
	}
	return out
}

func (r *Row) hotspot() Hotspot {
	return Hotspot{
		CodeLine: r.Line, Addr: hexAddr(r.Addr), Inst: r.ISA, Class: r.Class, Source: r.Source,
		Hit: r.Hit, Latency: r.Latency, Stall: r.Stall, Idle: r.Idle, StallPct: share(r.Stall, r.Latency, 1),
	}
}

func bySource(rows []Row, totalStall int64) []SourceShare {
	type group struct {
		stall int64
		tally tally
	}
	groups := map[string]*group{}
	var names []string
	for i := range rows {
		r := &rows[i]
		if r.Source == "" || r.Stall <= 0 {
			continue
		}
		g := groups[r.Source]
		if g == nil {
			g = &group{}
			groups[r.Source] = g
			names = append(names, r.Source)
		}
		g.stall += r.Stall
		g.tally.add(r.Class, r.Stall)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(groups[b].stall, groups[a].stall) })
	names = names[:min(len(names), topN)]
	out := make([]SourceShare, 0, len(names))
	for _, n := range names {
		g := groups[n]
		out = append(out, SourceShare{Source: n, Stall: g.stall, Pct: share(g.stall, totalStall, 2), DomClass: g.tally.ranked()[0]})
	}
	return out
}

// WithWaits returns b with the producers attached to the hotspots that have
// any. b itself keeps its hotspots.
func (b Bubbles) WithWaits(rows []Row, edges map[int64][]int64) Bubbles {
	spots := slices.Clone(b.Hotspots)
	var all []int64
	for i := range spots {
		all = append(all, edges[spots[i].CodeLine]...)
	}
	index := indexRows(rows, all)
	for i := range spots {
		spots[i].Producers = producers(rows, index, edges[spots[i].CodeLine])
	}
	b.Hotspots = spots
	return b
}

// Producers looks the lines up in the rows; nil for no lines. Of rows with the
// same line the later one counts.
func Producers(rows []Row, lines []int64) []Producer {
	return producers(rows, indexRows(rows, lines), lines)
}

// indexRows finds the rows of the lines asked for in one pass.
func indexRows(rows []Row, lines []int64) map[int64]int {
	if len(lines) == 0 {
		return nil
	}
	index := make(map[int64]int, len(lines))
	for _, n := range lines {
		index[n] = -1
	}
	for i := range rows {
		if _, wanted := index[rows[i].Line]; wanted {
			index[rows[i].Line] = i
		}
	}
	return index
}

func producers(rows []Row, index map[int64]int, lines []int64) []Producer {
	if len(lines) == 0 {
		return nil
	}
	out := make([]Producer, 0, len(lines))
	for _, n := range lines {
		p := Producer{CodeLine: n, Inst: "?"}
		if i := index[n]; i >= 0 {
			p.Inst, p.Source = rows[i].ISA, rows[i].Source
		}
		out = append(out, p)
	}
	return out
}

// ClassHits sums the executions of the instructions of each class.
func ClassHits(rows []Row) map[Class]int64 {
	out := make(map[Class]int64, 14)
	for i := range rows {
		out[rows[i].Class] += rows[i].Hit
	}
	return out
}
