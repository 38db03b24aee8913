package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// DefaultRegime groups cells by what usually takes another path in a kernel:
// section, operation, stage, data type, mask and mode, as far as a row has
// them.
func DefaultRegime(r *Row) string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	add(r.Section)
	for _, n := range [...]string{"op", "provider", "stage", "dtype"} {
		add(r.Axis(n).Text())
	}
	if v, ok := r.Axis("causal").Truth(); ok {
		if v {
			add("causal")
		} else {
			add("nocausal")
		}
	}
	add(r.Axis("mode").Text())
	if sp := r.Axis("kv_sp").Num(); sp.OK && sp.V > 1 {
		add("split-K")
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, " ")
}

// regimes sums up every group in order of first appearance, and the whole.
func (c *comparer) regimes(cells []Cell) ([]RegimeResult, RegimeResult) {
	logs := c.replicas(cells)
	order, members := []string{}, map[string][]int{}
	all := make([]int, len(cells))
	for i := range cells {
		all[i] = i
		name := cells[i].Regime
		if _, ok := members[name]; !ok {
			order = append(order, name)
		}
		members[name] = append(members[name], i)
	}
	out := make([]RegimeResult, 0, len(order))
	for _, name := range order {
		out = append(out, c.sum(name, cells, members[name], logs))
	}
	if len(out) == 1 {
		whole := out[0]
		whole.Name = "all"
		return out, whole
	}
	return out, c.sum("all", cells, all, logs)
}

// replicas draws the bootstrap replicates of every cell that has a delta.
func (c *comparer) replicas(cells []Cell) [][]float64 {
	out := make([][]float64, len(cells))
	m := replicates(len(cells))
	for i, p := range c.pairs {
		if !cells[i].Ratio.OK {
			continue
		}
		n := m
		if len(p.base.logs) == 1 && len(p.cand.logs) == 1 {
			n = 1
		}
		out[i] = make([]float64, n)
		c.buf = c.dice.resampleCell(p.base.logs, p.cand.logs, out[i], c.buf)
	}
	return out
}

// sum makes the summary of one group.
func (c *comparer) sum(name string, cells []Cell, at []int, replicas [][]float64) RegimeResult {
	g := RegimeResult{Name: name, N: len(at), Holes: []Hole{}}
	var total, medians float64
	var drawn [][]float64
	for _, i := range at {
		cell := &cells[i]
		if !cell.Ratio.OK {
			g.Holes = append(g.Holes, Hole{cell.Key, cell.Why})
			continue
		}
		r := cell.Ratio.V
		total += math.Log(r)
		medians += math.Log(cell.CandMedian.V / cell.BaseMedian.V)
		drawn = append(drawn, replicas[i])
		if !g.Min.OK || r < g.Min.V {
			g.Min = Of(r)
		}
		if !g.Max.OK || r > g.Max.V {
			g.Max, g.Worst = Of(r), cell.Key
		}
		g.tally(cell)
	}
	if len(drawn) > 0 {
		g.OfMedians = Of(math.Exp(medians / float64(len(drawn))))
		g.Geomean = Of(math.Exp(total / float64(len(drawn))))
		g.GeomeanCI = c.dice.geomeanInterval(drawn, c.opt.Resamples, c.opt.Alpha)
	}
	return g
}

func (g *RegimeResult) tally(cell *Cell) {
	switch cell.Verdict {
	case Faster:
		g.Wins++
	case Slower:
		g.Losses++
	case Same:
		g.Same++
	case Undecided:
		g.Undecided++
	}
	switch cell.Band {
	case "outside faster":
		g.OutsideFaster++
	case "outside slower":
		g.OutsideSlower++
	}
}

// overall gives the word for the whole. A hole is never passed over: it makes
// the whole failed or incomplete. Faster needs a faster cell, and every other
// cell shown not to be slower than its floor.
func (c *comparer) overall(cells []Cell) (CompareVerdict, string) {
	if len(c.opt.Differs) > 0 {
		return VerdictNotComparable, "the manifests differ: " + strings.Join(c.opt.Differs, ", ")
	}
	if b := c.opt.CandBroken; len(b) > 0 {
		return VerdictFailed, fmt.Sprintf("%d run(s) of the candidate can not be trusted, first %s", len(b), b[0])
	}
	if b := c.opt.BaseBroken; len(b) > 0 {
		return VerdictNotComparable, fmt.Sprintf("%d run(s) of the base can not be trusted, first %s", len(b), b[0])
	}
	if len(cells) == 0 {
		return VerdictIncomplete, "no cell on either side"
	}
	n := tally{alpha: c.opt.Alpha}
	for i, p := range c.pairs {
		n.add(p, &cells[i])
	}
	return n.word(len(cells))
}

// tally counts cells for the overall word.
type tally struct {
	faster, slower, same, undecided, open, holes, broken int
	firstHole, firstBroken, firstSlower                  string
	// tested are the cells with an interval; firm are slower cells that stand by
	// themselves.
	tested, firm int
	alpha        float64
}

func (n *tally) add(p *pair, cell *Cell) {
	if cell.CI95 != nil {
		n.tested++
	}
	switch cell.Verdict {
	case Faster:
		n.faster++
	case Slower:
		n.slower++
		if cell.PHolm.OK && cell.PHolm.V <= n.alpha || cell.Ratio.V > 1+Shared().Rel {
			n.firm++
		}
		if n.firstSlower == "" {
			n.firstSlower = cell.Key
		}
	case Same:
		n.same++
	case Undecided:
		n.undecided++
		if cell.CI95 == nil || cell.CI95[1] > 1+cell.Floor {
			n.open++
		}
	default:
		n.holes++
		if n.firstHole == "" {
			n.firstHole = cell.Key + ": " + cell.Why
		}
		if p.base.clean() && p.cand.failed+p.cand.nan > 0 {
			if n.broken++; n.firstBroken == "" {
				n.firstBroken = cell.Key + ": " + cell.Why
			}
		}
	}
}

// byChance: there are slower cells, none stands by itself, and so few are found
// among that many cells when nothing has changed.
func (n *tally) byChance() bool {
	return n.slower > 0 && n.firm == 0 && upperTail(n.tested, n.slower, n.alpha/2) > n.alpha
}

// upperTail is the probability of at least k hits in n independent tries of
// probability p each.
func upperTail(n, k int, p float64) float64 {
	sum, term := 0.0, math.Pow(1-p, float64(n)) // of exactly i hits
	for i := range k {
		sum += term
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return max(0, 1-sum)
}

func (n *tally) word(cells int) (CompareVerdict, string) {
	counts := fmt.Sprintf("%d cells: %d faster, %d slower, %d same, %d undecided, %d without a delta", cells, n.faster, n.slower, n.same, n.undecided, n.holes)
	switch {
	case n.broken > 0:
		return VerdictFailed, fmt.Sprintf("the candidate fails %d cell(s) that the base passes, first %s; %s", n.broken, n.firstBroken, counts)
	case n.holes > 0 && n.byChance():
		return VerdictIncomplete, fmt.Sprintf("%s; first %s", counts, n.firstHole)
	case n.byChance():
		return VerdictUndecided, fmt.Sprintf("%s; chance alone makes that many slower of %d, none beyond %.0f %% or after Holm's correction: run more", counts, n.tested, 100*Shared().Rel)
	case n.slower > 0 && n.faster > 0:
		return VerdictMixed, fmt.Sprintf("%s; first slower %s", counts, n.firstSlower)
	case n.slower > 0:
		return VerdictSlower, fmt.Sprintf("%s; first slower %s", counts, n.firstSlower)
	case n.holes > 0:
		return VerdictIncomplete, fmt.Sprintf("%s; first %s", counts, n.firstHole)
	case n.open > 0:
		return VerdictUndecided, fmt.Sprintf("%s; %d may still be slower than the floor", counts, n.open)
	case n.faster > 0:
		return VerdictFaster, counts
	case n.undecided > 0:
		return VerdictUndecided, counts
	}
	return VerdictSame, counts
}

// notes says out loud what limits the whole comparison.
func (c *comparer) notes(cells []Cell) []string {
	var out []string
	least, most := math.MaxInt, 0
	for i := range cells {
		if cells[i].Ratio.OK {
			n := min(cells[i].NBase, cells[i].NCand)
			least, most = min(least, n), max(most, n)
		}
	}
	switch {
	case most == 0:
		return nil
	case least == 1:
		out = append(out, "some cells have a single run a side: that is within or outside a band, never a verdict; 5 runs a side are needed")
	case least < minRank:
		out = append(out, fmt.Sprintf("n=%d a side can not reach p < %.2g (least possible %.2g): a pooled t interval is used; 5 runs a side are needed for the exact test", least, c.opt.Alpha, LeastP(least, least)))
	}
	if c.opt.Floor == (Floor{}) {
		out = append(out, c.floorNote())
	}
	if n := c.failHolm(cells); n > 0 {
		note := fmt.Sprintf("%d faster or slower cell(s) do not survive Holm's correction over all cells", n)
		if tested := c.byChance(cells) / c.opt.Alpha; LeastP(least, least)*tested > c.opt.Alpha {
			note += fmt.Sprintf(": with n=%d none of %.0f can, %d runs a side can", least, tested, runsForHolm(tested, c.opt.Alpha))
		}
		out = append(out, note)
	}
	if slices.ContainsFunc(cells, func(x Cell) bool { return slices.Contains(x.Flags, "bimodal") }) {
		out = append(out, "some cells are bimodal: their median is between two states")
	}
	return out
}

func (c *comparer) floorNote() string {
	quiet, shared := 0, 0
	for _, q := range c.quiet {
		if q {
			quiet++
		} else {
			shared++
		}
	}
	head, measured := "no measured floor: ", 0
	for _, p := range c.pairs {
		if c.opt.CellFloor[p.key] > 0 {
			measured++
		}
	}
	if measured > 0 {
		head = fmt.Sprintf("measured floor for %d of %d cells, and never less than ", measured, len(c.pairs))
	}
	switch {
	case shared == 0:
		return head + fmt.Sprintf("max(0.5 %%, 0.11 us) because the repeats spread by only %.2g %%", 100*c.whole.spread())
	case quiet == 0:
		return head + "max(2 %, 2 us), the band of a shared node"
	}
	return head + fmt.Sprintf("max(0.5 %%, 0.11 us) in %d quiet regime(s), max(2 %%, 2 us) in %d", quiet, shared)
}

// runsForHolm is the least n a side at which one of so many cells can survive
// Holm's correction.
func runsForHolm(tested, alpha float64) int {
	n := minRank
	for n < exactLimit && LeastP(n, n)*tested > alpha {
		n++
	}
	return n
}

func (c *comparer) failHolm(cells []Cell) int {
	n := 0
	for i := range cells {
		if slices.Contains(cells[i].Flags, "not after holm") {
			n++
		}
	}
	return n
}

// mentionsNaN reports a warning about values that are no numbers.
func mentionsNaN(w string) bool {
	l := strings.ToLower(w)
	return strings.Contains(l, "nan") || strings.Contains(l, " inf ")
}
