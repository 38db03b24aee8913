package rounds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
)

// list are the rounds of l that fit the filter, newest first.
func (s *Screen) list(l *loop.Loop) []*loop.Round {
	if l == nil {
		return nil
	}
	f := view.NewFilter(s.filter)
	out := make([]*loop.Round, 0, len(l.Rounds))
	for i := len(l.Rounds) - 1; i >= 0; i-- {
		r := &l.Rounds[i]
		if f.Empty() || f.Keep(oneLine(l, r)+" "+titles(r), func(n string) (string, bool) { return axis(l, r, n) }) {
			out = append(out, r)
		}
	}
	return out
}

func titles(r *loop.Round) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(f.Severity + " " + f.Title + " ")
	}
	return b.String()
}

func axis(l *loop.Loop, r *loop.Round, name string) (string, bool) {
	switch strings.ToLower(name) {
	case "round":
		return strconv.Itoa(r.N), true
	case "verdict":
		return verdictWord(l, r), true
	case "kind":
		return kindWord(l, r), true
	case "end":
		return string(r.Marker), true
	case "findings":
		return strconv.Itoa(len(r.Findings)), true
	}
	return "", false
}

// at is where the selected round is in the list, the first if it is not there.
func (s *Screen) at(all []*loop.Round) int {
	if !s.moved {
		return 0
	}
	return max(slices.IndexFunc(all, func(r *loop.Round) bool { return r.N == s.round }), 0)
}

// loopList are the loops that fit their filter, newest first.
func (s *Screen) loopList(e *view.Env) []*loop.Loop {
	f := view.NewFilter(s.loopsOf)
	var out []*loop.Loop
	for i := range e.Snap.Loops.Loops {
		l := &e.Snap.Loops.Loops[i]
		if f.Empty() || f.Keep(loopLine(l)+" "+string(l.Layout), nil) {
			out = append(out, l)
		}
	}
	return out
}

// oneLine is a round in plain words.
func oneLine(l *loop.Loop, r *loop.Round) string {
	parts := []string{"round " + strconv.Itoa(r.N)}
	if k := kindWord(l, r); k != "-" {
		parts = append(parts, k)
	}
	parts = append(parts, verdictWord(l, r))
	if r.Marker != "" {
		parts = append(parts, string(r.Marker))
	}
	if a := acWord(r); a != "-" {
		parts = append(parts, "AC "+a)
	}
	if f := foundWord(r); f != "-" {
		parts = append(parts, f)
	}
	return strings.Join(parts, "  ")
}

// loopLine is a loop in plain words.
func loopLine(l *loop.Loop) string {
	parts := append([]string{l.Name, loopWord(l)}, marksOf(l)...)
	parts = append(parts, "round "+l.Round.String()+" of "+l.Max.String())
	if l.LastVerdict != "" {
		parts = append(parts, "last verdict "+string(l.LastVerdict))
	}
	if b := base(l); b != "-" {
		parts = append(parts, "base "+b)
	}
	return strings.Join(parts, "  ")
}

// stopLine is a loop with what speaks against its next stop.
func stopLine(l *loop.Loop) string {
	s := loopLine(l)
	for i, r := range l.NextStop {
		if i == 0 {
			s += "; next stop " + stopWord(r) + ": "
		} else {
			s += ", "
		}
		s += r.Text
	}
	return s
}

// none says why there is no loop, and what to do.
func none(e *view.Env) string {
	switch o := e.Snap.Loops.Origin; {
	case o.Status == fact.NotRead:
		return "Loops: not read yet."
	case !o.Status.Known() && o.Status != fact.Missing:
		return strings.TrimSpace("Loops: " + o.Status.String() + " " + o.Why)
	case e.Snap.Mode == session.Offline:
		return "No loop in this folder: there is neither .humanize/rlcr nor .humanize-loop.local in it."
	default:
		return fmt.Sprintf("No loop yet. Review the plan (%s), approve it (%s), then start the loop (%s).", keyOf(e, keys.GoPlan), keyOf(e, keys.OpenG1), keyOf(e, keys.OpenG2))
	}
}

func keyOf(e *view.Env, id keys.ID) string {
	if a, ok := e.Keys.Action(id); ok && len(a.Keys) > 0 {
		return keys.Show(a.Keys[0])
	}
	return string(id)
}
