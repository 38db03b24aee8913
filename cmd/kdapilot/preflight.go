package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/ready"
	"kdapilot/engine/preflight"
	"kdapilot/engine/session"
	"kdapilot/probes/host"
)

// newPreflight builds `kdapilot preflight [DIR]`.
func newPreflight(s streams) *cobra.Command {
	var asJSON, probe, noSave bool
	var fix string
	cmd := &cobra.Command{
		Use:   "preflight [DIR]",
		Short: "Check everything a loop needs before it may start, with what to do",
		Long: `preflight looks at the host and at the worktree: model, bindings, run environment,
build tree, merge gate, GPU, skills, tools, Humanize, git and the locked base. The
result is stored with the environment it was seen in; gate 2 binds it.

The model is asked only with --probe-codex (one short request, at most 90 s); its
answer counts for 24 h and for that exact model string. --fix NAME does one
repair first: runenv, exclude, base-branch, codex or skills.

Exit status: 0 nothing holds the gate, 1 a row is red, 2 something was not
looked at or could not be told.`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, mode, err := resolve(cmd.Context(), dirArg(args))
			if err != nil {
				return err
			}
			if mode != session.Live {
				return exitWith(exitNothing, "preflight: %s is no git worktree", root)
			}
			o, err := preflightOptions(root)
			if err != nil {
				return err
			}
			o.AskCodex = probe || fix == preflight.FixCodex
			if fix != "" {
				if err := doFix(cmd.Context(), s, fix, o); err != nil {
					return err
				}
			}
			return runPreflight(cmd.Context(), s, o, asJSON, !noSave)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	f.BoolVar(&probe, "probe-codex", false, "ask the model once")
	f.BoolVar(&noSave, "no-save", false, "do not store the result")
	f.StringVar(&fix, "fix", "", "repair one thing first: runenv, exclude, base-branch, codex, skills")
	return cmd
}

// preflightOptions joins the probes for one worktree.
func preflightOptions(root string) (host.Options, error) {
	o, err := ready.Options(root)
	if err != nil {
		return o, exitWith(exitConfig, "%w", err)
	}
	return o, nil
}

type preflightJSON struct {
	preflight.Result
	// Hash is of the stored file, "" when it was not stored.
	Hash string `json:"hash"`
}

func runPreflight(ctx context.Context, s streams, o host.Options, asJSON, save bool) error {
	var emit func(preflight.Row)
	p := &printer{w: s.out}
	if !asJSON {
		emit = func(r preflight.Row) { printPreflightRow(p, r) }
	}
	r := host.Run(ctx, o, emit)
	if err := ctx.Err(); err != nil {
		return err
	}
	out := preflightJSON{Result: r}
	if save {
		hash, err := host.Save(o.Root, r)
		if err != nil {
			return err
		}
		out.Hash = hash
	}
	if asJSON {
		p.err = writeJSON(s.out, out)
	} else {
		p.line("%s", preflightSummary(&r))
	}
	if p.err != nil {
		return p.err
	}
	return preflightExit(&r)
}

func printPreflightRow(p *printer, r preflight.Row) {
	p.line("%-10s %-9s %s  (%d ms)", r.State, r.ID, r.Title, r.TookMS)
	for _, l := range r.Seen {
		p.line("%21s%s", "", l)
	}
	if r.Do != "" {
		do := r.Do
		if r.Fix != "" && !strings.Contains(do, "--fix") {
			do += "  (or --fix " + r.Fix + ")"
		}
		p.line("%21sdo: %s", "", do)
	}
}

func preflightSummary(r *preflight.Result) string {
	holding := r.Holding()
	if len(holding) == 0 {
		return fmt.Sprintf("preflight: %s, %d checks in %d ms", r.State, len(r.Rows), r.TookMS)
	}
	var ids []string
	for _, x := range holding {
		ids = append(ids, string(x.ID))
	}
	return fmt.Sprintf("preflight: %s, %d of %d checks hold the gate (%s), %d ms", r.State, len(holding), len(r.Rows), strings.Join(ids, " "), r.TookMS)
}

// preflightExit tells red from merely not known.
func preflightExit(r *preflight.Result) error {
	code := exitOK
	for _, x := range r.Holding() {
		if x.State == preflight.Red {
			return exitQuietly(exitRed)
		}
		code = exitUndecided
	}
	return exitQuietly(code)
}

// doFix does one repair by name and says what it did.
func doFix(ctx context.Context, s streams, name string, o host.Options) error {
	cfg, err := loadConfig()
	if err != nil {
		return err
	}
	said, err := ready.Repair(ctx, name, o, cfg.Workspace)
	for _, l := range said {
		fmt.Fprintln(s.err, l)
	}
	if errors.Is(err, ready.ErrNoRepair) {
		return exitWith(exitUsage, "--fix %s: %w", name, ready.ErrNoRepair)
	}
	if err != nil {
		return exitWith(exitConfig, "--fix %s: %w", name, err)
	}
	return nil
}
