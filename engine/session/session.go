// Package session is the room where everything the screens show comes
// together: the Snapshot, the reducer that builds the next one from a fact, and
// the Session interface through which the ui reads it and asks for actions.
//
// The Snapshot is an immutable value. The TUI draws it, `kdapilot show` prints
// it as JSON, `kdapilot review` builds it from a folder, tests build it by
// hand: one truth, many faces.
//
// What may not enter: reading the world (that is probes), deciding how a thing
// looks (that is ui), and the clock (facts carry their own time).
package session

import (
	"context"

	"kdapilot/engine/gate"
)

// Session is the ui's whole view of the world. Implementations live in cmd.
//
// Thread rules: all methods may be called from any goroutine. Snapshot never
// blocks. Do may block on the world and is called from a command goroutine,
// never from Update or View.
type Session interface {
	// Snapshot returns the newest snapshot; it is never nil and must not be
	// changed by the caller.
	Snapshot() *Snapshot
	// Changed holds at most one token: a newer snapshot is there. Tokens come at
	// most ten times a second while something changes and never otherwise.
	Changed() <-chan struct{}
	// Events delivers, in order and without loss, what must not be overwritten
	// by a later state: a run that ended, a gate that was voided, a lost probe.
	Events() <-chan Event
	// Do carries out an action a person asked for. The reply says what was done
	// in one line; a refusal is an error that says what to do instead.
	Do(ctx context.Context, a Action) (Reply, error)
}

// EventKind is the class of a must-deliver event.
type EventKind string

// The must-deliver events.
const (
	RunEnded   EventKind = "run ended"
	GateVoided EventKind = "gate voided"
	LoopMoved  EventKind = "loop moved"
	ProbeLost  EventKind = "probe lost"
	Started    EventKind = "loop started"
	Checked    EventKind = "preflight done"
)

// Event is one must-deliver event. Text is one clean line for the message row.
type Event struct {
	Kind EventKind
	// Bad marks events that a person has to look at.
	Bad  bool
	Text string
}

// Reply is the answer to an action that was carried out.
type Reply struct {
	// Text is one clean line for the message row, for example "run 3f2a started".
	Text string
	// ID names what was made (run id, seal id), if anything was.
	ID string
	// Gate are the fresh facts an OpenGate was answered with, Seal what a
	// SealGate made.
	Gate *gate.Facts
	Seal *gate.Seal
}
