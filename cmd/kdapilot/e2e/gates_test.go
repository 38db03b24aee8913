package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

// From the plan on disk to rounds that move, numbers that arrive and a bench
// screen that knows them: the whole way a person goes.
func TestFromPlanToRoundsAndBench(t *testing.T) {
	t.Parallel()
	p := world(t)
	s := operating(p)
	p.approve(s)
	s.Keys("S")
	s.Wait("gate 2: loop start", gateUp)
	p.sayAndEnter(s, base)
	s.Wait("where does the start command go?", "SIMULATED loop of the demo")
	if n := p.seals(); n != 2 {
		t.Fatalf("%d seals, want 2", n)
	}
	s.Keys("\r")
	for _, round := range []string{"round 0/12", "round 1/12", "round 2/12"} {
		s.Wait(round)
		if text := s.Text(); strings.Contains(text, "without a seal") || strings.Contains(text, "not as sealed") {
			t.Fatalf("the sealed loop is called unsealed:\n%s", text)
		}
	}
	s.Keys("6r")
	s.Wait("run a preset", "smoke")
	s.Keys("\r")
	s.Wait("run smoke", "type run")
	s.Rest(quiet)
	s.Type("run")
	s.Keys("\r")
	s.Until("rows that arrive one by one", func(text string) bool {
		return strings.Contains(text, "rows so far") || strings.Contains(text, "110/110")
	})
	s.Wait("outcome pass", "110/110")
	run := newestRun(p)
	s.Keys("5")
	s.Wait("[5 bench]", run[:13], "SIMULATED")
	quit(t, s)
	if out, code := p.cli("show", "journal", p.tree, "--verify"); code != 0 || !strings.Contains(out, "chain holds") {
		t.Errorf("journal: exit %d\n%s", code, out)
	}
}

// newestRun is the id of the run started last.
func newestRun(p *place) string {
	p.t.Helper()
	all, err := filepath.Glob(p.path(".humanize/kdapilot/runs/2*"))
	if err != nil || len(all) == 0 {
		p.t.Fatalf("runs: %v %v", all, err)
	}
	newest := ""
	for _, r := range all {
		newest = max(newest, filepath.Base(r))
	}
	return newest
}

// Each attack on gate 1 alone, with everything else in order: nothing is sealed,
// and what was tried is in the journal.
func TestGate1RefusesAndSaysSo(t *testing.T) {
	t.Parallel()
	p := world(t)
	s := operating(p)
	readPlan(s)
	want := openG1(s)
	s.Keys(want[:5]) // within the first quiet time: nothing of it counts
	s.Rest(quiet)
	if got := typed(s.Text()); got != "" {
		t.Errorf("keys in flight were taken: %q", got)
	}
	for i, attack := range []struct{ name, bytes, why string }{
		{"bracketed paste", "\x1b[200~" + want + "\x1b[201~\r", "pasted text"},
		{"paste of a part", "\x1b[200~" + want[:7] + "\x1b[201~", "pasted text"},
		{"one burst", want + "\r", "faster than a hand"},
	} {
		s.Rest(quiet)
		s.Keys(attack.bytes)
		n := 1
		if i == 1 {
			n = 2
		}
		p.refused(s, n, attack.why)
		// The person sees it too: the phrase is gone and something has to say why.
		if !within(s, screen.Patience, func(text string) bool { return strings.Contains(text, attack.why) }) {
			t.Errorf("%s: the screen does not say %q:\n%s", attack.name, attack.why, s.Text())
		}
		if got := typed(s.Text()); got != "" {
			t.Errorf("%s left %q", attack.name, got)
		}
	}
	// Half by paste, half by hand is no hand.
	s.Rest(quiet)
	s.Keys("\x1b[200~" + want[:len(want)-1] + "\x1b[201~")
	p.refused(s, 3, "pasted text")
	s.Rest(quiet)
	s.Keys(want[len(want)-1:])
	s.Rest(quiet)
	s.Keys("\r\r\r")
	s.Rest(quiet)
	s.Wait(gateUp)
	if n := p.seals(); n != 0 {
		t.Fatalf("%d seals:\n%s", n, s.Text())
	}
	leave(s)
	// A loop that somebody starts past the gates. The cockpit has been at rest
	// for long: nothing but the loop itself can make it look.
	p.put(".humanize/rlcr/2036-01-01_00-00-00/state.md", stateText(0, "rlcr/fa-demo"))
	s.Keys("1")
	s.Wait("the loop runs without a seal of gate 2")
	quit(t, s)
}

// Whatever ends the cockpit while a complete phrase stands there, nothing is
// approved by it.
func TestNoEndOfTheCockpitApproves(t *testing.T) {
	t.Parallel()
	p := world(t)
	for i, end := range []struct {
		name string
		do   func(s *screen.Term)
	}{
		{"ctrl+c", func(s *screen.Term) { s.Keys("\x03") }},
		{"SIGHUP", func(s *screen.Term) { s.Signal(syscall.SIGHUP) }},
		{"SIGTERM", func(s *screen.Term) { s.Signal(syscall.SIGTERM) }},
	} {
		s := operating(p)
		readPlan(s)
		p.say(s, openG1(s))
		end.do(s)
		s.Ended()
		restored(t, s)
		if n := p.seals(); n != 0 {
			t.Errorf("%s: %d seals", end.name, n)
		}
		if n := strings.Count(p.journal(), `"gate opened"`); n != i+1 {
			t.Errorf("%s: %d openings in the journal, want %d", end.name, n, i+1)
		}
	}
}

// A seal is for the bytes it bound. The plan changes under an open gate 2, and
// behind the back of a sealed loop.
func TestGate2HoldsThePlanAndTheLoopToTheSeal(t *testing.T) {
	t.Parallel()
	p := world(t)
	s := operating(p)
	p.approve(s)

	plan, err := os.ReadFile(p.path(planFile))
	if err != nil {
		t.Fatal(err)
	}
	s.Keys("S")
	s.Wait("gate 2: loop start", gateUp)
	p.say(s, base)
	p.put(planFile, string(plan)+"\nSmuggled in.\n")
	s.Wait("void", "plan")
	s.Keys("\r")
	s.Rest(quiet)
	if n := p.seals(); n != 1 {
		t.Fatalf("%d seals, want that of gate 1 alone:\n%s", n, s.Text())
	}
	leave(s)
	s.Wait("G1 void")
	// Putting the bytes back does not bring the seal back.
	p.put(planFile, string(plan))
	s.Keys("S")
	s.Wait("gate 2: loop start", "shut:")
	leave(s)
	s.Wait("G1 void")

	p.approve(s) // again, by hand
	s.Keys("S")
	s.Wait("gate 2: loop start", gateUp)
	p.sayAndEnter(s, base)
	s.Wait("where does the start command go?")
	s.Keys("\x1b")
	s.Gone("where does the start command go?")

	// Somebody starts another loop than the one that was sealed.
	dir := ".humanize/rlcr/2036-01-01_00-00-00/"
	other := strings.NewReplacer("2026-08-21T08", "2036-01-01T00", "rocm-kda-base/x", "main", "68d36f462617685a434349b6b88f0f61161f91f7", p.git("rev-parse", "main")).Replace(stateText(0, "rlcr/fa-demo"))
	s.Rest(2 * time.Second) // nothing else is being read that would notice it by chance
	p.put(dir+"state.md", other)
	p.put(dir+"plan.md", "# Another plan\n")
	s.Keys("1")
	s.Wait("not as sealed")
	out, _ := p.cli("show", "overview", p.tree)
	for _, word := range []string{"base branch", "base commit", "plan"} {
		if !strings.Contains(out, "not as sealed: "+word) {
			t.Errorf("nothing is said about the %s:\n%s", word, out)
		}
	}
	quit(t, s)
}

// A seal file that no gate wrote counts for nothing.
func TestAForgedSealCountsForNothing(t *testing.T) {
	t.Parallel()
	p := world(t)
	s := operating(p)
	p.approve(s)
	quit(t, s)
	found, err := filepath.Glob(p.path(".humanize/kdapilot/seals/*.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("seals %v %v", found, err)
	}
	// The journal that knows it is gone.
	if err := os.Remove(p.path(".humanize/kdapilot/journal.jsonl")); err != nil {
		t.Fatal(err)
	}
	s = operating(p)
	s.Wait("not in the journal")
	s.Keys("S")
	s.Wait("gate 2: loop start", "shut:")
	leave(s)
	quit(t, s)
}
