package loop

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/text"
)

// Limits of what a state file may carry into a snapshot.
const (
	maxKeys  = 64
	maxValue = 1024 // bytes of one value
	// maxNumber keeps counters in a range where arithmetic on them is safe.
	maxNumber = 1_000_000
)

// ParseState reads the front matter of a state file as Humanize does: line by
// line, one `key: value` each, between two lines that are exactly `---`; text
// after the closing line is ignored.
//
// The status is OK; Torn when the closing line is missing but every key that
// Humanize needs stood there (usable, and the last good state is better); or
// Unreadable when the caller should keep the last good state. why names file
// and line, name being the file's name. What could be read is returned in
// every case.
func ParseState(name string, b []byte) (s State, status fact.Status, why string) {
	s.Privacy = true // absent counts as true
	s.LastVerdict = UnknownVerdict
	if len(b) == 0 {
		return s, fact.Unreadable, name + ":1: empty file, expected front matter between two --- lines"
	}
	p := stateParser{s: &s, name: name}
	closed, line := p.lines(b)
	switch {
	case p.problem != "":
		return s, fact.Unreadable, p.problem
	case !s.Round.Known:
		return s, fact.Unreadable, fmt.Sprintf("%s:%d: no current_round, expected a number", name, line)
	case !s.Max.Known:
		return s, fact.Unreadable, fmt.Sprintf("%s:%d: no max_iterations, expected a number", name, line)
	case closed:
		return s, fact.OK, ""
	case b[len(b)-1] == '\n' && s.Has("base_branch") && s.Has("review_started"):
		return s, fact.Torn, fmt.Sprintf("%s:%d: no closing --- line", name, line)
	default:
		return s, fact.Unreadable, fmt.Sprintf("%s:%d: file ends inside the front matter, expected a closing --- line", name, line)
	}
}

type stateParser struct {
	s       *State
	name    string
	problem string // the first one
}

// lines walks the front matter and returns whether it was closed and the last
// line number seen.
func (p *stateParser) lines(b []byte) (closed bool, n int) {
	open := false
	for len(b) > 0 {
		var l []byte
		l, b, _ = bytes.Cut(b, []byte{'\n'})
		n++
		if crlf := bytes.HasSuffix(l, []byte{'\r'}); crlf {
			l = l[:len(l)-1]
			p.fail(n, "carriage return at the end of the line: Humanize sees no front matter in this file")
		}
		if bytes.Equal(l, []byte("---")) {
			if open {
				return true, n
			}
			open = true
			continue
		}
		if !open {
			continue
		}
		key, val, ok := bytes.Cut(l, []byte{':'})
		if !ok || len(p.s.Keys) >= maxKeys {
			continue
		}
		p.set(n, text.Clip(text.Line(string(key)), 64), value(string(val)))
	}
	if !open {
		p.fail(1, "no front matter, expected a --- line")
	}
	return false, n
}

// value trims, cleans and unquotes; old releases and forks quote.
func value(s string) string {
	s = text.Line(text.Clip(s, maxValue))
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		s = text.Line(s[1 : n-1])
	}
	return s
}

func (p *stateParser) fail(line int, format string, args ...any) {
	if p.problem == "" {
		p.problem = fmt.Sprintf("%s:%d: ", p.name, line) + fmt.Sprintf(format, args...)
	}
}

func (p *stateParser) number(line int, key, v string) Int {
	n, err := strconv.ParseUint(v, 10, 64)
	switch {
	case v == "":
		p.fail(line, "%s: empty, expected a number", key)
	case err != nil && strings.Trim(v, "0123456789") == "", err == nil && n > maxNumber:
		p.fail(line, "%s: %s is out of range, expected 0 to %d", key, text.Clip(v, 40), maxNumber)
	case err != nil:
		p.fail(line, "%s: %q is not a number", key, text.Clip(v, 40))
	default:
		return known(int(n))
	}
	return Int{}
}

func (p *stateParser) set(line int, key, v string) {
	s := p.s
	if key == "" || s.Has(key) {
		return // Humanize's grep would join duplicates; the first one is the hook's own
	}
	s.Keys = append(s.Keys, key)
	switch key {
	case "current_round":
		s.Round = p.number(line, key, v)
	case "max_iterations":
		s.Max = p.number(line, key, v)
	case "full_review_round":
		s.FullReviewRound = p.number(line, key, v)
	case "codex_timeout":
		s.CodexTimeout = p.number(line, key, v)
	case "mainline_stall_count":
		s.StallCount = p.number(line, key, v)
	case "review_started":
		s.ReviewStarted = p.boolean(line, key, v)
	case "push_every_round":
		s.PushEveryRound = v == "true"
	case "plan_tracked":
		s.PlanTracked = p.boolean(line, key, v)
	case "ask_codex_question":
		s.AskCodexQuestion = v == "true"
	case "agent_teams":
		s.AgentTeams = v == "true"
	case "privacy_mode":
		s.Privacy = v != "false"
	case "bitlesson_required":
		s.BitlessonNeeded = v == "true"
	case "bitlesson_allow_empty_none":
		s.BitlessonEmptyOK = v == "true"
	default:
		p.setText(key, v)
	}
}

func (p *stateParser) boolean(line int, key, v string) bool {
	if v != "true" && v != "false" {
		p.fail(line, "%s: %q, expected true or false", key, text.Clip(v, 40))
	}
	return v == "true"
}

func (p *stateParser) setText(key, v string) {
	s := p.s
	switch key {
	case "codex_model":
		s.Model = v
	case "codex_effort":
		s.Effort = v
	case "plan_file":
		s.PlanFile = v
	case "start_branch":
		s.StartBranch = v
	case "base_branch":
		s.BaseBranch = v
	case "base_commit":
		s.BaseCommit = v
	case "session_id":
		s.SessionID = Word(strings.ReplaceAll(v, " ", ""))
	case "bitlesson_file":
		s.BitlessonFile = v
	case "last_mainline_verdict":
		s.LastVerdict = verdictWord(v)
	case "drift_status":
		s.Drift = v
	case "started_at":
		s.StartedAt, _ = time.Parse(time.RFC3339, v)
	default:
		s.Extra = append(s.Extra, key)
	}
}

func verdictWord(s string) Verdict {
	switch v := Verdict(strings.ToLower(s)); v {
	case Advanced, Stalled, Regressed:
		return v
	}
	return UnknownVerdict
}

// ParseBuildFinish reads .review-phase-started: `build_finish_round=N`.
func ParseBuildFinish(b []byte) Int {
	for l := range strings.Lines(string(b[:min(len(b), 4096)])) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(l), "build_finish_round="); ok {
			if n, err := strconv.Atoi(v); err == nil && n >= 0 && n <= maxNumber {
				return known(n)
			}
		}
	}
	return Int{}
}

// ParseSignal reads .pending-session-id: the state file's path on line 1, the
// setup script's on line 2.
func ParseSignal(b []byte) Signal {
	l1, rest, _ := strings.Cut(string(b[:min(len(b), 16<<10)]), "\n")
	l2, _, _ := strings.Cut(rest, "\n")
	return Signal{Pending: true, StatePath: text.Clip(text.Line(l1), 4096), Script: text.Clip(text.Line(l2), 4096)}
}

// Command is what the header of a .cmd file says about a reviewer's start.
type Command struct {
	Started time.Time     `json:"started,omitzero"`     // zero when the file does not say
	Timeout time.Duration `json:"timeout_ns,omitempty"` // zero when the file does not say
	Dir     string        `json:"dir,omitempty"`        // working directory
}

// ParseCommand reads the comment lines at the top of a .cmd file and stops at
// the first line that is none.
func ParseCommand(b []byte) Command {
	var c Command
	for l := range strings.Lines(string(b[:min(len(b), 8<<10)])) {
		body, ok := strings.CutPrefix(l, "#")
		if !ok {
			break
		}
		key, v, _ := strings.Cut(body, ":")
		v = text.Line(v)
		switch strings.TrimSpace(key) {
		case "Timestamp":
			c.Started, _ = time.Parse(time.RFC3339, v)
		case "Working directory":
			c.Dir = text.Clip(v, 4096)
		case "Timeout":
			n, err := strconv.Atoi(strings.TrimSuffix(v, " seconds"))
			if err == nil && n >= 0 && n <= maxNumber {
				c.Timeout = time.Duration(n) * time.Second
			}
		}
	}
	return c
}
