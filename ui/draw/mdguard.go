package draw

import "bytes"

const (
	// maxNesting is how many quotes and list markers one line may open. The
	// parser takes time in the square of it.
	maxNesting = 60
	// maxOpeners is how many "[" or "<" a stretch without a blank line may
	// hold before they are taken as text, for the same reason.
	maxOpeners = 500
)

// guard returns what the parser gets to see in place of src: the same length
// and lines, but with markers masked where there are absurdly many, so that a
// hostile or broken file takes linear time. What is drawn always comes from src
// itself, so masked markers show as they stand.
func guard(src []byte) []byte {
	g := guarded{src: src}
	run, openers, tags := 0, 0, 0 // start of the stretch, "[" and "<" in it
	for at := 0; at < len(src); {
		end := len(src)
		if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := src[at:end]
		if len(bytes.TrimSpace(line)) == 0 {
			g.stretch(run, at, openers, tags)
			run, openers, tags = end, 0, 0
		}
		openers += bytes.Count(line, []byte{'['})
		tags += bytes.Count(line, []byte{'<'})
		if i := deep(line); i >= 0 {
			g.mask(at + i)
		}
		at = end
	}
	g.stretch(run, len(src), openers, tags)
	if g.out != nil {
		return g.out
	}
	return src
}

// guarded copies src only when something has to be masked.
type guarded struct{ src, out []byte }

func (g *guarded) mask(i int) {
	if g.out == nil {
		g.out = bytes.Clone(g.src)
	}
	g.out[i] = 'x'
}

func (g *guarded) stretch(from, to, openers, tags int) {
	if openers <= maxOpeners && tags <= maxOpeners {
		return
	}
	for i := from; i < to; i++ {
		if c := g.src[i]; c == '[' && openers > maxOpeners || c == '<' && tags > maxOpeners {
			g.mask(i)
		}
	}
}

// deep returns where line opens more than maxNesting quotes and lists, or -1.
func deep(line []byte) int {
	count := 0
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == ' ' || c == '\t':
			continue
		case c == '>':
		case c == '-' || c == '*' || c == '+':
			if i+1 >= len(line) || line[i+1] != ' ' && line[i+1] != '\t' { // a rule, an underline
				return -1
			}
		case c >= '0' && c <= '9':
			for i+1 < len(line) && line[i+1] >= '0' && line[i+1] <= '9' {
				i++
			}
			if i+1 >= len(line) || line[i+1] != '.' && line[i+1] != ')' {
				return -1
			}
			i++
		default:
			return -1
		}
		if count++; count > maxNesting {
			return i
		}
	}
	return -1
}
