package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/family"
	"kdapilot/templates"
)

// harnessFlags are the arguments of the attention harness that the simulation
// honours. A nil causal means both.
type harnessFlags struct {
	batch, seqLen, heads, kvHeads, headDim, splits int
	warmup, iters                                  int
	dtypes                                         []string
	masks                                          []string
	compare, extra                                 bool
	seed                                           uint64
	speed                                          float64
}

// Harness plays tests/kernels/test_flash_attn_fwd.py of FlyDSL main: the same
// streams, tables and exit status, with made-up numbers. It writes the CSV the
// real one writes into the working folder. --speed sets the pace.
func Harness(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fl, err := parseHarness(args)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		fmt.Fprintf(stderr, "usage: test_flash_attn_fwd.py [-h] [--batch BATCH] [--seq_len SEQ_LEN] …\ntest_flash_attn_fwd.py: error: %v\n", err)
		return 2
	}
	h := &sheet{fl: fl, out: stdout, err: stderr, pace: pace{fl.speed}, seed: seedFromEnv(), knobs: readKnobs("."), fault: os.Getenv(EnvFault), dir: "."}
	return h.run(ctx)
}

// run prints the whole call and gives its exit status.
func (h *sheet) run(ctx context.Context) int {
	cells, err := h.fl.cells()
	if err != nil {
		fmt.Fprintf(h.err, "%s: %v\n", Mark, err)
		return 70
	}
	fmt.Fprintln(h.err, Mark+": no kernel runs here, every number is made up")
	if h.fl.compare {
		return h.compare(ctx, cells)
	}
	return h.normal(ctx, cells)
}

func parseHarness(args []string) (harnessFlags, error) {
	fl := harnessFlags{}
	fs := flag.NewFlagSet("test_flash_attn_fwd.py", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.IntVar(&fl.batch, "batch", 0, "")
	fs.IntVar(&fl.seqLen, "seq_len", 0, "")
	fs.IntVar(&fl.heads, "num_heads", 0, "")
	fs.IntVar(&fl.kvHeads, "num_kv_heads", 0, "")
	fs.IntVar(&fl.headDim, "head_dim", 0, "")
	fs.IntVar(&fl.splits, "num_kv_splits", 1, "")
	fs.IntVar(&fl.warmup, "warmup", 10, "")
	fs.IntVar(&fl.iters, "iters", 20, "")
	dtype := fs.String("dtype", "", "")
	causal := fs.Bool("causal", false, "")
	noCausal := fs.Bool("no-causal", false, "")
	fs.Uint64Var(&fl.seed, "seed", 123, "")
	fs.BoolVar(&fl.compare, "compare", false, "")
	fs.BoolVar(&fl.extra, "extra", false, "")
	fs.Bool("verbose", false, "")
	fs.Int("waves-per-eu", 2, "")
	fs.String("kv-cache-layout", "linear", "")
	fs.Float64Var(&fl.speed, "speed", newPace(1).speed, "simulation only")
	if err := fs.Parse(args); err != nil {
		return fl, err
	}
	if fs.NArg() > 0 {
		return fl, fmt.Errorf("unrecognized arguments: %s", strings.Join(fs.Args(), " "))
	}
	switch *dtype {
	case "":
		fl.dtypes = []string{"bf16", "fp16"}
	case "bf16", "fp16", "fp8":
		fl.dtypes = []string{*dtype}
	default:
		return fl, fmt.Errorf("argument --dtype: invalid choice: '%s' (choose from fp16, bf16, fp8)", *dtype)
	}
	switch {
	case *causal && !*noCausal:
		fl.masks = []string{"causal"}
	case *noCausal && !*causal:
		fl.masks = []string{"nocausal"}
	default:
		fl.masks = []string{"causal", "nocausal"}
	}
	return fl, nil
}

// cell is one configuration with its numbers.
type cell struct {
	b, s, h, hkv, d, sp int
	dtype, mask         string
}

func (c cell) label() string {
	return fmt.Sprintf("%4d %6d %4d %4d %4d %5s %8s %5d %-24s", c.b, c.s, c.h, c.hkv, c.d, c.dtype, c.mask, c.sp, "dense")
}

func (c cell) causal() bool { return c.mask == "causal" }

// cells are the configurations of this call, in the order of the harness.
func (fl harnessFlags) cells() ([]cell, error) {
	if fl.batch > 0 || fl.seqLen > 0 || fl.heads > 0 || fl.kvHeads > 0 || fl.headDim > 0 {
		return fl.one(), nil
	}
	src, err := templates.FamilyTOML(Family)
	if err != nil {
		return nil, err
	}
	fam, err := family.Parse(Family, src)
	if err != nil {
		return nil, err
	}
	all, err := fam.Expand("head")
	if err != nil {
		return nil, err
	}
	var out []cell
	for _, dtype := range fl.dtypes {
		for _, c := range all {
			// fp8 runs the shapes of the bf16 list, as the harness does.
			want := dtype
			if dtype == "fp8" {
				want = "bf16"
			}
			if c.At["dtype"] != want || !slices.Contains(fl.masks, c.At["causal"]) {
				continue
			}
			n := func(axis string) int { v, _ := strconv.Atoi(c.At[axis]); return v }
			out = append(out, cell{n("B"), n("S"), n("H"), n("Hkv"), n("D"), n("kv_sp"), dtype, c.At["causal"]})
		}
	}
	return out, nil
}

// one is the single configuration that any shape flag asks for.
func (fl harnessFlags) one() []cell {
	or := func(v, def int) int {
		if v > 0 {
			return v
		}
		return def
	}
	c := cell{b: or(fl.batch, 1), s: or(fl.seqLen, 128), h: or(fl.heads, 8), sp: or(fl.splits, 1)}
	c.hkv = or(fl.kvHeads, c.h)
	dims := []int{64, 128}
	if fl.headDim > 0 {
		dims = []int{fl.headDim}
	}
	var out []cell
	for _, dtype := range fl.dtypes {
		for _, mask := range fl.masks {
			for _, d := range dims {
				c.dtype, c.mask, c.d = dtype, mask, d
				out = append(out, c)
			}
		}
	}
	return out
}
