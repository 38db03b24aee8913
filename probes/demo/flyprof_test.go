package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kdapilot/engine/stall"
)

// checkout makes a folder that holds the demo's kernel and nothing else.
func checkout(t *testing.T) string {
	t.Helper()
	src, err := files.ReadFile("world/" + kernelRel)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := write(filepath.Join(dir, kernelRel), src, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

type envelope struct {
	OK       bool
	Command  string
	Bundle   string
	Data     map[string]any
	Warnings []string
	Error    struct {
		Code     string
		ExitCode int
		Message  string
	}
}

func fly(t *testing.T, args ...string) (int, envelope) {
	t.Helper()
	t.Setenv(EnvSpeed, "0")
	t.Setenv(EnvSeed, "3")
	var out, errs bytes.Buffer
	code := Flyprof(context.Background(), args, &out, &errs)
	var e envelope
	if err := json.Unmarshal(out.Bytes(), &e); err != nil {
		t.Fatalf("flyprof %v: exit %d, no envelope (%v): %s %s", args, code, err, out.String(), errs.String())
	}
	return code, e
}

func TestFlyprofEnvelopes(t *testing.T) {
	wt := checkout(t)
	bundle := filepath.Join(t.TempDir(), "b")
	for _, tt := range []struct {
		name string
		args []string
		code int
		err  string
		key  string
	}{
		{"doctor", []string{"doctor", "-f", "json", "--worktree", wt}, 0, "", "verdict"},
		{"list", []string{"list", "--worktree", wt, "-f", "json"}, 0, "", "kernels"},
		{"run", []string{"run", "flash_attn_fwd", "--worktree", wt, "--gpu", "0", "--bundle", bundle, "-f", "json"}, 0, "", "headline"},
		{"bubbles", []string{"bubbles", "--bundle", bundle}, 0, "", "stall_taxonomy"},
		{"diff", []string{"diff", "--before", bundle, "--after", bundle}, 0, "", "verdict"},
		{"unknown kernel", []string{"run", "nope", "--worktree", wt}, 66, "KERNEL_NOT_FOUND", ""},
		{"no worktree", []string{"run", "flash_attn_fwd", "--worktree", filepath.Join(wt, "x")}, 78, "BUILD_TREE_MISSING", ""},
		{"no bundle", []string{"bubbles"}, 78, "BAD_ARGS", ""},
		{"nothing there", []string{"bubbles", "--bundle", wt}, 66, "NO_ARTIFACT", ""},
		{"half a diff", []string{"diff", "--before", bundle}, 78, "BAD_ARGS", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, e := fly(t, tt.args...)
			if code != tt.code || e.OK != (tt.code == 0) || e.Command != tt.args[0] || e.Error.Code != tt.err || e.Error.ExitCode != tt.code {
				t.Errorf("exit %d, envelope %+v", code, e)
			}
			if _, ok := e.Data[tt.key]; tt.key != "" && !ok {
				t.Errorf("data has no %s", tt.key)
			}
			if said := strings.Join(e.Warnings, "") + e.Error.Message; !strings.Contains(said, Mark) {
				t.Errorf("the envelope does not say %s", Mark)
			}
		})
	}
	var out, errs bytes.Buffer
	if code := Flyprof(context.Background(), []string{"frobnicate"}, &out, &errs); code != 2 || out.Len() > 0 {
		t.Errorf("an unknown command: exit %d, stdout %q", code, out.String())
	}
}

type waveFile struct {
	Duration int64
	NumInsts int `json:"num_insts"`
	Wave     struct {
		Begin, End   int64
		Instructions [][5]int64
		Timeline     [][2]int64
		Waitcnt      []json.RawMessage
	}
}

// TestTracesKeepTheIdentities checks what holds in every real decoded trace:
// code.json is the sum of the wave files, timelines fill the waves, resident
// waves come and go in pairs, source copies are the bytes they claim to be.
func TestTracesKeepTheIdentities(t *testing.T) {
	wt := checkout(t)
	bundle := filepath.Join(t.TempDir(), "b")
	if code, e := fly(t, "run", "flash_attn_fwd", "--worktree", wt, "--bundle", bundle); code != 0 {
		t.Fatalf("%+v", e)
	}
	for _, tag := range []string{"big", "small"} {
		dirs, err := filepath.Glob(filepath.Join(bundle, "att", tag, "ui_output_agent_*_dispatch_*"))
		if err != nil || len(dirs) != 1 {
			t.Fatalf("%v %v", dirs, err)
		}
		checkTrace(t, dirs[0], wt)
	}
	checkBubbles(t, bundle)
}

func load(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func checkTrace(t *testing.T, dir, wt string) {
	t.Helper()
	var code struct{ Code [][]any }
	load(t, filepath.Join(dir, "code.json"), &code)
	if code.Code[0][0] != "; "+kernelSymbol || code.Code[0][2] != 0.0 {
		t.Errorf("label row %v", code.Code[0])
	}
	waves, err := filepath.Glob(filepath.Join(dir, "se*_sm*_*.json"))
	if err != nil || len(waves) == 0 {
		t.Fatalf("wave files %v %v", waves, err)
	}
	sums := map[int64][4]int64{} // hit, latency, stall, idle
	for _, path := range waves {
		var w waveFile
		load(t, path, &w)
		prev, filled := w.Wave.Begin, int64(0)
		for _, in := range w.Wave.Instructions {
			s := sums[in[4]]
			sums[in[4]] = [4]int64{s[0] + 1, s[1] + in[3], s[2] + in[2], s[3] + max(0, in[0]-prev)}
			prev = max(prev, in[0]+in[3])
			if in[2] > in[3] || in[2]%4 != 0 || in[3]%4 != 0 {
				t.Fatalf("%s: instruction %v", path, in)
			}
		}
		for _, s := range w.Wave.Timeline {
			filled += s[1]
		}
		if filled != w.Duration || w.Duration != w.Wave.End-w.Wave.Begin || w.NumInsts != len(w.Wave.Instructions) || len(w.Wave.Waitcnt) == 0 {
			t.Errorf("%s: timeline %d, duration %d, waits %d", filepath.Base(path), filled, w.Duration, len(w.Wave.Waitcnt))
		}
	}
	for _, row := range code.Code[1:] {
		n := func(i int) int64 { return int64(row[i].(float64)) }
		if got, want := [4]int64{n(6), n(7), n(8), n(9)}, sums[n(2)]; got != want {
			t.Errorf("row %d %v: %v, the waves say %v", n(2), row[0], got, want)
		}
		if !strings.HasPrefix(row[3].(string), wt+"/kernels/") || strings.HasSuffix(row[3].(string), ":1") {
			t.Errorf("row %d maps to %v", n(2), row[3])
		}
	}
	checkOccupancy(t, dir)
	b, err := os.ReadFile(filepath.Join(dir, "source_0_flash_attn_gfx950.py"))
	if err != nil {
		t.Fatal(err)
	}
	if own, err := os.ReadFile(filepath.Join(wt, kernelRel)); err != nil || !bytes.Equal(b, own) {
		t.Errorf("the source copy differs from the worktree: %v", err)
	}
}

func checkOccupancy(t *testing.T, dir string) {
	t.Helper()
	var occ map[string]json.RawMessage
	load(t, filepath.Join(dir, "occupancy.json"), &occ)
	for se := range 4 {
		var rows [][6]int64
		if err := json.Unmarshal(occ[string(rune('0'+se))], &rows); err != nil || len(rows) == 0 {
			t.Fatalf("SE %d: %v", se, err)
		}
		resident, last := int64(0), int64(0)
		for _, r := range rows {
			if r[0] < last {
				t.Fatalf("SE %d: time goes back", se)
			}
			last = r[0]
			resident += 2*r[4] - 1
			if resident < 0 {
				t.Fatalf("SE %d: a wave ends before it starts", se)
			}
		}
		if resident != 0 {
			t.Errorf("SE %d: %d waves never end", se, resident)
		}
	}
}

func checkBubbles(t *testing.T, bundle string) {
	t.Helper()
	var b stall.Bubbles
	load(t, filepath.Join(bundle, "bubbles.json"), &b)
	top, ok := b.TopBubble()
	if !ok || top.Class != "vmcnt" || top.Pct < 30 {
		t.Errorf("top bubble %+v", top)
	}
	if len(b.Hotspots) == 0 || len(b.Hotspots[0].Producers) == 0 {
		t.Error("the top wait has no producers")
	}
	var report struct {
		Totals stall.Totals
	}
	load(t, filepath.Join(bundle, "report.json"), &report)
	if report.Totals != b.Totals {
		t.Errorf("report %+v, bubbles %+v", report.Totals, b.Totals)
	}
	var capture struct {
		Tags map[string]struct {
			KeptDir string `json:"kept_dir"`
		}
	}
	load(t, filepath.Join(bundle, "capture.json"), &capture)
	if filepath.Base(capture.Tags["big"].KeptDir) != b.DispatchDir {
		t.Errorf("kept %s, analysed %s", capture.Tags["big"].KeptDir, b.DispatchDir)
	}
}

// TestDeeperPrefetchShrinksTheTopBubble is the story the two bundles of the
// world tell: by more than the noise floor of three points.
func TestDeeperPrefetchShrinksTheTopBubble(t *testing.T) {
	pct := func(depth string) float64 {
		wt := checkout(t)
		path := filepath.Join(wt, kernelRel)
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src = knobLine("KV_PREFETCH_DEPTH").ReplaceAll(src, []byte("KV_PREFETCH_DEPTH = "+depth))
		if err := os.WriteFile(path, src, 0o644); err != nil {
			t.Fatal(err)
		}
		bundle := filepath.Join(t.TempDir(), "b")
		fly(t, "run", "flash_attn_fwd", "--worktree", wt, "--bundle", bundle, "--tag", "big")
		var b stall.Bubbles
		load(t, filepath.Join(bundle, "bubbles.json"), &b)
		s, _ := b.Class("vmcnt")
		return float64(s.Pct)
	}
	if before, after := pct("1"), pct("2"); before-after < 3 {
		t.Errorf("vmcnt %.2f%% before, %.2f%% after", before, after)
	}
}
