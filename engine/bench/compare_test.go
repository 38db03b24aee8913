package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// arm makes n runs of the given cells; us may use the run number.
func arm(n int, cells ...func(run int) Row) Arm {
	a := Arm{Label: "arm"}
	for run := range n {
		var rows []Row
		for _, c := range cells {
			rows = append(rows, c(run))
		}
		a.Runs = append(a.Runs, rows)
	}
	return a
}

func timed(key string, us ...float64) func(int) Row {
	return func(run int) Row {
		return Row{Key: key, Status: Pass, US: Of(us[run%len(us)]), TFLOPS: Of(1e6 / us[run%len(us)]), MaxErr: Of(1e-3), MinCos: Of(1)}
	}
}

func with(key string, s Status) func(int) Row {
	return func(int) Row { return Row{Key: key, Status: s} }
}

func TestCompareWords(t *testing.T) {
	steady := []float64{100, 100.1, 99.9, 100.2, 100}
	faster := []float64{95, 95.1, 94.9, 95.2, 95}
	for _, tc := range []struct {
		name       string
		base, cand Arm
		opt        Options
		cell       CellVerdict
		whole      CompareVerdict
		exit       int
		why        string
	}{
		{"faster", arm(5, timed("a", steady...)), arm(5, timed("a", faster...)), Options{}, Faster, VerdictFaster, 0, ""},
		{"slower", arm(5, timed("a", faster...)), arm(5, timed("a", steady...)), Options{}, Slower, VerdictSlower, 1, ""},
		{"same", arm(5, timed("a", steady...)), arm(5, timed("a", steady...)), Options{}, Same, VerdictSame, 0, ""},
		{"below the bar", arm(5, timed("a", steady...)), arm(5, timed("a", faster...)), Options{Bar: 0.1}, Undecided, VerdictUndecided, 2, "bar"},
		{"below a measured floor", arm(5, timed("a", steady...)), arm(5, timed("a", faster...)), Options{CellFloor: map[string]float64{"a": 0.2}}, Same, VerdictSame, 0, ""},
		{"single run", arm(1, timed("a", 100)), arm(1, timed("a", 50)), Options{}, Undecided, VerdictUndecided, 2, "n=1/1"},
		{"three runs say the least p", arm(3, timed("a", 100, 101, 99)), arm(3, timed("a", 100, 101, 99)), Options{}, Undecided, VerdictUndecided, 2, "p=0.1"},
		{"missing", arm(5, timed("a", steady...)), arm(5, timed("b", steady...)), Options{}, NotComparable, VerdictIncomplete, 3, "missing"},
		{"failed", arm(5, timed("a", steady...)), arm(5, with("a", Fail)), Options{}, NotComparable, VerdictFailed, 1, "FAIL in 5 of 5"},
		{"error", arm(5, timed("a", steady...)), arm(5, with("a", Error)), Options{}, NotComparable, VerdictFailed, 1, "ERROR"},
		{"skipped", arm(5, timed("a", steady...)), arm(5, with("a", Skip)), Options{}, NotComparable, VerdictIncomplete, 3, "SKIP"},
		{"untimed pass", arm(5, timed("a", steady...)), arm(5, with("a", Pass)), Options{}, NotComparable, VerdictIncomplete, 3, "no time"},
		{"manifests differ", arm(5, timed("a", steady...)), arm(5, timed("a", faster...)), Options{Differs: []string{"gpu"}}, NotComparable, VerdictNotComparable, 3, "gpu"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Compare(tc.base, tc.cand, tc.opt)
			cell := c.Cells[0]
			if cell.Verdict != tc.cell || c.Verdict != tc.whole || c.Verdict.ExitCode() != tc.exit {
				t.Errorf("cell %s (%s), whole %s exit %d (%s)", cell.Verdict, cell.Why, c.Verdict, c.Verdict.ExitCode(), c.Why)
			}
			if !strings.Contains(cell.Why, tc.why) {
				t.Errorf("why %q does not say %q", cell.Why, tc.why)
			}
		})
	}
}

// TestNothingLost: holes stay in the denominator, with names and reasons.
func TestNothingLost(t *testing.T) {
	base := arm(5, timed("a", 100), timed("b", 50), with("c", Skip), with("d", Error))
	cand := arm(5, timed("a", 90, 91, 90.5, 90.2, 90.1), with("b", Fail), with("c", Skip), timed("e", 3))
	c := Compare(base, cand, Options{Required: []string{"z"}})
	g := c.Overall
	if g.N != 6 || len(g.Holes) != 5 || g.Wins != 1 || len(c.Cells) != 6 {
		t.Fatalf("n %d holes %v wins %d", g.N, g.Holes, g.Wins)
	}
	for _, h := range g.Holes {
		if h.Why == "" {
			t.Errorf("hole %s has no reason", h.Key)
		}
	}
	if c.Verdict != VerdictFailed || len(c.New) != 1 || c.New[0] != "e" {
		t.Errorf("verdict %s, new %v", c.Verdict, c.New)
	}
}

// TestNaNBlocksDelta: a row that passed with NaN in its output has no speed.
func TestNaNBlocksDelta(t *testing.T) {
	bad := func(run int) Row {
		r := timed("a", 50)(run)
		r.Warnings = []string{"checkAllclose warning: 0.9% (1418 of 163840) elements differ, max abs delta nan"}
		return r
	}
	c := Compare(arm(5, timed("a", 100)), arm(5, bad), Options{})
	if c.Cells[0].Verdict != NotComparable || c.Verdict != VerdictFailed {
		t.Errorf("%s %s", c.Cells[0].Verdict, c.Verdict)
	}
}

// TestNeverTFLOPS: two harness versions count FLOPs differently; equal times
// are equal whatever TFLOPS say.
func TestNeverTFLOPS(t *testing.T) {
	half := func(run int) Row { r := timed("a", 100, 100.1, 99.9)(run); r.TFLOPS = Of(r.TFLOPS.V / 2); return r }
	if c := Compare(arm(6, timed("a", 100, 100.1, 99.9)), arm(6, half), Options{}); c.Verdict != VerdictSame {
		t.Errorf("verdict %s", c.Verdict)
	}
}

func TestComparisonJSON(t *testing.T) {
	b, err := json.Marshal(Compare(arm(5, timed("a", 100, 101, 102, 103, 104)), arm(5, timed("a", 90, 91, 92, 93, 94)), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"cells":`, `"key":"a"`, `"n_base":5`, `"n_cand":5`, `"base_median":102`, `"cand_median":92`, `"ratio":`, `"ci95":[`, `"p":`, `"verdict":"faster"`, `"regimes":`, `"wins":1`, `"losses":0`, `"geomean":`, `"min":`, `"max":`, `"worst":"a"`, `"holes":[]`} {
		if !strings.Contains(string(b), name) {
			t.Errorf("no %s in %s", name, b)
		}
	}
}

// TestFalseAlarms runs seeded A/A and A/B trials: the rate of wrong words must
// stay low and a 3 % effect at 0.5 % noise must be found.
func TestFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	draw := func(n int, centre float64) Arm {
		a := Arm{}
		for range n {
			a.Runs = append(a.Runs, []Row{{Key: "a", Status: Pass, US: Of(math.Round(centre*math.Exp(0.005*rng.NormFloat64())*10) / 10)}})
		}
		return a
	}
	const trials = 200
	wrong, found, slower := 0, 0, 0
	for range trials {
		if v := Compare(draw(7, 200), draw(7, 200), Options{}).Cells[0].Verdict; v == Faster || v == Slower {
			wrong++
		}
		switch Compare(draw(7, 200), draw(7, 194), Options{}).Cells[0].Verdict {
		case Faster:
			found++
		case Slower:
			slower++
		}
	}
	t.Logf("of %d: 0 %% effect called different %d, 3 %% effect found %d, called slower %d", trials, wrong, found, slower)
	if wrong > trials/20 || found < trials*9/10 || slower > 0 {
		t.Errorf("wrong %d, found %d, slower %d", wrong, found, slower)
	}
}

// TestDeterministic: equal seed, equal result.
func TestDeterministic(t *testing.T) {
	var cells []func(int) Row
	for i := range 20 {
		cells = append(cells, timed(fmt.Sprint(i), 100+float64(i), 101, 99))
	}
	a, b := arm(6, cells...), arm(6, cells...)
	x, _ := json.Marshal(Compare(a, b, Options{Seed: 5}))
	y, _ := json.Marshal(Compare(a, b, Options{Seed: 5}))
	if string(x) != string(y) {
		t.Error("two comparisons of the same runs differ")
	}
}

func TestFlags(t *testing.T) {
	if !bimodal([]float64{100, 100.1, 130, 130.1, 100.2, 130.2}) || bimodal([]float64{100, 101, 102, 103, 104}) {
		t.Error("bimodal")
	}
	if !drifting([]float64{1, 2, 3, 4, 5, 6, 7, 8}) || drifting([]float64{3, 1, 4, 1, 5, 2, 6, 2}) {
		t.Error("drifting")
	}
	if !wide([]float64{100, 100, 130, 131, 132}) || wide([]float64{100, 101, 102, 103, 104}) {
		t.Error("wide")
	}
}

func BenchmarkCompare10kCells10Repeats(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	mk := func() Arm {
		a := Arm{}
		for range 10 {
			rows := make([]Row, 10_000)
			for i := range rows {
				us := 20 + float64(i%500)
				rows[i] = Row{Key: fmt.Sprintf("B1_S%d_H8_Hkv8_D128_bf16_causal_sp1", i), Status: Pass,
					US:     Of(math.Round(us*math.Exp(0.004*rng.NormFloat64())*10) / 10),
					Fields: Fields{{"dtype", Str("bf16")}, {"causal", Bool(i%2 == 0)}}}
			}
			a.Runs = append(a.Runs, rows)
		}
		return a
	}
	x, y := mk(), mk()
	for b.Loop() {
		Compare(x, y, Options{})
	}
}
