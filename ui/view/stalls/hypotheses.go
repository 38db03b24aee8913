package stalls

import (
	"fmt"
	"strings"

	"kdapilot/engine/stall"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// hypothesisLines are the ranked opportunities with what speaks for them. They
// are rules of thumb that fired, and say so.
func hypothesisLines(e *view.Env, m *model, w int) []string {
	if m.cand == nil || m.cand.a == nil {
		return nil
	}
	look, a := e.Look, m.cand.a
	var out []string
	say := func(indent int, text string) {
		for _, l := range draw.Wrap(text, max(w-indent, 8)) {
			out = append(out, draw.Fit(strings.Repeat(" ", indent)+l, w))
		}
	}
	say(0, look.Dim.Paint("rules of flyprof that fired ("+string(a.Report.Used)+"); measure before believing"))
	if a.Trust.Weak {
		say(0, look.Bad.Paint("coverage is too weak to act on any of them"))
	}
	if a.Report.Optimal {
		say(0, "by its counters the kernel is near the memory roof")
	}
	if len(a.Report.Recommendations) == 0 {
		say(0, "no rule fired")
	}
	for i := range a.Report.Recommendations {
		r := &a.Report.Recommendations[i]
		say(0, fmt.Sprintf("%d. %s  %s", r.Rank, look.Strong.Paint(r.Rule), confidence(r, look)))
		say(3, "maybe: "+r.Knob)
		say(3, look.Dim.Paint("because "+because(r)))
		for _, line := range against(a, r) {
			say(3, look.Warn.Paint("against: "+line))
		}
	}
	return out
}

func confidence(r *stall.Recommendation, look style.Look) string {
	if r.Confidence == "" {
		return look.Dim.Paint(string(r.BubbleClass) + ", confidence not given")
	}
	return look.Dim.Paint(string(r.BubbleClass) + ", confidence " + r.Confidence)
}

// because is the evidence of a rule in one sentence.
func because(r *stall.Recommendation) string {
	ev := &r.Evidence
	out := ev.Signal
	if ev.Value != nil {
		out += " " + ev.Value.String()
	}
	if ev.Pct > 0 {
		share := fmt.Sprintf("%s has %s %% of stall", r.BubbleClass, pct(ev.Pct))
		if ev.Signal == string(r.BubbleClass) || ev.Signal == string(r.BubbleClass)+".pct" {
			out = share
		} else {
			out += "; " + share
		}
	}
	if ev.Inst != "" {
		out += "; hottest " + ev.Inst
	}
	if ev.Source != "" {
		out += " at " + place(ev.Source)
	}
	for i, x := range ev.WaitsOn {
		if i == 0 {
			out += "; waits for "
		} else {
			out += ", "
		}
		out += x.Inst
	}
	return out
}

// against lists the findings that speak against a rule.
func against(a *stall.Analysis, r *stall.Recommendation) []string {
	var out []string
	for _, f := range a.Findings {
		if f.Kind == "occupancy-rule" && r.Rule == "occupancy_vgpr" || f.Kind == "lgkmcnt-is-scalar" && r.BubbleClass == stall.LGKMCnt {
			out = append(out, f.Text)
		}
	}
	return out
}
