package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"kdapilot/probes/demo"
	"kdapilot/probes/gpu"
	"kdapilot/probes/run"
)

// newSupervise is the process that owns one run; the cockpit starts it in a
// session of its own.
func newSupervise() *cobra.Command {
	return &cobra.Command{
		Use: run.SuperviseCommand + " DIR", Hidden: true, Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			// Other users of the GPU are looked for while the run lasts, here,
			// since the cockpit may be gone.
			return run.SuperviseGuarded(args[0], run.Guard{Look: gpu.Look, Sample: gpu.Samples})
		},
	}
}

// newSim plays one simulated tool of the demo world.
func newSim(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "__sim TOOL [ARG...]", Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exitQuietly(demo.Sim(cmd.Context(), args, s.out, s.err))
		},
	}
}

// newResetTerminal puts a terminal back in order that a killed cockpit left
// behind.
func newResetTerminal(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "reset-terminal", Short: "Restore a terminal that a killed cockpit left in disorder", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			// Leave the alternate screen, show the cursor, switch off mouse,
			// bracketed paste, focus reports and keyboard enhancements.
			const seq = "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[>4;0m\x1b[<u\x1b[0m\r"
			if _, err := fmt.Fprint(s.out, seq); err != nil {
				return fmt.Errorf("reset: %w", err)
			}
			return saneTerminal(s.in)
		},
	}
}
