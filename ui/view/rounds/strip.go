package rounds

import (
	"fmt"
	"strings"

	"kdapilot/engine/loop"
	"kdapilot/ui/style"
)

// letters are the words behind the strip's letters, as loop.Mark has them.
var letters = []struct{ letter, word string }{
	{"A", "advanced"}, {"S", "stalled"}, {"R", "regressed"}, {"?", "no usable verdict"}, {"C", "complete"},
	{"X", "stopped by the reviewer"}, {"F", "code findings"}, {"P", "code clean"}, {".", "open"},
	{"-", "not reviewed"}, {"!", "could not run"},
}

// strip are the letters of the newest rounds that fit w cells, oldest first, in
// groups of five so that rounds can be counted.
func strip(l *loop.Loop, w int, look style.Look) string {
	all := l.Strip()
	if len(all) == 0 {
		return "-"
	}
	from := firstThatFits(all, w)
	var b strings.Builder
	if from > 0 && w > 1 {
		b.WriteString(look.Dim.Paint(style.Cut))
	}
	for i, m := range all[from:] {
		if i > 0 && m.Round%5 == 0 {
			b.WriteByte(' ')
		}
		b.WriteString(letterPaint(m.Letter, look).Paint(m.Letter))
	}
	return b.String()
}

// firstThatFits is the oldest mark from which on all fit w cells, with one cell
// for the sign that there are older ones.
func firstThatFits(all []loop.Mark, w int) int {
	used := 0
	for i := len(all) - 1; i >= 0; i-- {
		need := 1
		if i+1 < len(all) && all[i+1].Round%5 == 0 {
			need = 2 // the blank between two groups
		}
		if used += need; used+min(i, 1) > w {
			return min(i+1, len(all)-1)
		}
	}
	return 0
}

func letterPaint(letter string, look style.Look) style.Token {
	switch letter {
	case "A", "C", "P":
		return look.Good
	case "R", "X", "!":
		return look.Bad
	case ".":
		return look.Accent
	default:
		return look.Warn
	}
}

// legend explains the letters that are in the strip.
func legend(l *loop.Loop) string {
	var seen strings.Builder
	for _, m := range l.Strip() {
		seen.WriteString(m.Letter)
	}
	var out []string
	for _, x := range letters {
		if strings.Contains(seen.String(), x.letter) {
			out = append(out, x.letter+" "+x.word)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "oldest first: " + strings.Join(out, ", ")
}

// stallWord is how near the loop is to being ended for lack of progress: the
// third round in a row without it does. A drift that is not normal asks for a
// new plan.
func stallWord(l *loop.Loop, look style.Look) string {
	var parts []string
	if l.StallCount.Known {
		word := fmt.Sprintf("stall %d of 3", l.StallCount.N)
		if l.StallCount.N > 0 {
			word = look.Warn.Paint(word)
		}
		parts = append(parts, word)
	}
	if l.Drift != "" && l.Drift != "normal" {
		parts = append(parts, look.Bad.Paint("drift: "+strings.ReplaceAll(l.Drift, "_", " ")))
	}
	return strings.Join(parts, ", ")
}
