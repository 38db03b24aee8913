package stalls

import (
	"cmp"
	"slices"
	"strings"

	"kdapilot/engine/session"
	"kdapilot/engine/stall"
	"kdapilot/ui/view"
)

// bundleView is one bundle with what was read of it.
type bundleView struct {
	session.Bundle
	short string
	a     *stall.Analysis // nil: not opened
	err   string          // why it could not be opened
	asked bool            // a person asked for it
}

// classView is one class on both sides.
type classView struct {
	stall.Class
	isBubble bool
	cand     *stall.ClassCost  // nil: no stall in the candidate
	d        *stall.ClassDelta // nil: no base
}

// facts are what was worked out of one analysis; they are kept as long as it is
// the same one.
type facts struct {
	a     *stall.Analysis
	costs []stall.ClassCost
	lines map[stall.Class][]stall.LineShare
	insts map[stall.Class][]stall.Hotspot
	at    map[spot][]stall.Hotspot
	prods map[int64][]stall.Producer
}

// spot is a source line seen through a class.
type spot struct {
	class  stall.Class
	source string
}

func newFacts(a *stall.Analysis) *facts {
	f := &facts{
		a: a, lines: map[stall.Class][]stall.LineShare{}, insts: map[stall.Class][]stall.Hotspot{},
		at: map[spot][]stall.Hotspot{}, prods: map[int64][]stall.Producer{},
	}
	if a != nil {
		f.costs = a.Costs()
	}
	return f
}

func (f *facts) linesOf(c stall.Class) []stall.LineShare {
	out, ok := f.lines[c]
	if !ok && f.a != nil {
		out = f.a.LinesOf(c)
		f.lines[c] = out
	}
	return out
}

func (f *facts) instsOf(c stall.Class) []stall.Hotspot {
	out, ok := f.insts[c]
	if !ok && f.a != nil {
		out = f.a.InstsOfClass(c)
		f.insts[c] = out
	}
	return out
}

func (f *facts) instsAt(c stall.Class, source string) []stall.Hotspot {
	out, ok := f.at[spot{c, source}]
	if ok || f.a == nil {
		return out
	}
	if f.a.Rows != nil {
		out = f.a.InstsOf(source, c)
	} else {
		for _, h := range f.instsOf(c) {
			if h.Source == source {
				out = append(out, h)
			}
		}
	}
	if len(f.at) > 256 {
		clear(f.at)
	}
	f.at[spot{c, source}] = out
	return out
}

func (f *facts) producersOf(line int64) []stall.Producer {
	out, ok := f.prods[line]
	if !ok && f.a != nil {
		out = f.a.ProducersOf(line)
		if len(f.prods) > 256 {
			clear(f.prods)
		}
		f.prods[line] = out
	}
	return out
}

// model is what the lists show: filtered and sorted, selection left out.
type model struct {
	snap       *session.Snapshot
	all        []*bundleView // as in the snapshot, newest first
	bundles    []*bundleView
	cand, base *bundleView // nil: none; its analysis may be nil
	facts      *facts
	delta      *stall.Delta // nil: no base, or one side is not read
	ranked     []classView  // all classes, by rank
	classes    []classView
	lines      []stall.LineShare
	insts      []stall.Hotspot
	prods      []stall.Producer
}

// key is what the lists depend on; most snapshots (a growing log, a new round)
// change nothing of it.
type key struct {
	cand, base *stall.Analysis
	level      level
	class      stall.Class
	source     string
	every      bool
	inst       int64
	filter     [tables]string
	sort       [tables]int
	flip       [tables]bool
}

type cache struct {
	key   key
	m     *model
	facts *facts
	pair  [2]*stall.Analysis
	delta *stall.Delta
	list  []*bundleView
	of    *session.Snapshot
	asked int
}

func (s *Screen) model(e *view.Env) *model {
	c := &s.cache
	fresh := c.of == e.Snap && c.asked == len(s.asked)
	if !fresh {
		c.list, c.of, c.asked = s.list(e.Snap), e.Snap, len(s.asked)
	}
	cand, base := s.pair(c.list)
	want := key{level: s.level, class: s.class, source: s.source, every: s.every, inst: s.inst, filter: s.filter, sort: s.sort, flip: s.flip}
	want.cand, want.base = analysisOf(cand), analysisOf(base)
	if c.m != nil && c.key == want {
		if fresh && c.m.cand == cand && c.m.base == base {
			return c.m
		}
		m := *c.m
		m.snap, m.all, m.cand, m.base = e.Snap, c.list, cand, base
		m.bundles = s.keepBundles(c.list)
		c.m = &m
		return c.m
	}
	if c.facts == nil || c.facts.a != want.cand {
		c.facts = newFacts(want.cand)
	}
	if pair := [2]*stall.Analysis{want.base, want.cand}; c.pair != pair {
		c.pair, c.delta = pair, nil
		if want.base != nil && want.cand != nil {
			d := stall.Compare(want.base, want.cand, 0)
			c.delta = &d
		}
	}
	m := &model{snap: e.Snap, all: c.list, bundles: s.keepBundles(c.list), cand: cand, base: base, facts: c.facts, delta: c.delta}
	s.fill(m)
	c.key, c.m = want, m
	return m
}

func analysisOf(b *bundleView) *stall.Analysis {
	if b == nil {
		return nil
	}
	return b.a
}

// list joins the bundles with what was read of them. What a person opened by
// path is listed although nobody found it.
func (s *Screen) list(snap *session.Snapshot) []*bundleView {
	var out []*bundleView
	seen := map[string]bool{}
	add := func(b session.Bundle) {
		seen[b.Path] = true
		out = append(out, &bundleView{Bundle: b, a: snap.Analyses[b.Path], err: snap.AnalysisErrs[b.Path], asked: s.asked[b.Path]})
	}
	for _, b := range snap.Bundles {
		add(b)
	}
	for _, path := range []string{s.cand, s.base} {
		if path != "" && !seen[path] {
			add(session.Bundle{Path: path, Name: path, Kind: "opened"})
		}
	}
	short := shortNames(out)
	for i := range out {
		out[i].short = short[i]
	}
	return out
}

// pair finds the candidate, the newest unless a person picked one, and the
// base, which only a person picks.
func (s *Screen) pair(all []*bundleView) (cand, base *bundleView) {
	for _, b := range all {
		if b.Path == s.cand {
			cand = b
		}
		if b.Path == s.base {
			base = b
		}
	}
	if cand == nil && len(all) > 0 {
		cand = all[0]
	}
	if base == cand {
		base = nil
	}
	return cand, base
}

// natural is where the cursor goes to pick a base: the next older opened bundle
// of the same kernel, else the next older one.
func (m *model) natural() string {
	i := slices.Index(m.all, m.cand)
	kernel := ""
	if a := analysisOf(m.cand); a != nil {
		kernel = a.Trust.Kernel
	}
	for _, b := range m.all[i+1:] {
		if b.a != nil && b.a.Trust.Kernel == kernel {
			return b.Path
		}
	}
	if i+1 < len(m.all) {
		return m.all[i+1].Path
	}
	return m.all[0].Path
}

func (s *Screen) fill(m *model) {
	m.ranked = rankedClasses(m)
	m.classes = s.keepClasses(m)
	if s.level >= lines && !s.every {
		m.lines = s.keepLines(m)
	}
	if s.level >= insts {
		m.insts = s.keepInsts(m)
	}
	if s.level == waits {
		m.prods = s.keepProds(m)
	}
}

func rankedClasses(m *model) []classView {
	var out []classView
	costs := m.facts.costs
	find := func(c stall.Class) *stall.ClassCost {
		for i := range costs {
			if costs[i].Class == c {
				return &costs[i]
			}
		}
		return nil
	}
	if m.delta == nil {
		for i := range costs {
			out = append(out, classView{Class: costs[i].Class, isBubble: costs[i].IsBubble, cand: &costs[i]})
		}
		return out
	}
	for i := range m.delta.Classes {
		d := &m.delta.Classes[i]
		out = append(out, classView{Class: d.Class, isBubble: d.IsBubble, cand: find(d.Class), d: d})
	}
	slices.SortStableFunc(out, func(a, b classView) int { return cmp.Compare(b.share(), a.share()) })
	return out
}

func (c *classView) share() float64 {
	if c.cand == nil {
		return 0
	}
	return float64(c.cand.Pct)
}

// cost is the stall cycles of one hit; ok is false when nobody counted.
func (c *classView) cost() (float64, bool) {
	if c.cand == nil || c.cand.PerHit == nil {
		return 0, false
	}
	return float64(*c.cand.PerHit), true
}

func (m *model) classesOf() []stall.Class {
	out := make([]stall.Class, len(m.ranked))
	for i := range m.ranked {
		out[i] = m.ranked[i].Class
	}
	return out
}

// view returns one class, or nil.
func (m *model) view(c stall.Class) *classView {
	for i := range m.ranked {
		if m.ranked[i].Class == c {
			return &m.ranked[i]
		}
	}
	return nil
}

// hot returns the instruction that is drilled into, or nil.
func (m *model) hot(line int64) *stall.Hotspot {
	for i := range m.insts {
		if m.insts[i].CodeLine == line {
			return &m.insts[i]
		}
	}
	return nil
}

// shortNames leaves out the folders that all names begin or end with.
func shortNames(all []*bundleView) []string {
	out := make([]string, len(all))
	parts := make([][]string, len(all))
	for i, b := range all {
		out[i], parts[i] = b.Name, strings.Split(b.Name, "/")
	}
	if len(all) < 2 {
		return out
	}
	// At least one part of every name stays.
	shared := func(same func(p []string, n int) bool) int {
		n := len(parts[0]) - 1
		for _, p := range parts {
			for n = min(n, len(p)-1); n > 0 && !same(p, n); n-- {
			}
		}
		return n
	}
	head := shared(func(p []string, n int) bool { return slices.Equal(p[:n], parts[0][:n]) })
	for i := range parts {
		parts[i] = parts[i][head:]
	}
	tail := shared(func(p []string, n int) bool {
		return slices.Equal(p[len(p)-n:], parts[0][len(parts[0])-n:])
	})
	for i, p := range parts {
		out[i] = strings.Join(p[:len(p)-tail], "/")
	}
	return out
}
