package loop

import (
	"bytes"
	"regexp"
	"strings"

	"kdapilot/engine/text"
)

// Limits of what a tracker may carry into a snapshot. A public tracker is
// 102 KB after 38 rounds; no screen shows all of it.
const (
	maxRows     = 500 // per table
	maxCells    = 16  // per row
	maxCell     = 300 // bytes
	maxCriteria = 200
	maxGoal     = 1200 // bytes
)

// ParseTracker reads goal-tracker.md. It never fails: what is not there stays
// empty. Headings are matched by exact text, since setup drags foreign headings
// into the sections.
func ParseTracker(b []byte) Tracker {
	p := trackerParser{t: Tracker{Criteria: []Criterion{}, VerifiedACs: []string{}}}
	n := 0
	for raw := range bytes.Lines(b) {
		n++
		p.line(n, bytes.TrimRight(raw, "\r\n"))
	}
	p.finish()
	return p.t
}

type section int

const (
	secNone section = iota
	secGoal
	secCriteria
	secEvolution
	secActive
	secBlocking
	secQueued
	secCompleted
	secDeferred
	secOpen
)

// headings maps a heading line to its section. "---" and the MUTABLE heading
// end the immutable part.
func heading(l string) (section, bool) {
	switch strings.TrimRight(l, " \t") {
	case "### Ultimate Goal":
		return secGoal, true
	case "### Acceptance Criteria":
		return secCriteria, true
	case "#### Plan Evolution Log":
		return secEvolution, true
	case "#### Active Tasks":
		return secActive, true
	case "### Blocking Side Issues":
		return secBlocking, true
	case "### Queued Side Issues":
		return secQueued, true
	case "### Completed and Verified":
		return secCompleted, true
	case "### Explicitly Deferred":
		return secDeferred, true
	case "### Open Issues":
		return secOpen, true
	case "---", "## MUTABLE SECTION", "## IMMUTABLE SECTION":
		return secNone, true
	}
	return secNone, false
}

type trackerParser struct {
	t       Tracker
	sec     section
	mutable bool // the MUTABLE heading was seen
	comment bool // inside a multi-line <!-- … -->
	// placeholders are sought in the first three sections up to any heading, as
	// Humanize does, which is narrower than sec.
	seek   bool
	header []string // of the table being read
	goal   strings.Builder
}

var (
	rePlaceholder = regexp.MustCompile(`\[To be [a-z]`)
	rePlanVersion = regexp.MustCompile(`^### Plan Version: *(\d{1,6})(?: *\(Updated: *Round (\d{1,6})( Review)?)?`)
	reCriterion   = regexp.MustCompile("^[ \t]*(?:[-*+] +|\\| *)[*_`]*((?:AC|C)-?\\d{1,4}[a-z]?(?:\\.\\d{1,3}[a-z]?)*)[*_`]*([^A-Za-z0-9].*)?$")
	reACs2        = regexp.MustCompile(`(?:AC|\bC)-?\d{1,4}[a-z]?(?:\.\d{1,3}[a-z]?)*`)
)

func (p *trackerParser) line(n int, raw []byte) {
	if p.comment || bytes.HasPrefix(bytes.TrimLeft(raw, " \t"), []byte("<!--")) {
		p.comment = !bytes.Contains(raw, []byte("-->"))
		return
	}
	if len(raw) > 0 && (raw[0] == '#' || raw[0] == '-') {
		if p.headingLine(string(raw)) {
			return
		}
	}
	if p.seek && !p.t.Placeholder && rePlaceholder.Match(raw) {
		p.t.Placeholder = true
	}
	switch p.sec {
	case secNone:
	case secGoal:
		p.goalLine(raw)
	case secCriteria:
		p.criterionLine(n, raw)
	default:
		if len(raw) > 0 && raw[0] == '|' {
			p.tableLine(n, raw)
		}
	}
}

func (p *trackerParser) headingLine(l string) bool {
	if m := rePlanVersion.FindStringSubmatch(l); m != nil {
		p.t.PlanVersion, p.t.UpdatedRound = atoi(m[1]), atoi(m[2])
		p.t.UpdatedByReview = m[3] != ""
		p.sec, p.seek = secNone, false
		return true
	}
	sec, ok := heading(l)
	if ok {
		p.mutable = p.mutable || strings.HasPrefix(l, "## MUTABLE")
		p.sec, p.header = sec, nil
		p.seek = sec == secGoal || sec == secCriteria || sec == secActive
		return true
	}
	if strings.HasPrefix(l, "##") {
		p.seek = false
	}
	return false
}

func (p *trackerParser) goalLine(raw []byte) {
	l := strings.TrimSpace(clipLine(raw))
	if l == "" || strings.HasPrefix(l, "#") || p.goal.Len() > maxGoal {
		return
	}
	if p.goal.Len() > 0 {
		p.goal.WriteByte('\n')
	}
	p.goal.WriteString(l)
}

func (p *trackerParser) criterionLine(n int, raw []byte) {
	if len(p.t.Criteria) >= maxCriteria {
		p.t.Cut = true
		return
	}
	m := reCriterion.FindStringSubmatch(clipLine(raw))
	if m == nil {
		return
	}
	for _, c := range p.t.Criteria {
		if c.ID == m[1] {
			return
		}
	}
	txt := strings.Trim(m[2], " \t:|*")
	p.t.Criteria = append(p.t.Criteria, Criterion{ID: m[1], Text: text.Clip(txt, maxCell), Line: n})
}

func (p *trackerParser) tableLine(n int, raw []byte) {
	cells, cut := splitRow(raw, len(p.header))
	p.t.Cut = p.t.Cut || cut
	if p.header == nil {
		p.header = cells
		return
	}
	if isRule(cells) || saysNoneRow(cells) {
		return
	}
	row := Row{Line: n, Cells: cells}
	switch p.sec {
	case secEvolution:
		p.add(&p.t.Evolution, row)
	case secActive:
		p.t.ActiveRows++
		if len(p.t.Active) < maxRows {
			p.t.Active = append(p.t.Active, p.task(row))
		} else {
			p.t.Cut = true
		}
	case secBlocking:
		p.t.Blocking++
		p.add(&p.t.BlockingT, row)
	case secQueued:
		p.t.Queued++
		p.add(&p.t.QueuedT, row)
	case secCompleted:
		p.t.CompletedRows++
		p.add(&p.t.CompletedT, row)
	case secDeferred:
		p.t.Deferred++
		p.add(&p.t.DeferredT, row)
	case secOpen:
		p.t.OpenIssues++
		p.add(&p.t.OpenT, row)
	}
}

func (p *trackerParser) add(rows *[]Row, r Row) {
	if len(*rows) >= maxRows {
		p.t.Cut = true
		return
	}
	*rows = append(*rows, r)
}

// task maps a row by the header's column names: older releases have no Tag and
// Owner.
func (p *trackerParser) task(r Row) Task {
	t := Task{Line: r.Line}
	for i, c := range r.Cells {
		if i >= len(p.header) {
			break
		}
		switch strings.ToLower(p.header[i]) {
		case "task":
			t.Task = c
		case "target ac":
			t.AC = c
		case "status":
			t.Status = c
		case "tag":
			t.Tag = c
		case "owner":
			t.Owner = c
		case "notes":
			t.Notes = c
		}
	}
	t.Claimed, t.Deferred = readStatus(t.Status)
	return t
}

// readStatus reads the free text of a status cell.
func readStatus(s string) (claimed, deferred bool) {
	s = strings.ToLower(strings.Trim(s, "*_`~ "))
	word, _, _ := strings.Cut(s, " ")
	switch strings.TrimRight(word, ",.;:*_`)") {
	case "done", "completed", "complete", "finished", "implemented", "verified", "closed", "✓", "✅", "[x]":
		return true, false
	case "deferred", "postponed":
		return false, true
	}
	return false, false
}

// CriterionIDs returns the criterion ids that a table cell names, in its order.
func CriterionIDs(cell string) []string { return reACs2.FindAllString(cell, maxCriteria) }

// finish works out what follows from the rows.
func (p *trackerParser) finish() {
	t := &p.t
	t.Whole = p.mutable
	t.Goal = text.Clip(p.goal.String(), maxGoal)
	verified := map[string]bool{}
	for _, r := range t.CompletedT {
		if len(r.Cells) == 0 {
			continue
		}
		for _, id := range CriterionIDs(r.Cells[0]) {
			if !verified[id] && len(t.VerifiedACs) < maxCriteria {
				verified[id] = true
				t.VerifiedACs = append(t.VerifiedACs, id)
			}
		}
	}
	claimed := map[string]bool{}
	for _, a := range t.Active {
		switch {
		case a.Claimed:
			t.ActiveCompleted++
			for _, id := range CriterionIDs(a.AC) {
				claimed[id] = true
			}
		case !a.Deferred:
			t.Open++
		}
	}
	for i := range t.Criteria {
		c := &t.Criteria[i]
		c.Verified, c.Claimed = verified[c.ID], claimed[c.ID]
	}
}

// splitRow splits a table row on bars that are neither escaped nor inside
// backticks. A stray backtick would swallow the rest of the row, so when that
// gives fewer cells than the header has, bars inside backticks count too.
func splitRow(raw []byte, want int) (cells []string, cut bool) {
	cells, cut = splitBars(raw, true)
	if len(cells) < want && bytes.Count(raw, []byte{'`'})%2 == 1 {
		return splitBars(raw, false)
	}
	return cells, cut
}

func splitBars(raw []byte, ticks bool) (cells []string, cut bool) {
	raw = bytes.TrimRight(raw, " \t")
	if len(raw) > 0 && raw[0] == '|' {
		raw = raw[1:]
	}
	quoted, start := false, 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '\\' && i+1 < len(raw) && raw[i+1] == '|':
			i++
		case c == '`' && ticks:
			quoted = !quoted
		case c == '|' && !quoted:
			var long bool
			if len(cells) >= maxCells {
				return cells, true
			}
			cells, long = appendCell(cells, raw[start:i])
			cut = cut || long
			start = i + 1
		}
	}
	if start < len(raw) && len(cells) < maxCells {
		var long bool
		cells, long = appendCell(cells, raw[start:])
		cut = cut || long
	}
	return cells, cut
}

func appendCell(cells []string, raw []byte) ([]string, bool) {
	raw = bytes.TrimSpace(raw)
	long := len(raw) > maxCell
	if long {
		raw = raw[:min(len(raw), 2*maxCell)]
	}
	s := text.Clip(text.Line(string(raw)), maxCell)
	return append(cells, strings.ReplaceAll(s, `\|`, "|")), long
}

func isRule(cells []string) bool {
	for _, c := range cells {
		if strings.Trim(c, "-: ") != "" {
			return false
		}
	}
	return len(cells) > 0 && strings.Contains(strings.Join(cells, ""), "-")
}

func saysNoneRow(cells []string) bool {
	for _, c := range cells {
		if !saysNone(c) {
			return false
		}
	}
	return true
}
