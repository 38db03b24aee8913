package rounds

import (
	"fmt"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

const labelW = 9

// factLines are everything about a loop that is not a round.
func factLines(e *view.Env, l *loop.Loop, w int) []string {
	b := builder{e: e, w: w}
	b.state(l)
	b.refusals(l)
	b.reviewer(l)
	b.warnings(l)
	b.criteria(l)
	b.tasks(l)
	b.start(l)
	return b.out
}

// builder collects lines of w cells.
type builder struct {
	e   *view.Env
	w   int
	out []string
}

func (b *builder) kv(label, value string) {
	b.out = append(b.out, draw.KV(label, value, labelW, b.w, b.e.Look))
}

// text is a value that may need several lines.
func (b *builder) text(label, value string, paint style.Token) {
	for i, l := range draw.Wrap(value, max(b.w-labelW-1, 8)) {
		if i > 0 {
			label = ""
		}
		b.kv(label, paint.Paint(l))
	}
}

func (b *builder) heading(s string) {
	b.out = append(b.out, "", b.e.Look.Heading.Paint(draw.Fit(s, b.w)))
}

func (b *builder) state(l *loop.Loop) {
	look := b.e.Look
	b.kv("phase", phaseLine(b.e, l)+look.Dim.Paint("  since "+view.Age(b.e.Now, l.PhaseSince)))
	if l.Phase != loop.Ended {
		b.kv("ball", look.Ball.Paint(string(l.Ball.Who))+look.Dim.Paint("  "+view.Age(b.e.Now, l.Ball.Since)))
		b.text("", l.Ball.Why, look.Dim)
	}
	b.kv("round", l.Round.String()+" of "+l.Max.String()+stallWord(l, look))
	b.kv("verdicts", strip(l, look)+look.Dim.Paint("  oldest first"))
	if !whole(l.Origin.Status) {
		b.text("state", l.Origin.Status.String()+": "+l.Origin.Why, look.Bad)
	}
}

func stallWord(l *loop.Loop, look style.Look) string {
	var s string
	if l.StallCount.Known {
		word := fmt.Sprintf("  stall %d of 3", l.StallCount.N)
		if l.StallCount.N > 0 {
			word = look.Warn.Paint(word)
		}
		s += word
	}
	if l.Drift != "" && l.Drift != "normal" {
		s += look.Bad.Paint("  drift: " + l.Drift)
	}
	return s
}

func (b *builder) refusals(l *loop.Loop) {
	if !l.Phase.Active() || l.Ignored {
		return
	}
	b.heading("next stop")
	if len(l.NextStop) == 0 {
		b.out = append(b.out, draw.Fit("nothing in the files speaks against it", b.w))
		return
	}
	for _, r := range l.NextStop {
		word, paint := "refused", b.e.Look.Warn
		if r.Ends {
			word, paint = "ends it", b.e.Look.Bad
		}
		b.text(paint.Paint(word), r.Text, style.Token{})
	}
}

func (b *builder) reviewer(l *loop.Loop) {
	r := &l.Reviewer
	if !r.Open {
		return
	}
	look := b.e.Look
	b.heading(fmt.Sprintf("reviewer of round %d", r.Round))
	switch {
	case r.Checked == fact.NotRead:
		b.text("process", "nobody looked whether it lives (a copied folder)", look.Dim)
	case r.Checked != fact.OK:
		b.text("process", or(r.Why, "could not be looked for"), look.Warn)
	case r.Alive:
		b.kv("process", look.Good.Paint("alive")+fmt.Sprintf("  pid %d, started %s", r.PID, until(b.e, r.Started)))
	default:
		b.text("process", "gone without a result", look.Bad)
	}
	if r.Alive && !r.Deadline.IsZero() {
		b.kv("timeout", until(b.e, r.Deadline))
	}
	if r.Alive && !r.HostDeadline.IsZero() {
		b.kv("host", "may end the stop hook "+until(b.e, r.HostDeadline))
	}
	if r.Log != "" {
		b.kv("log", fmt.Sprintf("%d bytes, written %s", r.LogBytes, until(b.e, r.LogModTime)))
	}
	for _, f := range r.Missed {
		b.text("missed", "a finding where Humanize does not look: ["+f.Severity+"] "+f.Title, look.Bad)
	}
}

func (b *builder) warnings(l *loop.Loop) {
	if len(l.Warnings) == 0 {
		return
	}
	b.heading("warnings")
	for _, x := range l.Warnings {
		word, paint := "note", b.e.Look.Dim
		switch x.Severity {
		case loop.Red:
			word, paint = "RED", b.e.Look.Bad
		case loop.Amber:
			word, paint = "amber", b.e.Look.Warn
		}
		text := x.Text
		if x.Line > 0 {
			text += fmt.Sprintf(" (%s:%d)", x.Path[strings.LastIndexByte(x.Path, '/')+1:], x.Line)
		}
		b.text(paint.Paint(word), text, style.Token{})
	}
}

// criteria keeps claim and proof apart.
func (b *builder) criteria(l *loop.Loop) {
	look, t := b.e.Look, &l.Tracker
	b.heading("criteria: verified by review, claimed by the implementer, open")
	if len(t.Criteria) == 0 {
		text := "none found in the goal tracker"
		if t.Origin.Status != fact.OK {
			text = "goal tracker: " + t.Origin.Status.String() + " " + t.Origin.Why
		}
		b.text("", text, look.Dim)
	}
	idW := 0
	for _, c := range t.Criteria {
		idW = max(idW, draw.Width(c.ID))
	}
	for _, c := range t.Criteria {
		word, paint := "open", look.Dim
		switch {
		case c.Verified:
			word, paint = look.Check+" verified", look.Good
		case c.Claimed:
			word, paint = "! claimed", look.Warn
		}
		head := draw.PadRight(paint.Paint(word), 10) + " " + draw.PadRight(c.ID, idW) + " "
		b.out = append(b.out, draw.Fit(head+c.Text, b.w))
	}
	if !t.Whole && t.Origin.Status == fact.OK {
		b.text("", "the tracker's mutable part is missing: damaged or mid-write", look.Warn)
	}
}

func (b *builder) tasks(l *loop.Loop) {
	t := &l.Tracker
	if t.Origin.Status != fact.OK {
		return
	}
	b.heading(fmt.Sprintf("tasks: %d open, %d claimed done, %d verified, %d blocking, %d queued, %d deferred", t.Open, t.ActiveCompleted, t.CompletedRows, t.Blocking, t.Queued, t.Deferred))
	for _, x := range t.Active {
		paint := style.Token{}
		switch {
		case x.Claimed:
			paint = b.e.Look.Warn
		case x.Deferred:
			paint = b.e.Look.Dim
		}
		b.out = append(b.out, draw.Fit(draw.PadRight(paint.Paint(x.Status), 12)+" "+draw.PadRight(x.AC, 6)+" "+x.Task, b.w))
	}
	for _, x := range t.BlockingT {
		b.out = append(b.out, draw.Fit(b.e.Look.Bad.Paint("blocking")+"     "+strings.Join(x.Cells, "  "), b.w))
	}
}

func (b *builder) start(l *loop.Loop) {
	b.heading("started as")
	b.kv("base", strings.Trim(l.BaseBranch+" @ "+short(l.BaseCommit), " @"))
	b.kv("branch", or(l.StartBranch, "-"))
	model := or(strings.Trim(l.Model+" "+l.Effort, " "), "-")
	if l.CodexTimeout.Known {
		model += fmt.Sprintf(", at most %d s a call", l.CodexTimeout.N)
	}
	b.kv("reviewer", model)
	b.kv("started", view.Age(b.e.Now, l.StartedAt))
	b.kv("session", or(string(l.SessionID), b.e.Look.Bad.Paint("not bound")))
	b.kv("plan", or(l.PlanFile, "-"))
	if l.Plan.Differs {
		b.text("", "the plan differs from the copy in the loop's folder", b.e.Look.Bad)
	}
}
