package loop

import (
	"testing"
	"time"

	"kdapilot/engine/fact"
)

// Loops that could not be looked at are not no loops.
func TestKeepHoldsWhatCanNotBeLookedAt(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	prev := Set{Origin: fact.Origin{Status: fact.OK}, Loops: []Loop{{Name: "a", Layout: RLCR}}}
	for status, want := range map[fact.Status]int{fact.Unreadable: 1, fact.OK: 0, fact.Missing: 0} {
		got := Set{Origin: fact.Origin{Status: status, Why: "why"}}.Keep(prev, now)
		if len(got.Loops) != want || got.Origin.Status != status || got.Origin.Why != "why" {
			t.Errorf("%s: %d loops, want %d; origin %+v", status, len(got.Loops), want, got.Origin)
		}
	}
}
