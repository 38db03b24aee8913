package stalls

import (
	"strings"

	"kdapilot/ui/draw"
)

// failer is what *rapid.T and *testing.T share.
type failer interface{ Fatalf(string, ...any) }

// clean fails when a control byte that is not colour is drawn.
func clean(t failer, lines []string) {
	for _, l := range lines {
		if strings.ContainsFunc(draw.Strip(l), func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
			t.Fatalf("a control byte is drawn: %q", l)
		}
	}
}
