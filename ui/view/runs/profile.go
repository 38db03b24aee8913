package runs

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kdapilot/engine/family"
	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/ui/draw"
	"kdapilot/ui/view"
)

// nextProfile asks for what a preset of flyprof still needs; open is false when
// it needs nothing more.
func nextProfile(e *view.Env, f *family.Family, p family.Preset, a session.StartRun) (ask view.Ask, open bool) {
	switch {
	case p.Kind != family.KindFlyprof:
	case a.Kernel == "" && takes(p, "{kernel}"):
		return askKernel(e, f, a), true
	case a.Before == "" && takes(p, "{before}"):
		return askBundle(e, f, "before", a, func(a *session.StartRun, path string) { a.Before = path }), true
	case a.After == "" && takes(p, "{after}"):
		return askBundle(e, f, "after", a, func(a *session.StartRun, path string) { a.After = path }), true
	case a.Class == "" && takes(p, "{class}"):
		return askClass(e, f, a), true
	case a.Question == "" && takes(p, "{bundle}"):
		return askQuestion(f, a), true
	}
	return view.Ask{}, false
}

// listFirst stands in the list of kernels while none has been made here.
const listFirst = "(ask flyprof for its list first)"

// askKernel offers the family's kernel and those of the newest flyprof list.
func askKernel(e *view.Env, f *family.Family, a session.StartRun) view.Ask {
	kernels, from := e.Snap.Kernels()
	var names []string
	var entries []view.Entry
	add := func(name, note string) {
		if name != "" && !slices.Contains(names, name) {
			names, entries = append(names, name), append(entries, view.Entry{Label: name, Note: note})
		}
	}
	add(f.Profile.Kernel, "the kernel of "+f.Name)
	for _, k := range kernels {
		add(k.Name, strings.Join(kernelNotes(k), ", "))
	}
	title := "which kernel? type a name"
	if from == nil {
		title += "; flyprof-list has not been run here"
		names, entries = append(names, listFirst), append(entries, view.Entry{Label: listFirst, Note: "starts flyprof-list"})
	}
	return view.Ask{Prompt: &view.Prompt{
		Title: title, Entries: entries,
		Accept: func(e *view.Env, typed string, i int) view.Ask {
			typed = text.Line(strings.TrimSpace(typed))
			switch {
			case slices.Contains(names[:len(names):len(names)], typed) && typed != listFirst:
				a.Kernel = typed
			case i >= 0 && i < len(names) && names[i] == listFirst:
				return next(e, f, session.StartRun{Preset: "flyprof-list", GPU: -1})
			case i >= 0 && i < len(names):
				a.Kernel = names[i]
			case typed == "" || strings.HasPrefix(typed, "-"):
				return view.Ask{Say: "nothing started: a profile needs a kernel"}
			default:
				a.Kernel = typed // flyprof may know kernels its list does not
			}
			return next(e, f, a)
		},
	}}
}

// kernelNotes are what a person should know before a kernel is profiled.
func kernelNotes(k profile.Kernel) []string {
	var out []string
	if k.MultiGPU {
		out = append(out, "needs several GPUs")
	}
	if k.PinsGPU() {
		out = append(out, "its recipe pins GPU 0")
	}
	if k.Category != "" {
		out = append(out, k.Category)
	}
	if k.TestFile != "" {
		out = append(out, path.Base(k.TestFile))
	}
	return out
}

// askBundle offers the bundles that hold a report, which is what diff compares.
func askBundle(e *view.Env, f *family.Family, side string, a session.StartRun, set func(*session.StartRun, string)) view.Ask {
	var list []session.Bundle
	var entries []view.Entry
	for _, b := range e.Snap.Bundles {
		if b.HasReport && b.Path != a.Before {
			list = append(list, b)
			// Ours lie in one folder: its name would only push the rest out.
			label := strings.TrimPrefix(b.Name, ".humanize/kdapilot/bundles/")
			entries = append(entries, view.Entry{Label: label, Note: "made: " + view.Age(e.Now, b.ModTime)})
		}
	}
	if len(list) == 0 {
		return view.Ask{Say: "nothing started: diff needs two bundles with a report.json; run flyprof-run first"}
	}
	return view.Ask{Prompt: &view.Prompt{
		Title: "bundle " + side, Entries: entries,
		Accept: func(e *view.Env, typed string, i int) view.Ask {
			if i < 0 || i >= len(list) {
				return view.Ask{Say: "nothing started: no bundle fits " + text.Line(typed)}
			}
			set(&a, list[i].Path)
			return next(e, f, a)
		},
	}}
}

// askClass offers the classes of the newest trace, the heaviest first, and the
// others the wiki was seeded with.
func askClass(e *view.Env, f *family.Family, a session.StartRun) view.Ask {
	var names []string
	var entries []view.Entry
	add := func(name, note string) {
		if !slices.Contains(names, name) {
			names, entries = append(names, name), append(entries, view.Entry{Label: name, Note: note})
		}
	}
	for _, b := range e.Snap.Bundles {
		if an := e.Snap.Analyses[b.Path]; an != nil {
			for _, c := range an.Bubbles.Taxonomy.ByClass {
				add(string(c.Class), c.Pct.String()+"% of stall in "+b.Name)
			}
			break
		}
	}
	for _, c := range []string{"occupancy", "barrier", "vmcnt", "lgkmcnt", "lds", "mfma", "vmem_load", "vmem_store"} {
		add(c, "")
	}
	return view.Ask{Prompt: &view.Prompt{
		Title: "prior art on which stall class?", Entries: entries,
		Accept: func(e *view.Env, typed string, i int) view.Ask {
			if i < 0 || i >= len(names) {
				return view.Ask{Say: "nothing started: no stall class " + text.Line(typed)}
			}
			a.Class = names[i]
			return next(e, f, a)
		},
	}}
}

// askQuestion wants the one question a profile is to answer.
func askQuestion(f *family.Family, a session.StartRun) view.Ask {
	var entries []view.Entry
	for _, q := range f.Profile.Questions {
		entries = append(entries, view.Entry{Label: q})
	}
	entries = append(entries, view.Entry{Label: "(as typed)", Note: "a question in your own words"})
	return view.Ask{Prompt: &view.Prompt{
		Title: "which question does this profile answer?", Entries: entries,
		Accept: func(e *view.Env, typed string, i int) view.Ask {
			switch {
			case i >= 0 && i < len(f.Profile.Questions):
				a.Question = f.Profile.Questions[i]
			case strings.TrimSpace(typed) != "":
				a.Question = text.Line(strings.TrimSpace(typed))
			default:
				return view.Ask{Say: "nothing started: a profile needs a question"}
			}
			return next(e, f, a)
		},
	}}
}

// aboutProfile is what the arguments of a profile do not say.
func aboutProfile(e *view.Env, p family.Preset, a session.StartRun) []string {
	var lines []string
	if takes(p, "{bundle}") {
		lines = append(lines, newBundle+" is named when it starts")
	}
	if a.Question != "" {
		lines = append(lines, "question: "+a.Question)
	}
	if a.RetryOf == "" && takes(p, "{bundle}") {
		lines = append(lines, "a transient failure (exit 75) is retried once")
	}
	kernels, _ := e.Snap.Kernels()
	for _, k := range kernels {
		if k.Name == a.Kernel && k.PinsGPU() {
			lines = append(lines, "its recipe pins GPU 0: --gpu is ignored")
		}
	}
	return lines
}

// profileAgain starts the same profile anew: its own bundle, the same kernel
// and question.
func profileAgain(e *view.Env, r *runs.Run) view.Ask {
	m := &r.Manifest
	f := e.Snap.Family
	if f == nil {
		return view.Ask{Say: "a profile writes into its own bundle: start it from its preset with r"}
	}
	if _, err := f.Find(m.Preset); err != nil {
		return view.Ask{Say: "a profile writes into its own bundle: start it from its preset with r"}
	}
	a := session.StartRun{Preset: m.Preset, Question: m.Question, GPU: -1, Kernel: profile.KernelOf(m.Argv), Before: profile.Option(m.Argv, "before"), After: profile.Option(m.Argv, "after")}
	if profile.CommandOf(m.Argv) == "wiki" {
		a.Class = profile.Operand(m.Argv)
	}
	if len(m.GPUs) > 0 {
		a.GPU = m.GPUs[0].Index
	}
	return next(e, f, a)
}

// endWord is what a flyprof run is worth in a word for the list, and whether it
// is red. Capitals mark what a person has to act on.
func endWord(x *profile.End) (word string, bad bool) {
	if bad = x.Bad(); bad {
		return strings.ToUpper(string(x.Meaning)), true
	}
	return string(x.Meaning), false
}

// endPairs are the end of a flyprof run: what it means, what to do.
func endPairs(e *view.Env, r *runs.Run, p *pairs) {
	x, look := e.Snap.Ends[r.ID], e.Look
	word, bad := endWord(x)
	p.add("outcome", paintOutcome(word, bad, look)+", "+ended(r))
	said := x.Text
	if bad {
		said = look.Bad.Paint(said)
	}
	p.add("said", said)
	if x.Next != "" {
		p.add("do", x.Next)
	}
	p.each("quote", x.Quotes)
}

// attempts link a run with the one it repeats, or the one that repeats it.
func attempts(e *view.Env, r *runs.Run, p *pairs) {
	if r.Manifest.RetryOf != "" {
		p.add("retry of", string(r.Manifest.RetryOf))
	}
	if next := profile.RetryOf(e.Snap.Runs, r.ID); next != nil {
		p.add("retried", "as "+string(next.ID)+", "+string(next.State))
	}
}

// answerLines are what flyprof answered, in place of rows.
func answerLines(e *view.Env, r *runs.Run, w int) []string {
	x := e.Snap.Ends[r.ID]
	if x == nil || x.Said == nil {
		return []string{e.Look.Dim.Paint(draw.Fit("no answer yet: flyprof prints it at its end", w))}
	}
	if !r.State.Final() {
		return nil
	}
	s := x.Said
	var p pairs
	if s.Headline != "" {
		p.add("headline", s.Headline)
	}
	if s.Bundle != "" {
		p.add("bundle", s.Bundle)
	}
	for _, st := range s.Steps {
		p.add(st.Name, st.Result)
	}
	if d := s.Doctor; d != nil {
		p.add("rocprofv3", orNot(d.Rocprofv3))
		p.add("GPU", orNot(d.Arch))
		p.add("build", orNot(d.BuildTree))
	}
	for _, k := range s.Kernels {
		p.add(k.Name, strings.Join(kernelNotes(k), ", "))
	}
	if k := s.Wiki; k != nil {
		for _, page := range k.Pages {
			p.add(page.ID, page.Title+"  "+page.Path)
		}
	}
	for _, q := range s.Warnings {
		p.add("warning", e.Look.Warn.Paint(q))
	}
	if s.Code != "" {
		p.add("code", fmt.Sprintf("%s, exit %d", s.Code, s.Exit))
		p.add("message", s.Message)
	}
	return draw.KVs(p.list, w, e.Look)
}

// stagesOf is how far a capture got, in words; "" for other runs. A stage can
// last twenty minutes without a sign, so the time is taken from the clock of the
// screen, which steps by the minute.
func stagesOf(e *view.Env, r *runs.Run) string {
	if r.Manifest.Kind != runs.Profile || r.Progress.Current == "" {
		return ""
	}
	s := r.Progress.Current
	if r.State != runs.Running {
		return s
	}
	s = e.Look.Accent.Paint(s)
	if age := e.Now.Sub(started(r)); age >= time.Minute {
		s += ", running for " + view.Age(e.Now, started(r))
	}
	return s
}
