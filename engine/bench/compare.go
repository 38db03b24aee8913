package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// minRank is the least number of repeats per side for the rank test and its
// interval; below it the pooled t interval speaks.
const minRank = 5

// Compare joins two arms by cell key and says what can be said about each
// cell, each regime and the whole. It is deterministic for equal input and
// seed. Cells that are missing, failed or skipped on either side get no delta,
// stay in every denominator, and make the whole incomplete or failed.
func Compare(base, cand Arm, opt Options) Comparison {
	opt = opt.withDefaults()
	c := &comparer{opt: opt, rank: newRanker(), dice: dice{rng: rand.New(rand.NewPCG(opt.Seed, 0x6b64615f62656e63))}}
	c.baseRuns, c.candRuns = len(base.Runs), len(cand.Runs)
	c.join(base, cand)
	c.pools()
	out := Comparison{Base: base.Label, Cand: cand.Label, Alpha: opt.Alpha, Cells: make([]Cell, len(c.pairs))}
	for i, p := range c.pairs {
		out.Cells[i] = c.cell(p)
	}
	c.holm(out.Cells)
	out.Regimes, out.Overall = c.regimes(out.Cells)
	for _, p := range c.pairs {
		if p.base.runs == 0 && p.cand.runs > 0 {
			out.New = append(out.New, p.key)
		}
	}
	out.ByChance = c.byChance(out.Cells)
	out.Verdict, out.Why = c.overall(out.Cells)
	out.Notes = c.notes(out.Cells)
	if !opt.KeepSamples {
		for i := range out.Cells {
			out.Cells[i].Base, out.Cells[i].Cand = nil, nil
		}
	}
	return out
}

func (o Options) withDefaults() Options {
	if o.Alpha <= 0 || o.Alpha >= 1 {
		o.Alpha = 0.05
	}
	if o.Resamples <= 0 {
		o.Resamples = 2000
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.StepUS <= 0 {
		o.StepUS = 0.1
	}
	if o.Regime == nil {
		o.Regime = DefaultRegime
	}
	return o
}

// side is one arm of one cell.
type side struct {
	us, logs []float64
	// runs counts the runs that have the cell; the others count by class.
	runs                 int
	failed, skipped, nan int
	untimed              int
	first                string
}

// add takes one run's row of the cell.
func (s *side) add(r *Row) {
	s.runs++
	note := func(n *int, why string) {
		*n++
		if s.first == "" {
			s.first = why
		}
	}
	switch {
	case r.Bad():
		note(&s.failed, string(r.Status))
	case r.Status.Class() == ClassSkip:
		note(&s.skipped, string(r.Status))
	case saysNaN(r):
		note(&s.nan, "NaN or Inf in the output")
	case gateWord(r) == "fail":
		note(&s.failed, "fails the gate")
	case !r.US.Positive():
		note(&s.untimed, string(r.Status)+" without a time")
	default:
		s.us = append(s.us, r.US.V)
		s.logs = append(s.logs, math.Log(r.US.V))
	}
}

// clean reports whether every run of the cell passed and was timed.
func (s *side) clean() bool {
	return len(s.us) > 0 && s.failed+s.skipped+s.nan+s.untimed == 0
}

// pair is one cell of both arms.
type pair struct {
	key, section, regime string
	base, cand           side
	required             bool
}

type comparer struct {
	opt   Options
	pairs []*pair
	// baseRuns and candRuns are how many runs the arms have.
	baseRuns, candRuns int

	rank  *ranker
	dice  dice
	pool  map[string]*pool
	whole pool
	// quiet marks regimes whose repeats show a quiet node.
	quiet map[string]bool
	buf   []float64
}

// join files every row of both arms under its cell, in the order of the base,
// then of what only the candidate has, then of required cells nobody has.
func (c *comparer) join(base, cand Arm) {
	type id struct{ section, key string }
	index := make(map[id]*pair)
	at := func(r *Row) *pair {
		k := id{r.Section, r.Key}
		p := index[k]
		if p == nil {
			p = &pair{key: r.Key, section: r.Section, regime: c.opt.Regime(r)}
			index[k] = p
			c.pairs = append(c.pairs, p)
		}
		return p
	}
	for _, run := range base.Runs {
		for i := range run {
			at(&run[i]).base.add(&run[i])
		}
	}
	for _, run := range cand.Runs {
		for i := range run {
			at(&run[i]).cand.add(&run[i])
		}
	}
	have := make(map[string]bool, len(index))
	for k := range index {
		have[k.key] = true
	}
	for _, key := range c.opt.Required {
		if !have[key] {
			have[key] = true
			c.pairs = append(c.pairs, &pair{key: key, regime: "required", required: true})
		}
	}
}

// pools gathers the within-arm variance per regime and decides where the
// repeats themselves show a quiet node.
func (c *comparer) pools() {
	c.pool, c.quiet = make(map[string]*pool), make(map[string]bool)
	least := make(map[string]int)
	for _, p := range c.pairs {
		g := c.pool[p.regime]
		if g == nil {
			g = &pool{}
			c.pool[p.regime] = g
		}
		if !p.base.clean() || !p.cand.clean() {
			continue
		}
		for _, logs := range [...][]float64{p.base.logs, p.cand.logs} {
			g.add(logs)
			c.whole.add(logs)
		}
		n := min(len(p.base.us), len(p.cand.us))
		if l, ok := least[p.regime]; !ok || n < l {
			least[p.regime] = n
		}
	}
	for name, g := range c.pool {
		c.quiet[name] = least[name] >= minRank && g.spread() < 0.01
	}
}

// floor is the fraction below which a change of this cell does not count.
func (c *comparer) floor(p *pair, baseUS float64) float64 {
	f := c.opt.Floor
	if f == (Floor{}) {
		if f = Shared(); c.quiet[p.regime] {
			f = Quiet()
		}
	}
	return max(f.At(baseUS), c.opt.CellFloor[p.key])
}

// cell compares one cell.
func (c *comparer) cell(p *pair) Cell {
	out := Cell{Key: p.key, Section: p.section, Regime: p.regime, NBase: len(p.base.us), NCand: len(p.cand.us),
		Verdict: NotComparable, Base: p.base.us, Cand: p.cand.us}
	if out.NBase > 0 {
		out.BaseMedian = Of(Median(p.base.us))
	}
	if out.NCand > 0 {
		out.CandMedian = Of(Median(p.cand.us))
	}
	if out.Why = c.refuse(p); out.Why != "" {
		return out
	}
	c.measure(p, &out)
	c.judge(p, &out)
	c.flag(p, &out)
	return out
}

// refuse says why a cell has no delta, "" when it has one. Correctness comes
// before speed.
func (c *comparer) refuse(p *pair) string {
	b, k := &p.base, &p.cand
	switch {
	case p.required:
		return "required, and neither side has it"
	case len(c.opt.Differs) > 0:
		return "the manifests differ: " + c.opt.Differs[0]
	case k.runs == 0:
		return "missing: the candidate has no such cell"
	case b.runs == 0:
		return "new: the base has no such cell"
	case k.runs < c.candRuns:
		return fmt.Sprintf("missing: in %d of %d runs of the candidate", c.candRuns-k.runs, c.candRuns)
	case b.runs < c.baseRuns:
		return fmt.Sprintf("missing: in %d of %d runs of the base", c.baseRuns-b.runs, c.baseRuns)
	}
	for _, s := range [...]struct {
		who string
		s   *side
	}{{"candidate", k}, {"base", b}} {
		switch {
		case s.s.failed > 0:
			return fmt.Sprintf("%s %s in %d of %d runs", s.who, s.s.first, s.s.failed, s.s.runs)
		case s.s.nan > 0:
			return fmt.Sprintf("%s: NaN or Inf in the output in %d of %d runs", s.who, s.s.nan, s.s.runs)
		case s.s.skipped > 0:
			return fmt.Sprintf("%s %s in %d of %d runs", s.who, s.s.first, s.s.skipped, s.s.runs)
		case s.s.untimed > 0:
			return fmt.Sprintf("%s: no time in %d of %d runs", s.who, s.s.untimed, s.s.runs)
		}
	}
	return ""
}

// measure fills ratio, interval and probability by what n allows.
func (c *comparer) measure(p *pair, out *Cell) {
	nb, nc := len(p.base.us), len(p.cand.us)
	shift, lo, hi, ok := c.rank.hodgesLehmann(p.base.logs, p.cand.logs, c.opt.Alpha)
	out.Ratio = Of(math.Exp(shift))
	out.Floor = c.floor(p, out.BaseMedian.V)
	if nb == 1 || nc == 1 { // whatever the other side has: a single process proves nothing
		out.Method = "band"
		return
	}
	u, prob := c.rank.mannWhitney(p.base.us, p.cand.us)
	out.U, out.P = Of(u), Of(prob)
	if nb >= minRank && nc >= minRank {
		out.Method = "exact"
		if nb > exactLimit || nc > exactLimit {
			out.Method = "normal"
		}
		if ok {
			out.CI95 = &[2]float64{math.Exp(lo), math.Exp(hi)}
		}
		return
	}
	out.Method = "pooled-t"
	g := *c.pool[p.regime]
	if g.df < 6 && c.whole.df > g.df {
		g = c.whole
	}
	lo, hi, _, ok = studentInterval(shift, nb, nc, g, c.opt.StepUS/out.BaseMedian.V, c.opt.Alpha)
	if ok {
		out.CI95 = &[2]float64{math.Exp(lo), math.Exp(hi)}
	}
}

// judge turns interval and floor into a word. Source: contracts' noise
// section, recommendation 4.
func (c *comparer) judge(p *pair, out *Cell) {
	r, f := out.Ratio.V, max(out.Floor, c.opt.Bar)
	out.Verdict = Undecided
	if out.CI95 == nil {
		out.Band = "within"
		if r < 1-out.Floor {
			out.Band = "outside faster"
		} else if r > 1+out.Floor {
			out.Band = "outside slower"
		}
		out.Why = fmt.Sprintf("n=%d/%d gives no interval: %s the band of ±%.2g %%; 5 runs a side decide", out.NBase, out.NCand, out.Band, 100*out.Floor)
		return
	}
	lo, hi := out.CI95[0], out.CI95[1]
	switch {
	case hi < 1 && r < 1-f:
		out.Verdict = Faster
	case lo > 1 && r > 1+out.Floor:
		out.Verdict = Slower
	case lo >= 1-out.Floor && hi <= 1+out.Floor:
		out.Verdict = Same
	case hi < 1 && r < 1-out.Floor:
		out.Why = fmt.Sprintf("faster than the floor, and below the bar of %.3g %%", 100*c.opt.Bar)
	case lo <= 1 && hi >= 1:
		out.Why = fmt.Sprintf("the interval holds 1 and leaves the floor of ±%.2g %%: run more", 100*out.Floor)
	default:
		out.Why = fmt.Sprintf("the interval excludes 1, the change is inside the floor of ±%.2g %%", 100*out.Floor)
	}
	if out.Method == "pooled-t" {
		note := fmt.Sprintf("n=%d/%d: the rank test can not go below p=%.2g; the interval is a t interval on pooled variance", out.NBase, out.NCand, LeastP(out.NBase, out.NCand))
		if out.Why == "" {
			out.Why = note
		} else {
			out.Why += "; " + note
		}
	}
}

// flag marks samples that a reader should look at.
func (c *comparer) flag(p *pair, out *Cell) {
	if bimodal(p.base.us) || bimodal(p.cand.us) {
		out.Flags = append(out.Flags, "bimodal")
	}
	if drifting(p.base.us) || drifting(p.cand.us) {
		out.Flags = append(out.Flags, "drift")
	}
	if wide(p.base.us) || wide(p.cand.us) {
		out.Flags = append(out.Flags, "spread")
	}
	if TooGood(out) {
		out.Flags = append(out.Flags, "over 10x: needs a second clock")
	}
	if c.opt.StepUS/out.BaseMedian.V > 0.005 {
		out.Flags = append(out.Flags, "quantised")
	}
}

// holm corrects over all tested cells and marks words that do not survive.
func (c *comparer) holm(cells []Cell) {
	var at []int
	var p []float64
	for i := range cells {
		if cells[i].P.OK && cells[i].Method != "pooled-t" {
			at, p = append(at, i), append(p, cells[i].P.V)
		}
	}
	for i, v := range Holm(p) {
		cell := &cells[at[i]]
		cell.PHolm = Of(v)
		if v > c.opt.Alpha && (cell.Verdict == Faster || cell.Verdict == Slower) {
			cell.Flags = append(cell.Flags, "not after holm")
		}
	}
}

// byChance is the number of tested cells times alpha.
func (c *comparer) byChance(cells []Cell) float64 {
	n := 0
	for i := range cells {
		if cells[i].CI95 != nil {
			n++
		}
	}
	return float64(n) * c.opt.Alpha
}

// saysNaN reports a NaN or Inf that a gate may have let pass.
func saysNaN(r *Row) bool {
	return r.MaxErr.OK && !r.MaxErr.Finite() || r.MinCos.OK && !r.MinCos.Finite() ||
		slices.ContainsFunc(r.Warnings, mentionsNaN)
}
