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

// A loop folder that can not be looked into any more keeps what was known.
func TestKeepHoldsALoopOutOfReach(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	old := Loop{Name: "a", Layout: RLCR, StateFile: stateActive, Origin: fact.Origin{Status: fact.OK}}
	old.State.BaseBranch = "base"
	out := Loop{Name: "a", Layout: RLCR, Origin: fact.Origin{Status: fact.Unreadable, Why: "denied"}}
	got := Set{Loops: []Loop{out}}.Keep(Set{Loops: []Loop{old}}, now).Loops[0]
	if got.BaseBranch != "base" || got.Origin.Status != fact.Torn || got.Origin.Why != "denied" || !got.Active() {
		t.Errorf("base %q, origin %+v, active %t", got.BaseBranch, got.Origin, got.Active())
	}
	out.Origin.Status = fact.Missing // the folder is empty now: that is a fact
	if got := (Set{Loops: []Loop{out}}).Keep(Set{Loops: []Loop{old}}, now).Loops[0]; got.BaseBranch != "" {
		t.Errorf("a loop without a state file kept %q", got.BaseBranch)
	}
}
