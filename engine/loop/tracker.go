package loop

import "kdapilot/engine/fact"

// Tracker is the goal tracker: what is claimed and what is verified.
type Tracker struct {
	// Counts as data/humanize's expected files name them. ActiveRows counts
	// rows of Active Tasks (a placeholder row too); Blocking, Queued and
	// Deferred count real rows only, never a row that says None.
	ActiveRows      int  `json:"active_rows"`
	ActiveCompleted int  `json:"active_completed"` // claimed done, waiting for proof
	Placeholder     bool `json:"placeholder"`
	Blocking        int  `json:"blocking"`
	Queued          int  `json:"queued"`
	CompletedRows   int  `json:"completed_rows"`
	Deferred        int  `json:"deferred"`
	OpenIssues      int  `json:"open_issues"` // older releases

	// Open counts active rows that are neither claimed done nor deferred.
	Open         int    `json:"active_open"`
	Goal         string `json:"goal,omitempty"`
	PlanVersion  Int    `json:"plan_version"`
	UpdatedRound Int    `json:"updated_round"`
	// UpdatedByReview is set when the heading says "Round N Review".
	UpdatedByReview bool        `json:"updated_by_review"`
	Criteria        []Criterion `json:"criteria"`
	// Verified are the criterion ids named in Completed and Verified.
	VerifiedACs []string `json:"verified_acs"`
	Evolution   []Row    `json:"evolution,omitempty"`
	Active      []Task   `json:"active,omitempty"`
	BlockingT   []Row    `json:"blocking_rows,omitempty"`
	QueuedT     []Row    `json:"queued_rows,omitempty"`
	CompletedT  []Row    `json:"completed,omitempty"`
	DeferredT   []Row    `json:"deferred_rows,omitempty"`
	OpenT       []Row    `json:"open_issue_rows,omitempty"`
	// Whole is false when the MUTABLE heading is missing: damaged or mid-write.
	Whole  bool        `json:"whole"`
	Cut    bool        `json:"cut"` // rows or cells were left out for size
	Origin fact.Origin `json:"origin"`
}

// Criterion is one acceptance criterion of the immutable section.
type Criterion struct {
	ID   string `json:"id"`
	Text string `json:"text"` // first line, clipped
	Line int    `json:"line"`
	// Verified says that a row of Completed and Verified names it; Claimed that
	// an active row aiming at it says done.
	Verified bool `json:"verified"`
	Claimed  bool `json:"claimed"`
}

// Row is one table row: its cells in column order, clean and clipped.
type Row struct {
	Line  int      `json:"line"`
	Cells []string `json:"cells"`
}

// Task is one row of Active Tasks.
type Task struct {
	Line   int    `json:"line"`
	Task   string `json:"task"`
	AC     string `json:"target_ac"`
	Status string `json:"status"` // as written
	Tag    string `json:"tag,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Notes  string `json:"notes,omitempty"`
	// Claimed: the row says done; Deferred: it says deferred.
	Claimed  bool `json:"claimed"`
	Deferred bool `json:"deferred"`
}
