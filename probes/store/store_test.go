package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/journal"
)

var t0 = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)

func TestJournalGoesOnAfterATornLine(t *testing.T) {
	s := New(t.TempDir())
	for _, k := range []string{"a", "b"} {
		if err := s.Append(t.Context(), journal.Record{At: t0, Kind: k}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(s.path(journalName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":3,"at":`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := s.Append(t.Context(), journal.Record{At: t0, Kind: "c"}); err != nil {
		t.Fatal(err)
	}
	c, _, err := s.Journal()
	if err != nil || c.Broken != nil || c.Torn || len(c.Records) != 3 || c.Records[2].Kind != "c" {
		t.Fatalf("%+v %v", c, err)
	}
	if m, _ := filepath.Glob(s.path("journal.torn-*")); len(m) != 1 {
		t.Error("the torn line was thrown away")
	}
}

func TestBrokenJournalTakesNothing(t *testing.T) {
	s := New(t.TempDir())
	for range 3 {
		if err := s.Append(t.Context(), journal.Record{At: t0, Kind: "gate sealed", Text: "yes"}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(s.path(journalName))
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(b), "yes", "YES", 1)
	if err := os.WriteFile(s.path(journalName), []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, _, _ := s.Journal(); c.Broken == nil || c.Broken.Line != 1 {
		t.Errorf("flipped byte: %+v", c.Broken)
	}
	if err := s.Append(t.Context(), journal.Record{At: t0, Kind: "x"}); !errors.Is(err, ErrBroken) {
		t.Errorf("append: %v", err)
	}
}

func TestManyWritersOneChain(t *testing.T) {
	s := New(t.TempDir())
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 5 {
				if err := s.Append(context.Background(), journal.Record{At: t0, Kind: "x"}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if c, _, err := s.Journal(); err != nil || c.Broken != nil || len(c.Records) != 40 {
		t.Fatalf("%d records, %v, %v", len(c.Records), c.Broken, err)
	}
}

func TestSealsAreWrittenOnce(t *testing.T) {
	s := New(t.TempDir())
	plan := []byte("# plan\n")
	f := &gate.Facts{Plan: gate.Bound{Path: "p", SHA256: "bcea07b9b45cd6dc5fa8ac1a42b3ae1a2fee69bab1f0b2dd4fba1a1c5d8a3b1a", Status: fact.OK}}
	seal := gate.NewSeal(gate.G1, f, t0)
	seal.At, seal.Who = t0, "mk@host"
	if err := s.WriteSeal(seal, plan); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteSeal(seal, plan); err == nil {
		t.Error("a seal was written twice")
	}
	if err := os.WriteFile(s.path("seals", "x.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, bad := s.Seals()
	if len(list) != 1 || list[0].ID != seal.ID || len(bad) != 1 {
		t.Errorf("seals %d, bad %v", len(list), bad)
	}
	if _, err := s.ApprovedPlan(seal); err == nil {
		t.Error("a plan with another hash was taken for the approved one")
	}
}

func TestLinksOutOfTheWorktreeAreRefused(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	if err := os.Symlink(out, filepath.Join(root, ".humanize")); err != nil {
		t.Skip(err)
	}
	if err := New(root).Append(t.Context(), journal.Record{At: t0, Kind: "x"}); err == nil || !strings.Contains(err.Error(), "leads out") {
		t.Errorf("got %v", err)
	}
}

func TestTask(t *testing.T) {
	root := t.TempDir()
	s := New(root)
	if tk, err := s.Task(); err != nil || tk.Origin.Status != fact.Missing {
		t.Errorf("missing: %+v %v", tk.Origin, err)
	}
	if err := os.MkdirAll(s.path(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path("task.toml"), []byte("slug = \"a\"\nbad = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if tk, err := s.Task(); err == nil || tk.Origin.Status != fact.Unreadable || !strings.Contains(err.Error(), "task.toml:2:1") {
		t.Errorf("bad: %+v %v", tk.Origin, err)
	}
}
