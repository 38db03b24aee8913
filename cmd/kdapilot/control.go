package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/measure"
	"kdapilot/probes/store"
)

// cleanFlags are the arguments of control and verify.
type cleanFlags struct {
	preset  string
	gpu     int
	repeats int
	timeout time.Duration
	asJSON  bool
}

func (f *cleanFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.preset, "preset", "sweep", "preset of the task's family")
	cmd.Flags().IntVar(&f.gpu, "gpu", 0, "GPU index")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "cancel a run that takes longer (default: what the family says of the preset)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// newControl runs the suite on the clean base.
func newControl(s streams) *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "control [DIR]",
		Short: "Run the suite on a clean checkout of the locked base",
		Long: `control checks the locked base out beside the worktree, runs the preset there and
takes the checkout away. What fails there failed before the task began.

Exit status: that of the three-way truth: 0 pass, 1 red, 2 not proven, 3 incomplete;
69 the command could not be started, 75 it took too long.`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := liveRoot(cmd.Context(), dirArg(args))
			if err != nil {
				return err
			}
			t, err := store.New(root).Task()
			if err != nil {
				return exitWith(exitConfig, "%w", err)
			}
			if t.BaseCommit == "" {
				return exitWith(exitConfig, "control: %s names no base_commit", filepath.Join(root, ".humanize", "kdapilot", "task.toml"))
			}
			kept, verdict, err := runClean(cmd, s, f, measure.Clean{Worktree: root, Commit: t.BaseCommit, Arm: "control", Repeats: 1})
			if err == nil && f.asJSON {
				err = writeJSON(s.out, map[string]any{"runs": kept})
			}
			if err != nil {
				return err
			}
			return verdict
		},
	}
	f.add(cmd)
	return cmd
}

// runClean runs in a clean checkout and prints what each run is worth; verdict
// carries the exit status of the worst.
func runClean(cmd *cobra.Command, s streams, f cleanFlags, c measure.Clean) (kept []measure.Kept, verdict, err error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program: %w", err)
	}
	d := &measure.Driver{Self: self, Limit: f.timeout, Say: func(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) }}
	defer d.Close()
	if c.Commit == "" {
		at, err := d.Side(ctx, c.Worktree)
		if err != nil {
			return nil, nil, exitWith(exitConfig, "%w", err)
		}
		if c.Commit = at.Head; at.Dirty != "" {
			d.Say("%s: %s has uncommitted files: they are not part of what is run", c.Arm, c.Worktree)
		}
	}
	c.Preset, c.GPU = f.preset, f.gpu
	kept, err = d.RunClean(ctx, c)
	if err != nil {
		return kept, nil, exitWith(stopCode(err), "%s: %w", c.Arm, err)
	}
	for i := range kept {
		if v := verdictOf(s.err, &kept[i].Run, kept[i].Result); verdict == nil || v != nil && codeOf(v) < codeOf(verdict) {
			verdict = v // red goes before undecided, undecided before incomplete
		}
	}
	return kept, verdict, nil
}

// stopCode is the exit status for what ended a sequence or a clean run early.
func stopCode(err error) int {
	switch {
	case errors.Is(err, measure.ErrTimeout):
		return exitTimeout
	case errors.Is(err, measure.ErrNotStarted):
		return exitNoTool
	case errors.Is(err, measure.ErrStopped):
		return exitIncomplete
	}
	return exitConfig
}
