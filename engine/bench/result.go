package bench

// Result is everything one run printed, as `show rows --json` prints it.
type Result struct {
	// Family is the harness family, "unknown" when nothing was recognised.
	Family string `json:"family"`
	// Version is the harness layout that was recognised, in words.
	Version string `json:"version,omitempty"`
	// Mode is "normal", "compare" or another mode word of the family.
	Mode string `json:"mode,omitempty"`
	// GPU is the device name the harness printed; GPUArch a gfx name.
	GPU     string `json:"gpu,omitempty"`
	GPUArch string `json:"gpu_arch,omitempty"`

	Rows        []Row `json:"rows"`
	VarlenRows  []Row `json:"varlen_rows"`
	ExtraRows   []Row `json:"extra_rows"`
	CompareRows []Row `json:"compare_rows,omitempty"`
	// AvgRows are the harness's own averages: kept for the record, used for
	// nothing (they average TFLOPS and include failed rows).
	AvgRows []Row `json:"avg_rows,omitempty"`
	// PerfTable is a "FlyDSL vs AIter" table.
	PerfTable []Row `json:"perf_table,omitempty"`
	// Skips are the harness's words about what it did not run; Skipped are
	// such cases with their axes.
	Skips   []string `json:"skips,omitempty"`
	Skipped []Row    `json:"skipped,omitempty"`

	// Verdict is the literal last verdict line, nil when none was printed.
	Verdict *string `json:"verdict"`
	// ExitStatus is the process's; negative = killed by that signal, nil =
	// not known.
	ExitStatus *int `json:"exit_status"`
	// Crashed is set when the text holds a GPU fault or a fatal signal;
	// CrashLine is that line.
	Crashed   bool   `json:"crashed,omitempty"`
	CrashLine string `json:"crash_line,omitempty"`
	// CrashedAfter is the key of the last row before a crash.
	CrashedAfter string `json:"crashed_after,omitempty"`

	CSVAnnounced []string `json:"csv_announced"`
	RowLinesSeen int      `json:"row_lines_seen"`
	// Counts are of Rows by status, with the totals of cases that a harness
	// prints itself (scanned, recorded, …); the other two of their sections.
	Counts       map[string]int `json:"counts"`
	VarlenCounts map[string]int `json:"varlen_counts,omitempty"`
	ExtraCounts  map[string]int `json:"extra_counts,omitempty"`
	// Planned is the number of cells the harness announced, 0 when it does not.
	Planned int `json:"planned,omitempty"`
	// PartialTail is an unfinished last line: kept aside, never parsed.
	PartialTail *string `json:"partial_tail,omitempty"`
	// Summary holds the totals the harness printed (total, success, failed …).
	Summary Value `json:"summary,omitzero"`

	// Tests, Failures and Examples come from pytest and run_tests.sh.
	Tests    []Test    `json:"tests,omitempty"`
	Failures []string  `json:"failures,omitempty"`
	Examples []Example `json:"examples,omitempty"`

	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	// Lines, Bytes and LongestLine (bytes) measure what was fed.
	Lines       int   `json:"lines"`
	Bytes       int64 `json:"bytes"`
	LongestLine int   `json:"longest_line"`
	// Truth is set by Truth: whether exit status, rows and text agree.
	Truth *Verdict `json:"truth,omitempty"`
}

// AllRows gives the rows of every section that carry a verdict of their own.
func (r *Result) AllRows() []Row {
	all := make([]Row, 0, len(r.Rows)+len(r.VarlenRows)+len(r.ExtraRows)+len(r.CompareRows))
	all = append(all, r.Rows...)
	all = append(all, r.VarlenRows...)
	all = append(all, r.ExtraRows...)
	return append(all, r.CompareRows...)
}

// Test is one pytest outcome.
type Test struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	// Seconds is known from junit and --durations only.
	Seconds Num    `json:"seconds"`
	Message string `json:"message,omitempty"`
}

// Example is one result line of run_tests.sh.
type Example struct {
	Result string `json:"result"`
	Name   string `json:"name"`
	Note   string `json:"note,omitempty"`
}

// Severity grades a diagnostic.
type Severity string

// The severities of a diagnostic.
const (
	Red   Severity = "red"
	Amber Severity = "amber"
	Info  Severity = "info"
)

// Diagnostic is something a reader of the log must know: a traceback, a
// warning, a row that could not be read.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	// Stream is "stdout", "stderr" or a file name; Line is 1-based.
	Stream string `json:"stream,omitempty"`
	Line   int    `json:"line,omitempty"`
	Text   string `json:"text"`
}

// EventKind says what a parser saw.
type EventKind int

// The kinds of events a parser emits while a run is going.
const (
	// EventRow: a row is complete; a later one with the same key replaces it.
	EventRow EventKind = iota
	// EventCurrent: the harness began a cell; Text names it.
	EventCurrent
	// EventDiagnostic: Diag is set.
	EventDiagnostic
	// EventVerdict: Text is the verdict line.
	EventVerdict
	// EventFamily: the family was recognised; Text names it.
	EventFamily
)

// Event is one thing a parser saw, handed on as it arrives.
type Event struct {
	Kind EventKind
	Row  Row
	Text string
	Diag Diagnostic
}
