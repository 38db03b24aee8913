package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	engine "kdapilot/engine/numerics"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/probes/gitrepo"
	"kdapilot/probes/numerics"
	"kdapilot/probes/run"
)

// newNumerics asks on the host what a number format costs a kernel design: the
// falsifying experiment for a claimed precision limit.
func newNumerics(s streams) *cobra.Command {
	f := engine.Flags{Shape: engine.DefaultShape}
	var gemm, asJSON, save bool
	var dir string
	cmd := &cobra.Command{
		Use:   "numerics",
		Short: "Host probe: error of fp8 attention designs, or of an MXFP4 GEMM, without a GPU",
		Long: `numerics computes attention with the rounding of a number format, bit for bit, and
compares with a double precision reference: max_err and min_cos per design, pass
or fail against the gate. With --gemm it does so for an MXFP4 matrix product.
Exit status 1: no design passes.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if gemm && !cmd.Flags().Changed("shape") {
				f.Shape = engine.DefaultGEMMShape
			}
			show := func(ctx context.Context) (res engine.Result, err error) {
				if res, err = runNumerics(ctx, f, gemm); err != nil {
					return res, err
				}
				if asJSON {
					return res, writeJSON(s.out, res)
				}
				_, err = fmt.Fprintln(s.out, res.Table())
				return res, err
			}
			var res engine.Result
			var err error
			if save {
				res, err = keepNumerics(cmd.Context(), s, dir, show)
			} else {
				res, err = show(cmd.Context())
			}
			if err != nil {
				return err
			}
			return exitQuietly(numericsExit(res))
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Shape, "shape", f.Shape, "B1 H8 Hkv8 S2048 D128, or M64 N512 K7168 with --gemm")
	fl.BoolVar(&gemm, "gemm", false, "MXFP4 GEMM instead of attention")
	fl.BoolVar(&f.Causal, "causal", false, "hide later keys")
	fl.StringVar(&f.Inputs, "inputs", "", "format of Q, K, V: e4m3fn e4m3fnuz e5m2 bf16 fp16")
	fl.StringVar(&f.Scales, "scales", "", "per_tensor or per_head")
	fl.StringVar(&f.Values, "values", "", "uniform or normal")
	fl.StringVar(&f.Output, "output", "", "format of the output")
	fl.StringVar(&f.Reference, "reference", "", "what the f64 reference starts from")
	fl.StringSliceVar(&f.Designs, "design", nil, "designs, for example e4m3fn-unnorm; default: the usual ones")
	fl.StringVar(&f.MaxErr, "max-err", "", "gate: largest error")
	fl.StringVar(&f.MinCos, "min-cos", "", "gate: smallest cosine")
	fl.StringVar(&f.LogitsDiff, "logits-diff", "", "gate: largest logits_diff")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of the inputs")
	fl.IntVar(&f.Workers, "workers", 0, "goroutines; 0: one per processor")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	fl.BoolVar(&save, "save", false, "keep the result as evidence below .humanize/kdapilot/runs")
	fl.StringVarP(&dir, "dir", "C", ".", "the worktree, for --save")
	return cmd
}

func runNumerics(ctx context.Context, f engine.Flags, gemm bool) (engine.Result, error) {
	if gemm {
		c, err := f.GEMM()
		if err != nil {
			return engine.Result{}, &exitError{exitUsage, err}
		}
		c.Now = time.Now
		return engine.MXFP4GEMM(ctx, c)
	}
	c, err := f.Attention()
	if err != nil {
		return engine.Result{}, &exitError{exitUsage, err}
	}
	c.Now = time.Now
	return engine.Attention(ctx, c)
}

// numericsExit is red when no design passes.
func numericsExit(res engine.Result) int {
	for _, d := range res.Designs {
		if d.Pass {
			return exitOK
		}
	}
	return exitRed
}

// keepNumerics does the work as a run of the worktree: its folder holds the
// result and the table, hashed.
func keepNumerics(ctx context.Context, s streams, dir string, work func(context.Context) (engine.Result, error)) (engine.Result, error) {
	var res engine.Result
	root, mode, err := resolve(ctx, dir)
	if err != nil {
		return res, err
	}
	spec := run.Spec{Worktree: root, Preset: "numerics", Kind: runs.Other, Argv: append([]string{"kdapilot"}, os.Args[1:]...)}
	if mode == session.Live {
		g := gitrepo.Git{}.Snapshot(ctx, root, "")
		spec.Branch, spec.Head = g.Branch, g.Head
	}
	kept, err := run.New(run.Local{}).Record(ctx, spec, func(ctx context.Context, folder string, log io.Writer) (int, error) {
		if res, err = work(ctx); err != nil {
			return 0, err
		}
		if _, err := numerics.Save(folder, res); err != nil {
			return 0, err
		}
		_, err := fmt.Fprintln(log, res.Table())
		return numericsExit(res), err
	})
	if err != nil {
		return res, err
	}
	_, err = fmt.Fprintf(s.err, "kept as run %s\n", kept.ID)
	return res, err
}
