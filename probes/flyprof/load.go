package flyprof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/stall"
	"kdapilot/engine/text"
	"kdapilot/probes/att"
	"kdapilot/probes/readfile"
)

// Load analyses one path: a bundle, a folder of dispatch directories, a
// dispatch directory, or a bubbles.json, report.json or envelope file. Errors
// are *att.Error with flyprof's code and exit status, or the context's.
//
// The taxonomy comes from code.json and takes milliseconds. With opts.Waits the
// wave files are read as well; without it AddWaits completes the analysis.
func Load(ctx context.Context, path string, opts Options) (stall.Analysis, error) {
	if opts.Now.IsZero() {
		opts.Now = time.Now()
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return stall.Analysis{}, att.Nothing(path, "no such file or folder")
	case err != nil:
		return stall.Analysis{}, att.Broken(path, err, "can not be looked at: %v", err)
	case !info.IsDir() && filepath.Base(path) == "code.json":
		path = filepath.Dir(path)
	case !info.IsDir():
		return loadFile(path, opts)
	}
	if err := listable(path); err != nil {
		return stall.Analysis{}, att.Broken(path, err, "can not be listed: %v", err)
	}
	p, err := pick(ctx, path, opts.Tag)
	if err != nil {
		return stall.Analysis{}, err
	}
	l := loader{opts: opts, place: p}
	l.a.Path, l.a.Capture = path, p.capture
	if err := l.load(ctx); err != nil {
		return stall.Analysis{}, err
	}
	if opts.Waits && l.a.WaitsPending {
		return AddWaits(ctx, l.a)
	}
	return l.a, nil
}

// listable tells a folder that may not be read from one with nothing in it.
func listable(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return f.Close()
}

// loader gathers one analysis.
type loader struct {
	opts  Options
	place place
	a     stall.Analysis
	facts att.Facts
	files []stall.SourceFile
}

func (l *loader) load(ctx context.Context) error {
	l.a.Findings = l.place.findings
	if err := l.trace(ctx); err != nil {
		return err
	}
	stored, err := l.stored()
	if err != nil {
		return err
	}
	if l.place.root != "" {
		l.counters()
	}
	l.report(stored)
	l.trust()
	l.question()
	if err := l.sources(ctx); err != nil {
		return err
	}
	l.identity()
	finish(&l.a)
	return nil
}

// trace reads the decoded trace, if there is one. A trace that can not be read
// is an error unless a stored artifact can stand in.
func (l *loader) trace(ctx context.Context) error {
	if l.place.dispatch == "" {
		return nil
	}
	d, err := att.Open(ctx, l.place.dispatch)
	if err != nil {
		var e *att.Error
		if errors.As(err, &e) && l.hasStored() {
			l.a.Findings = append(l.a.Findings, stall.Finding{Kind: "trace-unreadable", Bad: true, Path: e.Path, Text: line(e.Error())})
			return nil
		}
		return err
	}
	if l.facts, err = d.Facts(ctx); err != nil {
		return err
	}
	for _, p := range l.facts.Problems {
		l.a.Findings = append(l.a.Findings, stall.Finding{Kind: "side-file", Path: d.Dir, Text: p})
	}
	l.a.Dir, l.a.Origin, l.a.Rows, l.a.Used = d.Dir, d.Origin, d.Code.Rows, stall.Computed
	l.a.Trust = stall.NewTrust(&d.Code)
	if n, err := d.WaveFiles(); err == nil {
		l.a.Trust.WaveFiles = &n
	}
	l.a.Bubbles = stall.Compute(d.Name, d.Code.Rows, l.facts.Idle)
	l.a.WaitsPending, l.a.Trust.WaitsPending = true, true
	return nil
}

func (l *loader) hasStored() bool {
	if l.place.root == "" {
		return false
	}
	for _, name := range []string{"bubbles.json", "report.json"} {
		if info, err := os.Stat(filepath.Join(l.place.root, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// artifacts are the stored artifacts of a bundle.
type artifacts struct {
	report       *reportFile
	reportOrigin fact.Origin
}

// stored reads bubbles.json and report.json and decides what is used: a stored
// bubbles.json that agrees with the trace, the trace where they disagree, and
// the stored one alone where there is no trace.
func (l *loader) stored() (artifacts, error) {
	var out artifacts
	if l.place.root == "" {
		return out, nil
	}
	b, bo, hasBubbles, err := read(l.place.root, "bubbles.json", ParseBubbles)
	if err != nil {
		l.bad("bubbles-unreadable", bo.Path, err.Error())
	}
	r, ro, hasReport, err := read(l.place.root, "report.json", parseReport)
	if err != nil {
		l.bad("report-unreadable", ro.Path, err.Error())
	}
	if hasReport {
		out.report, out.reportOrigin = r, ro
	}
	traced := l.a.Used == stall.Computed
	switch {
	case hasBubbles && traced:
		l.crossCheck(&b, bo)
	case hasBubbles:
		l.a.Bubbles, l.a.Origin, l.a.Used = b, bo, stall.FromBubbles
	case hasReport && !traced:
		l.a.Bubbles, l.a.Origin, l.a.Used = fromReport(r), ro, stall.FromReport
		l.note("report-only", ro.Path, "no bubbles.json and no decoded trace: at most 5 hotspots, no source lines, no instruction mix")
	case !traced:
		return out, l.nothing()
	}
	if c := l.a.Capture; hasBubbles && c != nil && c.KeptDir != "" && b.DispatchDir != line(filepath.Base(c.KeptDir)) {
		l.bad("bubbles-other-dispatch", bo.Path, "bubbles.json is about "+b.DispatchDir+", capture.json kept "+line(filepath.Base(c.KeptDir)))
	}
	return out, nil
}

func (l *loader) nothing() error {
	for _, f := range l.a.Findings {
		if f.Bad {
			return att.Nothing(l.a.Path, "nothing to analyse here; %s: %s", f.Path, f.Text)
		}
	}
	return att.Nothing(l.a.Path, "no bubbles.json, no report.json and no decoded trace (code.json) in it")
}

func fromReport(r *reportFile) stall.Bubbles {
	return stall.Bubbles{
		Totals: *r.Totals, Taxonomy: *r.Taxonomy, Hotspots: r.Hotspots, BySource: []stall.SourceShare{}, InstMix: stall.InstMix{},
	}
}

// crossCheck compares a stored bubbles.json with what the trace beside it says.
// Producers of waits are compared later, when the wave files are read.
func (l *loader) crossCheck(b *stall.Bubbles, o fact.Origin) {
	diffs := differences(b, &l.a.Bubbles)
	if len(diffs) > 0 {
		l.bad("bubbles-differ", o.Path, "bubbles.json does not come from this trace ("+strings.Join(diffs, "; ")+"); used the trace")
		return
	}
	if b.Detail != nil {
		l.note("bubbles-detail", o.Path, fmt.Sprintf("bubbles.json was written with --detail %d", b.Detail.CodeLine))
	}
	l.note("bubbles-agree", o.Path, "bubbles.json agrees with the trace beside it")
	l.a.Bubbles, l.a.Used = *b, stall.FromBubbles
}

// counters reads counters.json for the rules that look at them.
func (l *loader) counters() {
	c, o, ok, err := read(l.place.root, "counters.json", ParseCounters)
	if err != nil {
		l.bad("counters-unreadable", o.Path, err.Error())
	}
	if ok {
		l.a.Counters = &c
	}
}

// report takes report.json if it is about the same numbers, else applies the
// rules to what was analysed.
func (l *loader) report(s artifacts) {
	if s.report != nil {
		diffs := sameTotals(s.report, &l.a.Bubbles)
		if len(diffs) == 0 {
			l.a.Report = s.report.Report
			return
		}
		l.bad("report-differs", s.reportOrigin.Path, "report.json is about other numbers ("+strings.Join(diffs, "; ")+"); applied the rules anew")
	}
	l.a.Report = recommend(&l.a, l.kernel())
}

// recommend applies the rules with the occupancy that flyprof's report would
// have: that of capture.json for tag big, none for a small-only bundle.
func recommend(a *stall.Analysis, kernel string) stall.Report {
	var waves *int
	switch {
	case a.Trust.Tag == "small":
	case a.Capture != nil:
		waves = a.Capture.WavesCU
	case a.Trust.Occupancy.Registers != nil:
		waves = &a.Trust.Occupancy.Registers.Estimate
	}
	return stall.Recommend(kernel, &a.Bubbles, a.Counters, waves)
}

func (l *loader) kernel() string {
	if l.a.Trust.Kernel == "" && l.a.Capture != nil {
		return l.a.Capture.Kernel
	}
	return l.a.Trust.Kernel
}

// question reads the named question the capture answers: from the cockpit's own
// note beside the bundle, else from a report run's notes.
func (l *loader) question() {
	dirs := []string{l.place.root}
	if l.place.root == "" {
		dirs = []string{l.place.dispatch}
	}
	dirs = append(dirs, filepath.Dir(dirs[0]))
	for _, d := range dirs {
		if s, o, ok, err := read(d, SidecarName, ParseSidecar); err == nil && ok && s.Question != "" {
			l.a.Question, l.a.QuestionFrom, l.a.Commit = s.Question, o.Path, s.Commit
			return
		}
		path := filepath.Join(d, "analysis", "notes.md")
		b, _, err := readfile.All(path, 1<<20)
		if q := questionIn(string(b)); err == nil && q != "" {
			l.a.Question, l.a.QuestionFrom = q, path
			return
		}
	}
}

func (l *loader) bad(kind, path, what string) {
	l.a.Findings = append(l.a.Findings, stall.Finding{Kind: kind, Bad: true, Path: text.Line(path), Text: line(what)})
}

func (l *loader) note(kind, path, what string) {
	l.a.Findings = append(l.a.Findings, stall.Finding{Kind: kind, Path: text.Line(path), Text: line(what)})
}
