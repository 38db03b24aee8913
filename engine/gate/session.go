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
	// BurstKeys keys within BurstSpan are no hand: a fast typist needs some 60 ms
	// a key, and two keys rolled over each other come within a few milliseconds,
	// four do not. Neither are MeanKeys keys or more, or a whole phrase with its
	// Enter, that come less than MeanGap apart on average. A link that hands over
	// several keys at once is refused too: type again.
	BurstKeys = 4
	BurstSpan = 30 * time.Millisecond
	MeanKeys  = 5
	MeanGap   = 15 * time.Millisecond
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
	if s.tooFast(now) {
		return
	}
	if len(s.typed) < maxTyped {
		s.typed += text
	}
	if s.Matches() {
		s.phrasePace(now)
	}
}

// maxTyped bounds what is kept of a phrase, in bytes.
const maxTyped = 256

// tooFast notes a key and refuses the attempt when no hand pressed it.
func (s *Session) tooFast(now time.Time) bool {
	if len(s.recent) >= maxTyped {
		s.recent = s.recent[len(s.recent)-MeanKeys:]
	}
	s.recent = append(s.recent, now)
	n := len(s.recent)
	why := ""
	switch {
	case n >= BurstKeys && now.Sub(s.recent[n-BurstKeys]) <= BurstSpan:
		why = fmt.Sprintf("%d keys within %s: faster than a hand", BurstKeys, BurstSpan)
	case n >= MeanKeys && now.Sub(s.recent[n-MeanKeys]) < (MeanKeys-1)*MeanGap:
		why = fmt.Sprintf("%d keys less than %s apart: faster than a hand", MeanKeys, MeanGap)
	default:
		return false
	}
	s.refuse(now, why)
	s.phase = Settling
	return true
}

// phrasePace refuses a complete phrase that came too fast as a whole, which the
// other limits can not see when it is short.
func (s *Session) phrasePace(now time.Time) {
	n := min(len(s.recent), len([]rune(s.typed)))
	if n > 1 && now.Sub(s.recent[len(s.recent)-n]) < time.Duration(n-1)*MeanGap {
		s.refuse(now, "the whole phrase came faster than a hand")
		s.phase = Settling
	}
}

// Backspace takes the last character back.
func (s *Session) Backspace(now time.Time) {
	s.lastKey = now
	if s.phase != Armed || s.tooFast(now) {
		return
	}
	if r := []rune(s.typed); len(r) > 0 {
		s.typed = string(r[:len(r)-1])
	}
}

// Other notes a key that is no text, Enter too: it counts as input for the quiet
// time. On a complete phrase it must come at a hand's pace like the keys before
// it, or the phrase is cleared: a pasted line ends in Enter as well. Ask Matches
// afterwards whether to commit.
func (s *Session) Other(now time.Time) {
	s.lastKey = now
	if s.Matches() && !s.tooFast(now) && now.Sub(s.recent[len(s.recent)-2]) < MeanGap {
		s.refuse(now, "the key after the phrase came faster than a hand")
		s.phase = Settling
	}
}

// See compares new facts with what the gate was opened on. A bound byte that
// moved voids the opening for good; preconditions that moved are shown anew.
func (s *Session) See(f *Facts) {
	if s.phase == Voided || s.phase == Done {
		return
	}
	changes := s.Would.Changes(f)
	was := dirtyList(s.Pre)
	s.Pre = Check(s.Gate, f)
	if is := dirtyList(s.Pre); was != "" && is != "" && is != was {
		changes = append(changes, Change{What: "dirty file", Was: was, Is: is})
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
// gate has none, or git did not answer: then nothing is known to have changed.
func dirtyList(pre []Precondition) string {
	for _, p := range pre {
		if p.ID == "tree-clean" && p.State != Unknown {
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
	// The last word: what would be sealed from the fresh facts must be, byte for
	// byte, what was shown.
	if now := NewSeal(s.Gate, fresh, s.Would.Opened); now.ID != s.Would.ID {
		s.phase = Voided
		s.refuse(fresh.Now, "what would be sealed is not what was shown")
		return Seal{}, fmt.Errorf("%w: what would be sealed is not what was shown", ErrRefused)
	}
	seal := s.Would
	seal.At, seal.Who = now.UTC(), who.Who
	s.phase = Done
	return seal, nil
}
