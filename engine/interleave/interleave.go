// Package interleave is the room for measuring two arms side by side: in which
// order they run, what was done, and what is left to do after a stop.
//
// Why ABBA: clocks, temperature and neighbours drift during a sweep. Within a
// block of four both arms stand at the same mean time, so that a steady drift
// cancels; which arm begins a block is drawn, so that no rhythm of the host falls
// in with that of the blocks.
//
// What may not enter: starting anything (cmd), and judging the rows
// (engine/bench).
package interleave

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"kdapilot/engine/runs"
	"kdapilot/engine/text"
)

// Arm names a side.
type Arm string

// The arms.
const (
	Base      Arm = "base"
	Candidate Arm = "candidate"
)

// MaxRepeats bounds the repeats of an arm.
const MaxRepeats = 200

// Order is the sequence for n repeats of each arm: blocks of four, ABBA or BAAB
// as drawn with seed, and a pair at the end when n is odd.
func Order(n int, seed uint64) []Arm {
	dice := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	out := make([]Arm, 0, 2*max(n, 0))
	for len(out) < 2*n {
		a, b := Base, Candidate
		if dice.IntN(2) == 1 {
			a, b = b, a
		}
		block := []Arm{a, b, b, a}
		out = append(out, block[:min(4, 2*n-len(out))]...)
	}
	return out
}

// Kind says what a sequence measures.
type Kind string

// The kinds: two commits against each other, or one against itself.
const (
	AB    Kind = "ab"
	Floor Kind = "floor"
)

// Side is one arm of a sequence.
type Side struct {
	// Worktree is absolute; Head the commit it stood at when the sequence began.
	Worktree string `json:"worktree"`
	Head     string `json:"head"`
	// Dirty is the hash of its uncommitted files at that time, "" for a clean
	// one: neither may change before the last run has begun.
	Dirty string `json:"dirty,omitempty"`
}

// Step is one run of a sequence. Run is "" until it was started.
type Step struct {
	Arm  Arm     `json:"arm"`
	Run  runs.ID `json:"run,omitempty"`
	Done bool    `json:"done"`
}

// Sequence is a whole comparison, as it is stored.
type Sequence struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Kind    Kind      `json:"kind"`
	Created time.Time `json:"created"`
	Base    Side      `json:"base"`
	Cand    Side      `json:"candidate"`
	Preset  string    `json:"preset,omitempty"`
	Argv    []string  `json:"argv,omitempty"`
	GPU     int       `json:"gpu"`
	Repeats int       `json:"repeats"`
	Seed    uint64    `json:"seed"`
	Steps   []Step    `json:"steps"`
}

// Version is the layout version of a stored Sequence.
const Version = 1

// MaxSize is the largest stored sequence that is read, in bytes.
const MaxSize = 1 << 20

// New plans a sequence.
func New(id string, kind Kind, base, cand Side, n int, seed uint64, now time.Time) Sequence {
	s := Sequence{Version: Version, ID: id, Kind: kind, Created: now.UTC(), Base: base, Cand: cand, Repeats: n, Seed: seed}
	for _, a := range Order(n, seed) {
		s.Steps = append(s.Steps, Step{Arm: a})
	}
	return s
}

// Next is the first step that is not done; ok is false when all are.
func (s *Sequence) Next() (i int, ok bool) {
	for i := range s.Steps {
		if !s.Steps[i].Done {
			return i, true
		}
	}
	return 0, false
}

// Side gives the side of an arm.
func (s *Sequence) Side(a Arm) Side {
	if a == Base {
		return s.Base
	}
	return s.Cand
}

// Label names a step in the manifest of its run.
func (s *Sequence) Label(i int) string { return fmt.Sprintf("%s/%d", s.ID, i+1) }

// Runs are the runs of an arm that are done, in order.
func (s *Sequence) Runs(a Arm) []runs.ID {
	var out []runs.ID
	for _, x := range s.Steps {
		if x.Arm == a && x.Done {
			out = append(out, x.Run)
		}
	}
	return out
}

// Encode gives the bytes that are stored.
func (s *Sequence) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write sequence: %w", err)
	}
	return append(b, '\n'), nil
}

// Parse reads stored bytes; name is for errors. A sequence whose steps are not
// those of its seed is refused: somebody chose them.
func Parse(name string, b []byte) (Sequence, error) {
	var s Sequence
	if len(b) > MaxSize {
		return s, fmt.Errorf("%s: %d bytes, at most %d are read", name, len(b), MaxSize)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("%s: %s", name, text.Line(err.Error()))
	}
	switch {
	case s.Version != Version:
		return s, fmt.Errorf("%s: version %d, expected %d", name, s.Version, Version)
	case s.Kind != AB && s.Kind != Floor:
		return s, fmt.Errorf("%s: kind %q, expected ab or floor", name, text.Line(string(s.Kind)))
	case s.Repeats < 1 || s.Repeats > MaxRepeats:
		return s, fmt.Errorf("%s: %d repeats, expected 1 to %d", name, s.Repeats, MaxRepeats)
	case !filepath.IsAbs(s.Base.Worktree) || !filepath.IsAbs(s.Cand.Worktree):
		return s, fmt.Errorf("%s: expected absolute worktrees", name)
	}
	order := Order(s.Repeats, s.Seed)
	if len(order) != len(s.Steps) {
		return s, fmt.Errorf("%s: %d steps, expected %d", name, len(s.Steps), len(order))
	}
	open := false
	for i := range s.Steps {
		x := &s.Steps[i]
		x.Run = runs.ID(text.Line(string(x.Run)))
		switch {
		case x.Arm != order[i]:
			return s, fmt.Errorf("%s: step %d is %q, the seed gives %s", name, i+1, text.Line(string(x.Arm)), order[i])
		case x.Done && x.Run == "":
			return s, fmt.Errorf("%s: step %d is done without a run", name, i+1)
		case x.Done && open:
			return s, fmt.Errorf("%s: step %d is done before one that is not", name, i+1)
		}
		open = open || !x.Done
	}
	return s, nil
}
