package stall

import (
	"fmt"
	"strings"
)

// Judge fills Weak and Caveats from the other fields and the rows; idle is the
// artifact's occupancy field.
func (t *Trust) Judge(rows []Row, idle IdleWaves) {
	t.Weak = t.ExecutedPct != nil && *t.ExecutedPct < WeakBelowPct
	t.Caveats = []string{}
	say := func(format string, args ...any) { t.Caveats = append(t.Caveats, fmt.Sprintf(format, args...)) }
	switch {
	case t.ExecutedPct == nil:
		say("executed coverage unknown: no decoded trace beside the artifact")
	case t.Executed == 0:
		say("no instruction was executed by a sampled wave: nothing was measured")
	case t.Weak:
		say("only %d of %d instructions (%s %%) were executed by the sampled waves: no verdict", t.Executed, t.Instructions, *t.ExecutedPct)
	}
	if len(t.Kernels) > 1 {
		say("%d kernels in one trace; the sums are over all of them", len(t.Kernels))
	}
	t.occupancyCaveats(say, idle)
	t.mappingCaveats(say, rows)
	t.waveCaveats(say)
}

func (t *Trust) occupancyCaveats(say func(string, ...any), idle IdleWaves) {
	o := &t.Occupancy
	switch {
	case o.PeakPerCU != nil && *o.PeakPerCU > 0:
		o.Which = "measured"
	case o.Estimate != nil:
		o.Which = "estimate"
	default:
		o.Which = "unknown"
	}
	switch {
	case o.Which == "measured" && o.Estimate != nil && *o.Estimate < *o.PeakPerCU:
		say("measured %d waves/CU resident; flyprof's estimate of %d is too low", *o.PeakPerCU, *o.Estimate)
	case o.Which == "measured" && o.Estimate != nil && *o.Estimate > *o.PeakPerCU:
		say("measured %d waves/CU resident of the %d flyprof estimates: grid, LDS or an early end limits it", *o.PeakPerCU, *o.Estimate)
	case o.Which == "estimate":
		say("occupancy was not measured; %d waves/CU is an estimate from the registers, often too low", *o.Estimate)
	}
	if strings.HasPrefix(t.Arch, "gfx1") {
		say("the register estimates are for gfx9 parts and do not hold on %s", t.Arch)
	}
	if idle.Available {
		say("occupancy inside bubbles (peak %d, mean %s) counts idle sampled waves, not occupancy", idle.Peak, idle.Mean)
	}
}

func (t *Trust) mappingCaveats(say func(string, ...any), rows []Row) {
	if t.MappedPct != nil && *t.MappedPct < 50 && t.Instructions > 0 {
		say("only %s %% of the instructions map to a source line", *t.MappedPct)
	}
	count := map[string]int{}
	top := ""
	for i := range rows {
		s := rows[i].Source
		if s == "" || rows[i].IsLabel() {
			continue
		}
		if count[s]++; count[s] > count[top] {
			top = s
		}
	}
	if n := count[top]; top != "" && t.Instructions > 100 && 2*n > t.Instructions {
		say("%d of %d instructions map to one source line (%s): source shares say little", n, t.Instructions, top[strings.LastIndexByte(top, '/')+1:])
	}
}

func (t *Trust) waveCaveats(say func(string, ...any)) {
	if t.WaveFiles != nil && t.WavesListed != nil && *t.WaveFiles < *t.WavesListed {
		say("%d of %d captured wave files are here: sums cover all, producers of waits may be incomplete", *t.WaveFiles, *t.WavesListed)
	}
	if t.WavesBroken > 0 {
		say("%d wave files could not be read", t.WavesBroken)
	}
	if t.WaitsPending {
		say("wave files not read yet: producers of waits are missing")
	}
}

// SetWaits fills what the wave files say.
func (t *Trust) SetWaits(w *Waits) {
	files := w.Files
	t.WaveFiles, t.WavesBroken, t.WaitsPending = &files, w.Broken, false
	if w.Files > w.Broken {
		lo, hi, cycles := w.InstsMin, w.InstsMax, w.Cycles
		t.WaveInstsMin, t.WaveInstsMax, t.WaveCycles = &lo, &hi, &cycles
	}
}

// Observe looks for traps in an analysis that a reader of the bars would fall
// into: kernel labels counted as code, LDS advice for a wait on scalar loads,
// a register rule that rests on a wrong estimate.
func Observe(a *Analysis) []Finding {
	var out []Finding
	for i := range a.Rows {
		if r := &a.Rows[i]; r.IsLabel() {
			out = append(out, Finding{Kind: "label-counted", Path: a.Origin.Path, Text: fmt.Sprintf(
				"line number %d (%s) is the label of another kernel; flyprof counts it as an instruction and so does bubbles", r.Line, r.ISA)})
			if len(out) == 10 {
				break
			}
		}
	}
	if h, ok := firstOf(&a.Bubbles, LGKMCnt); ok && len(h.Producers) > 0 && a.pointsAt(LGKMCnt) {
		scalar := 0
		for _, p := range h.Producers {
			if c := Classify(p.Inst); c == SMem || strings.HasPrefix(p.Inst, "s_") {
				scalar++
			}
		}
		if scalar == len(h.Producers) {
			out = append(out, Finding{Kind: "lgkmcnt-is-scalar", Text: fmt.Sprintf(
				"the top lgkmcnt wait (line %d) waits for scalar loads, not for LDS: advice about LDS does not apply to it", h.CodeLine)})
		}
	}
	if o := &a.Trust.Occupancy; o.PeakPerCU != nil && *o.PeakPerCU >= wantWaves {
		for _, r := range a.Report.Recommendations {
			if r.Rule == "occupancy_vgpr" {
				out = append(out, Finding{Kind: "occupancy-rule", Text: fmt.Sprintf(
					"rule occupancy_vgpr rests on an estimate; %d waves/CU were measured", *o.PeakPerCU)})
			}
		}
	}
	return out
}

// pointsAt says that a class is what a reader would act on: the top bubble, or
// the subject of a recommendation.
func (a *Analysis) pointsAt(c Class) bool {
	if top, ok := a.Bubbles.TopBubble(); ok && top.Class == c {
		return true
	}
	for _, r := range a.Report.Recommendations {
		if r.BubbleClass == c {
			return true
		}
	}
	return false
}

func firstOf(b *Bubbles, c Class) (Hotspot, bool) {
	for _, h := range b.Hotspots {
		if h.Class == c {
			return h, true
		}
	}
	return Hotspot{}, false
}
