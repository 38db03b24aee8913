package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kdapilot/engine/runs"
)

const captureLimit = 256 // files taken by one run

// stamp tells whether a file was rewritten.
type stamp struct {
	size int64
	mod  time.Time
	info fs.FileInfo
}

// listCaptures finds the files that match the patterns now. A harness that
// crashes leaves the previous run's CSV in place, so what is there before the
// start is remembered.
func (s *supervisor) listCaptures() map[string]stamp {
	out := map[string]stamp{}
	if len(s.m.Captures) == 0 {
		return out
	}
	entries, err := os.ReadDir(s.m.Cwd)
	if err != nil {
		return out
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.ContainsFunc(s.m.Captures, func(p string) bool {
			ok, err := filepath.Match(p, e.Name())
			return err == nil && ok
		}) {
			continue
		}
		if info, err := e.Info(); err == nil {
			out[e.Name()] = stamp{info.Size(), info.ModTime(), info}
		}
	}
	return out
}

// capture moves the matching files that this run wrote into its folder, before
// the next run can overwrite them. Files it did not write stay and are named.
func (s *supervisor) capture(before map[string]stamp, started time.Time) (moved, stale []string, err error) {
	now := s.listCaptures()
	names := make([]string, 0, len(now))
	for n := range now {
		names = append(names, n)
	}
	slices.Sort(names)
	var errs []error
	for _, n := range names {
		old, was := before[n]
		st := now[n]
		// File systems round times down, by up to two seconds on some.
		fresh := !st.mod.Before(started.Add(-2 * time.Second))
		if !fresh || was && old.size == st.size && old.mod.Equal(st.mod) && os.SameFile(old.info, st.info) {
			stale = append(stale, n)
			continue
		}
		if len(moved) == captureLimit {
			errs = append(errs, fmt.Errorf("more than %d files match %v, the rest stays in %s", captureLimit, s.m.Captures, s.m.Cwd))
			break
		}
		to := n
		if ours(n) {
			to = "captured-" + n
		}
		if err := move(filepath.Join(s.m.Cwd, n), filepath.Join(s.dir, to)); err != nil {
			errs = append(errs, fmt.Errorf("capturing %s: %w", n, err))
			continue
		}
		moved = append(moved, to)
	}
	return moved, stale, errors.Join(errs...)
}

func ours(name string) bool {
	switch name {
	case ManifestFile, StatusFile, ResultFile, StdoutFile, StderrFile, RowsFile, SupervisorLog, cancelFile:
		return true
	}
	return false
}

// move renames, or copies across file systems and removes only after a sync.
func move(from, to string) error {
	if os.Rename(from, to) == nil {
		return nil
	}
	src, err := os.OpenFile(from, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err = errors.Join(err, dst.Sync(), dst.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return os.Remove(from)
}

// seal hashes every file of the run folder and takes away the right to write,
// so that a later change needs intent and shows. Rows are left open: whoever
// parses the log may still be writing them.
func seal(dir string) ([]runs.Hashed, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	var out []runs.Hashed
	var errs []error
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == RowsFile || e.Name() == ResultFile || e.Name() == SupervisorLog {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if err := os.Chmod(path, 0o444); err != nil {
			errs = append(errs, err)
		}
		h, err := hashFile(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		h.Path = e.Name()
		out = append(out, h)
	}
	return out, errors.Join(errs...)
}

// Verify compares the files of a closed run with the hashes in its result. It
// returns one line per difference.
func Verify(run runs.Run) []string {
	if run.Result == nil {
		return []string{"the run is not closed"}
	}
	var bad []string
	for _, want := range run.Result.Files {
		if filepath.Base(want.Path) != want.Path {
			bad = append(bad, want.Path+": expected a plain file name")
			continue
		}
		got, err := hashFile(filepath.Join(run.Dir, want.Path))
		switch {
		case err != nil:
			bad = append(bad, want.Path+": "+err.Error())
		case got.SHA256 != want.SHA256:
			bad = append(bad, want.Path+": bytes changed since the run was closed")
		}
	}
	return bad
}
