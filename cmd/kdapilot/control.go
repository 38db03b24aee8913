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
	"kdapilot/engine/bench"
	"kdapilot/engine/interleave"
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

// newVerify runs what an agent claims again, in a clean checkout.
func newVerify(s streams) *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "verify [DIR] [CLAIM]",
		Short: "Run the candidate again in a clean checkout, and compare with claimed rows",
		Long: `verify checks HEAD out beside the worktree, runs the preset there and says what
the run is worth. CLAIM is what compare takes as a side: logs, CSV, JSON lines or
run folders, separated by commas. A cell that is slower than claimed, missing or
failed is a claim that does not hold; a time that was run once, there or here,
decides nothing: --n 5 does. Capsules can not be verified yet.

Exit status: that of the three-way truth (0 pass, 1 red, 2 not proven, 3
incomplete); with CLAIM: 1 not borne out, 2 undecided, 3 cells missing or not
comparable; 69 the command could not be started, 75 it took too long.`,
		Args: usageArgs(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := dirArg(args)
			if st, err := os.Stat(dir); err == nil && !st.IsDir() {
				return exitWith(exitUsage, "verify: %s is a file: capsules are not available yet, expected a worktree", dir)
			}
			if f.repeats < 1 || f.repeats > interleave.MaxRepeats {
				return exitWith(exitUsage, "verify: --n %d: expected 1 to %d", f.repeats, interleave.MaxRepeats)
			}
			root, err := liveRoot(cmd.Context(), dir)
			if err != nil {
				return fmt.Errorf("verify (capsules are not available yet): %w", err)
			}
			var claim *side
			if len(args) == 2 {
				got, err := loadSide(args[1])
				if err != nil {
					return fmt.Errorf("claim: %w", err)
				}
				claim = &got
			}
			kept, verdict, err := runClean(cmd, s, f, measure.Clean{Worktree: root, Arm: "verify", Repeats: f.repeats})
			if err != nil {
				return err
			}
			return reportVerify(s, f, claim, kept, verdict)
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&f.repeats, "n", 1, "how often to run")
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

// reportVerify prints the runs, and puts the claimed rows beside them. Claimed is
// the base: a cell slower than claimed, or missing, or failing, is a claim that
// does not hold. No bar: a claim is not a promotion.
func reportVerify(s streams, f cleanFlags, claim *side, kept []measure.Kept, verdict error) error {
	out := map[string]any{"runs": kept}
	if claim == nil {
		if f.asJSON {
			if err := writeJSON(s.out, out); err != nil {
				return err
			}
		}
		return verdict
	}
	again := side{arm: bench.Arm{Label: "run again"}}
	for i := range kept {
		if kept[i].Result != nil {
			again.add(&kept[i].Run, kept[i].Result)
			again.arm.Runs = append(again.arm.Runs, kept[i].Result.AllRows())
		}
	}
	opt, err := compareOptions("", claim, &again)
	if err != nil {
		return err
	}
	opt.Bar = 0
	c := bench.Compare(claim.arm, again.arm, opt)
	p := printer{w: s.out}
	if out["comparison"] = c; f.asJSON {
		p.err = writeJSON(s.out, out)
	} else {
		printComparison(&p, &c)
		printCells(&p, &c)
	}
	switch {
	case p.err != nil:
		return p.err
	case verdict != nil:
		return verdict
	}
	return exitQuietly(c.Verdict.ExitCode())
}
