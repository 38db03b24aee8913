package session

import (
	"maps"
	"strings"
	"time"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/repo"
	"kdapilot/engine/runs"
	"kdapilot/engine/stall"
)

// Fact is one reading of the world, made by a probe and handed to Reduce. The
// set is closed: the types below are all there are.
type Fact interface {
	// into puts the reading into s, which is a private copy.
	into(s *Snapshot)
}

// Reduce gives the snapshot after a fact. old is not changed; at is when the
// fact was read.
func Reduce(old *Snapshot, f Fact, at time.Time) *Snapshot {
	s := *old
	f.into(&s)
	s.Version++
	if at.After(s.At) {
		s.At = at
	}
	derive(&s)
	return &s
}

// RepoRead is a reading of git at Now.
type RepoRead struct {
	Repo repo.Repo
	Now  time.Time
}

func (f RepoRead) into(s *Snapshot) {
	// A git that gave no answer in time does not unmake what was known.
	if f.Repo.State == repo.Failed && s.Repo.State == repo.Worktree {
		kept := s.Repo
		kept.Origin.Status, kept.Origin.Why = fact.Torn, f.Repo.Why
		s.Repo = kept
		return
	}
	s.Repo = f.Repo
	if s.Loops.Origin.Status.Known() {
		s.Loops.Git = loopGit(s)
		s.Loops = s.Loops.At(f.Now)
	}
}

// LoopsRead is a reading of the .humanize tree at Now.
type LoopsRead struct {
	Set loop.Set
	Now time.Time
}

func (f LoopsRead) into(s *Snapshot) {
	set := f.Set
	set.Git = loopGit(s)
	// What is mid-write keeps its last good value, marked as such.
	s.Loops = set.At(f.Now).Keep(s.Loops, f.Now)
}

// loopGit is what git says about the next stop of a loop.
func loopGit(s *Snapshot) loop.Git {
	r := &s.Repo
	if r.State != repo.Worktree || !r.FilesKnown {
		return loop.Git{}
	}
	g := loop.Git{Known: true, Branch: r.Branch}
	if r.Detached {
		g.Branch = "HEAD"
	}
	for _, f := range r.Files {
		inside := f.Path == repo.HumanizeDir || strings.HasPrefix(f.Path, repo.HumanizeDir+"/")
		switch {
		case inside && f.Change != repo.Untracked:
			g.TrackedHumanize = append(g.TrackedHumanize, f.Path)
		case inside || f.Change == repo.Untracked && strings.HasPrefix(f.Path, ".humanize-"):
		default:
			g.Dirty = append(g.Dirty, f.Path)
		}
	}
	if r.UpstreamDistance != nil {
		g.Ahead = r.UpstreamDistance.Ahead
	}
	return g
}

// BundlesRead lists the flyprof bundles there are.
type BundlesRead struct {
	Bundles []Bundle
	Origin  fact.Origin
}

func (f BundlesRead) into(s *Snapshot) { s.Bundles, s.BundlesStatus = f.Bundles, f.Origin }

// AnalysisRead is one opened bundle, or why it could not be opened.
type AnalysisRead struct {
	Path     string
	Analysis *stall.Analysis
	Err      string
}

func (f AnalysisRead) into(s *Snapshot) {
	s.Analyses, s.AnalysisErrs = cloneMap(s.Analyses), cloneMap(s.AnalysisErrs)
	if f.Analysis == nil {
		// Keep the last good analysis: its error stands beside it.
		s.AnalysisErrs[f.Path] = f.Err
		return
	}
	delete(s.AnalysisErrs, f.Path)
	s.Analyses[f.Path] = f.Analysis
}

// RunsRead lists the runs there are, newest first.
type RunsRead struct {
	Runs   []runs.Run
	Origin fact.Origin
}

func (f RunsRead) into(s *Snapshot) { s.Runs, s.RunsStatus = f.Runs, f.Origin }

// ResultRead holds the rows of one run, complete or so far.
type ResultRead struct {
	ID     runs.ID
	Result *bench.Result
}

func (f ResultRead) into(s *Snapshot) {
	if had := s.Results[f.ID]; had != nil && had.Truth != nil && f.Result != nil && f.Result.Truth == nil {
		return // the rows so far, told late: the run has ended and was judged
	}
	s.Results = cloneMap(s.Results)
	s.Results[f.ID] = f.Result
}

// ProgressRead is how far a run got.
type ProgressRead struct {
	ID       runs.ID
	Progress runs.Progress
}

func (f ProgressRead) into(s *Snapshot) {
	for i := range s.Runs {
		if s.Runs[i].ID == f.ID {
			s.Runs = append([]runs.Run(nil), s.Runs...)
			s.Runs[i].Progress = f.Progress
			return
		}
	}
}

// SetsRead replaces the row sets the bench screen can show.
type SetsRead struct{ Sets []RowSet }

func (f SetsRead) into(s *Snapshot) { s.Sets = f.Sets }

// DeltaRead is a comparison that was made; nil takes it away.
type DeltaRead struct{ Delta *Delta }

func (f DeltaRead) into(s *Snapshot) { s.Delta = f.Delta }

// RoundRead holds the texts of the round that was opened.
type RoundRead struct{ Round *RoundTexts }

func (f RoundRead) into(s *Snapshot) { s.Round = f.Round }

// LogOpened starts following a run's log from nothing.
type LogOpened struct{ ID runs.ID }

func (f LogOpened) into(s *Snapshot) { s.LogID, s.Log, s.LogWhole = f.ID, Log{}, false }

// LogRead adds lines to the log that is being followed. Lines of another run
// are late and dropped.
type LogRead struct {
	ID    runs.ID
	Lines []string
	// Whole says that nothing more will come.
	Whole bool
}

func (f LogRead) into(s *Snapshot) {
	if f.ID == s.LogID {
		s.Log, s.LogWhole = s.Log.Append(f.Lines...), s.LogWhole || f.Whole
	}
}

// JournalRead is the verified state of the journal.
type JournalRead struct{ Journal Journal }

func (f JournalRead) into(s *Snapshot) { s.Journal = f.Journal }

// WatchRead is how changes are noticed.
type WatchRead struct{ Watch Watch }

func (f WatchRead) into(s *Snapshot) { s.Watch = f.Watch }

// HostRead is where the cockpit runs.
type HostRead struct{ Host Host }

func (f HostRead) into(s *Snapshot) { s.Host = f.Host }

// PanesRead are the tmux panes there are.
type PanesRead struct{ Panes []Pane }

func (f PanesRead) into(s *Snapshot) { s.Panes = f.Panes }

// SinceRead is what happened since the person last looked.
type SinceRead struct{ Since *Since }

func (f SinceRead) into(s *Snapshot) { s.Since = f.Since }

func cloneMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}
