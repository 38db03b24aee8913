package flyprof

import (
	"time"
)

// Options say how much to read and what to compare with.
type Options struct {
	// Worktree is the root whose files the trace's source copies are compared
	// with; "" leaves freshness unverifiable.
	Worktree string
	// Tag is the capture tag to analyse; "" means big, or whatever there is.
	Tag string
	// Waits reads the wave files too. Without it the Analysis says WaitsPending
	// and AddWaits can complete it.
	Waits bool
	// MaxAge makes an older trace stale; 0 does not judge age. Since makes a
	// trace captured before it stale, for example the start of a round.
	MaxAge time.Duration
	Since  time.Time
	// Now is the moment age is measured at; zero means the current time.
	Now time.Time
}

// Kind says what a path is.
type Kind string

// The kinds of places Discover finds.
const (
	Bundle     Kind = "bundle"     // has capture.json, bubbles.json or report.json
	Dispatches Kind = "dispatches" // a folder of dispatch directories
	Dispatch   Kind = "dispatch"   // a dispatch directory
)

// Found is one place that Load can read.
type Found struct {
	// Path is absolute if the worktree was given so.
	Path string
	Kind Kind
	// ModTime is the newest modification time among the files looked at.
	ModTime time.Time
	// HasCapture, HasBubbles, HasReport and HasTrace say what is there.
	HasCapture, HasBubbles, HasReport, HasTrace bool
}
