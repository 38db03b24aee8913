package plan

import (
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// diffView shows what changed since the plan was approved last.
type diffView struct {
	on            bool
	top, h        int
	before, after string
	w             int
	look          style.Look
	made          bool
	diff          []draw.DiffLine
	lines         []string
	hunks         []int // drawn rows at which a hunk begins
	added, gone   int
}

func (s *Screen) toggleDiff(e *view.Env) view.Ask {
	if s.diff.on {
		s.diff.on = false
		return view.Ask{}
	}
	p := &e.Snap.Plan
	switch {
	case s.doc == nil:
		return view.Ask{Say: "there is no plan to compare"}
	case p.Approved == nil:
		return view.Ask{Say: "no approved plan yet"}
	case p.Approved.Text == "":
		return view.Ask{Say: "the approved text can not be read: " + p.Approved.Why}
	}
	s.diff.on, s.diff.top = true, 0
	return view.Ask{}
}

func (d *diffView) act(id keys.ID) bool {
	switch id {
	case keys.NextSection, keys.PrevSection:
		d.hunk(id == keys.NextSection)
		return true
	case keys.Drill, keys.NextPane, keys.PrevPane:
		return true
	}
	by, ok := step(id, d.h)
	if ok {
		d.top += by
		d.clamp()
	}
	return ok
}

func (d *diffView) clamp() { d.top = max(min(d.top, len(d.lines)-d.h), 0) }

func (d *diffView) hunk(forward bool) {
	to := d.top
	for _, at := range d.hunks {
		if !forward && at < d.top {
			to = at
		}
		if forward && at > d.top {
			to = at
			break
		}
	}
	d.top = to
	d.clamp()
}

// lay compares the two texts, once for each pair and width.
func (d *diffView) lay(before, after string, w int, look style.Look) {
	same := d.made && d.before == before && d.after == after
	if same && d.w == w && d.look == look {
		return
	}
	if !same {
		d.diff = draw.Diff(before, after, 3)
		d.added, d.gone = 0, 0
		for _, l := range d.diff {
			switch l.Kind {
			case draw.Added:
				d.added++
			case draw.Removed:
				d.gone++
			}
		}
	}
	d.made, d.before, d.after, d.w, d.look = true, before, after, w, look
	d.lines, d.hunks = nil, nil
	inHunk := false
	for i := range d.diff {
		edit := d.diff[i].Kind == draw.Added || d.diff[i].Kind == draw.Removed
		if edit && !inHunk {
			d.hunks = append(d.hunks, max(len(d.lines)-1, 0))
		}
		inHunk = edit
		d.lines = append(d.lines, draw.DiffLines(d.diff[i:i+1], w, look)...)
	}
}

func (s *Screen) renderDiff(e *view.Env, w, h int) []string {
	p := &e.Snap.Plan
	if p.Approved == nil || p.Approved.Text == "" {
		return draw.Box("changes since approval", note("no approved plan yet", max(w-2, 1), e.Look), w, h, true, e.Look)
	}
	iw, ih, box := frame(w, h)
	s.diff.lay(p.Approved.Text, p.Text, iw, e.Look)
	s.diff.h = ih
	s.diff.clamp()
	lines := s.diff.lines[s.diff.top:]
	if len(s.diff.diff) == 0 {
		lines = note("The text is the one that was approved.", iw, e.Look)
	}
	title := "changes since approval"
	if w >= 60 {
		title += " " + approvedBy(e, p.Approved)
	}
	return box(title, draw.Position(s.diff.top, min(ih, len(lines)), len(s.diff.lines)), lines, w, h, true, e.Look)
}

func approvedBy(e *view.Env, a *session.ApprovedPlan) string {
	out := ""
	if a.Who != "" {
		out = "by " + a.Who + ", "
	}
	if !a.At.IsZero() {
		out += view.Age(e.Now, a.At)
		if view.Age(e.Now, a.At) != "now" {
			out += " ago"
		}
	}
	return out
}
