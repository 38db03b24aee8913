package session

import (
	"testing"
	"time"

	"kdapilot/engine/bench"
)

// TestRowsSoFarNeverReplaceAVerdict: the follower of a log and the reader of the
// closed folder race; whoever comes last, the verdict stays.
func TestRowsSoFarNeverReplaceAVerdict(t *testing.T) {
	judged := &bench.Result{Truth: &bench.Verdict{Outcome: bench.OutcomeDisagree}}
	rows, better := &bench.Result{}, &bench.Result{Truth: &bench.Verdict{Outcome: bench.OutcomePass}}
	s := &Snapshot{}
	for _, step := range []struct {
		name       string
		told, want *bench.Result
	}{
		{"the first rows", rows, rows},
		{"the verdict", judged, judged},
		{"rows told late", &bench.Result{}, judged},
		{"another verdict", better, better},
	} {
		s = Reduce(s, ResultRead{ID: "r", Result: step.told}, time.Unix(0, 0))
		if s.Results["r"] != step.want {
			t.Errorf("after %s: %+v", step.name, s.Results["r"])
		}
	}
}
