package stalls

import (
	"fmt"
	"strings"

	"kdapilot/engine/stall"
	"kdapilot/ui/view"
)

// aboutText is everything that says how far the numbers carry: of the
// candidate in full, of the base in short.
func aboutText(e *view.Env, m *model, w int) []string {
	look := e.Look
	p := pairs{w: w, look: look}
	if m.cand == nil {
		return nil
	}
	p.add("bundle", look.Strong.Paint(m.cand.Name))
	p.add("", one(m.cand.Kind, ageOf(e, m.cand), holds(m.cand)))
	a := m.cand.a
	if a == nil {
		p.add("state", look.Warn.Paint(m.cand.why()))
		p.flush()
		return p.out
	}
	if m.cand.err != "" {
		p.add("now", look.Bad.Paint(m.cand.err))
	}
	origin(a, &p)
	reported(e, m.cand.Path, &p)
	coverage(&a.Trust, &p)
	caveats(a, &p)
	freshness(e, a, &p)
	findings(a, &p)
	if b := m.base; b != nil {
		p.lines("", look.Title.Paint("base"))
		p.add("bundle", b.Name)
		if b.a == nil {
			p.add("state", look.Warn.Paint(b.why()))
		} else {
			p.add("trust", strings.Join(trust(&b.a.Trust), ", "))
			p.add("state", freshPaint(b.a.Freshness.Verdict, look).Paint(string(b.a.Freshness.Verdict))+": "+strings.Join(b.a.Freshness.Reasons, "; "))
		}
		if d := m.delta; d != nil {
			for i, c := range append(append([]string(nil), d.Reasons...), d.Cautions...) {
				p.add([]string{"mind", ""}[min(i, 1)], look.Warn.Paint(c))
			}
		}
	}
	p.flush()
	return p.out
}

// reported is what rocm-report says of this capture: one claim for the next
// edit, and what makes it weaker than it looks.
func reported(e *view.Env, bundle string, p *pairs) {
	for i := range e.Snap.Reports {
		r := &e.Snap.Reports[i]
		if b, _ := e.Snap.LinkOf(r); b != bundle || r.Hypothesis == "" {
			continue
		}
		p.add("maybe", fmt.Sprintf("%s (%s/REPORT.md:%d)", r.Hypothesis, r.Name, r.Line))
		for _, problem := range r.Problems {
			p.add("", p.look.Warn.Paint(problem))
		}
	}
}

// holds names what is in a bundle.
func holds(b *bundleView) string {
	var parts []string
	for _, x := range []struct {
		has  bool
		what string
	}{{b.HasTrace, "trace"}, {b.HasBubbles, "bubbles.json"}, {b.HasReport, "report.json"}} {
		if x.has {
			parts = append(parts, x.what)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "holds " + strings.Join(parts, " and ")
}

func origin(a *stall.Analysis, p *pairs) {
	t := &a.Trust
	p.add("numbers", usedWord(a))
	if a.Question != "" {
		p.add("asks", p.look.Strong.Paint(a.Question))
		if a.QuestionFrom != "" {
			p.add("", p.look.Dim.Paint("says "+a.QuestionFrom))
		}
	} else {
		p.add("asks", "no question recorded for this capture")
	}
	kernel := t.Kernel
	if kernel == "" {
		kernel = "name unknown"
	}
	p.add("kernel", kernel)
	if t.Shape != "" {
		p.add("shape", t.Shape)
	}
	p.add("dispatch", one(t.Tag, t.Dispatch, t.Arch))
	decoder := t.Decoder
	if decoder == "" {
		decoder = "unknown"
	}
	p.add("decoder", one(decoder, t.FormatVersion))
	if a.Commit != "" {
		p.add("commit", a.Commit)
	}
	p.add("bound", bound(&a.Report))
}

func coverage(t *stall.Trust, p *pairs) {
	weak := ""
	if t.Weak {
		weak = p.look.Bad.Paint(": too little for a verdict")
	}
	p.add("executed", fmt.Sprintf("%s (%d of %d instructions)", percent(t.ExecutedPct), t.Executed, t.Instructions)+weak)
	p.add("mapped", percent(t.MappedPct)+" to a source line")
	waves := wavesOf(t) + " wave files here / captured"
	if t.WaveInstsMin != nil && t.WaveInstsMax != nil {
		waves += fmt.Sprintf("; %d to %d instructions each", *t.WaveInstsMin, *t.WaveInstsMax)
	}
	p.add("waves", waves)
	if c := t.WaveCycles; c != nil {
		if all := float64(c.Idle + c.Exec + c.Wait + c.Stall); all > 0 {
			p.add("in them", fmt.Sprintf("idle %.0f %%, exec %.0f %%, wait %.0f %%, stall %.0f %%",
				100*float64(c.Idle)/all, 100*float64(c.Exec)/all, 100*float64(c.Wait)/all, 100*float64(c.Stall)/all))
		}
	}
	o := &t.Occupancy
	occ := occupancy(o)
	if o.Which == "measured" && o.Estimate != nil {
		occ += fmt.Sprintf("; flyprof estimates %d", *o.Estimate)
	}
	if o.Bound != nil {
		occ += fmt.Sprintf("; registers allow %d", *o.Bound)
	}
	p.add("occupancy", occ)
	if t.SpanMicros != nil {
		p.add("span", fmt.Sprintf("%s us from first wave to last: a lower bound, no benchmark", t.SpanMicros))
	}
}

func caveats(a *stall.Analysis, p *pairs) {
	for i, c := range a.Trust.Caveats {
		p.add([]string{"caveats", ""}[min(i, 1)], p.look.Warn.Paint(c))
	}
	if a.WaitsPending {
		p.add("waits", p.look.Warn.Paint("producers of waits: still reading the wave files"))
	}
}

func freshness(e *view.Env, a *stall.Analysis, p *pairs) {
	f := &a.Freshness
	p.add("state", freshPaint(f.Verdict, p.look).Paint(string(f.Verdict)))
	if !f.CapturedAt.IsZero() {
		p.add("", "captured "+view.Age(e.Now, f.CapturedAt)+" ago (file time)")
	}
	for _, r := range f.Reasons {
		p.add("", r)
	}
	for _, c := range f.Files {
		if c.State == stall.Same { // the others are among the reasons
			p.add("", p.look.Dim.Paint(place(c.Traced)+": "+string(c.State)))
		}
	}
}

func findings(a *stall.Analysis, p *pairs) {
	for i, f := range a.Findings {
		paint, sign := p.look.Warn, "- "
		if f.Bad {
			paint, sign = p.look.Bad, "! "
		}
		p.add([]string{"findings", ""}[min(i, 1)], paint.Paint(sign+f.Text))
	}
}
