package bench

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// A run whose rows are all fine and fast decides nothing when its exit status or
// its text says that something went wrong.
func TestBrokenRuns(t *testing.T) {
	verdict := func(s string) *string { return &s }
	exit := func(n int) *int { return &n }
	rows := []Row{{Key: "a", Status: Pass, US: Of(50)}}
	for _, tt := range []struct {
		name string
		r    Result
		want string
	}{
		{"fine", Result{Rows: rows, ExitStatus: exit(0), Verdict: verdict("All tests PASSED")}, ""},
		{"rows fine, exit 1", Result{Rows: rows, ExitStatus: exit(1)}, "exit status 1"},
		{"rows fine, text fails", Result{Rows: rows, ExitStatus: exit(0), Verdict: verdict("Some tests FAILED")}, "Some tests FAILED"},
		{"killed", Result{Rows: rows, ExitStatus: exit(-9)}, "crashed"},
		{"a failed cell speaks for itself", Result{Rows: []Row{{Key: "a", Status: Fail}}, ExitStatus: exit(1)}, ""},
	} {
		v := Truth(&tt.r, 0)
		if got := v.Broken(); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	arm := func(us float64) (a Arm) {
		for i := range 5 {
			a.Runs = append(a.Runs, []Row{{Key: "a", Status: Pass, US: Of(us + float64(i)/10)}})
		}
		return a
	}
	for _, tt := range []struct {
		o    Options
		want CompareVerdict
		code int
	}{
		{Options{}, VerdictFaster, 0},
		{Options{CandBroken: []string{"r1: exit status 1"}}, VerdictFailed, 1},
		{Options{BaseBroken: []string{"r1: exit status 1"}}, VerdictNotComparable, 3},
	} {
		c := Compare(arm(100), arm(50), tt.o)
		if c.Verdict != tt.want || c.Verdict.ExitCode() != tt.code {
			t.Errorf("%+v: %s (%s), want %s", tt.o, c.Verdict, c.Why, tt.want)
		}
	}
}

// A cell that one of five runs did not print is a hole, not a cell with four
// repeats: the run may have stopped because of it.
func TestCellMissingFromOneRunIsAHole(t *testing.T) {
	arm := func(us float64) (a Arm) {
		for i := range 5 {
			a.Runs = append(a.Runs, []Row{{Key: "a", Status: Pass, US: Of(us + float64(i)/10)}, {Key: "b", Status: Pass, US: Of(us + float64(i)/10)}})
		}
		return a
	}
	for _, side := range []string{"candidate", "base"} {
		base, cand := arm(100), arm(50)
		short := map[string]*Arm{"candidate": &cand, "base": &base}[side]
		short.Runs[3] = short.Runs[3][:1]
		c := Compare(base, cand, Options{})
		if got := c.Cells[1]; got.Verdict != NotComparable || !strings.Contains(got.Why, "missing: in 1 of 5 runs of the "+side) {
			t.Errorf("%s: %s: %s", side, got.Verdict, got.Why)
		}
		if c.Verdict != VerdictIncomplete || len(c.Overall.Holes) != 1 {
			t.Errorf("%s: %s with holes %v", side, c.Verdict, c.Overall.Holes)
		}
	}
}

// A single run proves nothing, however many the other side has.
func TestSingleRunAgainstManyIsABand(t *testing.T) {
	arm := func(n int, us float64) (a Arm) {
		for i := range n {
			a.Runs = append(a.Runs, []Row{{Key: "a", Status: Pass, US: Of(us + float64(i%3)/10)}})
		}
		return a
	}
	for _, c := range []Comparison{Compare(arm(9, 100), arm(1, 80), Options{}), Compare(arm(1, 100), arm(9, 80), Options{})} {
		if x := c.Cells[0]; x.Verdict != Undecided || x.Method != "band" || x.Band != "outside faster" || c.Verdict.ExitCode() != 2 {
			t.Errorf("n %d/%d: %s by %s, %s: %s", x.NBase, x.NCand, x.Verdict, x.Method, x.Band, c.Verdict)
		}
	}
}

// One slower cell of many is what chance makes: the whole is undecided, unless
// the cell is firmly slower or there are too many of them.
func TestFewSlowerCellsOfManyAreChance(t *testing.T) {
	arms := func(cells, slower int, by float64, n int) (base, cand Arm) {
		for i := range n {
			var b, k []Row
			for c := range cells {
				us := 1000 + 0.3*float64((i*7+c)%n)
				b = append(b, Row{Key: fmt.Sprint(c), Status: Pass, US: Of(us)})
				if c < slower {
					us *= by
				}
				k = append(k, Row{Key: fmt.Sprint(c), Status: Pass, US: Of(us)})
			}
			base.Runs, cand.Runs = append(base.Runs, b), append(cand.Runs, k)
		}
		return base, cand
	}
	for _, tt := range []struct {
		cells, slower int
		by            float64
		n             int
		want          CompareVerdict
	}{
		{110, 1, 1.01, 5, VerdictUndecided},
		{110, 1, 1.03, 5, VerdictSlower},  // beyond the band of any node
		{110, 9, 1.01, 5, VerdictSlower},  // too many for chance
		{110, 1, 1.01, 10, VerdictSlower}, // survives Holm
		{3, 3, 1.01, 5, VerdictSlower},
		{1, 1, 1.01, 5, VerdictSlower},
	} {
		b, k := arms(tt.cells, tt.slower, tt.by, tt.n)
		if c := Compare(b, k, Options{}); c.Verdict != tt.want || c.Overall.Losses != tt.slower {
			t.Errorf("%+v: %s (%s)", tt, c.Verdict, c.Why)
		}
	}
	for _, tt := range []struct {
		n, k int
		p, w float64
	}{{1, 1, 0.025, 0.025}, {2, 1, 0.5, 0.75}, {110, 0, 0.025, 1}, {110, 7, 0.025, 0.0226}} {
		if got := upperTail(tt.n, tt.k, tt.p); math.Abs(got-tt.w) > 5e-3 {
			t.Errorf("upperTail(%d, %d, %g) = %g, want %g", tt.n, tt.k, tt.p, got, tt.w)
		}
	}
}

// The notes say what n would do, and do not call a measured floor unmeasured.
func TestNotesNameFloorAndRunsNeeded(t *testing.T) {
	arm := func(us float64) (a Arm) {
		for i := range 5 {
			var rows []Row
			for c := range 110 {
				rows = append(rows, Row{Key: fmt.Sprint(c), Status: Pass, US: Of(us + 0.1*float64((i+c)%5))})
			}
			a.Runs = append(a.Runs, rows)
		}
		return a
	}
	notes := func(o Options) string { return strings.Join(Compare(arm(100), arm(90), o).Notes, "\n") }
	got := notes(Options{CellFloor: map[string]float64{"1": 0.01, "2": 0.01}})
	for _, want := range []string{"measured floor for 2 of 110 cells, and never less than max(0.5", "with n=5 none of 110 can, 8 runs a side can"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := notes(Options{}); !strings.Contains(got, "no measured floor: max(0.5") {
		t.Errorf("without floors:\n%s", got)
	}
}
