package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/repo"
	"kdapilot/engine/safe"
	"kdapilot/engine/text"
)

// Snapshot reads what the screens show about the repository around dir, with at
// most four git processes. base is a local branch name or a full commit id, or
// empty. It never fails: what could not be read is in State, Why and the
// statuses.
func (g Git) Snapshot(ctx context.Context, dir, base string) repo.Repo {
	r := repo.Repo{Origin: fact.Origin{Path: dir, ReadAt: time.Now()}}
	lines, err := g.locate(ctx, dir, base)
	if state, why := classify(dir, lines, err); state != repo.Worktree {
		r.State, r.Why = state, why
		r.Origin.Status, r.Origin.Why = statusOf(state), why
		return r
	}
	r.State, r.GitDir, r.CommonDir, r.Root = repo.Worktree, absolute(dir, lines[1]), absolute(dir, lines[2]), lines[3]
	if base != "" {
		r.Base = resolved(base, lines, err)
	}
	g.fill(ctx, &r)
	return r
}

// locate asks where the repository is and what base means, in one process.
// Lines: is bare, git dir, common dir, top folder, commit of base.
func (g Git) locate(ctx context.Context, dir, base string) ([]string, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	args := []string{"rev-parse", "--is-bare-repository", "--absolute-git-dir", "--git-common-dir", "--show-toplevel"}
	if base != "" && checkRev(base) == nil {
		args = append(args, baseRev(base))
	}
	out, err := g.read(ctx, dir, nil, args...)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), err
}

func baseRev(base string) string {
	if isCommitID(base) {
		return base + "^{commit}"
	}
	return "refs/heads/" + base + "^{commit}"
}

// classify tells a usable worktree from all the other things a folder can be.
func classify(dir string, lines []string, err error) (repo.State, string) {
	var ge *Error
	switch {
	case errors.Is(err, fs.ErrNotExist) && !errors.As(err, &ge):
		return repo.Gone, text.Line(dir) + " does not exist"
	case errors.Is(err, exec.ErrNotFound):
		return repo.NoTool, "git is not on PATH"
	case len(lines) >= 2 && lines[0] == "true":
		return repo.Bare, text.Line(dir) + " is a bare repository, there are no files to look at"
	case len(lines) >= 4 && filepath.IsAbs(lines[1]) && filepath.IsAbs(lines[3]):
		return repo.Worktree, "" // an error, if any, is about base
	case err == nil:
		return repo.Failed, "git rev-parse gave an answer that is not understood"
	case errors.As(err, &ge) && strings.Contains(ge.Text, "not a git repository"):
		return repo.None, "no repository around " + text.Line(dir)
	case errors.As(err, &ge) && strings.Contains(ge.Text, "dubious ownership"):
		return repo.Refused, "the folder belongs to another user; if it is yours: git config --global --add safe.directory " + text.Line(dir)
	default:
		return repo.Failed, text.Line(err.Error())
	}
}

func statusOf(s repo.State) fact.Status {
	if s == repo.Gone || s == repo.None {
		return fact.Missing
	}
	return fact.Unreadable
}

func absolute(dir, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	if a, err := filepath.Abs(filepath.Join(dir, p)); err == nil {
		return a
	}
	return p
}

func resolved(base string, lines []string, err error) *repo.Base {
	b := &repo.Base{Ref: text.Line(base), IsBranch: !isCommitID(base), Status: fact.OK}
	switch {
	case checkRev(base) != nil:
		b.Status, b.Why = fact.Unreadable, checkRev(base).Error()
	case len(lines) >= 5 && isCommitID(lines[4]):
		b.Commit = lines[4]
	case b.IsBranch:
		b.Status, b.Why = fact.Missing, "no local branch "+b.Ref
	default:
		b.Status, b.Why = fact.Missing, "no commit "+b.Ref+" in this repository"
	}
	var ge *Error
	if b.Commit == "" && errors.As(err, &ge) && ge.Err != nil {
		b.Status, b.Why = fact.Unreadable, ge.Error()
	}
	return b
}

// fill asks the three slower questions at the same time.
func (g Git) fill(ctx context.Context, r *repo.Repo) {
	var st status
	var ahead []repo.Commit
	var behind int
	var diff repo.DiffStat
	var stErr, logErr, diffErr error
	var wg sync.WaitGroup
	ask := func(name string, to *error, fn func() error) {
		wg.Add(1)
		safe.Go("git "+name, func(err error) { *to = err; wg.Done() }, func() { *to = fn(); wg.Done() })
	}
	ask("status", &stErr, func() (err error) { st, err = g.status(ctx, r.Root); return })
	if r.Base != nil && r.Base.Commit != "" {
		ask("log", &logErr, func() (err error) { ahead, behind, err = g.log(ctx, r.Root, r.Base.Commit+"...HEAD"); return })
		ask("diff", &diffErr, func() (err error) { diff, err = g.DiffStat(ctx, r.Root, r.Base.Commit, "HEAD"); return })
	}
	wg.Wait()
	r.Origin.Status = fact.OK
	if stErr != nil {
		r.Why = text.Line(stErr.Error())
		r.Origin.Status, r.Origin.Why = fact.Unreadable, r.Why
	} else {
		applyStatus(r, st)
	}
	if r.Base != nil && r.Base.Commit != "" && !r.Unborn {
		applyBase(r.Base, ahead, behind, &diff, logErr, diffErr)
	}
}

func applyStatus(r *repo.Repo, st status) {
	r.Head, r.Unborn = st.head, st.head == ""
	r.Branch, r.Upstream = st.branch, st.upstream
	if st.branch == "(detached)" && detached(r.GitDir) {
		r.Branch, r.Detached = "", true
	}
	if st.distanceKnown {
		r.UpstreamDistance = &repo.Distance{Ahead: st.ahead, Behind: st.behind}
	}
	r.Files, r.FileCount, r.FilesKnown = st.files, st.count, true
}

func applyBase(b *repo.Base, ahead []repo.Commit, behind int, diff *repo.DiffStat, logErr, diffErr error) {
	if logErr == nil {
		cut := len(ahead)+behind >= commitLimit
		b.Commits = ahead
		b.Distance = &repo.Distance{Ahead: len(ahead), Behind: behind, AtLeast: cut}
		// The base has commits of its own exactly if it is no ancestor of HEAD.
		if is := behind == 0; !is || !cut {
			b.IsAncestor = &is
		}
	}
	if diffErr == nil {
		b.Diff = diff
	}
	if err := errors.Join(logErr, diffErr); err != nil {
		b.Status, b.Why = fact.Unreadable, text.Line(err.Error())
	}
}

func (g Git) status(ctx context.Context, root string) (status, error) {
	// "normal" names an untracked folder once, as Humanize's own check does, and
	// keeps a forgotten build folder from costing a hundred thousand lines.
	out, err := g.read(ctx, root, nil, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=none")
	if err != nil {
		return status{}, err
	}
	st, err := parseStatus(out)
	if err != nil {
		return st, fmt.Errorf("git status in %s: %w", root, err)
	}
	return st, nil
}

func (g Git) log(ctx context.Context, root, span string) ([]repo.Commit, int, error) {
	out, err := g.read(ctx, root, nil, "log", "-z", "--left-right", "--no-color", "--no-decorate", "--no-notes", "--encoding=UTF-8",
		"--format=%m%x09%H%x09%ct%x09%s", fmt.Sprintf("--max-count=%d", commitLimit), span, "--")
	if err != nil {
		return nil, 0, err
	}
	ahead, behind, err := parseLog(out)
	if err != nil {
		return nil, 0, fmt.Errorf("git log in %s: %w", root, err)
	}
	return ahead, behind, nil
}
