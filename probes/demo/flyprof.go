package demo

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kdapilot/engine/stall"
)

// flyTool is one call of the simulated flyprof.
type flyTool struct {
	out, err         io.Writer
	cmd, kernel      string
	worktree, bundle string
	tag, shape       string
	before, after    string
	topic            string // wiki --kernel
	pace             pace
}

// Flyprof plays doctor, list, run, bubbles, diff and wiki of flyprof 0.1.0: one JSON
// envelope on stdout, its exit codes, and for run a bundle in --bundle.
func Flyprof(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == "--version" {
		fmt.Fprintln(stdout, "flyprof 0.1.0 ("+Mark+")")
		return 0
	}
	if len(args) == 0 {
		fmt.Fprintln(stdout, "flyprof ("+Mark+"): doctor, list, run, bubbles, diff, wiki")
		return 0
	}
	f := &flyTool{out: stdout, err: stderr, cmd: args[0]}
	if err := f.parse(args[1:]); err != nil {
		fmt.Fprintf(stderr, "usage: flyprof [-h] {doctor,list,run,bubbles,diff,wiki} ...\nflyprof %s: error: %v\n", f.cmd, err)
		return 2
	}
	switch f.cmd {
	case "doctor":
		return f.ok("", f.doctor(), nil)
	case "list":
		return f.ok("", f.list(), nil)
	case "run":
		return f.run(ctx)
	case "bubbles":
		return f.bubbles()
	case "diff":
		return f.diff()
	case "wiki":
		return f.wiki()
	case "capture", "counters", "map", "report", "tile", "bundle", "optimize":
		return f.fail("NOT_IMPLEMENTED", 70, f.cmd+" is not part of the simulation", "doctor, list, run, bubbles, diff and wiki are")
	default:
		fmt.Fprintf(stderr, "usage: flyprof [-h] {doctor,list,run,bubbles,diff,wiki} ...\nflyprof: error: argument command: invalid choice: '%s'\n", f.cmd)
		return 2
	}
}

// parse reads the flags; the kernel may stand before or between them.
func (f *flyTool) parse(args []string) error {
	fs := flag.NewFlagSet("flyprof", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	format := fs.String("f", "json", "")
	fs.StringVar(format, "format", "json", "")
	cwd, _ := os.Getwd() // an empty worktree is an error of its own below
	fs.StringVar(&f.worktree, "worktree", cwd, "")
	fs.StringVar(&f.bundle, "bundle", "", "")
	fs.Int("gpu", 0, "")
	fs.String("arch", Arch, "")
	fs.String("python", "python3", "")
	fs.StringVar(&f.tag, "tag", "", "")
	fs.StringVar(&f.shape, "shape", "", "")
	fs.StringVar(&f.before, "before", "", "")
	fs.StringVar(&f.after, "after", "", "")
	fs.StringVar(&f.topic, "kernel", "flash attention", "")
	fs.Bool("skip-bundle", false, "")
	fs.Bool("quiet", false, "")
	fs.Float64Var(&f.pace.speed, "speed", newPace(1).speed, "")
	for {
		if err := fs.Parse(args); err != nil {
			return err
		}
		if fs.NArg() == 0 {
			return nil
		}
		if f.kernel != "" {
			return fmt.Errorf("unrecognized arguments: %s", strings.Join(fs.Args(), " "))
		}
		f.kernel, args = fs.Arg(0), fs.Args()[1:]
	}
}

// ok prints the success envelope; key order as flyprof's.
func (f *flyTool) ok(bundle string, data any, warnings []string) int {
	if warnings == nil {
		warnings = []string{}
	}
	env := struct {
		OK       bool     `json:"ok"`
		Command  string   `json:"command"`
		Bundle   string   `json:"bundle,omitempty"`
		Data     any      `json:"data"`
		Warnings []string `json:"warnings"`
	}{true, f.cmd, bundle, data, append([]string{Mark + ": nothing was profiled, every number is made up"}, warnings...)}
	return f.print(env, 0)
}

func (f *flyTool) fail(code string, exit int, message, help string) int {
	return f.print(map[string]any{"ok": false, "command": f.cmd, "error": map[string]any{
		"code": code, "exitCode": exit, "message": message + " (" + Mark + ")", "help": help,
	}}, exit)
}

func (f *flyTool) print(v any, exit int) int {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		fmt.Fprintf(f.err, "%s: %v\n", Mark, err)
		return 70
	}
	fmt.Fprintf(f.out, "%s\n", b)
	return exit
}

func (f *flyTool) doctor() any {
	tree := filepath.Join(f.worktree, "build-fly", "python_packages")
	return map[string]any{
		"rocprofv3":  map[string]any{"present": true, "path": Mark, "version": "1.1.0"},
		"gpu":        map[string]any{"present": true, "arch": Arch, "name": GPUName},
		"build_tree": map[string]any{"path": tree, "exists": true, "flydsl_pkg": true},
		"soc_spec":   map[string]any{"loaded": true, "arch": Arch, "name": GPUName, "cu": 256, "lds_bytes_per_cu": 163840, "clock_mhz": 2200.0, "hbm_gbs": 8000.0, "waves_per_cu": 32},
		"worktree":   f.worktree, "python": Mark, "gpu_index": 0, "verdict": "ready", "blockers": []string{},
	}
}

func (f *flyTool) list() any {
	return map[string]any{"worktree": f.worktree, "registry": Mark, "count": 1, "kernels": []any{map[string]any{
		"kernel": "flash_attn_fwd", "test_file": harnessRel, "kernel_fns": []string{kernelSymbol}, "op_category": "attention",
		"shape_env": []string{}, "has_recipe": true, "recipe_source": "registry", "confidence": "high", "needs_multi_gpu": false,
		"requires": []string{"rocprofv3", "gpu", "build-tree"},
		"args":     []any{map[string]any{"name": "--shape", "type": "str", "required": false, "help": Mark}},
	}}}
}

func (f *flyTool) run(ctx context.Context) int {
	if f.kernel == "" {
		fmt.Fprintln(f.err, "flyprof run: error: the following arguments are required: kernel")
		return 2
	}
	if f.kernel != "flash_attn_fwd" {
		return f.fail("KERNEL_NOT_FOUND", 66, fmt.Sprintf("no kernel %q", f.kernel), "flyprof list names one: flash_attn_fwd")
	}
	src, err := os.ReadFile(filepath.Join(f.worktree, filepath.FromSlash(kernelRel)))
	if err != nil {
		return f.fail("BUILD_TREE_MISSING", 78, err.Error(), "point --worktree at the demo's worktree")
	}
	now := time.Now()
	if f.bundle == "" {
		f.bundle = filepath.Join(f.worktree, "profile", "flash_attn_fwd-"+now.Format("20060102-150405"))
	}
	bundle, err := filepath.Abs(f.bundle)
	if err != nil {
		return f.fail("BAD_ARGS", 78, err.Error(), "give --bundle as a path")
	}
	fmt.Fprintf(f.err, "%s: nothing is profiled; the real flyprof prints nothing before its end\n", Mark)
	if stopped, err := f.stages(ctx, bundle); err != nil {
		return f.fail("INTERNAL", 70, err.Error(), "see the message")
	} else if stopped {
		return 130
	}
	tags := []string{"big", "small"}
	if f.tag == "big" || f.tag == "small" {
		tags = []string{f.tag}
	}
	if f.shape == "" {
		f.shape = "1,8192,64,64,128"
	}
	m, err := capture{bundle: bundle, worktree: f.worktree, source: src, seed: seedFromEnv(), tags: tags, when: now, shape: f.shape}.write()
	if err != nil {
		return f.fail("INTERNAL", 70, err.Error(), "see the message")
	}
	return f.ok(bundle, map[string]any{"kernel": m.kernel, "bound_type": m.bound, "headline": m.headline, "optimal": false, "recommendations": m.recommendations, "steps": m.steps,
		"artifacts": map[string]any{"report_md": filepath.Join(bundle, "REPORT.md"), "report_json": filepath.Join(bundle, "report.json"), "examples_dir": nil}}, nil)
}

// stages leaves in the bundle what flyprof leaves there as it goes along, at
// the pace of the simulation. stopped is true when the context ended first.
func (f *flyTool) stages(ctx context.Context, bundle string) (stopped bool, err error) {
	if err := os.MkdirAll(bundle, 0o755); err != nil {
		return false, err
	}
	files := []string{"tile.json", "discover_kernel_stats.csv"}
	for _, tag := range []string{"small", "big"} {
		if f.tag == "" || f.tag == "both" || f.tag == tag {
			files = append(files, "input_trace_"+tag+".yaml", "capture_"+tag+".log")
		}
	}
	for _, name := range files {
		if !f.pace.wait(ctx, 1.5) {
			return true, nil
		}
		body := "# " + Mark + ": empty\n"
		if name == "tile.json" {
			body = `{"confidence": "` + Mark + `"}`
		}
		if err := os.WriteFile(filepath.Join(bundle, name), []byte(body), 0o644); err != nil {
			return false, err
		}
	}
	return !f.pace.wait(ctx, 1.5), nil
}

// wiki answers with one page that says there is no wiki here.
func (f *flyTool) wiki() int {
	if f.kernel == "" {
		fmt.Fprintln(f.err, "flyprof wiki: error: the following arguments are required: bubble_class")
		return 2
	}
	return f.ok("", map[string]any{
		"bubble_class": f.kernel, "query": f.topic + " " + f.kernel, "technique_hint": nil, "implemented_by_prs": []any{},
		"results": []any{map[string]any{"page_id": Mark, "title": Mark + ": prior art on " + f.kernel + " would be listed here", "path": Mark, "score": 1}},
	}, nil)
}

// bubbles prints the bundle's own bubbles.json.
func (f *flyTool) bubbles() int {
	if f.bundle == "" {
		return f.fail("BAD_ARGS", 78, "--bundle is missing", "give the bundle's folder")
	}
	b, err := os.ReadFile(filepath.Join(f.bundle, "bubbles.json"))
	if err != nil {
		return f.fail("NO_ARTIFACT", 66, "no ATT dispatch (code.json) under "+f.bundle, "run `flyprof run` first")
	}
	abs, err := filepath.Abs(f.bundle)
	if err != nil {
		abs = f.bundle
	}
	return f.ok(abs, json.RawMessage(b), nil)
}

// diff compares two bundles' reports in flyprof's shape, without a margin.
func (f *flyTool) diff() int {
	if f.before == "" || f.after == "" {
		return f.fail("BAD_ARGS", 78, "--before and --after are required", "give two bundles")
	}
	var sides [2]stall.Bubbles
	for i, dir := range []string{f.before, f.after} {
		b, err := os.ReadFile(filepath.Join(dir, "bubbles.json"))
		if err != nil {
			return f.fail("NO_ARTIFACT", 66, "no report under "+dir, "run `flyprof run` first")
		}
		if err := json.Unmarshal(b, &sides[i]); err != nil {
			return f.fail("INTERNAL", 70, err.Error(), "the bundle is damaged")
		}
	}
	before, after := sides[0], sides[1]
	tax := map[string]any{}
	for _, s := range append(append([]stall.ClassShare{}, before.Taxonomy.ByClass...), after.Taxonomy.ByClass...) {
		if _, ok := tax[string(s.Class)]; ok {
			continue
		}
		b, okB := before.Class(s.Class)
		a, okA := after.Class(s.Class)
		entry := map[string]any{"before": nil, "after": nil, "delta": nil, "is_bubble": s.IsBubble}
		if okB {
			entry["before"] = b
		}
		if okA {
			entry["after"] = a
		}
		if okA && okB {
			entry["delta"] = map[string]any{"cycles": a.Cycles - b.Cycles, "pct": stall.Round(float64(a.Pct-b.Pct), 2), "rank": a.Rank - b.Rank}
		}
		tax[string(s.Class)] = entry
	}
	top, _ := before.TopBubble()
	now, _ := after.Class(top.Class)
	return f.ok("", map[string]any{
		"kernel":         map[string]any{"before": kernelSymbol, "after": kernelSymbol},
		"headline":       fmt.Sprintf("rank-1 bubble %s: %s%% -> %s%% (%s)", top.Class, top.Pct, now.Pct, Mark),
		"totals":         map[string]any{"stall_pct": map[string]any{"before": before.Totals.StallPct, "after": after.Totals.StallPct, "delta": stall.Round(float64(after.Totals.StallPct-before.Totals.StallPct), 1)}},
		"stall_taxonomy": tax,
		"verdict": map[string]any{"rank1_bubble_class": top.Class, "rank1_bubble_shrank": now.Pct < top.Pct, "before_pct": top.Pct, "after_pct": now.Pct,
			"delta_pct": stall.Round(float64(now.Pct-top.Pct), 2)},
	}, nil)
}
