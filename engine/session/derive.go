package session

import (
	"fmt"
	"slices"
	"time"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/repo"
)

// derive recomputes what follows from the facts: notices in order of severity.
// Gate preconditions follow from facts too, but are asked for by whoever shows
// them (see Gates), since they need what the person has read.
func derive(s *Snapshot) {
	var n notices
	n.repo(s)
	n.gates(s)
	n.preflight(s)
	n.loops(s)
	n.plan(s)
	n.stalls(s)
	n.results(s)
	n.state(s)
	slices.SortStableFunc(n.list, func(a, b Notice) int { return rank(a.Severity) - rank(b.Severity) })
	s.Notices = n.list
}

func rank(v Severity) int {
	switch v {
	case Red:
		return 0
	case Amber:
		return 1
	default:
		return 2
	}
}

type notices struct{ list []Notice }

func (n *notices) add(sev Severity, area, text string, o fact.Origin) {
	n.list = append(n.list, Notice{Severity: sev, Area: area, Text: text, Path: o.Path, Line: o.Line})
}

func (n *notices) repo(s *Snapshot) {
	if s.Mode == Offline || s.Repo.State == "" {
		return
	}
	switch s.Repo.State {
	case repo.Worktree:
		if s.Repo.Origin.Status == fact.Torn {
			n.add(Amber, "git", "git gave no answer, showing what was known: "+s.Repo.Origin.Why, s.Repo.Origin)
		}
	case repo.None:
		n.add(Amber, "git", "no git here: gates and deltas to the base are not available", s.Repo.Origin)
	default:
		n.add(Red, "git", string(s.Repo.State)+": "+s.Repo.Why, s.Repo.Origin)
	}
}

func (n *notices) loops(s *Snapshot) {
	switch s.Loops.Origin.Status {
	case fact.Unreadable:
		why := s.Loops.Origin.Why
		if len(s.Loops.Loops) > 0 {
			why += "; what was known is shown"
		}
		n.add(Red, "loop", "loops can not be read: "+why, s.Loops.Origin)
	case fact.Torn:
		n.add(Amber, "loop", s.Loops.Origin.Why, s.Loops.Origin)
	}
	for _, w := range s.Loops.Warnings {
		n.list = append(n.list, fromLoop(w))
	}
	for i := range s.Loops.Loops {
		l := &s.Loops.Loops[i]
		if l.Ignored {
			n.add(Amber, "loop", l.Name+" is active on disk but Humanize looks only at a newer folder", l.Origin)
		}
	}
	l := s.Loops.Current()
	if l == nil {
		return
	}
	switch l.Origin.Status {
	case fact.Torn:
		n.add(Amber, "loop", "state file mid-write, last good values shown: "+l.Origin.Why, l.Origin)
	case fact.Unreadable:
		n.add(Red, "loop", "state file: "+l.Origin.Why, l.Origin)
	}
	for _, w := range l.Warnings {
		n.list = append(n.list, fromLoop(w))
	}
}

func fromLoop(w loop.Warning) Notice {
	sev := Info
	switch w.Severity {
	case loop.Red:
		sev = Red
	case loop.Amber:
		sev = Amber
	}
	return Notice{Severity: sev, Area: "loop", Text: w.Text, Path: w.Path, Line: w.Line}
}

func (n *notices) stalls(s *Snapshot) {
	for i := range s.Reports {
		r := &s.Reports[i]
		if i == 0 && len(r.Problems) > 0 { // older ones were dealt with, or not
			n.list = append(n.list, Notice{Severity: Amber, Area: "stalls", Text: r.Name + ": " + r.Problems[0], Path: r.Name + "/REPORT.md", Line: r.Line})
		}
	}
	for _, b := range s.Bundles {
		if why := s.AnalysisErrs[b.Path]; why != "" {
			n.add(Amber, "stalls", b.Name+": "+why, fact.Origin{Path: b.Path})
		}
		a := s.Analyses[b.Path]
		if a == nil {
			continue
		}
		for _, f := range a.Findings {
			if f.Bad {
				n.list = append(n.list, Notice{Severity: Amber, Area: "stalls", Text: f.Text, Path: f.Path, Line: f.Line})
			}
		}
	}
}

func (n *notices) results(s *Snapshot) {
	if len(s.Sets) == 0 {
		return
	}
	// Only the newest set speaks: older reds were read when they were new.
	set := s.Sets[0]
	if set.Result == nil || set.Result.Truth == nil {
		return
	}
	t := set.Result.Truth
	if t.Outcome == bench.OutcomePass {
		return
	}
	sev := Red
	if t.Outcome == bench.OutcomeRunning {
		sev = Amber
	}
	text := set.Label + ": " + string(t.Outcome)
	if len(t.Reasons) > 0 {
		text += ": " + t.Reasons[0].Text
	}
	n.add(sev, "bench", text, set.Origin)
}

func (n *notices) state(s *Snapshot) {
	if s.Journal.Broken != "" {
		n.add(Red, "journal", "journal chain broken: "+s.Journal.Broken, s.Journal.Origin)
	}
	if s.Watch.Every > 0 {
		text := fmt.Sprintf("watch: polling every %s", s.Watch.Every.Round(time.Second))
		if len(s.Watch.Why) > 0 {
			text += ", " + s.Watch.Why[0]
		}
		n.add(Info, "watch", text, fact.Origin{})
	}
}
