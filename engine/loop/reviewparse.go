package loop

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"kdapilot/engine/text"
)

// Limits of one review result.
const (
	maxFindings = 200
	maxText     = 400 // bytes of a quoted line
)

const (
	// verdictName is sought first, verdictLabel decides.
	verdictName  = "mainline progress verdict"
	verdictLabel = "mainline progress verdict:"
	// Humanize looks for [P0] … [P9] within the first ten columns of a line and
	// in the last fifty lines of a code review's log.
	findingColumns = 10
	findingTail    = 50
	// A line shorter than this that says Open Question is taken for one.
	questionWidth = 40
)

// ParseSummaryReview reads a review of a round summary: end marker, verdict,
// open question and the conventional counts. Rules are applied to the raw bytes,
// as the hook's grep does; only what is kept is cleaned.
func ParseSummaryReview(b []byte) Review {
	r := Review{Kind: SummaryReview, Verdict: UnknownVerdict}
	low := asciiLower(b)
	failed := false
	for _, s := range sandboxSigns {
		failed = failed || bytes.Contains(low, []byte(s))
	}
	var lane *Int
	var last []byte
	n, at := 0, 0
	for raw := range bytes.Lines(b) {
		n++
		lowLine := low[at : at+len(raw)]
		at += len(raw)
		t := bytes.TrimSpace(raw)
		if len(t) == 0 {
			continue
		}
		last = t
		if bytes.Contains(lowLine, []byte(verdictName)) {
			r.verdictLine(n, clipLine(raw))
		}
		if failed {
			r.sandbox(n, clipLine(t))
		}
		if !r.OpenQuestion && len(raw) <= 4*questionWidth && bytes.Contains(raw, []byte("Open Question")) &&
			utf8.RuneCount(bytes.TrimRight(raw, "\r\n")) < questionWidth {
			r.OpenQuestion, r.OpenQuestionLine = true, n
		}
		if bytes.IndexByte(t, ':') >= 0 {
			r.conventions(strings.TrimSpace(clipLine(t)))
		}
		lane = r.laneLine(raw, t, lane)
	}
	switch m := Word(last); m {
	case MarkComplete, MarkStop:
		r.Marker = m
	}
	return r
}

// asciiLower lowers ASCII only, so that offsets stay those of b.
func asciiLower(b []byte) []byte {
	low := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return low
}

// laneLine opens, counts into or closes a lane.
func (r *Review) laneLine(raw, t []byte, lane *Int) *Int {
	if t[0] == '#' || bytes.HasPrefix(t, []byte("**")) {
		if p, ok := r.laneOf(clipLine(t)); ok {
			return p
		}
	}
	if lane != nil && isItem(clipLine(raw)) && !saysNone(clipLine(t)) {
		lane.N++
	}
	return lane
}

// clipLine cleans one raw line and bounds it.
func clipLine(raw []byte) string {
	raw = bytes.TrimRight(raw, "\r\n")
	if len(raw) > 4096 {
		raw = raw[:4096]
	}
	return strings.ReplaceAll(text.Clean(string(raw)), "\n", " ")
}

// verdictLine applies Humanize's rule to one line; the last line that matches
// wins. A line with the label and no usable word is remembered only to show.
func (r *Review) verdictLine(n int, l string) {
	low := strings.ToLower(l)
	v, ok := wordAfterLabel(low)
	if ok {
		r.Verdict = v
		if countVerdictWords(low) > 1 {
			r.Verdict = UnknownVerdict
		}
	} else if r.Verdict != UnknownVerdict {
		return // an earlier line decides for Humanize: it skips this one
	}
	r.VerdictLine, r.VerdictLineNo = text.Clip(strings.TrimSpace(l), maxText), n
	r.VerdictLenient = lenient(low)
}

// wordAfterLabel finds `label blanks WORD non-letter` anywhere in the lower-case
// line.
func wordAfterLabel(low string) (Verdict, bool) {
	for {
		at := strings.Index(low, verdictLabel)
		if at < 0 {
			return UnknownVerdict, false
		}
		low = low[at+len(verdictLabel):]
		rest := strings.TrimLeft(low, " \t")
		for _, v := range []Verdict{Advanced, Stalled, Regressed} {
			after, ok := strings.CutPrefix(rest, string(v))
			if ok && (after == "" || after[0] < 'a' || after[0] > 'z') {
				return v, true
			}
		}
	}
}

func countVerdictWords(low string) int {
	n := 0
	for _, v := range []Verdict{Advanced, Stalled, Regressed} {
		if strings.Contains(low, string(v)) {
			n++
		}
	}
	return n
}

// lenient is what a person reads: the one verdict word on the line, whatever
// stands around it.
func lenient(low string) Verdict {
	if countVerdictWords(low) != 1 {
		return UnknownVerdict
	}
	for _, v := range []Verdict{Advanced, Stalled, Regressed} {
		if strings.Contains(low, string(v)) {
			return v
		}
	}
	return UnknownVerdict
}

// sandboxSigns are what a reviewer writes that could not work at all.
var sandboxSigns = []string{"bwrap:", "could not complete the review", "acs: unknown/unknown"}

// sandbox remembers the first line with such a sign.
func (r *Review) sandbox(n int, t string) {
	if r.CouldNotRun != "" {
		return
	}
	low := strings.ToLower(t)
	for _, s := range sandboxSigns {
		if strings.Contains(low, s) {
			r.CouldNotRun, r.CouldNotRunLine = text.Clip(t, maxText), n
			return
		}
	}
}

var (
	reACs      = regexp.MustCompile(`(?:ACs|Acceptance Criteria): *(\d{1,6})/(\d{1,6}) (?:addressed|met)`)
	reForgot   = regexp.MustCompile(`Forgotten items: *(\d{1,6})`)
	reUnjust   = regexp.MustCompile(`Unjustified deferrals: *(\d{1,6})`)
	reRemain   = regexp.MustCompile(`^[-* ]*Estimated remaining rounds: *(.+)$`)
	reCritical = regexp.MustCompile(`^[-* ]*Critical blockers: *(.+)$`)
)

// conventions picks up what reviews say by habit; a later line wins.
func (r *Review) conventions(t string) {
	if !strings.Contains(t, ":") {
		return
	}
	if m := reACs.FindStringSubmatch(t); m != nil {
		r.ACsMet, r.ACsTotal = atoi(m[1]), atoi(m[2])
	}
	if m := reForgot.FindStringSubmatch(t); m != nil {
		r.Forgotten = atoi(m[1])
	}
	if m := reUnjust.FindStringSubmatch(t); m != nil {
		r.Unjustified = atoi(m[1])
	}
	if m := reRemain.FindStringSubmatch(t); m != nil {
		r.RemainingRounds = text.Clip(m[1], maxText)
	}
	if m := reCritical.FindStringSubmatch(t); m != nil {
		r.CriticalBlockers = text.Clip(m[1], maxText)
	}
}

func atoi(s string) Int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return Int{}
	}
	return known(n)
}

// laneOf tells whether a line opens a lane (or any other heading, which closes
// the one before: a nil lane).
func (r *Review) laneOf(t string) (*Int, bool) {
	bold := strings.HasPrefix(t, "**") && strings.HasSuffix(t, "**")
	if !strings.HasPrefix(t, "#") && !bold {
		return nil, false
	}
	var lane *Int
	switch strings.ToLower(strings.Trim(t, "#* :")) {
	case "mainline gaps":
		lane = &r.Gaps
	case "blocking side issues":
		lane = &r.Blocking
	case "queued side issues":
		lane = &r.Queued
	default:
		return nil, true
	}
	lane.Known = true
	return lane, true
}

// isItem reports a list item at the left margin: nested bullets belong to it.
func isItem(l string) bool {
	if strings.HasPrefix(l, "- ") || strings.HasPrefix(l, "* ") {
		return true
	}
	digits := len(l) - len(strings.TrimLeft(l, "0123456789"))
	return digits > 0 && digits < 4 && (strings.HasPrefix(l[digits:], ". ") || strings.HasPrefix(l[digits:], ") "))
}

func saysNone(t string) bool {
	switch strings.ToLower(strings.Trim(t, "-*. |_`")) {
	case "none", "n/a", "none found", "none identified", "nothing", "":
		return true
	}
	return false
}

// ParseCodeReview reads the extracted findings of a code review: every line
// that carries a priority where Humanize looks for it.
func ParseCodeReview(b []byte) Review {
	r := Review{Kind: CodeReview}
	n := 0
	for raw := range bytes.Lines(b) {
		n++
		col := priorityColumn(raw)
		if col < 0 || col >= findingColumns {
			continue
		}
		if len(r.Findings) < maxFindings {
			r.Findings = append(r.Findings, parseFinding(clipLine(raw), n))
		}
	}
	return r
}

// MissedFindings returns the findings in a code review's log (or its tail) that
// stand where Humanize does not look, so that the loop went on as if the review
// were clean: shaped `- [P1] title` but indented past the tenth column, or
// above the last fifty lines. firstLine is the number of b's first line.
func MissedFindings(b []byte, firstLine int) []Finding {
	total := bytes.Count(b, []byte{'\n'})
	if len(b) > 0 && b[len(b)-1] != '\n' {
		total++
	}
	var out []Finding
	i := 0
	for raw := range bytes.Lines(b) {
		i++
		col := priorityColumn(raw)
		if col < 0 || !isListed(raw[:col]) || (col < findingColumns && i > total-findingTail) {
			continue
		}
		if len(out) < maxFindings {
			out = append(out, parseFinding(clipLine(raw), firstLine+i-1))
		}
	}
	return out
}

// isListed reports whether only blanks and one list dash stand before.
func isListed(before []byte) bool {
	t := bytes.TrimSpace(before)
	return len(t) == 1 && (t[0] == '-' || t[0] == '*')
}

// priorityColumn is the byte column (0-based) of the first `[P` digit `]`, or -1.
func priorityColumn(l []byte) int {
	for off := 0; ; {
		at := bytes.Index(l[off:], []byte("[P"))
		if at < 0 {
			return -1
		}
		at += off
		if len(l) > at+3 && l[at+2] >= '0' && l[at+2] <= '9' && l[at+3] == ']' {
			return at
		}
		off = at + 2
	}
}

// The dash is an em dash in Codex's own shape; others are accepted.
var reFinding = regexp.MustCompile(`\[(P\d)\] *(.*?)(?: +(?:—|–|--|-) +(\S.*?):(\d{1,9})(?:-(\d{1,9}))?)? *$`)

func parseFinding(l string, n int) Finding {
	f := Finding{Line: n}
	m := reFinding.FindStringSubmatch(l)
	if m == nil {
		f.Title = text.Clip(strings.TrimSpace(l), maxText)
		return f
	}
	f.Severity, f.Title, f.Path = m[1], text.Clip(m[2], maxText), text.Clip(m[3], 4096)
	f.From, f.To = atoi(m[4]).N, atoi(m[5]).N
	if f.To == 0 {
		f.To = f.From
	}
	return f
}
