package draw

import (
	"bytes"
	"sort"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"kdapilot/ui/style"
)

// MDLine is one drawn line of a markdown text.
type MDLine struct {
	Text    string // exactly the width asked for
	Source  int    // line of the source it comes from, 1-based
	Heading int    // 1 to 6 on the first line of a heading, else 0
}

// Markdown draws source in lines of exactly w cells. It is made for review:
// every line of the source that is not blank shows up. What has no drawing of
// its own (raw HTML, comments, link definitions, fences, underlines of
// headings) is shown as it stands, dimmed; code is wrapped, not clipped; a
// table that does not fit becomes "header: value" lines; a link shows where it
// leads. source must be clean (engine/text).
func Markdown(source string, w int, look style.Look) []MDLine {
	if w <= 0 {
		return nil
	}
	m := newMarkdown(source, w, look)
	md := goldmark.New(goldmark.WithExtensions(extension.Table))
	m.blocks(md.Parser().Parse(text.NewReader(guard(m.src))), indent{})
	m.gap(len(m.starts), indent{})
	return m.out
}

// Texts returns the drawn lines alone, for Block and Box.
func Texts(lines []MDLine) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out
}

// markdown is one rendering in progress.
type markdown struct {
	src    []byte
	starts []int // byte offset of each source line
	w      int
	look   style.Look
	out    []MDLine
	cursor int // first source line (0-based) that is not drawn yet
}

func newMarkdown(source string, w int, look style.Look) *markdown {
	m := &markdown{src: []byte(source), w: w, look: look}
	m.out = make([]MDLine, 0, len(source)/max(min(w, 60), 8)+16)
	if source == "" {
		return m
	}
	m.starts = append(m.starts, 0)
	for i := 0; i < len(source)-1; i++ {
		if source[i] == '\n' {
			m.starts = append(m.starts, i+1)
		}
	}
	return m
}

// lineOf returns the 0-based source line of a byte offset.
func (m *markdown) lineOf(offset int) int {
	return max(sort.SearchInts(m.starts, offset+1)-1, 0)
}

// raw returns source line n without its line break.
func (m *markdown) raw(n int) string {
	end := len(m.src)
	if n+1 < len(m.starts) {
		end = m.starts[n+1]
	}
	return string(bytes.TrimRight(m.src[m.starts[n]:end], "\r\n"))
}

// indent is what stands left of a block: first on its first line, rest below.
// Both take n cells. mark is the innermost marker alone, markN cells.
type indent struct {
	first, rest, mark string
	n, markN          int
}

// maxIndent bounds the indent of absurdly deep nesting; it starts again there.
const maxIndent = 120

// add nests a marker of plain text in the indent.
func (in indent) add(first, rest string, ink style.Token) indent {
	n := Width(first)
	if in.n+n > maxIndent {
		in = indent{}
	}
	return indent{first: in.first + ink.Paint(first), rest: in.rest + ink.Paint(rest), mark: ink.Paint(first), n: in.n + n, markN: n}
}

// below is the indent after its first line was used.
func (in indent) below() indent {
	return indent{first: in.rest, rest: in.rest, mark: blanks(in.markN), n: in.n, markN: in.markN}
}

// emit adds one line: the indent, then text of cells width.
func (m *markdown) emit(lead string, in indent, p piece, source, heading int) {
	line := lead + p.text + blanks(m.w-in.n-p.w)
	m.out = append(m.out, MDLine{Text: line, Source: source + 1, Heading: heading})
	m.cursor = max(m.cursor, source+1)
}

// room returns the cells right of the indent. An indent that leaves less than
// eight cells is reduced to its innermost marker, so that deep nesting stays
// readable in a narrow pane; in a very narrow one that goes too.
func (m *markdown) room(in *indent) int {
	if m.w-in.n < min(8, m.w/2) {
		*in = indent{first: in.mark, rest: blanks(in.markN), mark: in.mark, n: in.markN, markN: in.markN}
	}
	if m.w-in.n < max(1, min(8, m.w/3)) {
		*in = indent{}
	}
	return m.w - in.n
}

// gap draws the source lines from the cursor up to line to, which no block
// claimed: blank lines as one blank line, anything else as it stands.
func (m *markdown) gap(to int, in indent) {
	m.room(&in)
	for n := m.cursor; n < min(to, len(m.starts)); n++ {
		s := m.raw(n)
		t := strings.TrimSpace(s)
		switch {
		case t == "":
			if len(m.out) > 0 && strings.TrimSpace(Strip(m.out[len(m.out)-1].Text)) != "" {
				m.out = append(m.out, MDLine{Text: blanks(m.w), Source: n + 1})
			}
		case in.n > 0 && strings.Trim(t, "> \t") == "": // a blank line of a quote
			m.emit(in.rest, in, piece{}, n, 0)
		case isBreak(t):
			m.out = append(m.out, MDLine{Text: Rule(m.w, m.look), Source: n + 1})
		default:
			m.literal(s, n, in.below(), m.look.Dim)
		}
	}
	m.cursor = max(m.cursor, to)
}

// literal draws one source line as it stands.
func (m *markdown) literal(s string, n int, in indent, ink style.Token) {
	room := m.room(&in)
	s = strings.TrimRight(s, " \t")
	if in.n > 0 {
		s = strings.TrimLeft(s, " \t") // the indent already stands there
	}
	for _, p := range wrap(s, room, true) {
		p.text = ink.Paint(p.text)
		m.emit(in.first, in, p, n, 0)
		in = in.below()
	}
}

// isBreak reports a thematic break: three or more of one of - * _.
func isBreak(s string) bool {
	c := s[0]
	if c != '-' && c != '*' && c != '_' {
		return false
	}
	n := 0
	for i := range len(s) {
		switch s[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// blocks draws the children of a container.
func (m *markdown) blocks(parent ast.Node, in indent) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		m.block(n, in)
		in = in.below()
	}
}

func (m *markdown) block(n ast.Node, in indent) {
	switch n := n.(type) {
	case *ast.Heading:
		m.heading(n, in)
	case *ast.Paragraph, *ast.TextBlock:
		m.paragraph(n, in)
	case *ast.List:
		m.list(n, in)
	case *ast.Blockquote:
		m.blocks(n, in.add("| ", "| ", m.look.Quote))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		m.code(n, in, m.look.Code)
	case *ast.HTMLBlock:
		m.html(n, in)
	case *xast.Table:
		m.table(n, in)
	default: // thematic break and whatever comes later: the gap draws the source
	}
}

func (m *markdown) heading(n *ast.Heading, in indent) {
	first, ok := m.begin(n, in)
	if !ok {
		return // "#" alone: the gap shows it
	}
	mark := strings.Repeat("#", n.Level) + " "
	in = in.add(mark, blanks(len(mark)), m.look.Dim)
	ink := m.look.Heading
	if n.Level > 2 {
		ink = m.look.Title
	}
	m.flow(n, in, ink, n.Level)
	m.cursor = max(m.cursor, first+1)
}

// begin draws what stands before block n and returns its first line.
func (m *markdown) begin(n ast.Node, in indent) (line int, ok bool) {
	lines := n.Lines()
	if lines == nil || lines.Len() == 0 {
		return 0, false
	}
	line = m.lineOf(lines.At(0).Start)
	m.gap(line, in)
	return line, true
}

func (m *markdown) paragraph(n ast.Node, in indent) {
	if _, ok := m.begin(n, in); !ok {
		return
	}
	m.flow(n, in, m.look.Text, 0)
	m.cursor = max(m.cursor, m.lineOf(n.Lines().At(n.Lines().Len()-1).Start)+1)
}

// flow draws inline content, wrapped, each line with the source line of its
// first word.
func (m *markdown) flow(n ast.Node, in indent, ink style.Token, heading int) {
	room := m.room(&in)
	il := m.inline(n, ink)
	for _, p := range wrap(il.text(), room, true) {
		m.emit(in.first, in, p, m.lineOf(il.source(p.at)), heading)
		in, heading = in.below(), 0
	}
}

func (m *markdown) list(n *ast.List, in indent) {
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if item.FirstChild() == nil {
			continue // an empty item: the gap shows its line
		}
		mark := string(n.Marker) + " "
		if line, ok := m.firstLine(item); ok {
			m.gap(line, in)
			if n.IsOrdered() {
				mark = number(m.raw(line), n.Marker) + " "
			}
		}
		m.blocks(item, in.add(mark, blanks(len(mark)), m.look.Dim))
		in = in.below()
	}
}

// number returns the number of an ordered item as its line writes it, because a
// plan refers to items by what it says, not by what a renderer would count.
func number(line string, marker byte) string {
	for i := 0; i < len(line); i++ {
		j := i
		for j < len(line) && line[j] >= '0' && line[j] <= '9' {
			j++
		}
		if j > i && j < len(line) && line[j] == marker {
			return line[i : j+1]
		}
		i = j
	}
	return string(marker)
}

// firstLine returns the first source line of the first block inside n.
func (m *markdown) firstLine(n ast.Node) (int, bool) {
	const deepest = 50 // each level of a list looks down once
	for depth, c := 0, n; c != nil && depth < deepest; depth, c = depth+1, c.FirstChild() {
		if c.Type() == ast.TypeBlock && c.Lines() != nil && c.Lines().Len() > 0 {
			line := m.lineOf(c.Lines().At(0).Start)
			if _, fenced := c.(*ast.FencedCodeBlock); fenced && line > m.cursor {
				line-- // the fence stands above
			}
			return line, true
		}
	}
	return 0, false
}

func (m *markdown) code(n ast.Node, in indent, ink style.Token) {
	lines := n.Lines()
	if _, ok := m.begin(n, in); !ok {
		return
	}
	in = in.below().add("  ", "  ", style.Token{})
	room := m.room(&in)
	for i := range lines.Len() {
		seg := lines.At(i)
		line := m.lineOf(seg.Start)
		for _, p := range wrap(strings.TrimRight(string(seg.Value(m.src)), "\r\n"), room, false) {
			p.text = ink.Paint(p.text)
			m.emit(in.first, in, p, line, 0)
		}
	}
}

func (m *markdown) html(n *ast.HTMLBlock, in indent) {
	if _, ok := m.begin(n, in); !ok {
		return
	}
	ink := m.look.Quote
	if n.HTMLBlockType != ast.HTMLBlockType2 { // type 2 is a comment
		ink = m.look.Info
	}
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		line := m.lineOf(seg.Start)
		m.literal(strings.TrimRight(string(seg.Value(m.src)), "\r\n"), line, in, ink)
		in = in.below()
	}
}
