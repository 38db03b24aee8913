package loop

import "testing"

func TestARoundPassedOverIsNotOpen(t *testing.T) {
	for _, tt := range []struct {
		phase Phase
		want  string
	}{
		{Implementing, "-."}, {Parked, "-."}, {Unknown, "-."},
		{Finalizing, "--"}, {Analyzing, "--"}, {Ended, "--"},
	} {
		l := Loop{Phase: tt.phase, Rounds: []Round{{N: 0}, {N: 1}}}
		got := ""
		for _, m := range l.Strip() {
			got += m.Letter
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.phase, got, tt.want)
		}
	}
}
