package main

import (
	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/engine/session"
)

// newReview opens a copied folder: same screens, no git, no processes, nothing
// written.
func newReview(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "review PATH",
		Short: "Open a copied folder read-only, without git, GPU or network",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := reviewRoot(args[0])
			if err != nil {
				return err
			}
			return openCockpit(cmd.Context(), s, live.Options{Root: root, Mode: session.Offline})
		},
	}
}
