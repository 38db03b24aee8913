package plan

import (
	"fmt"
	"slices"
	"strings"

	"kdapilot/engine/text"
)

// Check lists everything gate 1 has to look at: first what a script can decide,
// in the order of the plan, then the questions for the eye.
func Check(d *Doc, f Facts) []Finding {
	c := checker{doc: d, facts: f}
	c.shape()
	c.comments()
	c.criteria()
	c.tasks()
	c.decisions()
	c.draft()
	c.leftovers()
	c.questions()
	return c.out
}

// Blocking returns the findings that keep gate 1 shut.
func Blocking(fs []Finding) []Finding {
	var out []Finding
	for _, f := range fs {
		if f.Level == Block {
			out = append(out, f)
		}
	}
	return out
}

type checker struct {
	doc   *Doc
	facts Facts
	out   []Finding
}

func (c *checker) add(f Finding) { c.out = append(c.out, f) }

func (c *checker) block(id, title string, line int, seen, clears string) {
	c.add(Finding{ID: id, Level: Block, Title: title, Line: line, Text: seen, Clears: clears})
}

func (c *checker) shape() {
	d := c.doc
	if d.Setup.Lines < MinLines || d.Setup.Content < MinContent {
		c.block("plan-content", "the plan is long enough for Humanize's setup", 0,
			fmt.Sprintf("%d lines, %d of content; at least %d and %d are asked for", d.Setup.Lines, d.Setup.Content, MinLines, MinContent), "write the plan")
	}
	at := map[string][]int{}
	for _, s := range d.Own() {
		if s.Level == 2 {
			at[s.Title] = append(at[s.Title], s.Line)
		}
	}
	for _, title := range Required() {
		switch lines := at[title]; {
		case len(lines) == 0:
			c.block("plan-sections", "all nine required sections are there", 0, "no section ## "+title, "add it; refine-plan asks for it too")
		case len(lines) > 1:
			c.add(Finding{ID: "plan-section-twice", Level: Ask, Title: "Which of the sections of this name counts?", Line: lines[1], Text: "## " + title + " stands on lines " + numbers(lines)})
		}
	}
	for _, n := range d.Notes {
		c.add(Finding{ID: "plan-parse", Level: Note, Title: "not everything could be read", Line: n.Line, Text: n.Text})
	}
}

func numbers(ns []int) string {
	s := make([]string, len(ns))
	for i, n := range ns {
		s[i] = fmt.Sprint(n)
	}
	return strings.Join(s, ", ")
}

func (c *checker) comments() {
	for _, e := range c.doc.CommentErrors {
		c.block("plan-comments", "no reviewer's comment is left", e.Line, fmt.Sprintf("column %d, under %q: %s", e.Column, e.Heading, e.What), "mend the marker, then run refine-plan")
	}
	for _, m := range c.doc.Comments {
		c.block("plan-comments", "no reviewer's comment is left", m.Line, m.Form+" "+m.Text, "run /humanize:refine-plan, or take the comment out")
	}
}

func (c *checker) criteria() {
	d := c.doc
	if len(d.Criteria) == 0 {
		c.block("plan-criteria", "there are acceptance criteria", 0, "no line of the form - AC-1: …", "write them under ## Acceptance Criteria")
		return
	}
	seen := map[string]int{}
	for i := range d.Criteria {
		a := &d.Criteria[i]
		if first := seen[a.ID]; first > 0 {
			c.block("plan-criteria-twice", "every criterion has an id of its own", a.Line, fmt.Sprintf("%s stands on line %d too", a.ID, first), "renumber one of them")
			continue
		}
		seen[a.ID] = a.Line
		c.tests(a)
	}
	for i := range d.Criteria {
		if a := &d.Criteria[i]; a.Parent != "" && seen[a.Parent] == 0 {
			c.add(Finding{ID: "plan-criteria-parent", Level: Ask, Title: "Where is the criterion this one is a part of?", Line: a.Line, Text: a.ID + " without " + a.Parent})
		}
	}
}

// tests asks for positive and negative tests: a criterion has them itself, or
// all its parts do; a part may also rest on those of the whole.
func (c *checker) tests(a *Criterion) {
	for _, kind := range []struct {
		word string
		of   func(*Criterion) []Test
	}{
		{"positive", func(a *Criterion) []Test { return a.Positive }},
		{"negative", func(a *Criterion) []Test { return a.Negative }},
	} {
		if len(kind.of(a)) > 0 {
			continue
		}
		parts, with := 0, 0
		for i := range c.doc.Criteria {
			if b := &c.doc.Criteria[i]; b.Parent == a.ID {
				parts++
				with += min(1, len(kind.of(b)))
			}
		}
		switch {
		case parts > 0 && with == parts:
		case a.Parent != "":
			c.add(Finding{ID: "plan-part-tests", Level: Ask, Title: "Which test decides this part?", Line: a.Line, Text: a.ID + " has no " + kind.word + " test of its own"})
		default:
			c.block("plan-tests", "every criterion has positive and negative tests", a.Line, a.ID+" has no "+kind.word+" test", "add one under "+a.ID)
		}
	}
}

func (c *checker) decisions() {
	d := c.doc
	pending := 0
	seen := map[string]int{}
	for i := range d.Decisions {
		e := &d.Decisions[i]
		if e.Pending {
			pending++
			what, line := "PENDING", e.StatusLine
			if e.StatusLine == 0 {
				what, line = "has no Decision Status", e.Line
			}
			c.block("plan-decisions", "no decision is pending", line, e.ID+" "+what+": "+e.Topic, "decide it and write the answer into Decision Status")
		}
		if first := seen[e.ID]; first > 0 {
			c.add(Finding{ID: "plan-decision-twice", Level: Ask, Title: "Which of the two decisions counts?", Line: e.Line, Text: fmt.Sprintf("%s stands on line %d too", e.ID, first)})
		}
		seen[e.ID] = e.Line
	}
	v := d.Convergence
	switch {
	case v.Line == 0:
		c.add(Finding{ID: "plan-convergence", Level: Ask, Title: "Did the two agents agree on this plan?", Text: "no Final Status line"})
	case v.Status != "converged" && v.Status != "partially_converged":
		c.add(Finding{ID: "plan-convergence", Level: Ask, Title: "Did the two agents agree on this plan?", Line: v.Line, Text: "Final Status is " + v.Status + ", expected converged or partially_converged"})
	case v.Status == "converged" && pending > 0:
		c.block("plan-convergence", "the convergence status fits the decisions", v.Line, fmt.Sprintf("converged, while %d decisions are pending", pending), "decide them, or say partially_converged")
	case v.Status == "partially_converged" && pending == 0:
		c.add(Finding{ID: "plan-convergence", Level: Note, Title: "partially converged, and nothing is pending", Line: v.Line, Text: "usual for --direct, where no debate took place"})
	}
}

// draft asks that the appendix holds every line of the draft.
func (c *checker) draft() {
	a := c.doc.Draft
	const title = "the original draft is appended in full"
	switch {
	case a.Start == 0:
		c.block("plan-draft", title, 0, "no line "+draftStart, "generate the plan anew, or append the draft between the markers")
		return
	case a.End == 0:
		c.block("plan-draft", title, a.Start, "no line "+draftEnd, "close the appendix")
		return
	case c.facts.Draft == nil:
		c.add(Finding{ID: "plan-draft-unread", Level: Note, Title: "the appended draft was not compared", Line: a.Start, Text: "the draft file was not read"})
		return
	}
	have := map[string]int{}
	for i := a.Start; i < a.End-1; i++ {
		have[strings.TrimSpace(c.doc.lines[i].text)]++
	}
	missing, shown := 0, []Hit(nil)
	for i, t := range split(&Doc{}, c.facts.Draft) {
		if t = strings.TrimSpace(t); t == "" {
			continue
		}
		if have[t]--; have[t] < 0 {
			if missing++; len(shown) < 3 {
				shown = append(shown, Hit{Line: i + 1, Text: text.Clip(t, 120)})
			}
		}
	}
	for _, h := range shown {
		c.block("plan-draft", title, a.Start, fmt.Sprintf("%d lines of the draft are missing, such as its line %d: %s", missing, h.Line, h.Text),
			"append the draft as it is; if it changed after the plan was made, make a new plan")
	}
}

func (c *checker) leftovers() {
	c.placeholders("plan-placeholders", "plan", c.doc.Placeholders)
	if c.facts.Draft != nil {
		c.placeholders("draft-placeholders", "draft", Placeholders(c.facts.Draft))
	}
	for _, h := range c.doc.BranchSwitches {
		if h.Sure {
			c.block("plan-branch-switch", "nothing tells the agent to change the branch", h.Line, h.Text, "take it out: the loop refuses another branch at every stop")
			continue
		}
		c.add(Finding{ID: "plan-branch-talk", Level: Ask, Title: "Could an agent read this as an order to change the branch?", Line: h.Line, Text: h.Text})
	}
}

func (c *checker) placeholders(id, where string, hits []Hit) {
	for _, h := range hits {
		if h.Sure {
			c.block(id, "no {{placeholder}} is left in the "+where, h.Line, h.Text, "fill it in or strike it")
			continue
		}
		c.add(Finding{ID: id + "-maybe", Level: Ask, Title: "Is this a placeholder nobody filled in?", Line: h.Line, Text: h.Text})
	}
}

// cycle returns the ids of a dependency cycle, first id repeated at the end.
func cycle(deps map[string][]string, order []string) []string {
	const (
		fresh = iota
		open
		done
	)
	state := map[string]int{}
	type frame struct {
		id   string
		next int
	}
	for _, start := range order {
		if state[start] != fresh {
			continue
		}
		stack := []frame{{id: start}}
		state[start] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(deps[top.id]) {
				state[top.id] = done
				stack = stack[:len(stack)-1]
				continue
			}
			to := deps[top.id][top.next]
			top.next++
			switch state[to] {
			case fresh:
				state[to] = open
				stack = append(stack, frame{id: to})
			case open:
				i := slices.IndexFunc(stack, func(f frame) bool { return f.id == to })
				var out []string
				for _, f := range stack[i:] {
					out = append(out, f.id)
				}
				return append(out, to)
			}
		}
	}
	return nil
}
