package bench

// Arm is one side of a comparison: the rows of n runs of the same suite.
type Arm struct {
	// Label names the side, for example a commit or a path.
	Label string
	// Runs holds one slice of rows per process. A row's Key joins the arms.
	Runs [][]Row
}

// Floor is the smallest change that counts: the larger of a share of the base
// time and an absolute time.
type Floor struct {
	// Rel is a fraction (0.02 is two percent), AbsUS is in microseconds.
	Rel, AbsUS float64
}

// Quiet is the floor for pinned clocks on a quiet node; Shared is the band for
// any other host. Both follow the noise measured on published repeats of such nodes.
func Quiet() Floor { return Floor{Rel: 0.005, AbsUS: 0.11} }

// Shared is the floor of a shared node: two percent or two microseconds.
func Shared() Floor { return Floor{Rel: 0.02, AbsUS: 2} }

// At gives the floor as a fraction for a cell whose base takes us
// microseconds.
func (f Floor) At(us float64) float64 {
	if us <= 0 {
		return f.Rel
	}
	return max(f.Rel, f.AbsUS/us)
}

// Options steer a comparison. The zero value is usable: alpha 0.05, 2000
// bootstrap resamples with seed 1, automatic regimes, and a floor that is Quiet
// where at least five repeats a side spread by less than one percent and
// Shared everywhere else; the comparison's notes say which.
type Options struct {
	Alpha float64
	Floor Floor
	// CellFloor holds measured floors per key (fractions), which replace
	// Floor where they are larger.
	CellFloor map[string]float64
	// Bar is the plan's bar as a fraction; a win must exceed it too.
	Bar float64
	// Resamples and Seed steer the bootstrap.
	Resamples int
	Seed      uint64
	// KeepSamples puts the repeats of every cell into the result.
	KeepSamples bool
	// StepUS is the resolution of the printed times, default 0.1.
	StepUS float64
	// Regime names the group of a row; nil groups by the family's axes.
	Regime func(*Row) string
	// Required lists the cells that must exist; cells beyond base and
	// candidate become holes.
	Required []string
	// Differs lists manifest fields that differ between the arms. If it is
	// not empty every cell is "not comparable".
	Differs []string
	// BaseBroken and CandBroken say which runs can not be trusted whatever their
	// rows say; see Verdict.Broken. The candidate's make the comparison failed,
	// the base's not comparable.
	BaseBroken, CandBroken []string
}

// CellVerdict is the word for one cell.
type CellVerdict string

// The words. NotComparable covers failed gates, missing cells and unlike
// manifests; Why says which.
const (
	Faster        CellVerdict = "faster"
	Slower        CellVerdict = "slower"
	Same          CellVerdict = "same"
	Undecided     CellVerdict = "undecided"
	NotComparable CellVerdict = "not comparable"
)

// Cell compares one key.
type Cell struct {
	Key     string `json:"key"`
	Section string `json:"section,omitempty"`
	Regime  string `json:"regime"`
	NBase   int    `json:"n_base"`
	NCand   int    `json:"n_cand"`
	// BaseMedian and CandMedian are in microseconds.
	BaseMedian Num `json:"base_median"`
	CandMedian Num `json:"cand_median"`
	// Ratio is candidate/base time (above 1 is slower), the Hodges–Lehmann
	// estimate on log(us).
	Ratio Num `json:"ratio"`
	// CI95 is [low, high] of Ratio, nil when n is too small for one.
	CI95 *[2]float64 `json:"ci95"`
	// P is the two-sided exact Mann–Whitney probability, PHolm after Holm's
	// correction over all tested cells.
	P     Num `json:"p"`
	PHolm Num `json:"p_holm"`
	// U is the Mann–Whitney statistic of the base sample.
	U Num `json:"u_base"`
	// Method names interval and test: "exact" (or "normal" beyond 30 a side),
	// "pooled-t" below five repeats, "band" when a side has a single run, "" without a delta.
	Method string `json:"method"`
	// Floor is the fraction below which a change does not count here.
	Floor float64 `json:"floor"`
	// Band is where a single run stands: "within", "outside faster" or
	// "outside slower". It proves nothing.
	Band    string      `json:"band,omitempty"`
	Verdict CellVerdict `json:"verdict"`
	// Why explains a verdict that is not faster, slower or same, and says the
	// minimum n out loud.
	Why string `json:"why,omitempty"`
	// Flags are "bimodal", "drift", "quantised", "spread".
	Flags []string `json:"flags,omitempty"`
	// Base and Cand are the samples in run order, in microseconds.
	Base []float64 `json:"base_us,omitempty"`
	Cand []float64 `json:"cand_us,omitempty"`
}

// RegimeResult sums up a group of cells with equal weights.
type RegimeResult struct {
	Name string `json:"name"`
	// N counts every cell of the group, holes included.
	N         int `json:"n"`
	Wins      int `json:"wins"`
	Losses    int `json:"losses"`
	Same      int `json:"same"`
	Undecided int `json:"undecided"`
	// Outside counts single runs outside the band: neither wins nor losses.
	OutsideFaster int `json:"outside_faster,omitempty"`
	OutsideSlower int `json:"outside_slower,omitempty"`
	// Geomean, Min and Max are of Ratio over the cells that have one.
	Geomean   Num         `json:"geomean"`
	GeomeanCI *[2]float64 `json:"geomean_ci95"`
	// OfMedians is the geometric mean of median ratios, for comparison with
	// tools that use those; Geomean is of the Hodges–Lehmann ratios.
	OfMedians Num `json:"geomean_of_medians"`
	Min       Num `json:"min"`
	Max       Num `json:"max"`
	// Worst is the key with the largest ratio.
	Worst string `json:"worst"`
	// Holes are the keys without a delta, each with the reason.
	Holes []Hole `json:"holes"`
}

// Hole is a cell that should have a delta and has none.
type Hole struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

// CompareVerdict is the word for a whole comparison.
type CompareVerdict string

// The words for a comparison, in order of precedence. Failed: the candidate
// fails a cell that the base passes. Incomplete: a cell has no delta.
const (
	VerdictNotComparable CompareVerdict = "not comparable"
	VerdictFailed        CompareVerdict = "failed"
	VerdictSlower        CompareVerdict = "slower"
	VerdictMixed         CompareVerdict = "mixed"
	VerdictIncomplete    CompareVerdict = "incomplete"
	VerdictFaster        CompareVerdict = "faster"
	VerdictSame          CompareVerdict = "same"
	VerdictUndecided     CompareVerdict = "undecided"
)

// ExitCode is the command line's: 0 faster or same, 1 failed, slower or mixed,
// 2 undecided, 3 incomplete or not comparable.
func (v CompareVerdict) ExitCode() int {
	switch v {
	case VerdictFaster, VerdictSame:
		return 0
	case VerdictFailed, VerdictSlower, VerdictMixed:
		return 1
	case VerdictUndecided:
		return 2
	}
	return 3
}

// Comparison is what `compare --json` prints.
type Comparison struct {
	Base    string         `json:"base"`
	Cand    string         `json:"cand"`
	Cells   []Cell         `json:"cells"`
	Regimes []RegimeResult `json:"regimes"`
	// Overall sums up all cells; it is never shown without the regimes.
	Overall RegimeResult   `json:"overall"`
	Verdict CompareVerdict `json:"verdict"`
	// Why says in one line what the verdict rests on.
	Why string `json:"why"`
	// New are cells only the candidate has.
	New []string `json:"new_cells,omitempty"`
	// ByChance is how many cells would be called different at this alpha if
	// nothing had changed.
	ByChance float64  `json:"expected_by_chance"`
	Alpha    float64  `json:"alpha"`
	Notes    []string `json:"notes,omitempty"`
}
