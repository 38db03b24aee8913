package runs

import "time"

// Progress is how far a run got. A count that nobody knows is nil, not zero.
type Progress struct {
	Done int `json:"done"`
	// Expected is nil when unknown. Surplus is true when more cells came than
	// were expected: then the expectation was wrong and there is no ETA.
	Expected *int   `json:"expected,omitempty"`
	Surplus  bool   `json:"surplus,omitempty"`
	Current  string `json:"current,omitempty"`
	// ElapsedSeconds counts from the start of the child.
	ElapsedSeconds float64 `json:"elapsed_seconds,omitempty"`
	// ETASeconds is nil until two cells are done, since the time to the first
	// one is start-up and says nothing about a cell.
	ETASeconds *float64 `json:"eta_seconds,omitempty"`
	// QuietSeconds is how long ago the last cell came in.
	QuietSeconds float64 `json:"quiet_seconds,omitempty"`
}

// Track collects cells as they are seen. It is a value: Cell and Begin return
// the next one. The zero Track has seen nothing.
type Track struct {
	started, first, last time.Time
	done                 int
	expected             *int
	current              string
}

// NewTrack starts counting at the start of the child. expected may be nil.
func NewTrack(started time.Time, expected *int) Track {
	return Track{started: started, expected: expected}
}

// Begin notes the cell that is being worked on.
func (t Track) Begin(key string) Track {
	t.current = key
	return t
}

// Cells notes that done cells in all have been seen at the moment at; a count
// that does not grow changes nothing.
func (t Track) Cells(done int, at time.Time) Track {
	if done <= t.done {
		return t
	}
	if t.done == 0 {
		t.first = at
	}
	t.done, t.last, t.current = done, at, ""
	return t
}

// At gives the progress as of now.
func (t Track) At(now time.Time) Progress {
	p := Progress{Done: t.done, Expected: t.expected, Current: t.current}
	if !t.started.IsZero() {
		p.ElapsedSeconds = seconds(now.Sub(t.started))
	}
	if t.done > 0 {
		p.QuietSeconds = seconds(now.Sub(t.last))
	}
	if t.expected == nil {
		return p
	}
	left := *t.expected - t.done
	p.Surplus = left < 0
	switch {
	case left == 0:
		zero := 0.0
		p.ETASeconds = &zero
	case left > 0 && t.done >= 2 && t.last.After(t.first):
		// Batches are counted from the first one seen, so the rate is a mean
		// over done-1 cells; a cell that takes longer than the mean pushes the
		// ETA out instead of letting it run into the past.
		per := t.last.Sub(t.first).Seconds() / float64(t.done-1)
		eta := per * float64(left)
		if quiet := now.Sub(t.last).Seconds(); quiet < per {
			eta -= quiet
		} else {
			eta -= per
		}
		p.ETASeconds = &eta
	}
	return p
}

func seconds(d time.Duration) float64 {
	if d < 0 {
		return 0
	}
	return d.Seconds()
}
