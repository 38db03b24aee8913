package main

import (
	"errors"
	"fmt"
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
closed. Run folders bring their manifests: arms that ran on another device or host,
by another judge, with other warmup or iterations, or whose code changed between the
runs are not compared; runs beside others on the GPU are left out; a run that crashed,
was cancelled or contradicts itself decides nothing; a floor measured for their
preset on their host and GPU is used.

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
			opt, err := compareOptions(fam, &base, &cand)
			if err != nil {
				return err
			}
			c := bench.Compare(base.arm, cand.arm, opt)
			for _, l := range append(base.left, cand.left...) {
				c.Notes = append(c.Notes, "left out: "+l)
			}
			if w := session.ClockWords(base.sets, cand.sets); w != "" {
				c.Notes = append(c.Notes, w)
			}
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

// side is one arm with the runs it came from.
type side struct {
	arm  bench.Arm
	sets []*session.RowSet
	// left are runs that do not count, each with the reason.
	left []string
}

func (s *side) add(r *runs.Run, res *bench.Result) {
	set := &session.RowSet{ID: s.arm.Label, Result: res, Run: r}
	if r != nil {
		set.ID = string(r.ID)
	}
	s.sets = append(s.sets, set)
}

// manifest is that of the first run that has one, nil when none has.
func (s *side) manifest() *runs.Manifest {
	for _, set := range s.sets {
		if set.Run != nil {
			return &set.Run.Manifest
		}
	}
	return nil
}

// loadSide reads an arm. Run folders, alone or in a folder of them, bring what
// their manifests and results say; those during which others used the GPU are
// left out.
func loadSide(arg string) (side, error) {
	paths := strings.Split(arg, ",")
	arm, sources, err := harness.LoadRuns(arg, paths, harness.Options{})
	if err != nil {
		return side{}, loadError(err)
	}
	out := side{arm: arm}
	reader := run.New(run.Local{})
	var clean []string
	for i := range sources {
		src := &sources[i]
		r := runOf(reader, src)
		if r != nil && r.Result != nil && len(r.Result.Foreign) > 0 {
			f := r.Result.Foreign[0]
			out.left = append(out.left, fmt.Sprintf("run %s: contaminated: process %d %s used GPU %d %s the run", r.ID, f.PID, f.Command, f.GPU, f.When))
			continue
		}
		out.add(r, src.Result)
		if r == nil {
			out.sets[len(out.sets)-1].ID = src.Path
		}
		clean = append(clean, src.Path)
	}
	if len(out.left) == 0 {
		return out, nil
	}
	out.arm = bench.Arm{Label: arg}
	if len(clean) > 0 {
		if out.arm, err = harness.LoadArm(arg, clean, harness.Options{}); err != nil {
			return out, loadError(err)
		}
	}
	return out, nil
}

func loadError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return exitWith(exitNothing, "compare: %w", err)
	}
	return exitWith(exitInternal, "compare: %w", err)
}

// runOf is the run that a source belongs to: its folder, or the folder of the
// log; nil when it is no run's.
func runOf(reader *run.Runner, src *harness.Source) *runs.Run {
	dir, err := filepath.Abs(src.Path)
	if err != nil {
		return nil
	}
	if !src.Folder {
		if filepath.Base(dir) != run.StdoutFile {
			return nil
		}
		dir = filepath.Dir(dir)
	}
	r, err := reader.Read(dir)
	if err != nil {
		return nil
	}
	return &r
}

// compareOptions come from the family that is named, else from that of the runs,
// and from what the runs of both sides say.
func compareOptions(name string, base, cand *side) (bench.Options, error) {
	named := name != ""
	m := cand.manifest()
	if name == "" && m != nil {
		name = m.Family
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
	if m != nil {
		measured = floors.Cells(*m)
	}
	return session.ArmOptions(session.BenchOptions(f, measured), base.sets, cand.sets), nil
}
