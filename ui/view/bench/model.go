package bench

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/view"
	"kdapilot/ui/view/bench/cellname"
)

const sep = "\x00"

// cellView is one cell with the rows it was made of; nil where a side has none.
type cellView struct {
	*bench.Cell
	id         string
	base, cand *bench.Row
}

// rowView is one row of a set that is shown alone.
type rowView struct {
	id  string
	row *bench.Row
}

// model is what the lists show: filtered and sorted, selection left out.
type model struct {
	snap       *session.Snapshot
	delta      *session.Delta
	base, cand *session.RowSet
	lone       string // id of the set to show when there is no delta
	nBase      int    // most runs of a cell, by side
	nCand      int
	rowsOf     [2]map[string]*bench.Row
	regimes    []*bench.RegimeResult
	cells      []cellView
	rows       []rowView
	names      cellname.Shortener
	nameW      int // cells the longest shortened name takes
}

// cache keeps the model as long as nothing it depends on changes. Most
// snapshots (a growing log, a new round) change neither sets nor delta.
type cache struct {
	m      *model
	filter string
	regime string
	open   bool
	all    bool
	sort   [3]int
	flip   [3]bool
	set    string
}

func (s *Screen) model(e *view.Env) *model {
	want := cache{filter: s.filter, regime: s.regime, open: s.open, all: s.level == regimes, sort: s.sort, flip: s.flip, set: s.selSet}
	have, old := s.cache, s.cache.m
	have.m = nil
	if old != nil && have == want && old.delta == e.Snap.Delta && sameSets(old.snap, e.Snap) {
		if old.snap != e.Snap {
			old.snap = e.Snap
			old.pair()
		}
		return old
	}
	m := &model{snap: e.Snap, delta: e.Snap.Delta}
	s.fill(m)
	m.measure()
	want.m = m
	s.cache = want
	return m
}

func sameSets(a, b *session.Snapshot) bool {
	return a == b || slices.EqualFunc(a.Sets, b.Sets, func(x, y session.RowSet) bool { return x.ID == y.ID && x.Result == y.Result })
}

// pair finds the two sets of the delta, or the set that is shown alone.
func (m *model) pair() {
	if d := m.delta; d != nil {
		m.base, m.cand = m.snap.Set(d.Base), m.snap.Set(d.Cand)
		return
	}
	if m.cand = m.snap.Set(m.lone); m.cand == nil && len(m.snap.Sets) > 0 {
		m.cand = &m.snap.Sets[0]
	}
}

func (s *Screen) fill(m *model) {
	m.lone = s.selSet
	m.pair()
	if m.delta == nil {
		m.rows = s.listRows(m.cand)
		m.names = cellname.New(len(m.rows), func(i int) (string, string) { return m.rows[i].row.Section, m.rows[i].row.Key })
		return
	}
	if old := s.cache.m; old != nil && old.delta == m.delta && same(old.base, m.base) && same(old.cand, m.cand) {
		m.rowsOf = old.rowsOf
	} else {
		m.rowsOf[0], m.rowsOf[1] = index(m.base), index(m.cand)
	}
	c := &m.delta.Comparison
	for i := range c.Cells {
		m.nBase, m.nCand = max(m.nBase, c.Cells[i].NBase), max(m.nCand, c.Cells[i].NCand)
	}
	s.listCells(m)
	s.listRegimes(m)
	m.names = cellname.New(len(m.cells), func(i int) (string, string) { return m.cells[i].Section, m.cells[i].Key })
}

func (m *model) measure() {
	m.nameW = 4
	for i := range m.cells {
		m.nameW = max(m.nameW, draw.Width(m.names.Short(m.cells[i].Section, m.cells[i].Key)))
	}
	for i := range m.rows {
		m.nameW = max(m.nameW, draw.Width(m.names.Short("", m.rows[i].row.Key)))
	}
}

func same(a, b *session.RowSet) bool { return a != nil && b != nil && a.Result == b.Result }

func index(set *session.RowSet) map[string]*bench.Row {
	out := map[string]*bench.Row{}
	if set == nil || set.Result == nil {
		return out
	}
	all := set.Result.AllRows()
	for i := range all {
		out[all[i].Section+sep+all[i].Key] = &all[i]
	}
	return out
}

func (s *Screen) listCells(m *model) {
	f := view.NewFilter(s.filter)
	all := m.delta.Comparison.Cells
	for i := range all {
		c := cellView{Cell: &all[i], id: all[i].Section + sep + all[i].Key}
		c.base, c.cand = m.rowsOf[0][c.id], m.rowsOf[1][c.id]
		if s.level != regimes && s.regime != "" && c.Regime != s.regime {
			continue
		}
		if s.open && settled(c.Cell) || !f.Empty() && !f.Keep(c.text(), c.axis) {
			continue
		}
		m.cells = append(m.cells, c)
	}
	if k := s.sort[tCells]; k > 0 {
		by := orders()[tCells][k].cell
		slices.SortStableFunc(m.cells, func(a, b cellView) int { return by(&a, &b) })
	}
	if s.flip[tCells] {
		slices.Reverse(m.cells)
	}
}

// settled: a cell that asks for nothing more.
func settled(c *bench.Cell) bool { return c.Verdict == bench.Faster || c.Verdict == bench.Same }

func (c *cellView) text() string {
	return strings.Join([]string{c.Key, c.Section, c.Regime, string(c.Verdict), c.Why, status(c.base), status(c.cand), strings.Join(c.Flags, " ")}, " ")
}

// axis gives a cell's value for filters: the axes of its rows, and the numbers
// of the comparison.
func (c *cellView) axis(name string) (string, bool) {
	switch strings.ToLower(name) {
	case "verdict":
		return string(c.Verdict), true
	case "regime":
		return c.Regime, true
	case "ratio":
		return c.Ratio.String(), c.Ratio.OK
	case "us":
		return c.CandMedian.String(), c.CandMedian.OK
	}
	for _, r := range []*bench.Row{c.cand, c.base} {
		if v, ok := rowAxis(r, name); ok {
			return v, true
		}
	}
	return "", false
}

func rowAxis(r *bench.Row, name string) (string, bool) {
	if r == nil {
		return "", false
	}
	switch strings.ToLower(name) {
	case "status":
		return string(r.Status), true
	case "us":
		return r.US.String(), r.US.OK
	case "max_err":
		return r.MaxErr.String(), r.MaxErr.OK
	case "min_cos":
		return r.MinCos.String(), r.MinCos.OK
	case "section":
		return r.Section, r.Section != ""
	}
	if v, ok := r.Fields.Get(name); ok {
		return v.Text(), true
	}
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value.Text(), true
		}
	}
	return "", false
}

// listRegimes keeps a regime that has a cell left; its numbers stay those of
// all its cells.
func (s *Screen) listRegimes(m *model) {
	left := map[string]bool{}
	if s.level == regimes {
		for i := range m.cells {
			left[m.cells[i].Regime] = true
		}
	}
	all := m.delta.Comparison.Regimes
	for i := range all {
		if s.level != regimes || left[all[i].Name] || s.filter == "" && !s.open {
			m.regimes = append(m.regimes, &all[i])
		}
	}
	if k := s.sort[tRegimes]; k > 0 {
		by := orders()[tRegimes][k].regime
		slices.SortStableFunc(m.regimes, by)
	}
	if s.flip[tRegimes] {
		slices.Reverse(m.regimes)
	}
}

func (s *Screen) listRows(set *session.RowSet) []rowView {
	if set == nil || set.Result == nil {
		return nil
	}
	f := view.NewFilter(s.filter)
	all := set.Result.AllRows()
	var out []rowView
	for i := range all {
		r := &all[i]
		if s.open && r.Status.Class() == bench.ClassPass && len(r.Warnings) == 0 {
			continue
		}
		text := r.Key + " " + r.Section + " " + string(r.Status) + " " + r.Error + " " + strings.Join(r.Warnings, " ")
		if !f.Empty() && !f.Keep(text, func(n string) (string, bool) { return rowAxis(r, n) }) {
			continue
		}
		out = append(out, rowView{r.Section + sep + r.Key, r})
	}
	if k := s.sort[tRows]; k > 0 {
		by := orders()[tRows][k].row
		slices.SortStableFunc(out, func(a, b rowView) int { return by(a.row, b.row) })
	}
	if s.flip[tRows] {
		slices.Reverse(out)
	}
	return out
}

// The tables that can be sorted.
const (
	tRegimes = iota
	tCells
	tRows
)

func (s *Screen) table(m *model) int {
	switch {
	case m.delta == nil:
		return tRows
	case s.level == regimes:
		return tRegimes
	default:
		return tCells
	}
}

// order is one way to sort a table; the first of each is as it came.
type order struct {
	name   string
	regime func(a, b *bench.RegimeResult) int
	cell   func(a, b *cellView) int
	row    func(a, b *bench.Row) int
}

// orders are the ways to sort each table.
func orders() [3][]order {
	return [3][]order{
		{
			{name: "as run"},
			{name: "worst", regime: func(a, b *bench.RegimeResult) int { return down(a.Max, b.Max) }},
			{name: "geomean", regime: func(a, b *bench.RegimeResult) int { return down(a.Geomean, b.Geomean) }},
			{name: "holes", regime: func(a, b *bench.RegimeResult) int { return cmp.Compare(len(b.Holes), len(a.Holes)) }},
			{name: "name", regime: func(a, b *bench.RegimeResult) int { return cmp.Compare(a.Name, b.Name) }},
		},
		{
			{name: "as run"},
			{name: "slowest first", cell: func(a, b *cellView) int { return down(a.Ratio, b.Ratio) }},
			{name: "verdict", cell: func(a, b *cellView) int { return cmp.Compare(grade(a.Cell), grade(b.Cell)) }},
			{name: "time", cell: func(a, b *cellView) int { return down(a.CandMedian, b.CandMedian) }},
			{name: "key", cell: func(a, b *cellView) int { return cmp.Compare(a.Key, b.Key) }},
		},
		{
			{name: "as run"},
			{name: "status", row: func(a, b *bench.Row) int { return cmp.Compare(severity(a), severity(b)) }},
			{name: "time", row: func(a, b *bench.Row) int { return down(a.US, b.US) }},
			{name: "key", row: func(a, b *bench.Row) int { return cmp.Compare(a.Key, b.Key) }},
		},
	}
}

// down sorts the largest first; what has no number comes before everything,
// because it is the one to look at.
func down(a, b bench.Num) int {
	v := func(n bench.Num) float64 {
		if !n.OK || math.IsNaN(n.V) {
			return math.Inf(1)
		}
		return n.V
	}
	return cmp.Compare(v(b), v(a))
}

func grade(c *bench.Cell) int {
	return slices.Index([]bench.CellVerdict{bench.NotComparable, bench.Slower, bench.Undecided, bench.Same, bench.Faster}, c.Verdict)
}

func severity(r *bench.Row) int {
	return [...]int{bench.ClassUngated: 2, bench.ClassPass: 3, bench.ClassFail: 0, bench.ClassSkip: 1}[r.Status.Class()]
}

// Where the selection is in a list: the selected one, else the first; -1 when
// the list is empty.

func (m *model) setAt(id string) int {
	return slices.IndexFunc(m.snap.Sets, func(x session.RowSet) bool { return x.ID == id })
}

func (s *Screen) regimeAt(m *model) int {
	return at(len(m.regimes), slices.IndexFunc(m.regimes, func(r *bench.RegimeResult) bool { return r.Name == s.selRegime }))
}

func (s *Screen) cellAt(m *model) int {
	return at(len(m.cells), slices.IndexFunc(m.cells, func(c cellView) bool { return c.id == s.selCell }))
}

func (s *Screen) rowAt(m *model) int {
	return at(len(m.rows), slices.IndexFunc(m.rows, func(r rowView) bool { return r.id == s.selRow }))
}

func at(n, i int) int {
	if n == 0 {
		return -1
	}
	return max(i, 0)
}
