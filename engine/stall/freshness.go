package stall

import "time"

// Verdict says whether a trace still speaks about the code in the worktree.
type Verdict string

// The verdicts, best first.
const (
	Fresh        Verdict = "fresh"
	StaleSource  Verdict = "stale-source"
	StaleAge     Verdict = "stale-age"
	Unverifiable Verdict = "unverifiable"
	Inconsistent Verdict = "inconsistent"
)

// Freshness is the verdict with what it was decided from.
type Freshness struct {
	Verdict Verdict  `json:"verdict"`
	Reasons []string `json:"reasons"`
	// Files are the trace's source copies and what became of each.
	Files []SourceCheck `json:"files"`
	// CapturedAt is the modification time of the trace, lost by clone and copy.
	CapturedAt time.Time `json:"captured_at,omitzero"`
}

// SourceState is how one source copy compares with the worktree.
type SourceState string

// The states of a source copy.
const (
	Same       SourceState = "same"
	Different  SourceState = "different"
	Gone       SourceState = "gone from the worktree"
	NotCovered SourceState = "not in the worktree"
	NoCopy     SourceState = "copy missing beside the trace"
	NameOnly   SourceState = "only the file name matches"
)

// SourceCheck is one source file of the trace's line table.
type SourceCheck struct {
	// Traced is the path in the line table, Copy the file beside the trace,
	// Worktree the file compared with, relative to the worktree root.
	Traced      string      `json:"traced"`
	Copy        string      `json:"copy"`
	Worktree    string      `json:"worktree,omitempty"`
	TraceSHA    string      `json:"trace_sha256,omitempty"`
	WorktreeSHA string      `json:"worktree_sha256,omitempty"`
	State       SourceState `json:"state"`
}
