package plan

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"kdapilot/engine/text"
)

// maxLine bounds what is kept of one line, in bytes.
const maxLine = 32 << 10

// The markers around the appended draft.
const (
	draftStart = "--- Original Design Draft Start ---"
	draftEnd   = "--- Original Design Draft End ---"
)

// line is one source line as the parsers see it.
type line struct {
	text string // clean, without the newline
	// indent counts blanks before the text, a tab as four; body is what follows
	// the indent and a bullet.
	indent int
	body   string
	bullet bool
	// fence: inside a code block or its border. hidden: begins inside an HTML
	// comment or a reviewer's comment.
	fence, hidden bool
	draft         bool
	level         int // of a heading, 0 for none
}

// scanner walks the lines once and keeps what spans several of them.
type scanner struct {
	doc *Doc
	// fence is the border that ends the open code block, "" for none.
	fence string
	html  bool
	open  []Comment // nested reviewer's comments, outermost first
	words strings.Builder
	// plainFrom: comment markers at and after this line are text, since one
	// before them never ends. 0 for none.
	plainFrom int
	unclosed  int
}

func split(doc *Doc, b []byte) []string {
	if len(b) > MaxBytes {
		doc.note(0, fmt.Sprintf("%d bytes, only the first %d were looked at", len(b), MaxBytes))
		b = b[:MaxBytes]
	}
	var out []string
	for raw := range bytes.Lines(b) {
		raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
		if len(raw) > maxLine {
			doc.note(len(out)+1, fmt.Sprintf("the line has %d bytes, only the first %d were looked at", len(raw), maxLine))
			raw = raw[:maxLine]
		}
		// A lone carriage return inside a line must not make two of it.
		s := strings.ReplaceAll(string(raw), "\r", " ")
		out = append(out, text.Clean(s))
	}
	return out
}

// scan fills doc.lines, doc.Comments, doc.CommentErrors and doc.Draft.
func scan(doc *Doc, src []string) {
	s := scanner{doc: doc}
	if first := s.run(src); first > 0 {
		// The comment that began there never ends: everything after it is plan, not
		// comment, and is read as such.
		errs := doc.CommentErrors
		doc.Comments, doc.CommentErrors, doc.lines, doc.Draft = nil, nil, nil, Appendix{}
		s = scanner{doc: doc, plainFrom: first}
		s.run(src)
		doc.CommentErrors = errs
	}
}

// run returns the line of the first comment that never ends, 0 for none.
func (s *scanner) run(src []string) int {
	inDraft, end := false, lastEnd(src)
	s.doc.lines = make([]line, 0, len(src))
	for i, t := range src {
		n := i + 1
		l := shape(t)
		switch mark := strings.TrimSpace(t); {
		case mark == draftStart && s.doc.Draft.Start == 0:
			s.reset()
			s.doc.Draft.Start, inDraft = n, true
		case inDraft && n == end:
			s.reset()
			s.doc.Draft.End, inDraft = n, false
		default:
			l.draft = inDraft
			s.line(n, &l)
		}
		s.doc.lines = append(s.doc.lines, l)
	}
	s.reset()
	return s.unclosed
}

// lastEnd is the line of the last end marker: the draft itself may quote one.
func lastEnd(src []string) int {
	for i := len(src) - 1; i >= 0; i-- {
		if strings.TrimSpace(src[i]) == draftEnd {
			return i + 1
		}
	}
	return 0
}

// reset ends whatever spans lines: at the draft's borders and at the end.
func (s *scanner) reset() {
	for _, c := range s.open {
		s.fail(c.Line, c.Column, c.Form+" has no end")
		if s.unclosed == 0 || c.Line < s.unclosed {
			s.unclosed = c.Line
		}
	}
	s.fence, s.html, s.open = "", false, nil
	s.words.Reset()
}

func (s *scanner) line(n int, l *line) {
	l.hidden = s.html || len(s.open) > 0
	if !l.hidden {
		if mark := fenceMark(l.text); s.fence != "" {
			l.fence = true
			if mark != "" && mark[0] == s.fence[0] && len(mark) >= len(s.fence) && strings.TrimSpace(l.text) == mark {
				s.fence = ""
			}
			return
		} else if mark != "" {
			l.fence, s.fence = true, mark
			return
		}
		l.level = headingLevel(l.text)
	}
	s.markers(n, l.text)
}

// fenceMark is the run of back quotes or tildes that opens or ends a code block.
func fenceMark(t string) string {
	t = strings.TrimLeft(t, " \t")
	for _, c := range []byte{'`', '~'} {
		n := 0
		for n < len(t) && t[n] == c {
			n++
		}
		if n >= 3 && (c == '~' || !strings.Contains(t[n:], "`")) {
			return t[:n]
		}
	}
	return ""
}

func headingLevel(t string) int {
	indent := len(t) - len(strings.TrimLeft(t, " "))
	t = t[indent:]
	n := 0
	for n < len(t) && t[n] == '#' {
		n++
	}
	if indent > 3 || n == 0 || n > 6 || n < len(t) && t[n] != ' ' && t[n] != '\t' {
		return 0
	}
	return n
}

func headingTitle(t string) string {
	t = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(t), "#"))
	if cut := strings.TrimRight(t, "#"); cut != t && (cut == "" || strings.HasSuffix(cut, " ")) {
		t = strings.TrimSpace(cut)
	}
	return text.Clip(t, maxText)
}

// shape takes indent and bullet off a line.
func shape(t string) line {
	l := line{text: t}
	i := 0
	for ; i < len(t) && (t[i] == ' ' || t[i] == '\t'); i++ {
		if l.indent++; t[i] == '\t' {
			l.indent += 3
		}
	}
	l.body = t[i:]
	if len(l.body) > 1 && strings.ContainsRune("-*+", rune(l.body[0])) && l.body[1] == ' ' {
		l.bullet, l.body = true, strings.TrimSpace(l.body[2:])
	}
	l.body = strings.TrimSpace(l.body)
	return l
}

// The comment forms, openers and enders in step, and HTML's own.
var (
	openers = []string{"CMT:", "<cmt>", "<comment>"}
	enders  = []string{"ENDCMT", "</cmt>", "</comment>"}
)

const (
	htmlOpen = "<!--"
	htmlEnd  = "-->"
)

// markers looks for comment markers in a line outside code blocks.
func (s *scanner) markers(n int, t string) {
	for i := 0; i < len(t); {
		if s.html {
			k := strings.Index(t[i:], htmlEnd)
			if k < 0 {
				return
			}
			s.html, i = false, i+k+len(htmlEnd)
			continue
		}
		at, mark := next(t[i:], len(s.open) == 0)
		if mark == "" {
			s.keep(t[i:])
			break
		}
		s.keep(t[i : i+at])
		col := utf8.RuneCountInString(t[:i+at]) + 1
		i += at + len(mark)
		if mark == htmlOpen {
			s.html = true
		} else if s.plainFrom == 0 || n < s.plainFrom {
			s.mark(n, col, mark)
		}
	}
	s.keep("\n")
}

// next finds the first marker of a text; HTML's only where html is true.
func next(t string, html bool) (int, string) {
	at, mark := -1, ""
	try := func(m string) {
		if k := strings.Index(t, m); k >= 0 && (at < 0 || k < at) {
			at, mark = k, m
		}
	}
	if !strings.ContainsAny(t, "<C") {
		return -1, ""
	}
	for i := range openers {
		try(openers[i])
		try(enders[i])
	}
	if html {
		try(htmlOpen)
	}
	return at, mark
}

func (s *scanner) keep(t string) {
	if len(s.open) > 0 && s.words.Len() < maxText*2 {
		s.words.WriteString(t)
	}
}

func (s *scanner) mark(n, col int, mark string) {
	for i, o := range openers {
		switch mark {
		case o:
			if len(s.open) > 0 {
				s.fail(n, col, mark+" inside "+s.open[0].Form)
			}
			if len(s.open) < 64 {
				s.open = append(s.open, Comment{Form: o, Line: n, Column: col})
			}
			return
		case enders[i]:
			s.close(n, col, o, mark)
			return
		}
	}
}

func (s *scanner) close(n, col int, opener, mark string) {
	k := len(s.open) - 1
	switch {
	case k < 0:
		s.fail(n, col, mark+" without "+opener)
		return
	case s.open[k].Form != opener:
		s.fail(n, col, mark+" ends "+s.open[k].Form+" of line "+fmt.Sprint(s.open[k].Line))
		return
	}
	c := s.open[k]
	s.open = s.open[:k]
	if k > 0 {
		return
	}
	c.EndLine, c.Text = n, text.Clip(strings.TrimSpace(s.words.String()), maxText)
	s.words.Reset()
	// Empty comments do not count for refine-plan.
	if c.Text != "" && len(s.doc.Comments) < MaxItems {
		s.doc.Comments = append(s.doc.Comments, c)
	}
}

func (s *scanner) fail(n, col int, what string) {
	if len(s.doc.CommentErrors) < MaxItems {
		s.doc.CommentErrors = append(s.doc.CommentErrors, CommentError{Line: n, Column: col, What: what})
	}
}

func (d *Doc) note(n int, what string) {
	if len(d.Notes) < MaxItems {
		d.Notes = append(d.Notes, Hit{Line: n, Text: what, Sure: true})
	}
}

// Count counts lines as Humanize's setup does.
func Count(b []byte) Counts {
	c := Counts{Lines: bytes.Count(b, []byte{'\n'})}
	hidden := false
	for raw := range bytes.Lines(b) {
		t := bytes.TrimSpace(raw)
		switch {
		case hidden:
			hidden = !bytes.Contains(t, []byte(htmlEnd))
		case len(t) == 0 || t[0] == '#':
		case bytes.HasPrefix(t, []byte(htmlOpen)):
			hidden = !bytes.Contains(t, []byte(htmlEnd))
		default:
			c.Content++
		}
	}
	return c
}
