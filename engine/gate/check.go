package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/repo"
)

func checkG1(f *Facts) []Precondition {
	pre := []Precondition{bytesOf("plan-readable", "the plan is there and was read whole", f.Plan, true)}
	pre = append(pre, seen(f))
	pre = append(pre, issues(f)...)
	pre = append(pre, bytesOf("draft-readable", "the draft it came from is there", f.Draft, false), judges(f))
	return append(pre, base(f)...)
}

func checkG2(f *Facts) []Precondition {
	pre := []Precondition{sealed(f)}
	pre = append(pre, base(f)...)
	pre = append(pre, worktree(f), clean(f), ignored(f), setup(f), idle(f), preflight(f))
	return append(pre, command(f))
}

func bytesOf(id, title string, b Bound, firm bool) Precondition {
	p := Precondition{ID: id, Title: title, Firm: firm, State: Green, Clears: "write " + b.Path}
	switch b.Status {
	case fact.OK:
		p.Evidence = []string{fmt.Sprintf("%s  sha256 %s  %d bytes", b.Path, short(b.SHA256), b.Size)}
		p.Clears = ""
	case fact.NotRead:
		p.State, p.Evidence = Unknown, []string{b.Path + ": not read yet"}
	default:
		p.State, p.Evidence = Red, []string{strings.TrimSpace(b.Path + ": " + b.Status.String() + " " + b.Why)}
	}
	return p
}

// seen asks that every section was on screen, and lists the ones that were not.
func seen(f *Facts) Precondition {
	p := Precondition{ID: "all-read", Title: "every section was on screen", State: Green, Firm: true}
	stale := f.SeenOf != "" && f.SeenOf != f.Plan.SHA256
	var unread []string
	for _, s := range f.Sections {
		if stale || !f.Seen[s.ID] {
			unread = append(unread, fmt.Sprintf("line %d  %s", s.Line, s.Title))
		}
	}
	switch {
	case len(f.Sections) == 0:
		p.State, p.Evidence = Unknown, []string{"the plan has no sections that could be read"}
	case len(unread) > 0:
		p.State, p.Evidence, p.Clears = Red, unread, "read them (u goes to the next one)"
	default:
		p.Evidence = []string{fmt.Sprintf("%d of %d", len(f.Sections), len(f.Sections))}
	}
	return p
}

// issues gives one precondition for each kind of thing the plan's text has
// against it.
func issues(f *Facts) []Precondition {
	var out []Precondition
	at := map[string]int{}
	for _, i := range f.Issues {
		if !i.Blocks {
			continue
		}
		k, ok := at[i.ID]
		if !ok {
			k = len(out)
			at[i.ID] = k
			out = append(out, Precondition{ID: i.ID, Title: i.Title, State: Red, Clears: i.Clears})
		}
		line := i.Text
		if i.Line > 0 {
			line = fmt.Sprintf("line %d  %s", i.Line, i.Text)
		}
		out[k].Evidence = append(out[k].Evidence, line)
	}
	if len(out) == 0 && f.Plan.Status == fact.OK {
		out = append(out, Precondition{ID: "plan-sound", Title: "sections, criteria, tasks and decisions check out", State: Green})
	}
	return out
}

func judges(f *Facts) Precondition {
	p := Precondition{ID: "judges-bound", Title: "the files that judge are known at the base", State: Green, Clears: "set family in task.toml and lock the base"}
	if f.JudgesWhy != "" {
		p.State, p.Evidence = Red, []string{f.JudgesWhy}
		return p
	}
	for _, j := range f.Judges {
		if j.Status != fact.OK {
			p.State = Red
			p.Evidence = append(p.Evidence, j.Path+": "+strings.TrimSpace(j.Status.String()+" "+j.Why))
			continue
		}
		p.Evidence = append(p.Evidence, j.Path+"  "+short(j.SHA256))
	}
	if len(f.Judges) == 0 {
		p.State, p.Evidence = Unknown, []string{"no judge files are named"}
	}
	if p.State == Green {
		p.Clears = ""
	}
	return p
}

// base asks for a local branch at the pinned commit that HEAD comes from.
func base(f *Facts) []Precondition {
	exists := Precondition{ID: "base-local", Title: "the locked base is a local branch", State: Green, Firm: true}
	pinned := Precondition{ID: "base-pinned", Title: "it stands at the pinned commit", State: Green, Firm: true}
	ancestor := Precondition{ID: "base-ancestor", Title: "HEAD comes from it", State: Green}
	all := func(s State, why, clears string) []Precondition {
		exists.State, exists.Evidence, exists.Clears = s, []string{why}, clears
		pinned.State, ancestor.State = Unknown, Unknown
		return []Precondition{exists, pinned, ancestor}
	}
	b := f.Repo.Base
	switch {
	case f.BaseBranch == "":
		return all(Red, "no base branch is named in task.toml", "set base_branch and base_commit in .humanize/kdapilot/task.toml")
	case f.Repo.State != repo.Worktree:
		return all(Unknown, "git: "+string(f.Repo.State), "open a git worktree")
	case b == nil || b.Status == fact.NotRead:
		return all(Unknown, "not read yet", "")
	case b.Ref != f.BaseBranch:
		return all(Unknown, "git was asked about "+b.Ref, "")
	case b.Commit == "" || !b.IsBranch:
		return all(Red, f.BaseBranch+": "+firstOf(b.Why, "no local branch of that name"), "git branch "+f.BaseBranch+" "+firstOf(f.BaseCommit, "COMMIT"))
	}
	exists.Evidence = []string{f.BaseBranch}
	switch {
	case f.BaseCommit == "":
		pinned.State, pinned.Evidence, pinned.Clears = Red, []string{"task.toml names no base_commit; the branch stands at " + short(b.Commit)}, "pin base_commit in task.toml"
	case f.BaseCommit != b.Commit:
		pinned.State, pinned.Evidence, pinned.Clears = Red, []string{"pinned " + short(f.BaseCommit) + ", the branch stands at " + short(b.Commit)}, "git branch -f "+f.BaseBranch+" "+f.BaseCommit
	default:
		pinned.Evidence = []string{b.Commit}
	}
	switch {
	case b.IsAncestor == nil:
		ancestor.State, ancestor.Evidence = Unknown, []string{"git could not decide"}
	case !*b.IsAncestor:
		ancestor.State, ancestor.Evidence, ancestor.Clears = Red, []string{"HEAD " + short(f.Repo.Head) + " does not contain " + short(b.Commit)}, "rebase the task branch on the base"
	case b.Distance != nil:
		ancestor.Evidence = []string{fmt.Sprintf("HEAD %s, %d ahead, %d behind", short(f.Repo.Head), b.Distance.Ahead, b.Distance.Behind)}
	}
	return []Precondition{exists, pinned, ancestor}
}

// sealed asks for a seal of gate 1 that holds. What the caller knows against it
// (G1Broken: it was void before) counts beside what the facts show now.
func sealed(f *Facts) Precondition {
	p := Precondition{ID: "plan-sealed", Title: "gate 1 is sealed for this plan", State: Green, Firm: true, Clears: "review and approve the plan (2, then A)"}
	if f.G1 == nil {
		p.State, p.Evidence = Red, []string{"no seal"}
		return p
	}
	v := Void(*f.G1, f)
	changes := f.G1Broken
	if len(changes) == 0 {
		changes = v.Changes
	}
	switch {
	case f.G1.Gate != G1:
		p.State, p.Evidence = Red, []string{"seal " + short(f.G1.ID) + " is of another gate"}
	case len(changes) > 0:
		p.State = Red
		for _, c := range changes {
			p.Evidence = append(p.Evidence, c.String())
		}
	case !v.Holds:
		p.State, p.Clears = Unknown, "wait until it is read again"
		for _, u := range v.Unknown {
			p.Evidence = append(p.Evidence, u+": could not be read now")
		}
	default:
		p.Evidence, p.Clears = []string{"seal " + short(f.G1.ID) + " by " + f.G1.Who + " at " + f.G1.At.Format("2006-01-02 15:04")}, ""
	}
	return p
}

func worktree(f *Facts) Precondition {
	p := Precondition{ID: "task-branch", Title: "the loop runs on a branch of its own", State: Green, Clears: "git switch to the task branch"}
	switch {
	case f.Repo.State != repo.Worktree:
		p.State, p.Evidence = Unknown, []string{"git: " + string(f.Repo.State)}
	case f.Repo.Detached || f.Repo.Branch == "":
		p.State, p.Evidence = Red, []string{"HEAD is detached"}
	case f.Repo.Branch == f.BaseBranch || f.Repo.Branch == "main" || f.Repo.Branch == "master":
		p.State, p.Evidence = Red, []string{"on " + f.Repo.Branch}
	default:
		p.Evidence, p.Clears = []string{f.Repo.Branch}, ""
	}
	return p
}

// clean judges the tree as Humanize's setup does: untracked files count,
// .humanize does not.
func clean(f *Facts) Precondition {
	p := Precondition{ID: "tree-clean", Title: "the tree is clean as Humanize judges it", State: Green, Firm: true}
	if f.Repo.State != repo.Worktree || !f.Repo.FilesKnown {
		p.State, p.Evidence = Unknown, []string{"git: " + firstOf(f.Repo.Why, string(f.Repo.State), "not read yet")}
		return p
	}
	if f.Repo.Clean() {
		p.Evidence = []string{"no changed and no untracked file outside .humanize"}
		return p
	}
	p.State, p.Clears = Red, "commit, remove, or list them in .git/info/exclude"
	for _, d := range f.Repo.Dirty() {
		p.Evidence = append(p.Evidence, string(d.Change)+"  "+d.Path)
	}
	if len(p.Evidence) == 0 {
		p.Evidence = []string{fmt.Sprintf("%d files", f.Repo.FileCount)}
	}
	return p
}

func ignored(f *Facts) Precondition {
	p := Precondition{ID: "plan-ignored", Title: "git does not track the plan", State: Green, Firm: true}
	switch {
	case f.PlanTracked == nil:
		p.State, p.Evidence = Unknown, []string{"git was not asked"}
	case *f.PlanTracked:
		p.State, p.Evidence, p.Clears = Red, []string{f.Plan.Path + " is in git; Humanize's setup refuses it"}, "git rm --cached "+f.Plan.Path
	case f.PlanIgnored != nil && !*f.PlanIgnored:
		p.Evidence = []string{"untracked; not ignored, which the clean-tree rule exempts"}
	default:
		p.Evidence = []string{"ignored"}
	}
	return p
}

func setup(f *Facts) Precondition {
	p := Precondition{ID: "setup-accepts", Title: "Humanize's setup will accept plan and options", State: Green, Firm: true}
	if len(f.Setup) > 0 {
		p.State, p.Evidence, p.Clears = Red, f.Setup, "mend what it names"
	}
	if len(f.SetupUnknown) > 0 {
		if p.State == Green {
			p.State, p.Clears = Unknown, "read it again, or run preflight"
		}
		p.Evidence = append(slices.Clone(p.Evidence), "not decided here: "+strings.Join(f.SetupUnknown, ", "))
	}
	return p
}

func idle(f *Facts) Precondition {
	p := Precondition{ID: "no-loop", Title: "no loop is running here", State: Green, Firm: true}
	switch {
	case !f.LoopsKnown:
		p.State, p.Evidence = Unknown, []string{"loops not read yet"}
	case f.ActiveLoop != "":
		p.State, p.Evidence, p.Clears = Red, []string{f.ActiveLoop + " is active"}, "let it end, or cancel it"
	}
	return p
}

// preflightAge is how long a preflight counts.
const preflightAge = 24 * time.Hour

func preflight(f *Facts) Precondition {
	p := Precondition{ID: "preflight", Title: "preflight", State: f.Preflight.State}
	if p.State == "" {
		p.State = NotRun
	}
	if f.Preflight.Text != "" {
		p.Evidence = []string{f.Preflight.Text}
	}
	switch age := f.Now.Sub(f.Preflight.At); {
	case p.State == NotRun && f.Preflight.Due:
		p.State, p.Clears = Unknown, "run it on the setup screen"
		p.Evidence = append(p.Evidence, "not run")
	case p.State == Red:
		p.Clears = "see the setup screen: what was seen, what to do, and the checks again"
	case p.State == Green && age > preflightAge:
		p.State, p.Clears = Red, "run it again on the setup screen"
		p.Evidence = append(p.Evidence, fmt.Sprintf("%d hours old, at most %d count", int(age.Hours()), int(preflightAge.Hours())))
	}
	return p
}

func command(f *Facts) Precondition {
	p := Precondition{ID: "command", Title: "the start command names the locked base", State: Green, Firm: true}
	named := flag(f.Argv, "--base-branch")
	switch {
	case len(f.Argv) == 0:
		p.State, p.Evidence = Red, []string{"there is no start command"}
	case named != f.BaseBranch || named == "":
		p.State, p.Evidence = Red, []string{"--base-branch " + firstOf(named, "is missing") + ", the lock is " + firstOf(f.BaseBranch, "not set")}
	default:
		p.Evidence = []string{strings.Join(f.Argv, " ")}
	}
	return p
}

// flag gives the value after a flag in argv, or "".
func flag(argv []string, name string) string {
	for i, a := range argv {
		if a == name && i+1 < len(argv) {
			return argv[i+1]
		}
	}
	return ""
}

func short(sha string) string {
	if len(sha) > 12 {
		return sha[:12]
	}
	return sha
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
