package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/ui/view"
)

// writePane keeps the pane as a file; the session names it in its reply.
func (m *Model) writePane() tea.Cmd {
	return m.do(session.WriteFile{Name: m.tabs[m.active].title, Text: m.plainBody()})
}

func (m *Model) rescan() tea.Cmd {
	return tea.Batch(tea.ClearScreen, m.do(session.Rescan{}))
}

// runCommand asks before a typed command is run.
func runCommand(e *view.Env, line string) view.Ask {
	if !e.Operate {
		return view.Ask{Say: "run needs operate mode: press o first"}
	}
	argv, ok := session.SplitCommand(line)
	if !ok || len(argv) == 0 {
		return view.Ask{Say: "run: a quote is left open, or nothing was typed"}
	}
	return view.Ask{Confirm: &view.Confirm{
		Title: "run a command",
		Lines: append([]string{"In " + text.Line(e.Snap.Root) + ":", ""}, quoteAll(argv)...),
		Word:  "run",
		Do:    []session.Action{session.StartRun{Argv: argv}},
	}}
}

// quoteAll shows every argument on a line of its own, so that what is run is
// what is read.
func quoteAll(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t'\"") {
			a = "'" + a + "'"
		}
		out[i] = "  " + text.Line(a)
	}
	return out
}
