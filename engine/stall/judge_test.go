package stall

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func analysis(kernel string, executed float64, specs ...[5]any) *Analysis {
	r := rows(specs...)
	pct := Num(executed)
	a := &Analysis{Rows: r, Bubbles: Compute(kernel, r, IdleWaves{}), Trust: Trust{Kernel: kernel, ExecutedPct: &pct}}
	a.Report = Recommend(kernel, &a.Bubbles, nil, nil)
	return a
}

func TestCompare(t *testing.T) {
	before := analysis("k", 90,
		[5]any{"s_waitcnt vmcnt(0)", "", 10, 600, 600}, [5]any{"s_barrier", "", 10, 300, 300}, [5]any{"v_add v0", "", 100, 100, 100})
	after := analysis("k", 90,
		[5]any{"s_waitcnt vmcnt(0)", "", 20, 900, 900}, [5]any{"s_barrier", "", 20, 640, 640}, [5]any{"s_nop 0", "", 20, 460, 460})
	d := Compare(before, after, 0)
	if !d.Comparable || d.FloorPP != DefaultFloor || len(d.Classes) != 4 || len(d.Targets) != 3 {
		t.Fatalf("%+v", d)
	}
	want := map[Class]struct {
		delta Num
		word  Word
	}{VMCnt: {-15, Shrank}, Barrier: {2, NoChange}, VALU: {-10, Shrank}, SALU: {23, Grew}}
	for _, c := range d.Classes {
		if w := want[c.Class]; c.DeltaPP != w.delta || c.Verdict != w.word {
			t.Errorf("%s: %+v, want %+v", c.Class, c, w)
		}
	}
	vm := d.Classes[0]
	if vm.Class != VMCnt || *vm.HitBefore != 60 || *vm.HitAfter != 45 || *vm.InstBefore != 5 || *vm.InstAfter != 15 {
		t.Errorf("%+v", vm)
	}
	if d.Targets[0].Kind != "top class" || d.Targets[1].Kind != "top bubble class" || !strings.Contains(d.Targets[2].Kind, "vmem_prefetch") {
		t.Errorf("%+v", d.Targets)
	}
	if d := Compare(before, after, 16); d.Classes[0].Verdict != NoChange {
		t.Errorf("floor of 16 points: %+v", d.Classes[0])
	}
}

func TestCompareRefuses(t *testing.T) {
	wait := [5]any{"s_waitcnt vmcnt(0)", "", 1, 10, 10}
	four, forty := 4, 40
	for _, c := range []struct {
		name string
		edit func(before, after *Analysis)
		why  string
	}{
		{"other kernel", func(_, a *Analysis) { a.Trust.Kernel = "other" }, "different kernels"},
		{"low coverage", func(b, _ *Analysis) { *b.Trust.ExecutedPct = 0.3 }, "only 0.3 %"},
		{"wave counts", func(b, a *Analysis) { b.Trust.WavesListed, a.Trust.WavesListed = &four, &forty }, "fourfold"},
		{"shapes", func(b, a *Analysis) { b.Trust.Shape, a.Trust.Shape = "512,8", "8,8" }, "different shapes"},
		{"no stall", func(_, a *Analysis) { a.Bubbles = Bubbles{} }, "nothing stalled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := analysis("k", 90, wait), analysis("k", 90, wait)
			c.edit(before, after)
			d := Compare(before, after, 0)
			if d.Comparable || !strings.Contains(strings.Join(d.Reasons, "|"), c.why) {
				t.Errorf("%+v", d.Reasons)
			}
			for _, k := range d.Classes {
				if k.Verdict != NotComparable {
					t.Errorf("%+v", k)
				}
			}
			for _, k := range d.Targets {
				if k.Verdict != NotComparable {
					t.Errorf("%+v", k)
				}
			}
		})
	}
	same := Compare(analysis("k", 90, wait), analysis("k", 90, wait), 0)
	if !same.Comparable || same.Classes[0].Verdict != NoChange {
		t.Errorf("%+v", same)
	}
}

func TestNoteWhenShareAndCostDisagree(t *testing.T) {
	before := analysis("k", 90, [5]any{"s_waitcnt vmcnt(0)", "", 10, 100, 100}, [5]any{"s_barrier", "", 10, 100, 100})
	after := analysis("k", 90, [5]any{"s_waitcnt vmcnt(0)", "", 10, 120, 120}, [5]any{"s_barrier", "", 10, 400, 400})
	d := Compare(before, after, 0)
	if d.Classes[0].Verdict != Shrank || d.Classes[0].Note == "" || d.Classes[1].Note != "" {
		t.Errorf("%+v", d.Classes)
	}
}

// withPct builds an artifact that has the given shares and instruction mix.
func withPct(pct map[Class]float64, mix map[Class]float64) *Bubbles {
	b := &Bubbles{}
	for _, c := range Classes() {
		if p, ok := pct[c]; ok {
			b.Taxonomy.ByClass = append(b.Taxonomy.ByClass, ClassShare{Class: c, Pct: Num(p), Rank: len(b.Taxonomy.ByClass) + 1, IsBubble: c.IsBubble()})
			b.Hotspots = append(b.Hotspots, Hotspot{Class: c, CodeLine: int64(len(b.Hotspots) + 1)})
		}
		if f, ok := mix[c]; ok {
			b.InstMix = append(b.InstMix, ClassFraction{c, Num(f)})
		}
	}
	return b
}

func num(f float64) *Num { n := Num(f); return &n }

func TestRecommendRules(t *testing.T) {
	zero, four, twelve := 0, 4, 12
	for _, c := range []struct {
		name     string
		b        *Bubbles
		counters *Counters
		waves    *int
		bound    Bound
		rules    string
	}{
		{"nothing", withPct(nil, nil), nil, nil, LatencyBound, ""},
		{"prefetch and queue depth", withPct(map[Class]float64{VMCnt: 40}, map[Class]float64{VMemLoad: 0.3}), nil, nil, MemoryBound, "vmem_prefetch vmem_queue_depth"},
		{"bandwidth used up", withPct(map[Class]float64{VMCnt: 45}, nil), &Counters{HBMPct: num(90)}, nil, MemoryBound, ""},
		{"gate closed", withPct(map[Class]float64{VMCnt: 40, Barrier: 6}, nil), &Counters{Bound: ComputeBound}, nil, MemoryBound, "barrier_relax"},
		{"gate unknown", withPct(map[Class]float64{VMCnt: 40}, nil), &Counters{Bound: UnknownBound}, nil, MemoryBound, "vmem_prefetch"},
		{"bound by counters", withPct(map[Class]float64{LGKMCnt: 14}, nil), &Counters{Bound: MemoryBound}, nil, MemoryBound, ""},
		{"bank conflict by share", withPct(map[Class]float64{LDS: 9}, nil), nil, nil, LatencyBound, "lds_bank_conflict"},
		{"no bank conflict counted", withPct(map[Class]float64{LDS: 9}, nil), &Counters{BankConflictPct: num(0)}, nil, LatencyBound, ""},
		{"compute", withPct(map[Class]float64{MFMA: 30}, nil), &Counters{MFMAFraction: num(0.6), Bound: ComputeBound}, nil, ComputeBound, "mfma_raw mma_select"},
		{"mfma few", withPct(map[Class]float64{MFMA: 10}, nil), &Counters{MFMAFraction: num(0.1)}, nil, LatencyBound, ""},
		{"compute by mix", withPct(nil, map[Class]float64{MFMA: 0.5}), nil, nil, ComputeBound, ""},
		{"copies and cache", withPct(map[Class]float64{VMCnt: 20, VMemLoad: 20}, nil), &Counters{Partial32B: num(0.2), L2HitPct: num(50)}, nil, MemoryBound,
			"vmem_prefetch vectorize_copy layout_l2"},
		// 4 of 8 waves weigh 25, vmcnt 20 * 1.2 = 24, lgkmcnt 16 * 1.1 = 17.6, barrier 10 * 0.8 = 8.
		{"occupancy between", withPct(map[Class]float64{VMCnt: 20, Barrier: 10, LGKMCnt: 16}, nil), nil, &four, LatencyBound,
			"occupancy_vgpr vmem_prefetch lds_write_read_distance barrier_relax"},
		{"occupancy zero weighs nothing", withPct(map[Class]float64{Barrier: 10}, nil), nil, &zero, LatencyBound, "barrier_relax occupancy_vgpr"},
		{"occupancy enough", withPct(map[Class]float64{Barrier: 10}, nil), nil, &twelve, LatencyBound, "barrier_relax"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Recommend("k", c.b, c.counters, c.waves)
			var got []string
			for i, rec := range r.Recommendations {
				got = append(got, rec.Rule)
				if rec.Rank != i+1 || rec.Evidence.Signal == "" || rec.Evidence.Value == nil {
					t.Errorf("%+v", rec)
				}
			}
			if s := strings.Join(got, " "); s != c.rules || r.Bound != c.bound {
				t.Errorf("bound %s rules %q, want %s %q", r.Bound, s, c.bound, c.rules)
			}
		})
	}
}

func TestJudgeFreshness(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	same := SourceCheck{Traced: "/r/k.py", Worktree: "k.py", State: Same}
	other := SourceCheck{Traced: "/r/j.py", Worktree: "j.py", State: Different}
	gone := SourceCheck{Traced: "/r/g.py", State: Gone}
	outside := SourceCheck{Traced: "/usr/lib/x.py", State: NotCovered}
	for _, c := range []struct {
		name string
		in   FreshnessInput
		want Verdict
	}{
		{"equal", FreshnessInput{Checks: []SourceCheck{same, outside}, HasTrace: true, HasWorktree: true}, Fresh},
		{"one differs", FreshnessInput{Checks: []SourceCheck{same, other}, HasTrace: true, HasWorktree: true}, StaleSource},
		{"one gone", FreshnessInput{Checks: []SourceCheck{same, gone}, HasTrace: true, HasWorktree: true}, StaleSource},
		{"old", FreshnessInput{Checks: []SourceCheck{same}, HasTrace: true, HasWorktree: true, CapturedAt: now.Add(-48 * time.Hour), MaxAge: time.Hour}, StaleAge},
		{"before the round", FreshnessInput{Checks: []SourceCheck{same}, HasTrace: true, HasWorktree: true, CapturedAt: now.Add(-time.Hour), Since: now}, StaleAge},
		{"old and differs", FreshnessInput{Checks: []SourceCheck{other}, HasTrace: true, HasWorktree: true, CapturedAt: now.Add(-48 * time.Hour), MaxAge: time.Hour}, StaleSource},
		{"young", FreshnessInput{Checks: []SourceCheck{same}, HasTrace: true, HasWorktree: true, CapturedAt: now.Add(-time.Minute), MaxAge: time.Hour}, Fresh},
		{"no copies", FreshnessInput{HasTrace: true, HasWorktree: true}, Unverifiable},
		{"no worktree", FreshnessInput{Checks: []SourceCheck{{State: NotCovered}}, HasTrace: true}, Unverifiable},
		{"no trace", FreshnessInput{}, Unverifiable},
		{"only outside", FreshnessInput{Checks: []SourceCheck{outside}, HasTrace: true, HasWorktree: true}, Unverifiable},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.Now = now
			f := JudgeFreshness(c.in)
			if f.Verdict != c.want || len(f.Reasons) == 0 || f.Files == nil {
				t.Errorf("%+v, want %s", f, c.want)
			}
			if f.Verdict == StaleSource && strings.Contains(strings.Join(f.Reasons, " "), "none of the source copies could be compared") {
				t.Errorf("a copy was compared and differs, yet: %q", f.Reasons)
			}
			g := f.WithContradictions([]string{"a", "b"}).WithContradictions([]string{"a", "b"})
			if g.Verdict != Inconsistent || len(g.Reasons) != len(f.Reasons)+2 || g.Reasons[0] != "a" {
				t.Errorf("%+v", g)
			}
			if h := f.WithContradictions(nil); h.Verdict != c.want {
				t.Errorf("%+v", h)
			}
		})
	}
}

func TestTrustAndObserve(t *testing.T) {
	r := rows([5]any{"s_load_dwordx2 s[4:5], s[0:1], 0x0", "/k.py:1", 1, 4, 0}, [5]any{"s_waitcnt lgkmcnt(0)", "/k.py:2", 1, 100, 100},
		[5]any{"v_add v0", "", 0, 0, 0}, [5]any{"v_add v0", "", 0, 0, 0}, [5]any{"v_add v0", "", 0, 0, 0}, [5]any{"; second", "", 0, 0, 0})
	tr := NewTrust(&Code{Rows: r, AllRows: 7, Labels: []string{"first", "second"}})
	if tr.Kernel != "first" || tr.Instructions != 5 || tr.Executed != 2 || *tr.ExecutedPct != 40 || len(tr.Kernels) != 2 {
		t.Errorf("%+v", tr)
	}
	eight, four := 8, 4
	tr.Occupancy.PeakPerCU, tr.Occupancy.Estimate = &eight, &four
	a := Analysis{Rows: r, Trust: tr, Bubbles: Compute("d", r, IdleWaves{}).WithWaits(r, map[int64][]int64{2: {1}})}
	a.Report = Recommend("first", &a.Bubbles, nil, &four)
	a.Trust.Judge(a.Rows, a.Bubbles.Occupancy)
	if !a.Trust.Weak || a.Trust.Occupancy.Which != "measured" || !strings.Contains(strings.Join(a.Trust.Caveats, "|"), "estimate of 4 is too low") {
		t.Errorf("%+v", a.Trust)
	}
	var kinds []string
	for _, f := range Observe(&a) {
		kinds = append(kinds, f.Kind)
	}
	for _, want := range []string{"label-counted", "lgkmcnt-is-scalar", "occupancy-rule"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no finding %s in %v", want, kinds)
		}
	}
}

func TestDrill(t *testing.T) {
	r := sample()
	a := Analysis{Rows: r, Bubbles: Compute("d", r, IdleWaves{}), Waits: Waits{Edges: map[int64][]int64{3: {1}}}}
	if s := a.SourcesOf(LDS); len(s) != 1 || s[0].Stall != 10 || s[0].Source != "/w/k.py:22" {
		t.Errorf("%+v", s)
	}
	if s := a.InstsOf("/w/k.py:22", ""); len(s) != 2 || s[0].Class != VMCnt {
		t.Errorf("%+v", s)
	}
	if s := a.InstsOf("/w/k.py:22", LDS); len(s) != 1 {
		t.Errorf("%+v", s)
	}
	if p := a.ProducersOf(3); len(p) != 1 || p[0].CodeLine != 1 {
		t.Errorf("%+v", p)
	}
	if p := a.ProducersOf(2); p != nil {
		t.Errorf("%+v", p)
	}
	if rows, at := a.Around(1, 2); len(rows) != 3 || at != 0 {
		t.Errorf("%d rows, at %d", len(rows), at)
	}
	if rows, at := a.Around(99, 2); rows != nil || at != -1 {
		t.Errorf("%d rows, at %d", len(rows), at)
	}
}
