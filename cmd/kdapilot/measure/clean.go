package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/engine/bench"
	"kdapilot/engine/repo"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/probes/gitrepo"
	"kdapilot/probes/run"
	"kdapilot/probes/worktree"
)

// Clean is what to run in a checkout that nobody has touched.
type Clean struct {
	// Worktree is the task's; the runs are kept there. Commit is what is checked
	// out.
	Worktree, Commit string
	Preset           string
	GPU              int
	// Arm labels the runs: control or verify. Repeats is how many there are.
	Arm     string
	Repeats int
}

// Kept is a run that was kept, with its rows; Result is nil when it has none.
type Kept struct {
	Run    runs.Run      `json:"run"`
	Result *bench.Result `json:"result"`
}

// RunClean runs a preset in a detached checkout of a commit, beside the
// worktree, and takes the checkout away again. The run folders are moved into
// the worktree, where the cockpit lists them. After an error those that were
// kept so far are given too.
func (d *Driver) RunClean(ctx context.Context, c Clean) ([]Kept, error) {
	d.nameLeft(ctx, c.Worktree)
	tmp, err := os.MkdirTemp("", tempPrefix+c.Arm+"-")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Arm, err)
	}
	defer os.Remove(tmp)
	tree := filepath.Join(tmp, filepath.Base(c.Worktree))
	git := gitrepo.Git{}
	if err := git.AddWorktree(ctx, c.Worktree, tree, "", c.Commit); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Arm, err)
	}
	kept, err := d.runIn(ctx, c, tree)
	if s := d.open[tree]; s != nil {
		s.Close()
		delete(d.open, tree)
	}
	if cleanErr := dropTree(context.WithoutCancel(ctx), git, c.Worktree, tree); err == nil {
		err = cleanErr
	}
	return kept, err
}

// tempPrefix begins the name of the folder that holds a clean checkout.
const tempPrefix = "kdapilot-clean-"

// nameLeft tells of checkouts that are still there. One may belong to a process
// that is at work, so none is taken away here.
func (d *Driver) nameLeft(ctx context.Context, root string) {
	list, err := gitrepo.Git{}.Worktrees(ctx, root)
	if err != nil {
		return // the checkout that comes next will fail and say why
	}
	for _, w := range list {
		if strings.HasPrefix(filepath.Base(filepath.Dir(w.Path)), tempPrefix) {
			d.Say("a clean checkout is there already: %s: of another process, or left by one that was killed", w.Path)
		}
	}
}

func (d *Driver) runIn(ctx context.Context, c Clean, tree string) ([]Kept, error) {
	if err := furnish(c.Worktree, tree); err != nil {
		return nil, err
	}
	s, err := d.session(ctx, tree)
	if err != nil {
		return nil, err
	}
	var out []Kept
	for i := range c.Repeats {
		if ctx.Err() != nil {
			return out, fmt.Errorf("%w before run %d of %d", ErrStopped, i+1, c.Repeats)
		}
		one, err := d.oneClean(ctx, s, c)
		if one.Run.ID != "" {
			out = append(out, one)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (d *Driver) oneClean(ctx context.Context, s *live.Session, c Clean) (Kept, error) {
	j := job{
		start: session.StartRun{Preset: c.Preset, GPU: c.GPU, Arm: c.Arm},
		limit: d.limit(s.Snapshot(), c.Preset),
		started: func(id runs.ID) error {
			d.Say("%s in a clean checkout of %.9s: run %s", c.Arm, c.Commit, id)
			return nil
		},
	}
	r, err := j.do(ctx, s)
	if r.ID == "" {
		return Kept{}, err
	}
	out := Kept{Run: r, Result: s.Snapshot().Results[r.ID]}
	to := filepath.Join(run.Folder(c.Worktree), string(r.ID))
	if keepErr := keep(r.Dir, to); keepErr != nil {
		return out, errors.Join(err, fmt.Errorf("keeping run %s: %w", r.ID, keepErr))
	}
	out.Run.Dir = to
	if err == nil {
		err = ended(&r)
	}
	return out, err
}

// keep copies a closed run folder, which may lie on another file system.
func keep(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.Rename(from, to); err == nil {
		return nil
	}
	return os.CopyFS(to, os.DirFS(from))
}

// furnish puts beside the checked out files what git does not keep: which task
// it is, its own run environment, and links to the worktree's compiled bindings.
func furnish(from, tree string) error {
	task := filepath.Join(".humanize", "kdapilot", "task.toml")
	if b, err := os.ReadFile(filepath.Join(from, task)); err == nil {
		if err := write(filepath.Join(tree, task), b); err != nil {
			return err
		}
	}
	for _, name := range []string{"build-fly", "build-fly-own", filepath.Join("python", "flydsl", "_mlir")} {
		real, err := filepath.EvalSymlinks(filepath.Join(from, name))
		if err != nil {
			continue // not built here: the run will say so
		}
		at := filepath.Join(tree, name)
		if _, err := os.Lstat(at); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(real, at); err != nil {
			return err
		}
	}
	return write(filepath.Join(tree, worktree.RunEnvPath), worktree.RunEnv(tree))
}

func write(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

// dropTree takes the checkout away. Nobody works in it; what a run left behind
// beside the tracked files goes with it, a changed tracked file does not.
func dropTree(ctx context.Context, git gitrepo.Git, host, tree string) error {
	r := git.Snapshot(ctx, tree, "")
	if r.State != repo.Worktree || !r.FilesKnown {
		return fmt.Errorf("the clean checkout %s is left: whether the run changed files is not known: %s", tree, r.Why)
	}
	for _, f := range r.Dirty() {
		if f.Change != repo.Untracked {
			return fmt.Errorf("the clean checkout %s is left: the run changed %s", tree, f.Path)
		}
	}
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	return git.Prune(ctx, host)
}
