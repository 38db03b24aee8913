package harness

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kdapilot/engine/bench"
)

// TestKDACampaign compares the two published tables of the MoE campaign with
// the ratios that were published for them.
func TestKDACampaign(t *testing.T) {
	dir := filepath.Join(dataDir(t), "moe_flydsl", "kda_mi350x_base_vs_candidate")
	var e struct {
		Rows []struct {
			Key        string
			BaseUS     float64 `json:"base_us"`
			CandUS     float64 `json:"cand_us"`
			Ratio      float64
			Verdict    string
			BaseE2E    float64 `json:"base_e2e_us"`
			BaseLogits float64 `json:"base_logits_diff"`
			Gate       bool    `json:"gate_logits_diff_le_0_01"`
		}
		Geomean float64 `json:"geomean_ratio"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	load := func(name string) bench.Arm {
		a, err := LoadArm(name, []string{filepath.Join(dir, name)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	base := load("baseline_523ca1c7_validated.head12.csv")
	c := bench.Compare(base, load("candidate_dsv3_a4w4_stage1n128.head12.csv"), bench.Options{})
	if len(c.Cells) != len(e.Rows) || len(e.Rows) == 0 {
		t.Fatalf("%d cells, want %d", len(c.Cells), len(e.Rows))
	}
	for i, w := range e.Rows {
		g, row := c.Cells[i], base.Runs[0][i]
		if g.Key != w.Key || g.BaseMedian.V != w.BaseUS || math.Abs(g.CandMedian.V-w.CandUS) > 1e-9 || math.Abs(g.Ratio.V-w.Ratio) > 1e-6 {
			t.Errorf("%+v, want %+v", g, w)
		}
		band := map[string]string{"faster": "outside faster", "slower": "outside slower", "same": "within"}[w.Verdict]
		if g.Band != band {
			t.Errorf("%s: band %q, want %q", w.Key, g.Band, band)
		}
		if row.Axis("e2e_us").Num().V != w.BaseE2E || row.Axis("logits_diff").Num().V != w.BaseLogits || (row.Status == bench.Pass) != w.Gate {
			t.Errorf("%s: row %+v", w.Key, row)
		}
	}
	if math.Abs(c.Overall.Geomean.V-e.Geomean) > 1e-6 {
		t.Errorf("geomean %v, want %v", c.Overall.Geomean, e.Geomean)
	}
	if c.Verdict != bench.VerdictUndecided {
		t.Errorf("one run a side was called %s", c.Verdict)
	}
}

// TestArmRepeats reads thirty processes from one file.
func TestArmRepeats(t *testing.T) {
	a, err := LoadArm("all", []string{filepath.Join(dataDir(t), "stats", "h200_harness_repeats", "repeats.jsonl")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Runs) != 30 || len(a.Runs[0]) != 12 || len(a.Runs[29]) != 12 {
		t.Errorf("%d runs, first of %d cells", len(a.Runs), len(a.Runs[0]))
	}
}

// TestNormProfLib: the CSV of the layer norm table is read whole.
func TestNormProfLib(t *testing.T) {
	r, err := Parse([]string{filepath.Join(dataDir(t), "layernorm", "proflib_results", "benchmark_results.csv")}, Options{}, nil)
	if err != nil || len(r.Rows) != 730 || r.Family != string(ProfLib) {
		t.Errorf("%d rows of %s, %v", len(r.Rows), r.Family, err)
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadArm(t *testing.T) {
	dir := t.TempDir()
	log := "FlyDSL flash_attn_func (causal, bf16)\n   1    512    8    8  128  bf16   causal     1                       |   PASS | 3.91e-03  0.99999 |       12.0      44.6\n"
	for _, n := range []string{"runs/a", "runs/b"} {
		write(t, filepath.Join(dir, n, "stdout.log"), log)
		write(t, filepath.Join(dir, n, "result.json"), `{"exit":0}`)
	}
	jsonl := write(t, filepath.Join(dir, "rows.jsonl"), `{"key":"k","status":"PASS","us":1}`+"\n"+`{"key":"k","status":"PASS","us":2}`+"\n")
	for _, tc := range []struct {
		path string
		runs int
	}{{filepath.Join(dir, "runs"), 2}, {filepath.Join(dir, "runs", "a"), 1}, {jsonl, 2}} {
		a, err := LoadArm("x", []string{tc.path}, Options{})
		if err != nil || len(a.Runs) != tc.runs || len(a.Runs[0]) != 1 {
			t.Errorf("%s: %d runs, %v", tc.path, len(a.Runs), err)
		}
	}
	if _, err := LoadArm("x", []string{filepath.Join(dir, "none")}, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing path: %v", err)
	}
	if _, err := LoadArm("x", []string{t.TempDir()}, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty folder: %v", err)
	}
	bad := write(t, filepath.Join(dir, "bad.jsonl"), `{"key":"k","status":"PASS","us":1}`+"\nnot json\n{}\n")
	if _, err := LoadArm("x", []string{bad}, Options{}); err == nil || !strings.Contains(err.Error(), "bad.jsonl: line 2") {
		t.Errorf("bad line: %v", err)
	}
	empty := write(t, filepath.Join(dir, "noise.txt"), "nothing of a harness\n")
	if _, err := LoadArm("x", []string{empty}, Options{}); err == nil || !strings.Contains(err.Error(), "unknown output") {
		t.Errorf("unknown log: %v", err)
	}
}

func TestShowRowsOfOneFile(t *testing.T) {
	p := write(t, filepath.Join(t.TempDir(), "rows.jsonl"), `{"key":"k","status":"PASS","us":1}`+"\n"+`{"key":"k","status":"FAIL","us":2,"max_err":"NaN"}`+"\n")
	r, err := Parse([]string{p}, Options{}, nil)
	if err != nil || len(r.Rows) != 1 || r.Rows[0].Status != bench.Fail || !math.IsNaN(r.Rows[0].MaxErr.V) {
		t.Errorf("last row does not win: %+v %v", r.Rows, err)
	}
}

// TestCleanJSON: control sequences of a file do not reach a row.
func TestCleanJSON(t *testing.T) {
	p := write(t, filepath.Join(t.TempDir(), "rows.jsonl"), `{"key":"k\u001b[31m","status":"PASS","us":1,"x\u0007":{"a":["\u001b]52;c;x\u0007b"]},"error":"e\r\nf"}`+"\n")
	r, err := Parse([]string{p}, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r.Rows)
	if err != nil || strings.Contains(string(b), "u001b") || strings.Contains(string(b), "u0007") || strings.Contains(string(b), "52;c") {
		t.Errorf("%s %v", b, err)
	}
}
