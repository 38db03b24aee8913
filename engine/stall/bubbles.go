package stall

// Bubbles is the data object of the profiler's `bubbles` command and the whole
// content of bubbles.json. Field and key order are those of the artifact.
// Cycle counts are shader-clock cycles summed over the sampled waves; they
// scale with the number of waves, so compare shares, not cycles.
type Bubbles struct {
	// DispatchDir is the base name of the dispatch directory analysed.
	DispatchDir string        `json:"dispatch_dir"`
	Totals      Totals        `json:"totals"`
	Taxonomy    Taxonomy      `json:"stall_taxonomy"`
	Hotspots    []Hotspot     `json:"hotspots"`
	BySource    []SourceShare `json:"by_source"`
	InstMix     InstMix       `json:"inst_mix"`
	// Occupancy counts idle sampled waves although its name says otherwise; the
	// measured number is in Trust.Occupancy.
	Occupancy IdleWaves `json:"occupancy"`
	// StallReasonAvailable is always false in the artifact.
	StallReasonAvailable bool `json:"stall_reason_available"`
	// Detail is there only after `bubbles --detail N`.
	Detail *Detail `json:"detail,omitempty"`
}

// Totals are sums over the kept rows of the trace.
type Totals struct {
	Instructions int   `json:"instructions"`
	TotalLatency int64 `json:"total_latency"`
	TotalStall   int64 `json:"total_stall"`
	TotalIdle    int64 `json:"total_idle"`
	HitCount     int64 `json:"hitcount"`
	// StallPct is stall in per cent of latency, one decimal.
	StallPct Num `json:"stall_pct"`
}

// Taxonomy splits the stall cycles by class.
type Taxonomy struct {
	ByClass ByClass `json:"by_class"`
}

// ByClass is a JSON object keyed by class, written in rank order.
type ByClass []ClassShare

// ClassShare is one class with stall. Pct is in per cent of all stall cycles
// (two decimals), not of latency or wall time. Rank counts from 1.
type ClassShare struct {
	Class    Class `json:"-"`
	Cycles   int64 `json:"cycles"`
	Pct      Num   `json:"pct"`
	Rank     int   `json:"rank"`
	IsBubble bool  `json:"is_bubble"`
}

// Hotspot is one instruction among the 25 with most stall cycles.
type Hotspot struct {
	CodeLine int64  `json:"code_line"`
	Addr     string `json:"addr"`
	Inst     string `json:"inst"`
	Class    Class  `json:"class"`
	Source   string `json:"source"`
	Hit      int64  `json:"hit"`
	Latency  int64  `json:"latency"`
	Stall    int64  `json:"stall"`
	Idle     int64  `json:"idle"`
	// StallPct is in per cent of this instruction's latency, one decimal.
	StallPct Num `json:"stall_pct"`
	// Producers are the memory operations this wait was seen to wait for.
	Producers []Producer `json:"waitcnt_sources,omitempty"`
}

// Producer is a memory operation that a wait was for. Inst is "?" when the
// line it names is not a row of the trace.
type Producer struct {
	CodeLine int64  `json:"code_line"`
	Inst     string `json:"inst"`
	Source   string `json:"source"`
}

// SourceShare is one source line among the 25 with most stall cycles. Pct is in
// per cent of all stall cycles.
type SourceShare struct {
	Source   string `json:"source"`
	Stall    int64  `json:"stall"`
	Pct      Num    `json:"pct"`
	DomClass Class  `json:"dom_class"`
}

// InstMix is a JSON object class -> fraction of kept rows (a static count, not
// executions), written in descending order.
type InstMix []ClassFraction

// ClassFraction is one class's fraction (0 to 1) of the instructions.
type ClassFraction struct {
	Class    Class
	Fraction Num
}

// IdleWaves is what the artifact calls occupancy: the number of sampled waves
// in the IDLE state at each point where that number changed.
type IdleWaves struct {
	Available bool `json:"available"`
	Peak      int64
	Mean      Num
	Samples   int
	// HasOccupancyJSON says that occupancy.json exists beside the trace.
	HasOccupancyJSON bool
}

// Detail is one instruction in full. Issue is max(0, latency - stall).
type Detail struct {
	CodeLine int64  `json:"code_line"`
	Inst     string `json:"inst"`
	Class    Class  `json:"class"`
	Source   string `json:"source"`
	Addr     string `json:"addr"`
	Hit      int64  `json:"hit"`
	Latency  int64  `json:"latency"`
	Stall    int64  `json:"stall"`
	Idle     int64  `json:"idle"`
	Issue    int64  `json:"issue"`
}

// Class returns the share of one class; ok is false when it had no stall.
func (b *Bubbles) Class(c Class) (s ClassShare, ok bool) {
	for _, s := range b.Taxonomy.ByClass {
		if s.Class == c {
			return s, true
		}
	}
	return ClassShare{Class: c, IsBubble: c.IsBubble()}, false
}

// Top returns the class with most stall; ok is false when nothing stalled.
func (b *Bubbles) Top() (s ClassShare, ok bool) {
	if len(b.Taxonomy.ByClass) == 0 {
		return ClassShare{}, false
	}
	return b.Taxonomy.ByClass[0], true
}

// TopBubble returns the best-ranked class that is a bubble.
func (b *Bubbles) TopBubble() (s ClassShare, ok bool) {
	for _, s := range b.Taxonomy.ByClass {
		if s.IsBubble {
			return s, true
		}
	}
	return ClassShare{}, false
}
