package humanize

import (
	"context"
	"fmt"
	"strconv"

	"kdapilot/engine/loop"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// maxScreenText bounds what one file gives to a screen, in bytes.
const maxScreenText = 512 << 10

// Round reads the texts of round n of a loop. Files that are not there have an
// Origin that says so; the error is for a round the loop does not have, or ctx.
func Round(ctx context.Context, l *loop.Loop, n int) (RoundTexts, error) {
	rec := l.RoundN(n)
	if rec == nil {
		return RoundTexts{}, fmt.Errorf("humanize: loop %s has no round %d", l.Name, n)
	}
	out := RoundTexts{Loop: l.Name, Round: n}
	for _, f := range []struct {
		kind string
		to   *Text
	}{
		{"prompt", &out.Prompt}, {"summary", &out.Summary}, {"contract", &out.Contract},
		{"review-prompt", &out.ReviewPrompt}, {"review-result", &out.ReviewResult},
	} {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		*f.to = head(l.Dir, "round-"+strconv.Itoa(n)+"-"+f.kind+".md")
	}
	// A round may have had both reviews; the code review is the later one.
	for _, a := range []*loop.Attempt{rec.CodeRun, rec.Run} {
		if a != nil && a.Log != "" {
			out.Log = Log(a.Log, maxScreenText)
			break
		}
	}
	return out, ctx.Err()
}

// head reads the start of a file of a loop folder.
func head(dir, name string) Text {
	t := Text{Name: name}
	b, o, err := readfile.All(join(dir, name), maxReview)
	t.Origin = o
	t.Origin.Why = text.Line(o.Why)
	if err != nil {
		return t
	}
	if len(b) > maxScreenText {
		b, t.Cut = b[:maxScreenText], true
	}
	t.Text = text.Clean(string(b))
	return t
}

// Log reads the last limit bytes of a reviewer's log, from the start of a line.
func Log(path string, limit int64) Text {
	b, cut, o, err := readfile.Tail(path, limit)
	t := Text{Name: path, Cut: cut, Origin: o}
	t.Origin.Why = text.Line(o.Why)
	if err != nil {
		return t
	}
	if cut {
		for i, c := range b {
			if c == '\n' {
				b = b[i+1:]
				break
			}
		}
	}
	t.Text = text.Clean(string(b))
	return t
}
