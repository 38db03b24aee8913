package runs

import (
	"fmt"
	"slices"
	"strings"

	"kdapilot/engine/family"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/ui/view"
)

// choosePreset lists the presets of the family; the chosen one asks for what it
// still needs and ends in a question that shows the exact command.
func choosePreset(e *view.Env) view.Ask {
	f := e.Snap.Family
	if f == nil {
		why := e.Snap.FamilyWhy
		if why == "" {
			why = "not read yet"
		}
		return view.Ask{Prompt: &view.Prompt{
			Title:  "no kernel family (" + text.Line(why) + "): type a command",
			Accept: func(e *view.Env, line string, _ int) view.Ask { return typed(e, line) },
		}}
	}
	entries := make([]view.Entry, len(f.Presets))
	for i, p := range f.Presets {
		entries[i] = view.Entry{Label: p.Name, Note: presetNote(f, p)}
	}
	return view.Ask{Prompt: &view.Prompt{
		Title: "run a preset of " + f.Name, Entries: entries,
		Accept: func(e *view.Env, typed string, i int) view.Ask {
			if i < 0 || i >= len(f.Presets) {
				return view.Ask{Say: "no preset is called " + typed}
			}
			return next(e, f, session.StartRun{Preset: f.Presets[i].Name, GPU: -1})
		},
	}}
}

// presetNote is what a preset does, how many cells it has and how long it may
// take.
func presetNote(f *family.Family, p family.Preset) string {
	parts := []string{p.Title}
	if c, err := f.Preset(p.Name, params(nil, session.StartRun{})); err == nil && len(c.Expected) > 0 {
		parts = append(parts, view.Count(len(c.Expected)+c.ExpectedExtra, "cell"))
	}
	switch {
	case p.Set != "":
		parts = append(parts, "one cell of set "+p.Set)
	case p.Expect == "cell":
		parts = append(parts, "one cell")
	}
	if p.Timeout != "" {
		parts = append(parts, "at most "+p.Timeout)
	}
	if p.Required {
		parts = append(parts, "required for promotion")
	}
	return strings.Join(parts, ", ")
}

// newBundle stands for the folder that is named when the run starts.
const newBundle = "(a new bundle folder)"

func params(e *view.Env, a session.StartRun) family.Params {
	p := family.Params{
		GPU: a.GPU, Cell: a.Cell, Worktree: "/", Bundle: newBundle, RunID: "(this run)",
		Kernel: a.Kernel, Before: a.Before, After: a.After, Class: a.Class,
	}
	if e != nil {
		p.Worktree = e.Snap.Root
	}
	return p
}

// Start asks for what a run still needs and ends in the question that shows its
// exact command; the palette and other screens begin runs with it. GPU -1 asks.
func Start(e *view.Env, a session.StartRun) view.Ask {
	if e.Snap.Family == nil {
		return view.Ask{Say: "nothing started: no kernel family (" + text.Line(e.Snap.FamilyWhy) + ")"}
	}
	return next(e, e.Snap.Family, a)
}

// next asks for what is still missing: the cell, the kernel or the bundles of a
// profile, its question, the GPU.
func next(e *view.Env, f *family.Family, a session.StartRun) view.Ask {
	p, err := f.Find(a.Preset)
	if err != nil {
		return view.Ask{Say: err.Error()}
	}
	if a.Cell == "" && (p.Expect == "cell" || p.Set != "") {
		return askCell(f, p, a)
	}
	if ask, open := nextProfile(e, f, p, a); open {
		return ask
	}
	switch {
	case p.Kind == family.KindFlyprof && !takes(p, "{gpu}"):
		a.GPU = max(a.GPU, 0) // it reads files: no GPU is asked for or locked
	case a.GPU < 0 && len(e.Snap.Host.GPUs) > 1:
		return askGPU(e, f, a)
	case a.GPU < 0:
		a.GPU = 0
		if len(e.Snap.Host.GPUs) == 1 {
			a.GPU = e.Snap.Host.GPUs[0].Index
		}
	}
	return confirm(e, f, p, a)
}

// takes reports whether a preset's arguments need something.
func takes(p family.Preset, placeholder string) bool {
	return slices.ContainsFunc(p.Argv, func(s string) bool { return strings.Contains(s, placeholder) })
}

func askCell(f *family.Family, p family.Preset, a session.StartRun) view.Ask {
	var keys []string
	title := "cell for " + p.Name
	if set, err := f.FocusSet(p.Set); err == nil && p.Set != "" {
		keys = set.Keys
		title += ", set " + p.Set
	} else if all, err := f.Expand(""); err == nil {
		for _, c := range all {
			keys = append(keys, c.Key)
		}
	}
	entries := make([]view.Entry, len(keys))
	for i, k := range keys {
		entries[i] = view.Entry{Label: k, Note: f.Regime(k)}
	}
	return view.Ask{Prompt: &view.Prompt{
		Title: title + ": pick one or type a key", Entries: entries,
		Accept: func(e *view.Env, typed string, i int) view.Ask {
			typed = strings.TrimSpace(typed)
			_, err := f.ParseKey(typed)
			switch {
			case typed != "" && err == nil: // a whole key was typed: take it as it is
				a.Cell = typed
			case i >= 0 && i < len(keys):
				a.Cell = keys[i]
			default:
				return view.Ask{Say: fmt.Sprint("not a cell key: ", err)}
			}
			return next(e, f, a)
		},
	}}
}

func askGPU(e *view.Env, f *family.Family, a session.StartRun) view.Ask {
	gpus := e.Snap.Host.GPUs
	entries := make([]view.Entry, len(gpus))
	for i, g := range gpus {
		entries[i] = view.Entry{Label: gpuName(g), Note: busy(e.Snap, g.Index)}
	}
	return view.Ask{Prompt: &view.Prompt{
		Title: "on which GPU?", Entries: entries,
		Accept: func(e *view.Env, _ string, i int) view.Ask {
			if i < 0 || i >= len(gpus) {
				return view.Ask{Say: "nothing started: no GPU chosen"}
			}
			a.GPU = gpus[i].Index
			return next(e, f, a)
		},
	}}
}

func gpuName(g runs.GPU) string {
	s := fmt.Sprintf("GPU %d", g.Index)
	if g.Name != "" {
		s += " " + g.Name
	}
	if g.Arch != "" {
		s += " " + g.Arch
	}
	return s
}

// busy names the run of ours that holds a GPU.
func busy(s *session.Snapshot, index int) string {
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.State != runs.Running && r.State != runs.Queued {
			continue
		}
		for _, g := range r.Manifest.GPUs {
			if g.Index == index {
				return string(r.State) + " here: " + r.Manifest.Preset
			}
		}
	}
	return ""
}

// confirm shows the exact command before anything runs.
func confirm(e *view.Env, f *family.Family, p family.Preset, a session.StartRun) view.Ask {
	c, err := f.Preset(p.Name, params(e, a))
	if err != nil {
		return view.Ask{Say: "not started: " + err.Error()}
	}
	gpu := a.GPU
	if p.Kind == family.KindFlyprof && !takes(p, "{gpu}") {
		gpu = noGPU
	}
	lines := command(e, c.Argv, c.Cwd, gpu)
	if len(c.Env) > 0 {
		lines = append(lines, "with "+text.Line(strings.Join(c.Env, " ")))
	}
	lines = append(lines, aboutProfile(e, p, a)...)
	facts := presetNote(f, p)
	if len(c.Expected) == 0 && p.Kind != family.KindFlyprof {
		facts += "; how many cells is not known"
	}
	lines = append(append(lines, "", facts), p.Notes...)
	return view.Ask{Confirm: &view.Confirm{Title: "run " + p.Name, Lines: lines, Word: "run", Do: []session.Action{a}}}
}

// command is what is run, where and on what, one argument a line.
func command(e *view.Env, argv []string, cwd string, gpu int) []string {
	var lines []string
	if e.Snap.Simulated {
		lines = append(lines, "SIMULATED: a stand-in runs, its numbers are no evidence", "")
	}
	if cwd == "" {
		cwd = e.Snap.Root
	}
	if gpu == noGPU {
		return append(append(lines, "in "+text.Line(cwd), ""), append(words(argv), "")...)
	}
	where := fmt.Sprintf("GPU %d", gpu)
	for _, g := range e.Snap.Host.GPUs {
		if g.Index == gpu {
			where = gpuName(g)
		}
	}
	if len(e.Snap.Host.GPUs) == 0 {
		where += " (no GPU was seen here: " + e.Snap.Host.GPUStatus.Status.String() + ")"
	}
	if b := busy(e.Snap, gpu); b != "" {
		where += ", " + b
	}
	lines = append(lines, "on "+text.Line(where), "in "+text.Line(cwd), "")
	return append(append(lines, words(argv)...), "")
}

// noGPU marks a command that uses none.
const noGPU = -1

// words are the arguments, one a line, quoted where a shell would need it.
func words(argv []string) []string {
	var lines []string
	for _, s := range argv {
		if s == "" || strings.ContainsAny(s, " \t'\"\\") {
			s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
		lines = append(lines, "  "+text.Line(s))
	}
	return lines
}

// typed asks before a typed command is run.
func typed(e *view.Env, line string) view.Ask {
	argv, ok := session.SplitCommand(line)
	if !ok || len(argv) == 0 {
		return view.Ask{Say: "nothing started: a quote is left open, or nothing was typed"}
	}
	return view.Ask{Confirm: &view.Confirm{
		Title: "run a command", Lines: command(e, argv, "", 0), Word: "run", Do: []session.Action{session.StartRun{Argv: argv}},
	}}
}

// again runs the same command once more. When the preset still gives that very
// command, it is started as the preset, so that cells and environment are known.
func again(e *view.Env, r *runs.Run) view.Ask {
	m := &r.Manifest
	if len(m.Argv) == 0 {
		return view.Ask{Say: "the manifest of this run holds no command"}
	}
	if m.Kind == runs.Profile {
		return profileAgain(e, r)
	}
	a := session.StartRun{Argv: m.Argv, Question: m.Question}
	if len(m.GPUs) > 0 {
		a.GPU = m.GPUs[0].Index
	}
	lines := command(e, m.Argv, m.Cwd, a.GPU)
	if f := e.Snap.Family; f != nil {
		if c, err := f.Preset(m.Preset, params(e, session.StartRun{GPU: a.GPU})); err == nil && slices.Equal(c.Argv, m.Argv) && c.Cwd == m.Cwd {
			a.Preset, a.Argv = m.Preset, nil
		}
	}
	if a.Preset == "" {
		if m.Cwd != "" && m.Cwd != e.Snap.Root {
			return view.Ask{Say: "that run was started in " + m.Cwd + ", not here: start its preset with r"}
		}
		if len(m.Env) > 0 {
			lines = append(lines, "without the variables its preset set: "+strings.Join(sortedKeys(m.Env), " "))
		}
	}
	if m.Head != "" && e.Snap.Repo.Head != "" && m.Head != e.Snap.Repo.Head {
		lines = append(lines, "HEAD was "+short(m.Head)+", it is "+short(e.Snap.Repo.Head)+" now")
	}
	return view.Ask{Confirm: &view.Confirm{Title: "run again: " + m.Preset, Lines: lines, Word: "run", Do: []session.Action{a}}}
}

// cancel asks before a run is ended.
func cancel(e *view.Env, r *runs.Run) view.Ask {
	switch {
	case r.State.Final():
		return view.Ask{Say: "nothing to cancel: this run is " + string(r.State)}
	case r.State == runs.Elsewhere:
		return view.Ask{Say: "this run belongs to host " + r.Manifest.Place.Host + ": cancel it there"}
	}
	lines := []string{
		string(r.ID),
		fmt.Sprintf("%s, %s cells, running for %s", r.State, cells(r), took(r)),
		"",
		"TERM to its process group, KILL after a grace time.",
		"Rows so far are kept and labelled partial.",
	}
	return view.Ask{Confirm: &view.Confirm{Title: "cancel " + r.Manifest.Preset, Lines: lines, Word: "cancel", Do: []session.Action{session.CancelRun{ID: r.ID}}}}
}

func short(sha string) string {
	if len(sha) > 12 {
		return sha[:12]
	}
	return sha
}
