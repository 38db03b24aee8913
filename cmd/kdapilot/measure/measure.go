// Package measure drives what needs several runs: two arms in turn on one GPU, a
// commit against itself, a suite in a clean checkout. Each run is an ordinary
// recorded run; what is done so far is on disk after every step.
//
// What may not enter: judging rows (engine/bench), the order of the arms
// (engine/interleave), and printing.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/engine/fact"
	"kdapilot/engine/interleave"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/probes/gitrepo"
)

// Why a sequence did not come to its end. All can be resumed.
var (
	// ErrStopped: a person stopped it.
	ErrStopped = errors.New("stopped")
	// ErrTimeout: a run took longer than it may and was cancelled.
	ErrTimeout = errors.New("too slow")
	// ErrNotStarted: the command of a run could not be started.
	ErrNotStarted = errors.New("could not be started")
	// ErrHeld: another process is doing this sequence.
	ErrHeld = errors.New("another process is at it")
)

// Driver runs things in worktrees.
type Driver struct {
	// Self is this binary, which supervises runs.
	Self string
	// Say tells what goes on, one line each.
	Say func(format string, args ...any)
	// Limit is how long one run may take; 0 is what the family says of the preset.
	Limit time.Duration

	open map[string]*live.Session
	pace pace
}

// Close ends what the driver opened.
func (d *Driver) Close() {
	for _, s := range d.open {
		s.Close()
	}
	d.open = nil
}

// session opens a worktree once.
func (d *Driver) session(ctx context.Context, root string) (*live.Session, error) {
	if s := d.open[root]; s != nil {
		return s, nil
	}
	// A stop asked for by a person must not take the sessions down with it: a
	// run has to be cancelled through them.
	s, err := live.Open(context.WithoutCancel(ctx), live.Options{Root: root, Mode: session.Live, Self: d.Self})
	if err != nil {
		return nil, err
	}
	if d.open == nil {
		d.open = map[string]*live.Session{}
	}
	d.open[root] = s
	return s, s.Ready(ctx)
}

// Head is the commit a worktree stands at.
func (d *Driver) Head(ctx context.Context, root string) (string, error) {
	s, err := d.session(ctx, root)
	if err != nil {
		return "", err
	}
	r := s.Snapshot().Repo
	if r.Head == "" {
		return "", fmt.Errorf("%s: %s: expected a git worktree with a commit", root, r.State)
	}
	return r.Head, nil
}

// Side is a worktree as it stands now: its commit and its uncommitted files.
func (d *Driver) Side(ctx context.Context, root string) (interleave.Side, error) {
	side := interleave.Side{Worktree: root}
	var err error
	if side.Head, err = d.Head(ctx, root); err != nil {
		return side, err
	}
	side.Dirty, _, err = gitrepo.Git{}.DirtyHash(ctx, root)
	return side, err
}

// HasGPU is an error when somebody looked for the devices of this host and the
// wanted one is not among them.
func (d *Driver) HasGPU(ctx context.Context, root string, index int) error {
	s, err := d.session(ctx, root)
	if err != nil {
		return err
	}
	host := s.Snapshot().Host
	if st := host.GPUStatus.Status; !st.Known() && st != fact.Missing {
		return nil // nobody could look: the run will tell
	}
	for _, g := range host.GPUs {
		if g.Index == index {
			return nil
		}
	}
	return fmt.Errorf("GPU %d is not there: %d devices seen", index, len(host.GPUs))
}

// unmoved is an error when a worktree is not what it was when the sequence
// began: its runs would not be one arm.
func (d *Driver) unmoved(ctx context.Context, was interleave.Side) error {
	git := gitrepo.Git{}
	head, err := git.Commit(ctx, was.Worktree, "HEAD")
	if err != nil {
		return err
	}
	if head != was.Head {
		return fmt.Errorf("%s moved from %.9s to %.9s since the sequence began: start a new one", was.Worktree, was.Head, head)
	}
	dirty, n, err := git.DirtyHash(ctx, was.Worktree)
	if err != nil {
		return err
	}
	if dirty != was.Dirty {
		return fmt.Errorf("%s: its uncommitted files (%d now%s) are not those it had when the sequence began: start a new one", was.Worktree, n, d.names(ctx, was.Worktree))
	}
	return nil
}

// names are a few of the uncommitted files of a worktree.
func (d *Driver) names(ctx context.Context, root string) string {
	out := ""
	for i, f := range (gitrepo.Git{}.Snapshot(ctx, root, "")).Dirty() {
		if i == 3 {
			return out + ", ..."
		}
		out += ", " + f.Path
	}
	return out
}

// Run does the steps of q that are left. After a stop the error wraps
// ErrStopped; nothing that was done is lost.
func (d *Driver) Run(ctx context.Context, q *interleave.Sequence) error {
	release, err := hold(q)
	if err != nil {
		return err
	}
	defer release()
	// Another process may have gone on with it before we held it.
	if now, err := Load(q.Cand.Worktree, q.ID); err == nil {
		*q = now
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := save(q); err != nil {
		return err
	}
	for {
		i, ok := q.Next()
		if !ok {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w before run %d of %d", ErrStopped, i+1, len(q.Steps))
		}
		if err := d.step(ctx, q, i); err != nil {
			return err
		}
	}
}

// step does one step and stores that it is done.
func (d *Driver) step(ctx context.Context, q *interleave.Sequence, i int) error {
	step := &q.Steps[i]
	side := q.Side(step.Arm)
	// A stop must not break what is looked up here: it is seen in one.
	quiet := context.WithoutCancel(ctx)
	s, err := d.session(quiet, side.Worktree)
	if err != nil {
		return err
	}
	if step.Run == "" {
		step.Run = left(s.Snapshot(), q.Label(i))
	}
	if step.Run == "" || !going(s.Snapshot(), step.Run) {
		if err := d.unmoved(quiet, side); err != nil {
			return err
		}
	}
	j := job{
		start: session.StartRun{Preset: q.Preset, Argv: q.Argv, GPU: q.GPU, Arm: string(step.Arm), Sequence: q.Label(i)},
		id:    step.Run, limit: d.limit(s.Snapshot(), q.Preset),
		started: func(id runs.ID) error {
			step.Run = id
			d.Say("run %d of %d: %s  %s%s", i+1, len(q.Steps), step.Arm, id, d.pace.words(len(q.Steps)-i))
			return save(q)
		},
	}
	r, err := j.do(ctx, s)
	if err != nil {
		return err
	}
	if err := ended(&r); err != nil {
		return err
	}
	step.Done = true
	d.pace.add(&r)
	return save(q)
}

// ended is an error for a run that did not come to its own end.
func ended(r *runs.Run) error {
	switch r.State {
	case runs.Ended:
		return nil
	case runs.Failed:
		return fmt.Errorf("%w: run %s: %s", ErrNotStarted, r.ID, why(r))
	default:
		return fmt.Errorf("%w: run %s is %s: %s", ErrStopped, r.ID, r.State, why(r))
	}
}

// left is the run of a step that was started by a process killed before it could
// store that; "" when there is none.
func left(snap *session.Snapshot, label string) runs.ID {
	for i := range snap.Runs { // newest first
		if snap.Runs[i].Manifest.Sequence == label {
			return snap.Runs[i].ID
		}
	}
	return ""
}

// going: the run need not be started again.
func going(snap *session.Snapshot, id runs.ID) bool {
	r := snap.Run(id)
	return r != nil && (!r.State.Final() || r.State == runs.Ended)
}

// limit is how long one run of a preset may take, 0 for as long as it likes.
func (d *Driver) limit(snap *session.Snapshot, preset string) time.Duration {
	if d.Limit > 0 || snap.Family == nil || preset == "" {
		return d.Limit
	}
	for _, p := range snap.Family.Presets {
		if p.Name == preset {
			t, _ := time.ParseDuration(p.Timeout) // the family's parser has checked it
			return t
		}
	}
	return 0
}

func why(r *runs.Run) string {
	if r.Result != nil && r.Result.Why != "" {
		return r.Result.Why
	}
	return r.Why
}
