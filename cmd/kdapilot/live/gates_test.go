package live

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/journal"
	"kdapilot/engine/preflight"
	"kdapilot/engine/session"
)

const planFile = ".humanize/kernel-agent/refined-plan.md"

// A seal that somebody put into the folder counts for nothing: only a gate
// writes the journal record that goes with one.
func TestASealWithoutItsRecordDoesNotCount(t *testing.T) {
	root, _ := tree(t, "1")
	plan := "# Plan\n\n## Goal Description\n\nx\n"
	write(t, filepath.Join(root, planFile), plan)
	s := open(t, Options{Root: root, Mode: session.Live})
	sum := sha256.Sum256([]byte(plan))
	seal := gate.NewSeal(gate.G1, &gate.Facts{Plan: gate.Bound{Path: planFile, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(plan)), Status: fact.OK}}, time.Now())
	seal.At, seal.Who = time.Now(), "somebody"
	if err := s.store.WriteSeal(seal, []byte(plan)); err != nil {
		t.Fatal(err)
	}
	await(t, s, "the forged seal is said", func(s *session.Snapshot) bool {
		return strings.Contains(strings.Join(s.Gates.Bad, "\n"), "not in the journal")
	})
	if g := s.Snapshot().Gates; g.G1 != nil || g.Word(gate.G1) == "sealed" {
		t.Errorf("forged seal counts: %+v", g.G1)
	}
	// The record makes the difference, not the file.
	s.note(t.Context(), journal.Record{Kind: gate.Sealed, Gate: "G1", Seal: seal.ID})
	await(t, s, "the recorded seal", func(s *session.Snapshot) bool { return s.Gates.G1 != nil })
}

func TestPreflightRunsAndReachesTheGate(t *testing.T) {
	root, _ := tree(t, "1")
	t.Setenv("HOME", t.TempDir())
	s := open(t, Options{Root: root, Mode: session.Live})
	await(t, s, "gates", func(s *session.Snapshot) bool { return s.Gates.Facts != nil })
	if p := s.Snapshot().Gates.Facts.Preflight; p.State != gate.NotRun || !p.Due {
		t.Fatalf("before: %+v", p)
	}
	if _, err := s.Do(t.Context(), session.CheckHost{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Do(t.Context(), session.CheckHost{}); err == nil {
		t.Error("two runs of the checks at once")
	}
	await(t, s, "result", func(s *session.Snapshot) bool { return s.Preflight.Stored.Result != nil && !s.Preflight.Running })
	snap := s.Snapshot()
	if row := snap.Preflight.Stored.Result.Row(preflight.GPU); row == nil || row.State == preflight.Green && len(snap.Host.GPUs) == 0 {
		t.Errorf("GPU row %+v", row)
	}
	// A folder that is no git worktree can not pass.
	if p := snap.Gates.Facts.Preflight; p.State != gate.Red || p.Hash == "" {
		t.Errorf("gate 2 would see %+v", p)
	}
	if snap.Count(session.Red) == 0 {
		t.Error("no red notice for checks that hold the gate")
	}
	if _, err := os.Stat(filepath.Join(root, preflight.File)); err != nil {
		t.Error(err)
	}
}
