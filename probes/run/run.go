// Package run is the only room that starts long work: harness sweeps, profiles,
// comparisons. A run lives in its own folder under
// <worktree>/.humanize/kdapilot/runs/<id>/ and belongs to a small supervisor
// process (the same binary, `kdapilot __run DIR`) in a session of its own, so
// that a dropped SSH line or a killed cockpit does not end it. A later cockpit
// finds it by that folder alone.
//
// Guarantees: the manifest is on disk before anything starts; the child writes
// straight into stdout.log and stderr.log; one GPU never has two runs at once;
// a run without a result whose supervisor is gone is called lost, never ended.
//
// What may not enter: what the output means. Rows, verdicts and deltas are read
// from the folder by others.
package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"kdapilot/engine/runs"
)

// File names inside a run folder.
const (
	ManifestFile = "manifest.json"
	StatusFile   = "status.json"
	ResultFile   = "result.json"
	StdoutFile   = "stdout.log"
	StderrFile   = "stderr.log"
	RowsFile     = "rows.jsonl"
	// SamplesFile holds how the GPUs stood, one runs.GPUSample a line, as the run
	// went on.
	SamplesFile = "samples.jsonl"
	// SupervisorLog holds what the supervisor itself had to say.
	SupervisorLog = "supervisor.log"
	cancelFile    = "cancel.json"
)

// SuperviseCommand is the hidden subcommand that Local starts: the binary must
// call Supervise with the one argument that follows it.
const SuperviseCommand = "__run"

// DefaultGrace is the time between TERM and KILL when the Spec names none.
const DefaultGrace = 10 * time.Second

// Folder is where the runs of a worktree live.
func Folder(worktree string) string {
	return filepath.Join(worktree, ".humanize", "kdapilot", "runs")
}

// Spec is what a caller wants run. Argv and Worktree are required.
type Spec struct {
	Preset   string
	Kind     runs.Kind
	Family   string
	Question string
	Arm      string
	Sequence string
	// RetryOf is the run this one repeats.
	RetryOf runs.ID
	// Simulated marks runs of stand-in tools; it is carried into the manifest.
	Simulated bool

	Argv []string
	// Env is set on top of the inherited environment and of runenv.sh.
	Env map[string]string
	// Cwd defaults to Worktree. RunEnv is the script to source first; when empty,
	// <worktree>/runenv.sh is used if it exists. NoRunEnv switches that off.
	Cwd      string
	RunEnv   string
	NoRunEnv bool

	Worktree   string
	Branch     string
	Head       string
	DirtyHash  string
	DirtyFiles *int

	// GPUs are locked for the run and made the only visible ones. Empty means no
	// GPU is needed and none is locked.
	GPUs []runs.GPU
	// Judges are files to hash before the start, relative to Worktree.
	Judges        []string
	ExpectedCells *int
	Captures      []string
	// Grace between TERM and KILL; DefaultGrace if zero.
	Grace time.Duration
	// Queue waits for a busy GPU instead of refusing.
	Queue bool
}

// Executor carries out prepared run folders. Local is the one there is; one
// that hands folders to a cluster's queue fits without change to callers.
type Executor interface {
	// Name goes into the manifest.
	Name() string
	// Launch hands the folder over. It returns a *BusyError, and leaves nothing
	// behind, if the run may not wait for what it needs. It returns once the run
	// goes on without the caller.
	Launch(ctx context.Context, dir string, m runs.Manifest) error
	// State refines what the folder alone says about a run without a result.
	State(dir string, m runs.Manifest, s *runs.Status) (st runs.State, why string, childAlive bool)
	// Cancel asks for the end of the run and returns without waiting for it.
	Cancel(ctx context.Context, dir string, m runs.Manifest, s *runs.Status) error
}

// BusyError says what a refused run would have had to wait for.
type BusyError struct {
	// Resource is "GPU 0" or "folder /path".
	Resource string
	Holder   Holder
}

// Error reads like "GPU 0 busy: run X of worktree Y".
func (e *BusyError) Error() string { return e.Resource + " busy: " + e.Holder.String() }

// Holder is who holds a lock, as written into the lock file.
type Holder struct {
	Run      runs.ID    `json:"run,omitempty"`
	Worktree string     `json:"worktree,omitempty"`
	Dir      string     `json:"dir,omitempty"`
	Proc     *runs.Proc `json:"supervisor,omitempty"`
}

// String names the run, or says that the holder did not leave its name.
func (h Holder) String() string {
	if h.Run == "" {
		return "held by a run that has not written its name yet"
	}
	return fmt.Sprintf("run %s of worktree %s", h.Run, h.Worktree)
}

// Errors that callers tell apart.
var (
	// ErrNoRun means there is no manifest under that path or id.
	ErrNoRun = errors.New("no such run")
	// ErrFinal means the run has already ended and can not be cancelled.
	ErrFinal = errors.New("the run has already ended")
)
