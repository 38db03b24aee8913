package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// streams are the standard streams a command may use.
type streams struct {
	in, out, err *os.File
}

// newRoot builds the whole command tree. Without a subcommand it is the
// cockpit.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "kdapilot [DIR]",
		Short: "Terminal cockpit for tuning FlyDSL kernels with an agent loop",
		Long: `kdapilot shows where the agent loop of a worktree stands and who has the ball,
whether the numbers are true, which stall the kernel waits in, and holds the two
human gates: plan review and loop start. It never edits kernels and never
advances a gate by itself.

Without a subcommand it opens the cockpit on DIR (default: this folder).`,
		Args:          usageArgs(cobra.MaximumNArgs(1)),
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCockpit(cmd.Context(), s, dirArg(args))
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exitError{exitUsage, err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newShow(s), newReview(s), newDemo(s), newRun(s), newCompare(s),
		newAB(s), newFloor(s), newControl(s), newVerify(s),
		newNumerics(s), newNew(s), newTask(s), newFamily(s), newPreflight(s), newBootstrap(s), newSupervise(), newSim(s), newResetTerminal(s),
	)
	return root
}

// usageArgs turns an argument check's error into exit code 64.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return exitWith(exitUsage, "%w; see `%s --help`", err, cmd.CommandPath())
		}
		return nil
	}
}

func dirArg(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

// version is the module version, or the commit a development build was made of.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			rev = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	if len(rev) >= 12 {
		return "devel " + rev[:12] + dirty
	}
	return "devel"
}
