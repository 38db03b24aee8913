package main

import (
	"fmt"
	"io"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/gate"
	"kdapilot/engine/loop"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
)

func printOverview(w io.Writer, s *session.Snapshot) error {
	p := printer{w: w}
	p.line("worktree  %s", s.Root)
	if s.Simulated {
		p.line("SIMULATED: the tools are stand-ins, no number is evidence")
	}
	if s.Task.Slug != "" {
		p.line("task      %s  %s  %s", s.Task.Slug, s.Task.Family, s.Task.Arch)
	}
	if s.Repo.Head != "" {
		p.line("git       %s @ %s, %d changed", s.Repo.Branch, shortSHA(s.Repo.Head), len(s.Repo.Dirty()))
	} else {
		p.line("git       %s", s.Repo.State)
	}
	if l := s.Loops.Current(); l != nil {
		p.line("loop      %s  %s, round %s of %s", l.Name, phaseWord(l), l.Round, l.Max)
		p.line("ball      %s: %s", l.Ball.Who, l.Ball.Why)
	} else {
		p.line("loop      none")
	}
	p.line("gates     G1 %s, G2 %s", sealWord(s, gate.G1), sealWord(s, gate.G2))
	if step := s.Next(); step.Text != "" {
		p.line("next      %s", step.Text)
	}
	printHeadlines(&p, s)
	for i := range s.Reports {
		r := &s.Reports[i]
		p.line("report    %s/REPORT.md:%d: %s", r.Name, r.Line, orDash(r.Hypothesis))
	}
	for _, n := range s.Notices {
		where := ""
		if n.Path != "" {
			where = "  (" + n.Path
			if n.Line > 0 {
				where += fmt.Sprintf(":%d", n.Line)
			}
			where += ")"
		}
		p.line("%-9s %s: %s%s", n.Severity, n.Area, n.Text, where)
	}
	return p.err
}

// printHeadlines prints what the newest numbers say.
func printHeadlines(p *printer, s *session.Snapshot) {
	if len(s.Bundles) > 0 {
		b := &s.Bundles[0]
		switch a := s.Analyses[b.Path]; {
		case a != nil:
			top := ""
			if c, ok := a.Bubbles.TopBubble(); ok {
				top = fmt.Sprintf(", top bubble %s %s%%", c.Class, c.Pct)
			}
			p.line("stalls    %s: %s%% stalled%s, %s", b.Name, a.Bubbles.Totals.StallPct, top, a.Freshness.Verdict)
		case s.AnalysisErrs[b.Path] == "": // else a notice says it
			p.line("stalls    %s: not read", b.Name)
		}
	}
	switch d := s.Delta; {
	case d != nil:
		p.line("bench     %s against %s: %s (%s)", d.Comparison.Cand, d.Comparison.Base, d.Comparison.Verdict, d.Comparison.Why)
	case len(s.Sets) > 0:
		p.line("bench     %s; nothing of its family to compare it with", setWords(&s.Sets[0]))
	}
}

// setWords is one set of rows in a line.
func setWords(x *session.RowSet) string {
	if x.Result == nil {
		return x.Label + "  not read"
	}
	out := "not judged"
	if x.Result.Truth != nil {
		out = string(x.Result.Truth.Outcome)
	}
	return fmt.Sprintf("%s  %d rows  %s", x.Label, len(x.Result.AllRows()), out)
}

// sealWord says where a gate stands in words that need no legend.
func sealWord(s *session.Snapshot, id gate.ID) string {
	switch w := s.Gates.Word(id); w {
	case "?":
		return "not known"
	case "-":
		return "not sealed"
	default:
		return w
	}
}

func phaseWord(l *loop.Loop) string {
	if l.Phase == loop.Ended {
		return "ended: " + string(l.Outcome)
	}
	return string(l.Phase)
}

func printLoops(w io.Writer, s *session.Snapshot) error {
	p := printer{w: w}
	for i := range s.Loops.Loops {
		l := &s.Loops.Loops[i]
		mark := ""
		if l.Ignored {
			mark = "  IGNORED by Humanize: a newer folder exists"
		}
		p.line("%s  %s  round %s of %s  stall count %s  drift %s  base %s @ %s%s", l.Name, phaseWord(l), l.Round, l.Max, l.StallCount, orDash(string(l.Drift)), l.BaseBranch, shortSHA(l.BaseCommit), mark)
		for _, x := range l.Warnings {
			p.line("  %s: %s", x.Severity, x.Text)
		}
	}
	return p.err
}

func printRounds(w io.Writer, s *session.Snapshot) error {
	p := printer{w: w}
	l := s.Loops.Current()
	if l == nil {
		return nil
	}
	for i := range l.Rounds {
		r := &l.Rounds[i]
		p.line("round %2d  %-14s  %-9s  %s  findings %d  files %s", r.N, orDash(string(r.Kind)), orDash(string(r.Verdict)), orDash(string(r.Marker)), len(r.Findings), strings.Join(r.Files, " "))
	}
	return p.err
}

func printPlan(w io.Writer, s *session.Snapshot) error {
	p := printer{w: w}
	if !s.Plan.Origin.Status.Known() {
		return nil // nothing was read, so nothing speaks against it
	}
	p.line("%s  sha256 %s", s.Plan.Origin.Path, s.Plan.Origin.SHA256)
	if s.Plan.Doc == nil {
		return p.err
	}
	for _, x := range s.Plan.Doc.Sections {
		if !x.InDraft {
			p.line("%5d  %s%s", x.Line, strings.Repeat("  ", max(x.Level-1, 0)), x.Title)
		}
	}
	p.line("criteria %d, tasks %d, decisions %d", len(s.Plan.Doc.Criteria), len(s.Plan.Doc.Tasks), len(s.Plan.Doc.Decisions))
	for _, i := range s.Plan.Issues {
		word := "question"
		if i.Blocks {
			word = "blocks"
		}
		p.line("%-8s line %d  %s: %s", word, i.Line, i.Title, i.Text)
	}
	return p.err
}

func printBench(w io.Writer, s *session.Snapshot) error {
	p := printer{w: w}
	for _, x := range s.Sets {
		p.line("%s", setWords(&x))
	}
	if s.Delta != nil {
		printComparison(&p, &s.Delta.Comparison)
	}
	return p.err
}

// printComparison shows the regimes first; a headline never stands without its
// wins, losses and holes.
func printComparison(p *printer, c *bench.Comparison) {
	p.line("%s against %s: %s (%s)", armWords(c.Cand), armWords(c.Base), c.Verdict, c.Why)
	for _, r := range c.Regimes {
		geo := "-"
		if r.Geomean.OK {
			geo = fmt.Sprintf("%.4f", r.Geomean.V)
		}
		if r.GeomeanCI != nil {
			geo += fmt.Sprintf(" [%.4f %.4f]", r.GeomeanCI[0], r.GeomeanCI[1])
		}
		if r.Min.OK && r.Max.OK {
			geo += fmt.Sprintf("  range %.3f-%.3f", r.Min.V, r.Max.V)
		}
		p.line("  %-20s n %d  faster %d  slower %d  same %d  undecided %d  holes %d  us ratio %s  worst %s", r.Name, r.N, r.Wins, r.Losses, r.Same, r.Undecided, len(r.Holes), geo, orDash(r.Worst))
	}
	for _, n := range c.Notes {
		p.line("  note: %s", n)
	}
}

// armWords names an arm; of a list of files as it stood on the command line, the
// first and the number.
func armWords(label string) string {
	files := strings.Split(label, ",")
	if len(files) == 1 || strings.Contains(label, ", ") {
		return label
	}
	return fmt.Sprintf("%s and %d more", files[0], len(files)-1)
}

func printRuns(w io.Writer, s *session.Snapshot) error {
	p := printer{w: w}
	id, preset := 0, 0
	for i := range s.Runs {
		id, preset = max(id, len(s.Runs[i].ID)), max(preset, len(s.Runs[i].Manifest.Preset))
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		sim := ""
		if r.Manifest.Simulated {
			sim = "  SIMULATED"
		}
		p.line("%-*s  %-9s %-*s  %s%s", id, r.ID, r.State, preset, r.Manifest.Preset, runOutcome(s, r), sim)
	}
	for i := range s.Reports {
		printReport(&p, s, &s.Reports[i])
	}
	return p.err
}

// runOutcome is the verdict on a run; one that nothing judges has only the way
// it ended.
func runOutcome(s *session.Snapshot, r *runs.Run) string {
	if e := s.Ends[r.ID]; e != nil {
		return e.Line()
	}
	if res := s.Results[r.ID]; res != nil && res.Truth != nil {
		return string(res.Truth.Outcome)
	}
	switch end := r.Result; {
	case r.Why != "":
		return r.Why
	case end == nil:
		return "-"
	case end.Signal != "":
		return end.Signal
	case end.Exit != nil:
		return fmt.Sprintf("exit %d", *end.Exit)
	default:
		return orDash(end.Why)
	}
}

func printRows(w io.Writer, r *bench.Result) error {
	p := printer{w: w}
	for _, x := range r.AllRows() {
		p.line("%-9s %-52s %12s us  %10s TFLOPS  max_err %s  min_cos %s  %s", x.Status, x.Key, x.US, x.TFLOPS, x.MaxErr, x.MinCos, x.Error)
	}
	p.line("family %s %s  %d rows", r.Family, r.Version, len(r.AllRows()))
	for _, k := range sortedKeys(r.Counts) {
		p.line("  %s %d", k, r.Counts[k])
	}
	printDiagnostics(&p, r.Diagnostics)
	if r.Truth != nil {
		p.line("verdict: %s", r.Truth.Outcome)
		for _, why := range r.Truth.Reasons {
			p.line("  %s: %s", why.Severity, why.Text)
		}
	}
	return p.err
}

// printDiagnostics prints the first few things a reader of the log must know.
func printDiagnostics(p *printer, list []bench.Diagnostic) {
	const most = 8
	n := 0
	for _, d := range list {
		if d.Severity == bench.Info {
			continue
		}
		if n++; n <= most {
			p.line("%-5s %s:%d: %s", d.Severity, orDash(d.Stream), d.Line, d.Text)
		}
	}
	if n > most {
		p.line("      and %d more (--json has all)", n-most)
	}
}

func shortSHA(s string) string {
	if len(s) > 9 {
		return s[:9]
	}
	return s
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
