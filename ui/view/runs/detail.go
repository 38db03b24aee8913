package runs

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/runs"
	"kdapilot/ui/draw"
	"kdapilot/ui/view"
)

type pairs struct{ list []draw.Pair }

func (p *pairs) add(label, value string) {
	p.list = append(p.list, draw.Pair{Label: label, Value: value})
}

// each adds one line per value, the label on the first.
func (p *pairs) each(label string, values []string) {
	for _, v := range values {
		p.add(label, v)
		label = ""
	}
}

// summary is the state of a run in a few lines.
func summary(e *view.Env, r *runs.Run, w int) []string {
	var p pairs
	look := e.Look
	p.add("run", look.Strong.Paint(string(r.ID)))
	state := paintState(r.State, look)
	if l := labels(e, r); len(l) > 0 {
		state += " " + look.Warn.Paint(strings.Join(l, " "))
	}
	if why := why(r); why != "" {
		state += ": " + why
	}
	p.add("state", state)
	switch st := stagesOf(e, r); {
	case st != "":
		p.add("stage", st)
	case r.Manifest.Kind != runs.Profile:
		p.add("cells", progress(r))
	}
	if r.Progress.Current != "" && r.State == runs.Running && r.Manifest.Kind != runs.Profile {
		p.add("now", r.Progress.Current)
	}
	if r.Manifest.Kind == runs.Profile && r.Manifest.Question != "" {
		p.add("question", r.Manifest.Question)
	}
	if r.State.Final() && e.Snap.Ends[r.ID] != nil {
		endPairs(e, r, &p)
	} else if r.State.Final() {
		word, bad := outcome(e, r)
		p.add("outcome", paintOutcome(word, bad, look)+", "+ended(r))
		if t := truth(e, r); t != nil && bad {
			p.add("", look.Bad.Paint(because(t)))
		}
	}
	attempts(e, r, &p)
	p.add("GPU", gpus(r))
	return draw.KVs(p.list, w, look)
}

// ended says how the command ended and how long it took.
func ended(r *runs.Run) string {
	s := "exit not known"
	if x := exit(r); x != "-" {
		s = "exit " + x
	}
	if t := took(r); t != "-" {
		s += ", took " + t
	}
	return s
}

func truth(e *view.Env, r *runs.Run) *bench.Verdict {
	if res := e.Snap.Results[r.ID]; res != nil {
		return res.Truth
	}
	return nil
}

// because is the first reason, or what the rows say when nothing contradicts
// them.
func because(t *bench.Verdict) string {
	if len(t.Reasons) > 0 {
		return t.Reasons[0].Text
	}
	return "rows: " + t.Rows.Quote
}

func why(r *runs.Run) string {
	switch {
	case r.Why != "":
		return r.Why
	case r.Result != nil && r.Result.Why != "":
		return r.Result.Why
	case r.Status != nil && r.State == runs.Queued:
		return r.Status.Why
	}
	return ""
}

// progress is cells done, time left, and how long it has been quiet.
func progress(r *runs.Run) string {
	p := r.Progress
	if p.Done == 0 && r.State == runs.Running {
		return noRows(r)
	}
	s := cells(r)
	if p.Expected == nil && p.Done > 0 {
		s += " (how many there are is not known)"
	}
	if p.Surplus {
		s += " more than expected, so no ETA"
	}
	if r.State != runs.Running {
		return s
	}
	s += ", " + took(r) + " so far"
	if e := eta(r); e != "-" {
		s += ", " + e + " to go"
	} else if !p.Surplus {
		s += ", ETA not known yet"
	}
	if p.QuietSeconds >= 60 {
		s += ", quiet for " + view.Clock(seconds(p.QuietSeconds))
	}
	return s
}

// noRows says how much there is while no row has come.
func noRows(r *runs.Run) string {
	if r.State.Final() {
		return fmt.Sprintf("no rows, %d bytes of log", r.StdoutBytes+r.StderrBytes)
	}
	return fmt.Sprintf("no rows yet, %d bytes of log", r.StdoutBytes+r.StderrBytes)
}

func gpus(r *runs.Run) string {
	var out []string
	for _, g := range r.Manifest.GPUs {
		out = append(out, gpuName(g))
	}
	if len(out) == 0 {
		return "not known"
	}
	return strings.Join(out, ", ")
}

// everything is the manifest, the result and the verdict in full.
func (s *Screen) everything(e *view.Env, r *runs.Run, w int) []string {
	m, look := &r.Manifest, e.Look
	out := summary(e, r, w)
	var p pairs
	add := func(title string) {
		if len(p.list) > 0 {
			out = append(out, draw.TitleRule(title, w, false, look))
			out = append(out, draw.KVs(p.list, w, look)...)
		}
		p.list = nil
	}
	if r.Origin.Status != fact.OK {
		p.add("read", look.Bad.Paint(r.Origin.Status.String()+" "+r.Origin.Why))
	}
	p.each("argv", m.Argv)
	p.add("cwd", m.Cwd)
	p.add("branch", orNot(m.Branch))
	p.add("HEAD", orNot(m.Head))
	p.add("dirty", dirty(m))
	if m.Arm != "" {
		p.add("arm", m.Arm)
	}
	if m.Question != "" {
		p.add("question", m.Question)
	}
	p.add("started", clock(m)+", "+view.Age(e.Now, m.Started)+" ago; executor "+orNot(m.Executor)+", host "+orNot(m.Place.Host))
	add("manifest: written before the start")
	p.each("judge", hashed(m.Harness))
	if len(m.Harness) == 0 {
		p.add("judge", look.Warn.Paint("no judge file was hashed"))
	}
	if m.RunEnv != nil {
		p.each("runenv", hashed([]runs.Hashed{*m.RunEnv}))
	}
	p.each("set", assignments(m.Env))
	p.each("found", assignments(m.Inherited))
	if len(m.Unset) > 0 {
		p.add("unset", strings.Join(m.Unset, " "))
	}
	add("judges and environment")
	verdict(e, r, &p)
	add("verdict")
	result(e, r, &p)
	add("result: written when nothing can change any more")
	return out
}

func orNot(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

func clock(m *runs.Manifest) string {
	if m.Started.IsZero() {
		return "not known"
	}
	return m.Started.UTC().Format("2006-01-02 15:04:05 UTC")
}

func dirty(m *runs.Manifest) string {
	switch {
	case m.DirtyFiles == nil:
		return "nobody looked"
	case *m.DirtyFiles == 0:
		return "no"
	default:
		return view.Count(*m.DirtyFiles, "file") + " " + short(m.DirtyHash)
	}
}

func hashed(list []runs.Hashed) []string {
	var out []string
	for _, h := range list {
		out = append(out, short(h.SHA256)+" "+h.Path)
	}
	return out
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func assignments(m map[string]string) []string {
	var out []string
	for _, k := range sortedKeys(m) {
		out = append(out, k+"="+m[k])
	}
	return out
}

// verdict is the three-way truth with the words of each witness.
func verdict(e *view.Env, r *runs.Run, p *pairs) {
	look := e.Look
	if e.Snap.Ends[r.ID] != nil {
		endPairs(e, r, p)
		return
	}
	t := truth(e, r)
	if t == nil {
		if r.Result != nil && r.Result.Verdict != nil {
			v := r.Result.Verdict
			p.add("exit", v.Exit)
			p.add("rows", v.Rows)
			p.add("text", v.Text)
			p.each("quotes", v.Quotes)
			return
		}
		p.add("outcome", "not judged: a verdict needs exit status, rows and text of an ended run")
		return
	}
	word, bad := outcome(e, r)
	if word == "-" {
		word = string(t.Outcome)
	}
	p.add("outcome", paintOutcome(word, bad, look))
	for _, x := range []struct {
		name string
		w    bench.Witness
	}{{"exit", t.Exit}, {"rows", t.Rows}, {"text", t.Text}} {
		p.add(x.name, string(x.w.Says)+": "+strconv.Quote(x.w.Quote))
	}
	for _, x := range t.Reasons {
		line := string(x.Severity) + " " + x.Text
		if x.Rule != "" {
			line = x.Rule + " " + line
		}
		if x.Quote != "" {
			line += ": " + strconv.Quote(x.Quote)
		}
		p.add("because", line)
	}
}

func result(e *view.Env, r *runs.Run, p *pairs) {
	x, look := r.Result, e.Look
	if x == nil {
		p.add("result", "none yet")
		return
	}
	p.add("exit", exit(r))
	p.add("took", times(x))
	if x.Why != "" {
		p.add("why", x.Why)
	}
	switch yes, known := x.Contaminated(); {
	case yes:
		for _, f := range x.Foreign {
			p.add("others", look.Bad.Paint(fmt.Sprintf("GPU %d, pid %d, %s: %s", f.GPU, f.PID, f.When, f.Command)))
		}
	case known:
		p.add("others", fmt.Sprintf("none seen on the GPU in %d looks", x.ForeignLooks))
	default:
		p.add("others", look.Warn.Paint("nobody could look whether others used the GPU "+x.ForeignWhy))
	}
	if least, most, ok := x.Clock(); ok {
		p.add("clock", fmt.Sprintf("%.0f to %.0f MHz during the run, %d samples", least, most, len(x.Samples)))
	} else if x.SamplesWhy != "" {
		p.add("clock", look.Warn.Paint("not known: "+x.SamplesWhy))
	}
	if x.LeftBehind > 0 {
		p.add("left", look.Warn.Paint(fmt.Sprintf("%d of its processes", x.LeftBehind)+" outlived the command and had to be killed"))
	}
	p.each("captured", x.Captured)
	p.each("stale", x.Stale)
	p.each("file", hashed(x.Files))
}

// times are the measured ones; what was not measured is left out.
func times(x *runs.Result) string {
	var out []string
	for _, t := range []struct {
		v    float64
		name string
	}{{x.WallSeconds, "wall"}, {x.UserSeconds, "user"}, {x.SystemSeconds, "system"}, {x.QueuedSeconds, "queued before"}} {
		if t.v > 0 {
			out = append(out, fmt.Sprintf("%.1f s %s", t.v, t.name))
		}
	}
	if len(out) == 0 {
		return "not measured"
	}
	return strings.Join(out, ", ")
}
