package session

import (
	"strings"
	"testing"
	"time"

	"kdapilot/engine/bench"
	"kdapilot/engine/family"
	"kdapilot/engine/runs"
)

// ran is a finished run of one cell.
func ran(id, preset, head string, hour int, us float64) RowSet {
	return RowSet{
		ID: id, Label: preset + " " + id, When: time.Date(2026, 8, 21, hour, 0, 0, 0, time.UTC),
		Run:    &runs.Run{Manifest: runs.Manifest{Preset: preset, Head: head, Argv: []string{"python3", preset}}, Result: &runs.Result{}},
		Result: &bench.Result{Family: "flash_attn", Mode: "normal", GPU: "A", Rows: []bench.Row{{Key: "B1_S512_H1_Hkv1_D64_bf16_causal_sp1", Status: bench.Pass, US: bench.Of(us)}}},
	}
}

func story() []RowSet {
	return []RowSet{ // newest first: five candidate runs, one of another commit, five of the base
		ran("c5", "smoke", "cand", 20, 93.1), ran("c4", "smoke", "cand", 19, 93.0), ran("c3", "smoke", "cand", 18, 92.9), ran("c2", "smoke", "cand", 17, 93.2), ran("c1", "smoke", "cand", 16, 92.8),
		ran("sweep", "sweep", "cand", 15, 1), ran("mid", "smoke", "mid", 12, 99),
		ran("b5", "smoke", "base", 9, 100.1), ran("b4", "smoke", "base", 8, 100.0), ran("b3", "smoke", "base", 7, 99.9), ran("b2", "smoke", "base", 6, 100.2), ran("b1", "smoke", "base", 5, 99.8),
	}
}

func TestStandardPairIsTheArmAtTheLockedBase(t *testing.T) {
	d := Compare(Pairing{Sets: story(), Locked: "base"})
	if d == nil || strings.Join(d.CandSets, " ") != "c5 c4 c3 c2 c1" || strings.Join(d.BaseSets, " ") != "b5 b4 b3 b2 b1" {
		t.Fatalf("%+v", d)
	}
	if c := d.Comparison.Cells[0]; c.NBase != 5 || c.NCand != 5 || c.Verdict != bench.Faster {
		t.Errorf("cell %+v, want faster at five a side", c)
	}
	if !strings.Contains(d.Comparison.Cand, "5 runs") || d.Picked {
		t.Errorf("label %q, picked %v", d.Comparison.Cand, d.Picked)
	}
}

func TestOtherPairs(t *testing.T) {
	contaminated := story()
	contaminated[1].Run.Result.Foreign = []runs.Foreign{{PID: 7}}
	cancelled := story()
	cancelled[0].Run.State, cancelled[2].Run.State, cancelled[7].Run.State = runs.Cancelled, runs.Lost, runs.Cancelled
	otherGPU := story()
	for i := 7; i < 12; i++ {
		otherGPU[i].Result.GPU = "B"
	}
	for _, tt := range []struct {
		name       string
		p          Pairing
		base, cand string
	}{
		{"no locked base: the newest older commit", Pairing{Sets: story()}, "mid", "c5 c4 c3 c2 c1"},
		{"base on another device is no standard base", Pairing{Sets: otherGPU, Locked: "base"}, "mid", "c5 c4 c3 c2 c1"},
		{"a run beside others counts for no arm", Pairing{Sets: contaminated, Locked: "base"}, "b5 b4 b3 b2 b1", "c5 c3 c2 c1"},
		{"runs that were cut short count for no arm", Pairing{Sets: cancelled, Locked: "base"}, "b4 b3 b2 b1", "c4 c2 c1"},
		{"picked by hand", Pairing{Sets: story(), Base: "b2", Cand: "c3"}, "b2 b5 b4 b3 b1", "c3 c5 c4 c2 c1"},
		{"two runs of one arm stand alone", Pairing{Sets: story(), Base: "c1", Cand: "c5"}, "c1", "c5"},
		{"one commit alone: the run before", Pairing{Sets: story()[:5]}, "c4", "c5"},
	} {
		d := Compare(tt.p)
		if d == nil {
			t.Errorf("%s: nothing", tt.name)
			continue
		}
		if b, c := strings.Join(d.BaseSets, " "), strings.Join(d.CandSets, " "); b != tt.base || c != tt.cand {
			t.Errorf("%s: %q against %q, want %q against %q", tt.name, c, b, tt.cand, tt.base)
		}
	}
	for name, p := range map[string]Pairing{"none": {}, "one": {Sets: story()[:1]}, "no such id": {Sets: story(), Cand: "x"}, "with itself": {Sets: story(), Base: "c5"}} {
		if d := Compare(p); d != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// The bar of the family is what a win has to pass.
func TestFamilyBarHoldsBack(t *testing.T) {
	f := &family.Family{Bar: family.Bar{GainPct: 20}}
	d := Compare(Pairing{Sets: story(), Locked: "base", Options: BenchOptions(f, nil)})
	if v := d.Comparison.Cells[0].Verdict; v == bench.Faster {
		t.Errorf("7 %% counts as %s against a bar of 20 %%", v)
	}
	if o := BenchOptions(nil, nil); o.Bar != 0 || o.Regime != nil || !o.KeepSamples {
		t.Errorf("without a family: %+v", o)
	}
}

// Arms that ran under another clock policy, on another device or host are not
// compared, and the fields are named.
func TestUnlikeManifestsAreNamed(t *testing.T) {
	for what, edit := range map[string]func(*RowSet){
		"clock policy": func(s *RowSet) { s.Run.Result.Samples = []runs.GPUSample{{PerfLevel: "high"}} },
		"device":       func(s *RowSet) { s.Run.Manifest.GPUs = []runs.GPU{{Index: 1}} },
		"host":         func(s *RowSet) { s.Run.Manifest.Place.Host = "other" },
		"judge file":   func(s *RowSet) { s.Run.Manifest.Harness = []runs.Hashed{{Path: "h.py", SHA256: "2"}} },
		"simulated":    func(s *RowSet) { s.Run.Manifest.Simulated = true },
		"gpu":          func(s *RowSet) { s.Result.GPU = "B" },
		"warmup":       func(s *RowSet) { s.Run.Manifest.Argv = []string{"h.py", "--num_warmup", "3", "--iters", "20"} },
		"iters":        func(s *RowSet) { s.Run.Manifest.Argv = []string{"h.py", "--warmup", "10", "--iters=5"} },
	} {
		a, b := ran("a", "smoke", "1", 1, 1), ran("b", "smoke", "2", 2, 1)
		for _, s := range []*RowSet{&a, &b} {
			s.Run.Manifest.GPUs = []runs.GPU{{Index: 0}}
			s.Run.Manifest.Place.Host = "one"
			s.Run.Manifest.Harness = []runs.Hashed{{Path: "h.py", SHA256: "1"}}
			s.Run.Result.Samples = []runs.GPUSample{{PerfLevel: "auto"}}
			s.Run.Manifest.Argv = []string{"h.py", "--warmup", "10", "--iters", "20"}
		}
		if got := Unlike(&a, &b); len(got) != 0 {
			t.Fatalf("alike: %v", got)
		}
		edit(&b)
		if got := Unlike(&a, &b); len(got) != 1 || !strings.Contains(got[0], what) {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// Any run of an arm can spoil the comparison, not only the first.
func TestUnlikeArmsLooksAtEveryRun(t *testing.T) {
	clean, dirty := 0, 1
	arms := func() (base, cand []*RowSet) {
		for i := range 3 {
			b, c := ran("b", "smoke", "base", i, 1), ran("c", "smoke", "cand", i, 1)
			b.Run.Manifest.DirtyFiles, c.Run.Manifest.DirtyFiles = &clean, &clean
			base, cand = append(base, &b), append(cand, &c)
		}
		return base, cand
	}
	if got := UnlikeArms(arms()); len(got) != 0 {
		t.Fatalf("alike: %v", got)
	}
	for _, tt := range []struct {
		want string
		edit func(base, cand []*RowSet)
	}{
		{"candidate: its code changed", func(_, c []*RowSet) {
			c[2].Run.Manifest.DirtyFiles, c[2].Run.Manifest.DirtyHash = &dirty, "d"
		}},
		{"base: its code changed", func(b, _ []*RowSet) { b[1].Run.Manifest.Head = "other" }},
		{"simulated", func(b, _ []*RowSet) { b[2].Run.Manifest.Simulated = true }},
		{"host", func(_, c []*RowSet) {
			c[1].Run.Manifest.Place.Host = "x"
		}},
	} {
		base, cand := arms()
		base[0].Run.Manifest.Place.Host = "one"
		tt.edit(base, cand)
		if got := UnlikeArms(base, cand); len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%s: %v", tt.want, got)
		}
	}
	if got := UnlikeArms(nil, nil); got != nil {
		t.Errorf("no runs: %v", got)
	}
}

// A run that was cancelled, or whose exit status contradicts its rows, makes a
// fast candidate a failed one.
func TestBrokenRunsDecideNothing(t *testing.T) {
	for what, edit := range map[string]func(*RowSet){
		"c3: it is cancelled": func(s *RowSet) { s.Run.State = runs.Cancelled },
		"c3: the rows say pass": func(s *RowSet) {
			one := 1
			s.Result.ExitStatus = &one
			v := bench.Truth(s.Result, 0)
			s.Result.Truth = &v
		},
	} {
		sets := story()
		edit(&sets[2])
		c := Compare(Pairing{Sets: sets, Cand: "c3", Locked: "base"}).Comparison
		if c.Verdict != bench.VerdictFailed || !strings.Contains(c.Why, what) {
			t.Errorf("%s: %s (%s)", what, c.Verdict, c.Why)
		}
	}
}

func TestClockWords(t *testing.T) {
	set := func(during ...float64) []*RowSet {
		s := ran("x", "smoke", "h", 1, 1)
		s.Run.Result.Samples = []runs.GPUSample{{When: "before"}, {When: "during"}}
		idle := 100.0
		s.Run.Result.Samples[0].ClockMHz = &idle
		for _, v := range during {
			s.Run.Result.Samples = append(s.Run.Result.Samples, runs.GPUSample{When: "during", ClockMHz: &v})
		}
		return []*RowSet{&s}
	}
	for _, tt := range []struct {
		base, cand []*RowSet
		want       string
	}{
		{set(2100, 2090, 2110), set(2095, 2105), "clock: base 2100 MHz, candidate 2100 MHz (medians of 3 and 2 samples)"},
		{set(2000), set(2100), "clock: base 2000 MHz, candidate 2100 MHz (medians of 1 and 1 samples): +5.0 %, more than 2 % apart: the clock may be the difference"},
		{set(), set(2100), ""},
		{nil, nil, ""},
	} {
		if got := ClockWords(tt.base, tt.cand); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// Cells that neither side printed are holes when the family says they belong to
// the preset.
func TestCellsThatNobodyPrinted(t *testing.T) {
	asked := ""
	d := Compare(Pairing{Sets: story(), Locked: "base", Required: func(preset string) []string {
		asked = preset
		return []string{story()[0].Result.Rows[0].Key, "B9"}
	}})
	c := d.Comparison
	if asked != "smoke" || c.Verdict != bench.VerdictIncomplete || len(c.Overall.Holes) != 1 || c.Overall.Holes[0].Key != "B9" {
		t.Errorf("asked for %q: %s, holes %v", asked, c.Verdict, c.Overall.Holes)
	}
}
