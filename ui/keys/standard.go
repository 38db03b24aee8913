package keys

// Actions known to the program.
const (
	GoOverview ID = "go.overview"
	GoPlan     ID = "go.plan"
	GoRounds   ID = "go.rounds"
	GoStalls   ID = "go.stalls"
	GoBench    ID = "go.bench"
	GoRuns     ID = "go.runs"
	GoSetup    ID = "go.setup"

	Up          ID = "move.up"
	Down        ID = "move.down"
	MoveLeft    ID = "move.left"
	MoveRight   ID = "move.right"
	PageUp      ID = "move.page_up"
	PageDown    ID = "move.page_down"
	HalfUp      ID = "move.half_up"
	HalfDown    ID = "move.half_down"
	Top         ID = "move.top"
	Bottom      ID = "move.bottom"
	PrevSection ID = "move.prev_section"
	NextSection ID = "move.next_section"
	NextPane    ID = "pane.next"
	PrevPane    ID = "pane.prev"
	Zoom        ID = "zoom"
	Drill       ID = "drill"
	Back        ID = "back"

	Filter    ID = "filter"
	NextMatch ID = "match.next"
	PrevMatch ID = "match.prev"
	Palette   ID = "palette"
	ShowHelp  ID = "help"
	Copy      ID = "copy"
	CopyPane  ID = "copy.pane"
	Write     ID = "write"
	Redraw    ID = "redraw"
	Rescan    ID = "rescan"
	Suspend   ID = "suspend"
	Operate   ID = "operate"
	Quit      ID = "quit"
	ForceQuit ID = "quit.now"

	OpenG1 ID = "gate.plan"
	OpenG2 ID = "gate.loop"

	Run      ID = "run"
	RunAgain ID = "run.again"
	Cancel   ID = "run.cancel"
	Repair   ID = "setup.fix"
	Check    ID = "setup.check"

	ShowDiff   ID = "diff"
	SetBase    ID = "base"
	ClearBase  ID = "base.clear"
	Sort       ID = "sort"
	SortFlip   ID = "sort.flip"
	NextUnread ID = "unread.next"
	Source     ID = "source"
	Metric     ID = "metric"
	Regimes    ID = "regimes"
	OnlyOpen   ID = "only_open"
	Follow     ID = "log.follow"
	Wrap       ID = "log.wrap"

	GateCancel     ID = "gate.cancel"
	GateConfirm    ID = "gate.confirm"
	GateUp         ID = "gate.up"
	GateDown       ID = "gate.down"
	ConfirmCancel  ID = "confirm.cancel"
	ConfirmAccept  ID = "confirm.accept"
	PromptCancel   ID = "prompt.cancel"
	PromptAccept   ID = "prompt.accept"
	PromptPrev     ID = "prompt.prev"
	PromptNext     ID = "prompt.next"
	PromptComplete ID = "prompt.complete"
	HelpClose      ID = "help.close"
	HelpUp         ID = "help.up"
	HelpDown       ID = "help.down"
)

// Standard returns the keys the program comes with. The order is the order of
// the footer and the help. A test proves that it passes New.
func Standard() Table {
	t, err := New(standard())
	if err != nil {
		// Not reachable while TestStandard passes. Without keys the program
		// still shows everything, and ctrl+c still ends it.
		return Table{}
	}
	return t
}

func standard() []Action {
	var all []Action
	for _, part := range [][]Action{viewActions(), operateActions(), globalActions(), moveActions(), tabActions(), modalActions()} {
		all = append(all, part...)
	}
	return all
}

func in(c ...Context) []Context { return c }

func viewActions() []Action {
	return []Action{
		{ID: ShowDiff, Keys: []string{"d"}, Short: "diff", Long: "Show what changed: the plan against the approved one", Contexts: in(Plan)},
		{ID: NextUnread, Keys: []string{"u"}, Short: "next unread", Long: "Go to the next section that has not been on screen", Contexts: in(Plan)},
		{ID: SetBase, Keys: []string{"b"}, Short: "set base", Long: "Take the selected one as the base of comparison", Contexts: in(Stalls, Bench, Runs)},
		{ID: ClearBase, Keys: []string{"B"}, Long: "Compare with the standard base again", Contexts: in(Stalls, Bench, Runs)},
		{ID: Source, Keys: []string{"i"}, Short: "source/ISA", Long: "Switch between source lines and instructions", Contexts: in(Stalls)},
		{ID: Metric, Keys: []string{"m"}, Short: "metric", Long: "Switch between share of stalls and cycles per hit", Contexts: in(Stalls)},
		{ID: Regimes, Keys: []string{"m"}, Short: "cells/regimes", Long: "Switch between single cells and regimes", Contexts: in(Bench)},
		{ID: OnlyOpen, Keys: []string{"u"}, Short: "open only", Long: "Show only what is red or amber, or everything", Contexts: in(Bench)},
		{ID: Sort, Keys: []string{"s"}, Short: "sort", Long: "Sort by the next column", Contexts: in(Stalls, Bench, Runs)},
		{ID: SortFlip, Keys: []string{"t"}, Long: "Turn the order of sorting round", Contexts: in(Stalls, Bench, Runs)},
		{ID: Follow, Keys: []string{"f"}, Short: "follow", Long: "Stay at the end of the log as it grows", Contexts: in(Log)},
		{ID: Wrap, Keys: []string{"W"}, Short: "wrap", Long: "Wrap long lines, or let them run out", Contexts: in(Log)},
	}
}

func operateActions() []Action {
	return []Action{
		{ID: OpenG1, Keys: []string{"A"}, Short: "approve plan", Long: "Open gate 1: approve the plan that was read", Contexts: in(Plan), Dangerous: true, Operate: true},
		{ID: Run, Keys: []string{"r"}, Short: "run", Long: "Choose a preset and run it", Contexts: in(Overview, Stalls, Bench, Runs), Dangerous: true, Operate: true},
		{ID: RunAgain, Keys: []string{"R"}, Short: "run again", Long: "Run the selected run again with the same command", Contexts: in(Bench, Runs), Dangerous: true, Operate: true},
		{ID: Cancel, Keys: []string{"x"}, Short: "cancel", Long: "Cancel the selected run, after a question", Contexts: in(Runs), Dangerous: true, Operate: true},
		{ID: Check, Keys: []string{"c"}, Short: "check", Long: "Make all preflight checks again; on the row of the model, ask it too", Contexts: in(Setup), Operate: true},
		{ID: Repair, Keys: []string{"F"}, Short: "repair", Long: "Do the repair that the selected check names, after a question", Contexts: in(Setup), Dangerous: true, Operate: true},
		{ID: OpenG2, Keys: []string{"S"}, Short: "start loop", Long: "Open gate 2: start the loop", Contexts: in(Global), Dangerous: true, Operate: true},
	}
}

func globalActions() []Action {
	return []Action{
		{ID: Operate, Keys: []string{"o"}, Short: "operate", Long: "Switch operate mode on or off; gates and runs need it", Contexts: in(Global)},
		{ID: Drill, Keys: []string{"enter"}, Short: "open", Long: "Open what is selected", Contexts: in(Global)},
		{ID: Back, Keys: []string{"esc", "backspace"}, Short: "back", Long: "Go back, or clear the filter", Contexts: in(Global)},
		{ID: Filter, Keys: []string{"/"}, Short: "filter", Long: "Filter rows or search text: /text, /!text without it, /-f text fuzzy", Contexts: in(Global)},
		{ID: NextMatch, Keys: []string{"n"}, Long: "Next match", Contexts: in(Global)},
		{ID: PrevMatch, Keys: []string{"N"}, Long: "Match before", Contexts: in(Global)},
		{ID: ShowHelp, Keys: []string{"?", "f1"}, Short: "help", Long: "Keys of this view", Contexts: in(Global)},
		{ID: Palette, Keys: []string{":"}, Short: "palette", Long: "Find any action by its name", Contexts: in(Global)},
		{ID: Copy, Keys: []string{"y"}, Short: "copy", Long: "Copy the selected fact", Contexts: in(Global)},
		{ID: CopyPane, Keys: []string{"Y"}, Long: "Copy the pane as plain text", Contexts: in(Global)},
		{ID: Write, Keys: []string{"w"}, Long: "Write the pane to a file", Contexts: in(Global)},
		{ID: Zoom, Keys: []string{"z"}, Short: "zoom", Long: "Show this pane alone without borders, for selecting text", Contexts: in(Global)},
		{ID: Rescan, Keys: []string{"ctrl+r"}, Long: "Read everything again", Contexts: in(Global)},
		{ID: Redraw, Keys: []string{"ctrl+l"}, Long: "Draw the screen again", Contexts: in(Global)},
		{ID: Suspend, Keys: []string{"ctrl+z"}, Long: "Suspend; fg brings it back", Contexts: in(Global)},
		{ID: Quit, Keys: []string{"q"}, Short: "quit", Long: "Quit; runs go on", Contexts: in(Global)},
		{ID: ForceQuit, Keys: []string{"ctrl+c"}, Long: "Quit from anywhere, also from a gate (nothing is approved)", Contexts: in(Global, Gate, Prompt, Confirm, Help)},
	}
}

func moveActions() []Action {
	return []Action{
		{ID: Up, Keys: []string{"up", "k"}, Long: "Up", Contexts: in(Global)},
		{ID: Down, Keys: []string{"down", "j"}, Long: "Down", Contexts: in(Global)},
		{ID: MoveLeft, Keys: []string{"left", "h"}, Long: "Left, or out", Contexts: in(Global)},
		{ID: MoveRight, Keys: []string{"right", "l"}, Long: "Right, or in", Contexts: in(Global)},
		{ID: PageUp, Keys: []string{"pgup", "ctrl+b"}, Long: "A page up", Contexts: in(Global)},
		{ID: PageDown, Keys: []string{"pgdown", "ctrl+f", "space"}, Long: "A page down", Contexts: in(Global)},
		{ID: HalfUp, Keys: []string{"ctrl+u"}, Long: "Half a page up", Contexts: in(Global)},
		{ID: HalfDown, Keys: []string{"ctrl+d"}, Long: "Half a page down", Contexts: in(Global)},
		{ID: Top, Keys: []string{"g", "home"}, Long: "First line", Contexts: in(Global)},
		{ID: Bottom, Keys: []string{"G", "end"}, Long: "Last line", Contexts: in(Global)},
		{ID: PrevSection, Keys: []string{"["}, Long: "Section, hunk or group before", Contexts: in(Global)},
		{ID: NextSection, Keys: []string{"]"}, Long: "Next section, hunk or group", Contexts: in(Global)},
		{ID: NextPane, Keys: []string{"tab"}, Short: "next pane", Long: "Focus the next pane", Contexts: in(Global)},
		{ID: PrevPane, Keys: []string{"shift+tab"}, Long: "Focus the pane before", Contexts: in(Global)},
	}
}

func tabActions() []Action {
	return []Action{
		{ID: GoOverview, Keys: []string{"1"}, Long: "Overview", Contexts: in(Global)},
		{ID: GoPlan, Keys: []string{"2"}, Long: "Plan", Contexts: in(Global)},
		{ID: GoRounds, Keys: []string{"3"}, Long: "Rounds", Contexts: in(Global)},
		{ID: GoStalls, Keys: []string{"4"}, Long: "Stalls", Contexts: in(Global)},
		{ID: GoBench, Keys: []string{"5"}, Long: "Bench", Contexts: in(Global)},
		{ID: GoRuns, Keys: []string{"6"}, Long: "Runs", Contexts: in(Global)},
		{ID: GoSetup, Keys: []string{"9"}, Long: "Setup: preflight, check by check", Contexts: in(Global)},
	}
}

func modalActions() []Action {
	return []Action{
		{ID: GateConfirm, Keys: []string{"enter"}, Short: "confirm the typed phrase", Long: "Confirm; does nothing until the typed phrase matches", Contexts: in(Gate)},
		{ID: GateCancel, Keys: []string{"esc"}, Short: "leave, nothing approved", Long: "Leave the gate; nothing is approved", Contexts: in(Gate)},
		{ID: GateUp, Keys: []string{"up", "pgup"}, Long: "Scroll up", Contexts: in(Gate)},
		{ID: GateDown, Keys: []string{"down", "pgdown"}, Long: "Scroll down", Contexts: in(Gate)},

		{ID: ConfirmAccept, Keys: []string{"enter"}, Short: "confirm the typed word", Long: "Confirm; does nothing until the typed word matches", Contexts: in(Confirm)},
		{ID: ConfirmCancel, Keys: []string{"esc"}, Short: "leave it", Long: "Leave it as it is", Contexts: in(Confirm)},

		{ID: PromptAccept, Keys: []string{"enter"}, Short: "accept", Long: "Accept", Contexts: in(Prompt)},
		{ID: PromptCancel, Keys: []string{"esc"}, Short: "cancel", Long: "Cancel and forget what was typed", Contexts: in(Prompt)},
		{ID: PromptPrev, Keys: []string{"up", "ctrl+p"}, Long: "Entry before", Contexts: in(Prompt)},
		{ID: PromptNext, Keys: []string{"down", "ctrl+n"}, Long: "Next entry", Contexts: in(Prompt)},
		{ID: PromptComplete, Keys: []string{"tab"}, Short: "complete", Long: "Complete", Contexts: in(Prompt)},

		{ID: HelpClose, Keys: []string{"esc", "q", "?", "f1"}, Short: "close", Long: "Close", Contexts: in(Help)},
		{ID: HelpUp, Keys: []string{"up", "k", "pgup"}, Long: "Scroll up", Contexts: in(Help)},
		{ID: HelpDown, Keys: []string{"down", "j", "pgdown", "space"}, Long: "Scroll down", Contexts: in(Help)},
	}
}
