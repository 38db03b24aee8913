package plan

import (
	"fmt"
	"path"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
)

// boxer draws a pane with or without side borders.
type boxer func(title, note string, lines []string, w, h int, focus bool, look style.Look) []string

// frame says how much room a pane has inside and how it is drawn: without side
// borders where cells are few.
func frame(w, h int) (iw, ih int, box boxer) {
	if w < term.TwoMin {
		return w, max(h-1, 0), func(title, note string, lines []string, w, h int, focus bool, look style.Look) []string {
			if note != "" {
				title += "  " + note
			}
			return draw.Panel(title, lines, w, h, focus, look)
		}
	}
	iw, ih = draw.InnerSize(w, h)
	return iw, ih, draw.BoxNote
}

// inner is frame for a pane that stands beside others.
func inner(w, h int) (iw, ih int, box boxer) {
	iw, ih = draw.InnerSize(w, h)
	return iw, ih, draw.BoxNote
}

// Render implements view.Screen. What it draws of the text counts as read.
func (s *Screen) Render(e *view.Env, w, h int) []string {
	if w < 1 || h < 1 {
		return draw.Block(nil, max(w, 0), max(h, 0))
	}
	s.sync(e)
	if s.doc == nil {
		return s.noPlan(e, w, h)
	}
	hh := 2
	if h < 8 {
		hh = min(1, h-1)
	}
	var body []string
	if s.diff.on {
		body = s.renderDiff(e, w, h-hh)
	} else {
		body = s.panes(e, w, h-hh)
	}
	head := s.header(e, w)
	return draw.Block(draw.JoinV(head[:hh], body), w, h)
}

// panes draws text and side panes. The text comes first: what it shows is read
// when the outline is drawn.
func (s *Screen) panes(e *view.Env, w, h int) []string {
	switch term.ClassOf(w, max(h, term.TinyHeight)) {
	case term.FourPanes:
		side := min(max(w*2/5, 44), 84)
		text := s.textBox(e, w-side, h, inner)
		oh := min(len(s.doc.Sections)+2, h/2)
		lower := s.listBox(e, side, h-oh, inner)
		return draw.JoinH(text, draw.JoinV(s.outlineBox(e, side, oh, inner), lower))
	case term.TwoPanes:
		side := w * 2 / 5
		text := s.textBox(e, w-side, h, inner)
		if s.side == listPane {
			return draw.JoinH(text, s.listBox(e, side, h, inner))
		}
		return draw.JoinH(text, s.outlineBox(e, side, h, inner))
	default:
		switch s.focus {
		case outlinePane:
			return s.outlineBox(e, w, h, frame)
		case listPane:
			return s.listBox(e, w, h, frame)
		}
		return s.textBox(e, w, h, frame)
	}
}

type framer func(w, h int) (iw, ih int, box boxer)

func (s *Screen) textBox(e *view.Env, w, h int, fr framer) []string {
	iw, ih, box := fr(w, h)
	gw := gutterWidth(s.doc.Lines, iw)
	if iw <= gw+4 {
		gw = 0
	}
	s.lay(iw-gw, ih, e.Look)
	lines := make([]string, 0, ih)
	for i := s.top; i < min(s.top+ih, len(s.page.rows)); i++ {
		r := &s.page.rows[i]
		t := r.Text
		if s.search.text != "" {
			t = s.search.light(t, s.page.w, e.Look)
		}
		if gw > 0 {
			first := i == 0 || s.page.rows[i-1].Source != r.Source
			t = s.gutter(r.Source, gw, first, e.Look) + t
		}
		lines = append(lines, t)
	}
	if s.uncounted == "" {
		if !e.Covered {
			s.page.show(s.top, ih, func(from, to int) { s.reading.Show(from, to) })
		}
	}
	title := fileName(e)
	if e.Snap.Plan.Origin.Status == fact.Torn {
		title += ", mid-write"
	}
	return box(title, draw.Position(s.top, len(lines), len(s.page.rows)), lines, w, h, s.focus == textPane, e.Look)
}

// lay makes the drawn rows for a width and keeps the place in the text.
func (s *Screen) lay(w, h int, look style.Look) {
	if s.page == nil || s.page.w != w || s.page.text != s.text || s.page.look != look {
		if s.page != nil && s.want == 0 && s.top > 0 {
			s.want, s.above = s.topLine(), 0
		}
		s.page = newPage(s.text, s.doc.Lines, w, look)
	}
	s.rows = h
	s.settle()
	s.clamp()
}

func (s *Screen) outlineBox(e *view.Env, w, h int, fr framer) []string {
	iw, ih, box := fr(w, h)
	seen := s.Seen()
	s.outline.set(s.outlineRows(seen, e.Look))
	if s.focus != outlinePane {
		s.outline.key = s.hereID()
	}
	lines := s.outline.render(iw, ih, s.focus == outlinePane, false, e.Look)
	return box("outline", draw.Position(s.outline.top, min(ih, len(s.outline.rows)), len(s.outline.rows)), lines, w, h, s.focus == outlinePane, e.Look)
}

// hereID is the id of the section the text stands at: the outline follows it
// while it has no focus.
func (s *Screen) hereID() string {
	if i := sectionAt(s.doc, s.here()); i >= 0 {
		return s.doc.Sections[i].ID
	}
	return ""
}

func (s *Screen) listBox(e *view.Env, w, h int, fr framer) []string {
	iw, ih, box := fr(w, h)
	if s.list.stale || s.list.rows == nil || s.look != e.Look {
		s.list.set(s.listRows(e.Look))
		s.list.stale, s.look = false, e.Look
	}
	lines := s.list.render(iw, ih, s.focus == listPane, true, e.Look)
	return box("issues, DEC, AC", draw.Position(s.list.top, min(ih, len(s.list.drawn.lines)), len(s.list.drawn.lines)), lines, w, h, s.focus == listPane, e.Look)
}

// header is how far the reading is, and what stands between here and approval.
func (s *Screen) header(e *view.Env, w int) []string {
	return []string{s.progress(e.Look, w), draw.Sides(s.against(e.Look), s.found(e, w), w)}
}

func (s *Screen) progress(look style.Look, w int) string {
	if s.uncounted != "" {
		return draw.Fit(look.Bad.Paint("! "+s.uncounted), w)
	}
	seen := s.Seen()
	all, read := len(s.doc.Sections), 0
	for i := range s.doc.Sections {
		if seen[s.doc.Sections[i].ID] {
			read++
		}
	}
	next := s.unread(seen)
	switch {
	case all == 0:
		return draw.Fit(look.Warn.Paint("the plan is empty"), w)
	case next == nil:
		return draw.Fit(look.Good.Paint(look.Check+" ")+fmt.Sprintf("read all %d sections", all), w)
	case w < 60:
		return draw.Fit(fmt.Sprintf("read %d of %d, next: ", read, all)+look.Strong.Paint(next.Title), w)
	}
	return draw.Fit(fmt.Sprintf("read %d of %d sections, next unread: ", read, all)+look.Strong.Paint(next.Title), w)
}

func (s *Screen) against(look style.Look) string {
	b, a := countBlocks(s.issues)
	out := look.Dim.Paint("nothing blocks")
	switch {
	case b == 1:
		out = look.Bad.Paint("! 1 blocks")
	case b > 1:
		out = look.Bad.Paint(fmt.Sprintf("! %d block", b))
	}
	if a > 0 {
		out += look.Dim.Paint(", ") + view.Count(a, "question")
	}
	return out
}

// found is what the diff or the search found, else whether the plan is
// approved. Narrow screens get the short words.
func (s *Screen) found(e *view.Env, w int) string {
	look := e.Look
	if s.diff.on {
		t := look.Added.Paint(fmt.Sprintf("+%d", s.diff.added)) + " " + look.Removed.Paint(fmt.Sprintf("-%d", s.diff.gone))
		if w < 60 {
			return t
		}
		return t + look.Dim.Paint(" lines, d leaves")
	}
	if s.search.text != "" {
		n := len(s.search.lines)
		if n == 0 {
			return look.Warn.Paint("not found: " + s.search.text)
		}
		if k := s.search.number(s.here()); k > 0 {
			return fmt.Sprintf("match %d of %d", k, n)
		}
		return fmt.Sprintf("%d match", n)
	}
	words := s.approval(e)
	if w < 60 {
		return words[0]
	}
	return words[1]
}

// approval is where the plan stands at gate 1, short and long.
func (s *Screen) approval(e *view.Env) [2]string {
	look, a := e.Look, e.Snap.Plan.Approved
	switch {
	case !e.Snap.Gates.Known && a == nil:
		return [2]string{}
	case a == nil:
		t := look.Dim.Paint("not approved")
		return [2]string{t, t + look.Dim.Paint(" yet")}
	case e.Snap.Gates.Word(gate.G1) == "sealed":
		t := look.Good.Paint(look.Check + " approved")
		return [2]string{t, t + " " + approvedBy(e, a)}
	case a.Text != "" && a.Text == e.Snap.Plan.Text:
		t := look.Warn.Paint("seal void")
		return [2]string{t, t + ", the text is as approved"}
	default:
		t := look.Warn.Paint("changed")
		return [2]string{t + ", d: diff", look.Warn.Paint("changed since approval") + ", d shows it"}
	}
}

func fileName(e *view.Env) string {
	if p := e.Snap.Plan.Origin.Path; p != "" {
		return path.Base(p)
	}
	return "plan"
}

// noPlan says why there is nothing to read and what to do.
func (s *Screen) noPlan(e *view.Env, w, h int) []string {
	look := e.Look
	o := e.Snap.Plan.Origin
	file := e.Snap.Task.PlanFile()
	var text []string
	switch o.Status {
	case fact.NotRead:
		text = []string{"The plan was not read yet.", file}
	case fact.Missing:
		text = []string{"No plan yet.", file, "", "It is made from the draft: write the draft, then in Claude Code run", "/humanize:gen-plan --input " + e.Snap.Task.DraftFile() + " --output " + file, "", "It shows up here as soon as it is written."}
	default:
		text = []string{"The plan is " + o.Status.String() + ".", strings.TrimSpace(file + " " + o.Why)}
	}
	text = append(text, "", "draft: "+draftWord(e))
	iw, ih, box := frame(w, h)
	var lines []string
	for _, t := range text {
		lines = append(lines, draw.Wrap(t, iw)...)
	}
	return draw.Block(box("plan", "", draw.Block(lines, iw, ih), w, h, true, look), w, h)
}

func draftWord(e *view.Env) string {
	o := e.Snap.Plan.Draft
	if o.Status == fact.OK {
		return fmt.Sprintf("%s, %d bytes, written %s", e.Snap.Task.DraftFile(), o.Size, ago(view.Age(e.Now, o.ModTime)))
	}
	return strings.TrimSpace(e.Snap.Task.DraftFile() + ", " + o.Status.String() + " " + o.Why)
}

func ago(age string) string {
	if age == "now" || age == "-" || strings.HasPrefix(age, "in ") {
		return age
	}
	return age + " ago"
}

func note(text string, w int, look style.Look) []string {
	var out []string
	for _, l := range draw.Wrap(text, w) {
		out = append(out, look.Dim.Paint(l))
	}
	return out
}
