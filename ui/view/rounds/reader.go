package rounds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// reader shows one text of one round.
type reader struct {
	open   bool
	kind   string // which text, by its kind
	top    int
	h      int // rows shown last
	search string
	found  int // row of the last hit plus one

	// laid is the text as it was laid out last.
	laid struct {
		text string
		w    int
		log  bool
		look style.Look
		rows []string
	}
}

func (r *reader) begin(kind string) { *r = reader{open: true, kind: kind} }

// texts are those of the selected round, nil until they were read.
func texts(e *view.Env, l *loop.Loop, round int) []session.RoundText {
	t := e.Snap.Round
	if t == nil || t.Loop != l.Name || t.Round != round {
		return nil
	}
	return t.Texts
}

// index is which text is shown: the one of the kind, else the first that holds
// something.
func (r *reader) index(all []session.RoundText) int {
	if i := slices.IndexFunc(all, func(t session.RoundText) bool { return t.Kind == r.kind }); i >= 0 {
		return i
	}
	return max(slices.IndexFunc(all, func(t session.RoundText) bool { return t.Text != "" }), 0)
}

// actReader is what keys do while a text is read.
func (s *Screen) actReader(e *view.Env, l *loop.Loop, id keys.ID) (view.Ask, bool) {
	r := &s.read
	all := texts(e, l, s.round)
	switch id {
	case keys.Back:
		if r.search != "" {
			r.find(e, "")
			return view.Ask{}, true
		}
		r.open = false
		return view.Ask{}, true
	case keys.NextSection, keys.NextPane, keys.MoveRight:
		r.turn(all, 1)
		return view.Ask{}, true
	case keys.PrevSection, keys.PrevPane, keys.MoveLeft:
		r.turn(all, -1)
		return view.Ask{}, true
	case keys.NextMatch:
		r.next(1)
		return view.Ask{}, true
	case keys.PrevMatch:
		r.next(-1)
		return view.Ask{}, true
	case keys.Drill:
		return view.Ask{}, true
	}
	if by, ok := steps(id, r.h); ok {
		r.top = max(r.top+by, 0) // Render brings it back into range
		return view.Ask{}, true
	}
	return view.Ask{}, false
}

func (r *reader) turn(all []session.RoundText, by int) {
	if len(all) == 0 {
		return
	}
	r.kind = all[(r.index(all)+by+len(all))%len(all)].Kind
	r.top, r.found = 0, 0
}

// find sets what is searched for and goes to the first hit at or below the top.
func (r *reader) find(_ *view.Env, text string) {
	r.search, r.found = text, 0
	if text != "" {
		r.seek(r.top, 1)
	}
}

func (r *reader) next(dir int) {
	if r.search == "" {
		r.top = max(r.top+dir, 0)
		return
	}
	from := r.top
	if r.found > 0 {
		from = r.found - 1 + dir
	}
	r.seek(from, dir)
}

// seek looks for the searched text from a row on, going round once.
func (r *reader) seek(from, dir int) {
	rows := r.laid.rows
	fold := strings.ToLower(r.search) == r.search
	for k := range rows {
		i := ((from+dir*k)%len(rows) + len(rows)) % len(rows)
		row := draw.Strip(rows[i])
		if fold {
			row = strings.ToLower(row)
		}
		if strings.Contains(row, r.search) {
			r.found, r.top = i+1, max(i-r.h/3, 0)
			return
		}
	}
	r.found = 0
}

// line is the row a person looks at, as plain text.
func (r *reader) line() string {
	i := r.top
	if r.found > 0 {
		i = r.found - 1
	}
	if i >= len(r.laid.rows) {
		return ""
	}
	return strings.TrimSpace(draw.Strip(r.laid.rows[i]))
}

// lay lays the text out for a width, once.
func (r *reader) lay(t *session.RoundText, w int, look style.Look) []string {
	log := t.Kind == "log"
	if r.laid.rows != nil && r.laid.text == t.Text && r.laid.w == w && r.laid.log == log && r.laid.look == look {
		return r.laid.rows
	}
	r.laid.text, r.laid.w, r.laid.log, r.laid.look = t.Text, w, log, look
	r.laid.rows = []string{}
	if !log {
		r.laid.rows = draw.Texts(draw.Markdown(t.Text, w, look))
		return r.laid.rows
	}
	for line := range strings.Lines(t.Text) {
		r.laid.rows = append(r.laid.rows, draw.WrapHard(strings.TrimSuffix(line, "\n"), w)...)
	}
	return r.laid.rows
}

// readerPane is the text with a breadcrumb and where it came from.
func (s *Screen) readerPane(e *view.Env, l *loop.Loop, w, h int) []string {
	r := &s.read
	iw, ih := s.inner(w, h)
	title := l.Name + " > round " + strconv.Itoa(s.round)
	if iw < 56 {
		title = "round " + strconv.Itoa(s.round)
	}
	all := texts(e, l, s.round)
	var lines []string
	if all == nil {
		lines = []string{e.Look.Dim.Paint(draw.Fit("not read yet", iw))}
	} else {
		t := &all[r.index(all)]
		head := r.head(e, all, t, iw)
		body := r.body(e, t, iw, max(ih-len(head), 1))
		lines = append(head, body...)
		title += " > " + t.Kind + " " + draw.Position(r.top, min(r.h, len(r.laid.rows)), len(r.laid.rows))
	}
	return s.frame(e, title, lines, w, h, true)
}

// head names the texts there are, the one shown, and its file.
func (r *reader) head(e *view.Env, all []session.RoundText, t *session.RoundText, w int) []string {
	look := e.Look
	var names []string
	for i := range all {
		n := all[i].Kind
		switch {
		case &all[i] == t:
			n = look.Select.Paint("[" + n + "]")
		case all[i].Text == "":
			n = look.Dim.Paint(n)
		}
		names = append(names, n)
	}
	out := []string{draw.Fit(strings.Join(names, " ")+look.Dim.Paint("  [ ] switch"), w)}
	from := t.Name + ", " + view.Age(e.Now, t.Origin.ModTime)
	if t.Cut {
		from += look.Warn.Paint(fmt.Sprintf(", cut: %d bytes on disk", t.Origin.Size))
	}
	if r.search != "" {
		from += "  /" + r.search
		if r.found == 0 {
			from += look.Warn.Paint(" not found")
		}
	}
	return append(out, look.Dim.Paint(draw.Fit(from, w)), draw.Rule(w, look))
}

func (r *reader) body(e *view.Env, t *session.RoundText, w, h int) []string {
	r.h = h
	if t.Text == "" {
		r.laid.rows, r.laid.text, r.top = nil, "", 0
		why := t.Origin.Status.String()
		if t.Origin.Status == fact.OK {
			why = "the file is empty"
		}
		return draw.Block(draw.Wrap(strings.TrimSpace(why+" "+t.Origin.Why), w), w, h)
	}
	rows := r.lay(t, w, e.Look)
	r.top = min(r.top, max(len(rows)-h, 0))
	out := draw.Block(slices.Clone(rows[r.top:min(r.top+h, len(rows))]), w, h)
	if i := r.found - 1 - r.top; r.found > 0 && i >= 0 && i < len(out) {
		out[i] = e.Look.Match.Paint(draw.Strip(out[i]))
	}
	return out
}
