package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"kdapilot/engine/stall"
)

// capture is one simulated `flyprof run`.
type capture struct {
	bundle   string
	worktree string // prefix of the source paths in the trace
	source   []byte // bytes of the kernel's file
	seed     uint64
	tags     []string
	when     time.Time
	shape    string
}

// made is what a capture wrote.
type made struct {
	kernel, headline, bound string
	recommendations         []any
	steps                   map[string]string
}

// write makes the bundle: traces, capture, bubbles, map, report and run files.
func (c capture) write() (made, error) {
	out := made{kernel: kernelSymbol}
	info := map[string]any{}
	inventory := map[string]any{}
	var bubbles stall.Bubbles
	var tr *tracer
	for i, tag := range c.tags {
		t, facts, err := c.tag(tag, 44+i)
		if err != nil {
			return out, err
		}
		info[tag], inventory[tag] = facts, []any{map[string]any{"dir": filepath.Base(facts["kept_dir"].(string)), "waves": facts["waves"], "ins": facts["ins"], "mapped": facts["mapped"]}}
		dir := filepath.Base(facts["kept_dir"].(string))
		b := stall.Compute(dir, t.rows, idleWaves(t)).WithWaits(t.rows, t.edges())
		if tag == "big" || tr == nil {
			bubbles, tr = b, t
		}
	}
	k := parseKnobs(c.source)
	avg := 49392.3 * (1 - 0.055*float64(k.prefetch-1))
	files := []struct {
		name string
		v    any
	}{
		{"capture.json", map[string]any{
			"kernel": kernelSymbol, "recipe_kernel": "flash_attn_fwd", "match_confidence": "exact", "recipe_source": "registry",
			"invocation": "python " + harnessRel + " # " + Mark, "calls": 47, "avg_ns": avg, "total_ns": math.Round(avg * 47), "iter_range": "[6, [8-8]]",
			"tags": info, "dispatch_inventory": inventory, "candidates": []string{kernelSymbol},
			"provenance": map[string]any{"rocprofv3": "1.1.0 " + Mark, "arch": Arch},
		}},
		{"bubbles.json", bubbles},
		{"map.json", c.sourceMap(tr, bubbles)},
	}
	out.bound, out.headline, out.recommendations = judge(bubbles)
	report := map[string]any{
		"kernel": kernelSymbol, "recipe_kernel": "flash_attn_fwd", "bound_type": out.bound, "headline": out.headline, "optimal": false,
		"totals": bubbles.Totals, "stall_taxonomy": bubbles.Taxonomy, "roofline": nil,
		"occupancy":       map[string]any{"from_capture_waves_per_cu": 16, "arch_vgpr": 49, "accum_vgpr": 33},
		"tile":            nil,
		"recommendations": out.recommendations, "evidence_hotspots": bubbles.Hotspots[:min(5, len(bubbles.Hotspots))],
		"provenance": map[string]any{"arch": Arch, "rocprofv3": "1.1.0 " + Mark, "date": c.when.Format("2006-01-02"), "avg_ns": avg},
	}
	out.steps = map[string]string{
		"doctor": "ready", "tile": "skipped (" + Mark + ")", "capture": kernelSymbol, "counters": "skipped (MISSING_PREREQ)",
		"bubbles": bubbles.Totals.StallPct.String() + "% stall", "map": "100.0% mapped", "report": out.headline,
	}
	var top any
	if len(out.recommendations) > 0 {
		top = out.recommendations[0]
	}
	for _, f := range append(files, []struct {
		name string
		v    any
	}{
		{"report.json", report},
		{"headlines.json", map[string]any{"kernel": kernelSymbol, "headline": out.headline, "bound_type": out.bound, "optimal": false, "top_recommendation": top}},
		{"run.json", map[string]any{"kernel": "flash_attn_fwd", "steps": out.steps, "warnings": []string{Mark + ": nothing was profiled"}}},
	}...) {
		if err := writeJSON(filepath.Join(c.bundle, f.name), f.v); err != nil {
			return out, err
		}
	}
	md := fmt.Sprintf("# %s — %s/MI350X Profiling Report\n\n*%s: nothing was profiled*\n\n## 1. Headline\n\n%s\n", kernelSymbol, Arch, Mark, out.headline)
	return out, os.WriteFile(filepath.Join(c.bundle, "REPORT.md"), []byte(md), 0o644)
}

// tag simulates one workload: big has 32 waves, small 4.
func (c capture) tag(tag string, dispatch int) (*tracer, map[string]any, error) {
	path := filepath.Join(c.worktree, filepath.FromSlash(kernelRel))
	t := newTracer(path, c.source, parseKnobs(c.source))
	r := dice(c.seed, tag)
	slots, iterations := 2, 12
	if tag == "small" {
		slots, iterations = 1, 4
	}
	for se := range 4 {
		for simd := range 4 {
			for slot := range slots {
				if tag == "small" && simd > 0 {
					continue
				}
				t.run(r, se, simd, slot, iterations)
			}
		}
	}
	kept := filepath.Join("att", tag, fmt.Sprintf("ui_output_agent_22257_dispatch_%d", dispatch))
	if err := t.write(filepath.Join(c.bundle, kept)); err != nil {
		return nil, nil, err
	}
	top := stall.Compute("", t.rows, stall.IdleWaves{}).Taxonomy.ByClass[0].Class
	n := len(t.rows) + 1
	facts := map[string]any{
		"tag": tag, "shape": c.shape, "iter_range": "[6, [8-8]]", "capture_rc": 0, "capture_s": 21.4, "kept_dir": filepath.ToSlash(kept),
		"waves": len(t.waves), "ins": n, "mapped": n - 1, "mapped_pct": stall.Round(100*float64(n-1)/float64(n), 1),
		"arch_vgpr": 49, "accum_vgpr": 33, "occupancy_waves_per_cu": 16, "top_stall_type": top,
	}
	return t, facts, nil
}

// idleWaves is the occupancy field as flyprof fills it: state 1 is IDLE.
func idleWaves(t *tracer) stall.IdleWaves {
	b, err := json.Marshal(t.states(1))
	var s struct {
		State []int64 `json:"state"`
	}
	if err != nil || json.Unmarshal(b, &s) != nil || len(s.State) == 0 {
		return stall.IdleWaves{}
	}
	var peak, sum int64
	for _, n := range s.State {
		peak, sum = max(peak, n), sum+n
	}
	return stall.IdleWaves{Available: true, Peak: peak, Mean: stall.Round(float64(sum)/float64(len(s.State)), 2), Samples: len(s.State), HasOccupancyJSON: true}
}

// judge gives the bound, the headline and the opportunities in flyprof's words.
func judge(b stall.Bubbles) (bound, headline string, recs []any) {
	pct := func(c stall.Class) float64 { s, _ := b.Class(c); return float64(s.Pct) }
	bound = "latency"
	if pct("vmcnt")+pct("vmem_load")+pct("vmem_store") > 35 {
		bound = "memory"
	}
	for _, r := range []struct {
		rule, knob, conf string
		class            stall.Class
		over             float64
	}{
		{"vmem_prefetch", "Prefetch the global loads further ahead", "high", "vmcnt", 10},
		{"lds_write_read_distance", "More distance between LDS write and read", "high", "lgkmcnt", 15},
		{"barrier_relax", "Remove or narrow synchronisation", "medium", "barrier", 5},
	} {
		if pct(r.class) <= r.over {
			continue
		}
		ev := map[string]any{"signal": string(r.class) + ".pct", "value": stall.Round(pct(r.class), 2), "stall_pct_of_class": stall.Round(pct(r.class), 2)}
		for _, h := range b.Hotspots {
			if h.Class == r.class {
				ev["code_line"], ev["source"], ev["inst"] = h.CodeLine, h.Source, h.Inst
				break
			}
		}
		recs = append(recs, map[string]any{"rule": r.rule, "bubble_class": r.class, "evidence": ev, "knob": r.knob, "api": Mark, "code_change": Mark, "expected": Mark, "confidence": r.conf, "rank": len(recs) + 1})
	}
	knob := "see recommendations"
	if len(recs) > 0 {
		knob = recs[0].(map[string]any)["knob"].(string)
	}
	if top, ok := b.Top(); ok {
		headline = fmt.Sprintf("%s: %s-bound, %s-dominated (%s%% of %s%% total stall) -> %s", kernelSymbol, bound, top.Class, top.Pct, b.Totals.StallPct, knob)
	}
	return bound, headline, recs
}

// sourceMap is map.json for the top hotspots.
func (c capture) sourceMap(t *tracer, b stall.Bubbles) any {
	path := filepath.Join(c.worktree, filepath.FromSlash(kernelRel))
	lines := bytes.Split(c.source, []byte("\n"))
	var list []any
	for _, h := range b.Hotspots {
		var n int
		_, _ = fmt.Sscanf(h.Source[len(path)+1:], "%d", &n)
		var snip []any
		for i := max(1, n-2); i <= min(len(lines), n+2); i++ {
			snip = append(snip, map[string]any{"n": i, "text": string(lines[i-1]), "hot": i == n})
		}
		list = append(list, map[string]any{"code_line": h.CodeLine, "isa": h.Inst, "addr": h.Addr, "source": h.Source, "stall_attributed": h.Stall, "latency": h.Latency,
			"source_snippet": map[string]any{"file": path, "line": n, "lines": snip}, "confidence": "exact"})
	}
	return map[string]any{"dispatch_dir": b.DispatchDir, "mappings": list, "unmapped_pct": 0.0, "src_mapped_pct": 100.0,
		"source_flamegraph": map[string]any{"files": []any{map[string]any{"file": path, "latency": b.Totals.TotalLatency, "stall": b.Totals.TotalStall}}}}
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}
