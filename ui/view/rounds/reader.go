package rounds

import (
	"slices"
	"strings"

	"kdapilot/engine/loop"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// reader shows one text of one round: Markdown, or a log. It stays with its
// loop and round whatever else is selected or arrives.
type reader struct {
	open  bool
	loop  string
	round int
	kind  string // which text, by its kind
	isLog bool   // the text shown last is a log

	top    int
	w, h   int // of the text shown last
	search string
	found  int  // row of the last hit plus one
	seekIt bool // the search waits for a text to be laid out
	log    draw.LogView

	laid laid
}

// laid is a text as it was laid out last: rows of a width, or lines of a log.
type laid struct {
	text string
	w    int
	log  bool
	look style.Look
	rows []string
}

func (r *reader) begin(name string, rec *loop.Round) {
	*r = reader{open: true, loop: name, round: rec.N, kind: bestKind(rec), log: tail()}
}

// tail is a log view that stands at the end, where a reviewer says what it
// found.
func tail() draw.LogView { return draw.LogView{Follow: true, Wrap: true, Paint: nil} }

// bestKind is the text of a round that a reader wants first.
func bestKind(r *loop.Round) string {
	for _, k := range []string{"review-result", "summary", "contract", "prompt"} {
		if r.Has(k) && !(k == "summary" && r.Summary.Scaffold) {
			return k
		}
	}
	return ""
}

// texts are those of the round, nil until they were read.
func (r *reader) texts(e *view.Env) []session.RoundText {
	t := e.Snap.Round
	if t == nil || t.Loop != r.loop || t.Round != r.round {
		return nil
	}
	return t.Texts
}

// load asks for the texts unless they are there.
func (r *reader) load(e *view.Env) view.Ask {
	if r.texts(e) != nil {
		return view.Ask{}
	}
	return view.Ask{Do: []session.Action{session.OpenRound{Loop: r.loop, Round: r.round}}}
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
func (s *Screen) actReader(e *view.Env, id keys.ID) (view.Ask, bool) {
	r := &s.read
	all := r.texts(e)
	switch id {
	case keys.Back:
		if r.search != "" {
			r.find(e, "")
		} else {
			*r = reader{}
		}
	case keys.NextSection, keys.NextPane:
		r.turn(all, 1)
	case keys.PrevSection, keys.PrevPane:
		r.turn(all, -1)
	case keys.MoveLeft, keys.MoveRight:
		by := 1
		if id == keys.MoveLeft {
			by = -1
		}
		if r.isLog && !r.log.Wrap {
			r.log.Pan(8 * by)
		} else {
			r.turn(all, by)
		}
	case keys.NextMatch, keys.PrevMatch:
		r.next(id)
	case keys.Drill: // asks again, should the texts not have come
		return r.load(e), true
	default:
		return view.Ask{}, r.scroll(id)
	}
	return view.Ask{}, true
}

// scroll moves in the text; false if the action means nothing here.
func (r *reader) scroll(id keys.ID) bool {
	switch {
	case r.isLog && id == keys.Follow:
		r.log.Follow = !r.log.Follow
		return true
	case r.isLog && id == keys.Wrap:
		r.log.Wrap, r.log.Left, r.log.Row = !r.log.Wrap, 0, 0
		return true
	}
	by, ok := steps(id, r.h)
	switch {
	case !ok:
		return false
	case !r.isLog:
		r.top = max(r.top+by, 0) // Render brings it back into range
	case by == far:
		r.log.End()
	case by == -far:
		r.log.Home(draw.Slice(r.laid.rows))
	default:
		r.log.Scroll(draw.Slice(r.laid.rows), by, r.w, r.h)
	}
	return true
}

func (r *reader) turn(all []session.RoundText, by int) {
	if len(all) == 0 {
		return
	}
	r.kind = all[(r.index(all)+by+len(all))%len(all)].Kind
	r.top, r.found, r.log = 0, 0, tail()
	r.log.Search = r.search
	r.seekIt = r.search != ""
}

// find sets what is searched for and goes to the first hit at or below the top.
func (r *reader) find(e *view.Env, text string) {
	r.search, r.found = text, 0
	r.log.Find(text)
	if text == "" {
		return
	}
	if r.seekIt = r.texts(e) == nil || len(r.laid.rows) == 0; !r.seekIt {
		r.seek(r.top, 1)
	}
}

func (r *reader) next(id keys.ID) {
	dir := 1
	if id == keys.PrevMatch {
		dir = -1
	}
	switch {
	case r.search == "":
		r.scroll(map[int]keys.ID{1: keys.Down, -1: keys.Up}[dir])
	case r.isLog:
		r.log.Next(draw.Slice(r.laid.rows), dir, r.w, r.h)
		r.found = r.log.Found
	case r.found > 0:
		r.seek(r.found-1+dir, dir)
	default:
		r.seek(r.top, dir)
	}
}

// seek looks for the searched text from a row on, going round once. Case counts
// only if the text holds a capital, as in logs.
func (r *reader) seek(from, dir int) {
	rows := r.laid.rows
	r.seekIt, r.found = false, 0
	if r.isLog {
		r.log.Found = 0
		r.log.Next(draw.Slice(rows), dir, r.w, r.h)
		r.found = r.log.Found
		return
	}
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
}

// line is the row a person looks at, as plain text.
func (r *reader) line(e *view.Env) string {
	if r.texts(e) == nil {
		return ""
	}
	i := r.top
	if r.isLog {
		i = r.log.Top
	}
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
	if r.laid.rows != nil && r.laid.text == t.Text && (log || r.laid.w == w) && r.laid.log == log && r.laid.look == look {
		return r.laid.rows
	}
	r.laid = laid{text: t.Text, w: w, log: log, look: look, rows: []string{}}
	if log {
		r.laid.rows = strings.Split(strings.TrimSuffix(t.Text, "\n"), "\n")
	} else {
		// Line breaks stay: Humanize reads reviews line by line, and a marker that
		// is no line of its own is none.
		r.laid.rows = draw.Texts(draw.Markdown(strings.ReplaceAll(t.Text, "\n", "  \n"), w, look))
	}
	return r.laid.rows
}
