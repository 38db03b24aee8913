package measure

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"kdapilot/engine/bench"
	"kdapilot/engine/family"
	"kdapilot/engine/interleave"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/probes/floors"
	"kdapilot/probes/harness"
	"kdapilot/probes/readfile"
)

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
	// Clock says in words how the clocks of the arms compare.
	Clock string

	base, cand []*session.RowSet
	arms       [2]bench.Arm
	opt        bench.Options
}

// Judge compares the arms of a sequence. Runs beside others do not count; a run
// whose folder or rows are gone makes its arm broken.
func (d *Driver) Judge(ctx context.Context, q *interleave.Sequence) (Outcome, error) {
	var o Outcome
	var gone [2][]string
	for _, step := range q.Steps {
		if !step.Done {
			continue
		}
		s, err := d.session(ctx, q.Side(step.Arm).Worktree)
		if err != nil {
			return o, err
		}
		side, lost := &o.base, &gone[0]
		if step.Arm == interleave.Candidate {
			side, lost = &o.cand, &gone[1]
		}
		set, left, counts := setOf(s.Snapshot(), step)
		if left != "" {
			o.Left = append(o.Left, Left{step.Run, string(step.Arm), left})
			if counts {
				*lost = append(*lost, string(step.Run)+": "+left)
			}
			continue
		}
		*side = append(*side, set)
	}
	if len(o.base) == 0 || len(o.cand) == 0 {
		return o, errors.New("one arm has no run that counts" + reasons(o.Left))
	}
	s, err := d.session(ctx, q.Cand.Worktree)
	if err != nil {
		return o, err
	}
	measured := floors.Cells(o.cand[0].Run.Manifest)
	if q.Kind == interleave.Floor {
		measured = nil
	}
	o.Floors = len(measured)
	o.opt = session.ArmOptions(session.BenchOptions(s.Snapshot().Family, measured), o.base, o.cand)
	o.opt.BaseBroken, o.opt.CandBroken = append(gone[0], o.opt.BaseBroken...), append(gone[1], o.opt.CandBroken...)
	o.opt.Seed, o.opt.Required = q.Seed, required(s.Snapshot(), q)
	o.arms = [2]bench.Arm{armOf("base", q.Base, o.base), armOf("candidate", q.Cand, o.cand)}
	o.Comparison = bench.Compare(o.arms[0], o.arms[1], o.opt)
	o.Clock = session.ClockWords(o.base, o.cand)
	if q.Kind == interleave.AB {
		o.Comparison.Notes = append(o.Comparison.Notes, baseWords(q, s.Snapshot().Task.BaseCommit)...)
	}
	return o, nil
}

// baseWords say when the base is not what a promotion is measured against.
func baseWords(q *interleave.Sequence, locked string) []string {
	var out []string
	if locked != "" && q.Base.Head != locked {
		out = append(out, fmt.Sprintf("the base is %.9s, the locked baseline is %.9s: this is no comparison with the locked baseline", q.Base.Head, locked))
	}
	if q.Base.Dirty != "" {
		out = append(out, "the base has uncommitted files: it is not the commit alone")
	}
	if q.Cand.Dirty != "" {
		out = append(out, "the candidate has uncommitted files: it is not the commit alone")
	}
	if q.Base.Head == q.Cand.Head && q.Base.Dirty == q.Cand.Dirty {
		out = append(out, "base and candidate are the same code: any difference is noise")
	}
	return out
}

func reasons(list []Left) string {
	out := ""
	for _, l := range list {
		out += fmt.Sprintf("; %s %s: %s", l.Arm, l.Run, l.Why)
	}
	return out
}

// required are the cells that the family says the preset prints, nil when it
// does not say.
func required(snap *session.Snapshot, q *interleave.Sequence) []string {
	if snap.Family == nil || q.Preset == "" {
		return nil
	}
	p := family.Params{GPU: q.GPU, Worktree: q.Cand.Worktree}
	b, _, err := readfile.All(filepath.Join(q.Cand.Worktree, filepath.FromSlash(snap.Family.Harness.Path)), maxHarness)
	if err == nil {
		p.Variant, _ = snap.Family.Variant(b)
	}
	c, err := snap.Family.Preset(q.Preset, p)
	if err != nil {
		return nil // it needs what a sequence does not have, such as a cell
	}
	return c.Expected
}

// maxHarness bounds the harness that is read to tell its variant, in bytes.
const maxHarness = 4 << 20

// setOf are the rows of a step's run, or why they are not there; counts is false
// for a run that is rightly left out.
func setOf(snap *session.Snapshot, step interleave.Step) (set *session.RowSet, left string, counts bool) {
	r, set := snap.Run(step.Run), snap.Set(string(step.Run))
	switch {
	case r == nil:
		return nil, "its folder is gone", true
	case r.Result != nil && len(r.Result.Foreign) > 0:
		f := r.Result.Foreign[0]
		return nil, fmt.Sprintf("contaminated: process %d %s used GPU %d %s the run", f.PID, f.Command, f.GPU, f.When), false
	case set != nil && set.Result != nil:
		return set, "", true
	}
	// The cockpit reads the newest runs only; a long sequence has more.
	_, sources, err := harness.LoadRuns("", []string{r.Dir}, harness.Options{})
	if err != nil || len(sources) != 1 {
		return nil, "it printed no rows", true
	}
	return &session.RowSet{ID: string(r.ID), Label: r.Manifest.Preset, Run: r, Result: sources[0].Result}, "", true
}

func armOf(name string, side interleave.Side, sets []*session.RowSet) bench.Arm {
	a := bench.Arm{Label: fmt.Sprintf("%s @ %.9s, %d runs", name, side.Head, len(sets))}
	for _, s := range sets {
		a.Runs = append(a.Runs, s.Result.AllRows())
	}
	return a
}

// Floor measures what the two arms of a floor sequence, which are one commit,
// differ by, and stores it for this host and device. Arms that can not be
// compared store nothing.
func (d *Driver) Floor(ctx context.Context, q *interleave.Sequence, now time.Time) (floors.Floor, string, Outcome, error) {
	o, err := d.Judge(ctx, q)
	if err != nil {
		return floors.Floor{}, "", o, err
	}
	if len(o.opt.Differs)+len(o.opt.BaseBroken)+len(o.opt.CandBroken) > 0 {
		return floors.Floor{}, "", o, errors.New("nothing is kept: " + o.Comparison.Why)
	}
	f := floors.Floor{
		Key: floors.KeyOf(o.base[0].Run.Manifest), At: now.UTC(), Head: q.Base.Head,
		Floor: bench.MeasureFloor(o.arms[0], o.arms[1], o.opt),
	}
	for _, set := range append(o.base, o.cand...) {
		f.Runs = append(f.Runs, set.Run.ID)
	}
	if len(f.Floor.Cells) == 0 {
		return f, "", o, errors.New("nothing is kept: no cell was measured on both sides")
	}
	path, err := floors.Save(f)
	return f, path, o, err
}
