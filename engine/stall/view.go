package stall

// View is what `show stalls --json` prints. Bubbles is the artifact's object;
// all else is ours.
type View struct {
	Bubbles   Bubbles   `json:"bubbles"`
	Trust     Trust     `json:"trust"`
	Freshness Freshness `json:"freshness"`
	// Diff is there with a base to compare with.
	Diff *Delta `json:"diff,omitempty"`
	Used Used   `json:"used"`
	// Path is what was analysed, Dispatch the folder of the trace.
	Path         string             `json:"path"`
	Dispatch     string             `json:"dispatch,omitempty"`
	Question     string             `json:"question,omitempty"`
	WaitsPending bool               `json:"waits_pending"`
	Report       Report             `json:"report"`
	Capture      *Capture           `json:"capture,omitempty"`
	Findings     []Finding          `json:"findings"`
	Snippets     map[string]Snippet `json:"snippets,omitempty"`
}

// NewView makes the view of one analysis. base, if not nil, is what it is
// compared with; floorPP is the noise floor in percentage points.
func NewView(a, base *Analysis, floorPP float64) View {
	v := View{
		Bubbles: a.Bubbles, Trust: a.Trust, Freshness: a.Freshness, Used: a.Used, Path: a.Path, Dispatch: a.Dir,
		Question: a.Question, WaitsPending: a.WaitsPending, Report: a.Report, Capture: a.Capture,
		Findings: a.Findings, Snippets: a.Snippets,
	}
	if v.Findings == nil {
		v.Findings = []Finding{}
	}
	if base != nil {
		d := Compare(base, a, floorPP)
		v.Diff = &d
	}
	return v
}
