package stall

// DefaultFloor is the noise floor in percentage points: two captures of the
// same instructions differ by up to about this much.
const DefaultFloor = 3.0

// Word is the verdict on one class.
type Word string

// The words. NotComparable replaces them when the traces are of different
// things.
const (
	Shrank        Word = "shrank"
	Grew          Word = "grew"
	NoChange      Word = "no change seen"
	NotComparable Word = "not comparable"
)

// Delta is a before/after comparison in shares of stall and cycles per hit,
// never in raw cycles.
type Delta struct {
	Comparable bool `json:"comparable"`
	// Reasons say why not; Cautions what to keep in mind although it is.
	Reasons  []string `json:"reasons"`
	Cautions []string `json:"cautions"`
	// FloorPP is the noise floor in percentage points.
	FloorPP Num `json:"floor_pp"`
	// Before and After name the dispatches.
	Before string `json:"before"`
	After  string `json:"after"`
	// StallPct is stall in per cent of latency, both sides.
	StallPct Change `json:"stall_pct"`
	// Classes are the union of both sides, by rank before, then rank after.
	Classes []ClassDelta `json:"classes"`
	// Targets are the three things a person may mean by "the bubble".
	Targets []Target `json:"targets"`
}

// Change is one number on both sides, in per cent; DeltaPP is after - before.
type Change struct {
	Before  Num  `json:"before"`
	After   Num  `json:"after"`
	DeltaPP Num  `json:"delta_pp"`
	Verdict Word `json:"verdict"`
}

// ClassDelta is one class on both sides. A class without stall has share 0.
type ClassDelta struct {
	Class      Class `json:"class"`
	IsBubble   bool  `json:"is_bubble"`
	RankBefore *int  `json:"rank_before"`
	RankAfter  *int  `json:"rank_after"`
	Change
	// CyclesPerHit are the class's stall cycles per execution of an instruction
	// of that class; nil when the rows were not there to count.
	HitBefore *Num `json:"cycles_per_hit_before"`
	HitAfter  *Num `json:"cycles_per_hit_after"`
	// CyclesPerInst are the class's stall cycles per executed instruction of any
	// class; nil when nothing was executed.
	InstBefore *Num `json:"cycles_per_inst_before"`
	InstAfter  *Num `json:"cycles_per_inst_after"`
	// Note says when share and cycles per hit point in different directions.
	Note string `json:"note,omitempty"`
}

// Target is one of the three: the top class, the top bubble class, and the
// class of the first recommendation, each as it was before.
type Target struct {
	Kind   string `json:"kind"`
	Class  Class  `json:"class"`
	Change        // of that class
	// Now is what holds the same place after.
	Now Class `json:"now"`
}
