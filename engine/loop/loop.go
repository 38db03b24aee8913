// Package loop is the room for what a Humanize RLCR loop means: its phase, who
// has the ball, what the reviewer said, what the goal tracker claims and what
// it proves, and why the next stop would be refused.
//
// Everything here is a pure function of bytes and facts that a probe read:
// parsers take bytes, judgements take the time as an argument.
//
// What may not enter: the file system, processes, git, the clock, layout.
package loop

import (
	"time"

	"kdapilot/engine/fact"
)

// Phase is where a loop is. The names are those of the JSON output.
type Phase string

// The phases. The two awaiting phases rest on a live reviewer process; the
// files of a wait stay behind when the reviewer dies.
const (
	Unknown               Phase = "unknown"
	Implementing          Phase = "implementing"
	AwaitingSummaryReview Phase = "awaiting-summary-review"
	AwaitingCodeReview    Phase = "awaiting-code-review"
	ReviewFixing          Phase = "review-fixing"
	Finalizing            Phase = "finalizing"
	Analyzing             Phase = "analyzing"
	Parked                Phase = "parked"
	Ended                 Phase = "ended"
)

// Active reports whether Humanize still counts the loop as running.
func (p Phase) Active() bool { return p != Ended && p != Unknown }

// Awaiting reports whether a reviewer process is at work.
func (p Phase) Awaiting() bool { return p == AwaitingSummaryReview || p == AwaitingCodeReview }

// Layout is the folder scheme a loop was found in.
type Layout string

// The layouts. Only RLCR and Local hold loops of the kind this package judges;
// PR loops are listed and marked, never picked as current.
const (
	RLCR  Layout = "rlcr"       // .humanize/rlcr, since 1.2
	Local Layout = "loop.local" // .humanize-loop.local, releases 1.0 and 1.1
	PR    Layout = "pr-loop"    // .humanize/pr-loop, releases 1.4 to 1.15
)

// Loop is one loop folder, judged. JSON names are stable.
type Loop struct {
	// Name is the folder name, local wall-clock time YYYY-MM-DD_HH-MM-SS.
	Name   string `json:"loop"`
	Dir    string `json:"dir"` // absolute
	Layout Layout `json:"layout"`
	// StateFile is the file name that decided the phase; null when there is none.
	StateFile Word     `json:"state_file"`
	Phase     Phase    `json:"phase"`
	Outcome   Word     `json:"outcome"` // complete, stop, maxiter, cancel, unexpected, …; null while it runs
	State              // flattened into the loop's own JSON object
	BuildDone Int      `json:"build_finish_round"`
	Markers   []string `json:"markers"`
	// MarkerSince holds the time of each marker file.
	MarkerSince map[string]time.Time `json:"marker_since,omitempty"`
	Rounds      []Round              `json:"rounds"` // ascending by number
	// RoundsDropped counts round files beyond the limit; ListingCut says that the
	// folder holds more entries than are looked at.
	RoundsDropped int     `json:"rounds_dropped,omitempty"`
	ListingCut    bool    `json:"listing_cut,omitempty"`
	Tracker       Tracker `json:"tracker"`

	// SignalPending says that setup's session signal still waits for this loop;
	// SignalSince is the age anchor of that signal.
	SignalPending bool      `json:"session_signal_pending"`
	SignalSince   time.Time `json:"session_signal_since,omitzero"`

	CacheDir   string   `json:"cache_dir,omitempty"`
	CacheFiles []string `json:"cache_files"`

	// Ignored marks a loop that is active on disk while Humanize looks only at a
	// newer folder.
	Ignored bool `json:"ignored"`
	// OutcomeToCome is the word in .methodology-exit-reason while analyzing.
	OutcomeToCome Word `json:"outcome_to_come"`
	// PhaseSince is the time of the file that began the phase; for an ended loop
	// the last time a file in it changed.
	PhaseSince time.Time `json:"phase_since,omitzero"`
	// LastChange is the newest time of a file in the loop folder.
	LastChange time.Time `json:"last_change,omitzero"`
	Reviewer   Reviewer  `json:"reviewer"`
	Plan       Plan      `json:"plan"`
	Closing    Closing   `json:"closing"`
	Ball       Ball      `json:"ball"`
	// NextStop lists why the next stop would be refused or would end the loop,
	// as far as the files decide it. See Loop.Refusals for git's part.
	NextStop []Refusal `json:"next_stop"`
	Warnings []Warning `json:"warnings"`
	// Origin is that of the state file: Torn or Unreadable with a Why naming
	// file and line when it could not be read or understood.
	Origin fact.Origin `json:"origin"`
}

// Plan is what the files say about the plan of a loop and its backup.
type Plan struct {
	// Backup is plan.md in the loop folder, File the plan the loop was started
	// with. NotRead means it was not compared.
	Backup fact.Status `json:"backup"`
	File   fact.Status `json:"file"`
	// Differs is meaningful only when both were read.
	Differs bool `json:"differs"`
}

// Closing is what the files say about the last phases. Sizes are in bytes; -1
// means that the file is not there.
type Closing struct {
	FinalizeSummary int64 `json:"finalize_summary_bytes"`
	AnalysisReport  int64 `json:"analysis_report_bytes"`
	AnalysisDone    int64 `json:"analysis_done_bytes"`
}

// Who has the ball.
type Who string

// The players.
const (
	Claude Who = "claude"
	Codex  Who = "codex"
	Human  Who = "human"
	Nobody Who = "nobody"
	// Undecided: the files can not tell and nobody looked at processes.
	Undecided Who = "unknown"
)

// Ball says whose move it is, since when, and why in one line.
type Ball struct {
	Who   Who       `json:"who"`
	Since time.Time `json:"since,omitzero"`
	Why   string    `json:"why"`
}

// Reviewer is what is known of the reviewer that was started last.
type Reviewer struct {
	// Open says that the files look like a wait: a reviewer was started for
	// Round and no result came of it. Alone it proves nothing.
	Open  bool `json:"open"`
	Round int  `json:"round"`
	Kind  Kind `json:"kind,omitempty"`
	// Checked tells how the liveness question was answered: OK when processes
	// were looked at, NotRead when nobody looked (offline), Unreadable with Why.
	Checked fact.Status `json:"checked"`
	Why     string      `json:"why,omitempty"`
	Alive   bool        `json:"alive"`
	PID     int         `json:"pid,omitempty"`
	// Started is the Timestamp of the .cmd file (or that file's own time).
	Started time.Time `json:"started,omitzero"`
	// Deadline is when the reviewer's own timeout strikes; HostDeadline is when
	// the host may kill the stop hook (7200 s after its first reviewer began).
	Deadline     time.Time `json:"deadline,omitzero"`
	HostDeadline time.Time `json:"host_deadline,omitzero"`
	Log          string    `json:"log,omitempty"`
	LogBytes     int64     `json:"log_bytes"`
	LogModTime   time.Time `json:"log_mod_time,omitzero"`
	// Missed are findings that stand in a clean review's log where Humanize does
	// not look (indented past column ten, or above the last 50 lines).
	Missed []Finding `json:"missed_findings,omitempty"`
}

// Severity orders warnings.
type Severity string

// The severities.
const (
	Red   Severity = "red"
	Amber Severity = "amber"
	Note  Severity = "note"
)

// Warning is one thing about a loop that a person should know.
type Warning struct {
	ID       string    `json:"id"` // kebab-case, stable
	Severity Severity  `json:"severity"`
	Text     string    `json:"text"` // one clean line
	Path     string    `json:"path,omitempty"`
	Line     int       `json:"line,omitempty"`
	Since    time.Time `json:"since,omitzero"`
}

// Refusal is one reason why the next stop will not simply go through.
type Refusal struct {
	// Gate is the check concerned, in Humanize's order: schema, branch,
	// plan-backup, plan-missing, plan-differs, analysis, tracked-humanize,
	// dirty-tree, unpushed, summary, contract, bitlesson, tracker, round-limit,
	// verdict, model.
	Gate string `json:"gate"`
	// Ends is set where the stop would not be refused but would end the loop.
	Ends bool   `json:"ends"`
	Text string `json:"text"`
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Set is everything the .humanize tree of one worktree holds about loops.
type Set struct {
	Root  string `json:"root"` // absolute
	Loops []Loop `json:"loops"`
	// Dropped counts loop folders beyond the listing limit (oldest ones).
	Dropped       int            `json:"dropped"`
	Consultations []Consultation `json:"consultations"` // newest first
	Bitlessons    Bitlessons     `json:"bitlessons"`
	Signal        Signal         `json:"signal"`
	Warnings      []Warning      `json:"warnings"`
	Origin        fact.Origin    `json:"origin"`
	// Git is put in by whoever joins the facts, before Judge, At or Keep; the
	// zero value refuses nothing.
	Git Git `json:"-"`
}

// Current is the loop a cockpit follows: the newest of the current layout,
// whether it runs or has ended. Nil when there is none.
func (s *Set) Current() *Loop {
	for _, layout := range []Layout{RLCR, Local} {
		for i := range s.Loops {
			if s.Loops[i].Layout == layout {
				return &s.Loops[i]
			}
		}
	}
	return nil
}

// Find returns the loop of that name, or nil.
func (s *Set) Find(name string) *Loop {
	for i := range s.Loops {
		if s.Loops[i].Name == name {
			return &s.Loops[i]
		}
	}
	return nil
}

// Signal is .humanize/.pending-session-id.
type Signal struct {
	Pending   bool      `json:"pending"`
	StatePath string    `json:"state_path,omitempty"`
	Script    string    `json:"script,omitempty"`
	Since     time.Time `json:"since,omitzero"`
}

// Consultation is one ask-codex or ask-gemini call under .humanize/skill.
type Consultation struct {
	ID       string `json:"id"`
	Tool     string `json:"tool,omitempty"`
	Model    string `json:"model,omitempty"`
	Effort   string `json:"effort,omitempty"`
	Question string `json:"question,omitempty"` // first line
	// Status is success, error, timeout, empty_response as the tool wrote it, or
	// "open" while there is no metadata: it runs, or it died.
	Status   string        `json:"status"`
	ExitCode Int           `json:"exit_code"`
	Timeout  time.Duration `json:"timeout_ns,omitempty"`
	Took     time.Duration `json:"took_ns,omitempty"`
	Started  time.Time     `json:"started,omitzero"`
	Origin   fact.Origin   `json:"origin"`
}

// Bitlessons is what .humanize/bitlesson.md holds.
type Bitlessons struct {
	Count  int         `json:"count"`
	IDs    []string    `json:"ids,omitempty"`
	Origin fact.Origin `json:"origin"`
}
