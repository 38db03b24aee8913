package endtoend

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestDemoShowsEveryScreenAndLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	p := newPlace(t).world()
	s := p.demo()
	s.Wait("[1 overview]", "the plan waits for review")
	for _, tab := range [][2]string{{"2", "refined-plan.md"}, {"3", "claimed and verified"}, {"4", "classes: share of stall"}, {"5", "regimes"}, {"6", "full-gate"}, {"9", "gate 2 takes it"}, {"1", "attention"}} {
		s.Keys(tab[0])
		s.Wait("["+tab[0]+" ", tab[1], "SIMULATED")
	}
	s.Keys("?")
	s.Wait("keys: overview", "Quit; runs go on")
	s.Keys("q") // closes the help, not the program
	s.Gone("keys: overview")
	s.Keys(":")
	s.Wait("palette")
	s.Type("runs")
	s.Wait("> Runs")
	s.Keys("\r")
	s.Wait("[6 runs]", "full-gate", "sweep", "compare")
	s.Keys("/")
	s.Type("gate")
	s.Keys("\r")
	// Only that run is listed, and it is the one that is shown beside the list.
	selected := regexp.MustCompile(`run +\d{8}-\d{6}-full-gate`)
	s.Until("only the gate run, and that one selected", func(text string) bool {
		return selected.MatchString(text) && strings.Contains(text, "1 run ") && !strings.Contains(text, "compare") && !strings.Contains(text, "sweep")
	})
	s.Keys("\x1b") // the filter goes first, the program stays
	s.Wait("compare", "sweep")
	s.Keys("q")
	if code := s.Ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	restored(t, s)
}

func TestBothGatesAndALoopAndARun(t *testing.T) {
	t.Parallel()
	p := newPlace(t).world()
	s := p.operating()
	readPlan(t, s)
	if n := len(p.seals()); n != 0 {
		t.Fatalf("%d seals before anything was approved", n)
	}
	sayAndEnter(t, s, openG1(s))
	s.Wait("G1 sealed")
	if n := len(p.seals()); n != 1 {
		t.Fatalf("%d seals", n)
	}
	p.run("show", "journal", p.tree, "--verify")
	s.Keys("S")
	s.Wait("gate 2: loop start", gateUp) // the name of the base stands in the header too
	sayAndEnter(t, s, base)
	s.Wait("where does the start command go?", "SIMULATED loop of the demo")
	if n := len(p.seals()); n != 2 {
		t.Fatalf("%d seals after gate 2", n)
	}
	before, err := os.ReadDir(filepath.Join(p.tree, ".humanize", "rlcr"))
	if err != nil {
		t.Fatal(err)
	}
	s.Keys("\r") // the simulated loop is the first route
	s.Until("a loop that runs", func(text string) bool {
		lines := strings.SplitN(text, "\n", 3) // the phase and the round stand on the second line
		return len(lines) > 1 && strings.Contains(lines[1], "implementing") && strings.Contains(lines[1], "/12")
	})
	after, err := os.ReadDir(filepath.Join(p.tree, ".humanize", "rlcr"))
	if err != nil || len(after) != len(before)+1 {
		t.Errorf("loops %d, were %d: %v", len(after), len(before), err)
	}
	if text := s.Text(); strings.Contains(text, "without a seal") {
		t.Errorf("the sealed loop counts as unsealed:\n%s", text)
	}
	s.Keys("6")
	s.Wait("[6 runs]")
	s.Keys("r")
	s.Wait("run a preset", "smoke")
	s.Keys("\r")
	s.Wait("run smoke", "type run")
	s.Rest(600 * time.Millisecond)
	s.Type("run")
	s.Keys("\r")
	s.Wait("[6 runs]", "rows so far")
	s.Until("the run's verdict", func(text string) bool {
		return strings.Contains(text, "outcome pass") && strings.Contains(text, "110/110")
	})
	s.Keys("q")
	s.Ended()
	if out := p.run("show", "journal", p.tree, "--verify"); !strings.Contains(out, "chain holds") || strings.Count(out, "gate sealed") != 2 {
		t.Errorf("journal:\n%s", out)
	}
}
