package floors

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"kdapilot/engine/bench"
	"kdapilot/engine/runs"
)

func TestFloorIsFoundForItsHostAndDeviceAlone(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	m := runs.Manifest{Family: "flashattn", Preset: "smoke", Place: runs.Place{Host: "h1"}, GPUs: []runs.GPU{{Index: 2, ID: "0xabc", Name: "MI355X"}}}
	if _, err := Load(KeyOf(m)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("before: %v", err)
	}
	path, err := Save(Floor{Key: KeyOf(m), Floor: bench.MeasuredFloor{Cells: map[string]float64{"a": 0.012}, N: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if got := Cells(m); got["a"] != 0.012 {
		t.Errorf("%v", got)
	}
	for what, edit := range map[string]func(*runs.Manifest){
		"host":   func(m *runs.Manifest) { m.Place.Host = "h2" },
		"device": func(m *runs.Manifest) { m.GPUs = []runs.GPU{{Index: 3, ID: "0xabc", Name: "MI355X"}} },
		"family": func(m *runs.Manifest) { m.Family = "gemm" },
		"preset": func(m *runs.Manifest) { m.Preset = "sweep" },
	} {
		other := m
		edit(&other)
		if got := Cells(other); got != nil {
			t.Errorf("another %s gets %v", what, got)
		}
	}
	typed := m
	typed.Preset, typed.Argv = "custom", []string{"h.py", "--iters", "5"}
	if _, err := Save(Floor{Key: KeyOf(typed), Floor: bench.MeasuredFloor{Cells: map[string]float64{"a": 0.5}}}); err != nil {
		t.Fatal(err)
	}
	if got := Cells(typed); got["a"] != 0.5 {
		t.Errorf("typed command: %v", got)
	}
	typed.Argv = []string{"h.py", "--iters", "100"}
	if got := Cells(typed); got != nil {
		t.Errorf("another command gets %v", got)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{strings.Replace(string(b), "0.012", "-1", 1), strings.Replace(string(b), `"version": 1`, `"version": 2`, 1), "{", ""} {
		if _, err := Parse("f", []byte(bad)); err == nil {
			t.Errorf("taken: %.60s", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"host":"h","gpu":"0","family":"x","floor":{"cells":{"a":0.1},"unmeasured":[],"false_alarms":[],"n":5}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse("f", b)
		if err != nil {
			return
		}
		for _, v := range got.Floor.Cells {
			if v < 0 || v > 10 {
				t.Fatalf("floor %v", v)
			}
		}
	})
}
