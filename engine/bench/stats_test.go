package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aclements/go-moremath/stats"
)

// statsDir finds the sample data, or skips the test out loud.
func statsDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("KDAPILOT_DATA")
	if dir == "" {
		root, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			if root == filepath.Dir(root) {
				t.Skip("SKIPPED: no go.mod above the test, so the sample data can not be found")
			}
			root = filepath.Dir(root)
		}
		dir = filepath.Join(root, "..", "shared", "data")
	}
	dir = filepath.Join(dir, "harness", "stats")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED: the statistics samples are not there (%v); set KDAPILOT_DATA to compare with them", err)
	}
	return dir
}

type wantStat struct {
	BaseMedian  float64    `json:"base_median"`
	CandMedian  float64    `json:"cand_median"`
	Ratio       float64    `json:"hodges_lehmann_ratio"`
	CI          [2]float64 `json:"hl_ci95"`
	CI5         [2]float64 `json:"hl_ci"`
	U           float64    `json:"U_base"`
	P           float64    `json:"p_exact_two_sided"`
	MedianRatio float64    `json:"median_ratio"`
}

type wantShape struct {
	Key  string   `json:"key"`
	Same wantStat `json:"cand_same"`
	Slow wantStat `json:"cand_slow"`
}

// repeatArms reads the ten repeats of each variant.
func repeatArms(t testing.TB, dir string, first int) map[string]Arm {
	f, err := os.Open(filepath.Join(dir, "h200_harness_repeats", "repeats.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	arms := map[string]Arm{}
	seen := map[string]int{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var r struct {
			Rep             int
			Variant         string
			B, S, H, Hkv, D int
			Dtype, Causal   string
			Status          Status
			US              float64
		}
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("B%d_S%d_H%d_Hkv%d_D%d_%s_%s_sp1", r.B, r.S, r.H, r.Hkv, r.D, r.Dtype, r.Causal)
		n := seen[r.Variant+key]
		seen[r.Variant+key]++
		if n >= first {
			continue
		}
		a := arms[r.Variant]
		a.Label = r.Variant
		for len(a.Runs) <= n {
			a.Runs = append(a.Runs, nil)
		}
		a.Runs[n] = append(a.Runs[n], Row{Key: key, Status: r.Status, US: Of(r.US),
			Fields: Fields{{"dtype", Str(r.Dtype)}, {"causal", Bool(r.Causal == "causal")}}})
		arms[r.Variant] = a
	}
	return arms
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol }

// TestExpectedStatistics compares with the published values of the repeats.
func TestExpectedStatistics(t *testing.T) {
	dir := statsDir(t)
	b, err := os.ReadFile(filepath.Join(dir, "h200_harness_repeats", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		Shapes  []wantShape        `json:"shapes"`
		First5  []wantShape        `json:"first5_per_variant"`
		Geomean map[string]float64 `json:"geomean_ratio"`
	}
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		n    int
		want []wantShape
	}{{10, e.Shapes}, {5, e.First5}} {
		arms := repeatArms(t, dir, tc.n)
		if len(arms) != 3 {
			t.Fatalf("have variants %v", arms)
		}
		for _, variant := range []string{"cand_same", "cand_slow"} {
			c := Compare(arms["base"], arms[variant], Options{})
			if len(c.Cells) != len(tc.want) {
				t.Fatalf("%d cells, want %d", len(c.Cells), len(tc.want))
			}
			for _, w := range tc.want {
				i := slices.IndexFunc(c.Cells, func(x Cell) bool { return x.Key == w.Key })
				if i < 0 {
					t.Fatalf("no cell %s", w.Key)
				}
				checkStat(t, c.Cells[i], map[string]wantStat{"cand_same": w.Same, "cand_slow": w.Slow}[variant], tc.n)
			}
			if tc.n == 10 {
				checkWords(t, c, variant, e.Geomean[variant])
			}
		}
	}
}

func checkStat(t *testing.T, c Cell, w wantStat, n int) {
	t.Helper()
	ci := w.CI
	if n == 5 {
		ci = w.CI5
	}
	if c.NBase != n || c.NCand != n || c.CI95 == nil {
		t.Errorf("%s: n %d/%d, interval %v", c.Key, c.NBase, c.NCand, c.CI95)
		return
	}
	if !near(c.Ratio.V, w.Ratio, 1e-6) || !near(c.CI95[0], ci[0], 1e-6) || !near(c.CI95[1], ci[1], 1e-6) ||
		!near(c.P.V, w.P, 1e-6*math.Max(1, w.P)) {
		t.Errorf("%s: ratio %v ci %v p %v, want %v %v %v", c.Key, c.Ratio, *c.CI95, c.P, w.Ratio, ci, w.P)
	}
	if n == 10 && (!near(c.BaseMedian.V, w.BaseMedian, 1e-9) || !near(c.CandMedian.V, w.CandMedian, 1e-9) || c.U.V != w.U) {
		t.Errorf("%s: medians %v %v U %v, want %v %v %v", c.Key, c.BaseMedian, c.CandMedian, c.U, w.BaseMedian, w.CandMedian, w.U)
	}
}

// checkWords: no change where there was none, slower where the kernel was
// slowed down. A shape whose true change is below the floor may stay open.
func checkWords(t *testing.T, c Comparison, variant string, geomean float64) {
	t.Helper()
	if !near(c.Overall.OfMedians.V, geomean, 1e-6) || c.Overall.GeomeanCI == nil {
		t.Errorf("%s: geomean %v in %v, want %v", variant, c.Overall.OfMedians, c.Overall.GeomeanCI, geomean)
	}
	for _, cell := range c.Cells {
		if variant == "cand_same" && (cell.Verdict == Faster || cell.Verdict == Slower) {
			t.Errorf("same kernel called %s: %s %v", cell.Verdict, cell.Key, cell.CI95)
		}
		if variant == "cand_slow" && cell.Verdict != Slower {
			t.Errorf("slowed kernel called %s: %s %v %s", cell.Verdict, cell.Key, cell.CI95, cell.Why)
		}
	}
}

// TestMannWhitneyAgainstMoremath compares exact probabilities, with and
// without ties, with an independent implementation.
func TestMannWhitneyAgainstMoremath(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	k := newRanker()
	for trial := range 300 {
		nb, nc := 2+rng.IntN(8), 2+rng.IntN(8)
		levels := 2 + rng.IntN(30)
		draw := func(n int) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = float64(rng.IntN(levels)) + 1
			}
			return v
		}
		b, c := draw(nb), draw(nc)
		want, err := stats.MannWhitneyUTest(b, c, stats.LocationDiffers)
		u, p := k.mannWhitney(b, c)
		if err != nil {
			if p != 1 {
				t.Errorf("all equal: p %v", p)
			}
			continue
		}
		if u != want.U {
			t.Fatalf("trial %d: U %v, want %v (%v %v)", trial, u, want.U, b, c)
		}
		// moremath doubles the smaller tail; that equals the conditional
		// two-sided value where the distribution is symmetric.
		if nb == nc && !near(p, want.P, 1e-9) {
			t.Fatalf("trial %d: p %v, want %v (%v %v)", trial, p, want.P, b, c)
		}
	}
}

// TestExactByEnumeration compares unequal sizes and ties with all subsets.
func TestExactByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	k := newRanker()
	for range 200 {
		nb, nc := 1+rng.IntN(5), 1+rng.IntN(6)
		all := make([]float64, nb+nc)
		for i := range all {
			all[i] = float64(rng.IntN(6))
		}
		_, got := k.mannWhitney(all[:nb], all[nb:])
		r := midRanks(all)
		obs := 0.0
		for _, x := range r[:nb] {
			obs += x
		}
		mu := float64(nb) * float64(nb+nc+1) / 2
		hit, total := 0, 0
		for mask := range 1 << len(all) {
			n, s := 0, 0.0
			for i, x := range r {
				if mask>>i&1 == 1 {
					n++
					s += x
				}
			}
			if n == nb {
				total++
				if math.Abs(s-mu) >= math.Abs(obs-mu)-1e-9 {
					hit++
				}
			}
		}
		if want := float64(hit) / float64(total); !near(got, want, 1e-12) {
			t.Fatalf("p %v, want %v for %v | %v", got, want, all[:nb], all[nb:])
		}
	}
}

func TestLeastP(t *testing.T) {
	for n, want := range map[int]float64{3: 0.1, 4: 2.0 / 70, 5: 2.0 / 252, 6: 2.0 / 924} {
		if got := LeastP(n, n); !near(got, want, 1e-12) {
			t.Errorf("n=%d: %v, want %v", n, got, want)
		}
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("%d: %v, want %v", i, got[i], want)
		}
	}
	if Holm(nil) == nil {
		return
	}
}
