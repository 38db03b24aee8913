package demo

import (
	"slices"
	"strings"
	"testing"
)

// FuzzStartCommand holds that no start command makes the parser panic, and that
// what it accepts went through whole.
func FuzzStartCommand(f *testing.F) {
	f.Add(startName + " plan.md --max 12 --base-branch b")
	f.Add(startName + ` "a b" '' --codex-model m:`)
	f.Fuzz(func(t *testing.T, text string) {
		args, err := splitStart(text)
		if err != nil {
			return
		}
		if slices.ContainsFunc(args, func(a string) bool { return strings.ContainsAny(a, "\n\r") }) {
			t.Errorf("%q gives a word with a line end: %q", text, args)
		}
		if _, err := parseStart(args); err != nil && err.Error() == "" {
			t.Errorf("%q is refused without a word", text)
		}
	})
}

func FuzzKnobs(f *testing.F) {
	f.Add([]byte("KV_PREFETCH_DEPTH = 2\nO_STORE_GROUP = 99999999999999999999\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		k := parseKnobs(src)
		if k.prefetch < 1 || k.prefetch > 4 || k.storeGroup < 1 || k.storeGroup > 4 {
			t.Errorf("%q gives %+v", src, k)
		}
	})
}
