// Package gitrepo is the probe that asks git, through its command line, with a
// time limit, without taking locks and without the network. All names and
// subjects come out stripped of control sequences: a branch name can hold them.
//
// What may not enter: judgement. Whether a tree is clean enough for a gate is
// decided in the engine. Writing is confined to write.go.
package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"kdapilot/engine/text"
)

// Limits of one git process.
const (
	DefaultTimeout = 5 * time.Second
	outputLimit    = 32 << 20 // bytes of stdout
	stderrLimit    = 16 << 10
)

// Git asks one git binary. The zero value uses "git" from PATH and the default
// time limit. It may be used from any goroutine.
type Git struct {
	// Bin is the binary; "git" if empty.
	Bin string
	// Timeout of each process; DefaultTimeout if zero.
	Timeout time.Duration
}

// Error is a git process that did not do what was asked.
type Error struct {
	// Command is the subcommand, for example "status".
	Command string
	Dir     string
	// Exit is -1 when the process did not run to its end.
	Exit int
	// Text is what git wrote to stderr, one clean line.
	Text string
	// Err is the cause when there was no exit code: a timeout, a missing binary.
	Err error
}

// Error reads like "git status in /x: exit 128: fatal: ...".
func (e *Error) Error() string {
	s := "git " + e.Command + " in " + text.Line(e.Dir) + ": "
	switch {
	case e.Err != nil:
		return s + e.Err.Error()
	case e.Text != "":
		return fmt.Sprintf("%sexit %d: %s", s, e.Exit, e.Text)
	default:
		return fmt.Sprintf("%sexit %d", s, e.Exit)
	}
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errors that callers tell apart.
var (
	// ErrTimeout means git gave no answer in time and was killed.
	ErrTimeout = errors.New("no answer in time")
	// ErrTooMuch means git wrote more than is read.
	ErrTooMuch = errors.New("more output than is read")
	// ErrMissing means the object, branch or path does not exist.
	ErrMissing = errors.New("does not exist")
	// ErrBadName means a name that is never handed to git.
	ErrBadName = errors.New("not a name git would accept")
)

// quiet are settings that keep a repository's own configuration from starting
// programs or changing the output. protocol.allow stops the lazy fetches of a
// partial clone: this probe never talks to the network.
var quiet = [...]string{
	"--no-optional-locks", "--no-pager",
	"-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "-c", "log.showSignature=false",
}

// read runs a reading git command in dir and returns its stdout.
func (g Git) read(ctx context.Context, dir string, stdin []byte, args ...string) ([]byte, error) {
	full := append(append([]string{}, quiet[:]...), args...)
	return g.exec(ctx, dir, stdin, args[0], full)
}

func (g Git) exec(ctx context.Context, dir string, stdin []byte, name string, args []string) ([]byte, error) {
	timeout := g.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, ErrTimeout)
	defer cancel()
	bin := g.Bin
	if bin == "" {
		bin = "git"
	}
	cmd := exec.CommandContext(ctx, bin, append([]string{"-C", dir}, args...)...)
	out, errOut := &limited{room: outputLimit, stop: cancel}, &limited{room: stderrLimit}
	cmd.Stdout, cmd.Stderr = out, errOut
	cmd.Env = environment(os.Environ())
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	// A group of its own, so that what git itself started goes with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 500 * time.Millisecond
	err := cmd.Run()
	if err == nil && !out.over {
		return out.buf.Bytes(), nil
	}
	e := &Error{Command: name, Dir: dir, Exit: -1, Text: firstLine(errOut.buf.String())}
	var x *exec.ExitError
	switch {
	case out.over:
		e.Err = fmt.Errorf("%w: %d bytes", ErrTooMuch, outputLimit)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrTimeout):
		e.Err = fmt.Errorf("%w (%v)", ErrTimeout, timeout)
	case ctx.Err() != nil:
		e.Err = context.Cause(ctx)
	case errors.As(err, &x) && x.Exited():
		e.Exit = x.ExitCode()
	default:
		e.Err = err
	}
	// What was written before the failure can still be of use.
	return out.buf.Bytes(), e
}

// limited keeps at most room bytes. It never fails a write, so that git is not
// stopped by a full stderr; stop ends the process when stdout is too long.
type limited struct {
	buf  bytes.Buffer
	room int
	over bool
	stop func()
}

func (l *limited) Write(b []byte) (int, error) {
	if n := min(len(b), l.room-l.buf.Len()); n < len(b) {
		l.buf.Write(b[:n])
		if l.over = true; l.stop != nil {
			l.stop()
		}
	} else {
		l.buf.Write(b)
	}
	return len(b), nil
}

// environment drops what would point git at another repository or change its
// words, for example GIT_DIR inside a hook.
func environment(environ []string) []string {
	var out []string
	for _, kv := range environ {
		k, _, _ := strings.Cut(kv, "=")
		switch {
		case k == "GIT_CONFIG_GLOBAL", k == "GIT_CONFIG_SYSTEM", k == "GIT_CONFIG_NOSYSTEM", k == "GIT_CEILING_DIRECTORIES", k == "GIT_EXEC_PATH":
		case strings.HasPrefix(k, "GIT_"), strings.HasPrefix(k, "LC_"), k == "LANG", k == "LANGUAGE":
			continue
		}
		out = append(out, kv)
	}
	return append(out, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_PAGER=cat")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return text.Clip(text.Line(s), 500)
}

// checkRev refuses what could be read as an option or as several revisions.
func checkRev(rev string) error {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n\r \t~^:?*[\\") || strings.Contains(rev, "..") || strings.Contains(rev, "@{") {
		return fmt.Errorf("%q: %w", text.Line(rev), ErrBadName)
	}
	return nil
}

// isCommitID reports whether s is a full SHA-1 or SHA-256 commit id.
func isCommitID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
