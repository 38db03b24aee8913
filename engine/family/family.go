// Package family is the room for what is known about a kernel family: which
// harness judges it, which commands are run, which cells they must produce, how
// cells group into regimes, which gates bind per dtype, and what an agent may
// touch. A family is data (family.toml, schema documented on the types here);
// this package parses it, checks it and answers questions about it.
//
// What may not enter: files, processes, clocks. The bytes of family.toml are
// handed in, a preset comes out as an argv that somebody else runs.
package family

import "time"

// Schema is the family.toml version this package reads.
const Schema = 1

// Kinds of evidence a family relies on for profiling.
const (
	EvidenceFlyprof    = "flyprof"
	EvidenceROCmReport = "rocm-report"
)

// Kinds of presets. They say who reads the output.
const (
	KindHarness = "harness" // rows for probes/harness, parser named by the preset or the harness
	KindPytest  = "pytest"  // pytest summary lines
	KindScript  = "script"  // exit status and banner lines
	KindFlyprof = "flyprof" // one JSON envelope on stdout
)

// Family is one parsed family.toml. It is a value; the methods do not change it.
type Family struct {
	// Name is the folder name, for example "flashattn".
	Name string `toml:"-" json:"name"`
	// SchemaVersion must equal Schema.
	SchemaVersion int    `toml:"schema" json:"schema"`
	Title         string `toml:"title" json:"title"`
	Summary       string `toml:"summary" json:"summary"`
	// Archs are the targets the family may run on; the first is the default.
	Archs  []string `toml:"archs" json:"archs"`
	Dtypes []string `toml:"dtypes" json:"dtypes"`
	// Kernel files an agent may touch, and what must stay as it is.
	Surface Surface `toml:"surface" json:"surface"`
	Harness Harness `toml:"harness" json:"harness"`
	Axes    []Axis  `toml:"axes" json:"axes"`
	Cells   Cells   `toml:"cells" json:"cells"`
	// Variants are the versions of the harness with their own cell lists. The
	// first is the default when nothing tells them apart.
	Variants   []Variant   `toml:"variants" json:"variants"`
	FocusSets  []FocusSet  `toml:"focus_sets" json:"focus_sets"`
	Regimes    []Regime    `toml:"regimes" json:"regimes"`
	Gates      []Gate      `toml:"gates" json:"gates"`
	Judges     []Judge     `toml:"judges" json:"judges"`
	Presets    []Preset    `toml:"presets" json:"presets"`
	Profile    Profile     `toml:"profile" json:"profile"`
	References []Reference `toml:"references" json:"references"`
	Bar        Bar         `toml:"bar" json:"bar"`
	// RoundZero lists what round 0 must deliver, in the words of the contract.
	RoundZero []string `toml:"round_zero" json:"round_zero"`
	Notes     []string `toml:"notes" json:"notes"`
}

// Surface is the K of K/R/W: what a plan may touch.
type Surface struct {
	// Edit are the kernel files (globs relative to the worktree).
	Edit []string `toml:"edit" json:"edit"`
	// Limited may change only for the reason given, path first.
	Limited []Limited `toml:"limited" json:"limited"`
	// Frozen are symbols or layouts that must not change at all.
	Frozen []string `toml:"frozen" json:"frozen"`
	// Behaviour lists what works today and has to keep working.
	Behaviour []string `toml:"behaviour" json:"behaviour"`
}

// Limited is a file that may change for one reason only.
type Limited struct {
	Path   string `toml:"path" json:"path"`
	Reason string `toml:"reason" json:"reason"`
}

// Harness is the W of K/R/W: the program whose rows decide.
type Harness struct {
	// Path is relative to the folder Root names.
	Path string `toml:"path" json:"path"`
	// Parser names the reader in probes/harness.
	Parser string `toml:"parser" json:"parser"`
	// Root is "worktree" or another checkout by name, for example "aiter".
	Root string `toml:"root" json:"root"`
	// CSV are the file names (globs in the working folder) it overwrites.
	CSV []string `toml:"csv" json:"csv"`
}

// Axis is one coordinate of a cell.
type Axis struct {
	Name string `toml:"name" json:"name"`
	// Kind is "int" or "word".
	Kind string `toml:"kind" json:"kind"`
	// Words are the legal values of a word axis.
	Words []string `toml:"words" json:"words,omitempty"`
	// Flags turn a value into the harness's argument, for {name:flag} in an
	// argv.
	Flags map[string]string `toml:"flags" json:"flags,omitempty"`
}

// Cells is the table of all cells the harness runs when no shape is given.
type Cells struct {
	// Key is the cell key with {axis} placeholders.
	Key string `toml:"key" json:"key"`
	// Columns name the axes of a table row, in order.
	Columns []string `toml:"columns" json:"columns"`
	// Loop is the order in which the harness runs: axis names, outermost first,
	// with "row" standing for the table rows.
	Loop []string `toml:"loop" json:"loop"`
	// Values are the values of the axes that are not columns.
	Values map[string][]any `toml:"values" json:"values"`
	Tables []Table          `toml:"tables" json:"tables"`
}

// Table is a named list of rows.
type Table struct {
	Name string  `toml:"name" json:"name"`
	Rows [][]any `toml:"rows" json:"rows"`
	// Only restricts axes that are not columns for the rows of this table.
	Only map[string][]any `toml:"only" json:"only,omitempty"`
}

// Variant is one version of the harness, told apart by its text.
type Variant struct {
	Name string `toml:"name" json:"name"`
	// Has and Lacks are strings looked for in the harness file.
	Has   []string `toml:"has" json:"has,omitempty"`
	Lacks []string `toml:"lacks" json:"lacks,omitempty"`
	// Tables restricts the tables; Values replaces values of Cells.Values.
	Tables []string         `toml:"tables" json:"tables,omitempty"`
	Values map[string][]any `toml:"values" json:"values,omitempty"`
	// ExtraRows is the number of rows of the varlen or extra section.
	ExtraRows int    `toml:"extra_rows" json:"extra_rows"`
	Note      string `toml:"note" json:"note,omitempty"`
}

// FocusSet is a named list of cells that are run one by one.
type FocusSet struct {
	Name string `toml:"name" json:"name"`
	// When says in words when the set is required.
	When string   `toml:"when" json:"when"`
	Keys []string `toml:"keys" json:"keys"`
}

// Regime groups cells. The first regime whose conditions all hold takes the
// cell.
type Regime struct {
	Name string `toml:"name" json:"name"`
	// Where maps an axis to a condition: "64", "64|128", "<=512", ">4096",
	// "513..4096" (both ends included).
	Where map[string]string `toml:"where" json:"where"`
	// Required regimes count for the promotion bar.
	Required bool `toml:"required" json:"required"`
}

// Gate is one correctness limit. NaN never passes.
type Gate struct {
	Dtypes []string `toml:"dtypes" json:"dtypes"`
	// Metric is a row field: max_err, min_cos, logits_diff, cos.
	Metric string `toml:"metric" json:"metric"`
	// Op is "<", "<=", ">" or ">=".
	Op    string  `toml:"op" json:"op"`
	Limit float64 `toml:"limit" json:"limit"`
	// Source is the file and symbol the limit is written in.
	Source string `toml:"source" json:"source"`
}

// Judge is a file whose bytes decide: bound by the gate seals.
type Judge struct {
	Path string `toml:"path" json:"path"`
	// Symbols are functions and constants a diff is flagged on.
	Symbols []string `toml:"symbols" json:"symbols"`
	// Role is "harness", "reference", "threshold" or "runner".
	Role string `toml:"role" json:"role"`
	// Root is "" for the worktree, else a checkout by name.
	Root string `toml:"root" json:"root,omitempty"`
}

// Preset is one command of the family.
type Preset struct {
	Name  string `toml:"name" json:"name"`
	Title string `toml:"title" json:"title"`
	Kind  string `toml:"kind" json:"kind"`
	// Parser overrides Harness.Parser.
	Parser string `toml:"parser" json:"parser,omitempty"`
	// Root is "worktree" (also when empty) or another checkout by name.
	Root string `toml:"root" json:"root,omitempty"`
	// Argv with placeholders: {harness} {kernel} {gpu} {worktree} {bundle}
	// {run} {python} {before} {after} {class}, {axis} and {axis:flag} of the
	// focus cell.
	Argv []string          `toml:"argv" json:"argv"`
	Env  map[string]string `toml:"env" json:"env,omitempty"`
	// Timeout is a Go duration, for example "90m".
	Timeout string `toml:"timeout" json:"timeout"`
	// Expect is "all", "cell" (the focus cell) or "none".
	Expect string `toml:"expect" json:"expect"`
	// Where restricts the cells of Expect = "all".
	Where map[string]string `toml:"where" json:"where,omitempty"`
	// Set names the focus set this preset walks through.
	Set string `toml:"set" json:"set,omitempty"`
	// Extra says that the varlen or extra section is printed too.
	Extra bool `toml:"extra" json:"extra,omitempty"`
	// ExtraRows replaces the variant's number of extra rows when it is not 0,
	// for presets that restrict dtypes or masks.
	ExtraRows int `toml:"extra_rows" json:"extra_rows,omitempty"`
	// Metrics are the gate metrics its rows carry. A gate whose metric is
	// missing here can not be cleared by this preset.
	Metrics []string `toml:"metrics" json:"metrics,omitempty"`
	// Warmup and Iters are the counts in the argv, for like-for-like checks.
	Warmup int `toml:"warmup" json:"warmup,omitempty"`
	Iters  int `toml:"iters" json:"iters,omitempty"`
	// Required presets must have run at base and candidate before promotion.
	Required bool     `toml:"required" json:"required,omitempty"`
	Notes    []string `toml:"notes" json:"notes,omitempty"`
}

// Profile says how evidence is taken.
type Profile struct {
	// Evidence is EvidenceFlyprof or EvidenceROCmReport.
	Evidence string `toml:"evidence" json:"evidence"`
	// Kernel is the flyprof target; empty means pick it from `flyprof list`.
	Kernel string `toml:"kernel" json:"kernel"`
	// Questions are the named questions a capture may answer.
	Questions []string `toml:"questions" json:"questions"`
}

// Reference is an external yardstick.
type Reference struct {
	Name string `toml:"name" json:"name"`
	// Column is the engine name in the harness's compare table.
	Column string   `toml:"column" json:"column,omitempty"`
	Dtypes []string `toml:"dtypes" json:"dtypes,omitempty"`
	Note   string   `toml:"note" json:"note,omitempty"`
}

// Bar is the default promotion bar. A plan may set its own.
type Bar struct {
	Text string `toml:"text" json:"text"`
	// GainPct is the least gain that counts, in percent of time; WorstPct is
	// how much slower a required regime may be.
	GainPct  float64 `toml:"gain_pct" json:"gain_pct"`
	WorstPct float64 `toml:"worst_pct" json:"worst_pct"`
	// FloorMicros is the absolute noise floor in microseconds.
	FloorMicros float64 `toml:"floor_us" json:"floor_us"`
	// Repeats is the least number of processes per arm.
	Repeats int `toml:"repeats" json:"repeats"`
}

// Params fill a preset's placeholders.
type Params struct {
	// GPU is the device index for HIP_VISIBLE_DEVICES.
	GPU int
	// Worktree is the absolute path of the task worktree.
	Worktree string
	// Roots are other checkouts by name, absolute.
	Roots map[string]string
	// Cell is the focus cell's key.
	Cell string
	// Variant is the harness variant; empty means the first.
	Variant string
	// Kernel overrides Profile.Kernel; Bundle is where flyprof writes; RunID
	// names the run.
	Kernel, Bundle, RunID string
	// Python overrides "python3".
	Python string
	// Before and After are the bundles of a profile diff, Class is a stall class.
	Before, After, Class string
}

// Command is a preset with everything filled in.
type Command struct {
	Preset string   `json:"preset"`
	Kind   string   `json:"kind"`
	Parser string   `json:"parser,omitempty"`
	Argv   []string `json:"argv"`
	// Env holds KEY=value, sorted; it is added to the run's environment.
	Env []string `json:"env"`
	Cwd string   `json:"cwd"`
	// Expected are the cell keys in the order the harness prints them.
	Expected []string `json:"expected"`
	// ExpectedExtra is the number of varlen or extra rows.
	ExpectedExtra int           `json:"expected_extra"`
	Timeout       time.Duration `json:"timeout"`
}
