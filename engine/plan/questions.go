package plan

import (
	"fmt"
	"regexp"
	"strings"

	"kdapilot/engine/text"
)

// What the questions look for. They are word lists, so they only ever ask.
var (
	reNoGo      = regexp.MustCompile(`(?i)\bno-?go\b|\bnegative result\b`)
	reEvidence  = regexp.MustCompile(`(?i)\bevidence|\bbaseline recover|\battempts?\b|\bbound\b|\bprofile|\bbenchmark`)
	reNarrow    = regexp.MustCompile(`(?i)\b(?:at least|only|just|exactly)?\s*(?:one|a single|single) (?:candidate|shape|cell|config(?:uration)?|bucket|run)\b|\bdispatch[- ]only\b`)
	reHard      = regexp.MustCompile(`(?i)(?:[<>]=?|≥|≤|at least|at most|no worse than|within)\s*[0-9][0-9.,e-]*\s*(?:%|x\b)?|\b[0-9][0-9.]*\s*(?:x|%|TFLOPS|us|ms)(?:\s|[.,;)]|$)`)
	reKill      = regexp.MustCompile(`(?i)\bkill criteri|\bstop (?:if|when|after)\b|\bgive up\b|\babandon|\babort|\bafter [0-9]+ rounds\b|\bescalat`)
	reThreshold = regexp.MustCompile(`(?i)\bmax_err|\bmin_cos|\blogits_diff|\btoleranc|\bthreshold|\b[ar]tol\b|\bbit-?identical|\bcosine`)
	reExternal  = regexp.MustCompile(`(?i)\bCI\b|\bnightly\b|\bother (?:machine|host|gpu)|\banother (?:machine|host|gpu)|\bsecond (?:machine|host)|\bmulti-?gpu\b|\bcluster\b|\bmaintainer|\bapproval\b|\bupstream review|\bmerge(?:d)? (?:by|into)\b|\bhardware\b`)
	reProfile   = regexp.MustCompile(`(?i)\bflyprof\b|\bATT\b|\bprofil|\btrace\b|\bISA\b|\bstall|\bbubble`)
	reBar       = regexp.MustCompile(`(?i)\bpromotion\b|\bnoise\b|\bgeomean\b|\brepeatab`)
	reLedger    = regexp.MustCompile(`(?i)\bledger\b|\battempts\.jsonl\b`)
	reReport    = regexp.MustCompile(`(?i)\breport\b`)
	reAll       = regexp.MustCompile(`(?i)\ball (?:ACs|acceptance criteria|criteria)\b|\bevery (?:AC|criterion)\b`)
)

// questions asks what only a person can answer, quoting the lines it is about.
func (c *checker) questions() {
	c.lowerBound()
	c.ask("ask-breadth", "Does this reward one lucky candidate instead of breadth?", c.own(reNarrow), "")
	c.ask("ask-hard", "Which of these numbers are hard, and which a direction?", c.inCriteria(reHard), "No criterion holds a number: what decides that it is met?")
	c.absent("ask-kill", "What ends the attempt early: where is the kill criterion?", reKill)
	c.baseline()
	c.absent("ask-thresholds", "Which correctness thresholds are fixed, and can a round relax them?", reThreshold)
	c.terms()
	c.ask("ask-external", "Can the reviewer, who only sees files, run what this asks for?", c.own(reExternal), "")
	c.absent("ask-profile", "Which profile evidence is asked for, and to answer which question?", reProfile)
	c.absent("ask-bar", "What is the promotion bar: which gain over which noise counts?", reBar)
	c.absent("ask-ledger", "Where are failed candidates written down?", reLedger)
	c.absent("ask-report", "Which form does the result report have?", reReport)
}

// own returns lines of the plan itself that match, at most five.
func (c *checker) own(re *regexp.Regexp) []Hit { return c.lines(re, 0, len(c.doc.lines)) }

func (c *checker) lines(re *regexp.Regexp, from, to int) []Hit {
	var out []Hit
	for i := from; i < to && len(out) < 5; i++ {
		if l := &c.doc.lines[i]; l.plain() && l.level == 0 && re.MatchString(l.text) {
			out = append(out, Hit{Line: i + 1, Text: text.Clip(strings.TrimSpace(l.text), 200)})
		}
	}
	return out
}

func (c *checker) inCriteria(re *regexp.Regexp) []Hit {
	from, to := c.doc.span("Acceptance Criteria")
	return c.lines(re, from, to)
}

// ask puts one question for every line, or the other one when there is none.
func (c *checker) ask(id, title string, hits []Hit, none string) {
	for _, h := range hits {
		c.add(Finding{ID: id, Level: Ask, Title: title, Line: h.Line, Text: h.Text})
	}
	if len(hits) == 0 && none != "" {
		c.add(Finding{ID: id, Level: Ask, Title: none})
	}
}

// absent asks only if nothing in the plan itself speaks of it.
func (c *checker) absent(id, title string, re *regexp.Regexp) {
	if len(c.own(re)) == 0 {
		c.add(Finding{ID: id, Level: Ask, Title: title, Text: "the plan itself does not speak of it"})
	}
}

func (c *checker) lowerBound() {
	var s *Section
	for i := range c.doc.Sections {
		if x := &c.doc.Sections[i]; !x.InDraft && strings.HasPrefix(strings.ToLower(x.Title), "lower bound") {
			s = x
			break
		}
	}
	if s == nil {
		c.add(Finding{ID: "ask-no-go", Level: Ask, Title: "What is the least that satisfies this plan, and may it be a NO-GO?", Text: "no section Lower Bound"})
		return
	}
	hits := c.lines(reNoGo, s.Line, s.Through)
	if len(hits) == 0 {
		c.add(Finding{ID: "ask-no-go", Level: Ask, Title: "May the loop end with an honest NO-GO?", Line: s.Line, Text: "the lower bound does not speak of one"})
		return
	}
	title := "Which evidence must the NO-GO come with?"
	if len(c.lines(reEvidence, s.Line, s.Through)) > 0 {
		title = "Is the evidence that the NO-GO needs named well enough to be checked?"
	}
	c.add(Finding{ID: "ask-no-go", Level: Ask, Title: title, Line: hits[0].Line, Text: hits[0].Text})
	if all := c.own(reAll); len(all) > 0 {
		c.add(Finding{ID: "ask-complete", Level: Ask, Title: "A NO-GO is allowed, yet all criteria are asked for: can the loop ever end with one?", Line: all[0].Line, Text: all[0].Text})
	}
}

func (c *checker) baseline() {
	if c.facts.BaseBranch == "" {
		return
	}
	for i := range c.doc.lines {
		t := c.doc.lines[i].text
		if strings.Contains(t, c.facts.BaseBranch) || len(c.facts.BaseCommit) >= 12 && strings.Contains(t, c.facts.BaseCommit[:12]) {
			return
		}
	}
	c.add(Finding{ID: "ask-baseline", Level: Ask, Title: "Which baseline do the criteria speak of?", Text: "neither plan nor appended draft names " + c.facts.BaseBranch})
}

func (c *checker) terms() {
	have := map[string]bool{}
	for _, t := range c.doc.Contract {
		have[t.Letter] = true
	}
	for _, t := range []struct{ letter, means string }{
		{"K", "the kernel files that may change"}, {"R", "the reference and its thresholds"}, {"W", "the workload that is measured"},
	} {
		if !have[t.letter] {
			c.add(Finding{ID: "ask-contract", Level: Ask, Title: fmt.Sprintf("What is %s, %s?", t.letter, t.means), Text: "no " + t.letter + ": line in plan or draft"})
		}
	}
}
