// Package preflight is the room for what must be true of a host and a worktree
// before a loop may start: one row per check, judged from facts, bound to the
// environment it was seen in.
//
// Guarantees: a row says what was seen and what to do; what could not be
// decided is "not known" and never green; a red row stays red until the thing
// itself is green, and a result that does not describe this host any more
// counts as red.
//
// What may not enter: files, processes, the clock. probes/host gathers facts.
package preflight

import (
	"fmt"
	"strings"
	"time"

	"kdapilot/engine/text"
)

// ID names a check. PF and HF ids are those of the rule catalogue.
type ID string

// The checks, in the order they are shown.
const (
	Codex      ID = "PF-01"
	Import     ID = "PF-02"
	RunEnv     ID = "PF-03"
	BuildTree  ID = "PF-04"
	Conftest   ID = "PF-05"
	BuildAge   ID = "PF-06"
	MergeGate  ID = "PF-07"
	MultiGPU   ID = "PF-08"
	GPU        ID = "PF-09"
	Skills     ID = "PF-10"
	Downgraded ID = "PF-11"
	Current    ID = "PF-12"
	OwnTree    ID = "HF-01"
	BaseNamed  ID = "HF-07"
	BaseClean  ID = "HF-08"
	// These three have no number in the catalogue.
	Commands ID = "commands"
	Humanize ID = "humanize"
	Git      ID = "git"
	Profiler ID = "profiler"
)

// Order lists all checks as they are shown.
func Order() []ID {
	return []ID{Codex, Import, RunEnv, BuildTree, Conftest, BuildAge, MergeGate, MultiGPU, GPU, Skills,
		Profiler, Commands, Humanize, Git, OwnTree, BaseNamed, BaseClean, Downgraded, Current}
}

// Title says in one line what a green row means.
func (id ID) Title() string {
	switch id {
	case Codex:
		return "the Codex model answers"
	case Import:
		return "flydsl._mlir imports from this worktree"
	case RunEnv:
		return "the run environment is written and its paths exist"
	case BuildTree:
		return "build-fly is private"
	case Conftest:
		return "pytest honours FLY_BUILD_DIR"
	case BuildAge:
		return "the build is not older than its sources"
	case MergeGate:
		return "the merge gate ran once at the base, end to end"
	case MultiGPU:
		return "multi-GPU tests are split off, or there are enough GPUs"
	case GPU:
		return "a GPU of the planned arch is visible"
	case Skills:
		return "the skills and flyprof are installed"
	case Profiler:
		return "rocprofv3 and the trace decoder are there"
	case Commands:
		return "claude, codex, jq and python3 are on PATH"
	case Humanize:
		return "Humanize is installed"
	case Git:
		return "git is in no half-done state"
	case OwnTree:
		return "the loop gets a worktree of its own"
	case BaseNamed:
		return "the base is a local branch at the pinned commit"
	case BaseClean:
		return "the base is clean and HEAD comes from it"
	case Downgraded:
		return "no red row was downgraded"
	case Current:
		return "the result describes this host as it is"
	default:
		return string(id)
	}
}

// Blocks says what an unmet check keeps shut: "G2", "runs", or "" for nothing.
func (id ID) Blocks() string {
	switch id {
	case RunEnv, MultiGPU:
		return ""
	case GPU:
		return "runs"
	default:
		return "G2"
	}
}

// State is how a check stands. The zero value is no state.
type State string

// The states. NotNeeded is for a check that has no meaning here, for example
// FlyDSL's build tree in a worktree without FlyDSL.
const (
	Green     State = "green"
	Amber     State = "amber"
	Red       State = "red"
	NotRun    State = "not run"
	Unknown   State = "not known"
	NotNeeded State = "not needed"
)

func (s State) known() bool {
	switch s {
	case Green, Amber, Red, NotRun, Unknown, NotNeeded:
		return true
	}
	return false
}

// Row is one check as it was seen.
type Row struct {
	ID    ID     `json:"id"`
	Title string `json:"title"`
	State State  `json:"state"`
	// Seen quotes what was there, one clean line each.
	Seen []string `json:"seen,omitempty"`
	// TookMS is how long looking took, in milliseconds.
	TookMS int64 `json:"took_ms"`
	// Do says what makes it green; Fix names what `--fix` can do about it.
	Do  string `json:"do,omitempty"`
	Fix string `json:"fix,omitempty"`
	// Blocks is "G2", "runs" or "".
	Blocks string `json:"blocks,omitempty"`
}

// The fixes that a person can ask for by name.
const (
	FixRunEnv  = "runenv"      // write runenv.sh
	FixExclude = "exclude"     // ignore lines into .git/info/exclude
	FixBase    = "base-branch" // create the local base branch at the pinned commit
	FixCodex   = "codex"       // ask the model once
	FixSkills  = "skills"      // what bootstrap does
)

// Holds reports whether the row keeps what it blocks shut.
func (r Row) Holds() bool {
	if r.State == Green || r.State == NotNeeded {
		return false
	}
	return r.State == Red || r.Blocks != "" && r.State != Amber
}

// Stamp gives the row with the time it took; probes call it.
func (r Row) Stamp(took time.Duration) Row {
	r.TookMS = took.Milliseconds()
	return r
}

const (
	seenLimit = 8   // lines kept in one row
	lineLimit = 300 // bytes of one line
)

// row builds a row; every line goes through the cleaner.
func row(id ID, s State, do string, seen ...string) Row {
	r := Row{ID: id, Title: id.Title(), State: s, Do: do, Blocks: id.Blocks()}
	for i, l := range seen {
		if i == seenLimit {
			r.Seen = append(r.Seen, fmt.Sprintf("and %d more", len(seen)-seenLimit))
			break
		}
		if l = text.Clip(text.Line(l), lineLimit); l != "" {
			r.Seen = append(r.Seen, l)
		}
	}
	if s == Green || s == NotNeeded {
		r.Do = ""
	}
	return r
}

func (r Row) fix(name string) Row {
	if r.State != Green && r.State != NotNeeded {
		r.Fix = name
	}
	return r
}

// Fail is the row of a check that could not be made at all.
func Fail(id ID, why string) Row {
	return row(id, Unknown, "see what failed and run preflight again", why)
}

// Skip is the row of a check that has no meaning here.
func Skip(id ID, why string) Row { return row(id, NotNeeded, "", why) }

func short(sha string) string {
	if len(sha) > 9 {
		return sha[:9]
	}
	return sha
}

// age gives a duration in the coarsest unit that says enough.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "in the future"
	case d < time.Minute:
		return fmt.Sprintf("%d s old", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min old", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h old", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days old", int(d.Hours()/24))
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func orNone(s, none string) string {
	if strings.TrimSpace(s) == "" {
		return none
	}
	return s
}
