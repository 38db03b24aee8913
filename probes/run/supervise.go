package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"kdapilot/engine/runs"
	"kdapilot/engine/safe"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// supervisor is the life of one run, from the inside.
type supervisor struct {
	dir    string
	m      runs.Manifest
	status runs.Status
	locks  []*lock
	guard  *watchman
	cancel context.Context // ends when a cancel was asked for
}

// Supervise carries out the prepared run folder and returns when the run is
// over and its result written. It is the whole body of the hidden subcommand
// and must be called in a process of its own: it takes over signals and
// adopts orphans. Whatever happens to the child is in the result; an error
// means the folder could not be worked with.
//
// Nobody looks for other users of the GPU; SuperviseGuarded does.
func Supervise(dir string) error { return SuperviseGuarded(dir, Guard{}) }

// SuperviseGuarded is Supervise with a guard over the GPUs of the run.
func SuperviseGuarded(dir string, guard Guard) error {
	// Caught and dropped, not ignored: the child would inherit ignoring.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)
	cancel, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	// Orphans of the run come to us instead of init, so they can be found.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

	path := filepath.Join(dir, ManifestFile)
	b, _, err := readfile.All(path, recordLimit)
	if err != nil {
		return fmt.Errorf("run manifest: %w", err)
	}
	m, err := runs.DecodeManifest(b)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ResultFile)); err == nil {
		return fmt.Errorf("%s: %w", dir, ErrFinal)
	}
	s := &supervisor{dir: dir, m: m, cancel: cancel, guard: &watchman{g: guard, gpus: m.GPUs, dir: dir}}
	s.status = runs.Status{State: runs.Queued, Why: "starting", Supervisor: self(), Place: here()}
	if s.locks, err = inheritedLocks(m); err != nil {
		return err
	}
	if err := s.say(runs.Queued, "starting"); err != nil {
		return err
	}
	// Cancel writes its request before it reads our status. Either it saw the
	// status and sends a signal, or the request is there by now.
	if _, asked := s.cancelWhy(); asked {
		return s.finish(s.cancelled())
	}
	return s.finish(s.run())
}

// run takes the result as far as it is known when the child is gone.
func (s *supervisor) run() runs.Result {
	began := time.Now()
	if err := s.acquire(); err != nil {
		if s.cancel.Err() != nil {
			return s.cancelled()
		}
		return s.failed(err)
	}
	before := s.listCaptures()
	s.guard.look("before")
	s.guard.sample("before")
	queued := time.Since(began)
	child, err := s.start()
	if err != nil {
		return s.failed(err)
	}
	started := time.Now()
	relieve := s.guard.patrol()
	res := s.wait(child, started)
	relieve()
	s.guard.look("after")
	s.guard.sample("after")
	s.guard.close()
	s.guard.report(&res)
	res.QueuedSeconds = queued.Seconds()
	res.Captured, res.Stale, err = s.capture(before, started)
	if err != nil {
		res.Why = join(res.Why, err.Error())
	}
	s.unlock()
	return res
}

func (s *supervisor) acquire() error {
	if len(s.locks) == 0 {
		dir := os.Getenv(envLockDir)
		if dir == "" {
			dir = DefaultLockDir()
		}
		if err := openLockDir(dir); err != nil {
			return err
		}
		for _, r := range resourcesOf(s.m) {
			l, err := waitLock(s.cancel, dir, r, func(b *BusyError) { _ = s.say(runs.Queued, b.Error()) })
			if err != nil {
				return err
			}
			// The child inherits it, as it inherits those passed in.
			if _, err := unix.FcntlInt(l.f.Fd(), unix.F_SETFD, 0); err != nil {
				return fmt.Errorf("lock for %s: %w", r.label, err)
			}
			s.locks = append(s.locks, l)
		}
	}
	me := self()
	for _, l := range s.locks {
		if err := l.sign(Holder{Run: s.m.ID, Worktree: s.m.Worktree, Dir: s.dir, Proc: &me}); err != nil {
			return fmt.Errorf("signing the lock for %s: %w", l.r.label, err)
		}
	}
	return nil
}

// inheritedLocks picks up the locks that Local took, in files 3 and up.
func inheritedLocks(m runs.Manifest) ([]*lock, error) {
	names := os.Getenv(envLockFDs)
	if names == "" {
		return nil, nil
	}
	var out []*lock
	want := resourcesOf(m)
	for i, name := range strings.Split(names, ":") {
		if i >= len(want) || want[i].file != name {
			return nil, fmt.Errorf("inherited lock %q does not belong to this run", name)
		}
		path := filepath.Join(os.Getenv(envLockDir), name)
		out = append(out, &lock{os.NewFile(uintptr(3+i), path), want[i]})
	}
	return out, nil
}

// start opens the logs and starts the child with them as its own files: no
// byte passes through the supervisor.
func (s *supervisor) start() (*exec.Cmd, error) {
	cmd, err := command(s.dir, s.m)
	if err != nil {
		return nil, err
	}
	out, err := openLog(s.dir, StdoutFile)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	errLog, err := openLog(s.dir, StderrFile)
	if err != nil {
		return nil, err
	}
	defer errLog.Close()
	cmd.Stdout, cmd.Stderr = out, errLog
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", s.m.Argv[0], err)
	}
	child := runs.Proc{PID: cmd.Process.Pid}
	if st, err := readStat(child.PID); err == nil {
		child = st.proc()
	}
	s.status.Child, s.status.ChildStarted = &child, time.Now().UTC()
	return cmd, s.say(runs.Running, "")
}

func openLog(dir, name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return f, nil
}

// wait sees the child and everything it started to their end.
func (s *supervisor) wait(cmd *exec.Cmd, started time.Time) runs.Result {
	pid := cmd.Process.Pid
	exited := make(chan error, 1)
	safe.Go("child wait", func(err error) { exited <- err }, func() { exited <- waitUnreaped(pid) })
	asked := false
	select {
	case <-exited:
	case <-s.cancel.Done():
		asked = true
		s.terminate(pid, exited)
	}
	wall := time.Since(started)
	// The child is a zombie still: its id, and so its group's, can not be reused
	// before the stragglers are dealt with.
	left := s.sweep(pid)
	err := cmd.Wait()
	res := s.result(runs.Ended)
	res.Started, res.WallSeconds, res.LeftBehind = started.UTC(), wall.Seconds(), left
	fillExit(&res, cmd.ProcessState, err)
	if asked {
		why, _ := s.cancelWhy()
		res.State, res.Why, res.Partial = runs.Cancelled, why, true
	}
	if res.Signal != "" {
		res.Partial = true
	}
	return res
}

// waitUnreaped returns when the child has exited, leaving it to be reaped.
func waitUnreaped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// terminate asks the whole run to end and insists after the grace.
func (s *supervisor) terminate(pid int, exited <-chan error) {
	s.signalAll(pid, unix.SIGTERM)
	grace := time.NewTimer(time.Duration(s.m.GraceSeconds * float64(time.Second)))
	defer grace.Stop()
	select {
	case <-exited:
	case <-grace.C:
		s.signalAll(pid, unix.SIGKILL)
		<-exited
	}
}

// signalAll reaches the child's group and those who left it.
func (s *supervisor) signalAll(pid int, sig unix.Signal) {
	others := offspring(os.Getpid())
	_ = unix.Kill(-pid, sig)
	for _, st := range others {
		if st.pgrp != pid {
			_ = signalProc(st.proc(), sig)
		}
	}
}

// sweep ends what outlived the command, since it would disturb the next run on
// this GPU, and counts it.
func (s *supervisor) sweep(pid int) int {
	left := len(offspring(os.Getpid()))
	if left == 0 {
		return 0
	}
	s.signalAll(pid, unix.SIGTERM)
	deadline := time.Now().Add(min(time.Second, time.Duration(s.m.GraceSeconds*float64(time.Second))))
	for len(offspring(os.Getpid())) > 0 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	for range 50 {
		if len(offspring(os.Getpid())) == 0 {
			break
		}
		s.signalAll(pid, unix.SIGKILL)
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

// finish seals the folder. The result is the last thing written.
func (s *supervisor) finish(res runs.Result) error {
	res.Ended = time.Now().UTC()
	s.unlock()
	_ = os.RemoveAll(filepath.Join(s.dir, jitDir))
	files, err := seal(s.dir)
	if err != nil {
		res.Why = join(res.Why, err.Error())
	}
	res.Files = files
	if err := writeRecord(s.dir, ResultFile, res); err != nil {
		return err
	}
	return os.Chmod(filepath.Join(s.dir, ResultFile), 0o444)
}

func (s *supervisor) unlock() {
	for _, l := range s.locks {
		l.release()
	}
	s.locks = nil
}

func (s *supervisor) say(st runs.State, why string) error {
	s.status.State, s.status.Why, s.status.Updated = st, why, time.Now().UTC()
	return writeRecord(s.dir, StatusFile, s.status)
}

func (s *supervisor) result(st runs.State) runs.Result {
	return runs.Result{Version: runs.FormatVersion, ID: s.m.ID, State: st, Started: s.m.Started}
}

func (s *supervisor) failed(err error) runs.Result {
	res := s.result(runs.Failed)
	res.Why = err.Error()
	return res
}

func (s *supervisor) cancelled() runs.Result {
	res := s.result(runs.Cancelled)
	why, _ := s.cancelWhy()
	res.Why, res.Partial = join("before it started", why), true
	return res
}

func (s *supervisor) cancelWhy() (string, bool) {
	b, _, err := readfile.All(filepath.Join(s.dir, cancelFile), recordLimit)
	if err != nil {
		return "SIGTERM from outside", false
	}
	var c cancelRequest
	if json.Unmarshal(b, &c) != nil || c.Why == "" {
		return "cancelled", true
	}
	return text.Line(c.Why), true
}

func fillExit(res *runs.Result, ps *os.ProcessState, err error) {
	if ps == nil {
		res.State, res.Why, res.Partial = runs.Failed, fmt.Sprintf("waiting for the child: %v", err), true
		return
	}
	ws, ok := ps.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		res.Signal, res.SignalNumber, res.Core = unix.SignalName(ws.Signal()), int(ws.Signal()), ws.CoreDump()
		if res.Signal == "" {
			res.Signal = fmt.Sprintf("signal %d", int(ws.Signal()))
		}
	} else {
		code := ps.ExitCode()
		res.Exit = &code
	}
	res.UserSeconds, res.SystemSeconds = ps.UserTime().Seconds(), ps.SystemTime().Seconds()
	if ru, ok := ps.SysUsage().(*syscall.Rusage); ok {
		res.MaxRSSBytes = ru.Maxrss * 1024 // Linux counts it in KiB
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
