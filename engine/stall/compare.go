package stall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Diff compares two artifacts class by class in shares of stall. Without the
// rows of the traces the cycles per hit of a class stay unknown, and whether
// the two are comparable is judged only from what the artifacts hold; Compare
// knows more. floorPP is the noise floor in percentage points; DefaultFloor if
// it is not positive.
func Diff(before, after Bubbles, floorPP float64) Delta {
	if floorPP <= 0 || math.IsNaN(floorPP) {
		floorPP = DefaultFloor
	}
	d := Delta{
		Comparable: true, Reasons: []string{}, Cautions: []string{}, FloorPP: Num(floorPP),
		Before: before.DispatchDir, After: after.DispatchDir,
		StallPct: change(before.Totals.StallPct, after.Totals.StallPct, 1, floorPP),
		Classes:  []ClassDelta{}, Targets: []Target{},
	}
	for _, c := range union(before.Taxonomy.ByClass, after.Taxonomy.ByClass) {
		d.Classes = append(d.Classes, classDelta(c, &before, &after, floorPP))
	}
	topB, ok := before.Top()
	topA, _ := after.Top()
	if ok {
		d.target("top class", topB.Class, topA.Class, &before, &after)
	} else {
		d.refuse("nothing stalled in the trace before")
	}
	if bubbleB, ok := before.TopBubble(); ok {
		bubbleA, _ := after.TopBubble()
		d.target("top bubble class", bubbleB.Class, bubbleA.Class, &before, &after)
	}
	if len(after.Taxonomy.ByClass) == 0 {
		d.refuse("nothing stalled in the trace after")
	}
	return d
}

// Compare is Diff of two analyses: it also counts cycles per hit where the rows
// are there, adds the first recommendation as a target, and refuses to judge
// traces of different kernels or with too little of the kernel executed.
func Compare(before, after *Analysis, floorPP float64) Delta {
	d := Diff(before.Bubbles, after.Bubbles, floorPP)
	hitsB, hitsA := hitsOf(before), hitsOf(after)
	for i := range d.Classes {
		c := &d.Classes[i]
		c.HitBefore = perHit(&before.Bubbles, c.Class, hitsB)
		c.HitAfter = perHit(&after.Bubbles, c.Class, hitsA)
		c.Note = note(c)
	}
	if recs := before.Report.Recommendations; len(recs) > 0 {
		now := Class("")
		if a := after.Report.Recommendations; len(a) > 0 {
			now = a[0].BubbleClass
		}
		d.target("first recommendation ("+recs[0].Rule+")", recs[0].BubbleClass, now, &before.Bubbles, &after.Bubbles)
	}
	d.compareTrust(&before.Trust, &after.Trust)
	return d
}

func (d *Delta) compareTrust(before, after *Trust) {
	if before.Kernel != "" && after.Kernel != "" && before.Kernel != after.Kernel {
		d.refuse(fmt.Sprintf("different kernels: %s before, %s after", before.Kernel, after.Kernel))
	}
	for _, side := range []struct {
		name string
		t    *Trust
	}{{"before", before}, {"after", after}} {
		switch pct := side.t.ExecutedPct; {
		case pct == nil:
			d.Cautions = append(d.Cautions, "executed coverage "+side.name+" is unknown: no decoded trace beside the artifact")
		case *pct < WeakBelowPct:
			d.refuse(fmt.Sprintf("only %s %% of the kernel was executed by the sampled waves %s (under %d %% no verdict)", *pct, side.name, WeakBelowPct))
		}
	}
	if b, a := before.captured(), after.captured(); b != nil && a != nil && *b != *a {
		d.Cautions = append(d.Cautions, fmt.Sprintf("%d waves sampled before, %d after: raw cycles are not comparable", *b, *a))
		if few(*b, *a) {
			d.refuse(fmt.Sprintf("wave counts differ more than fourfold (%d before, %d after)", *b, *a))
		}
	}
	if before.Shape != "" && after.Shape != "" && before.Shape != after.Shape {
		d.refuse(fmt.Sprintf("different shapes: %s before, %s after", before.Shape, after.Shape))
	}
	if before.Instructions != 0 && after.Instructions != 0 && before.Instructions == after.Instructions {
		d.Cautions = append(d.Cautions, fmt.Sprintf("both have %d instructions: if the code did not change, differences are noise", after.Instructions))
	}
}

// captured is the number of waves the sums cover: those listed, else present.
func (t *Trust) captured() *int {
	if t.WavesListed != nil {
		return t.WavesListed
	}
	return t.WaveFiles
}

// few says that one side rests on less than a quarter of the other's waves.
func few(a, b int) bool { return min(a, b)*4 < max(a, b) }

// refuse turns every verdict into "not comparable" and says why.
func (d *Delta) refuse(why string) {
	d.Comparable = false
	d.Reasons = append(d.Reasons, why)
	d.StallPct.Verdict = NotComparable
	for i := range d.Classes {
		d.Classes[i].Verdict = NotComparable
	}
	for i := range d.Targets {
		d.Targets[i].Verdict = NotComparable
	}
}

func (d *Delta) target(kind string, class, now Class, before, after *Bubbles) {
	b, _ := before.Class(class)
	a, _ := after.Class(class)
	t := Target{Kind: kind, Class: class, Now: now, Change: change(b.Pct, a.Pct, 2, float64(d.FloorPP))}
	if !d.Comparable {
		t.Verdict = NotComparable
	}
	d.Targets = append(d.Targets, t)
}

func change(before, after Num, digits int, floor float64) Change {
	c := Change{Before: before, After: after, DeltaPP: Round(float64(after-before), digits), Verdict: NoChange}
	switch {
	case float64(c.DeltaPP) <= -floor:
		c.Verdict = Shrank
	case float64(c.DeltaPP) >= floor:
		c.Verdict = Grew
	}
	return c
}

func classDelta(c Class, before, after *Bubbles, floor float64) ClassDelta {
	b, inB := before.Class(c)
	a, inA := after.Class(c)
	d := ClassDelta{Class: c, IsBubble: c.IsBubble(), Change: change(b.Pct, a.Pct, 2, floor)}
	if inB {
		d.RankBefore = &b.Rank
	}
	if inA {
		d.RankAfter = &a.Rank
	}
	d.InstBefore = ratio(b.Cycles, before.Totals.HitCount)
	d.InstAfter = ratio(a.Cycles, after.Totals.HitCount)
	return d
}

// union lists the classes of both sides by rank before; those that are new
// afterwards are placed by their rank after.
func union(before, after ByClass) []Class {
	type place struct {
		class Class
		rank  int
	}
	var all []place
	for _, s := range before {
		all = append(all, place{s.Class, s.Rank})
	}
	for _, s := range after {
		if !slices.ContainsFunc(all, func(p place) bool { return p.class == s.Class }) {
			all = append(all, place{s.Class, s.Rank})
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(a.rank, b.rank) })
	out := make([]Class, len(all))
	for i, p := range all {
		out[i] = p.class
	}
	return out
}

func hitsOf(a *Analysis) map[Class]int64 {
	if a.Rows == nil {
		return nil
	}
	return ClassHits(a.Rows)
}

// perHit is the class's stall cycles per execution of one of its instructions.
func perHit(b *Bubbles, c Class, hits map[Class]int64) *Num {
	if hits == nil {
		return nil
	}
	s, _ := b.Class(c)
	return ratio(s.Cycles, hits[c])
}

func ratio(cycles, n int64) *Num {
	if n <= 0 {
		return nil
	}
	r := Round(float64(cycles)/float64(n), 2)
	return &r
}

// note warns where the share moved one way and the cost of a hit the other:
// shares add up to 100, so a class can shrink because another one grew.
func note(c *ClassDelta) string {
	if c.HitBefore == nil || c.HitAfter == nil {
		return ""
	}
	switch {
	case c.Verdict == Shrank && *c.HitAfter > *c.HitBefore:
		return "smaller share although each hit costs more: another class grew"
	case c.Verdict == Grew && *c.HitAfter < *c.HitBefore:
		return "larger share although each hit costs less: another class shrank"
	}
	return ""
}
