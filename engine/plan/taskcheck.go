package plan

import (
	"fmt"
	"regexp"
	"strings"
)

var reACID = regexp.MustCompile(`^AC-?[0-9]+(?:\.[0-9]+)*[a-z]?$`)

func (c *checker) tasks() {
	d := c.doc
	if len(d.Tasks) == 0 {
		c.block("plan-tasks", "there is a task table", 0, "no table with Task ID, Target AC and Tag", "write it under ## Task Breakdown")
		return
	}
	known := map[string]int{}
	for _, a := range d.Criteria {
		known[a.ID] = a.Line
	}
	rows := map[string]int{}
	for _, t := range d.Tasks {
		if first := rows[t.ID]; first > 0 || t.ID == "" {
			c.block("plan-task-ids", "every task has an id of its own", t.Line, fmt.Sprintf("%q", t.ID), "give it another id")
			continue
		}
		rows[t.ID] = t.Line
	}
	covered := map[string]bool{}
	deps := map[string][]string{}
	var order []string
	for i := range d.Tasks {
		t := &d.Tasks[i]
		c.task(t, known, covered)
		for _, on := range t.Depends {
			if rows[on] == 0 {
				c.block("plan-task-depends", "every dependency is a task of the table", t.Line, t.ID+" depends on "+on, "name an existing task or -")
			}
		}
		deps[t.ID] = append(deps[t.ID], t.Depends...)
		order = append(order, t.ID)
	}
	if loop := cycle(deps, order); loop != nil {
		c.block("plan-task-cycle", "the tasks depend on each other without a cycle", rows[loop[0]], strings.Join(loop, " -> "), "break the cycle")
	}
	c.covered(covered)
}

func (c *checker) task(t *Task, known map[string]int, covered map[string]bool) {
	if t.Tag != "coding" && t.Tag != "analyze" {
		c.block("plan-task-tag", "every task has the tag coding or analyze", t.Line, fmt.Sprintf("%s has %q", t.ID, t.Tag), "write coding or analyze, nothing else")
	}
	if len(t.Targets) == 0 {
		c.block("plan-task-target", "every task targets a criterion that exists", t.Line, t.ID+" has no target", "name the criterion it serves")
	}
	for _, ac := range t.Targets {
		id := ac
		if reACID.MatchString(ac) {
			id = canonical(ac)
		}
		if known[id] == 0 {
			c.block("plan-task-target", "every task targets a criterion that exists", t.Line, t.ID+" targets "+ac, "name an existing criterion")
			continue
		}
		covered[id] = true
	}
}

// covered asks that every criterion has a task: itself, the one it is a part of,
// or one of its parts.
func (c *checker) covered(by map[string]bool) {
	parts := map[string]bool{}
	for id := range by {
		for p := parentOf(id); p != ""; p = parentOf(p) {
			parts[p] = true
		}
	}
	for _, a := range c.doc.Criteria {
		ok := by[a.ID] || parts[a.ID]
		for p := a.Parent; p != "" && !ok; p = parentOf(p) {
			ok = by[p]
		}
		if !ok {
			c.block("plan-task-missing", "every criterion has a task", a.Line, "no task targets "+a.ID, "add one to the table")
		}
	}
}
