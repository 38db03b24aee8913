package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kdapilot/engine/profile"
)

// fakeFlyprof stands on PATH as flyprof in the scripts. FAKE_FLYPROF names what
// it plays, FAKE_FLYPROF_DIR where it counts its calls. Like the real one it
// prints nothing before its envelope.
func fakeFlyprof() { os.Exit(playFlyprof(os.Args[1:])) }

func playFlyprof(args []string) int {
	play := os.Getenv("FAKE_FLYPROF")
	cmd := ""
	if len(args) > 0 {
		cmd = args[0]
	}
	fail := func(code string, exit int) int {
		return envelope(map[string]any{"ok": false, "command": cmd, "error": map[string]any{"code": code, "exitCode": exit, "message": "made up: " + code, "help": "made-up help"}}, exit)
	}
	ok := func(data any) int {
		return envelope(map[string]any{"ok": true, "command": cmd, "data": data, "warnings": []string{}}, 0)
	}
	calls := countCall()
	switch {
	case play == "nothing":
		return fail("KERNEL_NOT_FOUND", 66)
	case play == "stop":
		return fail("ROCPROFV3_MISSING", 69)
	case play == "transient", play == "transient-once" && calls == 1:
		return fail("CAPTURE_TIMEOUT", 75)
	case play == "input":
		return fail("BUILD_TREE_MISSING", 78)
	case play == "usage":
		fmt.Fprintln(os.Stderr, "usage: flyprof [-h]\nflyprof run: error: unrecognized arguments: --frobnicate")
		return 2
	case play == "interrupt":
		return 130
	case play == "torn":
		fmt.Print("{\n  \"ok\": true,\n  \"command\": \"run\",\n  \"data\": {\n    \"headl")
		return 0
	case play == "liar":
		return envelope(map[string]any{"ok": true, "command": cmd, "data": map[string]any{}, "warnings": []string{}}, 69)
	case cmd == "doctor":
		return ok(map[string]any{"rocprofv3": map[string]any{"present": false}, "gpu": map[string]any{"present": true, "arch": "gfx950"}, "verdict": "not-ready", "blockers": []string{"ROCPROFV3_MISSING"}})
	case cmd == "list":
		return ok(map[string]any{"count": 2, "kernels": []any{
			map[string]any{"kernel": "moe_gemm", "test_file": "tests/kernels/test_moe_gemm.py", "op_category": "moe", "recipe_source": "synthesizable"},
			map[string]any{"kernel": "softmax", "op_category": "norm", "recipe_source": "registry"},
		}})
	case cmd == "diff":
		return ok(map[string]any{"headline": "h", "verdict": map[string]any{"rank1_bubble_class": "vmcnt", "rank1_bubble_shrank": true, "before_pct": 29.24, "after_pct": 28.44, "delta_pct": -0.8}})
	case cmd == "wiki":
		return ok(map[string]any{"bubble_class": args[1], "query": "q", "results": []any{map[string]any{"page_id": "p1", "title": "Deeper prefetch", "path": "a/b.md"}}, "technique_hint": "prefetch", "implemented_by_prs": []int{683}})
	case cmd == "run":
		return playCapture(args, play)
	}
	return fail("NOT_IMPLEMENTED", 70)
}

// playCapture leaves the files of each stage as flyprof does, and stops half
// way if it is to.
func playCapture(args []string, play string) int {
	bundle := profile.Option(args, "bundle")
	for i, name := range []string{"tile.json", "discover_kernel_stats.csv", "input_trace_small.yaml", "capture_small.log", "input_trace_big.yaml", "capture_big.log", "capture.json", "input_pmc.yaml", "pmc.log", "counters.json", "bubbles.json", "map.json", "report.json"} {
		body := "{}"
		switch name {
		case "capture.json":
			body = `{"kernel":"k_0","recipe_kernel":"` + args[1] + `","tags":{},"provenance":{"arch":"gfx950"}}`
		case "bubbles.json":
			body = `{"dispatch_dir":"d","totals":{"instructions":1,"total_latency":100,"total_stall":60,"total_idle":0,"hitcount":1,"stall_pct":60.0},"stall_taxonomy":{"by_class":{"vmcnt":{"cycles":60,"pct":100.0,"rank":1,"is_bubble":true}}},"hotspots":[],"by_source":[],"inst_mix":{}}`
			if play == "replay" {
				if err := replayTrace(bundle); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return 70
				}
				continue
			}
		case "report.json":
			if play == "no-report" {
				continue
			}
		}
		if err := os.WriteFile(filepath.Join(bundle, name), []byte(body), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 70
		}
		switch {
		case play == "killed" && i == 4:
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case play == "slow" && i == 4:
			time.Sleep(time.Minute)
		}
	}
	return envelope(map[string]any{"ok": true, "command": "run", "bundle": bundle, "warnings": []string{"counters: 2 read 0"},
		"data": map[string]any{"kernel": "k_0", "headline": "k_0: memory-bound, vmcnt-dominated", "steps": map[string]string{"doctor": "ready", "report": "done"}}}, 0)
}

// replayTrace leaves the real trace of FAKE_FLYPROF_TRACE in the bundle, with
// the bubbles that are expected of it.
func replayTrace(bundle string) error {
	from := os.Getenv("FAKE_FLYPROF_TRACE")
	dirs, err := filepath.Glob(filepath.Join(from, "ui_output_agent_*_dispatch_*"))
	if err != nil || len(dirs) != 1 {
		return fmt.Errorf("%s: %d dispatch folders, %w", from, len(dirs), err)
	}
	if err := os.CopyFS(filepath.Join(bundle, "att", "big", filepath.Base(dirs[0])), os.DirFS(dirs[0])); err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(from, "expected", "bubbles.json"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bundle, "bubbles.json"), b, 0o644)
}

func envelope(v any, exit int) int {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return 70
	}
	fmt.Println(string(b))
	return exit
}

// countCall counts in a folder and notes what it was called with.
func countCall() int {
	dir := os.Getenv("FAKE_FLYPROF_DIR")
	if dir == "" {
		return 1
	}
	f, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 1
	}
	defer f.Close()
	fmt.Fprintln(f, strings.Join(os.Args[1:], " "))
	b, err := os.ReadFile(f.Name())
	if err != nil {
		return 1
	}
	return strings.Count(string(b), "\n")
}
