package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdapilot/engine/bench"
	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// order is one way to sort the list; nil keeps it as it is, newest first.
type order struct {
	name string
	by   func(e *view.Env, a, b *runs.Run) int
}

func orders() []order {
	return []order{
		{"newest first", nil},
		{"state", func(_ *view.Env, a, b *runs.Run) int { return cmp.Compare(a.State, b.State) }},
		{"preset", func(_ *view.Env, a, b *runs.Run) int { return cmp.Compare(a.Manifest.Preset, b.Manifest.Preset) }},
		{"outcome", func(e *view.Env, a, b *runs.Run) int {
			x, _ := outcome(e, a)
			y, _ := outcome(e, b)
			return cmp.Compare(x, y)
		}},
	}
}

// list are the runs that fit the filter, in order.
func (s *Screen) list(e *view.Env) []*runs.Run {
	f := view.NewFilter(s.filter)
	out := make([]*runs.Run, 0, len(e.Snap.Runs))
	for i := range e.Snap.Runs {
		r := &e.Snap.Runs[i]
		if f.Empty() || f.Keep(oneLine(e, r)+" "+strings.Join(r.Manifest.Argv, " "), func(n string) (string, bool) { return axis(e, r, n) }) {
			out = append(out, r)
		}
	}
	if o := orders()[s.sort]; o.by != nil {
		slices.SortStableFunc(out, func(a, b *runs.Run) int { return o.by(e, a, b) })
	}
	if s.flip {
		slices.Reverse(out)
	}
	return out
}

// at is where the selected run is in the list, else the first.
func (s *Screen) at(all []*runs.Run) int {
	return max(slices.IndexFunc(all, func(r *runs.Run) bool { return r.ID == s.sel }), 0)
}

// run is the selected run, the first in the list when it is gone or none is
// selected; nil when there is none. What the cursor stands on is what the panes
// show and the keys act on: a run that the filter hides gives way to the first
// that it leaves. Who is in its log or its details stays there, also when the
// run ends and no longer fits.
func (s *Screen) run(e *view.Env) *runs.Run {
	if s.sel != "" && (s.filter == "" || s.focus != list || s.details) {
		if r := e.Snap.Run(s.sel); r != nil {
			return r
		}
	}
	if all := s.list(e); len(all) > 0 {
		return all[s.at(all)]
	}
	return nil
}

// cursor is where the selected run is in the list, -1 when it is not there.
func (s *Screen) cursor(e *view.Env, all []*runs.Run) int {
	return slices.Index(all, s.run(e))
}

func axis(e *view.Env, r *runs.Run, name string) (string, bool) {
	switch strings.ToLower(name) {
	case "state":
		return string(r.State), true
	case "preset":
		return r.Manifest.Preset, true
	case "kind":
		return string(r.Manifest.Kind), true
	case "exit":
		if r.Result != nil && r.Result.Exit != nil {
			return strconv.Itoa(*r.Result.Exit), true
		}
	case "outcome":
		word, _ := outcome(e, r)
		return word, true
	case "gpu":
		return gpuIndexes(r), true
	}
	return "", false
}

// outcome is what the run is worth, in a word, and whether it is red.
func outcome(e *view.Env, r *runs.Run) (word string, bad bool) {
	if !r.State.Final() {
		return "-", false
	}
	if x := e.Snap.Ends[r.ID]; x != nil {
		return endWord(x)
	}
	if res := e.Snap.Results[r.ID]; res != nil && res.Truth != nil {
		o := res.Truth.Outcome
		if o == bench.OutcomePass {
			return "pass", false
		}
		return strings.ToUpper(string(o)), true
	}
	if r.Result != nil && r.Result.Verdict != nil {
		switch v := r.Result.Verdict; {
		case !v.Agree:
			return "DISAGREE", true
		case v.Pass:
			return "pass", false
		default:
			return "FAIL", true
		}
	}
	return "not judged", false
}

func paintOutcome(word string, bad bool, look style.Look) string {
	switch {
	case bad:
		return look.Bad.Paint(word)
	case word == "pass", word == string(profile.OK):
		return look.Good.Paint(word)
	case word == "not judged":
		return look.Warn.Paint(word)
	default:
		return word
	}
}

func paintState(s runs.State, look style.Look) string {
	switch s {
	case runs.Running:
		return look.Accent.Paint(string(s))
	case runs.Lost, runs.Failed, runs.Unreadable:
		return look.Bad.Paint(strings.ToUpper(string(s)))
	case runs.Cancelled, runs.Elsewhere, runs.Queued:
		return look.Warn.Paint(string(s))
	case "":
		return look.Warn.Paint("not read")
	default:
		return string(s)
	}
}

// labels are the words without which a run would be taken for more than it is.
func labels(e *view.Env, r *runs.Run) []string {
	var out []string
	if r.Manifest.Simulated || e.Snap.Simulated {
		out = append(out, "SIMULATED")
	}
	if r.Partial || r.Result != nil && r.Result.Partial {
		out = append(out, "PARTIAL")
	}
	if r.Result != nil {
		if yes, _ := r.Result.Contaminated(); yes {
			out = append(out, "CONTAMINATED")
		}
	}
	if r.ChildAlive {
		out = append(out, "UNSUPERVISED")
	}
	return out
}

// cells is how far the run got: done/expected, "-" when nobody counted.
func cells(r *runs.Run) string {
	p := r.Progress
	switch {
	case p.Expected != nil:
		s := fmt.Sprintf("%d/%d", p.Done, *p.Expected)
		if p.Surplus {
			s += "+"
		}
		return s
	case p.Done > 0:
		return strconv.Itoa(p.Done)
	default:
		return "-"
	}
}

func eta(r *runs.Run) string {
	if r.State != runs.Running || r.Progress.ETASeconds == nil {
		return "-"
	}
	return view.Clock(seconds(*r.Progress.ETASeconds))
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

// took is the time the command has run, as far as anybody knows.
func took(r *runs.Run) string {
	switch {
	case r.Result != nil && r.Result.WallSeconds > 0:
		return view.Clock(seconds(r.Result.WallSeconds))
	case r.Progress.ElapsedSeconds > 0:
		return view.Clock(seconds(r.Progress.ElapsedSeconds))
	default:
		return "-"
	}
}

func exit(r *runs.Run) string {
	switch {
	case r.Result == nil:
		return "-"
	case r.Result.Signal != "":
		return r.Result.Signal
	case r.Result.Exit != nil:
		return strconv.Itoa(*r.Result.Exit)
	default:
		return "-"
	}
}

func gpuIndexes(r *runs.Run) string {
	var out []string
	for _, g := range r.Manifest.GPUs {
		out = append(out, strconv.Itoa(g.Index))
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, ",")
}

func started(r *runs.Run) time.Time {
	if r.Manifest.Started.IsZero() && r.Result != nil {
		return r.Result.Started
	}
	return r.Manifest.Started
}

// table draws the list.
func (s *Screen) table(e *view.Env, all []*runs.Run, w, h int) []string {
	look := e.Look
	note := orders()[s.sort].name
	if s.flip {
		note += ", turned round"
	}
	if s.filter != "" {
		note += "  /" + s.filter
	}
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "state", Min: 10},
			{Title: "preset", Min: 7, Max: 24, Middle: true},
			{Title: "cells", Align: draw.Right},
			{Title: "age", Align: draw.Right, Priority: 2},
			{Title: "took", Align: draw.Right, Priority: 4},
			{Title: "ETA", Align: draw.Right, Priority: 5},
			{Title: "exit", Align: draw.Right, Priority: 6},
			{Title: "kind", Priority: 8},
			{Title: "GPU", Align: draw.Right, Priority: 7},
			{Title: "labels", Min: 22, Priority: 3, Max: 34},
		},
		Len: len(all), Selected: s.cursor(e, all), Noun: noun(len(all)), Note: note, Empty: "no run fits the filter " + s.filter,
		Row: func(i int) []string {
			r := all[i]
			return []string{
				standing(e, r), r.Manifest.Preset, cells(r), view.Age(e.Now, started(r)), took(r), eta(r),
				exit(r), string(r.Manifest.Kind), gpuIndexes(r), look.Warn.Paint(strings.Join(labels(e, r), " ")),
			}
		},
	}
	s.pages[list] = max(t.Height(h), 1)
	t.Top = draw.Window(0, t.Selected, t.Len, s.pages[list])
	return t.Render(w, h, look)
}

func noun(n int) string {
	if n == 1 {
		return "run"
	}
	return "runs"
}

// standing is one word for the list: what a run that ended by itself is worth,
// else the state it is in. Labels may have no room, so SIM stands for SIMULATED
// and "!" for the others, and neither is ever green.
func standing(e *view.Env, r *runs.Run) string {
	word, sign := "", ""
	for _, l := range labels(e, r) {
		if l == "SIMULATED" {
			word = "SIM "
		} else {
			sign = "!"
		}
	}
	if r.State != runs.Ended {
		return word + paintState(r.State, e.Look) + sign
	}
	o, bad := outcome(e, r)
	if !bad && word+sign != "" {
		return e.Look.Warn.Paint(word + o + sign)
	}
	return paintOutcome(word+o+sign, bad, e.Look)
}

// oneLine is a run in one line.
func oneLine(e *view.Env, r *runs.Run) string {
	word, _ := outcome(e, r)
	s := fmt.Sprintf("%s: %s %s, %s", r.ID, r.Manifest.Kind, r.Manifest.Preset, r.State)
	if c := cells(r); c != "-" {
		s += ", " + c + " cells"
	}
	if x := exit(r); x != "-" {
		s += ", exit " + x
	}
	if word != "-" {
		s += ", " + word
	}
	return strings.Join(append([]string{s}, labels(e, r)...), ", ")
}
