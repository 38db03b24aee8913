package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/measure"
	"kdapilot/engine/interleave"
	"kdapilot/engine/repo"
)

// newFloor measures a commit against itself.
func newFloor(s streams) *cobra.Command {
	var f abFlags
	cmd := &cobra.Command{
		Use:   "floor [DIR] [--preset P | -- COMMAND [ARG...]]",
		Short: "Run one commit against itself and keep the noise floor of this host and GPU",
		Long: `floor runs the preset in one worktree as two arms, as ab does, and keeps for each
cell the largest difference that nothing made. Later comparisons on this host and
GPU, of the same preset, want more than that before they call a cell faster or
slower.

Exit status: 0 kept, 3 stopped, not comparable or cells not measured; else as ab.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			dirs := args
			if dash >= 0 {
				dirs = args[:dash]
				args = args[dash:]
			} else {
				args = nil
			}
			if len(dirs) > 1 {
				return exitWith(exitUsage, "floor: one worktree, got %q", dirs)
			}
			f.base, f.cand = dirArg(dirs), dirArg(dirs)
			return runSequence(cmd, s, f, interleave.Floor, args)
		},
	}
	f.add(cmd)
	return cmd
}

func reportFloor(ctx context.Context, s streams, d *measure.Driver, q *interleave.Sequence, asJSON bool) error {
	f, path, o, err := d.Floor(ctx, q, time.Now())
	if err != nil {
		return exitWith(exitIncomplete, "floor %s: %w", q.ID, err)
	}
	if asJSON {
		err = writeJSON(s.out, map[string]any{"sequence": q, "left_out": o.Left, "floor": f, "path": path})
	} else {
		p := printer{w: s.out}
		p.line("floor of %s on GPU %s, %s at %s, %d runs a side", f.Family, f.GPU, f.Preset, repo.Short(f.Head), f.Floor.N)
		for _, cell := range o.Comparison.Cells {
			if v, ok := f.Floor.Cells[cell.Key]; ok {
				p.line("  %6.2f %%  %s", v*100, cell.Key)
			}
		}
		for _, h := range f.Floor.Unmeasured {
			p.line("  not measured: %s: %s", h.Key, h.Why)
		}
		for _, k := range f.Floor.False {
			p.line("  false alarm: %s differed from itself: this host is noisier than the statistics assume", k)
		}
		p.line("kept: %s", path)
		err = p.err
	}
	if err != nil {
		return err
	}
	if len(f.Floor.Unmeasured) > 0 {
		return exitQuietly(exitIncomplete)
	}
	return nil
}
