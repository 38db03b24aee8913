package stall

import (
	"slices"
	"strconv"
	"time"
)

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

// FreshnessInput is what freshness is decided from.
type FreshnessInput struct {
	Checks []SourceCheck
	// HasTrace and HasWorktree say whether there was something to compare.
	HasTrace, HasWorktree bool
	CapturedAt            time.Time
	// Now, MaxAge and Since judge age; zero MaxAge or Since does not.
	Now    time.Time
	MaxAge time.Duration
	Since  time.Time
}

// JudgeFreshness gives the verdict from sources and age: changed sources first,
// then age, then whether anything could be compared at all.
func JudgeFreshness(in FreshnessInput) Freshness {
	f := Freshness{Reasons: []string{}, Files: in.Checks, CapturedAt: in.CapturedAt, Verdict: Fresh}
	if f.Files == nil {
		f.Files = []SourceCheck{}
	}
	lower := func(v Verdict, why string) {
		f.Reasons = append(f.Reasons, why)
		if rank(v) > rank(f.Verdict) {
			f.Verdict = v
		}
	}
	same, changed := 0, 0
	for _, c := range in.Checks {
		switch c.State {
		case Same:
			same++
		case Different:
			changed++
			lower(StaleSource, c.Worktree+" changed since the capture")
		case Gone:
			lower(StaleSource, c.Traced+" is gone from the worktree")
		default:
			f.Reasons = append(f.Reasons, c.Traced+": "+string(c.State))
		}
	}
	if !in.CapturedAt.IsZero() {
		if age := in.Now.Sub(in.CapturedAt); in.MaxAge > 0 && age > in.MaxAge {
			lower(StaleAge, "captured "+age.Round(time.Minute).String()+" ago, older than "+in.MaxAge.String())
		}
		if !in.Since.IsZero() && in.CapturedAt.Before(in.Since) {
			lower(StaleAge, "captured before "+in.Since.UTC().Format(time.RFC3339))
		}
	}
	switch {
	case same > 0:
		f.Reasons = append(f.Reasons, plural(same, "source file is", "source files are")+" byte for byte those of the worktree")
	case !in.HasTrace:
		lower(Unverifiable, "no decoded trace here, so no copies of the sources")
	case len(in.Checks) == 0:
		lower(Unverifiable, "the trace holds no copies of the sources")
	case changed > 0: // compared, and said above
	case !in.HasWorktree:
		lower(Unverifiable, "no worktree to compare with")
	default:
		lower(Unverifiable, "none of the source copies could be compared")
	}
	return f
}

// WithContradictions overrules the verdict when findings say that the artifacts
// do not belong together. Sentences already among the reasons are not repeated.
func (f Freshness) WithContradictions(sentences []string) Freshness {
	var fresh []string
	for _, s := range sentences {
		if !slices.Contains(f.Reasons, s) {
			fresh = append(fresh, s)
		}
	}
	if len(sentences) > 0 {
		f.Verdict = Inconsistent
	}
	f.Reasons = append(fresh, f.Reasons...)
	if f.Reasons == nil {
		f.Reasons = []string{}
	}
	return f
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// rank orders the verdicts by how much they overrule.
func rank(v Verdict) int {
	for i, w := range []Verdict{Fresh, Unverifiable, StaleAge, StaleSource, Inconsistent} {
		if v == w {
			return i
		}
	}
	return 0
}
