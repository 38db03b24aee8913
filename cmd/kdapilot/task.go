package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kdapilot/engine/repo"
	"kdapilot/engine/task"
	"kdapilot/probes/gitrepo"
	"kdapilot/probes/store"
	"kdapilot/probes/worktree"
)

// newTask builds `kdapilot task list|remove`.
func newTask(s streams) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use: "task", Short: "Task worktrees: list them, remove one that is clean and pushed",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exitWith(exitUsage, "task: expected list or remove SLUG")
		},
	}
	cmd.PersistentFlags().StringVar(&f.host, "host", os.Getenv("KDA_FLYDSL_LAB"), "checkout that owns the worktrees (default <workspace>/FlyDSL-lab)")
	cmd.PersistentFlags().StringVar(&f.workspace, "workspace", os.Getenv("KDA_WORKSPACE"), "folder of the worktrees (default from config.toml)")
	cmd.AddCommand(newTaskList(s, &f), newTaskRemove(s, &f))
	return cmd
}

type taskFlags struct{ host, workspace string }

// resolve fills in what was not given.
func (f *taskFlags) resolve() error {
	n := newFlags{slug: "x", family: "x", host: f.host, workspace: f.workspace}
	err := n.defaults()
	f.host, f.workspace = n.host, n.workspace
	return err
}

// taskRow is one task worktree.
type taskRow struct {
	Slug       string `json:"slug"`
	Family     string `json:"family,omitempty"`
	Path       string `json:"path"`
	Branch     string `json:"branch"`
	Head       string `json:"head"`
	BaseBranch string `json:"base_branch,omitempty"`
	BaseCommit string `json:"base_commit,omitempty"`
	// Dirty and Unpushed are nil when they could not be read: see Why.
	Dirty    *int   `json:"dirty"`
	Unpushed *int   `json:"unpushed"`
	Why      string `json:"why,omitempty"`
}

func newTaskList(s streams, f *taskFlags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "Task worktrees of the host checkout", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.resolve(); err != nil {
				return err
			}
			rows, err := taskRows(cmd.Context(), f.host)
			if err != nil {
				return err
			}
			p := printer{w: s.out}
			if asJSON {
				p.err = writeJSON(s.out, map[string]any{"tasks": rows})
			} else {
				for _, r := range rows {
					p.line("%-20s %-16s %s  %s  %s", r.Slug, orDash(r.Family), repo.Short(r.Head), r.words(), r.Path)
				}
			}
			if p.err == nil && len(rows) == 0 {
				return exitWith(exitNothing, "no task worktrees of %s", f.host)
			}
			return p.err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (r taskRow) words() string {
	if r.Dirty == nil || r.Unpushed == nil {
		return "not known: " + r.Why
	}
	if *r.Dirty == 0 && *r.Unpushed == 0 {
		return "clean, pushed"
	}
	return fmt.Sprintf("%d uncommitted, %d unpushed", *r.Dirty, *r.Unpushed)
}

// taskRows are the linked worktrees that hold a task.toml or stand on rlcr/….
func taskRows(ctx context.Context, host string) ([]taskRow, error) {
	git := gitrepo.Git{}
	list, err := git.Worktrees(ctx, host)
	if err != nil {
		return nil, exitWith(exitNothing, "%w", err)
	}
	m := worktree.Maker{Git: git}
	rows := []taskRow{}
	for i, w := range list {
		slug, onTask := strings.CutPrefix(w.Branch, "rlcr/")
		t, err := store.New(w.Path).Task()
		if i == 0 || w.Bare || !onTask && t.Slug == "" {
			continue
		}
		r := taskRow{Slug: firstNonEmpty(t.Slug, slug), Family: t.Family, Path: w.Path, Branch: w.Branch, Head: w.Head, BaseBranch: t.BaseBranch, BaseCommit: t.BaseCommit}
		if w.Prunable {
			r.Why = "its folder is gone (git worktree prune)"
		} else if l, weighErr := m.Weigh(ctx, w.Path, t.BaseCommit); weighErr != nil {
			r.Why = weighErr.Error()
		} else {
			n := len(l.Dirty)
			r.Dirty, r.Unpushed = &n, &l.Unpushed
		}
		if err != nil {
			r.Why = strings.TrimSpace(r.Why + " " + err.Error())
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func newTaskRemove(s streams, f *taskFlags) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "remove SLUG",
		Short: "Remove a task worktree; refused while anything is uncommitted or unpushed",
		Long: `remove shows what would go; --yes does it. It is refused while files are
uncommitted or commits are on no remote (as of the last fetch). The .humanize folder,
with plan, seals, runs and rounds, is moved beside the worktree and never deleted.
Branches stay.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.resolve(); err != nil {
				return err
			}
			return removeTask(cmd.Context(), s, *f, args[0], yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

func removeTask(ctx context.Context, s streams, f taskFlags, name string, yes bool) error {
	path := name
	if !strings.ContainsRune(name, '/') {
		if err := worktree.CheckSlug(name); err != nil {
			return exitWith(exitUsage, "task remove: %w", err)
		}
		path = worktree.Path(f.workspace, name)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return exitWith(exitNothing, "task remove: %w", err)
	}
	t, err := store.New(path).Task()
	if err != nil {
		t = task.Task{} // an unreadable task.toml excuses nothing
	}
	m := worktree.Maker{Git: gitrepo.Git{}}
	l, err := m.Weigh(ctx, path, t.BaseCommit)
	if err != nil {
		return exitWith(exitConfig, "task remove: %w", err)
	}
	printLoss(s, l)
	if why := l.Blocks(); len(why) > 0 {
		return exitWith(exitRed, "task remove: refused, nothing was removed: commit and push first")
	}
	if !yes {
		fmt.Fprintln(s.out, "Nothing was removed; --yes does it.")
		return nil
	}
	kept, err := m.Remove(ctx, f.host, path, t.BaseCommit, time.Now())
	if errors.Is(err, worktree.ErrLoss) {
		return exitWith(exitRed, "task remove: %w", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, "removed:", path)
	if kept != "" {
		fmt.Fprintln(s.out, "kept: plan, seals, runs and rounds in", kept)
	}
	fmt.Fprintf(s.out, "branch %s stays\n", l.Branch)
	return nil
}

func printLoss(s streams, l worktree.Loss) {
	fmt.Fprintf(s.out, "%s on %s\n", l.Path, firstNonEmpty(l.Branch, "a detached HEAD"))
	for _, line := range l.Blocks() {
		fmt.Fprintln(s.out, "  would be lost:", line)
	}
	for i, p := range l.Ignored {
		if i == 10 {
			fmt.Fprintf(s.out, "  goes with it: %d more ignored files and folders\n", len(l.Ignored)-10)
			break
		}
		fmt.Fprintln(s.out, "  goes with it: ignored", p)
	}
	if l.Evidence {
		fmt.Fprintln(s.out, "  is moved beside it: .humanize")
	}
}
