package flyprof

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kdapilot/engine/stall"
	"kdapilot/probes/att"
)

// dataDir finds the folder of real samples: $KDAPILOT_DATA, else ../shared/data
// beside the repository.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("KDAPILOT_DATA")
	if dir == "" {
		root, err := filepath.Abs(".")
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			if root == filepath.Dir(root) {
				t.Fatal("no go.mod above the test")
			}
			root = filepath.Dir(root)
		}
		dir = filepath.Join(root, "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "flyprof")); err != nil {
		t.Skipf("REAL BUNDLES NOT TESTED: no flyprof folder in %s; set KDAPILOT_DATA", dir)
	}
	return dir
}

func view(t *testing.T, v any) (out map[string]any) {
	t.Helper()
	var b bytes.Buffer
	if err := stall.WriteJSON(&b, v); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func wantJSON(t *testing.T, path string) (out map[string]any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLoadRealTraces asks for the folder above the dispatch, as a user would.
func TestLoadRealTraces(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(dataDir(t), "att", "*", "*", "expected", "bubbles.json"))
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%d traces (%v)", len(dirs), err)
	}
	for _, expected := range dirs {
		dir := filepath.Dir(filepath.Dir(expected))
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
			v, err := LoadView(context.Background(), dir, "", 0, Options{Waits: true})
			if err != nil {
				t.Fatal(err)
			}
			got := view(t, v)
			if want := wantJSON(t, expected); !reflect.DeepEqual(got["bubbles"], any(want)) {
				t.Errorf(".bubbles differs from %s", expected)
			}
			trust := got["trust"].(map[string]any)
			want := wantJSON(t, filepath.Join(dir, "expected", "att_facts.json"))
			for _, k := range []string{
				"rows", "instructions", "executed_instructions", "executed_pct", "mapped_rows", "wave_files_present", "wave_files_listed",
				"wave_instructions_min", "wave_instructions_max", "wave_state_cycles_present_waves", "gfx_clock_mhz", "span_cycles", "span_us",
			} {
				if !reflect.DeepEqual(trust[k], want[k]) {
					t.Errorf("trust.%s = %v, want %v", k, trust[k], want[k])
				}
			}
			occ := trust["occupancy"].(map[string]any)
			for _, k := range []string{
				"occupancy_waves_total", "occupancy_cus", "peak_waves_per_cu_measured", "peak_waves_per_simd_measured", "dispatches",
			} {
				if !reflect.DeepEqual(occ[k], want[k]) {
					t.Errorf("trust.occupancy.%s = %v, want %v", k, occ[k], want[k])
				}
			}
			if v.Used != stall.Computed || v.Freshness.Verdict != stall.Unverifiable {
				t.Errorf("used %s, freshness %+v", v.Used, v.Freshness)
			}
		})
	}
}

func TestLoadSyntheticTraces(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(dataDir(t), "att", "_synthetic", "*"))
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%d synthetic traces (%v)", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := wantJSON(t, filepath.Join(dir, "expected", "bubbles_envelope.json"))
			env := want["envelope"].(map[string]any)
			v, err := LoadView(context.Background(), dir, "", 0, Options{Waits: true})
			if env["ok"] == true {
				if err != nil {
					t.Fatal(err)
				}
				if got := view(t, v); !reflect.DeepEqual(got["bubbles"], env["data"]) {
					t.Errorf("got %v\nwant %v", got["bubbles"], env["data"])
				}
				return
			}
			var e *att.Error
			if !errors.As(err, &e) || e.Code != env["error"].(map[string]any)["code"] || float64(e.Exit) != want["exit"] {
				t.Fatalf("got %v, want %v", err, want)
			}
		})
	}
}

func TestEnvelopesOfData(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(dataDir(t), "flyprof", "envelopes", "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d envelopes (%v)", len(files), err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := ParseEnvelope(b)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		want := wantJSON(t, path)
		if e.OK != want["ok"] || e.Command != want["command"] || e.OK == strings.HasPrefix(filepath.Base(path), "err_") {
			t.Errorf("%s: %+v", path, e)
		}
		if we, ok := want["error"].(map[string]any); ok && (e.Error == nil || e.Error.Code != we["code"] || float64(e.Error.Exit) != we["exitCode"]) {
			t.Errorf("%s: %+v", path, e.Error)
		}
	}
}

// TestBundleWithTrace puts the stored artifacts of a whole run beside the trace
// they were made from, and then beside another one.
func TestBundleWithTrace(t *testing.T) {
	data := dataDir(t)
	stored := filepath.Join(data, "flyprof", "bundle_moe_gemm")
	bundle := func(t *testing.T, trace string) string {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(stored)); err != nil {
			t.Fatal(err)
		}
		for _, tag := range []string{"big", "small"} {
			if err := os.MkdirAll(filepath.Join(dir, "att", tag), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(trace, filepath.Join(dir, "att", "big", "ui_output_agent_56573_dispatch_87")); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Run("same", func(t *testing.T) {
		dir := bundle(t, filepath.Join(data, "att", "moe_gemm", "big", "ui_output_agent_56573_dispatch_87"))
		a, err := Load(context.Background(), dir, Options{Waits: true})
		if err != nil {
			t.Fatal(err)
		}
		if a.Used != stall.FromBubbles || a.Report.Used != stall.FromReport || a.Trust.Decoder != "rocprofv3 1.1.0" || a.Trust.Arch != "gfx950" ||
			a.Trust.Shape != "4096,4096,4096,fp8" || a.Trust.Tag != "big" {
			t.Errorf("used %s report %s trust %+v", a.Used, a.Report.Used, a.Trust)
		}
		for _, f := range a.Findings {
			if f.Bad {
				t.Errorf("unexpected %+v", f)
			}
		}
		if got, want := view(t, stall.NewView(&a, nil, 0))["bubbles"], wantJSON(t, filepath.Join(stored, "bubbles.json")); !reflect.DeepEqual(got, any(want)) {
			t.Error("bubbles differ from the stored ones")
		}
	})
	t.Run("other trace", func(t *testing.T) {
		dir := bundle(t, filepath.Join(data, "att", "hgemm_splitk", "big", "ui_output_agent_4716_dispatch_319"))
		a, err := Load(context.Background(), dir, Options{Waits: true})
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]bool{}
		for _, f := range a.Findings {
			kinds[f.Kind] = f.Bad
		}
		if a.Used != stall.Computed || a.Report.Used != stall.Computed || a.Freshness.Verdict != stall.Inconsistent ||
			!kinds["bubbles-differ"] || !kinds["report-differs"] || !kinds["kernel-differs"] {
			t.Errorf("used %s, %+v, findings %+v", a.Used, a.Freshness, a.Findings)
		}
	})
	t.Run("artifacts only", func(t *testing.T) {
		a, err := Load(context.Background(), stored, Options{Waits: true})
		if err != nil {
			t.Fatal(err)
		}
		if a.Used != stall.FromBubbles || a.WaitsPending || a.Freshness.Verdict != stall.Unverifiable || a.Trust.ExecutedPct != nil {
			t.Errorf("%+v %+v", a.Freshness, a.Trust)
		}
	})
}

// TestDiffOfData reproduces the numbers of flyprof's own diff envelopes.
func TestDiffOfData(t *testing.T) {
	dir := filepath.Join(dataDir(t), "flyprof", "diff_flash_attn_func")
	v, err := LoadView(context.Background(), filepath.Join(dir, "flash_attn_func-big-locfix.report.json"),
		filepath.Join(dir, "flash_attn_func-big.report.json"), 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "big_before_after.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Data struct {
			Taxonomy map[string]struct{ Delta struct{ Pct *stall.Num } } `json:"stall_taxonomy"`
			Verdict  struct {
				Class stall.Class `json:"rank1_bubble_class"`
				Delta stall.Num   `json:"delta_pct"`
			}
		}
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if v.Diff == nil || !v.Diff.Comparable || len(v.Diff.Classes) != len(want.Data.Taxonomy) {
		t.Fatalf("%+v", v.Diff)
	}
	for _, c := range v.Diff.Classes {
		w := want.Data.Taxonomy[string(c.Class)].Delta.Pct
		if w == nil && (c.RankBefore == nil || c.RankAfter == nil) {
			continue // flyprof gives no delta when a side lacks the class
		}
		if w == nil || *w != c.DeltaPP || c.Verdict != stall.NoChange {
			t.Errorf("%s: %+v, want delta %v", c.Class, c, w)
		}
	}
	if b := v.Diff.Targets[1]; b.Class != want.Data.Verdict.Class || b.DeltaPP != want.Data.Verdict.Delta || b.Verdict != stall.NoChange {
		t.Errorf("%+v", b)
	}
}
