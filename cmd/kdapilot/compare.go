package main

import (
	"github.com/spf13/cobra"

	"kdapilot/engine/bench"
	"kdapilot/probes/harness"
)

// newCompare compares two sets of rows and fails closed.
func newCompare(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare BASE CAND",
		Short: "Compare benchmark rows: logs, CSV, JSON lines or run folders",
		Args:  usageArgs(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			base, err := harness.LoadArm(args[0], []string{args[0]}, harness.Options{})
			if err != nil {
				return err
			}
			cand, err := harness.LoadArm(args[1], []string{args[1]}, harness.Options{})
			if err != nil {
				return err
			}
			c := bench.Compare(base, cand, bench.Options{})
			if asJSON {
				err = writeJSON(s.out, c)
			} else {
				p := printer{w: s.out}
				printComparison(&p, &c)
				err = p.err
			}
			if err != nil {
				return err
			}
			return exitQuietly(c.Verdict.ExitCode())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
