package plan

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"kdapilot/engine/text"
)

// Parse reads a plan. It takes any bytes.
func Parse(b []byte) *Doc {
	d := &Doc{Setup: Count(b)}
	src := split(d, b)
	d.Lines = len(src)
	scan(d, src)
	d.sections()
	for i := range d.Comments {
		d.Comments[i].Heading = d.HeadingAt(d.Comments[i].Line)
	}
	for i := range d.CommentErrors {
		d.CommentErrors[i].Heading = d.HeadingAt(d.CommentErrors[i].Line)
	}
	d.criteria()
	d.tasks()
	d.decisions()
	d.convergence()
	d.hits()
	return d
}

// sections builds the heading tree.
func (d *Doc) sections() {
	used := map[string]int{}
	var path []int // indexes of the headings above, outermost first
	open := func(s Section) {
		for len(path) > 0 && d.Sections[path[len(path)-1]].rank() >= s.rank() {
			path = path[:len(path)-1]
		}
		if len(path) > 0 {
			s.Parent = d.Sections[path[len(path)-1]].ID
		}
		s.ID, s.End, s.Through = slug(s.Title, used), s.Line, s.Line
		d.Sections = append(d.Sections, s)
		path = append(path, len(d.Sections)-1)
	}
	for i := range d.lines {
		n, l := i+1, &d.lines[i]
		switch {
		case len(d.Sections) >= MaxItems:
			if l.level > 0 {
				d.note(n, "more headings than are kept")
				l.level = 0
			}
		case n == d.Draft.Start:
			path = nil
			open(Section{Level: 2, Title: "Original Design Draft", Line: n, InDraft: true})
		case l.level > 0:
			open(Section{Level: l.level, Title: headingTitle(l.text), Line: n, InDraft: l.draft})
			if d.Title == "" && l.level == 1 && !l.draft {
				d.Title = headingTitle(l.text)
			}
		case len(path) == 0 && strings.TrimSpace(l.text) != "" && n != d.Draft.End:
			open(Section{Title: "(no heading)", Line: n, InDraft: l.draft})
		}
		if len(path) > 0 {
			d.Sections[path[len(path)-1]].End = n
			for _, k := range path {
				d.Sections[k].Through = n
			}
		}
		if n == d.Draft.End {
			path = nil
		}
	}
}

// rank orders headings: the draft's own border stands above all headings in it.
func (s Section) rank() int {
	if s.InDraft && s.Title == "Original Design Draft" && s.Level == 2 && s.Parent == "" {
		return 0
	}
	if s.Level == 0 {
		return 6
	}
	return s.Level
}

func slug(title string, used map[string]int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case r == ' ' || r == '-' || r == '_':
			b.WriteByte('-')
		}
	}
	id := strings.Trim(b.String(), "-")
	if id == "" {
		id = "section"
	}
	used[id]++
	if n := used[id]; n > 1 {
		// A heading may be called "x 2" itself: look until the id is free.
		for next := fmt.Sprintf("%s-%d", id, n); ; next = fmt.Sprintf("%s-%d", id, n) {
			if used[next] == 0 {
				used[next]++
				used[id] = n
				return next
			}
			n++
		}
	}
	return id
}

// span gives the line indexes of a section's text with its subsections, or of
// the whole plan without the draft when there is no such section.
func (d *Doc) span(title string) (from, to int) {
	if s := d.Find(title); s != nil {
		return s.Line, s.Through
	}
	return 0, len(d.lines)
}

// plain reports whether a line is text of the plan itself.
func (l *line) plain() bool { return !l.fence && !l.hidden && !l.draft }

var (
	reCriterion = regexp.MustCompile("^[*_`]*(AC-?[0-9]+(?:\\.[0-9]+)*[a-z]?)[*_`]*(?:\\s*\\([^)]{0,80}\\))?[*_`]*(?:\\s*[:—–]|\\s+-\\s|\\s*$)[*_`]*\\s*(.*)$")
	reTests     = regexp.MustCompile(`(?i)^[*_]*(positive|negative)(?:\s+tests?)?[*_]*\s*(?:\([^)]{0,80}\))?[*_]*\s*:[*_]*\s*(.*)$`)
)

// words is the text of a heading, or what follows the bullet of another line.
func (l *line) words() string {
	if l.level > 0 {
		return headingTitle(l.text)
	}
	return l.body
}

func (d *Doc) criteria() {
	from, to := d.span("Acceptance Criteria")
	var c *Criterion
	var tests *[]Test
	label := 0 // indent of the open Positive or Negative label
	for i := from; i < to; i++ {
		l := &d.lines[i]
		words := l.words()
		if !l.plain() || words == "" {
			continue
		}
		if m := reCriterion.FindStringSubmatch(words); m != nil {
			if len(d.Criteria) >= MaxItems {
				d.note(i+1, "more criteria than are kept")
				return
			}
			id := canonical(m[1])
			d.Criteria = append(d.Criteria, Criterion{ID: id, Parent: parentOf(id), Text: text.Clip(m[2], maxText), Line: i + 1, End: i + 1})
			c, tests = &d.Criteria[len(d.Criteria)-1], nil
			continue
		}
		if l.level > 0 {
			c, tests = nil, nil
			continue
		}
		if c == nil {
			continue
		}
		c.End = i + 1
		if m := reTests.FindStringSubmatch(words); m != nil {
			tests, label = &c.Positive, l.indent
			if strings.EqualFold(m[1], "negative") {
				tests = &c.Negative
			}
			addTest(tests, m[2], i+1)
			continue
		}
		switch {
		case tests != nil && l.bullet && l.indent > label:
			addTest(tests, words, i+1)
		case l.bullet && l.indent <= label:
			tests = nil
		case tests != nil && len(*tests) > 0:
			t := &(*tests)[len(*tests)-1]
			t.Text = text.Clip(t.Text+" "+words, maxText)
		case tests == nil && !l.bullet:
			c.Text = text.Clip(strings.TrimSpace(c.Text+" "+words), maxText)
		}
	}
}

func addTest(tests *[]Test, s string, n int) {
	if s != "" && len(*tests) < MaxItems {
		*tests = append(*tests, Test{Text: text.Clip(s, maxText), Line: n})
	}
}

// canonical writes AC1 as AC-1.
func canonical(id string) string {
	for i := range len(id) {
		if id[i] >= '0' && id[i] <= '9' {
			return strings.TrimSuffix(id[:i], "-") + "-" + id[i:]
		}
	}
	return id
}

func parentOf(id string) string {
	if i := strings.LastIndexByte(id, '.'); i > 0 {
		return id[:i]
	}
	return ""
}

var (
	reDecision = regexp.MustCompile("^[*_`]*(DEC-?[0-9]+[a-z]?)[*_`]*(?:\\s*[:—–]|\\s+-\\s|\\s*$)[*_`]*\\s*(.*)$")
	reField    = regexp.MustCompile(`(?i)^[*_]*(claude position|codex position|trade-?off(?: summary)?|decision status|status)[*_]*\s*:[*_]*\s*(.*)$`)
)

func (d *Doc) decisions() {
	from, to := d.span("Pending User Decisions")
	var e *Decision
	var field *string
	for i := from; i < to; i++ {
		l := &d.lines[i]
		words := l.words()
		if !l.plain() || words == "" {
			continue
		}
		if m := reDecision.FindStringSubmatch(words); m != nil {
			if len(d.Decisions) >= MaxItems {
				d.note(i+1, "more decisions than are kept")
				break
			}
			d.Decisions = append(d.Decisions, Decision{ID: canonical(m[1]), Topic: text.Clip(m[2], maxText), Line: i + 1, End: i + 1})
			e, field = &d.Decisions[len(d.Decisions)-1], nil
			continue
		}
		if l.level > 0 {
			e, field = nil, nil
		}
		if e == nil {
			continue
		}
		e.End = i + 1
		if m := reField.FindStringSubmatch(words); m != nil {
			field = e.field(m[1], i+1)
			*field = text.Clip(m[2], maxText)
		} else if field != nil {
			*field = text.Clip(strings.TrimSpace(*field+" "+words), maxText)
		}
	}
	for i := range d.Decisions {
		e := &d.Decisions[i]
		e.Status = bare(e.Status)
		e.Pending = e.Status == "" || strings.Contains(e.Status, "PENDING") || strings.EqualFold(e.Status, "pending")
	}
}

func (e *Decision) field(name string, n int) *string {
	switch name = strings.ToLower(name); {
	case strings.HasPrefix(name, "claude"):
		return &e.Claude
	case strings.HasPrefix(name, "codex"):
		return &e.Codex
	case strings.HasPrefix(name, "trade"):
		return &e.Tradeoff
	default:
		e.StatusLine = n
		return &e.Status
	}
}

// bare takes the quoting of Markdown off a short value.
func bare(s string) string { return strings.Trim(strings.TrimSpace(s), "`*_\"' ") }

var reFinal = regexp.MustCompile(`(?i)^[*_]*final status[*_]*\s*:[*_]*\s*(.*)$`)

func (d *Doc) convergence() {
	for i := range d.lines {
		l := &d.lines[i]
		if !l.plain() {
			continue
		}
		if m := reFinal.FindStringSubmatch(l.body); m != nil {
			d.Convergence = Convergence{Status: text.Clip(strings.Trim(strings.TrimSpace(m[1]), "`*\"' "), maxText), Line: i + 1}
			return
		}
	}
}
