// Package bootstrap is the probe that sets a host up for the workflow: links
// from Claude Code's skills folder to local checkouts, and flyprof installed
// with pip from a local checkout.
//
// Guarantees: Plan changes nothing; a real file or folder is never replaced, nor
// a link that leads somewhere else; Verify looks at what is really there
// afterwards.
//
// What may not enter: the network by our own hand (pip may use it), and
// anything that belongs to Claude Code itself: Humanize is installed there.
package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"kdapilot/engine/text"
)

// pipTimeout bounds the installation.
const pipTimeout = 10 * time.Minute

// Options say where things are.
type Options struct {
	// Skills is the folder of links.
	Skills string
	// From are checkouts that hold skills, searched in order.
	From []string
	// Names are the skills that must be there.
	Names []string
	// Flyprof is the checkout of flyprof, "" to look for one below From.
	Flyprof string
	// Python runs pip; "python3" if empty. Reinstall installs over a flyprof
	// that is already on PATH.
	Python    string
	Reinstall bool
}

// Status is how a step stands.
type Status string

// The statuses.
const (
	Todo     Status = "to do"
	There    Status = "already there"
	Missing  Status = "not found"
	Conflict Status = "conflict"
)

// Step is one link, or the installation.
type Step struct {
	Name   string `json:"name"`
	What   string `json:"what"`
	Status Status `json:"status"`
	Why    string `json:"why,omitempty"`

	do func(ctx context.Context) error
}

// Plan gives the steps in order.
func Plan(o Options) []Step {
	var steps []Step
	for _, name := range o.names() {
		steps = append(steps, o.link(name))
	}
	return append(steps, o.pip())
}

// names are the skills asked for and every further flyprof skill there is.
func (o Options) names() []string {
	names := slices.Clone(o.Names)
	if dir := o.flyprof(); dir != "" {
		found, err := filepath.Glob(filepath.Join(dir, "skills", "flyprof-*", "SKILL.md"))
		if err == nil {
			for _, f := range found[:min(len(found), 100)] {
				names = append(names, filepath.Base(filepath.Dir(f)))
			}
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(n string) bool {
		again := seen[n]
		seen[n] = true
		return again
	})
}

// flyprof is the checkout it is installed from.
func (o Options) flyprof() string {
	if o.Flyprof != "" {
		return o.Flyprof
	}
	for _, from := range o.From {
		for _, at := range []string{"external/flydsl-rocprof-cli", "flydsl-rocprof-cli"} {
			dir := filepath.Join(from, at)
			if isFile(filepath.Join(dir, "pyproject.toml")) || isFile(filepath.Join(dir, "setup.py")) {
				return dir
			}
		}
	}
	return ""
}

// source finds the folder of a skill: the one that holds its SKILL.md.
func (o Options) source(name string) string {
	var dirs []string
	for _, from := range o.From {
		for _, at := range []string{"skills", "external", ".claude/skills", "."} {
			dirs = append(dirs, filepath.Join(from, at, name))
		}
		if strings.EqualFold(filepath.Base(from), name) {
			dirs = append(dirs, from)
		}
	}
	if fp := o.flyprof(); fp != "" {
		dirs = append(dirs, filepath.Join(fp, "skills", name))
	}
	for _, d := range dirs {
		if isFile(filepath.Join(d, "SKILL.md")) {
			return d
		}
	}
	return ""
}

func (o Options) link(name string) Step {
	at := filepath.Join(o.Skills, name)
	s := Step{Name: name, What: "link " + at, Status: Todo}
	to := o.source(name)
	now, linkErr := os.Readlink(at)
	_, statErr := os.Lstat(at)
	switch {
	case linkErr == nil && to != "" && same(at, to):
		s.Status = There
	case linkErr == nil && isFile(filepath.Join(at, "SKILL.md")):
		s.Status, s.Why = There, "linked to "+now
	case linkErr == nil:
		s.Status, s.Why = Conflict, "it is a link to "+now+", where there is no SKILL.md; remove it first"
	case statErr == nil && isFile(filepath.Join(at, "SKILL.md")):
		s.Status, s.Why = There, "a real folder, left alone"
	case statErr == nil:
		s.Status, s.Why = Conflict, "something without a SKILL.md is there; it is not replaced"
	case to == "":
		s.Status, s.Why = Missing, "no SKILL.md of it below "+strings.Join(o.From, ", ")
	default:
		s.What += " -> " + to
	}
	s.do = func(context.Context) error {
		if err := os.MkdirAll(o.Skills, 0o755); err != nil {
			return err
		}
		return os.Symlink(to, at)
	}
	return s
}

func (o Options) pip() Step {
	python := o.Python
	if python == "" {
		python = "python3"
	}
	dir := o.flyprof()
	s := Step{Name: "flyprof", What: python + " -m pip install -e " + dir, Status: Todo}
	at, err := exec.LookPath("flyprof")
	switch {
	case err == nil && !o.Reinstall:
		s.What, s.Status, s.Why = "flyprof", There, at
	case dir == "":
		s.What, s.Status, s.Why = "flyprof", Missing, "no checkout flydsl-rocprof-cli below "+strings.Join(o.From, ", ")
	default:
		if _, err := exec.LookPath(python); err != nil {
			s.Status, s.Why = Missing, python+" is not on PATH"
		}
	}
	s.do = func(ctx context.Context) error {
		return command(ctx, pipTimeout, python, "-m", "pip", "install", "--disable-pip-version-check", "-e", dir)
	}
	return s
}

// Do carries out the steps that are to do. One that fails does not stop the
// others; the error names them all.
func Do(ctx context.Context, steps []Step, progress func(Step, error)) error {
	var errs []error
	for _, s := range steps {
		if s.Status != Todo {
			continue
		}
		err := ctx.Err()
		if err == nil {
			err = s.do(ctx)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
		if progress != nil {
			progress(s, err)
		}
	}
	return errors.Join(errs...)
}

// Verify gives what is still not right, one line each.
func Verify(ctx context.Context, o Options) []string {
	var out []string
	for _, name := range o.names() {
		if !isFile(filepath.Join(o.Skills, name, "SKILL.md")) {
			out = append(out, name+": no "+filepath.Join(o.Skills, name, "SKILL.md"))
		}
	}
	if _, err := exec.LookPath("flyprof"); err != nil {
		out = append(out, "flyprof: not on PATH (pip may have put it into a folder that PATH lacks)")
	} else if err := command(ctx, 30*time.Second, "flyprof", "doctor", "-f", "json"); err != nil {
		out = append(out, "flyprof: "+err.Error())
	}
	return out
}

// command runs a program; its last words go into the error.
func command(ctx context.Context, timeout time.Duration, argv ...string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	errs := &tail{}
	cmd.Stdout, cmd.Stderr = errs, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s: not done after %v", argv[0], timeout)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, errs.last())
	}
	return nil
}

// tail keeps the last bytes of what a program says.
type tail struct{ b []byte }

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if n := len(t.b) - tailSize; n > 0 {
		t.b = bytes.Clone(t.b[n:])
	}
	return len(p), nil
}

func (t *tail) last() string {
	s := strings.TrimSpace(text.Clean(string(t.b)))
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	return text.Clip(text.Line(s), 300)
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func same(a, b string) bool {
	x, errX := filepath.EvalSymlinks(a)
	y, errY := filepath.EvalSymlinks(b)
	return errX == nil && errY == nil && x == y
}
