package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/measure"
	"kdapilot/engine/bench"
	"kdapilot/engine/interleave"
	"kdapilot/engine/session"
)

// abFlags are the arguments of ab and floor.
type abFlags struct {
	base, cand, preset, resume string
	repeats, gpu               int
	seed                       uint64
	timeout                    time.Duration
	asJSON                     bool
}

func (f *abFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.preset, "preset", "sweep", "preset of the task's family")
	fl.IntVar(&f.repeats, "n", 5, "repeats of each arm; three can not reach p < 0.05")
	fl.IntVar(&f.gpu, "gpu", 0, "GPU index")
	fl.Uint64Var(&f.seed, "seed", 1, "draws which arm begins a block, and seeds the intervals")
	fl.StringVar(&f.resume, "resume", "", "go on with the sequence of this id")
	fl.DurationVar(&f.timeout, "timeout", 0, "cancel a run that takes longer (default: what the family says of the preset)")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
}

// newAB measures two worktrees against each other, in turn on one GPU.
func newAB(s streams) *cobra.Command {
	var f abFlags
	cmd := &cobra.Command{
		Use:   "ab --base DIR --cand DIR [--preset P | -- COMMAND [ARG...]]",
		Short: "Run base and candidate in turn on one GPU (ABBA) and compare them",
		Long: `ab runs the same preset in two worktrees, in blocks of four (ABBA or BAAB, drawn
with the seed) on one GPU, each run recorded like any other. The state of the
sequence is on disk after every step: Ctrl-C cancels the run that is going, and
--resume ID does what is left. Runs beside other processes on the GPU do not count.
Neither worktree may change while the sequence lasts.

Exit status: 0 no regression, 1 regression, 2 undecided, 3 incomplete, stopped or
not comparable, 64 usage, 66 no such worktree or sequence, 69 the command or the GPU
is not there, 75 a run took too long, 78 the sequence can not go on.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSequence(cmd, s, f, interleave.AB, args)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.base, "base", "", "worktree of the base")
	cmd.Flags().StringVar(&f.cand, "cand", ".", "worktree of the candidate; the sequence is kept there")
	return cmd
}

// runSequence makes or resumes a sequence, does its steps and judges it.
func runSequence(cmd *cobra.Command, s streams, f abFlags, kind interleave.Kind, argv []string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	d := &measure.Driver{Self: self, Limit: f.timeout, Say: func(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) }}
	defer d.Close()
	q, err := sequence(ctx, d, f, kind, argv)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "%s %s: %d runs of each arm on GPU %d; resume with --resume %s\n", kind, q.ID, q.Repeats, q.GPU, q.ID)
	if n := q.Repeats; n < 4 {
		fmt.Fprintf(s.err, "n=%d: a rank test can not go below p %.2f; 5 a side can\n", n, bench.LeastP(n, n))
	}
	if err := d.Run(ctx, &q); err != nil {
		code := stopCode(err)
		if code == exitConfig {
			return exitWith(code, "%s: %w", kind, err)
		}
		return exitWith(code, "%s: %w; --resume %s goes on", kind, err, q.ID)
	}
	if kind == interleave.Floor {
		return reportFloor(ctx, s, d, &q, f.asJSON)
	}
	return reportAB(ctx, s, d, &q, f.asJSON)
}

// sequence is a new one, or the one that is resumed.
func sequence(ctx context.Context, d *measure.Driver, f abFlags, kind interleave.Kind, argv []string) (interleave.Sequence, error) {
	var none interleave.Sequence
	cand, err := liveRoot(ctx, f.cand)
	if err != nil {
		return none, err
	}
	if f.resume != "" {
		q, err := measure.Load(cand, f.resume)
		if err != nil {
			return none, exitWith(exitNothing, "%w", err)
		}
		if q.Kind != kind {
			return none, exitWith(exitUsage, "sequence %s is of kind %s", q.ID, q.Kind)
		}
		if q.ID != f.resume || q.Cand.Worktree != cand {
			return none, exitWith(exitConfig, "sequence %s in %s says it is %s of %s: was it copied?", f.resume, cand, q.ID, q.Cand.Worktree)
		}
		return q, nil
	}
	if f.base == "" {
		return none, exitWith(exitUsage, "%s: --base is missing: the worktree of the base", kind)
	}
	if f.repeats < 1 || f.repeats > interleave.MaxRepeats {
		return none, exitWith(exitUsage, "--n %d: expected 1 to %d", f.repeats, interleave.MaxRepeats)
	}
	base, err := liveRoot(ctx, f.base)
	if err != nil {
		return none, err
	}
	if kind == interleave.AB && base == cand {
		return none, exitWith(exitUsage, "ab: base and candidate are one worktree, %s: floor measures that", base)
	}
	sides := [2]interleave.Side{{Worktree: base}, {Worktree: cand}}
	for i := range sides {
		if sides[i], err = d.Side(ctx, sides[i].Worktree); err != nil {
			return none, exitWith(exitConfig, "%w", err)
		}
	}
	now := time.Now()
	if err := d.HasGPU(ctx, cand, f.gpu); err != nil && len(argv) == 0 {
		return none, exitWith(exitNoTool, "%s: %w", kind, err)
	}
	id := fmt.Sprintf("%s-%s-%04x", now.UTC().Format("20060102-150405"), kind, os.Getpid()&0xffff)
	q := interleave.New(id, kind, sides[0], sides[1], f.repeats, f.seed, now)
	q.GPU = f.gpu
	if q.Argv = argv; len(argv) == 0 {
		q.Preset = f.preset
	}
	return q, nil
}

// liveRoot is a worktree that can be run in.
func liveRoot(ctx context.Context, dir string) (string, error) {
	root, mode, err := resolve(ctx, dir)
	if err != nil {
		return "", err
	}
	if mode != session.Live {
		return "", exitWith(exitNothing, "%s is no git worktree", root)
	}
	return root, nil
}

func reportAB(ctx context.Context, s streams, d *measure.Driver, q *interleave.Sequence, asJSON bool) error {
	o, err := d.Judge(ctx, q)
	if err != nil {
		return exitWith(exitIncomplete, "ab %s: %w", q.ID, err)
	}
	c := &o.Comparison
	if asJSON {
		err = writeJSON(s.out, map[string]any{"sequence": q, "left_out": o.Left, "floors": o.Floors, "clock": o.Clock, "comparison": c})
	} else {
		p := printer{w: s.out}
		for _, l := range o.Left {
			p.line("left out: %s run %s: %s", l.Arm, l.Run, l.Why)
		}
		p.line("floor: %s", floorWord(o.Floors))
		if o.Clock != "" {
			p.line("%s", o.Clock)
		}
		printComparison(&p, c)
		printCells(&p, c)
		err = p.err
	}
	if err != nil {
		return err
	}
	return exitQuietly(c.Verdict.ExitCode())
}

func floorWord(n int) string {
	if n == 0 {
		return "not measured for this preset on this host and GPU (kdapilot floor)"
	}
	return fmt.Sprintf("measured for %d cells", n)
}

// maxCells is how many cells are printed; JSON has them all.
const maxCells = 40

// printCells lists the cells that are not simply the same: slower first, then
// what can not be compared, the undecided, and the faster.
func printCells(p *printer, c *bench.Comparison) {
	if c.Verdict == bench.VerdictNotComparable {
		return // one reason for all, and it was said
	}
	rank := map[bench.CellVerdict]int{bench.Slower: 0, bench.NotComparable: 1, bench.Undecided: 2, bench.Faster: 3}
	var list []*bench.Cell
	for i := range c.Cells {
		if c.Cells[i].Verdict != bench.Same {
			list = append(list, &c.Cells[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *bench.Cell) int { return rank[a.Verdict] - rank[b.Verdict] })
	for i, x := range list {
		if i == maxCells {
			p.line("  and %d more cells: --json has them all", len(list)-i)
			return
		}
		ratio, ci, pv := "-", "", ""
		if x.Ratio.OK {
			ratio = fmt.Sprintf("%.4f", x.Ratio.V)
		}
		if x.CI95 != nil {
			ci = fmt.Sprintf(" [%.4f %.4f]", x.CI95[0], x.CI95[1])
		}
		if x.P.OK {
			pv = fmt.Sprintf("  p %.3f", x.P.V)
		}
		p.line("  %-14s %s%s%s  n %d/%d  %s  %s", x.Verdict, ratio, ci, pv, x.NBase, x.NCand, x.Key, x.Why)
	}
}
