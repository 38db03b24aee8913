package preflight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdapilot/engine/repo"
	"kdapilot/engine/runs"
)

// BuildFacts are the build tree of the worktree and who else uses it.
type BuildFacts struct {
	Worktree string
	// Link is <worktree>/build-fly; Target what it resolves to, "" when it is
	// not there.
	Link, Target string
	// Env is FLY_BUILD_DIR as runs will see it, EnvTarget resolved, "" when it
	// is not set or not there.
	Env, EnvTarget string
	// Bindings is what <worktree>/python/flydsl/_mlir resolves to, "" when it is
	// not there.
	Bindings string
	// Sharers are other worktrees that use the tree pytest takes here.
	Sharers []string
}

// Shared reports whether another worktree builds into the tree that tests here
// would take.
func (f BuildFacts) Shared() bool {
	return len(f.Sharers) > 0 || f.Used() != "" && !inside(f.Used(), f.Worktree) && f.Env == ""
}

// Used is the tree that tests here take: FLY_BUILD_DIR's if set.
func (f BuildFacts) Used() string {
	if f.Env != "" {
		return f.EnvTarget
	}
	return f.Target
}

// JudgeBuild is PF-04.
func JudgeBuild(f BuildFacts) Row {
	const do = "FLY_BUILD_DIR=$PWD/build-fly-own bash scripts/build.sh, and export FLY_BUILD_DIR in runenv.sh (kdapilot's own does)"
	switch {
	case f.Env != "" && f.EnvTarget == "":
		return row(BuildTree, Red, "build it, or correct runenv.sh", "FLY_BUILD_DIR="+f.Env+" is not there")
	case f.Used() == "":
		return row(BuildTree, Red, do, "there is no "+f.Link)
	case len(f.Sharers) > 0:
		return row(BuildTree, Red, do, append([]string{fmt.Sprintf("%s is shared by %d worktrees", f.Used(), len(f.Sharers)+1)}, f.Sharers...)...)
	case f.Shared():
		return row(BuildTree, Red, do, f.Link+" is a link to "+f.Target, "whoever builds there changes what runs here")
	case f.Bindings != "" && inside(f.Bindings, f.Worktree) && !inside(f.Bindings, f.Used()):
		// Compiled into the source tree: private as it is.
	case f.Bindings != "" && !inside(f.Bindings, f.Used()):
		return row(BuildTree, Red, "ln -sfn "+f.Used()+"/python_packages/flydsl/_mlir python/flydsl/_mlir",
			"python/flydsl/_mlir is of "+f.Bindings, "the build that tests take is "+f.Used())
	case f.Env != "":
		return row(BuildTree, Green, "", "FLY_BUILD_DIR="+f.Env)
	}
	return row(BuildTree, Green, "", f.Used())
}

// ConftestFacts are what tests/conftest.py says about FLY_BUILD_DIR.
type ConftestFacts struct {
	Path  string
	Found bool
	// Line is where FLY_BUILD_DIR is read outside a comment, 0 for nowhere.
	Line int
	Text string
	// Matters is true when the build is shared or FLY_BUILD_DIR is set.
	Matters bool
}

// JudgeConftest is PF-05, from the file's text: a collect run would take longer
// than all other checks.
func JudgeConftest(f ConftestFacts) Row {
	if f.Line > 0 {
		return row(Conftest, Green, "", fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text), "read from its text, no collect run was made")
	}
	seen := f.Path + " does not read FLY_BUILD_DIR"
	if !f.Found {
		seen = f.Path + " is not there"
	}
	if f.Matters {
		return row(Conftest, Red, "let conftest.py put $FLY_BUILD_DIR/python_packages first (a commit of its own)", seen, "the build is shared or FLY_BUILD_DIR is set, so pytest would test another build")
	}
	return row(Conftest, Amber, "let conftest.py honour FLY_BUILD_DIR before a build is ever shared", seen)
}

// AgeFacts compare the build with the sources it should be made of.
type AgeFacts struct {
	// Stamp is the newest compiled binding, zero when there is none.
	Stamp     time.Time
	StampPath string
	// Newer are sources changed after Stamp, NewerCount all of them.
	Newer      []string
	NewerCount int
	// Differ are sources that differ from those of the checkout the build was
	// made in; DifferCount all of them. BuiltIn is that checkout.
	Differ      []string
	DifferCount int
	BuiltIn     string
	Sources     int
	// Cut is true when not all sources were looked at.
	Cut bool
}

// JudgeAge is PF-06.
func JudgeAge(f AgeFacts, now time.Time) Row {
	const do = "rebuild: FLY_BUILD_DIR=$PWD/build-fly-own bash scripts/build.sh"
	if f.Stamp.IsZero() {
		return row(BuildAge, Red, do, orNone(f.StampPath, "no compiled bindings")+": not built")
	}
	stamp := fmt.Sprintf("%s, built %s", f.StampPath, age(now.Sub(f.Stamp)))
	switch {
	case f.NewerCount > 0:
		return row(BuildAge, Red, do, append([]string{stamp, plural(f.NewerCount, "source is", "sources are") + " newer"}, f.Newer...)...)
	case f.DifferCount > 0:
		return row(BuildAge, Red, do, append([]string{stamp, fmt.Sprintf("%s from those in %s", plural(f.DifferCount, "source differs", "sources differ"), f.BuiltIn)}, f.Differ...)...)
	case f.Cut:
		return row(BuildAge, Unknown, do, stamp, fmt.Sprintf("only the first %d sources were compared", f.Sources))
	case f.Sources == 0:
		return row(BuildAge, Unknown, do, stamp, "no C++ source was found to compare with")
	}
	return row(BuildAge, Green, "", stamp, plural(f.Sources, "source", "sources")+" compared")
}

// GateRunFacts are the recorded runs of the merge gate.
type GateRunFacts struct {
	// Script is scripts/run_tests.sh, found or not.
	Script     string
	Found      bool
	BaseCommit string
	RunsKnown  bool
	Runs       []runs.Run
	// Simulated is true for a made-up task: there a stand-in's run counts, for
	// nothing in it is evidence. Nowhere else does it.
	Simulated bool
}

// JudgeMergeGate is PF-07: the gate must have run to its end at the base, so
// that what fails later is known not to have failed before.
func JudgeMergeGate(f GateRunFacts) Row {
	const do = "kdapilot run full-gate, at the base commit"
	switch {
	case !f.Found:
		return row(MergeGate, Red, "name the merge gate of this repository in task.toml", f.Script+" is not there")
	case !f.RunsKnown:
		return row(MergeGate, Unknown, do, "the list of runs could not be read")
	case f.BaseCommit == "":
		return row(MergeGate, Red, "lock a base first", "no base commit is pinned")
	}
	var seen []string
	for _, r := range f.Runs {
		if !isMergeGate(r.Manifest) {
			continue
		}
		why := unfit(r, f)
		if why == "" {
			seen = []string{string(r.ID) + ": exit 0 at " + short(f.BaseCommit), strings.Join(r.Manifest.Argv, " ")}
			if r.Manifest.Simulated {
				seen = append(seen, "SIMULATED")
			}
			return row(MergeGate, Green, "", seen...)
		}
		seen = append(seen, string(r.ID)+": "+why)
	}
	if len(seen) == 0 {
		seen = []string{"no run of it is recorded"}
	}
	return row(MergeGate, Red, do, seen...)
}

func isMergeGate(m runs.Manifest) bool {
	full := m.Env["RUN_TESTS_FULL"] == "1" || m.Inherited["RUN_TESTS_FULL"] == "1"
	script := slices.ContainsFunc(m.Argv, func(a string) bool { return strings.HasSuffix(a, "run_tests.sh") })
	return script && (full || slices.Contains(m.Argv, "RUN_TESTS_FULL=1"))
}

// unfit says why a run does not prove the gate at the base; "" when it does.
func unfit(r runs.Run, f GateRunFacts) string {
	m, base := r.Manifest, f.BaseCommit
	switch {
	case m.Simulated && !f.Simulated:
		return "SIMULATED"
	case m.Head != base:
		return "ran at " + short(orNone(m.Head, "an unknown commit")) + ", the base is " + short(base)
	case m.DirtyFiles == nil:
		return "nobody looked whether the tree was clean"
	case *m.DirtyFiles > 0:
		return fmt.Sprintf("%d uncommitted files", *m.DirtyFiles)
	case r.State != runs.Ended || r.Result == nil:
		return string(r.State)
	case r.Result.Exit == nil:
		return "ended by " + orNone(r.Result.Signal, "a signal")
	case *r.Result.Exit != 0:
		return "exit " + strconv.Itoa(*r.Result.Exit) + " at the base: the gate is red before any change"
	case r.Result.Verdict != nil && !r.Result.Verdict.Pass:
		return "exit 0, but its verdict is not a pass: " + strings.Join(r.Result.Verdict.Quotes, "; ")
	}
	return ""
}

// MultiGPUFacts are tests that want several devices.
type MultiGPUFacts struct {
	// Tests are files with the multi_gpu marker.
	Tests []string
	// Split is the line of the runner that handles the marker, 0 for none.
	Runner string
	Split  int
	GPUs   int
	Known  bool // GPUs means something
}

// JudgeMultiGPU is PF-08.
func JudgeMultiGPU(f MultiGPUFacts) Row {
	switch {
	case len(f.Tests) == 0:
		return row(MultiGPU, Green, "", "no test is marked multi_gpu")
	case f.Split > 0:
		return row(MultiGPU, Green, "", fmt.Sprintf("%s:%d handles the marker", f.Runner, f.Split), plural(len(f.Tests), "file", "files")+" marked multi_gpu")
	case f.Known && f.GPUs > 1:
		return row(MultiGPU, Green, "", plural(f.GPUs, "GPU", "GPUs"), plural(len(f.Tests), "file", "files")+" marked multi_gpu")
	}
	return row(MultiGPU, Amber, `deselect them in the runner (-m "not multi_gpu"), or run where there are two GPUs`,
		append([]string{f.Runner + " does not split them off; these can not run here"}, f.Tests...)...)
}

// TreeFacts are git's word about the worktree.
type TreeFacts struct {
	Repo repo.Repo
	// Worktrees are all checkouts, the main one first; nil when not known.
	Worktrees []repo.LinkedWorktree
	Slug      string
	// HalfDone are operations in progress: rebase, merge, bisect, ...; Locks are
	// lock files older than a minute.
	HalfDone, Locks []string
	// BaseBranch and BaseCommit are what the task is locked to.
	BaseBranch, BaseCommit string
	// BaseDirty counts uncommitted files where the base branch is checked out;
	// nil when it is checked out nowhere. BaseTree is that folder.
	BaseDirty *int
	BaseTree  string
}

// JudgeGit asks that nothing is half done and nothing uncommitted.
func JudgeGit(f TreeFacts) Row {
	r := f.Repo
	switch {
	case r.State != repo.Worktree:
		return row(Git, Red, "open a git worktree", string(r.State), r.Why)
	case r.Unborn || r.Head == "":
		return row(Git, Red, "make a first commit", "there is no commit")
	case len(f.HalfDone) > 0:
		return row(Git, Red, "finish or abort it", strings.Join(f.HalfDone, ", ")+" in progress")
	case len(f.Locks) > 0:
		return row(Git, Red, "end the git process that holds it, or remove the file", f.Locks...)
	case !r.FilesKnown:
		return row(Git, Unknown, "see why git status failed", r.Why)
	case !r.Clean():
		seen := []string{plural(len(r.Dirty()), "uncommitted file", "uncommitted files") + ": Humanize's setup refuses"}
		for _, d := range r.Dirty() {
			seen = append(seen, string(d.Change)+"  "+d.Path)
		}
		return row(Git, Red, "commit them, or put build products into .git/info/exclude", seen...).fix(FixExclude)
	}
	return row(Git, Green, "", orNone(r.Branch, "detached")+" at "+short(r.Head)+", clean")
}

// JudgeOwnTree is HF-01.
func JudgeOwnTree(f TreeFacts) Row {
	const do = "kdapilot new makes one"
	r := f.Repo
	want := "rlcr/" + f.Slug
	switch {
	case r.State != repo.Worktree:
		return row(OwnTree, Red, do, string(r.State))
	case r.Detached:
		return row(OwnTree, Red, do, "HEAD is detached")
	case r.Branch == "main" || r.Branch == "master" || r.Branch == f.BaseBranch:
		return row(OwnTree, Red, do, "on "+r.Branch+": loops run on a branch of their own")
	case r.GitDir == r.CommonDir:
		return row(OwnTree, Red, do, r.Root+" is the main checkout, shared by all worktrees")
	case f.Slug == "":
		return row(OwnTree, Amber, "name the task in .humanize/kdapilot/task.toml", r.Root+" on "+r.Branch, "no slug is known")
	case r.Branch != want:
		return row(OwnTree, Amber, "git branch -m "+want, r.Root+" on "+r.Branch+", expected "+want)
	}
	return row(OwnTree, Green, "", r.Root+" on "+r.Branch, plural(len(f.Worktrees), "worktree", "worktrees")+" of this repository")
}

// JudgeBaseNamed is HF-07.
func JudgeBaseNamed(f TreeFacts) Row {
	b := f.Repo.Base
	do := "git branch " + orNone(f.BaseBranch, "NAME") + " " + orNone(f.BaseCommit, "COMMIT")
	switch {
	case f.BaseBranch == "":
		return row(BaseNamed, Red, "set base_branch and base_commit in .humanize/kdapilot/task.toml", "no base is named: Humanize would guess one")
	case b == nil || b.Ref != f.BaseBranch:
		return row(BaseNamed, Unknown, "see why git failed", orNone(f.Repo.Why, "git was not asked"))
	case b.Commit == "" || !b.IsBranch:
		return row(BaseNamed, Red, do, f.BaseBranch+": "+orNone(b.Why, "no local branch of that name"), "Humanize takes local branches only").fix(FixBase)
	case f.BaseCommit == "":
		return row(BaseNamed, Red, "pin base_commit in .humanize/kdapilot/task.toml", f.BaseBranch+" stands at "+short(b.Commit)+", no commit is pinned")
	case b.Commit != f.BaseCommit:
		return row(BaseNamed, Red, "git branch -f "+f.BaseBranch+" "+f.BaseCommit, f.BaseBranch+" moved: pinned "+short(f.BaseCommit)+", stands at "+short(b.Commit))
	}
	return row(BaseNamed, Green, "", f.BaseBranch+" at "+b.Commit)
}

// JudgeBaseClean is HF-08.
func JudgeBaseClean(f TreeFacts) Row {
	b := f.Repo.Base
	switch {
	case b == nil || b.Commit == "":
		return row(BaseClean, Unknown, "lock a base first", "the base is not known")
	case b.IsAncestor == nil:
		return row(BaseClean, Unknown, "see why git failed", orNone(b.Why, "git could not decide"))
	case !*b.IsAncestor:
		return row(BaseClean, Red, "rebase the task branch on the base", "HEAD "+short(f.Repo.Head)+" does not contain "+short(b.Commit))
	case f.BaseDirty != nil && *f.BaseDirty > 0:
		return row(BaseClean, Red, "commit or drop them there", fmt.Sprintf("%s is checked out in %s with %d uncommitted files", f.BaseBranch, f.BaseTree, *f.BaseDirty))
	}
	seen := "HEAD " + short(f.Repo.Head) + " contains " + short(b.Commit)
	if d := b.Distance; d != nil {
		seen += fmt.Sprintf(", %d ahead", d.Ahead)
	}
	return row(BaseClean, Green, "", seen)
}

// inside reports whether path is dir or lies below it.
func inside(path, dir string) bool {
	return path != "" && dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

func sorted(m map[string]string) []string {
	return slices.SortedFunc(maps.Keys(m), cmp.Compare[string])
}
