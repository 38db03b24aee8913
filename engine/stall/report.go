package stall

// Bound is what limits the kernel, by the profiler's rules.
type Bound string

// The bounds.
const (
	ComputeBound Bound = "compute"
	MemoryBound  Bound = "memory"
	LatencyBound Bound = "latency"
	UnknownBound Bound = "unknown"
)

// Report is the bound and the ranked opportunities.
type Report struct {
	Kernel   string `json:"kernel"`
	Bound    Bound  `json:"bound_type"`
	Headline string `json:"headline"`
	Optimal  bool   `json:"optimal"`
	// Recommendations are by weight, best first.
	Recommendations []Recommendation `json:"recommendations"`
	// Used is "computed" or "report.json".
	Used Used `json:"used"`
}

// Recommendation is one rule that fired.
type Recommendation struct {
	Rank        int      `json:"rank"`
	Rule        string   `json:"rule"`
	BubbleClass Class    `json:"bubble_class"`
	Confidence  string   `json:"confidence"`
	Knob        string   `json:"knob"`
	Evidence    Evidence `json:"evidence"`
}

// Evidence is what made a rule fire. CodeLine, Source, Inst and WaitsOn come
// from the first hotspot of the class, if there is one.
type Evidence struct {
	Signal  string     `json:"signal"`
	Value   *Num       `json:"value"`
	Pct     Num        `json:"stall_pct_of_class"`
	Line    *int64     `json:"code_line,omitempty"`
	Source  string     `json:"source,omitempty"`
	Inst    string     `json:"inst,omitempty"`
	WaitsOn []WaitedOn `json:"waits_on,omitempty"`
}

// WaitedOn is one producer in an Evidence.
type WaitedOn struct {
	Source string `json:"source"`
	Inst   string `json:"inst"`
}

// Counters are the facts of counters.json that the rules look at; nil is
// unknown.
type Counters struct {
	MFMAFraction    *Num
	L2HitPct        *Num
	Partial32B      *Num
	BankConflictPct *Num
	HBMPct          *Num
	Bound           Bound
}
