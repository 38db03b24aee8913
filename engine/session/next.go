package session

import (
	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/loop"
	"kdapilot/engine/repo"
)

// Step is what waits for a person. Area is the screen it is done on, as in
// Notice; "gate" stands for gate 2, which opens from anywhere.
type Step struct{ Text, Area string }

// Next is what waits for a person now: the zero Step while an agent has the
// ball, on a copied folder, and until enough was read to tell.
func (s *Snapshot) Next() Step {
	g, l := &s.Gates, s.Loops.Current()
	switch {
	case s.Mode == Offline, !g.Known, s.Loops.Origin.Status == fact.NotRead, s.Repo.State == repo.Gone:
		return Step{}
	case l != nil && l.Phase.Active():
		return Step{}
	case s.Plan.Origin.Status == fact.Missing && s.Plan.Draft.Status == fact.Missing:
		return Step{"write the draft (kdapilot new makes one from the family's contract)", "plan"}
	case s.Plan.Origin.Status == fact.Missing:
		return Step{"have the plan written from the draft: /humanize:gen-plan", "plan"}
	case g.G1 == nil || len(g.G1Broken) > 0:
		return s.reviewNext(l)
	case g.G2 == nil || g.G2.G1 != g.G1.ID:
		return s.startNext()
	case l == nil || l.StartedAt.Before(g.G2.At):
		return Step{"the start is sealed: give the command to Claude, then the loop appears here", "gate"}
	default:
		return Step{"the loop ended: " + string(l.Outcome) + ". Judge the result, or write the next plan", "bench"}
	}
}

// reviewNext: a plan that is older than the end of the last loop was that
// loop's.
func (s *Snapshot) reviewNext(l *loop.Loop) Step {
	mod := s.Plan.Origin.ModTime
	if l != nil && !mod.IsZero() && !l.PhaseSince.IsZero() && mod.Before(l.PhaseSince) && s.Gates.G1 == nil {
		return Step{"the loop ended: " + string(l.Outcome) + ". Judge the result, or write the next plan", "bench"}
	}
	if len(s.Gates.G1Broken) > 0 {
		return Step{"the plan changed after it was approved: read what changed and approve it again", "plan"}
	}
	return Step{"the plan waits for review: read it to its end, then open gate 1", "plan"}
}

func (s *Snapshot) startNext() Step {
	if f := s.Gates.Facts; f != nil && f.Preflight.State != gate.Green {
		return Step{"the plan is approved; preflight is " + string(f.Preflight.State) + " and holds gate 2", "setup"}
	}
	return Step{"the plan is approved: start the loop through gate 2", "gate"}
}
