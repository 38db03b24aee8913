package ui

import (
	"kdapilot/ui/keys"
	"kdapilot/ui/view/overview"
)

// standardTabs are the numbered screens, in the order of their keys.
func standardTabs() []tab {
	return []tab{
		{keys.GoOverview, "1", "overview", keys.Overview, "", overview.New()},
		{keys.GoPlan, "2", "plan", keys.Plan, "plan", &absent{keys.Plan, "plan"}},
		{keys.GoRounds, "3", "rounds", keys.Rounds, "loop", &absent{keys.Rounds, "rounds"}},
		{keys.GoStalls, "4", "stalls", keys.Stalls, "stalls", &absent{keys.Stalls, "stalls"}},
		{keys.GoBench, "5", "bench", keys.Bench, "bench", &absent{keys.Bench, "bench"}},
		{keys.GoRuns, "6", "runs", keys.Runs, "runs", &absent{keys.Runs, "runs"}},
	}
}
