package ui

import (
	"kdapilot/ui/keys"
	"kdapilot/ui/view/bench"
	"kdapilot/ui/view/overview"
	"kdapilot/ui/view/plan"
	"kdapilot/ui/view/rounds"
	"kdapilot/ui/view/runs"
	"kdapilot/ui/view/setup"
	"kdapilot/ui/view/stalls"
)

// standardTabs are the numbered screens, in the order of their keys.
func standardTabs() []tab {
	return []tab{
		{keys.GoOverview, "1", "overview", keys.Overview, "", overview.New()},
		{keys.GoPlan, "2", "plan", keys.Plan, "plan", plan.New()},
		{keys.GoRounds, "3", "rounds", keys.Rounds, "loop", rounds.New()},
		{keys.GoStalls, "4", "stalls", keys.Stalls, "stalls", stalls.New()},
		{keys.GoBench, "5", "bench", keys.Bench, "bench", bench.New()},
		{keys.GoRuns, "6", "runs", keys.Runs, "runs", runs.New()},
		{keys.GoSetup, "9", "setup", keys.Setup, "setup", setup.New()},
	}
}
