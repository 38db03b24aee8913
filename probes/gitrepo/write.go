package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kdapilot/engine/text"
)

// writeTimeout is longer than a question's: a checkout of a large tree takes time.
const writeTimeout = 2 * time.Minute

// CreateBranch makes a local branch at a commit. It refuses if the branch
// exists, whatever it points to, and never moves one.
func (g Git) CreateBranch(ctx context.Context, dir, name, commit string) error {
	if err := errors.Join(checkRev(name), checkRev(commit)); err != nil {
		return fmt.Errorf("new branch: %w", err)
	}
	_, err := g.write(ctx, dir, "branch", "--no-track", "--end-of-options", name, commit)
	return err
}

// AddWorktree checks a new branch out into a new folder. It refuses if the
// folder or the branch exists. An empty branch gives a detached checkout.
func (g Git) AddWorktree(ctx context.Context, dir, path, branch, commit string) error {
	if err := checkRev(commit); err != nil {
		return fmt.Errorf("new worktree: %w", err)
	}
	if !filepath.IsAbs(path) {
		return fmt.Errorf("new worktree %q: expected an absolute path", text.Line(path))
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("new worktree %s: already there", text.Line(path))
	}
	args := []string{"worktree", "add", "--quiet"}
	if branch == "" {
		args = append(args, "--detach")
	} else {
		if err := checkRev(branch); err != nil {
			return fmt.Errorf("new worktree: %w", err)
		}
		args = append(args, "--no-track", "-b", branch)
	}
	_, err := g.write(ctx, dir, append(args, "--", path, commit)...)
	return err
}

// RemoveWorktree removes a linked worktree that is clean; git itself refuses
// one with uncommitted files.
func (g Git) RemoveWorktree(ctx context.Context, dir, path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("removing worktree %q: expected an absolute path", text.Line(path))
	}
	_, err := g.write(ctx, dir, "worktree", "remove", "--", path)
	return err
}

// Init makes a repository with one commit of everything in dir, for the demo.
func (g Git) Init(ctx context.Context, dir, branch, subject string) error {
	if err := checkRev(branch); err != nil {
		return fmt.Errorf("new repository: %w", err)
	}
	if _, err := g.write(ctx, dir, "init", "--quiet", "-b", branch); err != nil {
		return err
	}
	return g.CommitAll(ctx, dir, subject)
}

// CommitAll commits everything in dir but .humanize, for the demo. The author
// is a fixed stand-in, so that it works without a git identity.
func (g Git) CommitAll(ctx context.Context, dir, subject string) error {
	if _, err := g.exec(ctx, dir, nil, "add", []string{"add", "--all", "--", ".", ":(exclude,top).humanize"}); err != nil {
		return err
	}
	_, err := g.write(ctx, dir, "-c", "user.name=kdapilot demo", "-c", "user.email=demo@kdapilot.invalid",
		"-c", "commit.gpgSign=false", "commit", "--quiet", "--no-verify", "-m", subject)
	return err
}

// write runs a changing command with the longer limit. Hooks of the repository
// run as they would for the user.
func (g Git) write(ctx context.Context, dir string, args ...string) ([]byte, error) {
	if g.Timeout < writeTimeout {
		g.Timeout = writeTimeout
	}
	name := args[0]
	if name == "-c" {
		name = "commit"
	}
	return g.exec(ctx, dir, nil, name, args)
}

// Prune forgets linked worktrees whose folder is gone.
func (g Git) Prune(ctx context.Context, dir string) error {
	_, err := g.write(ctx, dir, "worktree", "prune")
	return err
}
