package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"kdapilot/engine/fact"
	"kdapilot/engine/runs"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

const (
	recordLimit = 4 << 20 // bytes of one JSON record
	listLimit   = 2000    // runs of one worktree that are listed, newest first
)

// writeRecord replaces name in dir whole and synced, so that no reader ever
// sees half of it and a power cut can not lose it.
func writeRecord(dir, name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	path := filepath.Join(dir, name)
	if err := renameio.WriteFile(path, append(b, '\n'), 0o644, renameio.WithTempDir(dir)); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}

// Read reads one run folder. The error wraps ErrNoRun if there is no manifest;
// a manifest that can not be understood is a Run in state Unreadable, because
// its folder must not vanish from the list.
//
// The Run is shared: callers must not change what it points to.
func (r *Runner) Read(dir string) (runs.Run, error) {
	manifest, result := stampOf(dir, ManifestFile), stampOf(dir, ResultFile)
	r.mu.Lock()
	c, ok := r.closed[dir]
	r.mu.Unlock()
	if ok && result != nil && same(c.manifest, manifest) && same(c.result, result) {
		return c.run, nil
	}
	out, err := r.read(dir)
	if err == nil && out.Result != nil && manifest != nil && result != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.closed == nil || len(r.closed) > 2*listLimit {
			r.closed = map[string]closedRun{}
		}
		r.closed[dir] = closedRun{out, manifest, result}
	}
	return out, err
}

// closedRun is a run that was read whole, with the files it was read from.
type closedRun struct {
	run              runs.Run
	manifest, result fs.FileInfo
}

func stampOf(dir, name string) fs.FileInfo {
	st, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	return st
}

func same(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (r *Runner) read(dir string) (runs.Run, error) {
	out := runs.Run{ID: runs.ID(text.Line(filepath.Base(dir))), Dir: dir}
	b, o, err := readfile.Hashed(filepath.Join(dir, ManifestFile), recordLimit)
	out.Origin = o
	if errors.Is(err, fs.ErrNotExist) {
		return out, fmt.Errorf("%s: %w: no %s in it", dir, ErrNoRun, ManifestFile)
	}
	out.StdoutBytes, out.StderrBytes = sizeOf(dir, StdoutFile), sizeOf(dir, StderrFile)
	var m runs.Manifest
	if err == nil {
		m, err = runs.DecodeManifest(b)
	}
	if err != nil {
		out.State, out.Why = runs.Unreadable, text.Line(fmt.Sprintf("%s: %v", o.Path, err))
		out.Origin.Status, out.Origin.Why = fact.Unreadable, out.Why
		return out, nil
	}
	out.Manifest = m.Clean()
	out.Progress.Expected = m.ExpectedCells
	out.Status = readStatus(dir)
	r.settle(&out, m)
	return out, nil
}

// settle decides the state from result, status and the processes themselves.
func (r *Runner) settle(out *runs.Run, m runs.Manifest) {
	// The supervisor may write its result and vanish between two looks, so the
	// result is looked for again after the processes were found gone.
	for range 2 {
		res, err := readResult(out.Dir)
		if res != nil {
			out.Result, out.State, out.Why, out.Partial = res, res.State, res.Why, res.Partial
			return
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			out.State, out.Why, out.Partial = runs.Unreadable, text.Line(err.Error()), true
			return
		}
		out.State, out.Why, out.ChildAlive = r.Executor.State(out.Dir, m, out.Status)
		if out.State != runs.Lost {
			break
		}
	}
	out.Partial = out.State == runs.Lost
}

func readStatus(dir string) *runs.Status {
	b, _, err := readfile.All(filepath.Join(dir, StatusFile), recordLimit)
	if err != nil {
		return nil
	}
	s, err := runs.DecodeStatus(b)
	if err != nil {
		return nil
	}
	s.Why = text.Line(s.Why)
	return &s
}

func readResult(dir string) (*runs.Result, error) {
	path := filepath.Join(dir, ResultFile)
	b, _, err := readfile.All(path, recordLimit)
	if err != nil {
		return nil, err
	}
	res, err := runs.DecodeResult(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	res = res.Clean()
	return &res, nil
}

func sizeOf(dir, name string) int64 {
	if st, err := os.Stat(filepath.Join(dir, name)); err == nil {
		return st.Size()
	}
	return 0
}

// List reads all runs of a worktree, newest first. No runs folder is an empty
// list. The error, if any, names folders that could not be read; the rest is
// listed all the same.
func (r *Runner) List(worktree string) ([]runs.Run, error) {
	dir := Folder(worktree)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("runs of %s: %w", worktree, err)
	}
	slices.Reverse(entries) // ids sort by start time
	var out []runs.Run
	var errs []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if len(out) == listLimit {
			errs = append(errs, fmt.Errorf("%s: only the newest %d runs are listed", dir, listLimit))
			break
		}
		one, err := r.Read(filepath.Join(dir, e.Name()))
		if errors.Is(err, ErrNoRun) {
			continue // a folder that is just being made
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, one)
	}
	return out, errors.Join(errs...)
}

// Find reads the run with this id.
func (r *Runner) Find(worktree string, id runs.ID) (runs.Run, error) {
	if id == "" || filepath.Base(string(id)) != string(id) {
		return runs.Run{}, fmt.Errorf("%q is not a run id: %w", text.Line(string(id)), ErrNoRun)
	}
	return r.Read(filepath.Join(Folder(worktree), string(id)))
}
