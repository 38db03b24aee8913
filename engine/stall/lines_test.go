package stall

import "testing"

func traced() *Analysis {
	r := []Row{
		{Line: 1, ISA: "; k", Source: ""},
		{Line: 2, ISA: "buffer_load_dwordx4 v[0:3]", Source: "a.py:10", Addr: 16, Hit: 10, Latency: 60, Stall: 50},
		{Line: 3, ISA: "s_waitcnt vmcnt(0)", Source: "a.py:10", Addr: 24, Hit: 10, Latency: 600, Stall: 600},
		{Line: 4, ISA: "s_waitcnt vmcnt(1)", Source: "a.py:12", Addr: 32, Hit: 5, Latency: 200, Stall: 200},
		{Line: 5, ISA: "v_mfma_f32", Source: "a.py:12", Addr: 40, Hit: 10, Latency: 400, Stall: 150},
		{Line: 6, ISA: "s_waitcnt vmcnt(0)", Source: "", Addr: 48, Hit: 0, Latency: 0, Stall: 0},
	}
	for i := range r {
		r[i].Class = Classify(r[i].ISA)
	}
	return &Analysis{Rows: r, Bubbles: Compute("d", r, IdleWaves{})}
}

func TestLinesOf(t *testing.T) {
	a := traced()
	got := a.LinesOf(VMCnt)
	if len(got) != 2 {
		t.Fatalf("%d lines with vmcnt stall, want 2: %+v", len(got), got)
	}
	if x := got[0]; x.Source != "a.py:10" || x.OfClass != 75 || x.OfAll != 60 || x.Dom != VMCnt || x.Insts != 1 || x.Hits != 10 || *x.PerHit != 60 {
		t.Errorf("first line: %+v", x)
	}
	if x := got[1]; x.Source != "a.py:12" || x.OfClass != 25 || x.OfAll != 20 || *x.PerHit != 40 {
		t.Errorf("second line: %+v", x)
	}
	if x := a.LinesOf(VMemLoad); len(x) != 1 || x[0].Dom != VMCnt {
		t.Errorf("the line of a load is dominated by the wait on it: %+v", x)
	}
	if x := a.LinesOf(Barrier); x == nil || len(x) != 0 {
		t.Errorf("a class without stall has lines %+v", x)
	}
}

func TestInstsOfClass(t *testing.T) {
	a := traced()
	got := a.InstsOfClass(VMCnt)
	if len(got) != 2 || got[0].CodeLine != 3 || got[1].CodeLine != 4 || got[0].Addr != "0x18" {
		t.Fatalf("%+v", got)
	}
	if p := a.Bubbles.Of(&got[0]); p != 60 {
		t.Errorf("share %v, want 60", p)
	}
	if p := got[1].PerHit(); p == nil || *p != 40 {
		t.Errorf("cycles per hit %v, want 40", p)
	}
	if p := (&Hotspot{Stall: 3}).PerHit(); p != nil {
		t.Errorf("an instruction never executed costs %v per hit", *p)
	}
}

func TestCostsAgreeWithCompare(t *testing.T) {
	a := traced()
	d := Compare(a, a, 0)
	costs := a.Costs()
	if len(costs) != len(d.Classes) {
		t.Fatalf("%d costs, %d deltas", len(costs), len(d.Classes))
	}
	for i, c := range costs {
		if c.Class != d.Classes[i].Class || *c.PerHit != *d.Classes[i].HitAfter {
			t.Errorf("%s costs %v, Compare says %v", c.Class, *c.PerHit, *d.Classes[i].HitAfter)
		}
	}
	if c := costs[0]; c.Insts != 3 || c.Hits != 15 {
		t.Errorf("vmcnt: %d instructions, %d hits; want 3, 15", c.Insts, c.Hits)
	}
}

// TestStoredOnly: an artifact without a trace still drills down to its hotspots.
func TestStoredOnly(t *testing.T) {
	a := &Analysis{Bubbles: traced().Bubbles}
	if got := a.LinesOf(VMCnt); len(got) != 2 || got[0].OfClass != 75 {
		t.Errorf("lines: %+v", got)
	}
	if got := a.InstsOfClass(VMCnt); len(got) != 2 {
		t.Errorf("instructions: %+v", got)
	}
	for _, c := range a.Costs() {
		if c.PerHit != nil || c.Insts != 0 {
			t.Errorf("%s: counted without rows: %+v", c.Class, c)
		}
	}
}
