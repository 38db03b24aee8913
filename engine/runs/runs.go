// Package runs is the room for what a run IS: the manifest that was written
// before it started, the state it is in, how far it got, and how it ended. A
// preset becomes an argument list here.
//
// What may not enter: starting, watching or killing a process (probes/run), and
// deciding whether the numbers of a run are true (engine/bench): Verdict only
// carries that decision.
package runs

import (
	"time"

	"kdapilot/engine/fact"
)

// ID names a run and its folder: UTC start time, preset, four hex digits, for
// example "20260821-140502-smoke-3f2a". IDs sort by start time.
type ID string

// Kind is the class of work, which decides what may be compared with what.
type Kind string

// The kinds of run.
const (
	Harness Kind = "harness"
	Pytest  Kind = "pytest"
	Profile Kind = "profile"
	AB      Kind = "ab"
	Floor   Kind = "floor"
	Control Kind = "control"
	Verify  Kind = "verify"
	Other   Kind = "other"
)

// State is where a run stands. The zero value is not a state: it means nobody
// has looked.
type State string

// The states of a run.
const (
	// Queued means the supervisor waits for a GPU or for the worktree.
	Queued State = "queued"
	// Running means the child is alive and its supervisor too.
	Running State = "running"
	// Ended means the child exited by itself; the exit code is in the Result.
	Ended State = "ended"
	// Cancelled means a person stopped it; output up to there is kept.
	Cancelled State = "cancelled"
	// Failed means the child never started; Result.Why says why.
	Failed State = "failed"
	// Lost means the supervisor is gone without a result: whatever output is
	// there is partial and proves nothing.
	Lost State = "lost"
	// Elsewhere means the run belongs to another host or container, so its
	// liveness can not be seen from here.
	Elsewhere State = "elsewhere"
	// Unreadable means the folder's records can not be understood; Why says which.
	Unreadable State = "unreadable"
)

// Final reports whether the state can not change any more.
func (s State) Final() bool {
	return s == Ended || s == Cancelled || s == Failed || s == Lost
}

// Hashed is a file bound by its bytes. Path is relative to the worktree in a
// Manifest and relative to the run folder in a Result.
type Hashed struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// Size is in bytes.
	Size int64 `json:"size"`
}

// GPU is a device as the run saw it.
type GPU struct {
	// Index is the device index as HIP counts it with nothing hidden.
	Index int    `json:"index"`
	Name  string `json:"name,omitempty"`
	Arch  string `json:"arch,omitempty"`
	// ID is a serial or unique id where the tools gave one.
	ID string `json:"id,omitempty"`
}

// Place is where a process id means something. Two processes with the same id
// are the same only if Host, Boot and PIDSpace agree.
type Place struct {
	Host string `json:"host"`
	// Boot is the kernel's boot id; PIDSpace names the pid namespace.
	Boot     string `json:"boot,omitempty"`
	PIDSpace string `json:"pid_space,omitempty"`
}

// Proc is a process that can be recognised again: StartTicks is field 22 of
// /proc/PID/stat, in clock ticks since boot.
type Proc struct {
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"`
}

// Manifest is written and synced before anything starts. It says what was going
// to run, on what, and why; nothing in it is filled in afterwards.
type Manifest struct {
	// Version of this layout; FormatVersion when written by this program.
	Version int    `json:"version"`
	ID      ID     `json:"id"`
	Preset  string `json:"preset"`
	Kind    Kind   `json:"kind"`
	Family  string `json:"family,omitempty"`
	// Question is the named question the run answers, for profiles above all.
	Question string `json:"question,omitempty"`
	// Arm tells base from candidate in an interleaved comparison.
	Arm string `json:"arm,omitempty"`
	// Sequence is the step of an interleaved comparison, "ID/3" for the third: a
	// comparison that was killed finds its runs by it.
	Sequence string `json:"sequence,omitempty"`
	// RetryOf is the run this one repeats because that one ended as transient.
	RetryOf ID `json:"retry_of,omitempty"`
	// Simulated is true when the tools were stand-ins; such a run is no evidence.
	Simulated bool `json:"simulated,omitempty"`

	// Argv is the command as a person would type it; wrappers are not in it.
	Argv []string `json:"argv"`
	// Env holds the variables this run sets; Inherited the ones it found that
	// can change a result (HIP_*, PYTHONPATH, ...); Unset the ones taken away.
	Env       map[string]string `json:"env,omitempty"`
	Inherited map[string]string `json:"inherited,omitempty"`
	Unset     []string          `json:"unset,omitempty"`
	// RunEnv is the runenv.sh that is sourced first, if any.
	RunEnv *Hashed `json:"runenv,omitempty"`
	Cwd    string  `json:"cwd"`

	Worktree string `json:"worktree"`
	Branch   string `json:"branch,omitempty"`
	Head     string `json:"head,omitempty"`
	// DirtyHash covers names and bytes of all uncommitted files outside
	// .humanize; empty means the tree was clean or nobody looked: see DirtyFiles.
	DirtyHash string `json:"dirty_hash,omitempty"`
	// DirtyFiles is nil when nobody looked.
	DirtyFiles *int `json:"dirty_files,omitempty"`

	GPUs  []GPU `json:"gpus,omitempty"`
	Place Place `json:"place"`
	// Harness are the files that judge: hashes at start.
	Harness []Hashed `json:"harness,omitempty"`
	// ExpectedCells is nil when the family's tables do not say.
	ExpectedCells *int `json:"expected_cells,omitempty"`
	// Captures are file name patterns in Cwd that are moved into the run folder
	// when the run ends, for example "fmha_*.csv".
	Captures []string `json:"captures,omitempty"`

	Started time.Time `json:"started"`
	// GraceSeconds is the time between TERM and KILL on a cancel.
	GraceSeconds float64 `json:"grace_seconds"`
	// Queue is true when the run waits for a busy GPU, false when it refuses.
	Queue bool `json:"queue,omitempty"`
	// Executor is who runs it: "local" here.
	Executor string `json:"executor"`
}

// FormatVersion is the Manifest layout this program writes and reads.
const FormatVersion = 1

// Status is the supervisor's own word while it lives. It is replaced whole.
type Status struct {
	State State `json:"state"`
	// Why says what a queued run waits for.
	Why        string    `json:"why,omitempty"`
	Supervisor Proc      `json:"supervisor"`
	Child      *Proc     `json:"child,omitempty"`
	Place      Place     `json:"place"`
	Updated    time.Time `json:"updated"`
	// ChildStarted is when the child was started, after any queueing.
	ChildStarted time.Time `json:"child_started,omitzero"`
}

// Result is written once, when nothing of the run can change any more.
type Result struct {
	Version int   `json:"version"`
	ID      ID    `json:"id"`
	State   State `json:"state"`
	// Exit is the child's exit code; nil when it was ended by a signal or never
	// started.
	Exit *int `json:"exit,omitempty"`
	// Signal is the name of the signal that ended the child, for example "SIGABRT".
	Signal       string `json:"signal,omitempty"`
	SignalNumber int    `json:"signal_number,omitempty"`
	Core         bool   `json:"core,omitempty"`
	Why          string `json:"why,omitempty"`
	// Partial marks output that stops in the middle: cancelled, lost or killed.
	Partial bool `json:"partial,omitempty"`

	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// WallSeconds is the child's life on a monotonic clock; QueuedSeconds is the
	// wait before it.
	WallSeconds   float64 `json:"wall_seconds"`
	QueuedSeconds float64 `json:"queued_seconds,omitempty"`
	// UserSeconds, SystemSeconds and MaxRSSBytes come from the child's rusage.
	UserSeconds   float64 `json:"user_seconds,omitempty"`
	SystemSeconds float64 `json:"system_seconds,omitempty"`
	MaxRSSBytes   int64   `json:"max_rss_bytes,omitempty"`

	// Files are all files of the closed run folder; Captured names those that
	// were moved in from Cwd. Stale names pattern matches that were left alone
	// because this run did not write them.
	Files    []Hashed `json:"files,omitempty"`
	Captured []string `json:"captured,omitempty"`
	Stale    []string `json:"stale,omitempty"`
	// LeftBehind counts processes of the run that outlived the command and had
	// to be killed.
	LeftBehind int `json:"left_behind,omitempty"`

	// Foreign are processes of others seen on the run's GPUs: the numbers are
	// contaminated. ForeignLooks counts the looks that worked; with none, an
	// empty list proves nothing, and ForeignWhy says why.
	Foreign      []Foreign `json:"foreign,omitempty"`
	ForeignLooks int       `json:"foreign_looks"`
	ForeignWhy   string    `json:"foreign_why,omitempty"`

	// Samples are how the GPUs of the run stood before, during and after it; nil
	// when nobody could look: SamplesWhy then says why.
	Samples    []GPUSample `json:"gpu_samples,omitempty"`
	SamplesWhy string      `json:"gpu_samples_why,omitempty"`

	// Verdict and Counts are filled in by whoever reads rows and log, never by
	// the supervisor.
	Verdict *Verdict `json:"verdict,omitempty"`
	Counts  *Counts  `json:"counts,omitempty"`
}

// ShellExit is the exit status as a shell reports it: the exit code, or 128 plus
// the number of the signal (134 for an abort, 139 for a segmentation fault). It
// is nil when the command never ran.
func (r Result) ShellExit() *int {
	if r.Exit != nil || r.SignalNumber <= 0 {
		return r.Exit
	}
	n := 128 + r.SignalNumber
	return &n
}

// GPUSample is one look at a device. Nil fields could not be read.
type GPUSample struct {
	GPU int `json:"gpu"`
	// When is before, during or after the run.
	When string    `json:"when"`
	At   time.Time `json:"at"`
	// ClockMHz is the shader clock, TempC the hottest die sensor, BusyPct the
	// share of time the shaders worked.
	ClockMHz    *float64 `json:"clock_mhz,omitempty"`
	MemClockMHz *float64 `json:"mem_clock_mhz,omitempty"`
	PowerWatts  *float64 `json:"power_watts,omitempty"`
	TempC       *float64 `json:"temp_c,omitempty"`
	BusyPct     *float64 `json:"busy_pct,omitempty"`
	// PerfLevel is the clock policy in force, for example "auto".
	PerfLevel string `json:"perf_level,omitempty"`
}

// Clock is the least and the greatest shader clock seen during the run, in MHz;
// ok is false when it was not seen.
func (r *Result) Clock() (least, most float64, ok bool) {
	for _, s := range r.Samples {
		if s.When != "during" || s.ClockMHz == nil {
			continue
		}
		if !ok || *s.ClockMHz < least {
			least = *s.ClockMHz
		}
		most, ok = max(most, *s.ClockMHz), true
	}
	return least, most, ok
}

// Foreign is one sighting of a process that does not belong to the run.
type Foreign struct {
	// GPU is the device index, -1 when the tools did not say which.
	GPU     int    `json:"gpu"`
	PID     int    `json:"pid"`
	Command string `json:"command,omitempty"`
	// When is "before", "during" or "after" the run.
	When string    `json:"when"`
	At   time.Time `json:"at"`
}

// Contaminated reports whether others used the GPU, and whether that is known
// at all.
func (r Result) Contaminated() (yes, known bool) {
	return len(r.Foreign) > 0, len(r.Foreign) > 0 || r.ForeignLooks > 0 && r.ForeignWhy == ""
}

// Verdict carries the three-way truth: what the exit code says, what the rows
// say, what the log text says, and whether they agree. Each of the three is
// "pass", "fail" or "silent".
type Verdict struct {
	Exit  string `json:"exit"`
	Rows  string `json:"rows"`
	Text  string `json:"text"`
	Agree bool   `json:"agree"`
	// Pass is true only if all three say pass.
	Pass bool `json:"pass"`
	// Quotes show what disagrees, each one clean line with its place.
	Quotes []string `json:"quotes,omitempty"`
}

// Counts are cells by outcome. Missing cells stay in the denominator.
type Counts struct {
	Pass    int `json:"pass"`
	Fail    int `json:"fail"`
	Error   int `json:"error"`
	Skip    int `json:"skip"`
	Missing int `json:"missing"`
}

// Run is one run as read back from its folder. Manifest is always there; Status
// and Result may be nil.
type Run struct {
	ID       ID          `json:"id"`
	Dir      string      `json:"dir"`
	Origin   fact.Origin `json:"origin"`
	State    State       `json:"state"`
	Why      string      `json:"why,omitempty"`
	Manifest Manifest    `json:"manifest"`
	Status   *Status     `json:"status,omitempty"`
	Result   *Result     `json:"result,omitempty"`
	// Partial labels output that must not be taken for a whole run.
	Partial bool `json:"partial,omitempty"`
	// ChildAlive is true when the supervisor is gone and its child still runs.
	ChildAlive bool     `json:"child_alive,omitempty"`
	Progress   Progress `json:"progress"`
	// StdoutBytes and StderrBytes are the log sizes when the folder was read.
	StdoutBytes int64 `json:"stdout_bytes"`
	StderrBytes int64 `json:"stderr_bytes"`
}
