package loop

import (
	"slices"
	"testing"
)

func TestCriterionIDs(t *testing.T) {
	for cell, want := range map[string][]string{
		"AC-1":                  {"AC-1"},
		"AC-1, AC-10 and AC-2b": {"AC-1", "AC-10", "AC-2b"},
		"AC-1.1 (part of it)":   {"AC-1.1"},
		"AC3/C-4":               {"AC3", "C-4"},
		"ABC-3, all of them":    nil,
		"":                      nil,
	} {
		if got := CriterionIDs(cell); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}
