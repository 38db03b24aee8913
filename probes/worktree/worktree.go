// Package worktree is the probe that makes the worktree of a task and takes it
// away again: branch, checkout, locked base branch, run environment, draft,
// ignore lines, links to compiled bindings.
//
// Guarantees: Plan changes nothing and shows every step; Do does exactly the
// steps that were shown, and takes back what it made if one fails; a step that
// is already done is left alone, so that running twice is safe; no file that
// somebody else wrote is overwritten, and the tracked .gitignore is never
// touched, since Humanize's setup refuses a tree with changes.
//
// What may not enter: what a family or a contract says. Bytes are handed in.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"kdapilot/engine/repo"
)

// Git is what this probe asks of git.
type Git interface {
	Snapshot(ctx context.Context, dir, base string) repo.Repo
	Commit(ctx context.Context, dir, rev string) (string, error)
	Branch(ctx context.Context, dir, name string) (string, error)
	CreateBranch(ctx context.Context, dir, name, commit string) error
	AddWorktree(ctx context.Context, dir, path, branch, commit string) error
	RemoveWorktree(ctx context.Context, dir, path string) error
	Worktrees(ctx context.Context, dir string) ([]repo.LinkedWorktree, error)
}

// Where a task lives.
const (
	KernelAgent = ".humanize/kernel-agent"
	RunEnvPath  = KernelAgent + "/runenv.sh"
	DraftPath   = KernelAgent + "/draft.md"
	IssuePath   = KernelAgent + "/issue.md"
	TaskPath    = ".humanize/kdapilot/task.toml"
)

// BaseBranch and TaskBranch name the branches of a slug.
func BaseBranch(slug string) string { return "rocm-kda-base/" + slug }

// TaskBranch is the branch the loop works on.
func TaskBranch(slug string) string { return "rlcr/" + slug }

// Path is the worktree of a slug.
func Path(workspace, slug string) string { return filepath.Join(workspace, "FlyDSL-"+slug) }

var slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// CheckSlug says what is wrong with a slug; nil when nothing is.
func CheckSlug(slug string) error {
	if !slugForm.MatchString(slug) {
		return fmt.Errorf("slug %q: expected small letters, digits and dashes, for example fa-splitk", slug)
	}
	return nil
}

// Spec is a task to make. Everything in it is decided before anything is done.
type Spec struct {
	Slug string
	// Host is the checkout that owns the worktrees; Path the new folder.
	Host, Path string
	// Commit is the full id the base is pinned at.
	Commit string
	// BuildFrom is a built checkout whose bindings are linked, "" for none.
	BuildFrom string
	// Exclude are lines for .git/info/exclude.
	Exclude []string
	// Files are written into the worktree in this order. They are kept when
	// they are already there.
	Files []File
}

// File is one file of the task, relative to the worktree.
type File struct {
	Path  string
	Bytes []byte
	What  string
}

// Status is how a step stands before it is done.
type Status string

// The statuses.
const (
	Todo     Status = "to do"
	There    Status = "already there"
	Kept     Status = "kept as it is"
	Conflict Status = "conflict"
)

// Step is one thing Do does.
type Step struct {
	What   string `json:"what"`
	Status Status `json:"status"`
	// Why explains Kept and Conflict.
	Why string `json:"why,omitempty"`

	do   func(ctx context.Context) error
	undo func(ctx context.Context) error
}

// ErrConflict is wrapped when something stands in the way.
var ErrConflict = errors.New("something is in the way")

// Maker makes worktrees.
type Maker struct{ Git Git }

// Plan gives the steps in order. It changes nothing. A Conflict among them
// means that Do refuses.
func (m Maker) Plan(ctx context.Context, s Spec) ([]Step, error) {
	if err := CheckSlug(s.Slug); err != nil {
		return nil, err
	}
	host := m.Git.Snapshot(ctx, s.Host, "")
	if host.State != repo.Worktree {
		return nil, fmt.Errorf("host checkout %s: %s %s", s.Host, host.State, host.Why)
	}
	steps := []Step{m.baseBranch(ctx, s), m.checkout(ctx, s), exclude(host.CommonDir, s.Exclude)}
	links, err := bindings(s)
	if err != nil {
		return nil, err
	}
	steps = append(steps, links...)
	for _, f := range s.Files {
		steps = append(steps, file(s.Path, f))
	}
	return steps, nil
}

// Conflicts lists the steps that stand in the way.
func Conflicts(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		if s.Status == Conflict {
			out = append(out, s)
		}
	}
	return out
}

// Do carries out the steps. If one fails, or ctx is cancelled, what was made is
// taken back in reverse order; the error then also says what could not be.
// progress is called after each step that was done; it may be nil.
func Do(ctx context.Context, steps []Step, progress func(Step)) error {
	if bad := Conflicts(steps); len(bad) > 0 {
		return fmt.Errorf("%s: %s: %w", bad[0].What, bad[0].Why, ErrConflict)
	}
	var done []Step
	for _, s := range steps {
		if s.Status != Todo {
			continue
		}
		err := ctx.Err()
		if err == nil {
			err = s.do(ctx)
		}
		if err != nil {
			return takeBack(ctx, done, fmt.Errorf("%s: %w", s.What, err))
		}
		done = append(done, s)
		if progress != nil {
			progress(s)
		}
	}
	return nil
}

func takeBack(ctx context.Context, done []Step, cause error) error {
	ctx = context.WithoutCancel(ctx)
	errs := []error{cause}
	for i := len(done) - 1; i >= 0; i-- {
		if err := done[i].undo(ctx); err != nil {
			errs = append(errs, fmt.Errorf("left behind: %s: %w", done[i].What, err))
		}
	}
	if len(errs) == 1 && len(done) > 0 {
		return fmt.Errorf("%w (what had been made was taken back)", cause)
	}
	return errors.Join(errs...)
}

func (m Maker) baseBranch(ctx context.Context, s Spec) Step {
	name := BaseBranch(s.Slug)
	st := Step{What: "local branch " + name + " at " + s.Commit, Status: Todo}
	at, err := m.Git.Branch(ctx, s.Host, name)
	switch {
	case err == nil && at == s.Commit:
		st.Status = There
	case err == nil:
		st.Status, st.Why = Conflict, "it stands at "+at+": the task is locked there; give --base "+at+" to go on with it"
	}
	st.do = func(ctx context.Context) error { return m.Git.CreateBranch(ctx, s.Host, name, s.Commit) }
	st.undo = func(ctx context.Context) error { return deleteBranch(ctx, s.Host, name, s.Commit) }
	return st
}

func (m Maker) checkout(ctx context.Context, s Spec) Step {
	branch := TaskBranch(s.Slug)
	st := Step{What: "worktree " + s.Path + " on new branch " + branch, Status: Todo}
	tip, err := m.Git.Branch(ctx, s.Host, branch)
	hasBranch := err == nil
	_, statErr := os.Lstat(s.Path)
	switch here, err := m.linked(ctx, s); {
	case err != nil:
		st.Status, st.Why = Conflict, err.Error()
	case here != nil && here.Branch == branch:
		st.Status = There
	case here != nil:
		st.Status, st.Why = Conflict, "it is a worktree on "+here.Branch
	case statErr == nil:
		st.Status, st.Why = Conflict, "the folder is there and is no worktree of "+s.Host
	case hasBranch:
		st.Status, st.Why = Conflict, "the branch is there at "+repo.Short(tip)+" without its worktree: git worktree add "+s.Path+" "+branch+", or take another slug"
	}
	st.do = func(ctx context.Context) error {
		if err := os.MkdirAll(filepath.Dir(s.Path), 0o755); err != nil {
			return err
		}
		return m.Git.AddWorktree(ctx, s.Host, s.Path, branch, s.Commit)
	}
	st.undo = func(ctx context.Context) error {
		return errors.Join(forceRemove(ctx, s.Host, s.Path), deleteBranch(ctx, s.Host, branch, s.Commit))
	}
	return st
}

// linked finds the worktree at s.Path, nil when there is none.
func (m Maker) linked(ctx context.Context, s Spec) (*repo.LinkedWorktree, error) {
	list, err := m.Git.Worktrees(ctx, s.Host)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if !list[i].Prunable && same(list[i].Path, s.Path) {
			return &list[i], nil
		}
	}
	return nil, nil
}

func same(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := filepath.EvalSymlinks(a)
	y, errY := filepath.EvalSymlinks(b)
	return errX == nil && errY == nil && x == y
}
