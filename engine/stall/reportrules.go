package stall

// classOccupancy is the pseudo class of the register rule; nothing stalls in it.
const classOccupancy Class = "occupancy"

// reportRule is one rule of the profiler's report. fires gives the signal, its
// value, and whether the rule fires; gate lists the bounds (by counters) it is
// for, nil for any.
type reportRule struct {
	id         string
	class      Class
	gate       []Bound
	priority   float64
	confidence string
	knob       string
	fires      func(in *ruleInput) (signal string, value *Num, ok bool)
}

// reportRules is the table, in the order that breaks ties of weight.
func reportRules() []reportRule {
	memory, compute := []Bound{MemoryBound, LatencyBound}, []Bound{ComputeBound, LatencyBound}
	return []reportRule{
		{"vmem_prefetch", VMCnt, memory, 1.2, "high", "issue global loads earlier (prefetch, double buffer)", firesPrefetch},
		{"vmem_queue_depth", VMCnt, memory, 0.8, "medium", "group global loads and wait for fewer of them", firesQueueDepth},
		{"lds_write_read_distance", LGKMCnt, nil, 1.1, "high",
			"put more work between LDS write and read (first check that the wait is for LDS, not scalar loads)", above(LGKMCnt, 15)},
		{"lds_bank_conflict", LDS, nil, 1.0, "high", "swizzle or pad the LDS layout", firesBankConflict},
		{"mfma_raw", MFMA, compute, 0.9, "medium", "interleave independent MFMA chains", firesMFMA},
		{"barrier_relax", Barrier, nil, 0.8, "medium", "remove or narrow a barrier", above(Barrier, 5)},
		{"occupancy_vgpr", classOccupancy, memory, 0, "high",
			"use fewer registers (first compare the estimate with the measured occupancy)", firesOccupancy},
		{"vectorize_copy", VMemLoad, memory, 1.0, "high", "copy in wider accesses", firesVectorize},
		{"mma_select", MFMA, []Bound{ComputeBound}, 0.9, "medium", "use an MFMA with larger K", firesMMASelect},
		{"layout_l2", VMCnt, memory, 0.7, "medium", "change layout or XCD mapping for L2 reuse", firesL2},
	}
}

// above fires when a class holds more than limit per cent of stall.
func above(c Class, limit float64) func(*ruleInput) (string, *Num, bool) {
	return func(in *ruleInput) (string, *Num, bool) {
		signal, v := in.share(c)
		return signal, v, in.pct(c) > limit
	}
}

func firesPrefetch(in *ruleInput) (string, *Num, bool) {
	signal, v := in.share(VMCnt)
	return signal, v, in.pct(VMCnt) > 10 && (in.c.HBMPct == nil || *in.c.HBMPct < 70)
}

func firesQueueDepth(in *ruleInput) (string, *Num, bool) {
	signal, v := in.share(VMCnt)
	return signal, v, in.pct(VMCnt) > 10 && in.b.InstMix.Of(VMemLoad) > 0.20
}

func firesBankConflict(in *ruleInput) (string, *Num, bool) {
	if c := in.c.BankConflictPct; c != nil {
		return "lds.bank_conflict_pct", c, *c > 5
	}
	signal, v := in.share(LDS)
	return signal, v, in.pct(LDS) > 8 && in.hasHotspot(LDS)
}

func firesMFMA(in *ruleInput) (string, *Num, bool) {
	signal, v := in.share(MFMA)
	f := in.c.MFMAFraction
	return signal, v, in.pct(MFMA) > 5 && (f == nil || *f > 0.30 || in.b.InstMix.Of(MFMA) > 0.30)
}

func firesOccupancy(in *ruleInput) (string, *Num, bool) {
	if in.waves == nil {
		return "", nil, false
	}
	v := Num(*in.waves)
	return "occupancy_waves_per_cu", &v, *in.waves < wantWaves
}

func firesVectorize(in *ruleInput) (string, *Num, bool) {
	f := in.c.Partial32B
	return "memory.partial_32b_frac", f, f != nil && *f > 0.15
}

func firesMMASelect(in *ruleInput) (string, *Num, bool) {
	f := in.c.MFMAFraction
	return "compute.mfma_inst_frac", f, in.bound == ComputeBound && f != nil && *f > 0.30
}

func firesL2(in *ruleInput) (string, *Num, bool) {
	h := in.c.L2HitPct
	return "memory.l2_hit_rate", h, h != nil && *h < 70 && in.pct(VMCnt) > 10
}
