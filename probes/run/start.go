package run

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kdapilot/engine/runs"
	"kdapilot/engine/text"
)

// Runner starts, finds, follows and cancels runs through one Executor. What it
// knows is in the run folders; it only remembers closed ones to read them once.
// All methods may be called from any goroutine.
type Runner struct {
	Executor Executor

	mu     sync.Mutex
	closed map[string]closedRun // by folder
}

// New returns a Runner over ex.
func New(ex Executor) *Runner { return &Runner{Executor: ex} }

// Start writes the manifest of a new run, synced, and hands its folder to the
// executor. When it returns without error the run goes on by itself, running or
// queued. A *BusyError means another run holds the GPU or the folder and Spec
// did not ask to queue; then nothing is left behind.
func (r *Runner) Start(ctx context.Context, s Spec) (runs.Run, error) {
	m, err := r.manifest(s, time.Now())
	if err != nil {
		return runs.Run{}, fmt.Errorf("run %s: %w", text.Line(s.Preset), err)
	}
	dir, err := makeFolder(s.Worktree, &m)
	if err != nil {
		return runs.Run{}, fmt.Errorf("run %s: %w", m.Preset, err)
	}
	if err := writeRecord(dir, ManifestFile, m); err != nil {
		return runs.Run{}, errors.Join(err, os.RemoveAll(dir))
	}
	if err := r.Executor.Launch(ctx, dir, m); err != nil {
		var busy *BusyError
		if errors.As(err, &busy) {
			return runs.Run{}, errors.Join(err, os.RemoveAll(dir))
		}
		// The folder stays: it is the evidence of what did not work.
		res := runs.Result{Version: runs.FormatVersion, ID: m.ID, State: runs.Failed, Why: err.Error(), Started: m.Started, Ended: time.Now()}
		return runs.Run{}, errors.Join(fmt.Errorf("run %s: %w", m.ID, err), writeRecordOnce(dir, res))
	}
	return r.Read(dir)
}

// writeRecordOnce leaves a result alone that a supervisor has already written.
func writeRecordOnce(dir string, res runs.Result) error {
	if _, err := os.Lstat(filepath.Join(dir, ResultFile)); err == nil {
		return nil
	}
	return writeRecord(dir, ResultFile, res)
}

// Cancel asks for the end of a run: TERM to everything it started, KILL after
// the grace. It returns at once; the result says "cancelled" later. It returns
// ErrFinal for a run that has ended.
func (r *Runner) Cancel(ctx context.Context, dir, why string) error {
	run, err := r.Read(dir)
	if err != nil {
		return err
	}
	if run.State == runs.Elsewhere {
		return fmt.Errorf("run %s: %s: cancel it there", run.ID, run.Why)
	}
	if run.State.Final() && !run.ChildAlive {
		return fmt.Errorf("run %s: %w (%s)", run.ID, ErrFinal, run.State)
	}
	req := cancelRequest{Why: text.Line(why), At: time.Now(), PID: os.Getpid()}
	if err := writeRecord(dir, cancelFile, req); err != nil {
		return err
	}
	// The status is read after the request was written: see Supervise.
	return r.Executor.Cancel(ctx, dir, run.Manifest, readStatus(dir))
}

// cancelRequest is left in the run folder for the supervisor.
type cancelRequest struct {
	Why string    `json:"why"`
	At  time.Time `json:"at"`
	PID int       `json:"by_pid"`
}

func (r *Runner) manifest(s Spec, now time.Time) (runs.Manifest, error) {
	if err := s.check(); err != nil {
		return runs.Manifest{}, err
	}
	m := runs.Manifest{
		Version: runs.FormatVersion, Preset: s.Preset, Kind: s.Kind, Family: s.Family, Question: s.Question, Arm: s.Arm, Sequence: s.Sequence, RetryOf: s.RetryOf,
		Simulated: s.Simulated, Argv: s.Argv, Cwd: s.Cwd, Worktree: s.Worktree, Branch: s.Branch, Head: s.Head,
		DirtyHash: s.DirtyHash, DirtyFiles: s.DirtyFiles, GPUs: s.GPUs, Place: here(), ExpectedCells: s.ExpectedCells,
		Captures: s.Captures, Started: now.UTC(), GraceSeconds: s.Grace.Seconds(), Queue: s.Queue, Executor: r.Executor.Name(),
	}
	if m.Preset == "" {
		m.Preset = "run"
	}
	if m.Kind == "" {
		m.Kind = runs.Other
	}
	if m.Cwd == "" {
		m.Cwd = s.Worktree
	}
	if s.Grace == 0 {
		m.GraceSeconds = DefaultGrace.Seconds()
	}
	var err error
	if m.Harness, err = hashJudges(s.Worktree, s.Judges); err != nil {
		return runs.Manifest{}, err
	}
	if m.RunEnv, err = findRunEnv(s); err != nil {
		return runs.Manifest{}, err
	}
	m.Env, m.Inherited, m.Unset = environment(s, os.Environ())
	return m, nil
}

func (s Spec) check() error {
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return errors.New("no command to run")
	case strings.ContainsRune(s.Argv[0], '='):
		return fmt.Errorf("%q is no command: it holds an equals sign", s.Argv[0])
	case !filepath.IsAbs(s.Worktree):
		return fmt.Errorf("worktree %q: expected an absolute path", s.Worktree)
	case s.Cwd != "" && !filepath.IsAbs(s.Cwd):
		return fmt.Errorf("working folder %q: expected an absolute path", s.Cwd)
	case s.Grace < 0 || s.Grace > time.Hour:
		return fmt.Errorf("grace %v: expected at most an hour", s.Grace)
	}
	for _, a := range s.Argv {
		if strings.IndexByte(a, 0) >= 0 {
			return fmt.Errorf("argument %q holds a NUL byte", a)
		}
	}
	for k, v := range s.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.IndexByte(v, 0) >= 0 {
			return fmt.Errorf("variable %q=%q can not be set", k, v)
		}
	}
	for _, g := range s.GPUs {
		if g.Index < 0 {
			return fmt.Errorf("GPU index %d: expected 0 or more", g.Index)
		}
	}
	for _, c := range s.Captures {
		if _, err := filepath.Match(c, ""); err != nil || filepath.Base(c) != c {
			return fmt.Errorf("capture pattern %q: expected a file name pattern without a folder", c)
		}
	}
	for _, d := range []string{s.Worktree, s.Cwd} {
		if st, err := os.Stat(d); d != "" && (err != nil || !st.IsDir()) {
			return fmt.Errorf("%s: expected a folder", d)
		}
	}
	return nil
}

// makeFolder makes a new run folder and puts its id into m.
func makeFolder(worktree string, m *runs.Manifest) (string, error) {
	root := Folder(worktree)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", fmt.Errorf("runs folder: %w", err)
	}
	for range 16 {
		var salt [2]byte
		if _, err := rand.Read(salt[:]); err != nil {
			return "", err
		}
		m.ID = runs.ID(m.Started.Format("20060102-150405") + "-" + slug(m.Preset) + "-" + hex.EncodeToString(salt[:]))
		dir := filepath.Join(root, string(m.ID))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, syncDir(root)
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("run folder: %w", err)
		}
	}
	return "", fmt.Errorf("%s: no free run id", root)
}

func slug(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '-'
		}
	}, s)
	if s = strings.Trim(s, "-"); s == "" {
		return "run"
	}
	return strings.TrimRight(s[:min(len(s), 24)], "-")
}

func hashJudges(worktree string, judges []string) ([]runs.Hashed, error) {
	var out []runs.Hashed
	for _, j := range judges {
		h, err := hashFile(filepath.Join(worktree, j))
		if err != nil {
			return nil, fmt.Errorf("hashing judge file %s: %w", j, err)
		}
		h.Path = j
		out = append(out, h)
	}
	return out, nil
}

// hashFile streams, since logs and traces are large. Path is left empty.
func hashFile(path string) (runs.Hashed, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return runs.Hashed{}, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return runs.Hashed{}, errors.Join(err, fmt.Errorf("%s: not a regular file", path))
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return runs.Hashed{}, fmt.Errorf("hashing %s: %w", path, err)
	}
	return runs.Hashed{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: n}, nil
}
