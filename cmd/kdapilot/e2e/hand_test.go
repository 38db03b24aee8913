package e2e

import (
	"regexp"
	"strings"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

const (
	base   = "rocm-kda-base/fa-demo" // what gate 2 wants typed
	gateUp = "what must hold"        // stands on every open gate
)

var (
	phrase    = regexp.MustCompile(`approve [0-9a-f]{6}`)
	inputLine = regexp.MustCompile(`(?m)> (.*?) *(?:┃.*)?$`)
)

// within reports whether the screen comes to what is asked for in time.
func within(s *screen.Term, d time.Duration, ok func(text string) bool) bool {
	for end := time.Now().Add(d); ; s.Rest(20 * time.Millisecond) {
		if ok(s.Text()) {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// typed is what stands on the input line of an open gate.
func typed(text string) string {
	if all := inputLine.FindAllStringSubmatch(text, -1); all != nil {
		return all[len(all)-1][1]
	}
	return ""
}

// notTaken stands on a gate that cleared what was typed.
const notTaken = "not taken: "

// say types a phrase at an open gate until it stands there. A busy machine hands
// several keys over at once and the gate, rightly, takes that for no hand; a
// person then types again, and so does this. What was typed never goes without
// a word.
func (p *place) say(s *screen.Term, want string) {
	p.t.Helper()
	for range 6 {
		s.Rest(quiet)
		s.Type(want)
		within(s, 5*time.Second, func(text string) bool { return typed(text) == want || strings.Contains(text, notTaken) })
		text := s.Text()
		if typed(text) == want {
			return
		}
		if typed(text) == "" && !strings.Contains(text, notTaken) {
			p.t.Fatalf("what was typed is gone and nothing says why:\n%s", text)
		}
		s.Rest(quiet)
		for range len(typed(s.Text())) {
			s.Keys("\x7f")
			s.Rest(screen.Hand)
		}
	}
	p.t.Fatalf("the gate never took %q:\n%s", want, s.Text())
}

// sayAndEnter types a phrase and confirms it.
func (p *place) sayAndEnter(s *screen.Term, want string) {
	p.t.Helper()
	p.say(s, want)
	s.Rest(screen.Hand)
	s.Keys("\r")
}

// operating is a cockpit on the demo world with the gate keys armed.
func operating(p *place) *screen.Term {
	p.t.Helper()
	s := p.demo()
	s.Wait("the plan waits for review")
	s.Keys("o")
	s.Wait("OPERATE")
	return s
}

// readPlan reads the whole plan, page by page.
func readPlan(s *screen.Term) {
	s.Keys("2")
	s.Wait("[2 plan]", "outline")
	for range 60 {
		text := s.Text()
		if strings.Contains(text, "read all ") {
			return
		}
		s.Keys(" ")
		s.Until("another page", func(now string) bool { return now != text })
	}
	s.Wait("read all ")
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

// approve takes gate 1 as a person does.
func (p *place) approve(s *screen.Term) {
	p.t.Helper()
	readPlan(s)
	p.sayAndEnter(s, openG1(s))
	s.Wait("G1 sealed")
	s.Gone(gateUp)
}

// leave closes an open gate.
func leave(s *screen.Term) {
	s.Keys("\x1b")
	s.Gone(gateUp)
}

// refused waits until the journal has n refusals that say why.
func (p *place) refused(s *screen.Term, n int, why string) {
	p.t.Helper()
	for end := time.Now().Add(screen.Patience); ; s.Rest(20 * time.Millisecond) {
		got := 0
		for l := range strings.SplitSeq(p.journal(), "\n") {
			if strings.Contains(l, `"gate refused"`) && strings.Contains(l, why) {
				got++
			}
		}
		if got >= n {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("%d refusals that say %q, want %d:\n%s\n%s", got, why, n, p.journal(), s.Text())
		}
	}
}
