// Package humanize is the probe that reads the .humanize tree of a worktree:
// loops, reviewer logs, consultations, lessons. It turns bytes into the types
// of engine/loop and decides nothing itself.
//
// Guarantees: it never writes; every read is bounded in size, count and depth;
// symbolic links are not followed into folders; a file that can not be read or
// understood makes a fact that says so and never hides its neighbours.
//
// What may not enter: git, the meaning of a loop, kdapilot's own state folder.
package humanize

import (
	"context"
	"time"

	"kdapilot/engine/loop"
)

// Limits of what is read. Sizes are in bytes.
const (
	MaxLoops         = 500
	MaxDirEntries    = 20000
	MaxRounds        = 1000
	MaxConsultations = 200
	maxState         = 64 << 10
	maxTracker       = 4 << 20
	maxReview        = 1 << 20
	maxSummary       = 1 << 20
	maxCmdFile       = 4 << 20
	maxLogTail       = 64 << 10
	maxPlan          = 4 << 20
	maxLessons       = 4 << 20
	maxMeta          = 64 << 10
)

// Options steer a scan. The zero value reads a live worktree's files without
// asking about processes.
type Options struct {
	// CacheRoot holds humanize's cache folders; empty means
	// $XDG_CACHE_HOME/humanize, else ~/.cache/humanize. A folder cache/humanize
	// beside .humanize (a snapshot or capsule) goes first where it has the loop.
	CacheRoot string
	// Processes answers whether a reviewer lives. Nil means nobody looks, which
	// is right for a copied folder; a live worktree gets Proc{}.
	Processes Processes
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Processes tells which processes write to files.
type Processes interface {
	// Writers returns the processes of this user that have one of the paths open
	// as standard output or standard error. Paths are absolute and resolved.
	Writers(ctx context.Context, paths []string) ([]Writer, error)
}

// Writer is one process that writes to a watched file.
type Writer struct {
	PID    int
	Path   string
	Stdout bool
	Stderr bool
}

// Scan reads the tree under root once. The error is for root itself (not there,
// not a folder) or ctx; trouble below is told in the facts.
func Scan(ctx context.Context, root string, opts Options) (loop.Set, error) {
	return NewScanner(root, opts).Scan(ctx)
}
