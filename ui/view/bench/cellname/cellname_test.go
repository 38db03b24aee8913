package cellname

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestShort(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want []string
		all  string
	}{
		{[]string{"B1_S512_bf16_causal", "B1_S2048_bf16_causal"}, []string{"S512", "S2048"}, "B1_bf16_causal"},
		{[]string{"B1_S512"}, []string{"B1_S512"}, ""},
		{[]string{"a_b", "a_b_c"}, []string{"a_b", "a_b_c"}, ""},
		{[]string{"x", "y"}, []string{"x", "y"}, ""},
	} {
		s := New(len(c.keys), func(i int) (string, string) { return "", c.keys[i] })
		for i, k := range c.keys {
			if got := s.Short("", k); got != c.want[i] {
				t.Errorf("%s of %v is %q, want %q", k, c.keys, got, c.want[i])
			}
		}
		if got := s.Common("", c.keys[0]); got != c.all {
			t.Errorf("%v have %q in common, want %q", c.keys, got, c.all)
		}
	}
}

func TestSectionsApart(t *testing.T) {
	keys := [][2]string{{"", "B1_S1"}, {"", "B1_S2"}, {"varlen", "a_1_2"}, {"varlen", "a_1_3"}}
	s := New(len(keys), func(i int) (string, string) { return keys[i][0], keys[i][1] })
	if got := s.Short("varlen", "a_1_3"); got != "varlen 3" {
		t.Errorf("got %q", got)
	}
}

func TestDifferentKeysStayDifferent(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "c"})
		keys := rapid.SliceOfNDistinct(rapid.Custom(func(r *rapid.T) string {
			return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(r, "parts"), "_")
		}), 1, 12, rapid.ID[string]).Draw(r, "keys")
		s := New(len(keys), func(i int) (string, string) { return "", keys[i] })
		seen := map[string]string{}
		for _, k := range keys {
			short := s.Short("", k)
			if other, ok := seen[short]; ok {
				t.Fatalf("%s and %s are both %q", k, other, short)
			}
			seen[short] = k
		}
	})
}
