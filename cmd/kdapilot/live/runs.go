package live

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/family"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/probes/floors"
	"kdapilot/probes/harness"
	"kdapilot/probes/run"
)

// maxParsed bounds how many finished runs are read for their rows.
const maxParsed = 60

// parsedRuns remembers the rows of finished runs: a closed folder never
// changes.
type parsedRuns struct {
	mu      sync.Mutex // a job and an action may both ask
	results map[runs.ID]*bench.Result
	picked  struct{ base, cand string }
	files   []session.RowSet
	// delta is the comparison made last, of what key says.
	key   string
	delta *session.Delta
}

func newParsedRuns() *parsedRuns { return &parsedRuns{results: map[runs.ID]*bench.Result{}} }

// hintRun: a log that grew concerns its follower alone; anything else can
// change the list.
func (s *Session) hintRun(part []string) {
	if len(part) == 2 && (part[1] == run.StdoutFile || part[1] == run.StderrFile) {
		if s.follow.poke(runs.ID(part[0])) {
			return
		}
	}
	s.jobs.runs.poke()
}

func (s *Session) readRuns(ctx context.Context) {
	list, err := s.runner.List(s.opt.Root)
	if ctx.Err() != nil {
		return
	}
	o := fact.Origin{Path: run.Folder(s.opt.Root), ReadAt: s.opt.Now(), Status: fact.OK}
	if err != nil {
		o.Status, o.Why = fact.Unreadable, oneLine(err)
	}
	slices.SortStableFunc(list, func(a, b runs.Run) int { return strings.Compare(string(b.ID), string(a.ID)) })
	facts := []session.Fact{}
	old := s.Snapshot()
	for i := range list {
		r := &list[i]
		switch {
		case !r.State.Final():
			if was := old.Run(r.ID); was != nil {
				r.Progress = was.Progress
			}
			s.follow.start(*r)
			if p := r.Status; p != nil && p.Supervisor.PID > 0 && !s.opt.Once && s.opt.Mode == session.Live {
				s.once("supervisor", p.Supervisor.PID, s.jobs.runs.poke)
			}
		case r.Manifest.Kind == runs.Profile: // an envelope, no rows: see profileEnds
		case i < maxParsed:
			res := s.parsedRun(r)
			if res != nil {
				n := len(res.AllRows())
				r.Progress.Done, r.Progress.Expected = n, r.Manifest.ExpectedCells
				facts = append(facts, session.ResultRead{ID: r.ID, Result: res})
			}
		}
	}
	ends, again := s.profileEnds(ctx, list)
	if again {
		return // the repetition made a newer list
	}
	facts = append(append(facts, ends...), session.RunsRead{Runs: list, Origin: o})
	s.apply(append(facts, s.sets(list)...)...)
	for i := range list {
		if was := old.Run(list[i].ID); list[i].State.Final() && was != nil && !was.State.Final() {
			s.pokeLog(list[i].ID) // the last line may have no end
		}
	}
}

// parsedRun reads the rows of a finished run once; nil when it has none.
func (s *Session) parsedRun(r *runs.Run) *bench.Result {
	s.parsed.mu.Lock()
	defer s.parsed.mu.Unlock()
	if res, ok := s.parsed.results[r.ID]; ok {
		return res
	}
	res := readRun(r)
	s.parsed.results[r.ID] = res
	return res
}

func readRun(r *runs.Run) *bench.Result {
	var files []string
	for _, name := range []string{run.StdoutFile, run.StderrFile} {
		if p := filepath.Join(r.Dir, name); exists(p) {
			files = append(files, p)
		}
	}
	if len(files) == 0 {
		return nil
	}
	res, err := harness.Parse(files, harness.Options{Command: strings.Join(r.Manifest.Argv, " ")}, exitOf(r))
	if err != nil {
		return nil
	}
	if k := r.Manifest.Kind; k != runs.Harness && k != runs.Pytest && res.Family == string(harness.Unknown) && len(res.AllRows()) == 0 {
		return nil // no harness spoke: there is nothing to judge but the exit status
	}
	judge(&res, r.Manifest.ExpectedCells)
	return &res
}

// judge hears exit status, rows and text about a result.
func judge(res *bench.Result, expected *int) {
	n := 0
	if expected != nil {
		n = *expected
	}
	v := bench.Truth(res, n)
	res.Truth = &v
}

// exitOf is the exit status as the three-way truth wants it: negative for the
// signal that ended the run.
func exitOf(r *runs.Run) *int {
	if r.Result == nil {
		return nil
	}
	return r.Result.ShellExit()
}

// sets are the row sets of the bench screen and their comparison.
func (s *Session) sets(list []runs.Run) []session.Fact {
	s.parsed.mu.Lock()
	defer s.parsed.mu.Unlock()
	var sets []session.RowSet
	for i := range list {
		r := &list[i]
		res := s.parsed.results[r.ID]
		if !r.State.Final() || res == nil || len(res.AllRows()) == 0 {
			continue
		}
		when := r.Manifest.Started
		if r.Result != nil {
			when = r.Result.Ended
		}
		sets = append(sets, session.RowSet{ID: string(r.ID), Label: r.Manifest.Preset + " " + stamp(r.ID), When: when, Result: res, Run: r, Origin: fact.Origin{Path: filepath.Join(r.Dir, run.StdoutFile), Status: fact.OK}})
	}
	sets = append(sets, s.parsed.files...)
	slices.SortStableFunc(sets, func(a, b session.RowSet) int { return b.When.Compare(a.When) })
	return []session.Fact{session.SetsRead{Sets: sets}, session.DeltaRead{Delta: s.deltaOf(sets)}}
}

// deltaOf compares the picked sets, or the standard pair. It is made anew only
// when something it depends on is another: many runs take a while. The caller
// holds s.parsed.mu.
func (s *Session) deltaOf(sets []session.RowSet) *session.Delta {
	snap := s.Snapshot()
	p := session.Pairing{
		Sets: sets, Base: s.parsed.picked.base, Cand: s.parsed.picked.cand, Locked: snap.Task.BaseCommit,
	}
	var measured map[string]float64
	if len(sets) > 0 && sets[0].Run != nil {
		measured = floors.Cells(sets[0].Run.Manifest)
	}
	p.Options, p.Required = session.BenchOptions(snap.Family, measured), s.required(snap.Family)
	var key strings.Builder
	fmt.Fprintf(&key, "%s %s %s %p %v", p.Base, p.Cand, p.Locked, snap.Family, measured)
	for i := range sets {
		fmt.Fprintf(&key, " %s %p", sets[i].ID, sets[i].Result)
	}
	if s.parsed.key != key.String() {
		s.parsed.key, s.parsed.delta = key.String(), session.Compare(p)
	}
	return s.parsed.delta
}

// required gives the cells that the family says a preset prints; nil for one that
// needs more than its name, such as a cell.
func (s *Session) required(f *family.Family) func(preset string) []string {
	if f == nil {
		return nil
	}
	return func(preset string) []string {
		c, err := f.Preset(preset, family.Params{Worktree: s.opt.Root, Variant: s.variant(*f)})
		if err != nil {
			return nil
		}
		return c.Expected
	}
}

// stamp is the day and minute in a run id.
func stamp(id runs.ID) string {
	if len(id) < 15 {
		return string(id)
	}
	return string(id[:13])
}
