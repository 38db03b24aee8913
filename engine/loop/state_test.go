package loop

import (
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
)

const goodState = `---
current_round: 3
max_iterations: 12
codex_model: gpt-5.5
codex_effort: xhigh
codex_timeout: 600
full_review_round: 5
plan_file: plans/fa.md
plan_tracked: true
start_branch: rlcr/fa-fp8
base_branch: 'kda-base/fa'
base_commit: 0123456789abcdef0123456789abcdef01234567
review_started: false
ask_codex_question: true
session_id: abc
privacy_mode: false
mainline_stall_count: 2
last_mainline_verdict: stalled
drift_status: replan_required
started_at: 2026-12-01T04:13:14Z
strict_success: true
---

current_round: 99
`

func TestParseState(t *testing.T) {
	s, status, why := ParseState("state.md", []byte(goodState))
	if status != fact.OK || why != "" {
		t.Fatalf("%v %q", status, why)
	}
	if s.Round != known(3) || s.Max != known(12) || s.CodexTimeout != known(600) || s.StallCount != known(2) ||
		s.BaseBranch != "kda-base/fa" || s.StartBranch != "rlcr/fa-fp8" || !s.PlanTracked || s.ReviewStarted ||
		!s.AskCodexQuestion || s.Privacy || s.SessionID != "abc" || s.LastVerdict != Stalled || s.Drift != "replan_required" ||
		!s.StartedAt.Equal(time.Date(2026, 12, 1, 4, 13, 14, 0, time.UTC)) {
		t.Errorf("%+v", s)
	}
	if len(s.Extra) != 1 || s.Extra[0] != "strict_success" || s.Has("nope") || !s.Has("strict_success") {
		t.Errorf("extra %v", s.Extra)
	}
}

func TestParseStateTrouble(t *testing.T) {
	drop := func(line string) string { return strings.Replace(goodState, line+"\n", "", 1) }
	swap := func(a, b string) string { return strings.Replace(goodState, a, b, 1) }
	for _, c := range []struct {
		name, in string
		status   fact.Status
		why      string
	}{
		{"empty", "", fact.Unreadable, "state.md:1: empty"},
		{"no front matter", "hello\n", fact.Unreadable, "state.md:1: no front matter"},
		{"binary", "\x00\x01\x02---", fact.Unreadable, "state.md:1: no front matter"},
		{"round is a word", swap("current_round: 3", "current_round: abc"), fact.Unreadable, `state.md:2: current_round: "abc" is not a number`},
		{"round negative", swap("current_round: 3", "current_round: -1"), fact.Unreadable, `state.md:2: current_round: "-1" is not a number`},
		{"round too large", swap("current_round: 3", "current_round: 99999999999999999999"), fact.Unreadable, "state.md:2: current_round: 99999999999999999999 is out of range"},
		{"round empty", swap("current_round: 3", "current_round:"), fact.Unreadable, "state.md:2: current_round: empty"},
		{"round missing", drop("current_round: 3"), fact.Unreadable, "no current_round"},
		{"max missing", drop("max_iterations: 12"), fact.Unreadable, "no max_iterations"},
		{"bad flag", swap("review_started: false", "review_started: maybe"), fact.Unreadable, `state.md:13: review_started: "maybe", expected true or false`},
		{"crlf", strings.ReplaceAll(goodState, "\n", "\r\n"), fact.Unreadable, "state.md:1: carriage return"},
		{"cut in a line", goodState[:120], fact.Unreadable, "file ends inside the front matter"},
		{"no closing line", swap("---\n\ncurrent_round: 99\n", ""), fact.Torn, "no closing --- line"},
		{"escape sequences", swap("gpt-5.5", "\x1b[31mgpt\x1b[0m"), fact.OK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, status, why := ParseState("state.md", []byte(c.in))
			if status != c.status || !strings.Contains(why, c.why) {
				t.Errorf("got %v %q, want %v %q", status, why, c.status, c.why)
			}
			if strings.ContainsRune(s.Model, 0x1b) {
				t.Errorf("model %q", s.Model)
			}
			if status == fact.Unreadable && strings.HasPrefix(c.name, "round") && s.Round.Known {
				t.Errorf("round %v is known", s.Round)
			}
		})
	}
}

func TestPrivacyAbsentIsOn(t *testing.T) {
	s, _, _ := ParseState("state.md", []byte("---\ncurrent_round: 0\nmax_iterations: 1\n---\n"))
	if !s.Privacy {
		t.Error("a missing privacy_mode counts as true")
	}
}

func TestParseCommand(t *testing.T) {
	c := ParseCommand([]byte("# Codex invocation debug info\n# Timestamp: 2026-12-01T04:13:27Z\n# Working directory: /w/FlyDSL\n# Timeout: 5400 seconds\n\n# Timestamp: 1999-01-01T00:00:00Z\n"))
	if !c.Started.Equal(time.Date(2026, 12, 1, 4, 13, 27, 0, time.UTC)) || c.Timeout != 90*time.Minute || c.Dir != "/w/FlyDSL" {
		t.Errorf("%+v", c)
	}
	if c := ParseCommand([]byte("# Timestamp: soon\n# Timeout: -3 seconds\n")); !c.Started.IsZero() || c.Timeout != 0 {
		t.Errorf("%+v", c)
	}
}

func TestParseSmallFiles(t *testing.T) {
	if n := ParseBuildFinish([]byte("build_finish_round=2\n")); n != known(2) {
		t.Errorf("build finish %v", n)
	}
	for _, bad := range []string{"", "build_finish_round=", "build_finish_round=x", "build_finish_round=-1", "build_finish_round=9999999999"} {
		if n := ParseBuildFinish([]byte(bad)); n.Known {
			t.Errorf("%q gave %v", bad, n)
		}
	}
	s := ParseSignal([]byte("/w/.humanize/rlcr/x/state.md\n/p/setup.sh"))
	if s.StatePath != "/w/.humanize/rlcr/x/state.md" || s.Script != "/p/setup.sh" {
		t.Errorf("%+v", s)
	}
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(goodState))
	f.Add([]byte("---\ncurrent_round: 0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, status, why := ParseState("state.md", b)
		if (status == fact.OK) != (why == "") {
			t.Errorf("status %v with reason %q", status, why)
		}
		if status.Known() && (!s.Round.Known || !s.Max.Known) {
			t.Errorf("usable without round and max: %+v", s)
		}
		if s.Round.N < 0 || s.Round.N > maxNumber || len(s.Keys) > maxKeys {
			t.Errorf("out of bounds: %+v", s)
		}
		clean(t, s.Model, s.PlanFile, s.StartBranch, why)
	})
}

func FuzzParseCommand(f *testing.F) {
	f.Add([]byte("# Timestamp: 2026-12-01T04:13:27Z\n# Timeout: 5400 seconds\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := ParseCommand(b)
		if c.Timeout < 0 {
			t.Errorf("%+v", c)
		}
		clean(t, c.Dir, ParseSignal(b).StatePath)
		ParseBuildFinish(b)
	})
}

// clean fails on control characters that must not reach a screen.
func clean(t *testing.T, ss ...string) {
	t.Helper()
	for _, s := range ss {
		if strings.ContainsAny(s, "\x1b\x07\r\x00\u009b") {
			t.Errorf("control characters in %q", s)
		}
	}
}
