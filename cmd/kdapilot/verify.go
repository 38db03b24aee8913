package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/measure"
	"kdapilot/engine/bench"
	"kdapilot/engine/interleave"
)

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
