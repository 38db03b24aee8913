package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	engine "kdapilot/engine/numerics"
	"kdapilot/probes/numerics"
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
			res, err := runNumerics(cmd.Context(), f, gemm)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(s.out, res)
			} else {
				_, err = fmt.Fprintln(s.out, res.Table())
			}
			if err == nil && save {
				err = saveNumerics(s, dir, res)
			}
			if err != nil {
				return err
			}
			for _, d := range res.Designs {
				if d.Pass {
					return nil
				}
			}
			return exitQuietly(exitRed)
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

// saveNumerics keeps the result in a run folder of its own.
func saveNumerics(s streams, dir string, res engine.Result) error {
	root, _, err := resolve(context.Background(), dir)
	if err != nil {
		return err
	}
	folder := filepath.Join(root, ".humanize", "kdapilot", "runs", time.Now().UTC().Format("20060102-150405")+"-numerics")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("keep the result: %w", err)
	}
	o, err := numerics.Save(folder, res)
	if errors.Is(err, numerics.ErrStored) {
		return exitWith(exitConfig, "%w", err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.err, "kept: %s  sha256 %s\n", o.Path, o.SHA256)
	return err
}
