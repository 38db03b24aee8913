package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/ready"
	"kdapilot/probes/bootstrap"
)

// bootstrapFlags are the arguments of `kdapilot bootstrap`.
type bootstrapFlags struct {
	from              []string
	flyprof, skills   string
	dryRun, reinstall bool
	asJSON            bool
}

// newBootstrap builds `kdapilot bootstrap`.
func newBootstrap(s streams) *cobra.Command {
	var f bootstrapFlags
	cmd := &cobra.Command{
		Use:   "bootstrap",
		Short: "Link the skills and install flyprof from local checkouts",
		Long: `bootstrap links the skills of the workflow into Claude Code's skills folder
($CLAUDE_SKILLS_DIR, else ~/.claude/skills) and installs flyprof with pip, all from
local checkouts. It shows the plan, does it, and verifies. A real file or folder is
never replaced. Humanize is installed inside Claude Code, not here.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBootstrap(cmd.Context(), s, f)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.from, "from", nil, "checkout with skills; may be repeated (default <workspace>/rocm-KDA-pilot)")
	fl.StringVar(&f.flyprof, "flyprof", "", "checkout of flyprof (default external/flydsl-rocprof-cli of a --from)")
	fl.StringVar(&f.skills, "skills", "", "folder of the links")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan and do nothing")
	fl.BoolVar(&f.reinstall, "reinstall", false, "install flyprof again though it is on PATH")
	fl.BoolVar(&f.asJSON, "json", false, "print the plan as JSON")
	return cmd
}

func runBootstrap(ctx context.Context, s streams, f bootstrapFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	steps := bootstrap.Plan(o)
	p := printer{w: s.out}
	if f.asJSON {
		p.err = writeJSON(s.out, map[string]any{"dry_run": f.dryRun, "steps": steps})
	} else {
		for _, st := range steps {
			p.line("%-15s %s  %s", st.Status, st.What, st.Why)
		}
	}
	if p.err != nil || f.dryRun {
		return p.err
	}
	err = bootstrap.Do(ctx, steps, func(st bootstrap.Step, err error) {
		if err == nil {
			fmt.Fprintln(s.err, "done:", st.What)
		}
	})
	left := bootstrap.Verify(ctx, o)
	for _, l := range left {
		fmt.Fprintln(s.err, "not right:", l)
	}
	switch {
	case err != nil:
		return exitWith(exitNoTool, "bootstrap: %w", err)
	case len(left) > 0:
		return exitQuietly(exitNoTool)
	}
	fmt.Fprintln(s.err, "verified: all skills and flyprof are there")
	return nil
}

func (f bootstrapFlags) options() (bootstrap.Options, error) {
	c, err := loadConfig()
	if err != nil {
		return bootstrap.Options{}, err
	}
	o := ready.Bootstrap(nil, c.Workspace)
	o.Flyprof, o.Reinstall = f.flyprof, f.reinstall
	if f.skills != "" {
		o.Skills = f.skills
	}
	if len(f.from) > 0 {
		o.From = nil
	}
	for _, dir := range f.from {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return o, err
		}
		o.From = append(o.From, abs)
	}
	return o, nil
}
