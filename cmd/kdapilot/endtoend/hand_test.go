package endtoend

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

const (
	quiet    = 600 * time.Millisecond  // longer than a gate wants silence
	base     = "rocm-kda-base/fa-demo" // what gate 2 wants typed
	gateUp   = "what must hold"        // stands on every open gate
	planPath = ".humanize/kernel-agent/refined-plan.md"
)

var (
	phrase = regexp.MustCompile(`approve [0-9a-f]{6}`)
	// sealLine names the seal that an open gate would write; gate 1 wants its
	// first six digits typed.
	sealLine  = regexp.MustCompile(`seal +([0-9a-f]{16})`)
	inputLine = regexp.MustCompile(`(?m)> (.*?) *(?:┃.*)?$`)
)

// typed is what stands on the input line of an open gate, and whether there is
// one.
func typed(text string) (string, bool) {
	all := inputLine.FindAllStringSubmatch(text, -1)
	if all == nil {
		return "", false
	}
	return all[len(all)-1][1], true
}

// say types a text at an open gate until it stands there. A busy machine hands
// several keys over at once, which a gate rightly takes for no hand; a person is
// told so and types again. What was typed never goes without a word.
func say(t *testing.T, s *screen.Term, want string) {
	t.Helper()
	const told = "not taken: "
	for range 5 {
		s.Rest(quiet)
		s.Type(want)
		s.Until("what was typed, or why not", func(text string) bool {
			got, _ := typed(text)
			return got == want || strings.Contains(text, told)
		})
		text := s.Text()
		got, _ := typed(text)
		if got == want {
			return
		}
		for range got {
			s.Keys("\x7f")
			s.Rest(screen.Hand)
		}
	}
	t.Fatalf("the gate never took %q:\n%s", want, s.Text())
}

// sayAndEnter types a text and confirms it, at a hand's pace.
func sayAndEnter(t *testing.T, s *screen.Term, want string) {
	t.Helper()
	say(t, s, want)
	s.Rest(screen.Hand)
	s.Keys("\r")
}

// leave closes an open gate.
func leave(s *screen.Term) {
	s.Keys("\x1b")
	s.Gone(gateUp)
}

// readPlan reads the whole plan, page by page; how many sections there are
// stands on the screen.
func readPlan(t *testing.T, s *screen.Term) {
	t.Helper()
	s.Keys("2")
	s.Wait("[2 plan]", "outline")
	for range 60 {
		text := s.Text()
		if strings.Contains(text, "read all ") {
			break
		}
		s.Keys(" ")
		s.Until("another page", func(now string) bool { return now != text })
	}
	m := regexp.MustCompile(`read all (\d+) sections`).FindStringSubmatch(s.Text())
	if m == nil || m[1] == "0" {
		t.Fatalf("the plan is not read:\n%s", s.Text())
	}
}

// openG1 opens gate 1 and gives the phrase it wants.
func openG1(s *screen.Term) (want string) {
	s.Keys("A")
	s.Wait("gate 1: plan review", gateUp)
	s.Until("the phrase", func(text string) bool {
		want = phrase.FindString(text)
		return want != ""
	})
	return want
}

// operating is a cockpit on the demo world with the gate keys armed.
func (p *place) operating(extra ...string) *screen.Term {
	p.t.Helper()
	s := p.demo(extra...)
	s.Wait("the plan waits for review")
	s.Keys("o")
	s.Wait("OPERATE")
	return s
}

// sealed is a world whose plan was approved by a hand, with gate 2 about to be
// opened.
func sealed(t *testing.T) (*place, *screen.Term) {
	t.Helper()
	p := newPlace(t).world()
	s := p.operating()
	readPlan(t, s)
	sayAndEnter(t, s, openG1(s))
	s.Wait("G1 sealed")
	s.Gone(gateUp)
	return p, s
}
