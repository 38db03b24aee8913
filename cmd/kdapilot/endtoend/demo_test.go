package endtoend

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
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
	s.Wait("[6 runs]")
	s.Keys("/")
	s.Type("gate")
	s.Keys("\r")
	s.Until("only the gate run listed", func(text string) bool {
		return strings.Contains(text, "full-gate") && !strings.Contains(text, "compare")
	})
	s.Keys("q")
	if code := s.Ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	raw := s.Raw()
	for what, seq := range map[string]string{"alternate screen": "\x1b[?1049l", "cursor": "\x1b[?25h", "bracketed paste": "\x1b[?2004l"} {
		on := strings.NewReplacer("1049l", "1049h", "25h", "25l", "2004l", "2004h").Replace(seq)
		if bytes.LastIndex(raw, []byte(seq)) < bytes.LastIndex(raw, []byte(on)) {
			t.Errorf("%s was not restored", what)
		}
	}
}

var phrase = regexp.MustCompile(`approve [0-9a-f]{6}`)

// readPlan reads the whole plan, page by page.
func readPlan(s *screen.Term) {
	s.Keys("2")
	s.Wait("[2 plan]", "outline")
	for range 40 {
		text := s.Text()
		if strings.Contains(text, "read all 38 sections") {
			return
		}
		s.Keys(" ")
		s.Until("another page", func(now string) bool { return now != text })
	}
	s.Wait("read all 38 sections")
}

// openG1 opens gate 1 and gives the phrase it wants.
func openG1(s *screen.Term) string {
	s.Keys("A")
	s.Wait("gate 1: plan review", "what must hold")
	var want string
	s.Until("the phrase", func(text string) bool {
		want = phrase.FindString(text)
		return want != ""
	})
	return want
}

func TestBothGatesAndALoopAndARun(t *testing.T) {
	t.Parallel()
	p := newPlace(t).world()
	s := p.demo()
	s.Wait("[1 overview]", "the plan waits for review")
	s.Keys("o")
	s.Wait("OPERATE")
	readPlan(s)
	want := openG1(s)
	s.Rest(600 * time.Millisecond)
	s.Type(want)
	s.Wait("> " + want)
	s.Keys("\r")
	s.Wait("G1 sealed")
	if n := len(p.seals()); n != 1 {
		t.Fatalf("%d seals", n)
	}
	s.Keys("S")
	s.Wait("gate 2: loop start", "what must hold") // the name of the base stands in the header too
	s.Rest(600 * time.Millisecond)
	s.Type("rocm-kda-base/fa-demo")
	s.Keys("\r")
	s.Wait("where does the start command go?", "SIMULATED loop of the demo")
	before, err := os.ReadDir(filepath.Join(p.tree, ".humanize", "rlcr"))
	if err != nil {
		t.Fatal(err)
	}
	s.Keys("\r") // the simulated loop is the first route
	s.Until("a loop that runs", func(text string) bool {
		return strings.Contains(text, "round 0/12") || strings.Contains(text, "round 1/12")
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
