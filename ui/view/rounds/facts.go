package rounds

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

const labelW = 9

// builder collects lines of w cells.
type builder struct {
	e   *view.Env
	w   int
	out []string
}

// kv is one label and a value that may need several lines.
func (b *builder) kv(label, value string) {
	if value == "" {
		return
	}
	for _, l := range draw.Wrap(value, max(b.w-labelW-1, 8)) {
		b.out = append(b.out, draw.KV(label, l, labelW, b.w, b.e.Look))
		label = ""
	}
}

func (b *builder) text(label, value string, paint style.Token) { b.kv(label, paint.Paint(value)) }

func (b *builder) heading(s string) {
	if len(b.out) > 0 {
		b.out = append(b.out, "")
	}
	for _, l := range draw.Wrap(s, b.w) {
		b.out = append(b.out, b.e.Look.Heading.Paint(l))
	}
}

// factLines are everything about a loop that is neither a round nor a
// criterion, what waits for a person first.
func factLines(e *view.Env, l *loop.Loop, w int) []string {
	b := builder{e: e, w: w}
	b.state(l)
	b.refusals(l)
	b.reviewer(l)
	b.warnings(l)
	b.closing(l)
	b.start(l)
	b.consultations()
	return b.out
}

func (b *builder) state(l *loop.Loop) {
	look := b.e.Look
	if o := b.e.Snap.Loops.Origin; !whole(o.Status) && o.Status != fact.NotRead {
		b.text("loops", strings.TrimSpace(o.Status.String()+" "+o.Why)+"; last good values", look.Bad)
	}
	if !whole(l.Origin.Status) {
		b.text("state", strings.TrimSpace(l.Origin.Status.String()+": "+l.Origin.Why)+"; last good values", look.Bad)
	}
	b.kv("phase", join(phaseLine(b.e, l), look.Dim.Paint(phaseAge(b.e, l))))
	if l.Phase != loop.Ended {
		b.kv("ball", join(look.Ball.Paint(string(l.Ball.Who)), look.Dim.Paint(since(b.e, l.Ball.Since))))
		b.text("", l.Ball.Why, look.Dim)
	}
	b.kv("round", join(l.Round.String()+" of "+l.Max.String(), stallWord(l, look), lastVerdict(l, look)))
	b.kv("verdicts", strip(l, b.w-labelW-1, look))
	b.text("", legend(l), look.Dim)
	b.text("markers", strings.Join(l.Markers, " "), look.Dim)
}

func lastVerdict(l *loop.Loop, look style.Look) string {
	if l.LastVerdict == "" {
		return ""
	}
	return "last verdict " + verdictPaint(string(l.LastVerdict), look).Paint(string(l.LastVerdict))
}

func phaseAge(e *view.Env, l *loop.Loop) string {
	if l.Phase == loop.Ended {
		return ago(e, l.PhaseSince)
	}
	return since(e, l.PhaseSince)
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "  ")
}

func (b *builder) refusals(l *loop.Loop) {
	if !l.Phase.Active() || l.Ignored {
		return
	}
	if len(l.NextStop) == 0 {
		b.heading("next stop")
		b.text("", "nothing in the files speaks against it", b.e.Look.Dim)
		return
	}
	ends := l.NextStop[0].Ends
	if ends {
		b.heading("next stop would end the loop because")
	} else {
		b.heading("next stop would be refused because")
	}
	for _, r := range l.NextStop {
		paint, text := b.e.Look.Warn, r.Text
		if r.Ends {
			paint = b.e.Look.Bad
		}
		if r.Ends != ends {
			text = stopWord(r) + ": " + text
		}
		if r.Path != "" && r.Line > 0 {
			text += fmt.Sprintf(" (%s:%d)", filepath.Base(r.Path), r.Line)
		}
		b.item(paint.Paint(r.Gate), text)
	}
}

// item is a word and what it means, in the columns of a label where the word
// fits there, else in running text.
func (b *builder) item(word, text string) {
	if draw.Width(word) <= labelW {
		b.kv(word, text)
		return
	}
	for i, l := range draw.Wrap(word+": "+text, max(b.w-2, 8)) {
		if i > 0 {
			l = "  " + l
		}
		b.out = append(b.out, l)
	}
}

func (b *builder) reviewer(l *loop.Loop) {
	r := &l.Reviewer
	if !r.Open && len(r.Missed) == 0 {
		return
	}
	look := b.e.Look
	b.heading(fmt.Sprintf("reviewer of round %d: %s", r.Round, or(strings.ReplaceAll(string(r.Kind), "-", " "), "review")))
	switch {
	case !r.Open:
	case r.Checked == fact.NotRead:
		b.text("process", "nobody looked whether it lives", look.Dim)
	case r.Checked != fact.OK:
		b.text("process", or(r.Why, "could not be looked for"), look.Warn)
	case r.Alive:
		b.kv("process", look.Good.Paint("alive")+fmt.Sprintf(", pid %d", r.PID))
	default:
		b.text("process", "gone without a result", look.Bad)
	}
	if r.Open {
		b.kv("started", until(b.e, r.Started))
	}
	if r.Alive {
		b.deadline("timeout", "its own limit strikes ", r.Deadline)
		b.deadline("host", "may kill the stop hook ", r.HostDeadline)
	}
	if r.Log != "" {
		b.kv("log", logSize(r)+", written "+until(b.e, r.LogModTime))
	}
	for _, f := range r.Missed {
		b.text("missed", "a finding where Humanize does not look: ["+f.Severity+"] "+f.Title, look.Bad)
	}
}

func logSize(r *loop.Reviewer) string {
	if r.LogBytes < 0 {
		return "size not known"
	}
	return sizeWord(r.LogBytes)
}

func (b *builder) deadline(label, text string, t time.Time) {
	if t.IsZero() {
		return
	}
	if t.After(b.e.Now) {
		b.kv(label, text+until(b.e, t))
		return
	}
	b.text(label, "over since "+took(b.e.Now.Sub(t)), b.e.Look.Bad)
}

// severity is the word and the paint of a warning.
func severity(s loop.Severity, look style.Look) string {
	switch s {
	case loop.Red:
		return look.Bad.Paint("RED")
	case loop.Amber:
		return look.Warn.Paint("amber")
	default:
		return look.Dim.Paint("note")
	}
}

func (b *builder) warnings(l *loop.Loop) {
	set := b.e.Snap.Loops.Warnings
	if len(l.Warnings)+len(set) == 0 {
		return
	}
	b.heading("warnings")
	for _, list := range [][]loop.Warning{l.Warnings, set} {
		for _, x := range list {
			text := x.Text
			if x.Line > 0 && x.Path != "" {
				text += fmt.Sprintf(" (%s:%d)", filepath.Base(x.Path), x.Line)
			}
			if age := ago(b.e, x.Since); age != "" {
				text += b.e.Look.Dim.Paint("  " + age)
			}
			b.kv(severity(x.Severity, b.e.Look), text)
		}
	}
}

// closing is what the last phases have left.
func (b *builder) closing(l *loop.Loop) {
	c := &l.Closing
	late := l.Phase == loop.Finalizing || l.Phase == loop.Analyzing
	if l.OutcomeToCome == "" && !late && c.FinalizeSummary <= 0 && c.AnalysisReport <= 0 {
		return
	}
	b.heading("end of the loop")
	if l.OutcomeToCome != "" {
		b.kv("outcome", "to come: "+string(l.OutcomeToCome))
	}
	file := func(label string, size int64) {
		switch {
		case size > 0:
			b.kv(label, sizeWord(size))
		case size == 0:
			b.text(label, "empty", b.e.Look.Warn)
		case late:
			b.text(label, "not there", b.e.Look.Warn)
		}
	}
	file("finalize", c.FinalizeSummary)
	if l.Phase != loop.Finalizing {
		file("analysis", c.AnalysisReport)
		file("done", c.AnalysisDone)
	}
}

func (b *builder) start(l *loop.Loop) {
	look := b.e.Look
	b.heading("started as")
	b.kv("base", base(l))
	b.kv("branch", or(l.StartBranch, "-"))
	model := or(strings.TrimSpace(l.Model+" "+l.Effort), "-")
	if l.CodexTimeout.Known {
		model += fmt.Sprintf(", at most %d s a call", l.CodexTimeout.N)
	}
	b.kv("reviewer", model)
	if l.FullReviewRound.Known {
		b.kv("", look.Dim.Paint(fmt.Sprintf("every %d rounds a full alignment check", l.FullReviewRound.N)))
	}
	b.kv("started", or(ago(b.e, l.StartedAt), "-"))
	switch {
	case l.SessionID != "":
		b.kv("session", string(l.SessionID))
	case !l.Has("session_id"):
		b.text("session", "not bound: this release binds none", look.Dim)
	default:
		b.text("session", "not bound: any Claude session drives it", look.Bad)
	}
	b.kv("plan", or(l.PlanFile, "-"))
	if l.Plan.Differs {
		b.text("", "the plan differs from the copy in the loop's folder", look.Bad)
	}
	if n := &b.e.Snap.Loops.Bitlessons; n.Origin.Status == fact.OK {
		b.kv("lessons", fmt.Sprintf("%d in bitlesson.md", n.Count))
	}
	b.kv("folder", l.Dir)
}

// consultations are the newest questions put to another model.
func (b *builder) consultations() {
	all := b.e.Snap.Loops.Consultations
	if len(all) == 0 {
		return
	}
	b.heading("consultations: " + fmt.Sprint(len(all)))
	for _, c := range all[:min(len(all), 5)] {
		paint := style.Token{}
		if c.Status != "success" {
			paint = b.e.Look.Warn
		}
		b.item(paint.Paint(or(c.Status, "unknown")), join(or(c.Question, "no question"), b.e.Look.Dim.Paint(join(strings.TrimSpace(c.Tool+" "+c.Model), ago(b.e, c.Started)))))
	}
}
