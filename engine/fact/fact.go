// Package fact is the room for provenance: every value that kdapilot shows was
// read from somewhere, at some moment, and may be unknown. Types here travel
// from the probes through the reducer to the screens.
//
// What may not enter: meaning. A fact says where bytes came from and whether
// they could be read, never what they imply.
package fact

import "time"

// Status says how far a value can be trusted. The zero value is NotRead, so a
// value nobody has filled in yet never looks like a measured zero.
type Status int

// The states a read can be in.
const (
	// NotRead means nobody has looked yet.
	NotRead Status = iota
	// OK means the bytes were read whole and understood.
	OK
	// Torn means the newest bytes were mid-write; the value shown is the last
	// good one.
	Torn
	// Missing means the file or folder is not there.
	Missing
	// Unreadable means it is there and could not be read or understood.
	Unreadable
)

// String gives the words that the screens and the JSON output use.
func (s Status) String() string {
	switch s {
	case OK:
		return "ok"
	case Torn:
		return "mid-write"
	case Missing:
		return "missing"
	case Unreadable:
		return "unreadable"
	default:
		return "not read yet"
	}
}

// MarshalText makes the JSON form the same words as String.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Known reports whether there is a value to show: read whole, or the last good
// one of a file that is being written.
func (s Status) Known() bool { return s == OK || s == Torn }

// Origin is where a value came from and when it was read.
type Origin struct {
	// Path is absolute, or relative to the worktree where the fact says so.
	Path string `json:"path,omitempty"`
	// Line is the 1-based line the value was read from; 0 for the whole file.
	Line int `json:"line,omitempty"`
	// ReadAt is when the probe read it; ModTime is the file's own time.
	ReadAt  time.Time `json:"read_at,omitzero"`
	ModTime time.Time `json:"mod_time,omitzero"`
	// Size is in bytes. SHA256 is lower-case hex, set only where something is
	// bound to the bytes.
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Status Status `json:"status"`
	// Why explains a status other than OK in one line, for example
	// "state.md:4: current_round: not a number".
	Why string `json:"why,omitempty"`
}
