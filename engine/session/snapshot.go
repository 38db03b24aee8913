package session

import (
	"time"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/family"
	"kdapilot/engine/loop"
	"kdapilot/engine/preflight"
	"kdapilot/engine/profile"
	"kdapilot/engine/repo"
	"kdapilot/engine/runs"
	"kdapilot/engine/stall"
)

// Mode says what kind of folder the snapshot was built from.
type Mode string

// The modes. Offline is a copied folder: no git, no processes, no actions.
const (
	Live    Mode = "live"
	Offline Mode = "offline"
)

// Snapshot holds everything any screen shows. It is immutable: a change is a
// new Snapshot with a higher Version. Unknown parts carry a Status that says
// so; nothing unknown is ever zero.
type Snapshot struct {
	// Version grows by one with every change; screens cache by it.
	Version uint64 `json:"version"`
	// At is when the newest fact in it was read.
	At   time.Time `json:"at"`
	Mode Mode      `json:"mode"`
	// Root is the absolute worktree or folder that was opened.
	Root string `json:"root"`
	// Simulated is true in the demo world: the tools are stand-ins and no number
	// is evidence. Every screen says so.
	Simulated bool `json:"simulated"`

	Host   Host           `json:"host"`
	Task   Task           `json:"task"`
	Family *family.Family `json:"family,omitempty"`
	// FamilyWhy says why there is no family.
	FamilyWhy string    `json:"family_why,omitempty"`
	Repo      repo.Repo `json:"repo"`
	Loops     loop.Set  `json:"loops"`
	Plan      Plan      `json:"plan"`
	Gates     Gates     `json:"gates"`
	// Preflight is the stored result beside the environment as it is, and the
	// rows of a run of the checks that is under way.
	Preflight preflight.Live `json:"-"`

	// Bundles are the flyprof bundles found under Root, newest first. Analyses
	// holds those that were opened, by Bundle.Path.
	Bundles       []Bundle                   `json:"bundles"`
	BundlesStatus fact.Origin                `json:"bundles_origin"`
	Analyses      map[string]*stall.Analysis `json:"-"`
	// AnalysisErrs says why a bundle could not be opened, by Bundle.Path.
	AnalysisErrs map[string]string `json:"analysis_errors,omitempty"`

	// Runs are newest first. Results holds the rows of runs that were read.
	Runs       []runs.Run                `json:"runs"`
	RunsStatus fact.Origin               `json:"runs_origin"`
	Results    map[runs.ID]*bench.Result `json:"-"`
	// Ends are how runs of flyprof ended, as its envelopes say: such a run has no
	// rows and is never judged as a harness.
	Ends map[runs.ID]*profile.End `json:"-"`
	// Reports are the rocm-report folders found below Root, newest first.
	Reports []profile.Report `json:"reports"`
	// Sets are the row sets the bench screen can show and compare: finished
	// runs with rows, and result files found or opened, newest first.
	Sets []RowSet `json:"-"`
	// Delta compares two of them: the pair a person picked, else the newest set
	// with the newest older one of its family; nil when there is no pair.
	Delta *Delta `json:"delta,omitempty"`

	// Round holds the texts of the round that was opened last; nil when none.
	Round *RoundTexts `json:"-"`
	// Log is the log of the run that is being followed.
	Log   Log     `json:"-"`
	LogID runs.ID `json:"-"`
	// LogWhole is true once Log holds all that a run which ended has written.
	LogWhole bool `json:"-"`
	// Panes are the tmux panes a start command could go to; nil: not asked.
	Panes []Pane `json:"-"`

	Journal Journal  `json:"journal"`
	Watch   Watch    `json:"watch"`
	Notices []Notice `json:"notices"`
	Since   *Since   `json:"since,omitempty"`
}

// Host is where the cockpit runs and what it can drive.
type Host struct {
	Name string `json:"name"`
	// GPUs are the devices seen; GPUStatus says whether anybody looked.
	GPUs      []runs.GPU  `json:"gpus"`
	GPUStatus fact.Origin `json:"gpu_origin"`
	// InTmux is true when the cockpit sits in a tmux pane.
	InTmux bool `json:"in_tmux"`
}

// Bundle is one flyprof bundle or trace folder, listed but not yet read.
type Bundle struct {
	// Path is absolute and identifies the bundle; Name is relative to Root.
	Path    string    `json:"path"`
	Name    string    `json:"name"`
	Kind    string    `json:"kind"`
	ModTime time.Time `json:"mod_time"`
	// HasTrace, HasBubbles and HasReport say what is in it.
	HasTrace   bool `json:"has_trace"`
	HasBubbles bool `json:"has_bubbles"`
	HasReport  bool `json:"has_report"`
}

// RowSet is one set of benchmark rows with where it came from.
type RowSet struct {
	// ID is the run id, or the path of the file.
	ID    string
	Label string
	// When is the time the run ended or the file was written.
	When   time.Time
	Result *bench.Result
	Run    *runs.Run // nil for a file
	Origin fact.Origin
}

// Delta is a comparison of two arms. Base and Cand name the newest set of each,
// BaseSets and CandSets all their sets, by RowSet.ID.
type Delta struct {
	Base, Cand         string
	BaseSets, CandSets []string
	// Picked is true when a person chose the pair.
	Picked     bool
	Comparison bench.Comparison
	// Trend is nil where too few sets can be put in a row.
	Trend *Trend `json:"-"`
}

// RoundText is one text of a round, clean and bounded.
type RoundText struct {
	// Kind is contract, summary, review-result, prompt, review-prompt or log.
	Kind   string
	Name   string
	Text   string
	Cut    bool // bytes were left out
	Origin fact.Origin
}

// RoundTexts are the texts of one round, in reading order.
type RoundTexts struct {
	Loop  string
	Round int
	Texts []RoundText
}

// Pane is a tmux pane.
type Pane struct {
	ID, Title, Command string
	Active             bool
}

// Journal is the state of the hash-chained journal.
type Journal struct {
	Origin  fact.Origin `json:"origin"`
	Records int         `json:"records"`
	// Broken says at which line the chain breaks and why; empty when it holds.
	Broken string    `json:"broken,omitempty"`
	Last   time.Time `json:"last,omitzero"`
}

// Watch says how changes are noticed.
type Watch struct {
	// Mode is "inotify", "polling", "inotify, some folders polled", or "off".
	Mode string `json:"mode"`
	// Every is the poll interval, zero when nothing is polled.
	Every   time.Duration `json:"every,omitempty"`
	Folders int           `json:"folders"`
	Why     []string      `json:"why,omitempty"`
}

// Severity grades a notice.
type Severity string

// The severities.
const (
	Red   Severity = "red"
	Amber Severity = "amber"
	Info  Severity = "info"
)

// Notice is one line a person should see, from whichever part of the snapshot.
type Notice struct {
	Severity Severity `json:"severity"`
	// Area is the screen it belongs to: loop, plan, stalls, bench, runs, git,
	// gate, journal, watch.
	Area string `json:"area"`
	Text string `json:"text"`
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Since is what happened since the person last looked.
type Since struct {
	At    time.Time `json:"at"`
	Lines []string  `json:"lines"`
}

// Count returns how many notices there are of a severity.
func (s *Snapshot) Count(sev Severity) int {
	n := 0
	for _, x := range s.Notices {
		if x.Severity == sev {
			n++
		}
	}
	return n
}

// Set finds a row set by id, or nil.
func (s *Snapshot) Set(id string) *RowSet {
	for i := range s.Sets {
		if s.Sets[i].ID == id {
			return &s.Sets[i]
		}
	}
	return nil
}

// Run finds a run by id, or nil.
func (s *Snapshot) Run(id runs.ID) *runs.Run {
	for i := range s.Runs {
		if s.Runs[i].ID == id {
			return &s.Runs[i]
		}
	}
	return nil
}
