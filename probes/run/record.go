package run

import (
	"context"
	"fmt"
	"io"
	"time"

	"kdapilot/engine/runs"
)

// Record keeps work that this process does itself as a run: the manifest before
// do, the result after it, the folder hashed and read-only like any other. do
// gets the folder, for files of its own, and the log of standard output; it
// gives the exit status the work would have as a process. A run whose do fails
// has failed, and the error is given back as well.
func (r *Runner) Record(ctx context.Context, s Spec, do func(ctx context.Context, dir string, stdout io.Writer) (exit int, err error)) (runs.Run, error) {
	started := time.Now()
	m, err := r.manifest(s, started)
	if err != nil {
		return runs.Run{}, err
	}
	m.Executor = "in process"
	dir, err := makeFolder(s.Worktree, &m)
	if err != nil {
		return runs.Run{}, err
	}
	if err := writeRecord(dir, ManifestFile, m); err != nil {
		return runs.Run{}, err
	}
	v := &supervisor{dir: dir, m: m, cancel: ctx}
	v.status = runs.Status{Supervisor: self(), Place: here()}
	if err := v.say(runs.Running, ""); err != nil {
		return runs.Run{}, err
	}
	log, err := openLog(dir, StdoutFile)
	if err != nil {
		return runs.Run{}, err
	}
	exit, err := do(ctx, dir, log)
	if closeErr := log.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("log: %w", closeErr)
	}
	res := v.result(runs.Ended)
	switch {
	case ctx.Err() != nil:
		res.State, res.Why, res.Partial = runs.Cancelled, ctx.Err().Error(), true
	case err != nil:
		res.State, res.Why = runs.Failed, err.Error()
	default:
		res.Exit = &exit
	}
	res.WallSeconds = time.Since(started).Seconds()
	if finishErr := v.finish(res); err == nil {
		err = finishErr
	}
	out, readErr := r.Read(dir)
	if err == nil {
		err = readErr
	}
	return out, err
}
