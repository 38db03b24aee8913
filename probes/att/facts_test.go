package att

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kdapilot/engine/stall"
)

type attFacts struct {
	KernelLabel string            `json:"kernel_label"`
	Rows        int               `json:"rows"`
	Insts       int               `json:"instructions"`
	Executed    int               `json:"executed_instructions"`
	ExecutedPct stall.Num         `json:"executed_pct"`
	Mapped      int               `json:"mapped_rows"`
	Present     int               `json:"wave_files_present"`
	Listed      int               `json:"wave_files_listed"`
	Min         int64             `json:"wave_instructions_min"`
	Max         int64             `json:"wave_instructions_max"`
	Cycles      stall.StateCycles `json:"wave_state_cycles_present_waves"`
	Waves       int               `json:"occupancy_waves_total"`
	CUs         int               `json:"occupancy_cus"`
	PeakCU      int               `json:"peak_waves_per_cu_measured"`
	PeakSIMD    int               `json:"peak_waves_per_simd_measured"`
	ClockMHz    stall.Num         `json:"gfx_clock_mhz"`
	Span        int64             `json:"span_cycles"`
	SpanMicros  stall.Num         `json:"span_us"`
	Dispatches  map[string]string `json:"dispatches"`
}

func TestAttFactsOfRealTraces(t *testing.T) {
	ctx := context.Background()
	for name, dir := range traces(t) {
		t.Run(name, func(t *testing.T) {
			var want attFacts
			readJSON(t, filepath.Join(filepath.Dir(dir), "expected", "att_facts.json"), &want)
			d, err := Open(ctx, dir)
			if err != nil {
				t.Fatal(err)
			}
			f, err := d.Facts(ctx)
			if err != nil || len(f.Problems) > 0 {
				t.Fatal(err, f.Problems)
			}
			w, err := d.Waits(ctx)
			if err != nil {
				t.Fatal(err)
			}
			tr := stall.NewTrust(&d.Code)
			got := attFacts{
				KernelLabel: "; " + tr.Kernel, Rows: tr.Rows, Insts: tr.Instructions, Executed: tr.Executed, ExecutedPct: *tr.ExecutedPct,
				Mapped: tr.Mapped, Present: w.Files, Listed: *f.Listed, Min: w.InstsMin, Max: w.InstsMax, Cycles: w.Cycles,
				Waves: f.Occupancy.Waves, CUs: f.Occupancy.CUs, PeakCU: f.Occupancy.PeakPerCU, PeakSIMD: f.Occupancy.PeakPerSIMD,
				ClockMHz: stall.Round(float64(*f.ClockMHz), 1), Span: *f.Occupancy.Span,
				SpanMicros: *f.SpanMicros(), Dispatches: f.Occupancy.Dispatches,
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestRegistersOfRealTraces(t *testing.T) {
	for name, dir := range traces(t) {
		t.Run(name, func(t *testing.T) {
			var want struct {
				Tags map[string]struct {
					Ins, Mapped int
					ArchVGPR    int `json:"arch_vgpr"`
					AccumVGPR   int `json:"accum_vgpr"`
					Waves       int `json:"occupancy_waves_per_cu"`
				}
			}
			readJSON(t, filepath.Join(filepath.Dir(dir), "expected", "capture_facts.json"), &want)
			if len(want.Tags) != 1 {
				t.Fatal("want one tag", want)
			}
			d, err := Open(context.Background(), dir)
			if err != nil {
				t.Fatal(err)
			}
			r := stall.EstimateRegisters(d.Code.Rows)
			for tag, w := range want.Tags {
				if r.Arch != w.ArchVGPR || r.Accum != w.AccumVGPR || r.Estimate != w.Waves || d.Code.AllRows != w.Ins || d.Code.AllMapped != w.Mapped {
					t.Errorf("%s: got %+v rows %d mapped %d, want %+v", tag, r, d.Code.AllRows, d.Code.AllMapped, w)
				}
			}
		})
	}
}

func TestReportOfRealTraces(t *testing.T) {
	for name, dir := range traces(t) {
		t.Run(name, func(t *testing.T) {
			want := reportFacts(t, filepath.Join(filepath.Dir(dir), "expected", "report_facts.json"))
			b, err := analyse(dir)
			if err != nil {
				t.Fatal(err)
			}
			r := stall.Recommend(want.Kernel, &b, nil, want.Occupancy.Waves)
			for i := range r.Recommendations {
				r.Recommendations[i].Knob = "" // our words differ by intent
			}
			if r.Bound != want.Bound || r.Optimal != want.Optimal || !reflect.DeepEqual(r.Recommendations, want.Recommendations) {
				t.Errorf("got  %s\nwant %s", marshal(t, r), marshal(t, want.Report))
			}
			g, _, _ := strings.Cut(r.Headline, " -> ")
			w, _, _ := strings.Cut(want.Headline, " -> ")
			if g != w {
				t.Errorf("headline %q, want %q", g, w)
			}
		})
	}
}

type facts struct {
	stall.Report
	Occupancy struct {
		Waves *int `json:"from_capture_waves_per_cu"`
	}
}

func reportFacts(t *testing.T, path string) facts {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want facts
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	for i := range want.Recommendations {
		want.Recommendations[i].Knob = ""
	}
	return want
}
