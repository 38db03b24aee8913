package session

import (
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/family"
	"kdapilot/engine/gate"
	"kdapilot/engine/plan"
	"kdapilot/engine/preflight"
	"kdapilot/engine/task"
)

// Task is what the worktree's task.toml says.
type Task struct {
	task.Task
	// Why says why it could not be read; "" when it could, or is not there.
	Why string `json:"why,omitempty"`
}

// Name is the task's short name, "" when nobody gave one.
func (t Task) Name() string { return t.Task.Slug }

// Plan is the plan under review, as it was read last.
type Plan struct {
	Doc    *plan.Doc   `json:"-"` // nil until read
	Text   string      `json:"-"`
	Origin fact.Origin `json:"origin"`
	Draft  fact.Origin `json:"draft_origin"`
	// Issues are what its text has against approval, and questions.
	Issues []gate.Issue `json:"issues"`
	// Approved is the plan that was approved last, whether it still holds or not.
	Approved *ApprovedPlan `json:"approved,omitempty"`
}

// ApprovedPlan is the plan of the newest seal of gate 1.
type ApprovedPlan struct {
	SealID string    `json:"seal"`
	Who    string    `json:"who"`
	At     time.Time `json:"at"`
	// Text is the approved text, clean; "" with Why when it could not be read.
	Text string `json:"-"`
	Why  string `json:"why,omitempty"`
}

// Gates are the gates as they stand.
type Gates struct {
	// Known is false until seals and facts were read.
	Known bool `json:"known"`
	// Facts are what the gates look at, without what has been read on screen.
	Facts *gate.Facts `json:"-"`
	// G1 and G2 are the newest seals; the Broken lists say why they do not hold.
	G1       *gate.Seal    `json:"g1,omitempty"`
	G1Broken []gate.Change `json:"g1_broken,omitempty"`
	G2       *gate.Seal    `json:"g2,omitempty"`
	// Start compares the running loop with the seal of gate 2; nil when no loop
	// runs or nothing differs. Unsealed is true for a running loop that no seal
	// led to.
	Start    []gate.Change `json:"start_differs,omitempty"`
	Unsealed bool          `json:"unsealed,omitempty"`
	// Bad names seal and waiver files that could not be read.
	Bad []string `json:"bad,omitempty"`
}

// Word is a seal's state in one word for the header.
func (g *Gates) Word(id gate.ID) string {
	switch {
	case !g.Known:
		return "?"
	case id == gate.G1 && g.G1 == nil, id == gate.G2 && g.G2 == nil:
		return "-"
	case id == gate.G1 && len(g.G1Broken) > 0:
		return "void"
	default:
		return "sealed"
	}
}

// FactsWith are the gate facts with what the person has had on screen of the
// plan with the hash seenOf.
func (g *Gates) FactsWith(seen map[string]bool, seenOf string) *gate.Facts {
	if g.Facts == nil {
		return &gate.Facts{}
	}
	f := *g.Facts
	f.Seen, f.SeenOf = seen, seenOf
	return &f
}

// TaskRead is task.toml and the kernel family it names.
type TaskRead struct{ Task Task }

func (f TaskRead) into(s *Snapshot) {
	s.Task = f.Task
	s.Simulated = s.Simulated || f.Task.Simulated
}

// FamilyRead is the kernel family of the task, or why there is none.
type FamilyRead struct {
	Family *family.Family
	Why    string
}

func (f FamilyRead) into(s *Snapshot) { s.Family, s.FamilyWhy = f.Family, f.Why }

// PlanRead is the plan as it is on disk now.
type PlanRead struct{ Plan Plan }

func (f PlanRead) into(s *Snapshot) {
	// A plan that is being replaced keeps its last good text.
	if !f.Plan.Origin.Status.Known() && f.Plan.Origin.Status != fact.Missing && s.Plan.Origin.Status.Known() {
		why := f.Plan.Origin.Why
		kept := s.Plan
		kept.Origin.Status, kept.Origin.Why = fact.Torn, why
		s.Plan = kept
		return
	}
	s.Plan = f.Plan
}

// GatesRead are the gates as seals, git and files say now.
type GatesRead struct{ Gates Gates }

func (f GatesRead) into(s *Snapshot) {
	s.Gates = f.Gates
	s.bindPreflight()
}

// PreflightRead is preflight as it stands.
type PreflightRead struct{ Live preflight.Live }

func (f PreflightRead) into(s *Snapshot) {
	s.Preflight = f.Live
	s.bindPreflight()
}

// bindPreflight hands the newest result to the gates, whichever of the two was
// read last.
func (s *Snapshot) bindPreflight() {
	if s.Gates.Facts == nil {
		return
	}
	f := *s.Gates.Facts
	f.Preflight = preflight.ForGate(s.Preflight.Stored, f.Now)
	if here := s.Preflight.Stored.Here; here != nil {
		f.Humanize = here.Humanize
	}
	s.Gates.Facts = &f
}

// gates adds what the gates have to say.
func (n *notices) gates(s *Snapshot) {
	g := &s.Gates
	if s.Task.Why != "" {
		n.add(Red, "gate", "task.toml: "+s.Task.Why, s.Task.Origin)
	}
	for _, b := range g.Bad {
		n.add(Red, "gate", b, fact.Origin{})
	}
	for _, c := range g.G1Broken {
		n.add(Red, "gate", "seal of gate 1 is void: "+c.String(), fact.Origin{Path: c.Path})
	}
	if g.Unsealed {
		n.add(Red, "gate", "the loop runs without a seal of gate 2", fact.Origin{})
	}
	for _, c := range g.Start {
		n.add(Red, "gate", "the running loop is not as sealed: "+c.String(), fact.Origin{})
	}
}

func (n *notices) plan(s *Snapshot) {
	switch s.Plan.Origin.Status {
	case fact.Torn:
		n.add(Amber, "plan", "plan mid-write, last good text shown: "+s.Plan.Origin.Why, s.Plan.Origin)
	case fact.Unreadable:
		n.add(Red, "plan", "plan: "+s.Plan.Origin.Why, s.Plan.Origin)
	}
	// A plan that has been sealed and a loop that runs on it: its issues were
	// decided then.
	if s.Gates.G1 != nil && len(s.Gates.G1Broken) == 0 || s.Plan.Origin.Status == fact.Missing {
		return
	}
	for _, i := range s.Plan.Issues {
		if i.Blocks {
			n.list = append(n.list, Notice{Severity: Amber, Area: "plan", Text: i.Title + ": " + i.Text, Path: s.Plan.Origin.Path, Line: i.Line})
		}
	}
}

// preflight says which checks hold something shut. A result that is only older
// than HEAD is gate 2's business: in a loop HEAD moves all the time.
func (n *notices) preflight(s *Snapshot) {
	p := &s.Preflight
	switch {
	case p.Running:
	case p.Stored.Why != "":
		n.list = append(n.list, Notice{Severity: Red, Area: "setup", Text: "preflight result: " + p.Stored.Why, Path: preflight.File})
	case p.Stored.Result != nil:
		for _, r := range p.Stored.Result.Holding() {
			n.list = append(n.list, Notice{Severity: Red, Area: "setup", Text: "preflight " + string(r.ID) + " " + string(r.State) + ": " + strings.Join(r.Seen[:min(len(r.Seen), 1)], ""), Path: preflight.File})
		}
	}
}
