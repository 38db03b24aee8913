package live

import (
	"os"
	"path/filepath"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/plan"
	"kdapilot/engine/repo"
	"kdapilot/probes/readfile"
)

const planLimit = 4 << 20 // bytes

// planFiles are plan and draft as they are on disk now.
type planFiles struct {
	root                   string
	plan, draft            fact.Origin
	planBytes, draftBytes  []byte
	symlink, symlinkParent string
}

func readPlanFiles(root, planPath, draftPath string) planFiles {
	f := planFiles{root: root}
	f.planBytes, f.plan, _ = readfile.Hashed(filepath.Join(root, filepath.FromSlash(planPath)), planLimit)
	f.draftBytes, f.draft, _ = readfile.Hashed(filepath.Join(root, filepath.FromSlash(draftPath)), planLimit)
	at := root
	parts := strings.Split(filepath.ToSlash(planPath), "/")
	for i, p := range parts {
		at = filepath.Join(at, p)
		st, err := os.Lstat(at)
		if err != nil || st.Mode()&os.ModeSymlink == 0 {
			continue
		}
		if i == len(parts)-1 {
			f.symlink = at
		} else if f.symlinkParent == "" {
			f.symlinkParent = at
		}
	}
	return f
}

// issuesOf turns the plan's findings into what gate 1 looks at.
func issuesOf(doc *plan.Doc, facts plan.Facts) []gate.Issue {
	var out []gate.Issue
	for _, f := range plan.Check(doc, facts) {
		out = append(out, gate.Issue{ID: f.ID, Title: f.Title, Line: f.Line, Text: f.Text, Blocks: f.Level == plan.Block, Clears: f.Clears})
	}
	return out
}

func sectionsOf(doc *plan.Doc) []gate.Section {
	var out []gate.Section
	for _, s := range doc.Sections {
		out = append(out, gate.Section{ID: s.ID, Title: s.Title, Line: s.Line})
	}
	return out
}

// setupFacts is what Humanize's setup would look at, for its refusals to be
// said before the gate and not after it.
func setupFacts(f *gate.Facts, files planFiles) plan.SetupFacts {
	counts := plan.Count(files.planBytes)
	out := plan.SetupFacts{
		RootKnown: plan.Is(f.Repo.State == repo.Worktree), Git: plan.Is(f.Repo.State == repo.Worktree), HasCommit: plan.Is(f.Repo.Head != ""),
		LoopsKnown: f.LoopsKnown, ActiveLoop: f.ActiveLoop, Branch: f.Repo.Branch, DirtyKnown: f.Repo.FilesKnown,
		Path: plan.PathFacts{
			Symlink: plan.Is(files.symlink != ""), SymlinkParent: files.symlinkParent, ParentsKnown: true,
			DirExists: plan.Is(exists(filepath.Dir(files.plan.Path))), Exists: plan.Is(files.plan.Status != fact.Missing),
			Readable: plan.Is(files.plan.Status == fact.OK), Inside: plan.Yes, InSubmodule: plan.No,
		},
	}
	if len(f.Argv) > 1 {
		out.Args = f.Argv[1:]
	}
	if files.plan.Status == fact.OK {
		out.Path.Counts = &counts
	}
	if f.PlanTracked != nil {
		out.Path.Tracked = plan.Is(*f.PlanTracked)
	}
	for _, d := range f.Repo.Dirty() {
		out.Dirty = append(out.Dirty, string(d.Change)+" "+d.Path)
	}
	if b := f.Repo.Base; b != nil && b.Status.Known() {
		out.Local = map[string]bool{b.Ref: b.IsBranch && b.Commit != ""}
	}
	return out
}
