package loop

import (
	"time"

	"kdapilot/engine/fact"
)

// Kind is what a review looked at.
type Kind string

// The kinds of review. A round without a result has no kind.
const (
	SummaryReview Kind = "summary-review"
	CodeReview    Kind = "code-review"
)

// Verdict is the reviewer's word on mainline progress.
type Verdict string

// The verdicts. UnknownVerdict is also what a line naming two words counts as.
const (
	UnknownVerdict Verdict = "unknown"
	Advanced       Verdict = "advanced"
	Stalled        Verdict = "stalled"
	Regressed      Verdict = "regressed"
)

// The end markers a summary review may close with (Review.Marker).
const (
	MarkComplete Word = "COMPLETE"
	MarkStop     Word = "STOP"
)

// Round is what one round left on disk.
type Round struct {
	N int `json:"round"`
	// Files are the kinds of file present, sorted: contract, prompt,
	// review-prompt, review-result, summary, todos.
	Files []string `json:"files"`
	// Review is flattened; its Kind is empty when there is no result.
	Review
	Summary  Summary  `json:"summary"`
	Contract Contract `json:"contract"`
	// Run is the start of a summary review of this round, CodeRun of a code
	// review; nil when there was none.
	Run     *Attempt `json:"run,omitempty"`
	CodeRun *Attempt `json:"code_run,omitempty"`
	// Opened is the time of the prompt, Reviewed that of the result.
	Opened   time.Time `json:"opened,omitzero"`
	Reviewed time.Time `json:"reviewed,omitzero"`
	// Unreviewed marks the round whose work no review will ever look at:
	// round == max of an implementation phase.
	Unreviewed bool `json:"unreviewed"`
	// Passed marks a clean code review, which leaves no result behind.
	Passed bool `json:"passed"`
	// ReviewStatus is the provenance of the result: OK, Missing, Unreadable.
	ReviewStatus fact.Origin `json:"review_origin"`
}

// Attempt is one start of a reviewer, from the files in the cache folder. Only
// the newest start of a round is on disk: each one rewrites the files.
type Attempt struct {
	// Status is NotRead for older loops, of which only the names were looked at.
	Status fact.Status `json:"status"`
	Command
	CmdModTime time.Time `json:"cmd_mod_time,omitzero"`
	Log        string    `json:"log"`       // absolute path
	LogBytes   int64     `json:"log_bytes"` // -1 when not read
	LogModTime time.Time `json:"log_mod_time,omitzero"`
	// OutBytes is the size of the .out file, which stays 0 until the reviewer is
	// done; -1 where there is none (code reviews never have one).
	OutBytes int64 `json:"out_bytes"`
}

// Began is when the reviewer was started: the time in the .cmd file, else that
// file's own.
func (a *Attempt) Began() time.Time {
	if a.Started.IsZero() {
		return a.CmdModTime
	}
	return a.Started
}

// Has reports whether the round has that kind of file.
func (r *Round) Has(file string) bool {
	for _, f := range r.Files {
		if f == file {
			return true
		}
	}
	return false
}

// Finding is one finding of a code review. From and To are line numbers, 0 when
// the review gave none.
type Finding struct {
	Severity string `json:"severity"` // P0 … P9
	Title    string `json:"title"`
	Path     string `json:"path"`
	From     int    `json:"from"`
	To       int    `json:"to"`
	Line     int    `json:"line"` // where it stands in the result file
}

// Review is a review result, read as Humanize reads it.
type Review struct {
	Kind    Kind    `json:"kind,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"` // summary reviews only
	Marker  Word    `json:"marker"`
	// VerdictLine is the line the verdict was taken from (or failed on), 1-based
	// number and clean text; Lenient is what a person would read there.
	VerdictLine    string  `json:"verdict_line,omitempty"`
	VerdictLineNo  int     `json:"verdict_line_no,omitempty"`
	VerdictLenient Verdict `json:"verdict_lenient,omitempty"`

	Findings []Finding `json:"findings,omitempty"`
	// OpenQuestion is the first line Humanize takes for an open question.
	OpenQuestion     bool `json:"open_question"`
	OpenQuestionLine int  `json:"open_question_line,omitempty"`
	// CouldNotRun quotes the line that shows that the reviewer could not work
	// (sandbox failure) although it gave a verdict; empty otherwise.
	CouldNotRun     string `json:"could_not_run,omitempty"`
	CouldNotRunLine int    `json:"could_not_run_line,omitempty"`

	// By convention only; Known is false where the review does not say.
	ACsMet           Int    `json:"acs_met"`
	ACsTotal         Int    `json:"acs_total"`
	Forgotten        Int    `json:"forgotten_items"`
	Unjustified      Int    `json:"unjustified_deferrals"`
	RemainingRounds  string `json:"remaining_rounds,omitempty"`
	CriticalBlockers string `json:"critical_blockers,omitempty"`
	// Gaps, Blocking and Queued count the items of the three lanes.
	Gaps     Int `json:"mainline_gaps"`
	Blocking Int `json:"blocking_issues"`
	Queued   Int `json:"queued_issues"`
}

// Summary is the record of a round-N-summary.md.
type Summary struct {
	Status   fact.Status `json:"status"`
	Scaffold bool        `json:"scaffold"` // still holds template text
	Delta    LessonDelta `json:"bitlesson_delta"`
	// UpdateRequest says that it asks for a goal tracker update.
	UpdateRequest bool      `json:"update_request"`
	Bytes         int64     `json:"bytes"`
	ModTime       time.Time `json:"mod_time,omitzero"`
}

// Filled reports whether a person or agent wrote the summary.
func (s Summary) Filled() bool { return s.Status == fact.OK && !s.Scaffold && s.Bytes > 0 }

// LessonDelta is the BitLesson Delta section of a summary.
type LessonDelta struct {
	Action string   `json:"action,omitempty"` // none, add, update; empty when not valid
	IDs    []string `json:"ids,omitempty"`
	Notes  string   `json:"notes,omitempty"`
	// Problem says in one line why the stop gate will not accept it, Line where;
	// both empty when it will (ids are checked against bitlesson.md elsewhere).
	Problem string `json:"problem,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// Contract is the record of a round-N-contract.md. Fields are empty where the
// author used another shape; Headings and Bullets tell what it did hold.
type Contract struct {
	Status    fact.Status `json:"status"`
	Objective string      `json:"objective,omitempty"`
	ACs       []string    `json:"target_acs,omitempty"`
	Success   string      `json:"success,omitempty"`
	InScope   string      `json:"blocking_in_scope,omitempty"`
	OutScope  string      `json:"queued_out_of_scope,omitempty"`
	Bytes     int64       `json:"bytes"`
	ModTime   time.Time   `json:"mod_time,omitzero"`
}
