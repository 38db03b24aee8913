package plan

import "strings"

// Reading remembers which lines of one plan have been on screen. It belongs to
// the bytes named by SHA256: after any change the reading begins anew.
type Reading struct {
	SHA256 string
	seen   []bool // by line - 1
	left   int
}

// NewReading begins to read a plan. Blank lines need not be shown.
func NewReading(d *Doc, sha256 string) *Reading {
	r := &Reading{SHA256: sha256, seen: make([]bool, len(d.lines))}
	for i := range d.lines {
		if strings.TrimSpace(d.lines[i].text) == "" {
			r.seen[i] = true
		} else {
			r.left++
		}
	}
	return r
}

// Show marks the lines from first to last, 1-based and inclusive, as on screen.
// It reports whether any of them was new.
func (r *Reading) Show(first, last int) bool {
	before := r.left
	for i := max(first, 1) - 1; i < min(last, len(r.seen)); i++ {
		if !r.seen[i] {
			r.seen[i] = true
			r.left--
		}
	}
	return r.left != before
}

// Left counts the lines that were not on screen yet.
func (r *Reading) Left() int { return r.left }

// Seen gives the ids of the sections whose own text was on screen whole.
func (r *Reading) Seen(d *Doc) map[string]bool {
	out := make(map[string]bool, len(d.Sections))
	for _, s := range d.Sections {
		if r.whole(s.Line, s.End) {
			out[s.ID] = true
		}
	}
	return out
}

func (r *Reading) whole(first, last int) bool {
	if first < 1 || last > len(r.seen) {
		return false
	}
	for _, ok := range r.seen[first-1 : last] {
		if !ok {
			return false
		}
	}
	return true
}

// Next is the first line after n that was not on screen, 0 when all were. It
// goes round at the end.
func (r *Reading) Next(n int) int {
	for k := range r.seen {
		if i := (max(n, 0) + k) % len(r.seen); !r.seen[i] {
			return i + 1
		}
	}
	return 0
}

// Carry takes over what was read of an earlier text of the plan: the lines of
// every section whose heading and own text are the same. The other sections are
// unread again.
func (r *Reading) Carry(old *Reading, was, d *Doc) {
	at := make(map[string]*Section, len(was.Sections))
	for i := range was.Sections {
		at[was.Sections[i].ID] = &was.Sections[i]
	}
	for _, s := range d.Sections {
		o := at[s.ID]
		if o == nil || !sameText(was, d, o, &s) {
			continue
		}
		for k := 0; k <= s.End-s.Line; k++ {
			if i := o.Line - 1 + k; i < len(old.seen) && old.seen[i] {
				r.Show(s.Line+k, s.Line+k)
			}
		}
	}
}

func sameText(was, d *Doc, o, s *Section) bool {
	if o.End-o.Line != s.End-s.Line || o.End > len(was.lines) || s.End > len(d.lines) || s.Line < 1 || o.Line < 1 {
		return false
	}
	for k := 0; k <= s.End-s.Line; k++ {
		if was.lines[o.Line-1+k].text != d.lines[s.Line-1+k].text {
			return false
		}
	}
	return true
}
