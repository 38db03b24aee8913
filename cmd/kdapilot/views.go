package main

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
)

// snapshotViews are the views that are printed from a snapshot.
func snapshotViews() []snapshotView {
	return []snapshotView{
		{
			name: "overview", short: "Where the loop is, what needs a person, what the last numbers say",
			json: func(s *session.Snapshot) any { return s },
			text: printOverview,
		},
		{
			name: "loops", short: "All Humanize loops, newest first, with every field",
			json:  func(s *session.Snapshot) any { return &s.Loops },
			text:  printLoops,
			empty: func(s *session.Snapshot) string { return noneOf(len(s.Loops.Loops), "no loop below "+s.Root) },
		},
		{
			name: "rounds", short: "The rounds of the current loop",
			json: func(s *session.Snapshot) any {
				if l := s.Loops.Current(); l != nil {
					return l.Rounds
				}
				return []any{}
			},
			text: printRounds,
			empty: func(s *session.Snapshot) string {
				if s.Loops.Current() == nil {
					return "no loop below " + s.Root
				}
				return ""
			},
		},
		{
			name: "plan", short: "The plan: sections, criteria, tasks, decisions, and what speaks against approval",
			json: func(s *session.Snapshot) any {
				return map[string]any{"origin": s.Plan.Origin, "doc": s.Plan.Doc, "issues": issuesJSON(&s.Plan), "approved": s.Plan.Approved}
			},
			text: printPlan,
			empty: func(s *session.Snapshot) string {
				switch o := s.Plan.Origin; {
				case o.Status == fact.Missing:
					return "no plan: " + o.Path
				case !o.Status.Known():
					return "plan: " + o.Status.String() + ": " + o.Why
				}
				return ""
			},
		},
		{
			name: "gates", short: "Both gates: preconditions and seals (nothing can be approved here)",
			json: gatesJSON, text: printGates,
		},
		{
			name: "bench", short: "The newest comparison of benchmark rows",
			json: func(s *session.Snapshot) any { return map[string]any{"sets": setsJSON(s), "delta": s.Delta} },
			text: printBench,
			empty: func(s *session.Snapshot) string {
				return noneOf(len(s.Sets), "no run with rows below "+s.Root)
			},
		},
		{
			name: "runs", short: "Runs started from here, newest first",
			json:  runsJSON,
			text:  printRuns,
			empty: func(s *session.Snapshot) string { return noneOf(len(s.Runs), "no runs below "+s.Root) },
		},
	}
}

func noneOf(n int, why string) string {
	if n == 0 {
		return why
	}
	return ""
}

type issueJSON struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Blocks bool   `json:"blocks"`
	Clears string `json:"clears"`
}

// issuesJSON is empty for a plan that was not read.
func issuesJSON(p *session.Plan) []issueJSON {
	out := []issueJSON{}
	if !p.Origin.Status.Known() {
		return out
	}
	for _, i := range p.Issues {
		out = append(out, issueJSON(i))
	}
	return out
}

// gatesJSON shows the preconditions as they would be shown to a person who has
// read nothing: reading can only happen on screen.
func gatesJSON(s *session.Snapshot) any {
	out := map[string]any{"seals": s.Gates}
	for _, g := range []gate.ID{gate.G1, gate.G2} {
		pre := gate.Check(g, s.Gates.FactsWith(nil, ""))
		open, why := gate.Open(pre)
		out[strings.ToLower(string(g))] = map[string]any{"preconditions": pre, "open": open, "why": why}
	}
	return out
}

type setJSON struct {
	ID      string         `json:"id"`
	Label   string         `json:"label"`
	Rows    int            `json:"rows"`
	Outcome string         `json:"outcome"`
	Counts  map[string]int `json:"counts"`
}

func setsJSON(s *session.Snapshot) []setJSON {
	out := []setJSON{}
	for _, x := range s.Sets {
		j := setJSON{ID: x.ID, Label: x.Label}
		if x.Result != nil {
			j.Rows, j.Counts = len(x.Result.AllRows()), x.Result.Counts
			if x.Result.Truth != nil {
				j.Outcome = string(x.Result.Truth.Outcome)
			}
		}
		out = append(out, j)
	}
	return out
}

// maxEvidence bounds what is listed under one precondition: every heading of a
// plan is unread here.
const maxEvidence = 5

func printGates(w io.Writer, s *session.Snapshot) error {
	p := printer{w: w}
	for _, g := range []gate.ID{gate.G1, gate.G2} {
		pre := gate.Check(g, s.Gates.FactsWith(nil, ""))
		p.line("%s: %s", g.Title(), sealWord(s, g))
		for _, x := range pre {
			p.line("  %-9s %s", x.State, x.Title)
			for i, e := range x.Evidence {
				if i == maxEvidence {
					p.line("            and %d more (--json has all)", len(x.Evidence)-i)
					break
				}
				p.line("            %s", e)
			}
		}
	}
	p.line("Gates are opened by a person in the cockpit, never here.")
	return p.err
}

// printer writes lines without the control sequences of outside text, and keeps
// the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, text.Clean(fmt.Sprintf(format, args...)))
	}
}

func sortedKeys(m map[string]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
