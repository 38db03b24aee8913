package draw

import (
	"strconv"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"kdapilot/ui/style"
)

// DiffKind is what a line of a diff is.
type DiffKind int

// Kinds of lines. Same, Added and Removed show as " ", "+" and "-".
const (
	Same DiffKind = iota
	Added
	Removed
	Skip // lines in between that are equal and not shown; Text says where
)

// DiffLine is one line of a diff. Old and New are 1-based line numbers, 0 where
// the line does not exist.
type DiffLine struct {
	Kind     DiffKind
	Old, New int
	Text     string
}

// Diff compares two texts line by line and returns the hunks with context equal
// lines around each; nil when the texts are equal. A missing line break at the
// end is said in a line of its own.
func Diff(before, after string, context int) []DiffLine {
	if before == after {
		return nil
	}
	u, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), max(context, 0))
	if err != nil { // edits from Lines are consistent; keep the reader informed anyway
		return []DiffLine{{Kind: Skip, Text: "no diff: " + err.Error()}}
	}
	var out []DiffLine
	for _, h := range u.Hunks {
		out = append(out, DiffLine{Kind: Skip, Text: "@@ line " + strconv.Itoa(h.FromLine) + " -> " + strconv.Itoa(h.ToLine) + " @@"})
		oldN, newN := h.FromLine, h.ToLine
		for _, l := range h.Lines {
			d := DiffLine{Text: strings.TrimRight(l.Content, "\r\n")}
			switch l.Kind {
			case udiff.Delete:
				d.Kind, d.Old = Removed, oldN
				oldN++
			case udiff.Insert:
				d.Kind, d.New = Added, newN
				newN++
			default:
				d.Old, d.New = oldN, newN
				oldN++
				newN++
			}
			out = append(out, d)
			if !strings.HasSuffix(l.Content, "\n") {
				out = append(out, DiffLine{Kind: Skip, Text: "\\ no line break at the end of the file"})
			}
		}
	}
	return out
}

// ParseDiff reads a unified diff such as git writes. Lines outside hunks (file
// headers) become Skip lines with their text, so nothing of the input is lost.
func ParseDiff(unified string) []DiffLine {
	var out []DiffLine
	oldN, newN, oldLeft, newLeft := 0, 0, 0, 0
	for _, l := range strings.Split(strings.TrimSuffix(unified, "\n"), "\n") {
		l = strings.TrimSuffix(l, "\r")
		d := DiffLine{Kind: Skip, Text: l}
		switch {
		case oldLeft <= 0 && newLeft <= 0:
			if o, on, n, nn, ok := hunkHeader(l); ok {
				oldN, oldLeft, newN, newLeft = o, on, n, nn
			}
		case strings.HasPrefix(l, "+"):
			d = DiffLine{Kind: Added, New: newN, Text: l[1:]}
			newN, newLeft = newN+1, newLeft-1
		case strings.HasPrefix(l, "-"):
			d = DiffLine{Kind: Removed, Old: oldN, Text: l[1:]}
			oldN, oldLeft = oldN+1, oldLeft-1
		case l == "" || l[0] == ' ':
			d = DiffLine{Old: oldN, New: newN, Text: strings.TrimPrefix(l, " ")}
			oldN, oldLeft, newN, newLeft = oldN+1, oldLeft-1, newN+1, newLeft-1
		case l[0] == '\\': // "\ No newline at end of file"
		default: // the hunk is shorter than it said
			oldLeft, newLeft = 0, 0
		}
		out = append(out, d)
	}
	return out
}

// hunkHeader reads "@@ -12,3 +12,4 @@ …".
func hunkHeader(l string) (o, on, n, nn int, ok bool) {
	rest, found := strings.CutPrefix(l, "@@ -")
	if !found {
		return 0, 0, 0, 0, false
	}
	rest, _, found = strings.Cut(rest, " @@")
	before, after, plus := strings.Cut(rest, " +")
	if !found || !plus {
		return 0, 0, 0, 0, false
	}
	o, on, ok1 := span(before)
	n, nn, ok2 := span(after)
	return o, on, n, nn, ok1 && ok2
}

// span reads "12,3" or "12", which means one line.
func span(s string) (from, count int, ok bool) {
	a, b, comma := strings.Cut(s, ",")
	from, err := strconv.Atoi(a)
	if err != nil || from < 0 {
		return 0, 0, false
	}
	if !comma {
		return from, 1, true
	}
	count, err = strconv.Atoi(b)
	return from, count, err == nil && count >= 0
}

// DiffLines draws a diff in lines of exactly w cells: old and new line number,
// sign, text. Long lines continue below, so that nothing is hidden; below 30
// cells there are no line numbers.
func DiffLines(diff []DiffLine, w int, look style.Look) []string {
	if w <= 0 {
		return nil
	}
	digits := 0
	for _, d := range diff {
		digits = max(digits, len(strconv.Itoa(max(d.Old, d.New))))
	}
	out := make([]string, 0, len(diff))
	others := counterparts(diff)
	for i, d := range diff {
		out = d.appendTo(out, others[i], w, digits, look)
	}
	return out
}

// counterparts returns for each line the text it replaces or is replaced by,
// where a run of removed lines is followed by as many added ones; "" elsewhere.
func counterparts(diff []DiffLine) []string {
	out := make([]string, len(diff))
	for i := 0; i < len(diff); {
		removed := i
		for i < len(diff) && diff[i].Kind == Removed {
			i++
		}
		added := i
		for i < len(diff) && diff[i].Kind == Added {
			i++
		}
		if n := added - removed; n > 0 && i-added == n {
			for k := range n {
				out[removed+k], out[added+k] = diff[added+k].Text, diff[removed+k].Text
			}
		}
		if i == removed {
			i++
		}
	}
	return out
}

// emphasize paints what differs from other, and blanks at the end, which would
// not show otherwise.
func emphasize(s, other string, look style.Look) string {
	body := strings.TrimRight(s, " \t")
	tail := s[len(body):]
	if other != "" {
		from, to := differing(body, strings.TrimRight(other, " \t"))
		if shared := len(body) - (to - from); to > from && shared*3 >= len(body) {
			body = body[:from] + look.Changed.Paint(body[from:to]) + body[to:]
		}
	}
	return body + look.Select.Paint(tail)
}

// differing returns the bytes of a between the common start and the common end
// of a and b, widened to whole words.
func differing(a, b string) (from, to int) {
	n := min(len(a), len(b))
	for from < n && a[from] == b[from] {
		from++
	}
	end := 0
	for end < n-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	to = len(a) - end
	if from == to {
		return from, to // only b has more
	}
	for from > 0 && a[from-1] != ' ' {
		from--
	}
	for to < len(a) && a[to] != ' ' {
		to++
	}
	return from, to
}

func (d DiffLine) appendTo(out []string, other string, w, digits int, look style.Look) []string {
	if d.Kind == Skip {
		for _, p := range wrap(d.Text, w, false) {
			out = append(out, look.Hunk.Paint(Strip(p.text))+blanks(w-p.w))
		}
		return out
	}
	sign, ink := " ", look.Text
	switch d.Kind {
	case Added:
		sign, ink = "+", look.Added
	case Removed:
		sign, ink = "-", look.Removed
	}
	text := d.Text
	if d.Kind != Same {
		text = emphasize(text, other, look)
	}
	numbers, below := "", ""
	if w >= 30 && 2*digits+4 < w/2 {
		numbers = PadLeft(number0(d.Old), digits) + " " + PadLeft(number0(d.New), digits) + " "
		below = blanks(len(numbers))
	}
	lead := sign + " "
	if w < 3 {
		lead = ""
	}
	room := w - len(numbers) - len(lead)
	for _, p := range wrap(text, room, true) {
		out = append(out, look.Dim.Paint(numbers)+ink.Paint(lead+p.text)+blanks(room-p.w))
		numbers = below
	}
	return out
}

func number0(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
