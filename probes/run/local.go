package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// Local runs folders on this machine, each under a supervisor of its own.
type Local struct {
	// Self is the kdapilot binary; os.Executable if empty. Args stand before
	// SuperviseCommand, for tests that re-execute themselves.
	Self string
	Args []string
	// LockDir holds the GPU locks; DefaultLockDir if empty.
	LockDir string
	// Report receives panics of the goroutine that waits for a supervisor.
	Report func(error)
}

// Name is "local".
func (Local) Name() string { return "local" }

// startupWait is how long Launch waits for the supervisor's first word.
const startupWait = 5 * time.Second

// Launch takes the locks, or refuses, and passes them on to the supervisor as
// open files, so that there is no moment in which the GPU looks free.
func (l Local) Launch(ctx context.Context, dir string, m runs.Manifest) error {
	lockDir := l.LockDir
	if lockDir == "" {
		lockDir = DefaultLockDir()
	}
	if err := openLockDir(lockDir); err != nil {
		return err
	}
	var held []*lock
	defer func() {
		for _, h := range held {
			h.f.Close() // closed, not unlocked: the supervisor holds it now
		}
	}()
	if !m.Queue {
		for _, r := range resourcesOf(m) {
			h, err := tryLock(lockDir, r)
			if err != nil {
				return err
			}
			held = append(held, h)
			if err := h.sign(Holder{Run: m.ID, Worktree: m.Worktree, Dir: dir}); err != nil {
				return fmt.Errorf("signing the lock for %s: %w", r.label, err)
			}
		}
	}
	cmd, err := l.supervisor(dir, lockDir, held)
	if err != nil {
		return err
	}
	return l.spawn(ctx, cmd, dir)
}

func (l Local) supervisor(dir, lockDir string, held []*lock) (*exec.Cmd, error) {
	bin := l.Self
	if bin == "" {
		var err error
		if bin, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding the supervisor binary: %w", err)
		}
		if _, err := os.Stat(bin); err != nil {
			bin = "/proc/self/exe" // rebuilt or removed since we were started
		}
	}
	cmd := exec.Command(bin, append(append([]string{}, l.Args...), SuperviseCommand, dir)...)
	cmd.Dir = "/" // the supervisor keeps no worktree busy
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var names []string
	for _, h := range held {
		cmd.ExtraFiles = append(cmd.ExtraFiles, h.f)
		names = append(names, h.r.file)
	}
	cmd.Env = append(os.Environ(), envLockDir+"="+lockDir, envLockFDs+"="+strings.Join(names, ":"))
	return cmd, nil
}

func (l Local) spawn(ctx context.Context, cmd *exec.Cmd, dir string) error {
	log, err := os.OpenFile(filepath.Join(dir, SupervisorLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("supervisor log: %w", err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the supervisor: %w", err)
	}
	report := l.Report
	if report == nil {
		report = func(error) {}
	}
	gone := make(chan error, 1)
	safe.Go("run supervisor wait", report, func() { gone <- cmd.Wait() })
	return waitForWord(ctx, dir, gone)
}

// waitForWord returns when the supervisor has said that it lives, or has ended.
func waitForWord(ctx context.Context, dir string, gone <-chan error) error {
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(startupWait)
	defer limit.Stop()
	spoken := func() bool {
		_, err1 := os.Stat(filepath.Join(dir, StatusFile))
		_, err2 := os.Stat(filepath.Join(dir, ResultFile))
		return err1 == nil || err2 == nil
	}
	for {
		select {
		case err := <-gone:
			if spoken() {
				return nil
			}
			b, _, _, _ := readfile.Tail(filepath.Join(dir, SupervisorLog), 4<<10)
			return fmt.Errorf("the supervisor ended at once (%v): %s", err, text.Line(string(b)))
		case <-tick.C:
			if spoken() {
				return nil
			}
		case <-limit.C:
			return nil // slow disk: it is running, and its folder will tell
		case <-ctx.Done():
			return nil // a run that was started is not undone by impatience
		}
	}
}

// State asks the processes. A status that is missing shortly after the start
// means the supervisor is on its way.
func (Local) State(_ string, m runs.Manifest, s *runs.Status) (runs.State, string, bool) {
	at := m.Place
	if s != nil {
		at = s.Place
	}
	now := here()
	switch {
	case at.Host != now.Host || at.Boot == now.Boot && at.PIDSpace != now.PIDSpace:
		return runs.Elsewhere, "runs on host or container " + text.Line(at.Host) + ", not visible from here", false
	case at.Boot != now.Boot:
		return runs.Lost, "the machine was restarted before the run ended", false
	case s == nil && time.Since(m.Started) < 2*startupWait:
		return runs.Queued, "starting", false
	case s == nil:
		return runs.Lost, "the supervisor never started", false
	case alive(s.Supervisor):
		return s.State, s.Why, false
	case s.Child != nil && alive(*s.Child):
		return runs.Lost, fmt.Sprintf("the supervisor is gone, process %d still runs", s.Child.PID), true
	default:
		return runs.Lost, "the supervisor is gone without a result", false
	}
}

// Cancel signals the supervisor, or, if that is gone, the child's whole process
// group itself: TERM, then KILL after the grace.
func (l Local) Cancel(ctx context.Context, dir string, m runs.Manifest, s *runs.Status) error {
	if s == nil {
		return nil // it has not spoken yet and finds the request when it does
	}
	err := signalProc(s.Supervisor, unix.SIGTERM)
	if err == nil || !errors.Is(err, unix.ESRCH) {
		return err
	}
	if s.Child == nil || !alive(*s.Child) {
		return ErrFinal
	}
	return endOrphan(ctx, *s.Child, time.Duration(m.GraceSeconds*float64(time.Second)))
}

// endOrphan ends the group of a child that lost its supervisor.
func endOrphan(ctx context.Context, child runs.Proc, grace time.Duration) error {
	if err := unix.Kill(-child.PID, unix.SIGTERM); err != nil {
		return fmt.Errorf("ending process group %d: %w", child.PID, err)
	}
	deadline := time.Now().Add(grace)
	for alive(child) && time.Now().Before(deadline) && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	if !alive(child) {
		return nil
	}
	return unix.Kill(-child.PID, unix.SIGKILL)
}
