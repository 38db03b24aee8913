package session

import (
	"kdapilot/engine/gate"
	"kdapilot/engine/runs"
)

// Action is something a person asked for with a key or a command. The set is
// closed: the types below are all there are.
type Action interface{ action() }

// Rescan reads everything again, as ctrl+l and :rescan do.
type Rescan struct{}

// OpenRound loads the texts of one round into Snapshot.Round.
type OpenRound struct {
	Loop  string
	Round int
}

// OpenBundle loads a bundle or dispatch directory into Snapshot.Analyses. The
// stall classes come first, the producers of waits later.
type OpenBundle struct{ Path string }

// OpenLog follows the log of a run in Snapshot.Log; an empty ID closes it.
type OpenLog struct{ ID runs.ID }

// OpenRows reads result files (harness logs, CSV) given by path into
// Snapshot.Sets.
type OpenRows struct{ Paths []string }

// CompareSets compares two row sets by RowSet.ID into Snapshot.Delta. Both
// empty goes back to the standard pair.
type CompareSets struct{ Base, Cand string }

// StartRun starts a preset of the family, or Argv when Preset is empty.
// Dangerous: needs operate mode.
type StartRun struct {
	Preset string
	Argv   []string
	// Cell is the key of the focus cell, for presets that need one.
	Cell string
	// Question is the named question a profile answers.
	Question string
	GPU      int
	// Kernel overrides the family's kernel for flyprof-run.
	Kernel string
	// Before and After are the bundles of flyprof-diff, by path; Class is the
	// stall class flyprof-wiki looks up.
	Before, After, Class string
	// Arm labels a run of a sequence: base, candidate, control or verify. Such a
	// run waits for its GPU.
	Arm string
	// Sequence is the step of the sequence: see runs.Manifest.
	Sequence string
	// RetryOf is the run that ended as transient and is repeated by this one.
	RetryOf runs.ID
}

// CancelRun ends a run: TERM to its process group, KILL after a grace time.
// Dangerous.
type CancelRun struct{ ID runs.ID }

// OpenGate reads all facts of a gate anew and checks that a person is there.
// The reply carries the facts; the opening goes into the journal.
type OpenGate struct{ Gate gate.ID }

// SealGate commits an open gate whose phrase is complete: everything is read
// once more and compared with what was shown. The Session is the action's alone
// until the reply comes.
type SealGate struct {
	Session *gate.Session
	// Seen are the sections that were on screen of the plan with hash SeenOf.
	Seen   map[string]bool
	SeenOf string
}

// NoteRefusals writes refused attempts into the journal.
type NoteRefusals struct{ List []gate.Refusal }

// CheckHost makes all preflight checks again; rows come in Snapshot.Preflight
// and the result is stored. AskModel also asks the reviewer's model, which is
// paid for.
type CheckHost struct{ AskModel bool }

// RepairHost does one repair that a preflight row names, and checks again.
// Dangerous.
type RepairHost struct{ Name string }

// Deliver hands the sealed start command of gate 2 to where a person picked.
type Deliver struct {
	Route DeliverRoute
	// Pane is the tmux pane id for ToPane.
	Pane string
	Text string
}

// DeliverRoute is how a start command reaches the agent's terminal.
type DeliverRoute string

// The routes.
const (
	// ToPane pastes into a tmux pane and presses Enter there.
	ToPane DeliverRoute = "tmux pane"
	// ToClipboard hands it to `tmux load-buffer -w -`.
	ToClipboard DeliverRoute = "clipboard"
	// ToText only shows it: a person types or copies it.
	ToText DeliverRoute = "text"
	// ToDemo hands it to the simulated loop of the demo world.
	ToDemo DeliverRoute = "simulated loop"
)

// ListPanes asks for the tmux panes a start command could go to; the answer
// comes in Snapshot.Panes.
type ListPanes struct{}

// WriteFile saves text a person asked to keep (w) below the state folder.
type WriteFile struct {
	Name string
	Text string
}

// Copy puts text on the clipboard of the outer terminal through tmux; the
// reply says which route was used. Terminals outside tmux are served by the ui
// itself.
type Copy struct{ Text string }

// MarkSeen remembers that the person has looked at the state up to now.
type MarkSeen struct{}

func (Rescan) action()       {}
func (OpenRound) action()    {}
func (OpenBundle) action()   {}
func (OpenLog) action()      {}
func (OpenRows) action()     {}
func (CompareSets) action()  {}
func (StartRun) action()     {}
func (CancelRun) action()    {}
func (OpenGate) action()     {}
func (SealGate) action()     {}
func (NoteRefusals) action() {}
func (CheckHost) action()    {}
func (RepairHost) action()   {}
func (Deliver) action()      {}
func (ListPanes) action()    {}
func (WriteFile) action()    {}
func (Copy) action()         {}
func (MarkSeen) action()     {}
