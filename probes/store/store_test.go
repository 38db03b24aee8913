package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/journal"
	"kdapilot/engine/task"
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
	if err != nil || c.Broken != nil || c.Torn || len(c.Records) != 4 || c.Records[2].Kind != "journal mended" || c.Records[3].Kind != "c" {
		t.Fatalf("%+v %v", c, err)
	}
	m, _ := filepath.Glob(s.path("journal.torn-*"))
	if len(m) != 1 {
		t.Fatal("the torn line was thrown away")
	}
	if b, err := os.ReadFile(m[0]); err != nil || string(b) != `{"seq":3,"at":` {
		t.Errorf("kept %q, %v", b, err)
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

func sealed(plan []byte) gate.Seal {
	sum := sha256.Sum256(plan)
	f := &gate.Facts{Plan: gate.Bound{Path: "p", SHA256: hex.EncodeToString(sum[:]), Status: fact.OK}}
	seal := gate.NewSeal(gate.G1, f, t0)
	seal.At, seal.Who = t0, "mk@host"
	return seal
}

func TestSealsAreWrittenOnce(t *testing.T) {
	s := New(t.TempDir())
	plan := []byte("# plan\n")
	seal := sealed(plan)
	if err := s.WriteSeal(seal, []byte("# another\n")); err == nil {
		t.Error("another plan was kept as the approved one")
	}
	if err := s.WriteSeal(seal, plan); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteSeal(seal, plan); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a seal was written twice: %v", err)
	}
	for _, name := range []string{seal.ID + ".json", seal.ID + ".plan.md"} {
		info, err := os.Stat(s.path("seals", name))
		if err != nil || info.Mode().Perm() != 0o444 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if err := os.WriteFile(s.path("seals", "x.json"), []byte("{\n\"version\": x}"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, bad := s.Seals()
	if len(list) != 1 || list[0].ID != seal.ID || len(bad) != 1 || !strings.Contains(bad[0], "x.json:2:") {
		t.Errorf("seals %d, bad %v", len(list), bad)
	}
	if b, err := s.ApprovedPlan(list[0]); err != nil || string(b) != string(plan) {
		t.Errorf("approved plan %q %v", b, err)
	}
	if left, _ := filepath.Glob(s.path("seals", ".*")); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
	if err := os.Chmod(s.path("seals", seal.ID+".plan.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path("seals", seal.ID+".plan.md"), []byte("# other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ApprovedPlan(seal); err == nil {
		t.Error("a plan with another hash was taken for the approved one")
	}
}

// TestNothingIsWrittenThroughLinks plants a link at each place a path goes
// through; nothing may appear behind it.
func TestNothingIsWrittenThroughLinks(t *testing.T) {
	plan := []byte("# plan\n")
	for _, at := range []string{".humanize", Dir, Dir + "/seals", Dir + "/waivers", Dir + "/journal.jsonl", Dir + "/journal.lock"} {
		root, out := t.TempDir(), t.TempDir()
		target := out
		if strings.Contains(filepath.Base(at), "journal") {
			target = filepath.Join(out, "victim")
			if err := os.WriteFile(target, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(root, at)); err != nil {
			t.Skip(err)
		}
		s := New(root)
		refused := 0
		for _, err := range []error{
			s.Append(t.Context(), journal.Record{At: t0, Kind: "x"}),
			s.WriteSeal(sealed(plan), plan),
			s.WriteWaiver(gate.Waiver{Precondition: "plan-draft", Binds: "x", Who: "mk", Why: "y", At: t0}),
			s.WriteTask(task.Task{Slug: "a"}),
		} {
			if errors.Is(err, ErrLink) {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s: no write was refused", at)
		}
		entries, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if info, err := e.Info(); e.Name() != "victim" || err != nil || info.Size() != 0 {
				t.Errorf("%s: %s was written outside", at, e.Name())
			}
		}
	}
}

func TestWaiversRoundTrip(t *testing.T) {
	s := New(t.TempDir())
	w := gate.Waiver{Precondition: "plan-draft", Binds: "abc", Who: "mk@host", Why: "hand-made plan", At: t0}
	if err := s.WriteWaiver(w); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []gate.Waiver{{Precondition: "a", Binds: "b", Who: "c"}, {Precondition: "../x", Binds: "b", Who: "c", Why: "d"}} {
		if s.WriteWaiver(bad) == nil {
			t.Errorf("kept %+v", bad)
		}
	}
	if err := os.WriteFile(s.path("waivers", "y.json"), []byte("{\"who\":1}"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, bad := s.Waivers()
	if len(list) != 1 || list[0] != w || len(bad) != 1 || !strings.Contains(bad[0], "y.json:1:") {
		t.Errorf("%+v %v", list, bad)
	}
}

func TestAppendGivesUpOnAHeldLock(t *testing.T) {
	s := New(t.TempDir())
	at, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	held, err := lock(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Append(ctx, journal.Record{At: t0, Kind: "x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	held.Close()
	if err := s.Append(t.Context(), journal.Record{At: t0, Kind: "x"}); err != nil {
		t.Error(err)
	}
}

func TestPipesDoNotHang(t *testing.T) {
	s := New(t.TempDir())
	if err := os.MkdirAll(s.path(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(s.path(journalName), 0o644); err != nil {
		t.Skip(err)
	}
	if err := s.Append(t.Context(), journal.Record{At: t0, Kind: "x"}); err == nil {
		t.Error("a pipe was taken for the journal")
	}
}

func BenchmarkAppendTo1000(b *testing.B) {
	s := New(b.TempDir())
	for i := 0; b.Loop(); i++ {
		if i%1000 == 0 {
			os.Remove(s.path(journalName))
		}
		if err := s.Append(b.Context(), journal.Record{At: t0, Kind: "gate refused", Text: "pasted text"}); err != nil {
			b.Fatal(err)
		}
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

func TestWriteTask(t *testing.T) {
	s := New(t.TempDir())
	want := task.Task{Slug: "fa", Family: "flashattn", BaseBranch: "rocm-kda-base/fa"}
	if err := s.WriteTask(want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Task()
	if err != nil || got.Slug != "fa" || got.BaseBranch != want.BaseBranch || got.Origin.SHA256 == "" {
		t.Errorf("%+v %v", got, err)
	}
	if err := s.WriteTask(task.Task{Slug: "other"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a person's task.toml was replaced: %v", err)
	}
	if err := s.WriteTask(task.Task{Slug: "NOT OK"}); err == nil {
		t.Error("a task that can not be read back was written")
	}
}
