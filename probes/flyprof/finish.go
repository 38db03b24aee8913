package flyprof

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"kdapilot/engine/fact"
	"kdapilot/engine/stall"
	"kdapilot/engine/text"
	"kdapilot/probes/att"
	"kdapilot/probes/readfile"
)

// trust fills the trust line from the trace's side files and capture.json.
func (l *loader) trust() {
	t, c, f := &l.a.Trust, l.a.Capture, &l.facts
	t.Tag, t.Dispatch = l.place.tag, l.a.Bubbles.DispatchDir
	if c != nil {
		if t.Kernel == "" {
			t.Kernel = c.Kernel
		}
		t.Shape, t.Decoder, t.Arch = c.Shape, c.Decoder, c.Arch
		t.Occupancy.Estimate = c.WavesCU
		if l.a.Rows == nil {
			t.WaveFiles = c.Waves
		}
	}
	if t.Kernel == "" {
		t.Kernel = l.a.Report.Kernel
	}
	if t.Occupancy.Estimate == nil && t.Occupancy.Registers != nil {
		t.Occupancy.Estimate = &t.Occupancy.Registers.Estimate
	}
	t.WavesListed = f.Listed
	if t.Arch == "" && f.GfxIP > 0 {
		// The trace knows the generation only: 9 is both gfx942 and gfx950.
		t.Arch = "gfx" + strconv.FormatInt(f.GfxIP, 10)
	}
	if f.ClockMHz != nil {
		mhz := stall.Round(float64(*f.ClockMHz), 1)
		t.ClockMHz = &mhz
	}
	if o := f.Occupancy; o != nil && o.Waves > 0 {
		t.Occupancy.PeakPerCU, t.Occupancy.PeakPerSIMD = &o.PeakPerCU, &o.PeakPerSIMD
		t.Occupancy.WavesTotal, t.Occupancy.CUs = &o.Waves, &o.CUs
		t.Occupancy.Dispatches = o.Dispatches
		t.SpanCycles, t.SpanMicros = o.Span, f.SpanMicros()
	}
	if l.a.Rows == nil && l.a.Bubbles.Totals.Instructions > 0 {
		t.Instructions = l.a.Bubbles.Totals.Instructions
	}
	if t.Caveats == nil {
		t.Caveats = []string{}
	}
}

// finish derives what depends on everything else. It is run again when the
// waits arrive.
func finish(a *stall.Analysis) {
	a.Trust.Judge(a.Rows, a.Bubbles.Occupancy)
	seen := map[stall.Finding]bool{}
	for _, f := range a.Findings {
		seen[f] = true
	}
	for _, f := range stall.Observe(a) {
		if !seen[f] {
			a.Findings = append(a.Findings, f)
		}
	}
	var contradictions []string
	for _, f := range a.Findings {
		if f.Bad {
			contradictions = append(contradictions, f.Text)
		}
	}
	a.Freshness = a.Freshness.WithContradictions(contradictions)
}

// AddWaits reads the wave files that Load left out and returns the analysis with
// the producers of the waits. a is not changed. The error is the context's or an
// *att.Error.
func AddWaits(ctx context.Context, a stall.Analysis) (stall.Analysis, error) {
	if !a.WaitsPending {
		return a, nil
	}
	w, err := (&att.Dispatch{Dir: a.Dir}).Waits(ctx)
	if err != nil {
		return a, err
	}
	a.Findings = slices.Clone(a.Findings)
	a.Waits, a.WaitsPending = w, false
	a.Trust.SetWaits(&w)
	if w.Capped {
		a.Findings = append(a.Findings, stall.Finding{Kind: "waves-capped", Path: a.Dir, Text: "more wave files than are read"})
	}
	computed := a.Bubbles.WithWaits(a.Rows, w.Edges)
	switch {
	case a.Used != stall.FromBubbles:
		a.Bubbles = computed
	case reflect.DeepEqual(producersOf(&computed), producersOf(&a.Bubbles)):
	case w.Broken > 0 || a.Trust.WavesListed != nil && w.Files < *a.Trust.WavesListed:
		a.Findings = append(a.Findings, stall.Finding{Kind: "waits-incomplete", Path: a.Dir,
			Text: "not all captured wave files are here, so the producers of waits are those of bubbles.json"})
	default:
		a.Findings = append(a.Findings, stall.Finding{Kind: "waits-differ", Bad: true, Path: a.Dir,
			Text: "bubbles.json names other producers of waits than the wave files here; used the wave files"})
		a.Bubbles, a.Used = computed, stall.Computed
	}
	if a.Report.Used == stall.Computed {
		a.Report = recommend(&a, a.Report.Kernel)
	}
	finish(&a)
	return a, nil
}

func producersOf(b *stall.Bubbles) [][]stall.Producer {
	out := make([][]stall.Producer, len(b.Hotspots))
	for i := range b.Hotspots {
		if len(b.Hotspots[i].Producers) > 0 {
			out[i] = b.Hotspots[i].Producers
		}
	}
	return out
}

// loadFile reads a single stored artifact or envelope.
func loadFile(path string, opts Options) (stall.Analysis, error) {
	b, o, err := readfile.All(path, maxArtifact)
	if err != nil {
		return stall.Analysis{}, att.Refused(path, err, "can not be read: %v", err)
	}
	l := loader{opts: opts}
	l.a.Path, l.a.Origin = path, o
	if env, err := ParseEnvelope(b); err == nil && env.Error != nil {
		return stall.Analysis{}, &att.Error{Code: env.Error.Code, Exit: env.Error.Exit, Path: path, Msg: "flyprof failed: " + env.Error.Message, Err: env.Error}
	} else if err == nil {
		b = env.Data
	}
	report, reportErr := parseReport(b)
	if reportErr == nil && (report.Kernel != "" || report.Hotspots != nil) {
		l.a.Bubbles, l.a.Report, l.a.Used = fromReport(report), report.Report, stall.FromReport
	} else if l.a.Bubbles, err = ParseBubbles(b); err != nil {
		return stall.Analysis{}, att.Refused(path, errors.Join(err, reportErr), "neither bubbles.json, report.json nor an envelope of them: %v", err)
	} else {
		l.a.Used = stall.FromBubbles
		l.a.Report = stall.Recommend("", &l.a.Bubbles, nil, nil)
	}
	l.trust()
	l.a.Origin.Status = fact.OK
	l.a.Trust.Dispatch = l.a.Bubbles.DispatchDir
	if l.a.Trust.Kernel == "" {
		l.a.Trust.Kernel = text.Line(l.a.Report.Kernel)
	}
	l.note("file-only", filepath.Clean(path), "one stored file; nothing beside it to check it against")
	l.a.Freshness = stall.JudgeFreshness(stall.FreshnessInput{Now: opts.Now, MaxAge: opts.MaxAge, Since: opts.Since, CapturedAt: o.ModTime})
	finish(&l.a)
	return l.a, nil
}
