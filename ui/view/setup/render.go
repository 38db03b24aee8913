package setup

import (
	"fmt"

	"kdapilot/engine/gate"
	"kdapilot/engine/preflight"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// empty says why there are no rows.
func (s *Screen) empty(live preflight.Live, w int) []string {
	switch {
	case s.filter != "" && len(live.Rows()) > 0:
		return draw.Wrap("no check matches the filter "+s.filter, max(w-4, 1))
	case live.Running:
		return draw.Wrap("checks are being made, no row is there yet", max(w-4, 1))
	case live.Stored.Why != "":
		return draw.Wrap("the stored result can not be used: "+live.Stored.Why, max(w-4, 1))
	default:
		return draw.Wrap("no preflight was run in this worktree; kdapilot preflight makes one", max(w-4, 1))
	}
}

// list is the table of checks below a line about the whole.
func (s *Screen) list(e *view.Env, live preflight.Live, rows []preflight.Shown, w, h int) []string {
	iw, ih := inner(w, h)
	head := draw.Wrap(s.whole(e, live), iw)
	head = head[:min(len(head), 2)]
	columns := []draw.Column{
		{Title: "state", Min: 10, Max: 12},
		{Title: "check", Min: 5, Max: 8},
		{Title: "holds when green", Grow: true, Min: min(34, max(iw-26, 8))},
		{Title: "shuts", Priority: 2},
		{Title: "took", Align: draw.Right, Priority: 3, Min: 7},
	}
	t := draw.Table{
		Columns: columns,
		Len:     len(rows), Top: s.top, Selected: s.index(rows), Noun: "checks", Note: s.filter,
		Row: func(i int) []string { return cells(rows[i], e.Look) },
	}
	s.page = max(ih-len(head)-2, 1)
	s.top = draw.Window(s.top, t.Selected, len(rows), s.page)
	t.Top = s.top
	body := append(head, t.Render(iw, max(ih-len(head), 1), e.Look)...)
	return frame("setup", body, w, h, true, e.Look)
}

func cells(r preflight.Shown, look style.Look) []string {
	took := fmt.Sprintf("%d ms", r.TookMS)
	if r.Old {
		took = "before"
	}
	blocks := r.Blocks
	if !r.Holds() {
		blocks = ""
	}
	return []string{paint(r.State, look), string(r.ID), r.Title, blocks, took}
}

// paint gives a state its mark and colour; the word stays, so that colour alone
// says nothing.
func paint(st preflight.State, look style.Look) string {
	switch st {
	case preflight.Green:
		return look.Good.Paint(look.Check + " green")
	case preflight.Red:
		return look.Bad.Paint(look.Cross + " red")
	case preflight.NotNeeded:
		return look.Dim.Paint("  not needed")
	case preflight.Amber:
		return look.Warn.Paint("! amber")
	default:
		return look.Warn.Paint("? " + string(st))
	}
}

// whole says what gate 2 would make of the stored result.
func (s *Screen) whole(e *view.Env, live preflight.Live) string {
	if live.Running {
		return fmt.Sprintf("checking, %d rows so far", len(live.Fresh))
	}
	g := preflight.ForGate(live.Stored, e.Now)
	word := "gate 2 takes it"
	if g.State != gate.Green {
		word = "gate 2 does not take it"
	}
	if r := live.Stored.Result; r != nil {
		word += ", seen on " + r.Fingerprint.Host
	}
	return word + ": " + g.Text
}

// frame draws side borders only where there is room for them, so that a line of
// a narrow pane can be copied whole.
func frame(title string, lines []string, w, h int, focus bool, look style.Look) []string {
	if w <= 40 {
		return draw.Panel(title, lines, w, h, focus, look)
	}
	return draw.Box(title, lines, w, h, focus, look)
}

func inner(w, h int) (int, int) {
	if w <= 40 {
		return w, max(h-1, 0)
	}
	return draw.InnerSize(w, h)
}

// about is everything about the selected row.
func (s *Screen) about(e *view.Env, rows []preflight.Shown, w, h int) []string {
	r := rows[s.index(rows)]
	iw, _ := inner(w, h)
	return frame(string(r.ID), aboutLines(e, r, iw), w, h, false, e.Look)
}

func aboutLines(e *view.Env, r preflight.Shown, iw int) []string {
	lines := []string{paint(r.State, e.Look) + "  " + r.Title}
	for _, l := range r.Seen {
		lines = append(lines, draw.Wrap(l, iw)...)
	}
	if r.Do != "" {
		lines = append(lines, "", e.Look.Strong.Paint("do"))
		lines = append(lines, draw.Wrap(r.Do, iw)...)
	}
	if r.Fix != "" {
		lines = append(lines, draw.Wrap("repair by name: "+r.Fix, iw)...)
	}
	if r.Holds() && r.Blocks != "" {
		lines = append(lines, "", e.Look.Bad.Paint("keeps "+r.Blocks+" shut"))
	}
	if r.Old {
		lines = append(lines, "", e.Look.Dim.Paint("of the stored result; being checked again"))
	}
	return lines
}
