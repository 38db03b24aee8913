package live

import (
	"kdapilot/engine/gate"
	"kdapilot/engine/plan"
	"kdapilot/engine/preflight"
	"kdapilot/engine/repo"
)

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
//
// The programs setup needs are known by the stored preflight, nil for none.
func setupFacts(f *gate.Facts, path plan.PathFacts, r *preflight.Result) plan.SetupFacts {
	out := plan.SetupFacts{
		RootKnown: plan.Is(f.Repo.State == repo.Worktree), Git: plan.Is(f.Repo.State == repo.Worktree), HasCommit: plan.Is(f.Repo.Head != ""),
		LoopsKnown: f.LoopsKnown, ActiveLoop: f.ActiveLoop, Branch: f.Repo.Branch, DirtyKnown: f.Repo.FilesKnown, Path: path,
	}
	if r != nil {
		row := r.Row(preflight.Commands)
		out.ToolsKnown = row != nil && (row.State == preflight.Green || row.State == preflight.Red)
		if out.ToolsKnown && row.State == preflight.Red {
			out.MissingTools = row.Seen
		}
	}
	if len(f.Argv) > 1 {
		out.Args = f.Argv[1:]
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
