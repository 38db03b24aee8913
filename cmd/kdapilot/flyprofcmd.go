package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
)

// flyprofFlags are what the flyprof presets of `kdapilot run` need beyond a
// question and a GPU.
func flyprofFlags(cmd *cobra.Command, a *session.StartRun) {
	f := cmd.Flags()
	f.StringVar(&a.Kernel, "kernel", "", "flyprof-run: the kernel, when not the family's own (flyprof-list names them)")
	f.StringVar(&a.Before, "before", "", "flyprof-diff: the bundle before, by path or part of its name")
	f.StringVar(&a.After, "after", "", "flyprof-diff: the bundle after")
	f.StringVar(&a.Class, "class", "", "flyprof-wiki: the stall class")
}

// flyprofArgs takes what follows a flyprof preset on the command line:
// flyprof-run KERNEL, flyprof-diff BASE CAND, flyprof-wiki CLASS.
func flyprofArgs(a *session.StartRun, rest []string) error {
	var into []*string
	switch a.Preset {
	case "flyprof-run":
		into = []*string{&a.Kernel}
	case "flyprof-diff":
		into = []*string{&a.Before, &a.After}
	case "flyprof-wiki":
		into = []*string{&a.Class}
	}
	if len(rest) > len(into) {
		return exitWith(exitUsage, "run: one preset, or -- and a command; %s takes nothing more: %q", a.Preset, rest[len(into):])
	}
	for i, v := range rest {
		*into[i] = v
	}
	return nil
}

// nextAttempt is the run that repeats id after a transient failure: "" when
// there is none, wait true when the session is still starting it.
func nextAttempt(snap *session.Snapshot, ses *live.Session, id runs.ID) (next runs.ID, wait bool) {
	e := snap.Ends[id]
	if e == nil || e.Meaning != profile.Retry {
		return "", false
	}
	if r := profile.RetryOf(snap.Runs, id); r != nil {
		return r.ID, false
	}
	return "", ses.RetryPending(id)
}

// endOf prints what the envelope of a flyprof run said and gives the exit
// status of design section 8 for it.
func endOf(w io.Writer, r *runs.Run, e *profile.End) error {
	p := printer{w: w}
	printEnd(&p, r, e)
	if p.err != nil {
		return p.err
	}
	return exitQuietly(e.Exit)
}

// printEnd is a flyprof run's end in words, one fact a line.
func printEnd(p *printer, r *runs.Run, e *profile.End) {
	cmd := profile.CommandOf(r.Manifest.Argv)
	if cmd == "" {
		cmd = r.Manifest.Preset
	}
	sim := ""
	if r.Manifest.Simulated {
		sim = "SIMULATED "
	}
	p.line("%sflyprof %s: %s", sim, cmd, e.Line())
	if e.Next != "" {
		p.line("  do: %s", e.Next)
	}
	for _, q := range e.Quotes {
		p.line("  %s", q)
	}
	if r.Manifest.Question != "" {
		p.line("  question: %s", r.Manifest.Question)
	}
	if r.Manifest.RetryOf != "" {
		p.line("  second attempt of %s", r.Manifest.RetryOf)
	}
	if e.Said != nil {
		printSaid(p, e.Said)
	}
}

func printSaid(p *printer, s *profile.Said) {
	if s.Bundle != "" {
		p.line("  bundle: %s", s.Bundle)
	}
	for _, x := range s.Steps {
		p.line("  step %-9s %s", x.Name, x.Result)
	}
	for _, k := range s.Kernels {
		p.line("  %-28s %-12s %-14s %s", k.Name, k.Category, k.Recipe, strings.Join(kernelNotes(k), ", "))
	}
	if s.Wiki != nil {
		for _, x := range s.Wiki.Pages {
			p.line("  %s  %s  %s", x.ID, x.Title, x.Path)
		}
	}
	for _, x := range s.Warnings {
		p.line("  warning: %s", x)
	}
}

// kernelNotes are what a person should know before a kernel is profiled.
func kernelNotes(k profile.Kernel) []string {
	var out []string
	if k.MultiGPU {
		out = append(out, "needs several GPUs")
	}
	if k.PinsGPU() {
		out = append(out, "its recipe pins GPU 0: --gpu is ignored")
	}
	if k.TestFile != "" {
		out = append(out, k.TestFile)
	}
	return out
}

// reportJSON is a rocm-report with what it is linked to here; the links are ""
// when it names nothing that is here.
type reportJSON struct {
	profile.Report
	Bundle string  `json:"bundle"`
	Run    runs.ID `json:"run"`
}

// runsJSON are the runs, the ends of those that were flyprof's by run id, and
// the rocm-reports with their links.
func runsJSON(s *session.Snapshot) any {
	ends := map[runs.ID]*profile.End{}
	for id, e := range s.Ends {
		ends[id] = e
	}
	reports := []reportJSON{}
	for _, r := range s.Reports {
		j := reportJSON{Report: r}
		j.Bundle, j.Run = s.LinkOf(&r)
		reports = append(reports, j)
	}
	return map[string]any{"runs": s.Runs, "origin": s.RunsStatus, "profiles": ends, "reports": reports}
}

// printReport is the hypothesis of a rocm-report, what it is linked to and what
// makes it weaker than it looks.
func printReport(p *printer, s *session.Snapshot, r *profile.Report) {
	p.line("report  %s/REPORT.md:%d: %s", r.Name, r.Line, orDash(r.Hypothesis))
	bundle, run := s.LinkOf(r)
	if bundle == "" && run == "" {
		p.line("  names no bundle and no run that is here")
	}
	if bundle != "" {
		p.line("  bundle  %s", bundle)
	}
	if run != "" {
		p.line("  run     %s", run)
	}
	for _, x := range r.Problems {
		p.line("  weaker: %s", x)
	}
}
