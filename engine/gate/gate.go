// Package gate is the room for the human gates: what must hold before one may
// open, the phrase a person types, the seal that binds the decision to bytes,
// and the state machine that takes no key it should not take.
//
// Guarantees: nothing in here approves by itself. A seal comes out of
// Session.Commit only, after the exact phrase was typed key by key by a present
// person while every bound fact stayed as it was shown. Facts come in, decisions
// come out; time is an argument.
//
// What may not enter: files, terminals, processes, the clock, and any setting
// that skips a step.
package gate

import (
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/repo"
)

// ID names a gate.
type ID string

// The gates that bind bytes so far.
const (
	G1 ID = "G1" // plan review
	G2 ID = "G2" // loop start
)

// Title is the gate's name on screen.
func (g ID) Title() string {
	if g == G1 {
		return "gate 1: plan review"
	}
	return "gate 2: loop start"
}

// State is how a precondition stands.
type State string

// The states. Only Red and Unknown close a gate. NotRun is what preflight says
// until there is one: it is shown, sealed as such, and does not close.
const (
	Green   State = "green"
	Waived  State = "waived"
	Red     State = "red"
	Unknown State = "not known"
	NotRun  State = "not run"
)

// Closes reports whether the state keeps a gate shut.
func (s State) Closes() bool { return s == Red || s == Unknown }

// Precondition is one thing that must hold.
type Precondition struct {
	// ID is stable, for example "plan-readable"; waivers name it.
	ID    string `json:"id"`
	Title string `json:"title"`
	State State  `json:"state"`
	// Evidence quotes what was seen, one clean line each.
	Evidence []string `json:"evidence,omitempty"`
	// Clears says what makes it green.
	Clears string  `json:"clears,omitempty"`
	Waiver *Waiver `json:"waiver,omitempty"`
	// Firm preconditions can not be waived: without them the decision would be
	// about nothing, or Humanize would refuse anyway.
	Firm bool `json:"firm,omitempty"`
}

// Waiver excuses one precondition for the bytes it was written about.
type Waiver struct {
	// Precondition is its id; Binds the hash it excuses (the plan's).
	Precondition string    `json:"precondition"`
	Binds        string    `json:"binds"`
	Who          string    `json:"who"`
	Why          string    `json:"why"`
	At           time.Time `json:"at"`
}

// Bound is a file bound by its bytes.
type Bound struct {
	// Path is relative to the worktree, with slashes.
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	// Status and Why say whether the hash is of bytes read now. They are not
	// part of a seal.
	Status fact.Status `json:"-"`
	Why    string      `json:"-"`
}

// Issue is something the plan's own text says against approval.
type Issue struct {
	// ID is stable, for example "placeholder"; Line is 1-based, 0 for the whole.
	ID    string
	Title string
	Line  int
	Text  string
	// Blocks keeps the gate shut; others are questions for the reader.
	Blocks bool
	Clears string
}

// Section is one heading of the plan.
type Section struct {
	ID, Title string
	Line      int
}

// Preflight is the result that G2 binds.
type Preflight struct {
	// State is NotRun, Green or Red.
	State State
	At    time.Time
	// Hash is of the stored result; "" when not run.
	Hash string
	Text string
	// Due is true once this program can run a preflight: from then on a gate
	// does not open without one, unless waived.
	Due bool
}

// Facts are everything a gate looks at. They are read anew before a seal is
// made.
type Facts struct {
	Now  time.Time
	Plan Bound
	// PlanText is the plan as it was read: what an approval is about.
	PlanText string
	Draft    Bound
	// Judges are the files that decide, at the base commit. JudgesWhy says why
	// they are not known.
	Judges    []Bound
	JudgesWhy string
	Issues    []Issue
	// Sections are those of the plan; Seen holds the ids that were on screen.
	Sections []Section
	Seen     map[string]bool
	// SeenOf is the SHA-256 of the plan that Seen is about. If it is another one
	// than the plan's, nothing counts as seen; "" leaves that to the caller.
	SeenOf string

	// Repo is git's word, with Base asked for BaseBranch.
	Repo repo.Repo
	// BaseBranch and BaseCommit are what the task is locked to.
	BaseBranch, BaseCommit string
	// PlanIgnored and PlanTracked are nil when git was not asked.
	PlanIgnored, PlanTracked *bool
	// Setup lists what Humanize's setup would refuse about plan path, plan
	// length and start options, in its order.
	Setup []string
	// ActiveLoop is the name of a loop that is running, "" for none.
	ActiveLoop string
	LoopsKnown bool

	Preflight Preflight
	// SetupUnknown names what could not be decided here and setup will look at.
	SetupUnknown []string
	// Humanize is the installed version, "" when not known.
	Humanize string
	// Argv is the start command, element by element.
	Argv []string

	// G1 is the newest seal of gate 1, nil when there is none; G1Broken says
	// why it does not hold any more.
	G1       *Seal
	G1Broken []Change

	Waivers []Waiver
}

// Open reports whether all preconditions let the gate open, with the first
// thing that does not.
func Open(pre []Precondition) (bool, string) {
	for _, p := range pre {
		if p.State.Closes() {
			why := p.Title
			if len(p.Evidence) > 0 {
				why += ": " + p.Evidence[0]
			}
			return false, why
		}
	}
	return true, ""
}

// Check gives the preconditions of a gate, in the order a person should read.
func Check(g ID, f *Facts) []Precondition {
	var pre []Precondition
	if g == G1 {
		pre = checkG1(f)
	} else {
		pre = checkG2(f)
	}
	for i := range pre {
		waive(&pre[i], f)
	}
	return pre
}

// waive turns a red into a waived one if a waiver names it and binds the plan
// as it is.
func waive(p *Precondition, f *Facts) {
	if p.State != Red && p.State != Unknown || p.Firm {
		return
	}
	for i := range f.Waivers {
		w := f.Waivers[i]
		if w.Precondition == p.ID && w.Binds == f.Plan.SHA256 && w.Binds != "" && strings.TrimSpace(w.Why) != "" {
			p.State, p.Waiver = Waived, &w
			return
		}
	}
}
