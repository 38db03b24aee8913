package stalls

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/stall"
	"kdapilot/ui/view"
)

// The tables that can be sorted and filtered.
const (
	tClasses = iota
	tLines
	tInsts
	tWaits
	tBundles
	tables
)

func (s *Screen) table() int {
	if s.focus == bundles {
		return tBundles
	}
	return int(s.level) // the levels are the first tables
}

// order is one way to sort a table; the first of each is as it came.
type order struct {
	name   string
	bundle func(a, b *bundleView) int
	class  func(a, b *classView) int
	line   func(a, b *stall.LineShare) int
	inst   func(a, b *stall.Hotspot) int
	prod   func(a, b *stall.Producer) int
}

// orders are the ways to sort each table.
func orders() [tables][]order {
	return [tables][]order{
		tClasses: {
			{name: "by share"},
			{name: "by change", class: func(a, b *classView) int { return cmp.Compare(math.Abs(b.points()), math.Abs(a.points())) }},
			{name: "by cycles per hit", class: func(a, b *classView) int { return cmp.Compare(unknownLast(b.cost()), unknownLast(a.cost())) }},
			{name: "by name", class: func(a, b *classView) int { return cmp.Compare(a.Class, b.Class) }},
		},
		tLines: {
			{name: "by share"},
			{name: "by cycles per hit", line: func(a, b *stall.LineShare) int { return downNum(a.PerHit, b.PerHit) }},
			{name: "by hits", line: func(a, b *stall.LineShare) int { return cmp.Compare(b.Hits, a.Hits) }},
			{name: "by place", line: func(a, b *stall.LineShare) int { return byPlace(a.Source, b.Source) }},
		},
		tInsts: {
			{name: "by share"},
			{name: "by cycles per hit", inst: func(a, b *stall.Hotspot) int { return downNum(a.PerHit(), b.PerHit()) }},
			{name: "by hits", inst: func(a, b *stall.Hotspot) int { return cmp.Compare(b.Hit, a.Hit) }},
			{name: "in program order", inst: func(a, b *stall.Hotspot) int { return cmp.Compare(a.CodeLine, b.CodeLine) }},
		},
		tWaits: {
			{name: "in program order"},
			{name: "by source", prod: func(a, b *stall.Producer) int { return byPlace(a.Source, b.Source) }},
		},
		tBundles: {
			{name: "newest first"},
			{name: "by name", bundle: func(a, b *bundleView) int { return cmp.Compare(a.Name, b.Name) }},
			{name: "by state", bundle: func(a, b *bundleView) int { return cmp.Compare(a.state(), b.state()) }},
		},
	}
}

func unknownLast(v float64, ok bool) float64 {
	if !ok {
		return math.Inf(-1)
	}
	return v
}

func downNum(a, b *stall.Num) int { return cmp.Compare(numOr(b, -1), numOr(a, -1)) }

func numOr(n *stall.Num, other float64) float64 {
	if n == nil {
		return other
	}
	return float64(*n)
}

func byPlace(a, b string) int {
	pa, la, _ := stall.SplitSource(a)
	pb, lb, _ := stall.SplitSource(b)
	return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(la, lb), cmp.Compare(a, b))
}

// points is the change of the share; 0 without a base.
func (c *classView) points() float64 {
	if c.d == nil {
		return 0
	}
	return float64(c.d.DeltaPP)
}

// keep filters and sorts one table.
func keep[T any](s *Screen, t int, all []T, text func(*T) string, axis func(*T, string) (string, bool), by func(*order) func(a, b *T) int) []T {
	f := view.NewFilter(s.filter[t])
	out := make([]T, 0, len(all))
	for i := range all {
		if f.Empty() || f.Keep(text(&all[i]), func(n string) (string, bool) { return axis(&all[i], strings.ToLower(n)) }) {
			out = append(out, all[i])
		}
	}
	if o := &orders()[t][s.sort[t]]; by(o) != nil {
		slices.SortStableFunc(out, func(a, b T) int { return by(o)(&a, &b) })
	}
	if s.flip[t] {
		slices.Reverse(out)
	}
	return out
}

func (s *Screen) keepBundles(all []*bundleView) []*bundleView {
	return keep(s, tBundles, all,
		func(b **bundleView) string {
			return strings.Join([]string{(*b).Name, (*b).Kind, (*b).state(), (*b).question(), (*b).err}, " ")
		},
		func(b **bundleView, name string) (string, bool) {
			switch name {
			case "kind":
				return (*b).Kind, true
			case "state", "fresh":
				return (*b).state(), true
			case "kernel":
				if (*b).a != nil {
					return (*b).a.Trust.Kernel, true
				}
			}
			return "", false
		},
		func(o *order) func(a, b **bundleView) int {
			if o.bundle == nil {
				return nil
			}
			return func(a, b **bundleView) int { return o.bundle(*a, *b) }
		})
}

func (s *Screen) keepClasses(m *model) []classView {
	return keep(s, tClasses, m.ranked,
		func(c *classView) string {
			out := string(c.Class) + " " + meaning(c.Class) + " " + string(c.word())
			if c.isBubble {
				out += " bubble"
			}
			return out
		},
		func(c *classView, name string) (string, bool) {
			switch name {
			case "bubble":
				return yesNo(c.isBubble), true
			case "share":
				return strconv.FormatFloat(c.share(), 'f', -1, 64), true
			case "points":
				return strconv.FormatFloat(c.points(), 'f', -1, 64), c.d != nil
			case "hit", "perhit":
				v, ok := c.cost()
				return strconv.FormatFloat(v, 'f', -1, 64), ok
			}
			return "", false
		},
		func(o *order) func(a, b *classView) int { return o.class })
}

func (s *Screen) keepLines(m *model) []stall.LineShare {
	return keep(s, tLines, m.facts.linesOf(s.class),
		func(l *stall.LineShare) string { return l.Source + " " + string(l.Dom) },
		func(l *stall.LineShare, name string) (string, bool) {
			switch name {
			case "class":
				return l.OfClass.String(), true
			case "share":
				return l.OfAll.String(), true
			case "dom":
				return string(l.Dom), true
			case "hits":
				return strconv.FormatInt(l.Hits, 10), true
			case "perhit":
				return numText(l.PerHit), l.PerHit != nil
			case "line":
				_, n, ok := stall.SplitSource(l.Source)
				return strconv.Itoa(n), ok
			}
			return "", false
		},
		func(o *order) func(a, b *stall.LineShare) int { return o.line })
}

func (s *Screen) keepInsts(m *model) []stall.Hotspot {
	all := m.facts.instsOf(s.class)
	if !s.every {
		all = m.facts.instsAt(s.class, s.source)
	}
	return keep(s, tInsts, all,
		func(h *stall.Hotspot) string { return h.Addr + " " + h.Inst + " " + h.Source },
		func(h *stall.Hotspot, name string) (string, bool) {
			switch name {
			case "share":
				return m.facts.a.Bubbles.Of(h).String(), true
			case "hits":
				return strconv.FormatInt(h.Hit, 10), true
			case "perhit":
				p := h.PerHit()
				return numText(p), p != nil
			case "addr":
				return h.Addr, true
			}
			return "", false
		},
		func(o *order) func(a, b *stall.Hotspot) int { return o.inst })
}

func (s *Screen) keepProds(m *model) []stall.Producer {
	return keep(s, tWaits, m.facts.producersOf(s.inst),
		func(p *stall.Producer) string { return p.Inst + " " + p.Source },
		func(*stall.Producer, string) (string, bool) { return "", false },
		func(o *order) func(a, b *stall.Producer) int { return o.prod })
}

func numText(n *stall.Num) string {
	if n == nil {
		return ""
	}
	return n.String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
