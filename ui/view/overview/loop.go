package overview

import (
	"fmt"
	"strings"

	"kdapilot/engine/gate"
	"kdapilot/engine/loop"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// loopLines says where the loop is: phase, ball, round, verdicts so far, what
// the tracker claims and what is verified, and why the next stop would bounce.
func loopLines(e *view.Env, w, h int) []string {
	look := e.Look
	l := e.Snap.Loops.Current()
	if l == nil {
		out := append(note(noLoop(e.Snap), w, look), gateLines(e, w)...)
		return append(out, commitLines(e, w, h-len(out))...)
	}
	var out []string
	add := func(label, value string) { out = append(out, draw.KV(label, value, 9, w, look)) }
	add("phase", phase(l, look)+look.Dim.Paint("  since "+view.Age(e.Now, l.PhaseSince)))
	add("ball", look.Ball.Paint(string(l.Ball.Who))+look.Dim.Paint("  "+l.Ball.Why))
	add("round", rounds(l, look))
	add("verdicts", strip(l, look))
	add("criteria", criteria(&l.Tracker, look))
	add("tasks", tasks(&l.Tracker))
	if l.BaseBranch != "" {
		add("base", l.BaseBranch+" @ "+short(l.BaseCommit))
	}
	out = append(out, gateLines(e, w)...)
	for i, r := range l.NextStop {
		label := ""
		if i == 0 {
			label = "next stop"
		}
		word := "refused: "
		if r.Ends {
			word = "ends: "
		}
		out = append(out, draw.KV(label, look.Warn.Paint(word)+r.Text, 9, w, look))
	}
	if n := len(e.Snap.Loops.Loops); n > 1 {
		add("loops", fmt.Sprintf("%s, newest %s", view.Count(n, "loop"), l.Name))
	}
	out = append(out, sinceLines(e, w)...)
	return append(out, commitLines(e, w, h-len(out))...)
}

// gateLines are the two seals and what preflight says.
func gateLines(e *view.Env, w int) []string {
	look, g := e.Look, &e.Snap.Gates
	if !g.Known {
		return nil
	}
	paint := func(word string) string {
		switch word {
		case "sealed":
			return look.Good.Paint(word)
		case "void":
			return look.Bad.Paint(word)
		}
		return look.Dim.Paint("not sealed")
	}
	line := func(label string, id gate.ID, seal *gate.Seal) string {
		s := paint(g.Word(id))
		if seal != nil {
			s += look.Dim.Paint("  " + view.Age(e.Now, seal.At) + ", " + seal.Who)
		}
		return draw.KV(label, s, 9, w, look)
	}
	out := []string{line("gate 1", gate.G1, g.G1), line("gate 2", gate.G2, g.G2)}
	if f := g.Facts; f != nil && e.Snap.Mode == session.Live {
		p := look.Warn
		if f.Preflight.State == gate.Green {
			p = look.Good
		} else if f.Preflight.State == gate.Red {
			p = look.Bad
		}
		text := f.Preflight.Text
		if f.Preflight.State == gate.Green {
			text = view.Age(e.Now, f.Preflight.At)
		}
		out = append(out, draw.KV("preflight", p.Paint(string(f.Preflight.State))+look.Dim.Paint("  "+text), 9, w, look))
	}
	return out
}

// commitLines are the newest commits on the locked base and how much they
// change, where there is room.
func commitLines(e *view.Env, w, h int) []string {
	b := e.Snap.Repo.Base
	if b == nil || len(b.Commits) == 0 || h < 4 {
		return nil
	}
	title := "since the locked base"
	if d := b.Distance; d != nil {
		title += ": " + view.Count(d.Ahead, "commit")
	}
	if d := b.Diff; d != nil {
		title += fmt.Sprintf(", %s +%d -%d", view.Count(d.FileCount, "file"), d.Added, d.Deleted)
	}
	out := []string{"", e.Look.Heading.Paint(draw.Fit(title, w))}
	for _, c := range b.Commits[:min(len(b.Commits), h-2, 6)] {
		out = append(out, draw.Sides("  "+short(c.SHA)+" "+c.Subject, e.Look.Dim.Paint(view.Age(e.Now, c.Time)), w))
	}
	return out
}

func noLoop(s *session.Snapshot) string {
	switch {
	case !s.Loops.Origin.Status.Known():
		return "loops: " + s.Loops.Origin.Status.String() + " " + s.Loops.Origin.Why
	case s.Mode == session.Offline:
		return "No loop in this folder."
	default:
		return "No loop yet."
	}
}

func phase(l *loop.Loop, look style.Look) string {
	word := strings.ReplaceAll(string(l.Phase), "-", " ")
	if l.Phase == loop.Ended {
		return look.Strong.Paint("ended: " + string(l.Outcome))
	}
	return look.Strong.Paint(word)
}

func rounds(l *loop.Loop, look style.Look) string {
	s := l.Round.String() + " of " + l.Max.String()
	if l.Round.Known && l.Max.Known && l.Round.N == l.Max.N && l.Phase == loop.Implementing {
		return s + look.Warn.Paint("  last, unreviewed")
	}
	if l.StallCount.Known && l.StallCount.N > 0 {
		return s + look.Warn.Paint(fmt.Sprintf("  stall %d of 3", l.StallCount.N))
	}
	return s
}

// strip is one letter per round, as loop.Mark has them.
func strip(l *loop.Loop, look style.Look) string {
	var b strings.Builder
	for _, m := range l.Strip() {
		b.WriteString(mark(m.Letter, look))
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}

func mark(letter string, look style.Look) string {
	switch letter {
	case "A", "C", "P":
		return look.Good.Paint(letter)
	case "R", "X", "!":
		return look.Bad.Paint(letter)
	case ".":
		return look.Dim.Paint(letter)
	default:
		return look.Warn.Paint(letter)
	}
}

// criteria keeps claim and proof apart.
func criteria(t *loop.Tracker, look style.Look) string {
	if len(t.Criteria) == 0 {
		if !t.Origin.Status.Known() {
			return "goal tracker " + t.Origin.Status.String()
		}
		return "none found in the goal tracker"
	}
	verified, claimed := 0, 0
	for _, c := range t.Criteria {
		if c.Verified {
			verified++
		}
		if c.Claimed && !c.Verified {
			claimed++
		}
	}
	s := look.Good.Paint(fmt.Sprintf("%d verified", verified))
	if claimed > 0 {
		s += look.Warn.Paint(fmt.Sprintf(", %d only claimed", claimed))
	}
	return s + fmt.Sprintf(" of %d", len(t.Criteria))
}

func tasks(t *loop.Tracker) string {
	s := fmt.Sprintf("%d open, %d claimed done, %d verified", t.Open, t.ActiveCompleted, t.CompletedRows)
	if t.Blocking > 0 {
		s += fmt.Sprintf(", %d blocking", t.Blocking)
	}
	if t.Queued > 0 {
		s += fmt.Sprintf(", %d queued", t.Queued)
	}
	if t.Deferred > 0 {
		s += fmt.Sprintf(", %d deferred", t.Deferred)
	}
	return s
}

func sinceLines(e *view.Env, w int) []string {
	if e.Snap.Since == nil || len(e.Snap.Since.Lines) == 0 {
		return nil
	}
	out := []string{"", e.Look.Heading.Paint(draw.Fit("since you last looked, "+view.Age(e.Now, e.Snap.Since.At), w))}
	for _, l := range e.Snap.Since.Lines {
		out = append(out, draw.Fit("  "+l, w))
	}
	return out
}

func short(sha string) string {
	if len(sha) > 9 {
		return sha[:9]
	}
	return sha
}
