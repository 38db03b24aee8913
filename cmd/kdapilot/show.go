package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/engine/bench"
	"kdapilot/engine/session"
	"kdapilot/engine/stall"
	"kdapilot/probes/att"
	"kdapilot/probes/flyprof"
	"kdapilot/probes/harness"
)

// newShow builds `kdapilot show VIEW [PATH]`: the same snapshot that the screen
// draws, as text or JSON.
func newShow(s streams) *cobra.Command {
	show := &cobra.Command{
		Use:   "show",
		Short: "Print one view: loops, stalls, rows, plan, gates, journal, runs, bench, overview, rounds",
		Long:  "show prints what a screen of the cockpit shows, for scripts and for a look without a terminal.",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exitWith(exitUsage, "show: which view? one of %s", strings.Join(viewNames(cmd), ", "))
		},
	}
	show.AddCommand(newShowStalls(s), newShowRows(s), newShowJournal(s))
	for _, v := range snapshotViews() {
		show.AddCommand(newShowView(s, v))
	}
	return show
}

func viewNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

func newShowStalls(s streams) *cobra.Command {
	var asJSON bool
	var base, tag, worktree string
	var floor float64
	cmd := &cobra.Command{
		Use:   "stalls PATH",
		Short: "Stall classes, hotspots, trust and freshness of a bundle or decoded trace",
		Args:  usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts := flyprof.Options{Tag: tag, Waits: true, Worktree: worktree, Now: time.Now()}
			v, err := flyprof.LoadView(cmd.Context(), dirArg(args), base, floor, opts)
			if err != nil {
				return stallError(err)
			}
			if asJSON {
				return stall.WriteJSON(s.out, v)
			}
			return printStalls(s.out, &v)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&base, "base", "", "compare with this earlier bundle or trace")
	cmd.Flags().StringVar(&tag, "tag", "", "capture tag: big or small")
	cmd.Flags().StringVar(&worktree, "worktree", "", "compare the trace's source copies with this checkout")
	cmd.Flags().Float64Var(&floor, "floor", stall.DefaultFloor, "noise floor in percentage points")
	return cmd
}

// stallError keeps flyprof's exit status; the text of the error names its code.
func stallError(err error) error {
	var a *att.Error
	if errors.As(err, &a) {
		return &exitError{code: a.Exit, err: err}
	}
	return err
}

func newShowRows(s streams) *cobra.Command {
	var asJSON bool
	var fam, command string
	var exit int
	cmd := &cobra.Command{
		Use:   "rows FILE...",
		Short: "Rows of harness output: logs, CSV, JSON lines, junit",
		Long: `rows reads the files of one run together: a name with "stderr" in it is standard
error, "merged" both streams, any other log standard output.`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var code *int
			if cmd.Flags().Changed("exit") {
				code = &exit
			}
			res, err := harness.Parse(args, harness.Options{Family: harness.Family(fam), Command: command}, code)
			if err != nil {
				return err
			}
			v := bench.Truth(&res, 0)
			res.Truth = &v
			if asJSON {
				return stall.WriteJSON(s.out, res)
			}
			if err := printRows(s.out, &res); err != nil {
				return err
			}
			if len(res.AllRows()) == 0 && len(res.Tests) == 0 {
				return exitWith(exitNothing, "no rows: %s", noRows(&res))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&fam, "family", "", "harness family, when detection is wrong")
	cmd.Flags().StringVar(&command, "command", "", "the command line of the run, where it is known")
	cmd.Flags().IntVar(&exit, "exit", 0, "the run's exit status, where it is known")
	return cmd
}

func noRows(r *bench.Result) string {
	if r.Family == string(harness.Unknown) {
		return "no known harness wrote this (name it with --family)"
	}
	return "the output of " + harness.Describe(*r) + ", but no cell was executed"
}

func newShowJournal(s streams) *cobra.Command {
	var verify, asJSON bool
	cmd := &cobra.Command{
		Use:   "journal [DIR]",
		Short: "The hash-chained record of gates and runs",
		Args:  usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			return showJournal(s, dirArg(args), verify, asJSON)
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "check the chain; exit 1 when it does not hold")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// snapshotView is a view that is printed from a session's snapshot.
type snapshotView struct {
	name, short string
	json        func(*session.Snapshot) any
	text        func(io.Writer, *session.Snapshot) error
	// empty says why there is nothing to show; "" when there is.
	empty func(*session.Snapshot) string
}

func newShowView(s streams, v snapshotView) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: v.name + " [DIR]", Short: v.short, Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			snap, err := readOnce(cmd.Context(), dirArg(args))
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(s.out, v.json(snap))
			} else {
				err = v.text(s.out, snap)
			}
			if err != nil {
				return err
			}
			if v.empty != nil {
				if why := v.empty(snap); why != "" {
					return exitWith(exitNothing, "%s", why)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// readOnce reads a folder once, as the cockpit would show it now.
func readOnce(ctx context.Context, dir string) (*session.Snapshot, error) {
	root, mode, err := resolve(ctx, dir)
	if err != nil {
		return nil, err
	}
	return readNow(ctx, live.Options{Root: root, Mode: mode})
}

// readNow reads everything once, in the mode that was asked for.
func readNow(ctx context.Context, opt live.Options) (*session.Snapshot, error) {
	opt.Once = true
	ses, err := live.Open(ctx, opt)
	if err != nil {
		return nil, err
	}
	defer ses.Close()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := ses.Ready(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", opt.Root, err)
	}
	return ses.Snapshot(), nil
}

// resolve finds the worktree or copied folder that dir stands for: the nearest
// folder above it that holds .humanize or .git, else dir itself. Without .git it
// is a copied folder.
func resolve(_ context.Context, dir string) (string, session.Mode, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", "", fmt.Errorf("open %s: %w", dir, err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	st, err := os.Stat(abs)
	if err != nil {
		return "", "", exitWith(exitNothing, "open %s: %w", dir, err)
	}
	if !st.IsDir() {
		return "", "", exitWith(exitUsage, "open %s: expected a folder", dir)
	}
	for at := abs; ; at = filepath.Dir(at) {
		if has(at, ".git") {
			return at, session.Live, nil
		}
		if has(at, ".humanize") || has(at, ".humanize-loop.local") {
			return at, session.Offline, nil
		}
		if at == filepath.Dir(at) {
			return abs, session.Offline, nil
		}
	}
}

func has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
