package session

import (
	"fmt"

	"kdapilot/engine/bench"
	"kdapilot/engine/loop"
)

// Moved lists the must-deliver events between two snapshots: a loop that
// changed phase or round, a run that ended.
func Moved(before, after *Snapshot) []Event {
	var out []Event
	out = append(out, loopMoved(before, after)...)
	return append(out, runsMoved(before, after)...)
}

func loopMoved(before, after *Snapshot) []Event {
	was, is := before.Loops.Current(), after.Loops.Current()
	if is == nil || !before.Loops.Origin.Status.Known() {
		return nil
	}
	if was == nil || was.Name != is.Name {
		return []Event{{Kind: Started, Text: "loop " + is.Name + " appeared: " + words(is)}}
	}
	if was.Phase == is.Phase && was.Round == is.Round || is.Phase == loop.Unknown {
		return nil
	}
	return []Event{{Kind: LoopMoved, Text: "loop: " + words(is)}}
}

func words(l *loop.Loop) string {
	if l.Phase == loop.Ended {
		return "ended, " + string(l.Outcome)
	}
	return fmt.Sprintf("%s, round %s of %s", l.Phase, l.Round, l.Max)
}

func runsMoved(before, after *Snapshot) []Event {
	var out []Event
	for i := range after.Runs {
		r := &after.Runs[i]
		was := before.Run(r.ID)
		if was == nil || was.State.Final() || !r.State.Final() {
			continue
		}
		e := Event{Kind: RunEnded, Text: fmt.Sprintf("run %s %s", r.Manifest.Preset, r.State)}
		if r.Result != nil && r.Result.Exit != nil {
			e.Text += fmt.Sprintf(", exit %d", *r.Result.Exit)
		}
		if res := after.Results[r.ID]; res != nil && res.Truth != nil {
			e.Text += ": " + string(res.Truth.Outcome)
			e.Bad = res.Truth.Outcome != bench.OutcomePass
		}
		if end := after.Ends[r.ID]; end != nil {
			e.Text += ": " + end.Line()
			e.Bad = end.Bad()
		}
		e.Bad = e.Bad || r.Partial
		out = append(out, e)
	}
	return out
}
