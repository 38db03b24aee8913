package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/families"
	"kdapilot/engine/bench"
	"kdapilot/engine/family"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/probes/floors"
	"kdapilot/probes/harness"
	"kdapilot/probes/run"
)

// newCompare compares two sets of rows and fails closed.
func newCompare(s streams) *cobra.Command {
	var asJSON, cells bool
	var fam string
	cmd := &cobra.Command{
		Use:   "compare BASE CAND",
		Short: "Compare benchmark rows: logs, CSV, JSON lines or run folders",
		Long: `BASE and CAND are logs, CSV, JSON lines, run folders or folders of run folders;
several repeats of an arm are separated by commas. Missing, failed and new rows fail
closed. Run folders bring their manifests: arms that ran on another device, host or
judge are not compared, and a floor measured on their host and GPU is used.

Exit status: 0 no regression, 1 regression or failed cells, 2 undecided, 3 rows
missing or not comparable, 66 nothing there.`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			base, err := loadSide(args[0])
			if err != nil {
				return err
			}
			cand, err := loadSide(args[1])
			if err != nil {
				return err
			}
			opt, err := compareOptions(fam, base.runs, cand.runs)
			if err != nil {
				return err
			}
			c := bench.Compare(base.arm, cand.arm, opt)
			if asJSON {
				err = writeJSON(s.out, c)
			} else {
				p := printer{w: s.out}
				printComparison(&p, &c)
				if cells {
					printCells(&p, &c)
				}
				err = p.err
			}
			if err != nil {
				return err
			}
			return exitQuietly(c.Verdict.ExitCode())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&cells, "cells", false, "list the cells too")
	cmd.Flags().StringVar(&fam, "family", "", "use the bar and the regimes of this kernel family (default: the runs' own)")
	return cmd
}

// side is one arm with the runs it came from, as far as they are runs.
type side struct {
	arm  bench.Arm
	runs []runs.Run
}

func loadSide(arg string) (side, error) {
	var out side
	paths := strings.Split(arg, ",")
	arm, err := harness.LoadArm(arg, paths, harness.Options{})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return out, exitWith(exitNothing, "compare: %w", err)
	case err != nil:
		return out, exitWith(exitInternal, "compare: %w", err)
	}
	out.arm = arm
	reader := run.New(run.Local{})
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return out, err
		}
		if r, err := reader.Read(abs); err == nil {
			out.runs = append(out.runs, r)
		}
	}
	return out, nil
}

// compareOptions come from the family that is named, else from that of the runs,
// and from what the manifests say of both sides.
func compareOptions(name string, base, cand []runs.Run) (bench.Options, error) {
	named := name != ""
	if name == "" && len(cand) > 0 {
		name = cand[0].Manifest.Family
	}
	var f *family.Family
	if name != "" {
		got, err := families.Load(name)
		if err != nil && named {
			return bench.Options{}, exitWith(familyExit(err), "--family %s: %w", name, err)
		}
		if err == nil {
			f = &got
		}
	}
	var measured map[string]float64
	if len(cand) > 0 {
		measured = floors.Cells(cand[0].Manifest)
	}
	o := session.BenchOptions(f, measured)
	if len(base) > 0 && len(cand) > 0 {
		empty := &bench.Result{}
		o.Differs = session.Unlike(&session.RowSet{Run: &base[0], Result: empty}, &session.RowSet{Run: &cand[0], Result: empty})
	}
	return o, nil
}
