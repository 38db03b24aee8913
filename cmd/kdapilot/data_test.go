package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sampleData is the folder of real traces, trees and logs; tests that need it
// are skipped out loud without it.
func sampleData(t *testing.T, part string) string {
	t.Helper()
	root := os.Getenv("KDAPILOT_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	dir, err := filepath.Abs(filepath.Join(root, part))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED: no sample data (%v); set KDAPILOT_DATA to the data folder", err)
	}
	return dir
}

// command runs the program in this process and gives its exit status and what it
// printed.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	file := func(name string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	o, e := file("out"), file("err")
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	code = execute(args, streams{in: in, out: o, err: e})
	read := func(f *os.File) string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return code, read(o), read(e)
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// holds reports where got does not hold all of want: got may have more members.
func holds(path string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{path + ": no object"}
		}
		var bad []string
		for k, v := range w {
			bad = append(bad, holds(path+"."+k, v, g[k])...)
		}
		return bad
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return []string{path + ": another length"}
		}
		var bad []string
		for i := range w {
			bad = append(bad, holds(path+"[]", w[i], g[i])...)
		}
		return bad
	}
	if !reflect.DeepEqual(want, got) {
		return []string{path + ": " + strings.TrimSpace(jsonText(got)) + ", want " + jsonText(want)}
	}
	return nil
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestLoopsOfEverySnapshot: what `show loops --json` prints equals the expected
// fields of every snapshot. Two of them wait for a reviewer, which only a live
// process proves; without one the program must not claim to wait.
func TestLoopsOfEverySnapshot(t *testing.T) {
	dir := sampleData(t, "humanize")
	var all []map[string]any
	readJSON(t, filepath.Join(dir, "expected.json"), &all)
	if len(all) < 50 {
		t.Fatalf("%d snapshots", len(all))
	}
	cacheless := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cacheless)
	waits := 0
	for _, want := range all {
		name := want["snapshot"].(string)
		code, out, errs := command(t, "show", "loops", filepath.Join(dir, filepath.FromSlash(name)), "--json")
		if code != 0 {
			t.Errorf("%s: exit %d: %s", name, code, errs)
			continue
		}
		var got struct{ Loops []map[string]any }
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var found map[string]any
		var names []any
		for _, l := range got.Loops {
			names = append(names, l["loop"])
			if l["loop"] == want["loop"] {
				found = l
			}
		}
		if found == nil {
			t.Errorf("%s: loop %v is not listed", name, want["loop"])
			continue
		}
		if !reflect.DeepEqual(names, want["loops"]) {
			t.Errorf("%s: loops %v, want %v", name, names, want["loops"])
		}
		for _, ours := range []string{"snapshot", "loops", "note", "cache_files"} {
			delete(want, ours) // of the sample, not of the loop
		}
		if phase, _ := want["phase"].(string); strings.HasPrefix(phase, "awaiting") {
			waits++
			if strings.HasPrefix(found["phase"].(string), "awaiting") {
				t.Errorf("%s: waits for a reviewer that does not live", name)
			}
			delete(want, "phase")
		}
		for _, bad := range holds(name, map[string]any(want), any(found)) {
			t.Error(bad)
		}
	}
	if waits != 2 {
		t.Errorf("%d snapshots wait for a reviewer, want 2", waits)
	}
}

// TestBubblesOfEveryTrace: `.bubbles` of `show stalls --json` equals flyprof's
// own, and what flyprof refuses is refused with its code.
func TestBubblesOfEveryTrace(t *testing.T) {
	dir := sampleData(t, "att")
	expected, err := filepath.Glob(filepath.Join(dir, "*", "*", "expected"))
	if err != nil || len(expected) < 15 {
		t.Fatalf("%d traces, %v", len(expected), err)
	}
	equal := 0
	for _, e := range expected {
		trace := filepath.Dir(e)
		name, err := filepath.Rel(dir, trace)
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs := command(t, "show", "stalls", trace, "--json")
		var got struct {
			Bubbles          any
			Trust, Freshness any
		}
		var want any
		if strings.HasPrefix(name, "_synthetic") {
			var env struct {
				Exit     int
				Envelope struct {
					OK    bool
					Data  any
					Error struct{ Code string }
				}
			}
			readJSON(t, filepath.Join(e, "bubbles_envelope.json"), &env)
			if env.Exit != 0 {
				if code != env.Exit || !strings.Contains(errs, env.Envelope.Error.Code) || !strings.Contains(errs, fmt.Sprintf("exit %d", env.Exit)) {
					t.Errorf("%s: exit %d, %q; flyprof says %s with exit %d", name, code, errs, env.Envelope.Error.Code, env.Exit)
				}
				continue
			}
			want = env.Envelope.Data
		} else {
			readJSON(t, filepath.Join(e, "bubbles.json"), &want)
		}
		if code != 0 {
			t.Errorf("%s: exit %d: %s", name, code, errs)
			continue
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got.Bubbles, want) {
			t.Errorf("%s: bubbles differ: %v", name, holds("", want, got.Bubbles))
			continue
		}
		if got.Trust == nil || got.Freshness == nil {
			t.Errorf("%s: no trust or freshness beside the numbers", name)
		}
		equal++
	}
	if equal < 11 {
		t.Errorf("%d traces equal, want 11 or more", equal)
	}
}

// TestBeforeAndAfterOfTheSameCode: two captures of one ISA differ by less than
// the noise floor, and the program says that it saw no change.
func TestBeforeAndAfterOfTheSameCode(t *testing.T) {
	dir := sampleData(t, "att/flash_attn_func")
	code, out, errs := command(t, "show", "stalls", filepath.Join(dir, "small_after_loc_fix"), "--base", filepath.Join(dir, "small"), "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got struct {
		Diff struct {
			Comparable bool
			FloorPP    float64 `json:"floor_pp"`
			Verdict    string
			Classes    []struct {
				Class   string
				Verdict string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Diff.Comparable || len(got.Diff.Classes) < 5 {
		t.Fatalf("%+v\n%s", got.Diff, out[:min(len(out), 2000)])
	}
	for _, c := range got.Diff.Classes {
		if c.Verdict == "shrank" || c.Verdict == "grew" {
			t.Errorf("%s %s between two captures of the same code", c.Class, c.Verdict)
		}
	}
}

// answered are the members of a harness sample that `show rows` prints under the
// same name. The others describe the sample, or sum it up in a shape of their
// own; probes/harness compares those.
func answered() []string {
	return []string{"rows", "varlen_rows", "extra_rows", "compare_rows", "avg_rows", "perf_table", "tests", "examples", "verdict", "exit_status", "row_lines_seen", "csv_announced", "partial_tail"}
}

// otherSamples are not the output of one run.
func otherSamples() map[string]string {
	return map[string]string{
		"stats/h200_harness_repeats":              "statistics of repeats: see engine/bench",
		"stats/mi350x_moe_repeatability":          "a summary of two runs without rows",
		"moe_flydsl/kda_mi350x_base_vs_candidate": "two files to compare: see probes/harness",
	}
}

// TestRowsOfEverySample: what `show rows --json` prints equals the expected
// members of every harness sample, and what its merged stream holds.
func TestRowsOfEverySample(t *testing.T) {
	dir := sampleData(t, "harness")
	samples, err := filepath.Glob(filepath.Join(dir, "*", "*", "expected.json"))
	if err != nil || len(samples) < 70 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	rows := 0
	for _, s := range samples {
		name, err := filepath.Rel(dir, filepath.Dir(s))
		if err != nil {
			t.Fatal(err)
		}
		if otherSamples()[filepath.ToSlash(name)] != "" {
			continue
		}
		var want map[string]any
		readJSON(t, s, &want)
		got := showRows(t, filepath.Dir(s), want, filesOfRun(want))
		for _, k := range answered() {
			w, ok := want[k]
			if !ok {
				continue
			}
			list, ok := w.([]any)
			rows += len(list)
			if ok && len(list) == 0 && got[k] == nil {
				continue // a section that this harness has not, left out
			}
			for i, bad := range holds(name+"."+k, w, got[k]) {
				if i < 3 {
					t.Error(bad)
				}
			}
		}
		if w, ok := want["merged_rows"]; ok {
			got := showRows(t, filepath.Dir(s), want, []string{"merged.txt"})
			for _, bad := range append(holds(name+".merged_rows", w, got["rows"]), holds(name+".merged_extra_rows", want["merged_extra_rows"], got["extra_rows"])...) {
				t.Error(bad)
			}
		}
	}
	if rows < 500 {
		t.Errorf("only %d rows compared", rows)
	}
}

// filesOfRun are the files of a sample that belong to one run: beside the
// streams a harness's own CSV says the same again.
func filesOfRun(sample map[string]any) []string {
	var all, streams []string
	for _, f := range sample["files"].([]any) {
		name := f.(string)
		all = append(all, name)
		if name == "stdout.txt" || name == "stderr.txt" || name == "junit.xml" {
			streams = append(streams, name)
		}
	}
	if slices.Contains(streams, "stdout.txt") {
		return streams
	}
	return all
}

func showRows(t *testing.T, dir string, sample map[string]any, files []string) map[string]any {
	t.Helper()
	args := []string{"show", "rows", "--json"}
	if c, ok := sample["command"].(string); ok {
		args = append(args, "--command", c)
	}
	if x, ok := sample["exit_status"].(float64); ok {
		args = append(args, "--exit", fmt.Sprint(int(x)))
	}
	for _, f := range files {
		args = append(args, filepath.Join(dir, f))
	}
	_, out, errs := command(t, args...)
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%s: %v\n%s", dir, err, errs)
	}
	return got
}
