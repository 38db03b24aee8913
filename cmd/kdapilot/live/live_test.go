package live

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const state = `---
current_round: %ROUND%
max_iterations: 12
codex_model: gpt-5.5
codex_effort: xhigh
codex_timeout: 5400
push_every_round: false
plan_file: .humanize/kernel-agent/refined-plan.md
plan_tracked: false
start_branch: rlcr/x
base_branch: rocm-kda-base/x
base_commit: 68d36f462617685a434349b6b88f0f61161f91f7
review_started: false
session_id: s1
started_at: 2026-08-21T08:12:44Z
---
`

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	tmp := path + ".tmp.1"
	if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

func tree(t *testing.T, round string) (root, stateFile string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	root = t.TempDir()
	stateFile = filepath.Join(root, ".humanize", "rlcr", "2026-08-21_08-12-44", "state.md")
	write(t, stateFile, strings.Replace(state, "%ROUND%", round, 1))
	return root, stateFile
}

func open(t *testing.T, opt Options) *Session {
	t.Helper()
	s, err := Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// await waits for the snapshot to fulfil ok; changes are told, never polled.
func await(t *testing.T, s *Session, what string, ok func(*session.Snapshot) bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !ok(s.Snapshot()) {
		select {
		case <-s.Changed():
		case <-s.Events():
		case <-deadline:
			t.Fatalf("never saw: %s", what)
		}
	}
}

func TestTheScreenFollowsTheFiles(t *testing.T) {
	root, file := tree(t, "1")
	s := open(t, Options{Root: root, Mode: session.Offline})
	l := s.Snapshot().Loops.Current()
	if l == nil || l.Round.N != 1 || l.Phase != loop.Implementing {
		t.Fatalf("loop %+v", l)
	}
	write(t, file, strings.Replace(state, "%ROUND%", "2", 1))
	await(t, s, "round 2", func(s *session.Snapshot) bool { return s.Loops.Current().Round.N == 2 })
	write(t, filepath.Join(root, ".humanize", "kernel-agent", "refined-plan.md"), "# Plan\n\n## Goal Description\n\nx\n")
	await(t, s, "the plan", func(s *session.Snapshot) bool { return s.Plan.Origin.Status == fact.OK })
}

func TestLastGoodValueIsKept(t *testing.T) {
	root, file := tree(t, "3")
	s := open(t, Options{Root: root, Mode: session.Offline})
	for name, bad := range map[string]string{"empty": "", "cut": "---\ncurrent_round: 4\nmax_it", "garbage": "\x00\xff\x1b[2J"} {
		write(t, file, bad)
		await(t, s, name+" state said to be mid-write", func(s *session.Snapshot) bool { return s.Loops.Current().Origin.Status != fact.OK })
		if l := s.Snapshot().Loops.Current(); l.Round.N != 3 {
			t.Errorf("%s: round %v", name, l.Round)
		}
		write(t, file, strings.Replace(state, "%ROUND%", "3", 1))
		await(t, s, "good again", func(s *session.Snapshot) bool { return s.Loops.Current().Origin.Status == fact.OK })
	}
}

func TestAFolderThatVanishesIsSaid(t *testing.T) {
	root, _ := tree(t, "1")
	s := open(t, Options{Root: root, Mode: session.Offline})
	if err := os.RemoveAll(filepath.Join(root, ".humanize")); err != nil {
		t.Fatal(err)
	}
	await(t, s, "no loop", func(s *session.Snapshot) bool { return s.Loops.Current() == nil })
}

func TestOfflineTakesNoAction(t *testing.T) {
	root, _ := tree(t, "1")
	s := open(t, Options{Root: root, Mode: session.Offline})
	for _, a := range []session.Action{
		session.StartRun{Preset: "smoke"}, session.CancelRun{}, session.OpenGate{Gate: "G1"}, session.Deliver{}, session.WriteFile{Name: "x"},
	} {
		if _, err := s.Do(t.Context(), a); err == nil {
			t.Errorf("%T was carried out on a copied folder", a)
		}
	}
	if exists(filepath.Join(root, ".humanize", "kdapilot")) {
		t.Error("something was written into a copied folder")
	}
}

func TestGateStaysShutWithoutAPerson(t *testing.T) {
	root, _ := tree(t, "1")
	s := open(t, Options{Root: root, Mode: session.Live}) // no terminal
	if _, err := s.Do(t.Context(), session.OpenGate{Gate: "G2"}); err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("got %v", err)
	}
	c, _, err := s.store.Journal()
	if err != nil || len(c.Records) != 1 || c.Records[0].Kind != "gate refused" {
		t.Errorf("journal %+v %v", c.Records, err)
	}
}

func TestPublisherTellsAtMostTenTimesASecond(t *testing.T) {
	p := newPublisher(&session.Snapshot{}, time.Now)
	told := 0
	stop := time.After(350 * time.Millisecond)
	for open := true; open; {
		select {
		case <-stop:
			open = false
		case <-p.changed:
			told++
		default:
			p.apply(session.WatchRead{})
			time.Sleep(time.Millisecond)
		}
	}
	if told < 2 || told > 5 {
		t.Errorf("told %d times in 350 ms", told)
	}
	time.Sleep(2 * publishEvery)
}
