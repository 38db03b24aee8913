package draw

import (
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"kdapilot/ui/style"
)

// inline is running text with its colours, and where in the source each part
// of it stands.
type inline struct {
	m     *markdown
	b     []byte
	stack []style.Token // what is switched on, outermost first
	at    []int         // offsets in b, rising
	from  []int         // source offset of each
}

// inline collects the inline children of n, painted with ink.
func (m *markdown) inline(n ast.Node, ink style.Token) *inline {
	il := &inline{m: m}
	il.push(ink)
	il.children(n)
	il.pop()
	return il
}

func (il *inline) text() string { return string(il.b) }

// source returns the source offset of the text at offset in the result.
func (il *inline) source(offset int) int {
	i := sort.SearchInts(il.at, offset+1) - 1
	if i < 0 {
		if len(il.from) == 0 {
			return 0
		}
		return il.from[0]
	}
	return il.from[i]
}

func (il *inline) push(t style.Token) {
	il.stack = append(il.stack, t)
	il.b = append(il.b, t.Open()...)
}

// pop switches the innermost token off and the outer ones on again, because
// both may use the same switch.
func (il *inline) pop() {
	last := il.stack[len(il.stack)-1]
	il.stack = il.stack[:len(il.stack)-1]
	if last.Plain() {
		return
	}
	il.b = append(il.b, last.Close()...)
	for _, t := range il.stack {
		il.b = append(il.b, t.Open()...)
	}
}

// write adds text that stands at source offset from.
func (il *inline) write(s []byte, from int) {
	if len(il.from) == 0 || il.from[len(il.from)-1] != from {
		il.at = append(il.at, len(il.b))
		il.from = append(il.from, from)
	}
	il.b = append(il.b, s...)
}

func (il *inline) painted(t style.Token, n ast.Node) {
	il.push(t)
	il.children(n)
	il.pop()
}

func (il *inline) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		il.node(c)
	}
}

func (il *inline) node(n ast.Node) {
	look, src := il.m.look, il.m.src
	switch n := n.(type) {
	case *ast.Text:
		il.write(unescape(n.Segment.Value(src)), n.Segment.Start)
		if n.HardLineBreak() {
			il.b = append(il.b, '\n')
		} else if n.SoftLineBreak() {
			il.b = append(il.b, ' ')
		}
	case *ast.String:
		il.b = append(il.b, n.Value...)
	case *ast.CodeSpan:
		il.codeSpan(n)
	case *ast.Emphasis:
		ink := look.Strong
		if n.Level == 1 {
			ink = look.Link // underlined: italics are missing in many terminals
		}
		il.painted(ink, n)
	case *ast.Link:
		il.painted(look.Link, n)
		il.dest(n.Destination, inner(n, src))
	case *ast.Image:
		il.b = append(il.b, "[image: "...)
		il.children(n)
		il.b = append(il.b, ']')
		il.dest(n.Destination, "")
	case *ast.AutoLink:
		il.push(look.Link)
		il.b = append(il.b, n.Label(src)...)
		il.pop()
	case *ast.RawHTML:
		il.rawHTML(n)
	default:
		il.children(n)
	}
}

// codeSpan keeps the backquotes, so that code shows without colour too.
func (il *inline) codeSpan(n *ast.CodeSpan) {
	il.push(il.m.look.Code)
	il.b = append(il.b, '`')
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			il.write([]byte(strings.ReplaceAll(string(t.Segment.Value(il.m.src)), "\n", " ")), t.Segment.Start)
		}
	}
	il.b = append(il.b, '`')
	il.pop()
}

func (il *inline) rawHTML(n *ast.RawHTML) {
	ink := il.m.look.Info
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		s := seg.Value(il.m.src)
		if strings.HasPrefix(string(s), "<!--") {
			ink = il.m.look.Dim
		}
		il.push(ink)
		il.write([]byte(strings.ReplaceAll(string(s), "\n", " ")), seg.Start)
		il.pop()
	}
}

// dest shows where a link leads unless its text already says so.
func (il *inline) dest(dest []byte, label string) {
	if len(dest) == 0 || string(dest) == label {
		return
	}
	il.push(il.m.look.Dim)
	il.b = append(il.b, " ("...)
	il.b = append(il.b, dest...)
	il.b = append(il.b, ')')
	il.pop()
}

// inner returns the plain text inside a node.
func inner(n ast.Node, src []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(src))
		}
	}
	return b.String()
}

// unescape turns "\*" into "*". Entities such as &lt; stay as they are written.
func unescape(s []byte) []byte {
	for _, c := range s {
		if c == '\\' {
			return util.UnescapePunctuations(s)
		}
	}
	return s
}
