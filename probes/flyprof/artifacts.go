package flyprof

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"kdapilot/engine/fact"
	"kdapilot/engine/stall"
	"kdapilot/engine/text"
	"kdapilot/probes/att"
	"kdapilot/probes/readfile"
)

// maxArtifact bounds one JSON artifact of a bundle; real ones are below 100 KB.
const maxArtifact = 16 << 20

// captureFile is capture.json as flyprof writes it.
type captureFile struct {
	Kernel       string                `json:"kernel"`
	RecipeKernel string                `json:"recipe_kernel"`
	Confidence   string                `json:"match_confidence"`
	Invocation   string                `json:"invocation"`
	AvgNanos     *stall.Num            `json:"avg_ns"`
	Tags         map[string]captureTag `json:"tags"`
	Provenance   struct {
		Rocprofv3 *string `json:"rocprofv3"`
		Arch      string  `json:"arch"`
	} `json:"provenance"`
}

type captureTag struct {
	Shape    *string  `json:"shape"`
	Error    string   `json:"error"`
	KeptDir  string   `json:"kept_dir"`
	Waves    *int     `json:"waves"`
	ArchVGPR *int     `json:"arch_vgpr"`
	AccVGPR  *int     `json:"accum_vgpr"`
	WavesCU  *float64 `json:"occupancy_waves_per_cu"`
}

// ParseCapture reads the bytes of a capture.json and returns what it says about
// each tag; the map is empty when it names none. All texts are cleaned.
func ParseCapture(b []byte) (map[string]stall.Capture, error) {
	var f captureFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, explain(b, err)
	}
	base := stall.Capture{
		Kernel: line(f.Kernel), RecipeKernel: line(f.RecipeKernel), Confidence: line(f.Confidence),
		Invocation: line(f.Invocation), AvgNanos: f.AvgNanos, Arch: line(f.Provenance.Arch),
	}
	if v := f.Provenance.Rocprofv3; v != nil && *v != "" {
		base.Decoder = "rocprofv3 " + line(*v)
	}
	out := map[string]stall.Capture{}
	for name, t := range f.Tags {
		c := base
		c.Tag, c.Error, c.KeptDir = line(name), line(t.Error), text.Clean(t.KeptDir)
		c.Waves, c.ArchVGPR, c.AccVGPR = t.Waves, t.ArchVGPR, t.AccVGPR
		if t.Shape != nil {
			c.Shape = line(*t.Shape)
		}
		if t.WavesCU != nil {
			n := int(*t.WavesCU)
			c.WavesCU = &n
		}
		out[name] = c
	}
	if len(f.Tags) == 0 && f.Kernel == "" {
		return nil, errors.New(`want an object with "kernel" and "tags" as flyprof capture writes it`)
	}
	if len(out) == 0 {
		out[""] = base
	}
	return out, nil
}

// ParseBubbles reads the bytes of a bubbles.json. All texts are cleaned.
func ParseBubbles(b []byte) (stall.Bubbles, error) {
	var probe struct {
		Totals   *json.RawMessage `json:"totals"`
		Taxonomy *json.RawMessage `json:"stall_taxonomy"`
	}
	if err := json.Unmarshal(b, &probe); err != nil {
		return stall.Bubbles{}, explain(b, err)
	}
	if probe.Totals == nil || probe.Taxonomy == nil {
		return stall.Bubbles{}, errors.New(`want an object with "totals" and "stall_taxonomy" as flyprof bubbles writes it`)
	}
	var out stall.Bubbles
	if err := json.Unmarshal(b, &out); err != nil {
		return stall.Bubbles{}, explain(b, err)
	}
	cleanBubbles(&out)
	return out, nil
}

// reportFile is report.json as flyprof writes it, without the long texts.
type reportFile struct {
	stall.Report
	Totals    *stall.Totals   `json:"totals"`
	Taxonomy  *stall.Taxonomy `json:"stall_taxonomy"`
	Hotspots  []stall.Hotspot `json:"evidence_hotspots"`
	Occupancy struct {
		Waves *float64 `json:"from_capture_waves_per_cu"`
	} `json:"occupancy"`
	Provenance struct {
		Arch string `json:"arch"`
		Date string `json:"date"`
	} `json:"provenance"`
}

// parseReport reads the bytes of a report.json. All texts are cleaned.
func parseReport(b []byte) (*reportFile, error) {
	var f reportFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, explain(b, err)
	}
	if f.Totals == nil || f.Taxonomy == nil {
		return nil, errors.New(`want an object with "totals" and "stall_taxonomy" as flyprof report writes it`)
	}
	r := &f.Report
	r.Used, r.Kernel, r.Headline, r.Bound = stall.FromReport, line(r.Kernel), line(r.Headline), stall.Bound(line(string(r.Bound)))
	if r.Recommendations == nil {
		r.Recommendations = []stall.Recommendation{}
	}
	for i := range r.Recommendations {
		c := &r.Recommendations[i]
		c.Rule, c.BubbleClass = line(c.Rule), stall.Class(line(string(c.BubbleClass)))
		c.Confidence, c.Knob = line(c.Confidence), line(c.Knob)
		e := &c.Evidence
		e.Signal, e.Source, e.Inst = line(e.Signal), line(e.Source), line(e.Inst)
		for k := range e.WaitsOn {
			e.WaitsOn[k].Source, e.WaitsOn[k].Inst = line(e.WaitsOn[k].Source), line(e.WaitsOn[k].Inst)
		}
	}
	shell := stall.Bubbles{Taxonomy: *f.Taxonomy, Hotspots: f.Hotspots}
	cleanBubbles(&shell)
	*f.Taxonomy, f.Hotspots = shell.Taxonomy, shell.Hotspots
	f.Provenance.Arch, f.Provenance.Date = line(f.Provenance.Arch), line(f.Provenance.Date)
	return &f, nil
}

// ParseCounters reads the facts of counters.json that the rules look at.
func ParseCounters(b []byte) (stall.Counters, error) {
	var f struct {
		Memory struct {
			L2      *stall.Num `json:"l2_hit_rate"`
			Partial *stall.Num `json:"partial_32b_frac"`
			HBM     *stall.Num `json:"pct_of_hbm_roof"`
		} `json:"memory"`
		LDS struct {
			Conflict *stall.Num `json:"bank_conflict_pct"`
		} `json:"lds"`
		Compute struct {
			MFMA *stall.Num `json:"mfma_inst_frac"`
		} `json:"compute"`
		Roofline struct {
			Bound string `json:"bound"`
		} `json:"roofline"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return stall.Counters{}, explain(b, err)
	}
	return stall.Counters{
		MFMAFraction: f.Compute.MFMA, L2HitPct: f.Memory.L2, Partial32B: f.Memory.Partial, HBMPct: f.Memory.HBM,
		BankConflictPct: f.LDS.Conflict, Bound: stall.Bound(line(f.Roofline.Bound)),
	}, nil
}

// Run is run.json: how far a `flyprof run` got. Steps keep their order.
type Run struct {
	Kernel   string
	Steps    []Step
	Warnings []string
}

// Step is one step of a run with its short result.
type Step struct{ Name, Result string }

// runSteps is the order in which flyprof run takes its steps.
func runSteps() []string {
	return []string{"doctor", "tile", "capture", "counters", "bubbles", "map", "report", "bundle"}
}

// ParseRun reads the bytes of a run.json.
func ParseRun(b []byte) (Run, error) {
	var f struct {
		Kernel   string            `json:"kernel"`
		Steps    map[string]string `json:"steps"`
		Warnings []string          `json:"warnings"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return Run{}, explain(b, err)
	}
	r := Run{Kernel: line(f.Kernel)}
	for _, name := range runSteps() {
		if v, ok := f.Steps[name]; ok {
			r.Steps = append(r.Steps, Step{Name: name, Result: line(v)})
		}
	}
	for _, w := range f.Warnings {
		r.Warnings = append(r.Warnings, line(w))
	}
	return r, nil
}

// StoppedAt is the first step that has no result, "" when all but the optional
// bundle step have one.
func (r Run) StoppedAt() string {
	for _, name := range runSteps()[:7] {
		found := false
		for _, s := range r.Steps {
			found = found || s.Name == name
		}
		if !found {
			return name
		}
	}
	return ""
}

// read reads and parses one artifact of a bundle. A missing file gives ok false
// and no error.
func read[T any](dir, name string, parse func([]byte) (T, error)) (v T, o fact.Origin, ok bool, err error) {
	path := filepath.Join(dir, name)
	b, o, err := readfile.All(path, maxArtifact)
	if errors.Is(err, fs.ErrNotExist) {
		return v, o, false, nil
	}
	if err == nil {
		v, err = parse(b)
	}
	if err != nil {
		o.Status, o.Why = fact.Unreadable, line(err.Error())
		return v, o, false, fmt.Errorf("%s: %w", path, err)
	}
	return v, o, true, nil
}

// explain adds the line to an error of encoding/json.
func explain(b []byte, err error) error {
	at := int64(-1)
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typ):
		at = typ.Offset
	}
	if at < 0 || at > int64(len(b)) {
		return err
	}
	n := 1
	for _, c := range b[:at] {
		if c == '\n' {
			n++
		}
	}
	return fmt.Errorf("line %d: %w", n, err)
}

// maxText bounds one text taken from an artifact, in bytes.
const maxText = 4096

func line(s string) string { return text.Line(text.Clip(s, maxText)) }

// maxList bounds the lists of a stored artifact; flyprof caps them at 25.
const maxList = 1000

// cleanBubbles cleans all texts and bounds the lists of a stored artifact.
func cleanBubbles(b *stall.Bubbles) {
	b.DispatchDir = line(b.DispatchDir)
	b.Taxonomy.ByClass = bound(b.Taxonomy.ByClass)
	for i := range b.Taxonomy.ByClass {
		b.Taxonomy.ByClass[i].Class = stall.Class(line(string(b.Taxonomy.ByClass[i].Class)))
	}
	b.InstMix = bound(b.InstMix)
	for i := range b.InstMix {
		b.InstMix[i].Class = stall.Class(line(string(b.InstMix[i].Class)))
	}
	b.Hotspots = bound(b.Hotspots)
	for i := range b.Hotspots {
		h := &b.Hotspots[i]
		h.Addr, h.Inst, h.Source, h.Class = line(h.Addr), att.OneLine(h.Inst), att.OneLine(h.Source), stall.Class(line(string(h.Class)))
		if len(h.Producers) > maxList {
			h.Producers = h.Producers[:maxList]
		}
		for k := range h.Producers {
			h.Producers[k].Inst, h.Producers[k].Source = att.OneLine(h.Producers[k].Inst), att.OneLine(h.Producers[k].Source)
		}
	}
	b.BySource = bound(b.BySource)
	for i := range b.BySource {
		b.BySource[i].Source, b.BySource[i].DomClass = att.OneLine(b.BySource[i].Source), stall.Class(line(string(b.BySource[i].DomClass)))
	}
	if d := b.Detail; d != nil {
		d.Inst, d.Source, d.Addr, d.Class = line(d.Inst), line(d.Source), line(d.Addr), stall.Class(line(string(d.Class)))
	}
}

// bound cuts a list and makes a missing one empty, as flyprof writes it.
func bound[S ~[]E, E any](s S) S {
	if s == nil {
		return S{}
	}
	return s[:min(len(s), maxList)]
}
