package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitCommand(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
		ok   bool
	}{
		{"python3 x.py --causal", []string{"python3", "x.py", "--causal"}, true},
		{`a "b c" 'd "e'`, []string{"a", "b c", `d "e`}, true},
		{`a\ b ""`, []string{"a b", ""}, true},
		{"  ", nil, true},
		{`a "b`, []string{"a", "b"}, false},
		{"a $HOME ; rm", []string{"a", "$HOME", ";", "rm"}, true},
	} {
		got, ok := SplitCommand(c.in)
		if d := cmp.Diff(c.want, got); d != "" || ok != c.ok {
			t.Errorf("%q: ok %v %s", c.in, ok, d)
		}
	}
}
