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
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/engine/bench"
	"kdapilot/engine/interleave"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/probes/floors"
	"kdapilot/probes/readfile"
)

// ErrStopped is wrapped when a sequence was stopped and can be resumed.
var ErrStopped = errors.New("stopped")

// File is where a sequence is stored in the worktree of its candidate.
func File(worktree, id string) string {
	return filepath.Join(worktree, ".humanize", "kdapilot", "ab", id+".json")
}

// Load reads a stored sequence.
func Load(worktree, id string) (interleave.Sequence, error) {
	if filepath.Base(id) != id {
		return interleave.Sequence{}, fmt.Errorf("sequence %q: expected an id", id)
	}
	path := File(worktree, id)
	b, _, err := readfile.All(path, interleave.MaxSize)
	if err != nil {
		return interleave.Sequence{}, fmt.Errorf("sequence %s: %w", id, err)
	}
	return interleave.Parse(path, b)
}

func save(s *interleave.Sequence) error {
	b, err := s.Encode()
	if err != nil {
		return err
	}
	path := File(s.Cand.Worktree, s.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("store sequence: %w", err)
	}
	if err := renameio.WriteFile(path, b, 0o644); err != nil {
		return fmt.Errorf("store sequence: %w", err)
	}
	return nil
}

// Driver runs things in worktrees.
type Driver struct {
	// Self is this binary, which supervises runs.
	Self string
	// Say tells what goes on, one line each.
	Say func(format string, args ...any)

	open map[string]*live.Session
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

// Run does the steps of q that are left. After a stop the error wraps
// ErrStopped; nothing that was done is lost.
func (d *Driver) Run(ctx context.Context, q *interleave.Sequence) error {
	if err := save(q); err != nil {
		return err
	}
	for {
		i, ok := q.Next()
		if !ok {
			return nil
		}
		step := &q.Steps[i]
		side := q.Side(step.Arm)
		s, err := d.session(ctx, side.Worktree)
		if err != nil {
			return err
		}
		if head := s.Snapshot().Repo.Head; head != side.Head {
			return fmt.Errorf("%s moved from %.9s to %.9s since the sequence began: start a new one", side.Worktree, side.Head, head)
		}
		a := session.StartRun{Preset: q.Preset, Argv: q.Argv, GPU: q.GPU, Arm: string(step.Arm)}
		started := func(id runs.ID) error {
			step.Run = id
			d.Say("run %d of %d: %s  %s", i+1, len(q.Steps), step.Arm, id)
			return save(q)
		}
		r, err := one(ctx, s, a, step.Run, started)
		if err != nil {
			return err
		}
		if r.State != runs.Ended {
			return fmt.Errorf("%w: run %s is %s: %s", ErrStopped, r.ID, r.State, why(&r))
		}
		step.Done = true
		if err := save(q); err != nil {
			return err
		}
	}
}

func why(r *runs.Run) string {
	if r.Result != nil && r.Result.Why != "" {
		return r.Result.Why
	}
	return r.Why
}

// one starts a run, or takes up one that is still there, and waits for its end.
func one(ctx context.Context, s *live.Session, a session.StartRun, id runs.ID, started func(runs.ID) error) (runs.Run, error) {
	if r := s.Snapshot().Run(id); id == "" || r == nil || r.State.Final() && r.State != runs.Ended {
		reply, err := s.Do(ctx, a)
		if err != nil {
			return runs.Run{}, err
		}
		id = runs.ID(reply.ID)
		if err := started(id); err != nil {
			return runs.Run{}, err
		}
	}
	stop := ctx.Done()
	for {
		snap := s.Snapshot()
		if r := snap.Run(id); r != nil && r.State.Final() {
			return *r, nil
		}
		select {
		case <-stop:
			stop = nil
			if _, err := s.Do(context.WithoutCancel(ctx), session.CancelRun{ID: id}); err != nil {
				return runs.Run{}, fmt.Errorf("%w: %w", ErrStopped, err)
			}
		case <-s.Changed():
		case <-s.Events():
		}
	}
}

// Left is a run that does not count, and why.
type Left struct {
	Run runs.ID `json:"run"`
	Arm string  `json:"arm"`
	Why string  `json:"why"`
}

// Outcome is what a finished sequence says.
type Outcome struct {
	Comparison bench.Comparison
	// Left are runs that do not count.
	Left []Left
	// Floors is how many cells had a measured floor.
	Floors int
	base   bench.Arm
	cand   bench.Arm
	opt    bench.Options
	any    *session.RowSet
}

// Judge compares the arms of a sequence.
func (d *Driver) Judge(ctx context.Context, q *interleave.Sequence) (Outcome, error) {
	var o Outcome
	sides := map[interleave.Arm][]*session.RowSet{}
	for _, step := range q.Steps {
		if !step.Done {
			continue
		}
		s, err := d.session(ctx, q.Side(step.Arm).Worktree)
		if err != nil {
			return o, err
		}
		set, left := setOf(s.Snapshot(), step)
		if left != "" {
			o.Left = append(o.Left, Left{step.Run, string(step.Arm), left})
			continue
		}
		sides[step.Arm] = append(sides[step.Arm], set)
	}
	base, cand := sides[interleave.Base], sides[interleave.Candidate]
	if len(base) == 0 || len(cand) == 0 {
		return o, errors.New("one arm has no run that counts")
	}
	s, err := d.session(ctx, q.Cand.Worktree)
	if err != nil {
		return o, err
	}
	measured := floors.Cells(cand[0].Run.Manifest)
	o.Floors, o.any = len(measured), base[0]
	if q.Kind == interleave.Floor {
		measured = nil
	}
	o.opt = session.BenchOptions(s.Snapshot().Family, measured)
	o.opt.Seed, o.opt.Differs = q.Seed, session.Unlike(base[0], cand[0])
	o.base, o.cand = armOf("base", q.Base, base), armOf("candidate", q.Cand, cand)
	o.Comparison = bench.Compare(o.base, o.cand, o.opt)
	return o, nil
}

// setOf are the rows of a step's run, or why it does not count.
func setOf(snap *session.Snapshot, step interleave.Step) (*session.RowSet, string) {
	r, set := snap.Run(step.Run), snap.Set(string(step.Run))
	switch {
	case r == nil:
		return nil, "its folder is gone"
	case set == nil || set.Result == nil:
		return nil, "it printed no rows"
	case r.Result != nil && len(r.Result.Foreign) > 0:
		return nil, "contaminated: others used the GPU"
	}
	return set, ""
}

func armOf(name string, side interleave.Side, sets []*session.RowSet) bench.Arm {
	a := bench.Arm{Label: fmt.Sprintf("%s @ %.9s, %d runs", name, side.Head, len(sets))}
	for _, s := range sets {
		a.Runs = append(a.Runs, s.Result.AllRows())
	}
	return a
}

// Floor measures what the two arms of a floor sequence, which are one commit,
// differ by, and stores it for this host and device.
func (d *Driver) Floor(ctx context.Context, q *interleave.Sequence, now time.Time) (floors.Floor, string, Outcome, error) {
	o, err := d.Judge(ctx, q)
	if err != nil {
		return floors.Floor{}, "", o, err
	}
	f := floors.Floor{
		Key: floors.KeyOf(o.any.Run.Manifest), At: now.UTC(), Head: q.Base.Head, Preset: q.Preset,
		Runs: append(q.Runs(interleave.Base), q.Runs(interleave.Candidate)...), Floor: bench.MeasureFloor(o.base, o.cand, o.opt),
	}
	path, err := floors.Save(f)
	return f, path, o, err
}
