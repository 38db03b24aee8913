package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kdapilot/engine/repo"
)

// Loss is what taking a worktree away would cost.
type Loss struct {
	Path, Branch string
	// Dirty are uncommitted and untracked files outside .humanize.
	Dirty []repo.File
	// Unpushed counts commits that no remote has, as of the last fetch; Commits
	// names the newest of them.
	Unpushed int
	Commits  []string
	// Ignored are build trees, traces and the like, which go without a trace.
	Ignored []string
	// Evidence is true when there is a .humanize folder: it is moved, not removed.
	Evidence bool
}

// Blocks says why the worktree must stay; nil when it may go.
func (l Loss) Blocks() []string {
	var out []string
	if n := len(l.Dirty); n > 0 {
		out = append(out, fmt.Sprintf("%d uncommitted files", n))
		for _, f := range l.Dirty[:min(n, 10)] {
			out = append(out, "  "+string(f.Change)+"  "+f.Path)
		}
	}
	if l.Unpushed > 0 {
		out = append(out, fmt.Sprintf("%d commits that no remote has (as of the last fetch)", l.Unpushed))
		for _, c := range l.Commits {
			out = append(out, "  "+c)
		}
	}
	return out
}

// Weigh tells what removing the worktree at path would lose. base is the commit
// the task began at.
func (m Maker) Weigh(ctx context.Context, path, base string) (Loss, error) {
	l := Loss{Path: path}
	r := m.Git.Snapshot(ctx, path, "")
	switch {
	case r.State != repo.Worktree:
		return l, fmt.Errorf("%s: %s %s", path, r.State, r.Why)
	case r.GitDir == r.CommonDir:
		return l, fmt.Errorf("%s is the main checkout of its repository, not a task worktree", path)
	case !same(r.Root, path):
		return l, fmt.Errorf("%s lies inside the worktree %s", path, r.Root)
	case !r.FilesKnown:
		return l, fmt.Errorf("%s: git could not list its files", path)
	}
	l.Branch, l.Dirty = r.Branch, r.Dirty()
	if r.FileCount > len(r.Files) {
		return l, fmt.Errorf("%s: %d changed files, too many to weigh", path, r.FileCount)
	}
	if base != "" {
		if _, err := m.Git.Commit(ctx, path, base); err != nil {
			base = "" // a base that is gone excuses nothing
		}
	}
	var err error
	if l.Commits, l.Unpushed, err = unpushed(ctx, path, "HEAD", base, 10); err != nil {
		return l, err
	}
	all, err := ignored(ctx, path)
	if err != nil {
		return l, err
	}
	for _, p := range all {
		if !strings.HasPrefix(p, repo.HumanizeDir) {
			l.Ignored = append(l.Ignored, p)
		}
	}
	_, err = os.Lstat(filepath.Join(path, repo.HumanizeDir))
	l.Evidence = err == nil
	return l, nil
}

// ErrLoss is wrapped when a removal would lose work.
var ErrLoss = errors.New("work would be lost")

// Remove takes the worktree away after weighing it anew. The .humanize folder
// is moved beside it first; kept is its new place. Branches stay.
func (m Maker) Remove(ctx context.Context, host, path, base string, now time.Time) (kept string, err error) {
	l, err := m.Weigh(ctx, path, base)
	if err != nil {
		return "", err
	}
	if why := l.Blocks(); len(why) > 0 {
		return "", fmt.Errorf("%s: %s: %w", path, strings.TrimSpace(why[0]), ErrLoss)
	}
	from := filepath.Join(path, repo.HumanizeDir)
	if l.Evidence {
		kept = path + ".humanize-" + now.UTC().Format("20060102-150405")
		if _, err := os.Lstat(kept); err == nil {
			return "", fmt.Errorf("%s is already there", kept)
		}
		if err := os.Rename(from, kept); err != nil {
			return "", fmt.Errorf("keep the evidence: %w", err)
		}
	}
	if err := m.Git.RemoveWorktree(ctx, host, path); err != nil {
		if kept != "" {
			err = errors.Join(err, os.Rename(kept, from))
		}
		return "", err
	}
	return kept, nil
}
