package loop

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kdapilot/engine/text"
)

const maxIDs = 500

// ParseContract reads a round contract. Only its existence is ever checked by
// Humanize, so another shape is no error: the fields just stay empty.
func ParseContract(b []byte) Contract {
	var c Contract
	for raw := range bytes.Lines(b) {
		key, v, ok := bullet(clipLine(raw))
		if !ok {
			continue
		}
		v = text.Clip(v, maxText)
		switch strings.ToLower(key) {
		case "mainline objective":
			c.Objective = v
		case "target acs", "target ac":
			c.ACs = reACs2.FindAllString(v, maxCriteria)
		case "blocking side issues in scope":
			c.InScope = v
		case "queued side issues out of scope":
			c.OutScope = v
		case "success criteria":
			c.Success = v
		}
	}
	return c
}

// bullet splits `- Key: value`, with or without the dash and bold marks.
func bullet(l string) (key, v string, ok bool) {
	l = strings.TrimSpace(l)
	l = strings.TrimSpace(strings.TrimPrefix(l, "- "))
	key, v, ok = strings.Cut(l, ":")
	key = strings.Trim(key, "*_ ")
	return key, strings.TrimSpace(strings.TrimLeft(v, "*")), ok && key != ""
}

// scaffoldMarks are what setup's template holds and a written summary does not.
var scaffoldMarks = [][]byte{[]byte("[Describe"), []byte("none|add|update"), []byte("[List files created"), []byte("[List tests/commands")}

// ParseSummary reads a round summary: template or written, and its BitLesson
// Delta as the stop gate reads it.
func ParseSummary(b []byte) Summary {
	s := Summary{Bytes: int64(len(b)), UpdateRequest: hasHeading(b, "## Goal Tracker Update Request")}
	for _, m := range scaffoldMarks {
		s.Scaffold = s.Scaffold || bytes.Contains(b, m)
	}
	s.Delta = parseDelta(b)
	return s
}

func hasHeading(b []byte, h string) bool {
	for raw := range bytes.Lines(b) {
		if strings.HasPrefix(string(bytes.TrimSpace(raw)), h) {
			return true
		}
	}
	return false
}

var (
	reLessonID  = regexp.MustCompile(`^BL-[0-9]{8}-[A-Za-z0-9._-]+$`)
	reAction    = regexp.MustCompile(`^[\s-]*Action:\s*([A-Za-z]+)\s*$`)
	reLessonIDs = regexp.MustCompile(`^[\s-]*Lesson (?:ID\(s\)|IDs):\s*(.*)$`)
	reNotes     = regexp.MustCompile(`^[\s-]*Notes:\s*(.*)$`)
	reDelta     = regexp.MustCompile(`(?i)^##\s*bitlesson delta\s*$`)
	reNoNote    = regexp.MustCompile(`^(\[.*\]|<.*>)$`)
)

// parseDelta reads the section and says what the gate would refuse: it wants
// exactly one Action line of none, add or update; ids NONE or empty for none;
// well-formed ids and a real note for the other two.
func parseDelta(b []byte) LessonDelta {
	var d LessonDelta
	var ids, notes []string
	in, fence, actions := false, false, 0
	n := 0
	for raw := range bytes.Lines(b) {
		n++
		l := strings.TrimRight(clipLine(raw), " \t")
		if strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
			fence = !fence
		}
		if !fence && strings.HasPrefix(l, "##") && (l == "##" || l[2] != '#') {
			if in = reDelta.MatchString(l); in && d.Line == 0 {
				d.Line = n
			}
			continue
		}
		if !in {
			continue
		}
		if m := reAction.FindStringSubmatch(l); m != nil {
			actions++
			if actions == 1 {
				d.Action, d.Line = strings.ToLower(m[1]), n
			}
		}
		ids, notes = submatch(reLessonIDs, l, ids), submatch(reNotes, l, notes)
	}
	d.IDs = lessonIDs(ids)
	if len(notes) > 0 {
		d.Notes = text.Clip(notes[0], maxText)
	}
	d.Problem = d.problem(actions)
	if d.Action != "none" && d.Action != "add" && d.Action != "update" {
		d.Action = ""
	}
	return d
}

// submatch keeps the first hit, as the gate does.
func submatch(re *regexp.Regexp, l string, have []string) []string {
	if m := re.FindStringSubmatch(l); m != nil && len(have) == 0 {
		return []string{strings.TrimSpace(m[1])}
	}
	return have
}

func lessonIDs(field []string) []string {
	var out []string
	if len(field) == 0 || strings.EqualFold(field[0], "NONE") {
		return nil
	}
	for id := range strings.SplitSeq(field[0], ",") {
		if id = strings.TrimSpace(id); id != "" && len(out) < maxIDs {
			out = append(out, text.Clip(id, 200))
		}
	}
	return out
}

func (d *LessonDelta) problem(actions int) string {
	switch {
	case d.Line == 0:
		return "no ## BitLesson Delta section"
	case actions == 0:
		return "Action must be none, add or update, alone on one line"
	case actions > 1:
		return "expected exactly one Action line, found " + strconv.Itoa(actions)
	case d.Action != "none" && d.Action != "add" && d.Action != "update":
		return "Action is " + text.Clip(d.Action, 40) + ", expected none, add or update"
	case d.Action == "none" && len(d.IDs) > 0:
		return "Action is none: Lesson ID(s) must be NONE"
	case d.Action == "none":
		return ""
	case len(d.IDs) == 0:
		return "Action is " + d.Action + ": Lesson ID(s) must name the lessons"
	}
	for _, id := range d.IDs {
		if !reLessonID.MatchString(id) {
			return "lesson id " + text.Clip(id, 60) + " is not of the form BL-YYYYMMDD-name"
		}
	}
	if d.Notes == "" || reNoNote.MatchString(d.Notes) {
		return "Action is " + d.Action + ": Notes must say what changed and why"
	}
	return ""
}

// ParseBitlessons counts lessons by their id lines, as the gate does; the
// template's <BL-…> is none.
func ParseBitlessons(b []byte) Bitlessons {
	var out Bitlessons
	for raw := range bytes.Lines(b) {
		id, ok := bytes.CutPrefix(raw, []byte("Lesson ID:"))
		if !ok {
			continue
		}
		s := text.Clip(text.Line(string(id)), 200)
		if s == "" || s[0] == '<' || s == "BL-YYYYMMDD-short-name" {
			continue
		}
		out.Count++
		if len(out.IDs) < maxIDs {
			out.IDs = append(out.IDs, s)
		}
	}
	return out
}

// ParseConsultation reads the input.md and metadata.md of a skill call. meta is
// nil while there is none.
func ParseConsultation(id string, input, meta []byte) Consultation {
	c := Consultation{ID: text.Line(id), Status: "open"}
	asked := false
	for raw := range bytes.Lines(input) {
		l := clipLine(raw)
		switch t := strings.TrimSpace(l); {
		case strings.HasPrefix(t, "## "):
			asked = t == "## Question"
		case asked && t != "" && c.Question == "":
			c.Question = text.Clip(t, maxText)
		case !asked && strings.HasPrefix(t, "- "):
			c.set(bullet(l))
		}
	}
	fences := 0
	for raw := range bytes.Lines(meta) {
		l := clipLine(raw)
		if l == "---" {
			fences++
		} else if fences == 1 {
			c.set(bullet(l))
		}
	}
	if meta != nil && c.Status == "open" {
		c.Status = "unknown"
	}
	return c
}

func (c *Consultation) set(key, v string, ok bool) {
	if !ok {
		return
	}
	v = text.Clip(v, 200)
	switch strings.ToLower(key) {
	case "tool":
		c.Tool = v
	case "model":
		c.Model = v
	case "effort":
		c.Effort = v
	case "timeout":
		c.Timeout = seconds(v)
	case "duration":
		c.Took = seconds(v)
	case "exit_code":
		c.ExitCode = atoi(v)
	case "status":
		c.Status = v
	case "started_at":
		c.Started, _ = time.Parse(time.RFC3339, v)
	}
}

// seconds reads `12s` or `12`.
func seconds(v string) time.Duration {
	n, err := strconv.Atoi(strings.TrimSuffix(v, "s"))
	if err != nil || n < 0 || n > maxNumber {
		return 0
	}
	return time.Duration(n) * time.Second
}
