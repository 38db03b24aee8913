// Package host is the probe that looks at everything a loop needs before it may
// start: the reviewer's model, the compiled bindings, the run environment, the
// build tree, skills and tools, Humanize, and git's state. It gathers facts and
// hands each to its judge in engine/preflight.
//
// Guarantees: nothing in the worktree is changed but its stored result (Save);
// every process has a time limit and a bound on its output; the paid
// model is asked only when Options.AskCodex is set.
//
// What may not enter: verdicts. What a fact means is decided in the engine.
package host

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/family"
	"kdapilot/engine/preflight"
	"kdapilot/engine/repo"
	"kdapilot/engine/runs"
	"kdapilot/engine/safe"
	"kdapilot/engine/task"
)

// Git is what this probe asks of git.
type Git interface {
	Snapshot(ctx context.Context, dir, base string) repo.Repo
	Worktrees(ctx context.Context, dir string) ([]repo.LinkedWorktree, error)
	DirtyHash(ctx context.Context, root string) (hash string, count int, err error)
}

// Options say what to look at. Root, Git and GPUs are required.
type Options struct {
	// Root is the absolute worktree.
	Root string
	Task task.Task
	// Family is nil when it is not known: then every check is made.
	Family *family.Family
	Git    Git
	// GPUs lists the devices.
	GPUs func(ctx context.Context) ([]runs.GPU, fact.Origin)
	// Runs are the recorded runs; RunsKnown says that they could be read.
	Runs      []runs.Run
	RunsKnown bool
	// AskCodex asks the model, at most CodexTimeout long (90 s if zero).
	AskCodex     bool
	CodexTimeout time.Duration
	// Before is the stored result, nil for none.
	Before *preflight.Result

	// Env replaces the process environment: PATH, HOME, CLAUDE_SKILLS_DIR,
	// CLAUDE_CONFIG_DIR, XDG_CACHE_HOME, ROCM_PATH, ROCPROF_ATT_LIBRARY_PATH
	// and FLY_BUILD_DIR are looked at.
	Env []string
	// Etc replaces "/": hostname, boot id and /opt/rocm are read below it.
	Etc string
	Now func() time.Time
}

// checker shares what several checks need.
type checker struct {
	Options
	ctx     context.Context
	env     map[string]string
	now     time.Time
	runenv  func() runEnv
	build   func() build
	gpus    func() gpuList
	tree    func() preflight.TreeFacts
	profile func() preflight.ProfilerFacts
}

type gpuList struct {
	gpus   []runs.GPU
	origin fact.Origin
}

// Run makes all checks at once. emit is called with each row as it is there,
// from one goroutine at a time; it may be nil. The result is complete and
// judged; a check that broke is a row that says so.
func Run(ctx context.Context, o Options, emit func(preflight.Row)) preflight.Result {
	c := newChecker(ctx, o)
	start := c.now
	rows := c.rows(emit)
	r := preflight.Result{
		At: start.UTC(), Worktree: o.Root, Slug: o.Task.Slug, Family: o.Task.Family, Arch: o.Task.Arch,
		Model: c.model(), BaseBranch: o.Task.BaseBranch, BaseCommit: o.Task.BaseCommit,
		Fingerprint: c.fingerprint(), Rows: rows,
	}
	r.Finish(o.Before)
	for _, id := range []preflight.ID{preflight.Downgraded, preflight.Current} {
		if row := r.Row(id); emit != nil && row != nil {
			emit(*row)
		}
	}
	r.TookMS = c.clock().Sub(start).Milliseconds()
	return r
}

// Look reads the environment as it is now, to compare a stored result with.
func Look(ctx context.Context, o Options) preflight.Fingerprint {
	return newChecker(ctx, o).fingerprint()
}

func newChecker(ctx context.Context, o Options) *checker {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	c := &checker{Options: o, ctx: ctx, env: envMap(o.Env)}
	c.now = c.clock()
	c.runenv = sync.OnceValue(c.readRunEnv)
	c.build = sync.OnceValue(c.readBuild)
	c.gpus = sync.OnceValue(func() gpuList {
		g, o := c.GPUs(ctx)
		return gpuList{g, o}
	})
	c.tree = sync.OnceValue(c.readTree)
	c.profile = sync.OnceValue(c.readProfiler)
	return c
}

func (c *checker) clock() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *checker) model() string { return c.Task.Start.Or(task.DefaultStart()).Model }

// flydsl is false for a family whose kernels are not FlyDSL's: its build tree
// and bindings mean nothing here.
func (c *checker) flydsl() bool {
	return c.Family == nil || c.Family.Profile.Evidence != family.EvidenceROCmReport
}

// check is one row to make.
type check struct {
	id preflight.ID
	// fly marks checks that only mean something with FlyDSL.
	fly  bool
	make func() preflight.Row
}

func (c *checker) checks() []check {
	return []check{
		{preflight.Codex, false, c.codex},
		{preflight.Import, true, func() preflight.Row { return preflight.JudgeImport(c.readImport()) }},
		{preflight.RunEnv, true, func() preflight.Row { return preflight.JudgeRunEnv(c.runenv().facts) }},
		{preflight.BuildTree, true, func() preflight.Row { return preflight.JudgeBuild(c.build().facts) }},
		{preflight.Conftest, true, func() preflight.Row { return preflight.JudgeConftest(c.readConftest()) }},
		{preflight.BuildAge, true, func() preflight.Row { return preflight.JudgeAge(c.readAge(), c.now) }},
		{preflight.MergeGate, true, func() preflight.Row { return preflight.JudgeMergeGate(c.mergeGate()) }},
		{preflight.MultiGPU, true, func() preflight.Row { return preflight.JudgeMultiGPU(c.readMultiGPU()) }},
		{preflight.GPU, false, func() preflight.Row {
			g := c.gpus()
			return preflight.JudgeGPU(preflight.GPUFacts{GPUs: g.gpus, Origin: g.origin, Planned: c.Task.Arch})
		}},
		{preflight.Skills, false, func() preflight.Row { return preflight.JudgeSkills(c.readSkills()) }},
		{preflight.Profiler, false, func() preflight.Row { return preflight.JudgeProfiler(c.profile()) }},
		{preflight.Commands, false, func() preflight.Row { return preflight.JudgeCommands(c.readCommands()) }},
		{preflight.Humanize, false, func() preflight.Row { return preflight.JudgeHumanize(c.readHumanize()) }},
		{preflight.Git, false, func() preflight.Row { return preflight.JudgeGit(c.tree()) }},
		{preflight.OwnTree, false, func() preflight.Row { return preflight.JudgeOwnTree(c.tree()) }},
		{preflight.BaseNamed, false, func() preflight.Row { return preflight.JudgeBaseNamed(c.tree()) }},
		{preflight.BaseClean, false, func() preflight.Row { return preflight.JudgeBaseClean(c.tree()) }},
	}
}

// rows makes all checks side by side. A panic in one becomes its row.
func (c *checker) rows(emit func(preflight.Row)) []preflight.Row {
	checks := c.checks()
	done := make(chan preflight.Row, len(checks))
	for _, k := range checks {
		if k.fly && !c.flydsl() {
			done <- preflight.Skip(k.id, "family "+c.Family.Name+" is not FlyDSL's")
			continue
		}
		safe.Go("preflight "+string(k.id), func(err error) { done <- preflight.Fail(k.id, err.Error()) }, func() {
			start := time.Now()
			row := k.make()
			done <- row.Stamp(time.Since(start))
		})
	}
	var out []preflight.Row
	for range checks {
		row := <-done
		if emit != nil {
			emit(row)
		}
		out = append(out, row)
	}
	return out
}

func (c *checker) mergeGate() preflight.GateRunFacts {
	script := filepath.Join("scripts", "run_tests.sh")
	return preflight.GateRunFacts{
		Script: script, Found: isFile(filepath.Join(c.Root, script)), BaseCommit: c.Task.BaseCommit,
		RunsKnown: c.RunsKnown, Runs: c.Runs, Simulated: c.Task.Simulated,
	}
}
