package gate

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Times of the state machine.
const (
	// Quiet is how long input must be silent before an open gate takes keys, so
	// that keys in flight from the screen below can not begin the phrase.
	Quiet = 425 * time.Millisecond
	// BurstKeys printable keys within BurstSpan are no hand: a fast typist needs
	// some 60 ms a key, and two keys rolled over each other come within a few
	// milliseconds, four do not.
	BurstKeys = 4
	BurstSpan = 40 * time.Millisecond
	// PresentFor is how recently a tmux client must have sent a key.
	PresentFor = 10 * time.Second
)

// Phase is where an open gate stands.
type Phase string

// The phases of an open gate.
const (
	// Settling: waiting for quiet input.
	Settling Phase = "settling"
	// Shut: preconditions keep it closed; nothing can be typed.
	Shut Phase = "shut"
	// Armed: the phrase can be typed.
	Armed Phase = "armed"
	// Voided: a bound byte changed while the gate was open.
	Voided Phase = "voided"
	// Done: sealed, or left.
	Done Phase = "done"
)

// Refusal is an attempt that was turned down, for the journal.
type Refusal struct {
	At   time.Time
	Gate ID
	Why  string
}

// Session is one opening of a gate: a state machine over keys, pastes, time and
// facts. It belongs to one goroutine.
type Session struct {
	Gate ID
	// Would is the seal that the phrase leads to; it was fixed when the gate was
	// opened and carries the hash of what is shown.
	Would Seal
	// Pre are the preconditions as shown.
	Pre []Precondition
	// Changed are the bound values that moved while the gate was open.
	Changed []Change

	phase    Phase
	typed    string
	lastKey  time.Time
	recent   []time.Time
	refusals []Refusal
}

// OpenSession opens a gate on facts.
func OpenSession(g ID, f *Facts, now time.Time) *Session {
	s := &Session{Gate: g, Would: NewSeal(g, f, now), Pre: Check(g, f), lastKey: now, phase: Settling}
	if ok, _ := Open(s.Pre); !ok {
		s.phase = Shut
	}
	return s
}

// Phase is where the gate stands.
func (s *Session) Phase() Phase { return s.phase }

// Typed is what has been typed so far.
func (s *Session) Typed() string { return s.typed }

// Counts reports whether a key pressed at now would be taken.
func (s *Session) Counts(now time.Time) bool {
	return s.phase == Armed || s.phase == Settling && now.Sub(s.lastKey) >= Quiet
}

// Matches reports whether the phrase is complete.
func (s *Session) Matches() bool { return s.phase == Armed && s.typed == s.Would.Phrase() }

// TakeRefusals returns the refusals since the last call, for the journal.
func (s *Session) TakeRefusals() []Refusal {
	r := s.refusals
	s.refusals = nil
	return r
}

func (s *Session) refuse(now time.Time, why string) {
	s.typed, s.recent = "", nil
	s.refusals = append(s.refusals, Refusal{At: now, Gate: s.Gate, Why: why})
}

// Paste refuses pasted text, whatever it is.
func (s *Session) Paste(now time.Time) {
	s.lastKey = now
	if s.phase == Done {
		return
	}
	s.refuse(now, "pasted text")
	if s.phase == Armed {
		s.phase = Settling
	}
}

// Key takes the printable text of one key press. Text of more than one
// character is a paste in disguise.
func (s *Session) Key(text string, now time.Time) {
	quiet := now.Sub(s.lastKey) >= Quiet
	s.lastKey = now
	if s.phase == Settling {
		if !quiet {
			return
		}
		s.phase = Armed
	}
	if s.phase != Armed {
		return
	}
	if len([]rune(text)) != 1 {
		s.refuse(now, "several characters in one key press")
		s.phase = Settling
		return
	}
	s.recent = append(s.recent, now)
	if n := len(s.recent); n >= BurstKeys {
		if now.Sub(s.recent[n-BurstKeys]) < BurstSpan {
			s.refuse(now, fmt.Sprintf("%d keys within %s: faster than a hand", BurstKeys, BurstSpan))
			s.phase = Settling
			return
		}
		s.recent = s.recent[n-BurstKeys+1:]
	}
	if len(s.typed) < 256 {
		s.typed += text
	}
}

// Backspace takes the last character back.
func (s *Session) Backspace(now time.Time) {
	s.lastKey = now
	if r := []rune(s.typed); s.phase == Armed && len(r) > 0 {
		s.typed = string(r[:len(r)-1])
	}
}

// Other notes a key that is no text: it counts as input for the quiet time and
// does nothing else.
func (s *Session) Other(now time.Time) { s.lastKey = now }

// See compares new facts with what the gate was opened on. A bound byte that
// moved voids the opening for good; preconditions that moved are shown anew.
func (s *Session) See(f *Facts) {
	if s.phase == Voided || s.phase == Done {
		return
	}
	changes := s.Would.Changes(f)
	was := dirtyList(s.Pre)
	s.Pre = Check(s.Gate, f)
	if s.Gate == G2 && was != "" && dirtyList(s.Pre) != was {
		changes = append(changes, Change{What: "dirty file", Was: was, Is: dirtyList(s.Pre)})
	}
	if len(changes) > 0 {
		s.Changed = changes
		s.phase = Voided
		s.refuse(f.Now, "void while open: "+changes[0].String())
		return
	}
	ok, _ := Open(s.Pre)
	switch {
	case !ok:
		s.phase, s.typed = Shut, ""
	case s.phase == Shut:
		s.phase, s.lastKey = Settling, f.Now
	}
}

// dirtyList is the state of the clean-tree precondition as text; "" when the
// gate has none.
func dirtyList(pre []Precondition) string {
	for _, p := range pre {
		if p.ID == "tree-clean" {
			return string(p.State) + " " + strings.Join(p.Evidence, "; ")
		}
	}
	return ""
}

// Presence says who might be at the keyboard.
type Presence struct {
	// StdinTTY and StdoutTTY: both streams are terminals.
	StdinTTY, StdoutTTY bool
	// AgentEnv are the names of variables that agents set for their children.
	AgentEnv []string
	// InTmux is true inside tmux; LastActivity is when an attached client last
	// sent a key (send-keys does not move it), zero when nobody is attached.
	InTmux       bool
	LastActivity time.Time
	Who          string
}

// AgentVariables are environment variables that coding agents set for what they
// start; with one of them present no gate opens.
func AgentVariables() []string {
	return []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE", "AIDER_MODEL"}
}

// Refuse says why nobody may decide from here; "" when somebody may.
func (p Presence) Refuse(now time.Time) string {
	switch {
	case !p.StdinTTY || !p.StdoutTTY:
		return "standard input and output must be a terminal"
	case len(p.AgentEnv) > 0:
		return p.AgentEnv[0] + " is set: this was started by an agent"
	case p.InTmux && p.LastActivity.IsZero():
		return "no client is attached to this tmux session"
	case p.InTmux && now.Sub(p.LastActivity) > PresentFor:
		return fmt.Sprintf("no key from an attached tmux client for %s: keys sent by a program do not count", now.Sub(p.LastActivity).Round(time.Second))
	}
	return ""
}

// ErrRefused is wrapped by everything Commit turns down.
var ErrRefused = errors.New("gate refused")

// Commit makes the seal. fresh are facts read after the phrase was complete;
// they must show exactly what was shown while it was typed.
func (s *Session) Commit(now time.Time, fresh *Facts, who Presence) (Seal, error) {
	if !s.Matches() {
		return Seal{}, fmt.Errorf("%w: the phrase is not complete", ErrRefused)
	}
	if why := who.Refuse(now); why != "" {
		s.refuse(now, why)
		return Seal{}, fmt.Errorf("%w: %s", ErrRefused, why)
	}
	typed := s.typed
	s.See(fresh)
	if s.phase != Armed || s.typed != typed {
		why := "a precondition does not hold any more"
		if len(s.Changed) > 0 {
			why = s.Changed[0].String()
		} else if _, p := Open(s.Pre); p != "" {
			why = p
		}
		s.refuse(now, why)
		return Seal{}, fmt.Errorf("%w: %s", ErrRefused, why)
	}
	seal := s.Would
	seal.At, seal.Who = now.UTC(), who.Who
	s.phase = Done
	return seal, nil
}
