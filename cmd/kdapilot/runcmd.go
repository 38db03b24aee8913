package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/engine/bench"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
)

// newRun runs a preset in the foreground: the same supervised run as the
// cockpit's, with its log on this terminal.
func newRun(s streams) *cobra.Command {
	var dir string
	var a session.StartRun
	cmd := &cobra.Command{
		Use:   "run PRESET [KERNEL | BASE CAND | CLASS] | run -- COMMAND [ARG...]",
		Short: "Run a preset of the task's kernel family, or a command, in the foreground",
		Long: `run starts the same supervised run as the cockpit: own session, own folder below
.humanize/kdapilot/runs, one run per GPU. Ctrl-C cancels it; a lost terminal
does not. The exit status is that of the three-way truth: 0 pass, 1 red, 2 not
proven, 3 incomplete or cancelled, 69 the command could not be started. A command
that prints no rows is judged by its own exit status. Presets of flyprof are judged by its envelope: 66 nothing
is the answer, 69 a tool or the GPU is absent, 70 no usable answer, 75 transient
(after one retry), 78 fix the input, 64 usage, 3 interrupted, 1 exit status and
envelope contradict each other.`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() == 0 {
				a.Argv = args
			} else {
				a.Preset = args[0]
				if err := flyprofArgs(&a, args[1:]); err != nil {
					return err
				}
			}
			return runForeground(cmd.Context(), s, dir, a)
		},
	}
	cmd.Flags().StringVarP(&dir, "dir", "C", ".", "the worktree")
	cmd.Flags().StringVar(&a.Cell, "cell", "", "key of the focus cell, for presets that need one")
	cmd.Flags().StringVar(&a.Question, "question", "", "the named question a profile answers")
	cmd.Flags().IntVar(&a.GPU, "gpu", 0, "GPU index")
	flyprofFlags(cmd, &a)
	return cmd
}

func runForeground(ctx context.Context, s streams, dir string, a session.StartRun) error {
	root, mode, err := resolve(ctx, dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	ses, err := live.Open(ctx, live.Options{Root: root, Mode: mode, Self: self})
	if err != nil {
		return err
	}
	defer ses.Close()
	if err := ses.Ready(ctx); err != nil {
		return err
	}
	reply, err := ses.Do(ctx, a)
	if err != nil {
		return exitWith(exitConfig, "%w", err)
	}
	fmt.Fprintln(s.err, reply.Text)
	id := runs.ID(reply.ID)
	stop, cancel := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer cancel()
	return followRun(ctx, stop, s, ses, id)
}

// followRun prints the log until the run has ended; an interrupt cancels it and
// waits for its end.
func followRun(ctx, stop context.Context, s streams, ses *live.Session, id runs.ID) error {
	interrupted := stop.Done()
	opened, printed := false, 0
	for {
		snap := ses.Snapshot()
		r := snap.Run(id)
		if r != nil && !opened {
			opened = true
			if _, err := ses.Do(ctx, session.OpenLog{ID: id}); err != nil {
				return err
			}
		}
		printed = printLog(s.out, snap, printed)
		if next, wait := nextAttempt(snap, ses, id); next != "" {
			printEnd(&printer{w: s.err}, r, snap.Ends[id])
			fmt.Fprintf(s.err, "retried once as %s\n", next)
			id, opened, printed = next, false, 0
			continue
		} else if r != nil && r.State.Final() && snap.LogID == id && snap.LogWhole && !wait {
			if e := snap.Ends[id]; e != nil {
				return endOf(s.err, r, e)
			}
			return verdictOf(s.err, r, ses.Snapshot().Results[id])
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-interrupted:
			interrupted = nil
			if _, err := ses.Do(ctx, session.CancelRun{ID: id}); err != nil {
				return err
			}
		case <-ses.Changed():
		case <-ses.Events():
		}
	}
}

func printLog(w io.Writer, snap *session.Snapshot, from int) int {
	for n := max(from, snap.Log.First()); n < snap.Log.End(); n++ {
		fmt.Fprintln(w, snap.Log.Line(n))
	}
	return max(from, snap.Log.End())
}

// verdictOf says what the run is worth and turns it into the exit status. A
// command that printed no rows is worth its own exit status; one that did is
// judged by them as well, whatever it ended with.
func verdictOf(w io.Writer, r *runs.Run, res *bench.Result) error {
	fmt.Fprintf(w, "run %s: %s%s\n", r.ID, r.State, howEnded(r.Result))
	if res == nil || res.Truth == nil || r.Manifest.Kind == runs.Profile {
		code := unjudged(r)
		if code == exitOK && r.Manifest.Kind != runs.Other && r.Manifest.Kind != runs.Profile {
			fmt.Fprintln(w, "verdict: not known, its output could not be read")
			code = exitUndecided
		}
		return exitQuietly(code)
	}
	t := res.Truth
	fmt.Fprintf(w, "verdict: %s, %d cells executed\n", t.Outcome, t.Executed)
	for _, why := range t.Reasons {
		fmt.Fprintf(w, "  %s: %s\n", why.Severity, why.Text)
	}
	switch t.Outcome {
	case bench.OutcomePass:
		return nil
	case bench.OutcomeNotProven:
		return exitQuietly(exitUndecided)
	case bench.OutcomeRunning:
		return exitQuietly(exitIncomplete)
	default:
		return exitQuietly(exitRed)
	}
}

// howEnded is the exit status or signal and the reason, as far as there are any.
func howEnded(end *runs.Result) string {
	if end == nil {
		return ""
	}
	out := ""
	switch {
	case end.Exit != nil:
		out = fmt.Sprintf(", exit %d", *end.Exit)
	case end.Signal != "":
		out = ", " + end.Signal
	}
	if end.Why != "" {
		out += ": " + end.Why
	}
	return out
}

// unjudged is the exit status for a run that only its end speaks for.
func unjudged(r *runs.Run) int {
	switch {
	case r.State == runs.Failed:
		return exitNoTool // it never started
	case r.State != runs.Ended:
		return exitIncomplete
	case r.Result != nil && r.Result.Exit != nil && *r.Result.Exit == 0:
		return exitOK
	default:
		return exitRed
	}
}
