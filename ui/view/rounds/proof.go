package rounds

import (
	"fmt"
	"slices"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// proofCache keeps the lines of the goal tracker: it may hold hundreds of rows,
// and nothing in them ages.
type proofCache struct {
	snap  *session.Snapshot
	name  string
	w     int
	look  style.Look
	lines []string
}

// proofLines are the criteria and tasks of a loop in lines of w cells.
func (s *Screen) proofLines(e *view.Env, l *loop.Loop, w int) []string {
	c := &s.proofs
	if c.snap != e.Snap || c.name != l.Name || c.w != w || c.look != e.Look {
		b := builder{e: e, w: w}
		b.criteria(&l.Tracker)
		b.tasks(&l.Tracker)
		*c = proofCache{snap: e.Snap, name: l.Name, w: w, look: e.Look, lines: b.out}
	}
	return c.lines
}

// tally counts proof and claim apart.
func tally(all []loop.Criterion) string {
	verified, claimed := 0, 0
	for _, c := range all {
		switch {
		case c.Verified:
			verified++
		case c.Claimed:
			claimed++
		}
	}
	if len(all) == 0 {
		return "criteria: none found"
	}
	s := fmt.Sprintf("criteria: %d of %d verified", verified, len(all))
	if claimed > 0 {
		s += fmt.Sprintf(", %d ONLY CLAIMED", claimed)
	}
	return s
}

// rowsOf finds the tracker's rows that name a criterion.
type rowsOf struct {
	claims map[string][]*loop.Task
	proofs map[string][]*loop.Row
}

func indexRows(t *loop.Tracker) rowsOf {
	x := rowsOf{map[string][]*loop.Task{}, map[string][]*loop.Row{}}
	for i := range t.Active {
		for _, id := range loop.CriterionIDs(t.Active[i].AC) {
			x.claims[id] = append(x.claims[id], &t.Active[i])
		}
	}
	for i := range t.CompletedT {
		if r := &t.CompletedT[i]; len(r.Cells) > 0 {
			for _, id := range loop.CriterionIDs(r.Cells[0]) {
				x.proofs[id] = append(x.proofs[id], r)
			}
		}
	}
	return x
}

// criteria keeps claim and proof apart. A criterion that is claimed says by
// whom, one that is verified says in which round and by what.
func (b *builder) criteria(t *loop.Tracker) {
	look := b.e.Look
	b.heading(tally(t.Criteria))
	if len(t.Criteria) == 0 {
		text := "the goal tracker names none"
		switch {
		case t.Origin.Status != fact.OK:
			text = strings.TrimSpace("goal tracker: " + t.Origin.Status.String() + " " + t.Origin.Why)
		case t.Placeholder:
			text = "the goal tracker still holds its placeholders"
		}
		b.out = append(b.out, look.Dim.Paint(draw.Fit(text, b.w)))
	}
	idW, rows := 0, indexRows(t)
	for _, c := range t.Criteria {
		idW = max(idW, draw.Width(c.ID))
	}
	for _, c := range t.Criteria {
		b.criterion(c, idW, rows)
	}
	switch {
	case t.Origin.Status == fact.Torn:
		b.text("", "the tracker is being written; these are its last good values", look.Warn)
	case !t.Whole && t.Origin.Status == fact.OK:
		b.text("", "the tracker's mutable part is missing: damaged or mid-write", look.Warn)
	}
	if t.Cut {
		b.text("", "the tracker is longer than what is looked at", look.Warn)
	}
}

func (b *builder) criterion(c loop.Criterion, idW int, rows rowsOf) {
	look := b.e.Look
	word, paint := "open", look.Dim
	switch {
	case c.Verified:
		word, paint = look.Check+" verified", look.Good
	case c.Claimed:
		word, paint = "! CLAIMED", look.Warn
	}
	const wordW = 10
	indent := strings.Repeat(" ", min(wordW+1, b.w/4))
	head := draw.PadRight(paint.Paint(word), wordW) + " " + draw.PadRight(c.ID, idW) + " "
	for _, l := range wrapTo(c.Text, max(b.w-draw.Width(head), 8), 2) { // it is recognised by its first lines
		b.out = append(b.out, draw.Fit(head+l, b.w))
		head = strings.Repeat(" ", draw.Width(head))
	}
	under := func(paint style.Token, text string) {
		for _, l := range wrapTo(text, max(b.w-len(indent), 8), 3) {
			b.out = append(b.out, draw.Fit(indent+paint.Paint(l), b.w))
		}
	}
	switch {
	case c.Verified:
		for _, r := range rows.proofs[c.ID] {
			under(look.Dim, proofWord(r))
		}
	default:
		for _, t := range rows.claims[c.ID] {
			p := look.Dim
			if t.Claimed {
				p = look.Warn
			}
			under(p, claimWord(t))
		}
	}
}

// proofWord is a row of Completed and Verified: AC, task, completed round,
// verified round, evidence.
func proofWord(r *loop.Row) string {
	cell := func(i int) string {
		if i < len(r.Cells) {
			return r.Cells[i]
		}
		return ""
	}
	s := "verified in round " + or(cell(3), "?")
	if c := cell(2); c != "" {
		s += ", done in " + c
	}
	if e := cell(4); e != "" {
		s += ": " + e
	}
	return s
}

// claimWord is what the implementer says of a task.
func claimWord(t *loop.Task) string {
	who := t.Owner
	if who == "" || who == "-" {
		who = "owner not named"
	}
	s := who + ", " + statusWord(t) + ": " + t.Task
	if t.Notes != "" && t.Notes != "-" {
		s += "; " + t.Notes
	}
	return s
}

// statusWord is a task's status as written, without marks of emphasis.
func statusWord(t *loop.Task) string { return or(strings.Trim(t.Status, "*_`~ "), "no status") }

// tasks are the rows of the tracker that do not stand below a criterion.
func (b *builder) tasks(t *loop.Tracker) {
	if !t.Origin.Status.Known() {
		return
	}
	b.heading(taskTally(t))
	look, above := b.e.Look, map[string]bool{}
	for _, c := range t.Criteria {
		above[c.ID] = !c.Verified
	}
	for i := range t.Active {
		x := &t.Active[i]
		if slices.ContainsFunc(loop.CriterionIDs(x.AC), func(id string) bool { return above[id] }) {
			continue
		}
		paint := style.Token{}
		switch {
		case x.Claimed:
			paint = look.Warn
		case x.Deferred:
			paint = look.Dim
		}
		b.row(paint, statusWord(x), join(or(x.AC, "-"), x.Task))
	}
	for _, lane := range []struct {
		word  string
		paint style.Token
		rows  []loop.Row
	}{{"BLOCKING", look.Bad, t.BlockingT}, {"issue", look.Warn, t.OpenT}, {"queued", look.Dim, t.QueuedT}, {"deferred", look.Dim, t.DeferredT}} {
		for _, r := range lane.rows {
			b.row(lane.paint, lane.word, strings.Join(r.Cells, "  "))
		}
	}
	if len(t.Evolution) > 0 {
		r := t.Evolution[len(t.Evolution)-1]
		b.row(look.Dim, "plan", fmt.Sprintf("version %s, last change: %s", t.PlanVersion, strings.Join(r.Cells, "  ")))
	}
}

func (b *builder) row(paint style.Token, word, text string) {
	head := draw.PadRight(paint.Paint(word), 12) + " "
	for _, l := range wrapTo(text, max(b.w-13, 8), 3) {
		b.out = append(b.out, draw.Fit(head+l, b.w))
		head = strings.Repeat(" ", 13)
	}
}

func taskTally(t *loop.Tracker) string {
	parts := []string{fmt.Sprintf("tasks: %d open", t.Open)}
	for _, x := range []struct {
		n    int
		word string
	}{{t.ActiveCompleted, "claimed done"}, {t.CompletedRows, "verified"}, {t.Blocking, "BLOCKING"}, {t.OpenIssues, "issues"}, {t.Queued, "queued"}, {t.Deferred, "deferred"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.word))
		}
	}
	return strings.Join(parts, ", ")
}
