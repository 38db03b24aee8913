package stall

import "kdapilot/engine/fact"

// Used says where Bubbles came from.
type Used string

// The sources of Bubbles.
const (
	Computed    Used = "computed"
	FromBubbles Used = "bubbles.json"
	FromReport  Used = "report.json"
)

// Analysis is one dispatch of one bundle: the artifact's numbers and everything
// that says how far they carry. It is a value; a later stage makes a new one.
type Analysis struct {
	Bubbles   Bubbles
	Trust     Trust
	Freshness Freshness
	// Origin is the file the numbers were taken from.
	Origin fact.Origin
	// Path is what was asked for, Dir the dispatch directory ("" when the bundle
	// has no decoded trace). Both are paths to open, not cleaned for drawing.
	Path, Dir string
	Used      Used
	Findings  []Finding
	// Question is the named question this capture answers, "" when none is
	// recorded; QuestionFrom the file that says so.
	Question, QuestionFrom string
	// Commit is the commit the cockpit recorded when it started the capture.
	Commit string
	// WaitsPending says that the wave files were not read yet.
	WaitsPending bool
	// Report is the bound and the ranked opportunities, read or computed.
	Report Report
	// Capture is what capture.json says about this tag; nil when there is none.
	Capture *Capture
	// Rows are the kept rows for drilling down, Waits the edges between them.
	// Both are nil when only stored artifacts were there.
	Rows  []Row
	Waits Waits
	// Counters are the facts of counters.json; nil when there is none.
	Counters *Counters
	// Snippets maps a source text ("file:line") of hotspots and source shares to
	// the lines around it, from the copies beside the trace.
	Snippets map[string]Snippet
}

// Snippet is a few source lines; Hot marks the one the instruction maps to.
type Snippet struct {
	File  string        `json:"file"`
	Line  int           `json:"line"`
	Lines []SnippetLine `json:"lines"`
}

// SnippetLine is one line of a snippet, N counted from 1.
type SnippetLine struct {
	N    int    `json:"n"`
	Text string `json:"text"`
	Hot  bool   `json:"hot"`
}

// Capture is what capture.json says about the tag that was analysed.
type Capture struct {
	Kernel       string `json:"kernel"`
	RecipeKernel string `json:"recipe_kernel"`
	Confidence   string `json:"match_confidence"`
	Invocation   string `json:"invocation,omitempty"`
	// AvgNanos is the untraced average per call from discovery.
	AvgNanos *Num   `json:"avg_ns,omitempty"`
	Tag      string `json:"tag"`
	Shape    string `json:"shape,omitempty"`
	KeptDir  string `json:"kept_dir,omitempty"`
	Waves    *int   `json:"waves,omitempty"`
	Decoder  string `json:"rocprofv3,omitempty"`
	Arch     string `json:"arch,omitempty"`
	ArchVGPR *int   `json:"arch_vgpr,omitempty"`
	AccVGPR  *int   `json:"accum_vgpr,omitempty"`
	WavesCU  *int   `json:"occupancy_waves_per_cu,omitempty"`
	// Error is flyprof's word for a failed tag, for example "empty_att".
	Error string `json:"error,omitempty"`
}
