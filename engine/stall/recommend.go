package stall

import (
	"cmp"
	"fmt"
	"slices"
)

// Thresholds of the bound, in per cent of stall or fractions of instructions
// (flyprof's report command).
const (
	computeMFMAFraction = 0.5
	computeMFMAMix      = 0.4
	computeMFMAPct      = 25
	memoryPct           = 35
	// wantWaves is the occupancy below which registers are blamed.
	wantWaves = 8
)

// Recommend makes the profiler's report from the artifact: what bounds the
// kernel and which rules fire, heaviest first. counters may be nil. wavesPerCU
// is the profiler's occupancy estimate, nil when there is none; the rule that
// looks at it is often wrong (see Registers), which is why the measured number
// has to stand beside it. The texts are ours; rule ids, classes, signals, order
// and confidence are the profiler's.
func Recommend(kernel string, b *Bubbles, counters *Counters, wavesPerCU *int) Report {
	if counters == nil {
		counters = &Counters{}
	}
	in := ruleInput{b: b, c: counters, waves: wavesPerCU, bound: boundOf(b, counters)}
	r := Report{Kernel: kernel, Bound: in.bound, Used: Computed, Recommendations: []Recommendation{}}
	type weighed struct {
		rec    Recommendation
		weight float64
	}
	var fired []weighed
	for _, rule := range reportRules() {
		signal, value, ok := rule.fires(&in)
		if !ok || !gatePasses(counters.Bound, rule.gate) {
			continue
		}
		rec := Recommendation{Rule: rule.id, BubbleClass: rule.class, Confidence: rule.confidence, Knob: rule.knob}
		rec.Evidence = in.evidence(rule.class, signal, value)
		fired = append(fired, weighed{rec, in.weight(&rule)})
	}
	slices.SortStableFunc(fired, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	for i, f := range fired {
		f.rec.Rank = i + 1
		r.Recommendations = append(r.Recommendations, f.rec)
	}
	r.Optimal = counters.HBMPct != nil && *counters.HBMPct > 85 && in.pct(VMCnt)+in.pct(VMemLoad) > 40
	r.Headline = headline(&r, b)
	return r
}

func headline(r *Report, b *Bubbles) string {
	knob := "see recommendations"
	if len(r.Recommendations) > 0 {
		knob = r.Recommendations[0].Knob
	}
	top, ok := b.Top()
	if !ok {
		return fmt.Sprintf("%s: nothing stalled in the sampled waves", r.Kernel)
	}
	return fmt.Sprintf("%s: %s-bound, %s-dominated (%s%% of %s%% total stall) -> %s",
		r.Kernel, r.Bound, top.Class, top.Pct, b.Totals.StallPct, knob)
}

func boundOf(b *Bubbles, c *Counters) Bound {
	pct := func(class Class) float64 { s, _ := b.Class(class); return float64(s.Pct) }
	switch {
	case c.MFMAFraction != nil && *c.MFMAFraction >= computeMFMAFraction,
		b.InstMix.Of(MFMA) > computeMFMAMix, pct(MFMA) > computeMFMAPct:
		return ComputeBound
	case pct(VMCnt)+pct(VMemLoad)+pct(VMemStore) > memoryPct, c.Bound == MemoryBound:
		return MemoryBound
	}
	return LatencyBound
}

// gatePasses lets a rule through unless the counters name a bound that the rule
// is not for.
func gatePasses(bound Bound, gate []Bound) bool {
	return gate == nil || bound == "" || bound == UnknownBound || slices.Contains(gate, bound)
}

type ruleInput struct {
	b     *Bubbles
	c     *Counters
	waves *int
	bound Bound
}

func (in *ruleInput) pct(c Class) float64 { s, _ := in.b.Class(c); return float64(s.Pct) }

// share is the signal of rules that look at a class's share of stall.
func (in *ruleInput) share(c Class) (string, *Num) {
	v := Num(in.pct(c))
	return string(c) + ".pct", &v
}

func (in *ruleInput) hasHotspot(c Class) bool {
	return slices.ContainsFunc(in.b.Hotspots, func(h Hotspot) bool { return h.Class == c })
}

func (in *ruleInput) weight(r *reportRule) float64 {
	if r.class == classOccupancy {
		return float64(wantWaves-min(*in.waves, wantWaves)) / wantWaves * 50 * boolTo(*in.waves > 0)
	}
	return in.pct(r.class) * r.priority
}

func boolTo(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// maxWaitsOn is how many producers an Evidence names.
const maxWaitsOn = 3

func (in *ruleInput) evidence(c Class, signal string, value *Num) Evidence {
	e := Evidence{Signal: signal, Value: value, Pct: Num(in.pct(c))}
	for i := range in.b.Hotspots {
		h := &in.b.Hotspots[i]
		if h.Class != c {
			continue
		}
		e.Line, e.Source, e.Inst = &h.CodeLine, h.Source, h.Inst
		for _, p := range h.Producers[:min(len(h.Producers), maxWaitsOn)] {
			e.WaitsOn = append(e.WaitsOn, WaitedOn{Source: p.Source, Inst: p.Inst})
		}
		break
	}
	return e
}
