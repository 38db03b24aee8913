package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/cmd/kdapilot/ready"
	"kdapilot/engine/session"
	"kdapilot/probes/demo"
	"kdapilot/probes/host"
)

// newDemo opens the cockpit on a made-up world whose tools this binary plays.
func newDemo(s streams) *cobra.Command {
	var keep, makeOnly bool
	var dir string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Open the cockpit on a SIMULATED task: every key works, no GPU, no agent, no network",
		Long: `demo builds a scratch checkout in a temporary folder, with a locked base branch,
a plan, a finished loop and two profiles, and opens the cockpit on it. The
harness, flyprof and the agent loop are played by this program and say
SIMULATED. The folder is removed at the end unless --keep or --dir is given.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), s, dir, keep, makeOnly)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the folder")
	cmd.Flags().StringVar(&dir, "dir", "", "make or reopen the world in this folder, and keep it")
	cmd.Flags().BoolVar(&makeOnly, "make-only", false, "only make the world and print the worktree's path")
	return cmd
}

func runDemo(ctx context.Context, s streams, dir string, keep, makeOnly bool) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	world, err := demoWorld(ctx, dir, self)
	if err != nil {
		return err
	}
	keep = keep || dir != "" || makeOnly
	if err := demoPreflight(ctx, world.Worktree); err != nil {
		return err
	}
	if makeOnly {
		_, err := fmt.Fprintln(s.out, world.Worktree)
		return err
	}
	for _, kv := range world.Environ() {
		if err := setenv(kv); err != nil {
			return err
		}
	}
	err = openCockpit(ctx, s, live.Options{
		Root: world.Worktree, Mode: session.Live, Simulated: true,
		Deliver: func(text string) error { return demo.Deliver(world, text) },
	})
	if keep {
		fmt.Fprintf(s.err, "kept: %s (reopen with `kdapilot demo --dir %s`)\n", world.Worktree, world.Dir)
		return err
	}
	if rmErr := demo.Remove(world); rmErr != nil && err == nil {
		err = rmErr
	}
	return err
}

// demoPreflight makes the checks on the stand-ins of a world once, as `kdapilot
// new` does on a host.
func demoPreflight(ctx context.Context, root string) error {
	o, err := ready.Options(root)
	if err != nil {
		return fmt.Errorf("demo: preflight: %w", err)
	}
	if o.Before != nil {
		return nil // the world was opened before
	}
	o.AskCodex = true // a stand-in answers
	_, err = host.Save(root, host.Run(ctx, o, nil))
	return err
}

// demoWorld makes a world, or opens the one that dir holds.
func demoWorld(ctx context.Context, dir, self string) (demo.Layout, error) {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "kdapilot-demo-")
		if err != nil {
			return demo.Layout{}, fmt.Errorf("demo: %w", err)
		}
		return demo.Make(ctx, tmp, self)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return demo.Layout{}, fmt.Errorf("demo: %w", err)
	}
	if entries, err := os.ReadDir(abs); err == nil && len(entries) > 0 {
		return demo.Open(ctx, abs, self)
	}
	return demo.Make(ctx, abs, self)
}

// setenv takes KEY=value into this process, for the probes and what they start.
func setenv(kv string) error {
	for i := range kv {
		if kv[i] == '=' {
			return os.Setenv(kv[:i], kv[i+1:])
		}
	}
	return fmt.Errorf("demo: %q: expected KEY=value", kv)
}
