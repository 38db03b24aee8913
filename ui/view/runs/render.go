package runs

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/runs"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/term"
	"kdapilot/ui/view"
	"kdapilot/ui/view/bench/cellname"
)

// Render implements view.Screen.
func (s *Screen) Render(e *view.Env, w, h int) []string {
	if len(e.Snap.Runs) == 0 {
		return draw.Block(draw.Wrap(none(e.Snap.RunsStatus), w), w, h)
	}
	var out []string
	switch c := term.ClassOf(w, h); {
	case s.details:
		out = s.detailPane(e, w, h)
	case c == term.FourPanes && h >= 12:
		out = s.four(e, w, h)
	case c == term.TwoPanes, c == term.FourPanes:
		left := max(w*2/5, 36)
		right := log
		if s.focus == rows {
			right = rows
		}
		out = draw.JoinH(s.left(e, left, h), s.box(e, right, w-left, h))
	default:
		out = s.narrow(e, w, h)
	}
	s.page = max(s.pages[s.focus], 1)
	if s.details {
		s.page = max(h-1, 1)
	}
	return draw.Block(out, w, h)
}

// none says why there is no run: nobody looked, it can not be read, or there is
// none.
func none(o fact.Origin) string {
	switch o.Status {
	case fact.NotRead:
		return "Runs: not read yet."
	case fact.Unreadable, fact.Torn:
		return "Runs can not be read: " + o.Why
	default:
		return "None: nothing was run here yet. Press o, then r to run a preset."
	}
}

func (s *Screen) detailPane(e *view.Env, w, h int) []string {
	r := s.run(e)
	edge, inner := 1, w
	if w >= term.TwoMin {
		edge, inner = 2, w-2
	}
	var lines []string
	if r != nil {
		lines = s.everything(e, r, inner)
	}
	room := max(h-edge, 1)
	s.scroll = min(s.scroll, max(len(lines)-room, 0))
	title := "run " + draw.Position(s.scroll, min(room, len(lines)), len(lines))
	lines = draw.Block(lines[s.scroll:], inner, room)
	if edge == 2 {
		return draw.Box(title, lines, w, h, true, e.Look)
	}
	return draw.Panel(title, lines, w, h, true, e.Look)
}

// four is list and summary on the left, log above rows on the right.
func (s *Screen) four(e *view.Env, w, h int) []string {
	left := min(max(w*2/5, 48), 84)
	rowsH := max(h*2/5, 5)
	right := draw.JoinV(s.box(e, log, w-left, h-rowsH), s.box(e, rows, w-left, rowsH))
	return draw.JoinH(s.left(e, left, h), right)
}

// left is the list with the state of the selected run below it.
func (s *Screen) left(e *view.Env, w, h int) []string {
	iw, _ := draw.InnerSize(w, h)
	all := s.list(e)
	r := s.run(e)
	var lines []string
	if r != nil {
		lines = summary(e, r, iw)
	}
	dh := min(len(lines)+2, h/2)
	if h < 12 {
		dh = 0
	}
	lh := h - dh
	_, ih := draw.InnerSize(w, lh)
	out := draw.Box(s.title(e, all), s.table(e, all, iw, ih), w, lh, s.focus == list, e.Look)
	if dh > 0 {
		out = append(out, draw.Box("selected", lines, w, dh, false, e.Look)...)
	}
	return out
}

func (s *Screen) title(e *view.Env, all []*runs.Run) string {
	n := 0
	for i := range e.Snap.Runs {
		if st := e.Snap.Runs[i].State; st == runs.Running || st == runs.Queued {
			n++
		}
	}
	switch e.Snap.RunsStatus.Status {
	case fact.Torn, fact.Unreadable:
		return "runs, last good reading: " + e.Snap.RunsStatus.Why
	}
	if n > 0 {
		return fmt.Sprintf("runs, %d under way", n)
	}
	return "runs"
}

// narrow shows one pane; the list has the summary below it.
func (s *Screen) narrow(e *view.Env, w, h int) []string {
	if s.focus != list {
		r := s.run(e)
		head := ""
		if r != nil {
			head = r.Manifest.Preset + " " + string(r.State) + " " + cells(r)
			if l := labels(e, r); len(l) > 0 {
				head = strings.Join(l, " ") + " " + head
			}
		}
		title, lines := s.content(e, s.focus, w, max(h-2, 1))
		out := []string{draw.TitleRule(title, w, true, e.Look)}
		if h > 2 {
			out = append(out, e.Look.Dim.Paint(draw.Fit(head, w)))
		}
		return append(out, lines...)
	}
	all := s.list(e)
	var lines []string
	if r := s.run(e); r != nil {
		lines = summary(e, r, w)
	}
	dh := min(len(lines)+1, h/2)
	if h < 8 {
		dh = 0
	}
	out := draw.Panel(s.title(e, all), s.table(e, all, w, max(h-dh-1, 1)), w, h-dh, true, e.Look)
	if dh > 0 {
		out = append(out, draw.Panel("selected (tab: log, rows)", lines, w, dh, false, e.Look)...)
	}
	return out
}

func (s *Screen) box(e *view.Env, p pane, w, h int) []string {
	iw, ih := draw.InnerSize(w, h)
	title, lines := s.content(e, p, iw, ih)
	return draw.Box(title, lines, w, h, s.focus == p, e.Look)
}

// content is the log or the rows of the selected run.
func (s *Screen) content(e *view.Env, p pane, w, h int) (title string, lines []string) {
	r := s.run(e)
	if r == nil {
		return "", nil
	}
	if p == rows {
		return s.rowLines(e, r, w, h)
	}
	s.logW, s.logH = max(w, 1), max(h, 1)
	s.pages[log] = s.logH
	if e.Snap.LogID != r.ID {
		return "log", draw.Block([]string{e.Look.Dim.Paint(draw.Fit("log not read yet; tab asks for it", w))}, w, h)
	}
	l := e.Snap.Log
	if l.End() == 0 {
		text := "no line of log yet"
		if r.State.Final() {
			text = "the log is empty"
		}
		return "log", draw.Block([]string{e.Look.Dim.Paint(draw.Fit(text, w))}, w, h)
	}
	v := s.log
	v.Paint = func(line string) style.Token { return paintLog(line, e.Look) }
	return "log " + v.Status(l, w, h), v.Render(l, w, h, e.Look)
}

// paintLog colours what a reader looks for; the words themselves stay.
func paintLog(line string, look style.Look) style.Token {
	switch {
	case strings.Contains(line, "FAIL"), strings.Contains(line, "ERR"), strings.Contains(line, "Traceback"), strings.Contains(line, "Error:"), strings.Contains(line, "fault"):
		return look.Bad
	case strings.Contains(line, "Warning"), strings.Contains(line, "SKIP"):
		return look.Warn
	default:
		return style.Token{}
	}
}

// rowLines are the counts by status and the last rows.
func (s *Screen) rowLines(e *view.Env, r *runs.Run, w, h int) (string, []string) {
	look := e.Look
	if r.Manifest.Kind == runs.Profile {
		// An answer is read from its top, rows from their end.
		lines := answerLines(e, r, w)
		s.pages[rows], s.back = max(h, 1), min(s.back, max(len(lines)-h, 0))
		return "answer", draw.Block(lines[s.back:], w, h)
	}
	res := e.Snap.Results[r.ID]
	if res == nil {
		s.pages[rows] = 1
		return "rows", draw.Block([]string{look.Dim.Paint(draw.Fit(noRows(r), w))}, w, h)
	}
	all := res.AllRows()
	if len(all) == 0 {
		s.pages[rows] = 1
		return "rows", draw.Block(noRowLines(r, res, w, look), w, h)
	}
	names := cellname.New(len(all), func(i int) (string, string) { return all[i].Section, all[i].Key })
	t := draw.Table{
		Columns: []draw.Column{
			{Title: "cell", Min: 20, Max: 46, Middle: true},
			{Title: "status", Min: 6},
			{Title: "us", Align: draw.Right},
			{Title: "max_err", Align: draw.Right, Priority: 2},
			{Title: "min_cos", Align: draw.Right, Priority: 1},
			{Title: "error", Min: 10, Priority: 3, Grow: true},
		},
		Len: len(all), Selected: -1, Noun: "rows", Bare: true,
		Row: func(i int) []string { return rowCells(names, &all[i], look) },
	}
	th := max(h-1, 1)
	shown := max(t.Height(th), 1)
	s.pages[rows] = shown
	s.back = min(s.back, max(len(all)-shown, 0))
	t.Top = max(len(all)-shown-s.back, 0)
	title := "rows so far"
	if r.State.Final() {
		title = "rows"
	}
	if c := names.Common(all[0].Section, all[0].Key); c != "" {
		title += ", each " + c
	}
	return title, append([]string{draw.Fit(counts(all, look), w)}, t.Render(w, th, look)...)
}

// counts are the rows by status, reds first.
func counts(all []bench.Row, look style.Look) string {
	n := map[bench.Status]int{}
	for i := range all {
		n[all[i].Status]++
	}
	words := slices.SortedFunc(maps.Keys(n), func(a, b bench.Status) int {
		if x, y := red(a), red(b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(string(a), string(b))
	})
	parts := make([]string, len(words))
	for i, word := range words {
		parts[i] = fmt.Sprintf("%d %s", n[word], word)
		if red(word) {
			parts[i] = look.Bad.Paint(parts[i])
		}
	}
	return strings.Join(parts, ", ")
}

func red(s bench.Status) bool {
	c := s.Class()
	return c == bench.ClassFail || c == bench.ClassSkip
}

func rowCells(names cellname.Shortener, r *bench.Row, look style.Look) []string {
	state := string(r.Status)
	if red(r.Status) {
		state = look.Bad.Paint(state)
	}
	return []string{names.Short(r.Section, r.Key), state, number(r.US, 'f', 1), number(r.MaxErr, 'e', 2), number(r.MinCos, 'f', 5), r.Error}
}

func number(n bench.Num, format byte, digits int) string {
	if !n.OK {
		return "-"
	}
	return strconv.FormatFloat(n.V, format, digits, 64)
}

// noRowLines are for runs whose output holds no rows: tests, or nothing.
func noRowLines(r *runs.Run, res *bench.Result, w int, look style.Look) []string {
	if len(res.Tests) == 0 {
		return []string{look.Dim.Paint(draw.Fit(noRows(r), w))}
	}
	n := map[string]int{}
	for _, t := range res.Tests {
		n[t.Outcome]++
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%d %s", n[k], k))
	}
	out := []string{draw.Fit("tests: "+strings.Join(parts, ", "), w)}
	for _, f := range res.Failures {
		out = append(out, look.Bad.Paint(draw.Fit(f, w)))
	}
	return out
}
