package gpu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"kdapilot/engine/fact"
	"kdapilot/engine/runs"
)

// host unpacks testdata/NAME.txtar; a name that ends in "->" becomes a symbolic
// link. No tool is on this host unless the test adds one.
func host(t testing.TB, name string) Probe {
	t.Helper()
	dir := t.TempDir()
	ar, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ar.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutSuffix(path, "->"); ok {
			err = os.Symlink(strings.TrimSpace(string(f.Data)), to)
		} else {
			err = os.WriteFile(path, f.Data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return Probe{Sys: filepath.Join(dir, "sys"), Proc: filepath.Join(dir, "proc"), Run: tools(nil)}
}

// tools answers "name args" from files in testdata.
func tools(files map[string]string) func(context.Context, string, ...string) ([]byte, error) {
	return func(_ context.Context, name string, args ...string) ([]byte, error) {
		key := name
		if len(args) > 0 {
			key += " " + args[0]
		}
		if f, ok := files[key]; ok {
			return os.ReadFile(filepath.Join("testdata", f))
		}
		return nil, fmt.Errorf("%s: %w", name, exec.ErrNotFound)
	}
}

func TestScanTopology(t *testing.T) {
	tests := []struct {
		host, arch, name string
		cus              int
		vram             int64
	}{
		{"gfx942", "gfx942", "AMD Instinct MI300X", 304, 206141652992},
		{"gfx950", "gfx950", "AMD Instinct MI355X", 256, 309220868096},
		{"gfx1250", "gfx1250", "", 256, 464000000000},
	}
	for _, tt := range tests {
		t.Run(tt.host, func(t *testing.T) {
			got, origin := host(t, tt.host).Scan(t.Context())
			if origin.Status != fact.OK || len(got) != 2 {
				t.Fatalf("Scan: %d devices, %v %s; want 2, ok", len(got), origin.Status, origin.Why)
			}
			for i, d := range got {
				if d.Index != i || d.Arch != tt.arch || d.Name != tt.name || d.CUs == nil || *d.CUs != tt.cus || d.VRAMBytes == nil || *d.VRAMBytes != tt.vram {
					t.Errorf("device %d: %+v, want arch %s, name %q, %d CUs", i, d, tt.arch, tt.name, tt.cus)
				}
			}
			if got[0].PCI != "0000:05:00.0" || got[1].PCI != "0000:27:00.0" || got[0].ID == got[1].ID || got[0].ID == "" {
				t.Errorf("PCI %q %q, id %q %q", got[0].PCI, got[1].PCI, got[0].ID, got[1].ID)
			}
		})
	}
}

func TestNoGPUIsNotUnknown(t *testing.T) {
	got, origin := host(t, "none").Scan(t.Context())
	if len(got) != 0 || origin.Status != fact.OK || !strings.Contains(origin.Why, "no GPU") {
		t.Errorf("driver without GPU: %v, %v %q; want none, ok, with a reason", got, origin.Status, origin.Why)
	}
	empty := Probe{Sys: t.TempDir(), Proc: t.TempDir(), Run: tools(nil)}
	got, origin = empty.Scan(t.Context())
	if len(got) != 0 || origin.Status != fact.Missing || !strings.Contains(origin.Why, "rocm-smi") {
		t.Errorf("no driver, no tools: %v, %v %q; want missing with what was tried", got, origin.Status, origin.Why)
	}
}

func TestScanFallsBackToTools(t *testing.T) {
	tests := []struct {
		key, file, arch, name string
		n                     int
	}{
		{"rocminfo", "rocminfo.txt", "gfx950", "AMD Instinct MI355X", 1},
		{"amd-smi static", "amd-smi-static.json", "gfx942", "AMD Instinct MI300X", 2},
		{"rocm-smi --showproductname", "rocm-smi-product.json", "gfx950", "AMD Instinct MI355X", 2},
	}
	for _, tt := range tests {
		p := Probe{Sys: t.TempDir(), Proc: t.TempDir(), Run: tools(map[string]string{tt.key: tt.file})}
		got, origin := p.Scan(t.Context())
		if origin.Status != fact.OK || len(got) != tt.n || got[0].Arch != tt.arch || got[0].Name != tt.name {
			t.Errorf("%s: %+v, %v %s", tt.key, got, origin.Status, origin.Why)
		}
		if tt.key == "amd-smi static" && (got[1].Arch != "" || got[1].Name != "" || got[1].CUs != nil) {
			t.Errorf("N/A became a value: %+v", got[1])
		}
		if tt.key == "rocm-smi --showproductname" && got[0].ID != "0x2f1b" {
			t.Errorf("cards out of order: %+v", got)
		}
	}
}

func TestSample(t *testing.T) {
	got, _ := host(t, "gfx950").Sample(t.Context())
	if len(got) != 2 {
		t.Fatalf("%d samples, want 2", len(got))
	}
	s := got[1]
	want := map[string][2]float64{
		"busy": {*s.BusyPct, 98}, "clock": {*s.ClockMHz, 2400}, "memory clock": {*s.MemClockMHz, 1300},
		"power": {*s.PowerWatts, 731}, "cap": {*s.PowerCapWatts, 1000}, "junction": {*s.TempC, 83}, "memory temperature": {*s.MemTempC, 66},
		"vram": {float64(*s.VRAMUsed), 190000000000},
	}
	for what, v := range want {
		if d := v[0] - v[1]; d > 1e-6 || d < -1e-6 {
			t.Errorf("%s = %v, want %v", what, v[0], v[1])
		}
	}
	if !s.ProcessesKnown || len(s.Processes) != 1 || s.Processes[0].PID != 4242 || !strings.HasPrefix(s.Processes[0].Command, "python3 tests/") {
		t.Errorf("processes %+v, want 4242 only", s.Processes)
	}
	if len(got[0].Processes) != 0 || s.PerfLevel != "auto" {
		t.Errorf("idle device has %+v, perf level %q", got[0].Processes, s.PerfLevel)
	}
}

func TestSampleFromTools(t *testing.T) {
	for _, tt := range []struct {
		tools map[string]string
		clock float64
		temp  float64
	}{
		{map[string]string{"rocminfo": "rocminfo.txt", "amd-smi metric": "amd-smi-metric.json"}, 2098, 83},
		{map[string]string{"rocminfo": "rocminfo.txt", "rocm-smi --showuse": "rocm-smi-all.json"}, 2100, 47},
	} {
		got, _ := Probe{Sys: t.TempDir(), Proc: t.TempDir(), Run: tools(tt.tools)}.Sample(t.Context())
		if len(got) != 1 || got[0].ClockMHz == nil || *got[0].ClockMHz != tt.clock || got[0].TempC == nil || *got[0].TempC != tt.temp || got[0].VRAMUsed == nil {
			t.Errorf("%v: %+v", tt.tools, got)
		}
		if got[0].ProcessesKnown {
			t.Errorf("%v: processes known though nothing lists them", tt.tools)
		}
	}
}

func TestLook(t *testing.T) {
	p := host(t, "gfx942")
	both := []runs.GPU{{Index: 0}, {Index: 1}}
	nobody := func(int) bool { return false }
	got, err := p.Look(t.Context(), both, nobody)
	if err != nil || len(got) != 1 || got[0].PID != 4242 || got[0].GPU != 1 {
		t.Errorf("Look = %+v, %v; want 4242 on GPU 1 (5151 only opened the driver)", got, err)
	}
	if got, err := p.Look(t.Context(), both[:1], nobody); err != nil || len(got) != 0 {
		t.Errorf("idle GPU: %+v, %v", got, err)
	}
	if got, err := p.Look(t.Context(), both, func(pid int) bool { return pid == 4242 }); err != nil || len(got) != 0 {
		t.Errorf("own process is foreign: %+v, %v", got, err)
	}
}

// In a container KFD's ids are the host's.
func TestLookInContainer(t *testing.T) {
	contain := func() Probe {
		p := host(t, "gfx942")
		link := filepath.Join(p.Proc, "self/ns/pid")
		if err := errors.Join(os.Remove(link), os.Symlink("pid:[4026532999]", link), os.Rename(filepath.Join(p.Proc, "4242"), filepath.Join(p.Proc, "17"))); err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := []runs.GPU{{Index: 1}}
	p := contain()
	if got, err := p.Look(t.Context(), one, func(pid int) bool { return pid == 17 }); err != nil || len(got) != 0 {
		t.Errorf("our one process explains KFD's one: %+v, %v", got, err)
	}
	got, err := p.Look(t.Context(), one, func(int) bool { return false })
	if err != nil || len(got) == 0 || got[0].PID != 17 {
		t.Errorf("colleague in the container: %+v, %v; want 17", got, err)
	}
	p = contain()
	for _, pid := range []string{"17", "5151"} {
		if err := os.RemoveAll(filepath.Join(p.Proc, pid)); err != nil {
			t.Fatal(err)
		}
	}
	got, err = p.Look(t.Context(), one, func(int) bool { return false })
	if err != nil || len(got) != 1 || got[0].PID != 4242 || !strings.Contains(got[0].Command, "outside") {
		t.Errorf("user outside the container: %+v, %v", got, err)
	}
}

func TestLookWithTools(t *testing.T) {
	one := []runs.GPU{{Index: 1}}
	for _, file := range []map[string]string{
		{"amd-smi static": "amd-smi-static.json", "amd-smi process": "amd-smi-process.json"},
		{"amd-smi static": "amd-smi-static.json", "rocm-smi --showpids": "rocm-smi-pids.json"},
	} {
		p := Probe{Sys: t.TempDir(), Proc: t.TempDir(), Run: tools(file)}
		got, err := p.Look(t.Context(), one, func(int) bool { return false })
		if err != nil || len(got) != 1 || got[0].PID != 4242 {
			t.Errorf("%v: %+v, %v; want 4242", file, got, err)
		}
	}
	blind := Probe{Sys: t.TempDir(), Proc: t.TempDir(), Run: tools(map[string]string{"rocminfo": "rocminfo.txt"})}
	if _, err := blind.Look(t.Context(), one, nil); err == nil {
		t.Error("nobody lists processes, and Look is silent: an empty list would pass for an idle GPU")
	}
}

// A half-read topology would give devices wrong indices.
func TestTornTopologyIsNoList(t *testing.T) {
	p := host(t, "gfx950")
	path := filepath.Join(p.Sys, "class/kfd/kfd/topology/nodes/1/properties")
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
		t.Fatal(err)
	}
	if got, origin := p.Scan(t.Context()); origin.Status == fact.OK {
		t.Errorf("unreadable node: %+v passed for a whole list", got)
	}
}

func TestRealToolsAreBounded(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho driver not loaded >&2\nexit 3\n"
	if err := os.WriteFile(filepath.Join(dir, "rocminfo"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	_, origin := Probe{Sys: t.TempDir(), Proc: t.TempDir()}.Scan(t.Context())
	if origin.Status != fact.Missing || !strings.Contains(origin.Why, "driver not loaded") {
		t.Errorf("failing tool: %v %q, want its own words", origin.Status, origin.Why)
	}
}

func TestArchName(t *testing.T) {
	for v, want := range map[int]string{90402: "gfx942", 90500: "gfx950", 120500: "gfx1250", 90010: "gfx90a", 110001: "gfx1101", 0: "", -1: "", 99: ""} {
		if got := ArchName(v); got != want {
			t.Errorf("ArchName(%d) = %q, want %q", v, got, want)
		}
	}
}

func FuzzParsers(f *testing.F) {
	names, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range names {
		if b, err := os.ReadFile(n); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, read := range []func([]byte) ([]Device, error){parseROCmInfo, parseAMDSMI, parseROCmSMI} {
			list, err := read(b)
			if err == nil && len(list) > deviceLimit {
				t.Errorf("%d devices", len(list))
			}
			for i, d := range list {
				if d.Index != i || strings.ContainsAny(d.Name+d.ID+d.PCI, "\x1b\n\x07") {
					t.Errorf("device %d: %+v", i, d)
				}
			}
		}
		for _, read := range []func([]byte) (map[int][]Process, error){parseAMDSMIProcesses, parseROCmSMIProcesses} {
			users, _ := read(b)
			for _, list := range users {
				for _, u := range list {
					if u.PID < 0 || strings.ContainsAny(u.Command, "\x1b\n") {
						t.Errorf("process %+v", u)
					}
				}
			}
		}
		s := make([]Reading, 2)
		fillAMDSMI(b, s)
		fillROCmSMI(b, s)
		starred(string(b))
		properties(b)
	})
}

func BenchmarkSample(b *testing.B) {
	p := host(b, "gfx950")
	for b.Loop() {
		p.Sample(context.Background())
	}
}

func TestSamplesOfARun(t *testing.T) {
	p := host(t, "gfx950")
	got, err := p.Samples(t.Context(), []runs.GPU{{Index: 1}})
	if err != nil || len(got) != 1 || got[0].GPU != 1 || got[0].ClockMHz == nil || got[0].PowerWatts == nil {
		t.Fatalf("%+v %v", got, err)
	}
	if _, err := p.Samples(t.Context(), []runs.GPU{{Index: 99}}); err == nil {
		t.Error("a device that is not there has samples")
	}
}
