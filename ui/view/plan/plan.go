// Package plan is the screen on which the plan is read before gate 1: its text
// with source lines, the outline with what has been read, and the list of what
// stands against approval, what to ask, decisions and criteria.
//
// Guarantees: a line counts as read only after all of its drawn lines were on
// screen, so a section counts only when every line of it was. A changed plan
// keeps the reading of unchanged sections alone. Text whose lines can not be
// matched with the parsed plan is shown but never counts as read.
//
// What may not enter: judging the plan (engine/plan) and approving it
// (engine/gate): A only asks for the gate.
package plan

import (
	"sort"
	"strconv"
	"strings"

	"kdapilot/engine/gate"
	"kdapilot/engine/plan"
	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// The panes, in the order of tab.
const (
	textPane = iota
	outlinePane
	listPane
	paneCount
)

// Screen is the plan screen. Make it with New.
type Screen struct {
	focus int
	// side is the pane beside the text when there is room for one only.
	side    int
	diff    diffView
	search  search
	outline picker
	list    picker

	// doc and text are the plan shown now; doc is nil when there is none.
	doc     *plan.Doc
	text    string
	sha     string
	lines   []string
	reading *plan.Reading
	// readDoc is the plan that reading is about. It stays when the plan is gone
	// for a while.
	readDoc *plan.Doc
	// uncounted says why the reading can not be counted, "" when it can.
	uncounted string

	issues []gate.Issue
	look   style.Look   // of the list's rows
	marks  map[int]mark // by source line
	tally  []count      // by section; nil when it must be made anew

	page *page
	top  int // first drawn row
	rows int // drawn rows of the text pane, as last rendered
	// want is a source line to bring on screen at the next Render, with above
	// lines over it; 0 for none. at is the line jumped to, pointed at until the
	// next move.
	want, above, at int
}

// New returns the plan screen.
func New() *Screen { return &Screen{side: outlinePane} }

// Context implements view.Screen.
func (s *Screen) Context() keys.Context { return keys.Plan }

// Seen gives the ids of the sections that have been on screen whole, of the
// plan the screen showed last.
func (s *Screen) Seen() map[string]bool {
	if s.doc == nil || s.reading == nil || s.uncounted != "" {
		return map[string]bool{}
	}
	return s.reading.Seen(s.doc)
}

// SeenOf is Seen for the plan with these bytes; empty for any other plan than
// the one shown last. A gate that read the plan anew should ask this way.
func (s *Screen) SeenOf(sha256 string) map[string]bool {
	if sha256 == "" || sha256 != s.sha {
		return map[string]bool{}
	}
	return s.Seen()
}

// sync follows the snapshot's plan.
func (s *Screen) sync(e *view.Env) {
	p := &e.Snap.Plan
	if !p.Origin.Status.Known() || p.Doc == nil {
		s.doc, s.text, s.sha, s.lines, s.page, s.issues, s.marks = nil, "", "", nil, nil, nil, nil
		return
	}
	if p.Doc != s.doc || p.Text != s.text || p.Origin.SHA256 != s.sha {
		s.take(p)
	}
	if !sameIssues(s.issues, p.Issues) || s.marks == nil {
		s.issues, s.marks = p.Issues, marksOf(p.Issues)
		s.list.stale, s.tally = true, nil
	}
}

// take begins with another text, or another parse of the same.
func (s *Screen) take(p *session.Plan) {
	s.list.stale, s.tally = true, nil
	if s.doc != nil && p.Text != s.text {
		s.want, s.above, s.at = s.follow(p.Doc), 0, 0
	}
	if p.Text != s.text || s.lines == nil {
		s.lines = strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")
	}
	next := plan.NewReading(p.Doc, p.Origin.SHA256)
	if s.reading != nil {
		next.Carry(s.reading, s.readDoc, p.Doc)
	}
	s.doc, s.readDoc, s.text, s.sha, s.reading = p.Doc, p.Doc, p.Text, p.Origin.SHA256, next
	s.uncounted = ""
	if n := countLines(p.Text); n != p.Doc.Lines {
		s.uncounted = "the plan mixes line ends (" + strconv.Itoa(n) + " lines against " + strconv.Itoa(p.Doc.Lines) + "): reading can not be counted, rewrite it with plain newlines"
	}
	s.search.find(s.lines)
}

// follow gives the line of the new plan at which the text now on top stands.
func (s *Screen) follow(d *plan.Doc) int {
	line := s.topLine()
	i := sectionAt(s.doc, line)
	if i < 0 {
		return line
	}
	was := s.doc.Sections[i]
	for _, n := range d.Sections {
		if n.ID == was.ID {
			return min(n.Line+line-was.Line, max(n.End, n.Line))
		}
	}
	return min(line, d.Lines)
}

func countLines(t string) int {
	n := strings.Count(t, "\n")
	if t != "" && !strings.HasSuffix(t, "\n") {
		n++
	}
	return n
}

// sectionAt is the index of the section a line belongs to, -1 for none.
func sectionAt(d *plan.Doc, line int) int {
	return sort.Search(len(d.Sections), func(i int) bool { return d.Sections[i].Line > line }) - 1
}

// Filter implements view.Screen: it is the text searched for.
func (s *Screen) Filter() string { return s.search.text }

// SetFilter implements view.Screen: it searches, and goes to the next place.
func (s *Screen) SetFilter(e *view.Env, text string) {
	s.sync(e)
	s.search.text = text
	s.search.find(s.lines)
	if text == "" {
		return
	}
	if s.diff.on {
		s.diff.on = false
	}
	if n := s.search.from(s.topLine()); n > 0 {
		s.goTo(n, 2)
	}
}

// Selected implements view.Screen: the selected entry, or the line on top.
func (s *Screen) Selected(e *view.Env) string {
	s.sync(e)
	if s.doc == nil {
		return ""
	}
	name := fileName(e)
	switch s.focus {
	case outlinePane:
		if r := s.outline.selected(); r != nil {
			return name + ":" + strconv.Itoa(r.line) + ": " + r.plain
		}
	case listPane:
		if r := s.list.selected(); r != nil {
			return name + ":" + strconv.Itoa(r.line) + ": " + r.plain
		}
	}
	n := s.at
	if n == 0 {
		n = s.topLine()
	}
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return name + ":" + strconv.Itoa(n) + ": " + strings.TrimSpace(s.lines[n-1])
}

// Show implements view.Screen: target is a section id, a line number, or the id
// of a criterion, task or decision.
func (s *Screen) Show(e *view.Env, target string) view.Ask {
	s.sync(e)
	if target == "" || s.doc == nil {
		return view.Ask{}
	}
	n := s.lineOf(target)
	if n == 0 {
		return view.Ask{Say: "the plan has no " + target}
	}
	s.jump(n)
	return view.Ask{}
}

func (s *Screen) lineOf(target string) int {
	if n, err := strconv.Atoi(target); err == nil && n > 0 {
		return min(n, max(s.doc.Lines, 1))
	}
	for _, x := range s.doc.Sections {
		if x.ID == target {
			return x.Line
		}
	}
	for _, x := range s.doc.Criteria {
		if x.ID == target {
			return x.Line
		}
	}
	for _, x := range s.doc.Decisions {
		if x.ID == target {
			return x.Line
		}
	}
	for _, x := range s.doc.Tasks {
		if x.ID == target {
			return x.Line
		}
	}
	return 0
}

var _ view.Screen = (*Screen)(nil)
