package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/measure"
	"kdapilot/engine/bench"
	"kdapilot/probes/harness"
	"kdapilot/probes/store"
)

// cleanFlags are the arguments of control and verify.
type cleanFlags struct {
	preset string
	gpu    int
	asJSON bool
}

func (f *cleanFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.preset, "preset", "sweep", "preset of the task's family")
	cmd.Flags().IntVar(&f.gpu, "gpu", 0, "GPU index")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// newControl runs the suite on the clean base.
func newControl(s streams) *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "control [DIR]",
		Short: "Run the suite on a clean checkout of the locked base",
		Long: `control checks the locked base out beside the worktree, runs the preset there and
takes the checkout away. What fails there failed before the task began.`,
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
			_, _, err = runClean(cmd, s, f, measure.Clean{Worktree: root, Commit: t.BaseCommit, Arm: "control"})
			return err
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
the run is worth. CLAIM is a log, CSV, JSON lines or run folder with the rows that
were claimed; a claim that the new run does not bear out is red.`,
		Args: usageArgs(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := liveRoot(cmd.Context(), dirArg(args))
			if err != nil {
				return err
			}
			var claim *bench.Arm
			if len(args) == 2 {
				a, err := harness.LoadArm("claimed: "+filepath.Base(args[1]), []string{args[1]}, harness.Options{})
				if err != nil {
					return exitWith(exitNothing, "claim: %w", err)
				}
				claim = &a
			}
			res, verdict, err := runClean(cmd, s, f, measure.Clean{Worktree: root, Arm: "verify"})
			if claim == nil || res == nil {
				return err
			}
			return compareClaim(s, f, claim, res, verdict)
		},
	}
	f.add(cmd)
	return cmd
}

// runClean runs in a clean checkout and prints the verdict; the error carries
// the exit status.
func runClean(cmd *cobra.Command, s streams, f cleanFlags, c measure.Clean) (*bench.Result, error, error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program: %w", err)
	}
	d := &measure.Driver{Self: self, Say: func(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) }}
	defer d.Close()
	if c.Commit == "" {
		if c.Commit, err = d.Head(ctx, c.Worktree); err != nil {
			return nil, nil, exitWith(exitConfig, "%w", err)
		}
	}
	c.Preset, c.GPU = f.preset, f.gpu
	r, res, err := d.RunClean(ctx, c)
	if err != nil {
		return nil, nil, exitWith(exitConfig, "%s: %w", c.Arm, err)
	}
	if f.asJSON {
		if err := writeJSON(s.out, map[string]any{"run": r, "result": res}); err != nil {
			return res, nil, err
		}
	}
	verdict := verdictOf(s.err, &r, res)
	return res, verdict, verdict
}

// compareClaim puts the claimed rows beside those of the new run. Claimed is the
// base: a cell slower than claimed, or missing, or failing, is a claim that does
// not hold.
func compareClaim(s streams, f cleanFlags, claim *bench.Arm, res *bench.Result, verdict error) error {
	c := bench.Compare(*claim, bench.Arm{Label: "run again", Runs: [][]bench.Row{res.AllRows()}}, bench.Options{})
	p := printer{w: s.out}
	if !f.asJSON {
		printComparison(&p, &c)
		var holes []string
		for _, r := range c.Regimes {
			for _, h := range r.Holes {
				holes = append(holes, h.Key+": "+h.Why)
			}
		}
		if len(holes) > 0 {
			p.line("not borne out:\n  %s", strings.Join(holes, "\n  "))
		}
	}
	switch {
	case p.err != nil:
		return p.err
	case verdict != nil:
		return verdict
	}
	return exitQuietly(c.Verdict.ExitCode())
}
