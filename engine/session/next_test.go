package session

import (
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/loop"
)

func TestNext(t *testing.T) {
	t0 := time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)
	ok := fact.Origin{Status: fact.OK}
	ended := loop.Loop{Name: "2026-08-21_08-12-44", Layout: loop.RLCR, StateFile: "complete-state.md", Phase: loop.Ended, Outcome: "complete", PhaseSince: t0}
	ended.StartedAt = t0.Add(-time.Hour)
	active := loop.Loop{Name: "2026-08-21_09-12-44", Layout: loop.RLCR, StateFile: "state.md", Phase: loop.Implementing}
	base := func() *Snapshot {
		return &Snapshot{Mode: Live, Gates: Gates{Known: true, Facts: &gate.Facts{Preflight: gate.Preflight{State: gate.Green}}},
			Loops: loop.Set{Origin: ok}, Plan: Plan{Origin: fact.Origin{Status: fact.OK, ModTime: t0.Add(time.Hour)}, Draft: ok}}
	}
	g1 := &gate.Seal{ID: "a", Gate: gate.G1}
	for _, tt := range []struct {
		name, want, area string
		edit             func(*Snapshot)
	}{
		{"not read", "", "", func(s *Snapshot) { s.Gates.Known = false }},
		{"copied folder", "", "", func(s *Snapshot) { s.Mode = Offline }},
		{"agent has the ball", "", "", func(s *Snapshot) { s.Loops.Loops = []loop.Loop{active} }},
		{"no draft", "write the draft", "plan", func(s *Snapshot) { s.Plan.Origin.Status, s.Plan.Draft.Status = fact.Missing, fact.Missing }},
		{"no plan", "gen-plan", "plan", func(s *Snapshot) { s.Plan.Origin.Status = fact.Missing }},
		{"plan unread", "waits for review", "plan", func(*Snapshot) {}},
		{"next plan after a loop", "waits for review", "plan", func(s *Snapshot) { s.Loops.Loops = []loop.Loop{ended} }},
		{"plan of the loop that ended", "the loop ended: complete", "bench", func(s *Snapshot) {
			s.Loops.Loops, s.Plan.Origin.ModTime = []loop.Loop{ended}, t0.Add(-2*time.Hour)
		}},
		{"approved", "start the loop", "gate", func(s *Snapshot) { s.Gates.G1 = g1 }},
		{"approved, preflight red", "preflight is red", "setup", func(s *Snapshot) { s.Gates.G1, s.Gates.Facts.Preflight.State = g1, gate.Red }},
		{"changed after approval", "changed after", "plan", func(s *Snapshot) { s.Gates.G1, s.Gates.G1Broken = g1, []gate.Change{{What: "plan"}} }},
		{"sealed start", "give the command", "gate", func(s *Snapshot) { s.Gates.G1, s.Gates.G2 = g1, &gate.Seal{G1: "a", At: t0} }},
		{"sealed start of another plan", "start the loop", "gate", func(s *Snapshot) { s.Gates.G1, s.Gates.G2 = g1, &gate.Seal{G1: "b", At: t0} }},
		{"loop of the seal ended", "the loop ended", "bench", func(s *Snapshot) {
			s.Gates.G1, s.Gates.G2 = g1, &gate.Seal{G1: "a", At: t0.Add(-2 * time.Hour)}
			s.Loops.Loops = []loop.Loop{ended}
		}},
	} {
		s := base()
		tt.edit(s)
		got := s.Next()
		if got.Area != tt.area || !strings.Contains(got.Text, tt.want) || tt.want == "" && got.Text != "" {
			t.Errorf("%s: %+v, want %q on %q", tt.name, got, tt.want, tt.area)
		}
	}
}
