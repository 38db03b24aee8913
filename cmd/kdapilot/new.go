package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/families"
	"kdapilot/cmd/kdapilot/ready"
	"kdapilot/engine/family"
	"kdapilot/engine/preflight"
	"kdapilot/engine/task"
	"kdapilot/engine/text"
	"kdapilot/probes/gitrepo"
	"kdapilot/probes/host"
	"kdapilot/probes/worktree"
	"kdapilot/templates"
)

// newFlags are the arguments of `kdapilot new`.
type newFlags struct {
	slug, family, base, host, workspace, arch, gpu string
	buildFrom, model, title, goal, aiter           string
	issueFile, issue                               string
	dryRun, open, noPreflight, asJSON              bool
}

// newNew builds `kdapilot new`.
func newNew(s streams) *cobra.Command {
	var f newFlags
	cmd := &cobra.Command{
		Use:   "new --family F --slug S [--base REF]",
		Short: "Make the worktree of a task: branches, draft, run environment; stops before gate 1",
		Long: `new makes <workspace>/FlyDSL-<slug> on branch rlcr/<slug>, the local branch
rocm-kda-base/<slug> at the pinned base commit (Humanize takes local branches only),
the draft from the family's contract, runenv.sh and task.toml. Build products and
.humanize are ignored through .git/info/exclude, never through the tracked
.gitignore.

Every step is shown before it is done; --dry-run stops there. If a step fails, what
was made is taken back. Running it again does what is missing and leaves the rest.
Nothing is fetched: --base upstream/main is that branch as of the last fetch.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runNew(cmd.Context(), s, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.slug, "slug", "", "short name, for example fa-splitk")
	fl.StringVar(&f.family, "family", "", "kernel family (kdapilot family list)")
	fl.StringVar(&f.base, "base", "upstream/main", "branch, tag or commit the task is locked to")
	fl.StringVar(&f.host, "host", os.Getenv("KDA_FLYDSL_LAB"), "checkout that owns the worktrees (default <workspace>/FlyDSL-lab)")
	fl.StringVar(&f.workspace, "workspace", os.Getenv("KDA_WORKSPACE"), "folder of the worktrees (default from config.toml)")
	fl.StringVar(&f.arch, "arch", "", "target, for example gfx950 (default: the family's first)")
	fl.StringVar(&f.gpu, "gpu", "$GPU", "device index that goes into the draft's commands")
	fl.StringVar(&f.buildFrom, "build-from", "", "built checkout whose bindings are linked")
	fl.StringVar(&f.model, "codex-model", "", "model of the reviewer (default "+task.DefaultStart().Model+")")
	fl.StringVar(&f.title, "title", "", "one line (default: from the issue, else from the family)")
	fl.StringVar(&f.goal, "goal", "", "goal in one paragraph (default: the family's)")
	fl.StringVar(&f.aiter, "aiter", "$AITER_ROOT", "aiter checkout that goes into the draft")
	fl.StringVar(&f.issueFile, "issue-file", "", "file with the issue text; - for standard input")
	fl.StringVar(&f.issue, "issue", "", "issue number or URL, read with gh issue view")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show every step and do nothing")
	fl.BoolVar(&f.open, "open", false, "open the cockpit on the new worktree")
	fl.BoolVar(&f.noPreflight, "no-preflight", false, "do not run preflight at the end")
	fl.BoolVar(&f.asJSON, "json", false, "print the steps as JSON")
	return cmd
}

// newPlan is everything decided before anything is done.
type newPlan struct {
	spec  worktree.Spec
	task  task.Task
	fam   family.Family
	steps []worktree.Step
}

func runNew(ctx context.Context, s streams, f newFlags) error {
	p, err := planNew(ctx, s, f)
	if err != nil {
		return err
	}
	if f.asJSON {
		if err := writeJSON(s.out, newJSON(p, f.dryRun)); err != nil {
			return err
		}
	} else {
		printSteps(s, p)
	}
	if bad := worktree.Conflicts(p.steps); len(bad) > 0 {
		return exitWith(exitConfig, "new: %s: %s", bad[0].What, bad[0].Why)
	}
	if f.dryRun {
		return nil
	}
	err = worktree.Do(ctx, p.steps, func(st worktree.Step) { fmt.Fprintf(s.err, "done: %s\n", st.What) })
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	if !f.asJSON {
		printNext(s, p)
	}
	if !f.noPreflight {
		if err := preflightAfterNew(ctx, s, p.spec.Path); err != nil {
			return err
		}
	}
	if f.open {
		return runCockpit(ctx, s, p.spec.Path)
	}
	return nil
}

// preflightAfterNew stores a first result. A fresh worktree is rarely ready: red
// rows keep gate 2 shut, they do not undo the task.
func preflightAfterNew(ctx context.Context, s streams, root string) error {
	o, err := preflightOptions(root)
	if err != nil {
		return err
	}
	r := host.Run(ctx, o, nil)
	if _, err := host.Save(root, r); err != nil {
		return err
	}
	fmt.Fprintln(s.err, preflightSummary(&r))
	p := printer{w: s.err}
	for _, row := range r.Rows {
		if row.State != preflight.Green && row.State != preflight.NotNeeded {
			printPreflightRow(&p, row)
		}
	}
	return p.err
}

// planNew resolves names, reads the issue, fills the contract and looks at what
// is there. It changes nothing.
func planNew(ctx context.Context, s streams, f newFlags) (newPlan, error) {
	var p newPlan
	if err := f.defaults(); err != nil {
		return p, err
	}
	fam, err := families.Load(f.family)
	if err != nil {
		return p, exitWith(familyExit(err), "--family %s: %w", f.family, err)
	}
	if f.arch == "" {
		f.arch = fam.Archs[0]
	}
	if !slices.Contains(fam.Archs, f.arch) {
		return p, exitWith(exitUsage, "--arch %s: family %s is for %s", text.Line(f.arch), fam.Name, strings.Join(fam.Archs, ", "))
	}
	git := gitrepo.Git{}
	commit, err := git.Commit(ctx, f.host, f.base)
	if errors.Is(err, gitrepo.ErrMissing) {
		return p, exitWith(exitNothing, "--base %s: no such branch, tag or commit in %s (nothing is fetched here)", text.Line(f.base), f.host)
	}
	if err != nil {
		return p, exitWith(exitNothing, "--base: %w", err)
	}
	is, err := readIssue(ctx, s, f)
	if err != nil {
		return p, err
	}
	p.fam = fam
	if p.task, err = f.task(fam, commit, is); err != nil {
		return p, err
	}
	p.spec = worktree.Spec{Slug: f.slug, Host: f.host, Path: worktree.Path(f.workspace, f.slug), Commit: commit, BuildFrom: f.buildFrom, Exclude: ready.ExcludeLines(&fam)}
	if p.spec.Files, err = f.files(ctx, fam, p, is); err != nil {
		return p, err
	}
	p.steps, err = worktree.Maker{Git: git}.Plan(ctx, p.spec)
	if err != nil {
		return p, exitWith(exitConfig, "new: %w", err)
	}
	return p, nil
}

func (f *newFlags) defaults() error {
	switch {
	case f.slug == "":
		return exitWith(exitUsage, "new: --slug is missing")
	case f.family == "":
		return exitWith(exitUsage, "new: --family is missing; one of %s", strings.Join(families.Names(), ", "))
	case f.issue != "" && f.issueFile != "":
		return exitWith(exitUsage, "new: give --issue or --issue-file, not both")
	}
	if err := worktree.CheckSlug(f.slug); err != nil {
		return exitWith(exitUsage, "new: %w", err)
	}
	if f.workspace == "" {
		c, err := loadConfig()
		if err != nil {
			return err
		}
		f.workspace = c.Workspace
	}
	if f.host == "" {
		f.host = filepath.Join(f.workspace, "FlyDSL-lab")
	}
	for _, p := range []*string{&f.workspace, &f.host, &f.buildFrom} {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	if st, err := os.Stat(f.host); err != nil || !st.IsDir() {
		return exitWith(exitNothing, "new: host checkout %s is not there; name one with --host", f.host)
	}
	return nil
}

// task is the task.toml of the new worktree, checked as it will be read back.
func (f *newFlags) task(fam family.Family, commit string, is issueText) (task.Task, error) {
	hostname, err := os.Hostname()
	if err != nil {
		hostname = "unknown"
	}
	t := task.Task{
		Slug: f.slug, Family: fam.Name, Arch: f.arch, BaseBranch: worktree.BaseBranch(f.slug), BaseCommit: commit,
		Issue: is.source, Created: time.Now().UTC().Format("2006-01-02"), Host: hostname,
	}
	t.Start.Model = f.model
	b, err := t.Format()
	if err != nil {
		return t, err
	}
	if _, err := task.Parse("task.toml", b); err != nil {
		return t, exitWith(exitUsage, "new: %w", err)
	}
	return t, nil
}

// files are what goes into the worktree, the draft last but one: task.toml is
// the mark of a finished task.
func (f *newFlags) files(ctx context.Context, fam family.Family, p newPlan, is issueText) ([]worktree.File, error) {
	contract, err := families.Contract(fam.Name)
	if err != nil {
		return nil, exitWith(exitConfig, "contract of %s: %w", fam.Name, err)
	}
	data := templates.ContractData{
		Slug: f.slug, Family: fam.Name, Arch: f.arch, Title: firstNonEmpty(text.Line(f.title), is.title, fam.Title+": "+f.slug),
		Worktree: p.spec.Path, Branch: worktree.TaskBranch(f.slug), BaseBranch: p.task.BaseBranch, BaseCommit: p.spec.Commit, BaseRef: f.base,
		Fork: firstNonEmpty(worktree.RemoteURL(ctx, f.host, "origin"), "none"), Upstream: firstNonEmpty(worktree.RemoteURL(ctx, f.host, "upstream"), "none"),
		GPU: f.gpu, Issue: is.quoted(), IssueSource: is.source, Goal: firstNonEmpty(strings.TrimSpace(text.Clean(f.goal)), fam.Summary),
		Date: time.Now().Format("2006-01-02"), AiterRoot: f.aiter,
	}
	draft, err := data.Fill(contract)
	if err != nil {
		return nil, exitWith(exitConfig, "%w", err)
	}
	toml, err := p.task.Format()
	if err != nil {
		return nil, err
	}
	files := []worktree.File{{Path: worktree.RunEnvPath, Bytes: worktree.RunEnv(p.spec.Path), What: "run environment"}}
	if len(is.raw) > 0 {
		files = append(files, worktree.File{Path: worktree.IssuePath, Bytes: is.raw, What: "issue snapshot"})
	}
	return append(files,
		worktree.File{Path: worktree.DraftPath, Bytes: []byte(draft), What: "draft"},
		worktree.File{Path: worktree.TaskPath, Bytes: toml, What: "task"}), nil
}

func firstNonEmpty(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

type stepsJSON struct {
	Slug       string          `json:"slug"`
	Family     string          `json:"family"`
	Worktree   string          `json:"worktree"`
	BaseBranch string          `json:"base_branch"`
	BaseCommit string          `json:"base_commit"`
	DryRun     bool            `json:"dry_run"`
	Steps      []worktree.Step `json:"steps"`
	Next       []string        `json:"next"`
}

func newJSON(p newPlan, dry bool) stepsJSON {
	return stepsJSON{
		Slug: p.task.Slug, Family: p.task.Family, Worktree: p.spec.Path, BaseBranch: p.task.BaseBranch, BaseCommit: p.spec.Commit,
		DryRun: dry, Steps: p.steps, Next: nextCommands(p),
	}
}

func printSteps(s streams, p newPlan) {
	fmt.Fprintf(s.out, "task %s, family %s, %s, locked to %s\n", p.task.Slug, p.task.Family, p.task.Arch, p.spec.Commit)
	for i, st := range p.steps {
		line := fmt.Sprintf("%2d  %-15s %s", i+1, st.Status, st.What)
		if st.Why != "" {
			line += ": " + st.Why
		}
		fmt.Fprintln(s.out, line)
	}
}

func nextCommands(p newPlan) []string {
	return []string{
		"cd " + p.spec.Path + " && claude --permission-mode bypassPermissions",
		genPlan(p.task),
		"kdapilot " + p.spec.Path,
	}
}

// genPlan is the slash command that makes the plan from the draft.
func genPlan(t task.Task) string {
	return "/humanize:gen-plan --input " + t.DraftFile() + " --output " + t.PlanFile() + " --direct"
}

func printNext(s streams, p newPlan) {
	next := nextCommands(p)
	fmt.Fprintf(s.out, "\nNext, by you:\n  %s\nthen in Claude, as one command:\n  %s\nthen review the plan at gate 1:\n  %s\n", next[0], next[1], next[2])
}
