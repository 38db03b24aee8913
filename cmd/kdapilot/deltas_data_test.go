package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// comparison is what these tests read of `compare --json`.
type comparison struct {
	Cells []struct {
		Key        string
		Regime     string
		NBase      int        `json:"n_base"`
		NCand      int        `json:"n_cand"`
		BaseMedian float64    `json:"base_median"`
		CandMedian float64    `json:"cand_median"`
		Ratio      float64    `json:"ratio"`
		CI95       [2]float64 `json:"ci95"`
		P          *float64   `json:"p"`
		U          float64    `json:"u_base"`
		Verdict    string
		Band       string
	}
	Regimes []struct {
		Name         string
		N            int
		Wins, Losses int
		Geomean      float64
		Holes        []any
	}
	Overall struct {
		N       int
		Geomean float64
		Medians float64 `json:"geomean_of_medians"`
	}
	New     []string `json:"new_cells"`
	Verdict string
}

func compareJSON(t *testing.T, args ...string) (int, comparison) {
	t.Helper()
	code, out, errs := command(t, append([]string{"compare", "--json"}, args...)...)
	var c comparison
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("%v: exit %d: %v\n%s", args, code, err, errs)
	}
	return code, c
}

// near is equality at the digits that the expected value was written with.
func near(got, want, digits float64) bool {
	return math.Abs(got-want) <= 0.51*math.Pow(10, -digits)
}

// nearP is equality at six significant digits.
func nearP(got, want float64) bool {
	return math.Abs(got-want) <= 1e-5*want
}

// arms splits the file of thirty processes into one file per variant and number
// of repeats, as an engineer keeps them.
func arms(t *testing.T, from, variant string, repeats int) string {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d.jsonl", variant, repeats))
	var out strings.Builder
	lines := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var r struct {
			Variant string
			Rep     int
		}
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Variant == variant && r.Rep < repeats {
			out.Write(append(sc.Bytes(), '\n'))
			lines++
		}
	}
	if lines != 12*repeats {
		t.Fatalf("%s has %d rows, want %d", variant, lines, 12*repeats)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

type repeatStat struct {
	N           [2]int
	BaseMedian  float64    `json:"base_median"`
	CandMedian  float64    `json:"cand_median"`
	MedianRatio float64    `json:"median_ratio"`
	HL          float64    `json:"hodges_lehmann_ratio"`
	CI95        [2]float64 `json:"hl_ci95"`
	CI          [2]float64 `json:"hl_ci"`
	U           float64    `json:"U_base"`
	P           float64    `json:"p_exact_two_sided"`
}

// TestCompareOfRepeats: `compare --json` gives the expected statistics for ten
// and for five repeats a side; identical code regresses nowhere, slower code is
// slower everywhere where ten repeats are there.
func TestCompareOfRepeats(t *testing.T) {
	dir := sampleData(t, "harness/stats/h200_harness_repeats")
	file := filepath.Join(dir, "repeats.jsonl")
	var want struct {
		Shapes []map[string]json.RawMessage
		First5 []map[string]json.RawMessage `json:"first5_per_variant"`
		Geo    map[string]float64           `json:"geomean_ratio"`
	}
	readJSON(t, filepath.Join(dir, "expected.json"), &want)
	stat := func(shape map[string]json.RawMessage, variant string) (key string, s repeatStat) {
		if json.Unmarshal(shape["key"], &key) != nil || json.Unmarshal(shape[variant], &s) != nil {
			t.Fatalf("bad expected value %v", shape)
		}
		return key, s
	}
	for _, variant := range []string{"cand_same", "cand_slow"} {
		code, c := compareJSON(t, arms(t, file, "base", 10), arms(t, file, variant, 10))
		if len(c.Cells) != len(want.Shapes) || len(c.Cells) != 12 {
			t.Fatalf("%d cells, want %d", len(c.Cells), len(want.Shapes))
		}
		for i, shape := range want.Shapes {
			key, w := stat(shape, variant)
			g := c.Cells[i]
			if g.Key != key || [2]int{g.NBase, g.NCand} != w.N || !near(g.BaseMedian, w.BaseMedian, 9) || !near(g.CandMedian, w.CandMedian, 9) ||
				!near(g.CandMedian/g.BaseMedian, w.MedianRatio, 5) || !near(g.Ratio, w.HL, 6) || !near(g.CI95[0], w.CI95[0], 6) || !near(g.CI95[1], w.CI95[1], 6) ||
				g.U != w.U || g.P == nil || !nearP(*g.P, w.P) {
				t.Errorf("%s %s:\n%+v, want\n%+v", variant, key, g, w)
			}
			if slow := variant == "cand_slow"; slow != (g.Verdict == "slower") || g.Verdict == "faster" {
				t.Errorf("%s %s: %s", variant, key, g.Verdict)
			}
		}
		if !near(c.Overall.Medians, want.Geo[variant], 5) && !near(c.Overall.Geomean, want.Geo[variant], 5) {
			t.Errorf("%s: geomean %v (of medians %v), want %v", variant, c.Overall.Geomean, c.Overall.Medians, want.Geo[variant])
		}
		if variant == "cand_slow" && code != 1 || variant == "cand_same" && code == 1 {
			t.Errorf("%s: exit %d, verdict %s", variant, code, c.Verdict)
		}

		_, c = compareJSON(t, arms(t, file, "base", 5), arms(t, file, variant, 5))
		for i, shape := range want.First5 {
			key, w := stat(shape, variant)
			g := c.Cells[i]
			if g.Key != key || !near(g.Ratio, w.HL, 6) || !near(g.CI95[0], w.CI[0], 6) || !near(g.CI95[1], w.CI[1], 6) || g.P == nil || !nearP(*g.P, w.P) {
				t.Errorf("5 repeats: %s %s: %+v, want %+v", variant, key, g, w)
			}
		}
	}
}

// TestCompareOfACampaign: the published tables of one campaign, one run a side,
// which shows ratios but proves nothing.
func TestCompareOfACampaign(t *testing.T) {
	dir := sampleData(t, "harness/moe_flydsl/kda_mi350x_base_vs_candidate")
	var want struct {
		Files []string
		Rows  []struct {
			Key     string
			BaseUS  float64 `json:"base_us"`
			CandUS  float64 `json:"cand_us"`
			Ratio   float64
			Verdict string
		}
		Geomean float64 `json:"geomean_ratio"`
	}
	readJSON(t, filepath.Join(dir, "expected.json"), &want)
	code, c := compareJSON(t, filepath.Join(dir, want.Files[0]), filepath.Join(dir, want.Files[1]))
	if len(c.Cells) != len(want.Rows) || len(c.Cells) == 0 {
		t.Fatalf("%d cells, want %d", len(c.Cells), len(want.Rows))
	}
	band := map[string]string{"faster": "outside faster", "slower": "outside slower", "same": "within"}
	for i, w := range want.Rows {
		g := c.Cells[i]
		if g.Key != w.Key || !near(g.BaseMedian, w.BaseUS, 9) || !near(g.CandMedian, w.CandUS, 9) || !near(g.Ratio, w.Ratio, 6) || g.Band != band[w.Verdict] {
			t.Errorf("%+v, want %+v", g, w)
		}
		if g.P != nil || g.Verdict != "undecided" {
			t.Errorf("%s: one run a side is %s", g.Key, g.Verdict)
		}
	}
	if !near(c.Overall.Geomean, want.Geomean, 6) || code != 2 {
		t.Errorf("geomean %v, want %v; exit %d", c.Overall.Geomean, want.Geomean, code)
	}
}

// TestCompareOfCI: the tables of a CI job give rates and no times. Nothing is
// computed from a rate: every cell stays, as one that can not be compared.
func TestCompareOfCI(t *testing.T) {
	dir := sampleData(t, "harness/run_benchmark/compare_real_mi355_pr780")
	var want struct{ Rows []any }
	readJSON(t, filepath.Join(dir, "expected.json"), &want)
	code, c := compareJSON(t, filepath.Join(dir, "baseline.csv"), filepath.Join(dir, "current.csv"))
	holes := 0
	for _, r := range c.Regimes {
		holes += len(r.Holes)
	}
	// The job's own table has the rows of both sides; 18 are new in the candidate.
	if code != 3 || len(c.Cells)-len(c.New) != len(want.Rows) || len(c.New) != 18 || holes != len(c.Cells) {
		t.Errorf("exit %d, %d cells, %d of them new, of %d rows, %d holes", code, len(c.Cells), len(c.New), len(want.Rows), holes)
	}
	for _, g := range c.Cells {
		if g.Ratio != 0 || g.P != nil || g.Verdict != "not comparable" {
			t.Errorf("%+v", g)
		}
	}
}

// diffed is what the test below reads of `show stalls --base --json`.
type diffed struct {
	Diff struct {
		Comparable bool
		StallPct   struct {
			Before, After, Delta float64
			DeltaPP              float64 `json:"delta_pp"`
		} `json:"stall_pct"`
		Classes []struct {
			Class         string
			RankBefore    *int `json:"rank_before"`
			RankAfter     *int `json:"rank_after"`
			Before, After float64
			DeltaPP       float64 `json:"delta_pp"`
			Verdict       string
			HitBefore     *float64 `json:"cycles_per_hit_before"`
			HitAfter      *float64 `json:"cycles_per_hit_after"`
		}
	}
}

// classOf is the taxonomy of the contract for the few classes this test counts,
// written apart from the program's own.
func classOf(asm string) string {
	s := strings.ToLower(asm)
	switch {
	case strings.Contains(s, "s_waitcnt") && strings.Contains(s, "vmcnt"):
		return "vmcnt"
	case strings.Contains(s, "s_waitcnt") && strings.Contains(s, "lgkmcnt"):
		return "lgkmcnt"
	case strings.Contains(s, "s_waitcnt") && strings.Contains(s, "expcnt"):
		return "expcnt"
	case strings.Contains(s, "s_wait"):
		return "waitcnt"
	case strings.Contains(s, "barrier"):
		return "barrier"
	case strings.Contains(s, "v_mfma") || strings.Contains(s, "v_smfma"):
		return "mfma"
	}
	return ""
}

// hits counts the executions of the instructions of each class in a trace.
func hits(t *testing.T, tag string) map[string]float64 {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(tag, "ui_output_agent_*", "code.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	var code struct{ Code [][]any }
	readJSON(t, found[0], &code)
	out := map[string]float64{}
	for _, row := range code.Code {
		asm, _ := row[0].(string)
		hit, _ := row[6].(float64)
		if !strings.HasPrefix(strings.TrimSpace(asm), ";") {
			out[classOf(asm)] += hit
		}
	}
	return out
}

// TestBeforeAndAfterNumbers: the difference of two captures is in share, the
// share of each side as flyprof gives it, and in cycles per hit, counted here
// from the trace. Raw cycles are not compared: there were twice as many waves.
func TestBeforeAndAfterNumbers(t *testing.T) {
	dir := sampleData(t, "att/flash_attn_func")
	before, after := filepath.Join(dir, "small"), filepath.Join(dir, "small_after_loc_fix")
	code, out, errs := command(t, "show", "stalls", after, "--base", before, "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got diffed
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	type class struct {
		Cycles, Pct float64
		Rank        int
	}
	type bubbles struct {
		Totals struct {
			StallPct float64 `json:"stall_pct"`
		}
		Taxonomy struct {
			ByClass map[string]class `json:"by_class"`
		} `json:"stall_taxonomy"`
	}
	var b, a bubbles
	readJSON(t, filepath.Join(before, "expected", "bubbles.json"), &b)
	readJSON(t, filepath.Join(after, "expected", "bubbles.json"), &a)
	if s := got.Diff.StallPct; s.Before != b.Totals.StallPct || s.After != a.Totals.StallPct || !near(s.DeltaPP, s.After-s.Before, 6) {
		t.Errorf("stall_pct %+v, want %v and %v", s, b.Totals, a.Totals)
	}
	hb, ha := hits(t, before), hits(t, after)
	counted := 0
	for _, c := range got.Diff.Classes {
		wb, wa := b.Taxonomy.ByClass[c.Class], a.Taxonomy.ByClass[c.Class]
		if c.Before != wb.Pct || c.After != wa.Pct || !near(c.DeltaPP, wa.Pct-wb.Pct, 6) {
			t.Errorf("%s: %v -> %v (%v), want %v -> %v", c.Class, c.Before, c.After, c.DeltaPP, wb.Pct, wa.Pct)
		}
		if c.RankBefore == nil || c.RankAfter == nil || *c.RankBefore != wb.Rank || *c.RankAfter != wa.Rank {
			t.Errorf("%s: other ranks", c.Class)
		}
		if hb[c.Class] == 0 {
			continue
		}
		counted++
		if c.HitBefore == nil || c.HitAfter == nil || !near(*c.HitBefore, wb.Cycles/hb[c.Class], 2) || !near(*c.HitAfter, wa.Cycles/ha[c.Class], 2) {
			t.Errorf("%s: %v -> %v cycles per hit, want %v -> %v", c.Class, *c.HitBefore, *c.HitAfter, wb.Cycles/hb[c.Class], wa.Cycles/ha[c.Class])
		}
	}
	if len(got.Diff.Classes) != len(b.Taxonomy.ByClass) || counted < 4 {
		t.Errorf("%d classes, %d counted", len(got.Diff.Classes), counted)
	}
	// Twice the waves, about twice the raw cycles, and yet no class grew.
	if a.Taxonomy.ByClass["lgkmcnt"].Cycles < 1.5*b.Taxonomy.ByClass["lgkmcnt"].Cycles {
		t.Error("the sample has not more cycles after: it proves nothing")
	}
}
