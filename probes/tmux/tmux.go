// Package tmux is the probe for the terminal multiplexer the cockpit sits in:
// when a person last typed, which panes there are, and the two routes text can
// take: into a chosen pane, or to the clipboard of the outer terminal.
//
// What may not enter: deciding to send anything. Paste and Enter are separate
// calls, and only a person's keypress leads to them.
package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"kdapilot/engine/text"
)

// DefaultTimeout bounds each tmux call.
const DefaultTimeout = 2 * time.Second

const outputLimit = 1 << 20 // bytes of one answer

// Errors that callers tell apart.
var (
	// ErrOutside means the program does not run inside tmux.
	ErrOutside = errors.New("not inside tmux")
	// ErrNoClient means nobody is attached to the session.
	ErrNoClient = errors.New("no client is attached to the tmux session")
	// ErrNoPane means the pane does not exist (any more).
	ErrNoPane = errors.New("no such tmux pane")
	// ErrText means the text holds something that must not be typed into a pane.
	ErrText = errors.New("text can not be pasted")
)

// Server is the tmux server and session the cockpit runs in.
type Server struct {
	// Socket is the server's socket path.
	Socket string
	// Session is its id, "$0"; Pane is our own pane, "%1".
	Session, Pane string
	// Bin is the binary, "tmux" if empty; Timeout is DefaultTimeout if zero.
	Bin     string
	Timeout time.Duration
}

// Inside reads TMUX and TMUX_PANE through getenv. The error is ErrOutside when
// they are not set.
func Inside(getenv func(string) string) (Server, error) {
	v := getenv("TMUX")
	if v == "" {
		return Server{}, ErrOutside
	}
	// socket,server pid,session number; the socket's path may hold commas.
	p := strings.Split(v, ",")
	if len(p) < 3 {
		return Server{}, fmt.Errorf("TMUX=%q: expected socket,pid,session", text.Line(v))
	}
	n := len(p)
	if _, err := strconv.Atoi(p[n-1]); err != nil {
		return Server{}, fmt.Errorf("TMUX=%q: session %q is no number", text.Line(v), text.Line(p[n-1]))
	}
	s := Server{Socket: strings.Join(p[:n-2], ","), Session: "$" + p[n-1]}
	if pane := getenv("TMUX_PANE"); paneID(pane) {
		s.Pane = pane
	}
	return s, nil
}

// Client is one terminal attached to our session.
type Client struct {
	TTY string
	// Activity is when it last sent a key; keys sent by programs do not move it.
	// tmux gives whole seconds.
	Activity time.Time
	ReadOnly bool
}

// Clients lists the terminals attached to our session.
func (s Server) Clients(ctx context.Context) ([]Client, error) {
	session, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.run(ctx, nil, "list-clients", "-t", session, "-F", "#{client_activity} #{client_readonly} #{client_tty}")
	if err != nil {
		return nil, err
	}
	var cs []Client
	for _, l := range lines(out) {
		f := strings.SplitN(l, " ", 3)
		sec, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil || len(f) != 3 {
			return nil, fmt.Errorf("tmux list-clients: %q: expected a time, a flag and a terminal", text.Clip(text.Line(l), 80))
		}
		cs = append(cs, Client{Activity: time.Unix(sec, 0), ReadOnly: f[1] == "1", TTY: text.Line(f[2])})
	}
	return cs, nil
}

// LastActivity is when a person last typed at our session. The error is
// ErrNoClient when nobody is attached who could.
func (s Server) LastActivity(ctx context.Context) (time.Time, error) {
	cs, err := s.Clients(ctx)
	if err != nil {
		return time.Time{}, err
	}
	var last time.Time
	for _, c := range cs {
		if !c.ReadOnly && c.Activity.After(last) {
			last = c.Activity
		}
	}
	if last.IsZero() {
		return last, ErrNoClient
	}
	return last, nil
}

// session is where our pane is now; a pane can be moved to another session
// after TMUX was set.
func (s Server) session(ctx context.Context) (string, error) {
	if s.Pane == "" {
		return s.Session, nil
	}
	out, err := s.run(ctx, nil, "display-message", "-p", "-t", s.Pane, "#{session_id}")
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(out)
	if id == "" {
		return "", fmt.Errorf("%s: %w", s.Pane, ErrNoPane)
	}
	return id, nil
}

// Pane is one pane of our session.
type Pane struct {
	// ID is "%3" and stays the same while the pane lives.
	ID string `json:"id"`
	// Window is "1:work", as the status line shows it; Index counts in it.
	Window string `json:"window"`
	Index  int    `json:"index"`
	PID    int    `json:"pid"`
	// Command is the program in the foreground, Title what it calls itself.
	Command string `json:"command"`
	Title   string `json:"title,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	Active  bool   `json:"active,omitempty"`
	// Own is the cockpit's pane; Dead panes and those in a mode (scrolling) take
	// no input.
	Own    bool `json:"own,omitempty"`
	Dead   bool `json:"dead,omitempty"`
	InMode bool `json:"in_mode,omitempty"`
}

// separator is a control character, which tmux keeps out of names and titles.
const separator = "\x1f"

var paneFields = strings.Join([]string{"#{pane_id}", "#{window_index}:#{window_name}", "#{pane_index}", "#{pane_pid}", "#{pane_active}",
	"#{pane_dead}", "#{pane_in_mode}", "#{pane_current_command}", "#{pane_current_path}", "#{pane_title}"}, separator)

// Panes lists the panes of our session.
func (s Server) Panes(ctx context.Context) ([]Pane, error) {
	session, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.run(ctx, nil, "list-panes", "-s", "-t", session, "-F", paneFields)
	if err != nil {
		return nil, err
	}
	return parsePanes(out, s.Pane)
}

func parsePanes(out, own string) ([]Pane, error) {
	var ps []Pane
	for _, l := range lines(out) {
		// tmux before 3.5 prints the separator as it is, later ones escaped.
		f := strings.SplitN(strings.ReplaceAll(l, `\037`, separator), separator, 10)
		if len(f) != 10 || !paneID(f[0]) {
			return nil, fmt.Errorf("tmux list-panes: %q: expected a pane id and nine more fields", text.Clip(text.Line(l), 80))
		}
		index, err1 := strconv.Atoi(f[2])
		pid, err2 := strconv.Atoi(f[3])
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("tmux list-panes: pane %s: %w", f[0], err)
		}
		ps = append(ps, Pane{
			ID: f[0], Window: text.Line(f[1]), Index: index, PID: pid, Active: f[4] == "1", Dead: f[5] == "1", InMode: f[6] != "0" && f[6] != "",
			Command: text.Line(f[7]), Cwd: text.Line(f[8]), Title: text.Line(f[9]), Own: own != "" && f[0] == own,
		})
	}
	return ps, nil
}

// Paste puts one line of text into a pane as a paste, without Enter. A program
// that asked for bracketed paste gets it as such. The text must be one line of
// printable characters; the error wraps ErrText otherwise.
func (s Server) Paste(ctx context.Context, pane, line string) error {
	if !paneID(pane) {
		return fmt.Errorf("%q: %w", text.Line(pane), ErrNoPane)
	}
	if err := pasteable(line); err != nil {
		return err
	}
	// A dead pane swallows the text without an error.
	out, err := s.run(ctx, nil, "display-message", "-p", "-t", pane, "#{pane_id} #{pane_dead} #{pane_in_mode}")
	if err != nil {
		return err
	}
	switch f := strings.Fields(out); {
	case len(f) < 3 || f[0] != pane || f[1] == "1":
		return fmt.Errorf("%s: %w", pane, ErrNoPane)
	case f[2] != "0":
		return fmt.Errorf("pane %s is scrolled back: leave that with q first", pane)
	}
	const buffer = "kdapilot"
	if _, err := s.run(ctx, []byte(line), "load-buffer", "-b", buffer, "-"); err != nil {
		return err
	}
	_, err = s.run(ctx, nil, "paste-buffer", "-d", "-p", "-r", "-b", buffer, "-t", pane)
	return err
}

// Enter presses the enter key in a pane. It is a call of its own so that the
// person sees the pasted text before it is sent.
func (s Server) Enter(ctx context.Context, pane string) error {
	if !paneID(pane) {
		return fmt.Errorf("%q: %w", text.Line(pane), ErrNoPane)
	}
	_, err := s.run(ctx, nil, "send-keys", "-t", pane, "Enter")
	return err
}

// Copy hands text to tmux and, through it, to the clipboard of the outer
// terminal: the one route that works with tmux's default settings. Whether the
// terminal took it can not be seen from here.
func (s Server) Copy(ctx context.Context, content string) error {
	_, err := s.run(ctx, []byte(content), "load-buffer", "-w", "-")
	return err
}

func pasteable(line string) error {
	if strings.TrimSpace(line) == "" {
		return fmt.Errorf("it is empty: %w", ErrText)
	}
	for i, r := range line {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return fmt.Errorf("byte %d is the control character %q, expected one printable line: %w", i, r, ErrText)
		}
	}
	if text.Clean(line) != line {
		return fmt.Errorf("it holds invisible or direction-changing characters: %w", ErrText)
	}
	return nil
}

// paneID reports whether s is "%" and a number, and so can not be read as an
// option or as another kind of target.
func paneID(s string) bool {
	n, ok := strings.CutPrefix(s, "%")
	if !ok || n == "" || len(n) > 9 {
		return false
	}
	return strings.Trim(n, "0123456789") == ""
}

func lines(out string) []string {
	out = strings.TrimSuffix(out, "\n")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// run calls tmux with a time limit and returns its answer.
func (s Server) run(ctx context.Context, stdin []byte, args ...string) (string, error) {
	timeout := s.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	bin := s.Bin
	if bin == "" {
		bin = "tmux"
	}
	global := []string{"-u"} // else titles lose what is not ASCII under LANG=C
	if s.Socket != "" {
		global = []string{"-S", s.Socket}
	}
	cmd := exec.CommandContext(ctx, bin, append(global, args...)...)
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var out, errOut capped
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 500 * time.Millisecond
	err := cmd.Run()
	switch said := text.Clip(text.Line(errOut.String()), 300); {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("tmux %s: %w", args[0], context.Cause(ctx))
	case strings.Contains(said, "can't find pane"):
		return "", fmt.Errorf("tmux %s: %s: %w", args[0], said, ErrNoPane)
	case said != "":
		return "", fmt.Errorf("tmux %s: %s: %w", args[0], said, err)
	default:
		return "", fmt.Errorf("tmux %s: %w", args[0], err)
	}
}

// capped keeps the first part of an answer and never fails the writer.
type capped struct{ buf bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	if room := outputLimit - c.buf.Len(); room > 0 {
		c.buf.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

func (c *capped) String() string { return c.buf.String() }
