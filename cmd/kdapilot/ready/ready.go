// Package ready joins the probes of preflight with one worktree: what the
// checks look at, and the repairs a person may ask for by name. The command
// line and the cockpit both come through here, so that they see and do the
// same.
//
// What may not enter: verdicts (engine/preflight), looking (probes/host) and
// asking a person.
package ready

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kdapilot/cmd/kdapilot/families"
	"kdapilot/engine/fact"
	"kdapilot/engine/family"
	"kdapilot/engine/preflight"
	"kdapilot/engine/runs"
	"kdapilot/probes/bootstrap"
	"kdapilot/probes/demo"
	"kdapilot/probes/gitrepo"
	"kdapilot/probes/gpu"
	"kdapilot/probes/host"
	"kdapilot/probes/run"
	"kdapilot/probes/store"
	"kdapilot/probes/worktree"
)

// Options are what preflight looks at in root. A task.toml or family that can
// not be read is an error that names it. The made-up task of the demo has a
// made-up host.
func Options(root string) (host.Options, error) {
	t, err := store.New(root).Task()
	if err != nil {
		return host.Options{}, err
	}
	o := host.Options{Root: root, Task: t, Git: gitrepo.Git{}, GPUs: gpu.Scan, Before: host.Load(root).Result}
	if t.Family != "" {
		f, err := families.Load(t.Family)
		if err != nil {
			return o, fmt.Errorf("family %s: %w", t.Family, err)
		}
		o.Family = &f
	}
	if t.Simulated {
		o.Env = demo.HostEnv(root, os.Environ())
		o.GPUs = func(context.Context) ([]runs.GPU, fact.Origin) {
			return demo.GPUs(), fact.Origin{Status: fact.OK, ReadAt: time.Now()}
		}
	}
	o.Runs, err = run.New(run.Local{}).List(root)
	o.RunsKnown = err == nil
	return o, nil
}

// ErrNoRepair is the error for a name that no repair has.
var ErrNoRepair = errors.New("expected runenv, exclude, base-branch, codex or skills")

// Repair does one repair and tells what it did, a line each. workspace is where
// checkouts are looked for. Asking the model (codex) is done by the check
// itself.
func Repair(ctx context.Context, name string, o host.Options, workspace string) ([]string, error) {
	switch name {
	case preflight.FixCodex:
		return nil, nil
	case preflight.FixSkills:
		return linkSkills(ctx, Bootstrap(o.Env, workspace))
	case preflight.FixBase:
		return makeBase(ctx, o)
	case preflight.FixRunEnv:
		return doStep(ctx, worktree.NewFile(o.Root, worktree.File{Path: worktree.RunEnvPath, Bytes: worktree.RunEnv(o.Root), What: "run environment"}))
	case preflight.FixExclude:
		r := gitrepo.Git{}.Snapshot(ctx, o.Root, "")
		return doStep(ctx, worktree.Exclude(r.CommonDir, ExcludeLines(o.Family)))
	default:
		return nil, fmt.Errorf("repair %s: %w", name, ErrNoRepair)
	}
}

func makeBase(ctx context.Context, o host.Options) ([]string, error) {
	b := o.Task
	if b.BaseBranch == "" || b.BaseCommit == "" {
		return nil, errors.New("repair base-branch: task.toml names no base_branch and base_commit")
	}
	if err := (gitrepo.Git{}).CreateBranch(ctx, o.Root, b.BaseBranch, b.BaseCommit); err != nil {
		return nil, err
	}
	return []string{"made: local branch " + b.BaseBranch + " at " + b.BaseCommit}, nil
}

func doStep(ctx context.Context, step worktree.Step) ([]string, error) {
	switch step.Status {
	case worktree.Todo:
	case worktree.There:
		return []string{step.What + ": " + string(step.Status) + " " + step.Why}, nil
	default:
		return nil, fmt.Errorf("repair: %s: %s", step.What, step.Why)
	}
	var said []string
	err := worktree.Do(ctx, []worktree.Step{step}, func(st worktree.Step) { said = append(said, "made: "+st.What) })
	return said, err
}

// Bootstrap are the standard options of bootstrap: every skill of the workflow,
// from the pilot's checkout in the workspace. env is the process environment if
// nil.
func Bootstrap(env []string, workspace string) bootstrap.Options {
	if env == nil {
		env = os.Environ()
	}
	return bootstrap.Options{
		Names: append(preflight.SkillNames(), "flydsl-task-setup"), Skills: host.SkillsDir(env),
		From: []string{filepath.Join(workspace, "rocm-KDA-pilot")},
	}
}

func linkSkills(ctx context.Context, o bootstrap.Options) ([]string, error) {
	var said []string
	err := bootstrap.Do(ctx, bootstrap.Plan(o), func(st bootstrap.Step, err error) {
		if err == nil {
			said = append(said, "done: "+st.What)
		}
	})
	for _, l := range bootstrap.Verify(ctx, o) {
		said = append(said, "not right: "+l)
	}
	return said, err
}

// ExcludeLines are the ignore lines of a task: build products and the CSV files
// that the family's harness leaves in the worktree.
func ExcludeLines(f *family.Family) []string {
	lines := worktree.ExcludeLines()
	if f != nil && (f.Harness.Root == "" || f.Harness.Root == "worktree") {
		for _, g := range f.Harness.CSV {
			if g != "" && !strings.ContainsAny(g, "\n\r!#") {
				lines = append(lines, "/"+strings.TrimPrefix(g, "/"))
			}
		}
	}
	return slices.Clip(lines)
}

// Stand tells the stored result and, if look, the environment it would be
// compared with. Looking takes a few processes and is not done for a copied
// folder.
func Stand(ctx context.Context, o host.Options, look bool) preflight.Stored {
	s := host.Load(o.Root)
	if look && s.Result != nil {
		here := host.Look(ctx, o)
		s.Here = &here
	}
	return s
}
