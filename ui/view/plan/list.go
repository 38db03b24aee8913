package plan

import (
	"fmt"
	"strconv"

	"kdapilot/engine/gate"
	"kdapilot/engine/plan"
	"kdapilot/ui/style"
)

// mark is what a line has against it.
type mark int

const (
	none mark = iota
	asks
	blocks
)

func marksOf(issues []gate.Issue) map[int]mark {
	out := make(map[int]mark, len(issues))
	for i := range issues {
		m := asks
		if issues[i].Blocks {
			m = blocks
		}
		out[issues[i].Line] = max(out[issues[i].Line], m)
	}
	return out
}

func sameIssues(a, b []gate.Issue) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func countBlocks(issues []gate.Issue) (blocks, asks int) {
	for i := range issues {
		if issues[i].Blocks {
			blocks++
		} else {
			asks++
		}
	}
	return blocks, asks
}

// listRows makes the list: what blocks, what to ask, decisions, criteria with
// their tests.
func (s *Screen) listRows(look style.Look) []row {
	b, a := countBlocks(s.issues)
	var out []row
	if b == 0 {
		out = append(out, row{left: "nothing in the text blocks approval"})
	} else {
		out = append(out, row{left: "blocks approval", right: strconv.Itoa(b)})
		out = s.issueRows(out, true, look)
	}
	if a > 0 {
		out = append(out, row{}, row{left: "to ask yourself", right: strconv.Itoa(a)})
		out = s.issueRows(out, false, look)
	}
	out = s.decisionRows(out, look)
	return s.criterionRows(out, look)
}

// issueRows puts the title of each kind once and its places below it.
func (s *Screen) issueRows(out []row, blocking bool, look style.Look) []row {
	sign := look.Info.Paint("?")
	if blocking {
		sign = look.Bad.Paint("!")
	}
	last := ""
	for i := range s.issues {
		x := &s.issues[i]
		if x.Blocks != blocking {
			continue
		}
		title := x.Title
		if blocking {
			title = "wanted: " + title
		}
		r := row{key: "issue " + strconv.Itoa(i) + " " + x.ID, line: x.Line, plain: x.Title}
		if x.Line > 0 {
			r.right = look.Dim.Paint(strconv.Itoa(x.Line))
		}
		if x.Clears != "" {
			r.more = "clears: " + x.Clears
		}
		if x.Text == "" {
			r.sign, r.left = sign, title
			out, last = append(out, r), x.ID
			continue
		}
		if x.ID != last {
			out, last = append(out, row{label: true, sign: sign, left: title}), x.ID
		}
		r.plain, r.left, r.indent, r.note = x.Title+": "+x.Text, x.Text, 2, !blocking
		out = append(out, r)
	}
	return out
}

func (s *Screen) decisionRows(out []row, look style.Look) []row {
	ds := s.doc.Decisions
	if len(ds) == 0 {
		return out
	}
	pending := 0
	for i := range ds {
		if ds[i].Pending {
			pending++
		}
	}
	word := strconv.Itoa(len(ds))
	if pending > 0 {
		word = fmt.Sprintf("%d of %d pending", pending, len(ds))
	}
	out = append(out, row{}, row{left: "decisions", right: word})
	for i := range ds {
		d := &ds[i]
		state := look.Good.Paint("decided")
		if d.Pending {
			state = look.Bad.Paint("PENDING")
		}
		more := decisionMore(d)
		out = append(out, row{key: "dec " + strconv.Itoa(i) + " " + d.ID, line: d.Line, plain: d.ID + " " + d.Topic, left: d.ID + " " + d.Topic, right: state, more: more})
		if !d.Pending {
			out = append(out, row{key: "dec " + strconv.Itoa(i) + " " + d.ID + " status", line: max(d.StatusLine, d.Line), plain: d.ID + " " + d.Status, left: d.Status, indent: 2, note: true})
		}
	}
	return out
}

func decisionMore(d *plan.Decision) string {
	more := ""
	for _, p := range []struct{ who, says string }{{"claude", d.Claude}, {"codex", d.Codex}, {"tradeoff", d.Tradeoff}} {
		if p.says == "" {
			continue
		}
		if more != "" {
			more += "\n"
		}
		more += p.who + ": " + p.says
	}
	return more
}

func (s *Screen) criterionRows(out []row, look style.Look) []row {
	cs := s.doc.Criteria
	if len(cs) == 0 {
		return out
	}
	out = append(out, row{}, row{left: "criteria", right: strconv.Itoa(len(cs))})
	for i := range cs {
		c := &cs[i]
		key := "ac " + strconv.Itoa(i) + " " + c.ID
		sub := 0
		if c.Parent != "" {
			sub = 2
		}
		out = append(out, row{key: key, line: c.Line, plain: c.ID + " " + c.Text, left: look.Strong.Paint(c.ID) + " " + c.Text, right: look.Dim.Paint(fmt.Sprintf("+%d -%d", len(c.Positive), len(c.Negative))), indent: sub})
		for k, t := range c.Positive {
			out = append(out, row{key: key + " +" + strconv.Itoa(k), line: t.Line, plain: c.ID + " passes: " + t.Text, sign: "+", left: t.Text, indent: sub + 2, note: true})
		}
		for k, t := range c.Negative {
			out = append(out, row{key: key + " -" + strconv.Itoa(k), line: t.Line, plain: c.ID + " fails: " + t.Text, sign: "-", left: t.Text, indent: sub + 2, note: true})
		}
	}
	return out
}
