// Package view is what every screen has in common: the Screen contract between
// the one tea.Model in ui and the plain structs in ui/view/<name>, the filter
// grammar, and the words for ages and numbers.
//
// What may not enter: a tea.Model, a message loop, input decoding, I/O, and any
// state that is needed to rebuild the truth. A screen keeps focus, selection
// (by identity), scroll and filter, nothing else.
package view

import (
	"time"

	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
)

// Env is all a screen may look at.
type Env struct {
	Snap *session.Snapshot
	Look style.Look
	// Now is the time ages are shown at. It steps once a minute, so that a
	// screen on which nothing happens is not redrawn.
	Now time.Time
	// Operate is true when gate and run keys are armed.
	Operate bool
	// Covered is true while an overlay lies over the screen: what is drawn then
	// has not been read.
	Covered bool
	Keys    keys.Table
}

// Screen is one tab or overlay. Methods are called from one goroutine. None of
// them may block.
type Screen interface {
	// Context is where keys are looked up: the screen's own context, or
	// keys.Log while a log or text pane inside it has the focus.
	Context() keys.Context
	// Render draws exactly h lines of exactly w cells. It depends on nothing but
	// its arguments and the screen's own state.
	Render(e *Env, w, h int) []string
	// Act does what an action means here. handled is false when it means
	// nothing here; the model then may do something of its own (esc goes back).
	Act(e *Env, id keys.ID) (ask Ask, handled bool)
	// SetFilter is called while a filter is typed; "" clears it.
	SetFilter(e *Env, text string)
	// Filter is the filter in force.
	Filter() string
	// Selected is the selected fact as one line of plain text, for y; "" if
	// nothing is selected.
	Selected(e *Env) string
	// Show brings target (a run id, bundle path, round, section id, cell key)
	// on screen; the meaning belongs to the screen. "" only brings it up.
	Show(e *Env, target string) Ask
}

// Ask is what a screen wants done. The zero Ask wants nothing.
type Ask struct {
	// Do are actions for the session.
	Do []session.Action
	// Go switches to another screen and shows Target there.
	Go     keys.ID
	Target string
	// Act does what another action does, as the palette needs.
	Act keys.ID
	// Gate opens a gate: keys.OpenG1 or keys.OpenG2.
	Gate keys.ID
	// Copy goes to the clipboard.
	Copy string
	// Say goes to the message line.
	Say string
	// Confirm opens a question that wants a word typed before its Do is carried out.
	Confirm *Confirm
	// Prompt opens a list or an input line.
	Prompt *Prompt
}

// Confirm is a question before something Dangerous. Enter does nothing until
// Word is typed.
type Confirm struct {
	Title string
	Lines []string
	Word  string
	Do    []session.Action
}

// Prompt is a list to choose from, with a line to type in. Accept is called
// with the typed text and the index of the chosen entry, -1 when none.
type Prompt struct {
	Title   string
	Text    string // what stands in the line at first
	Entries []Entry
	Accept  func(e *Env, text string, i int) Ask
}

// Entry is one line of a Prompt.
type Entry struct{ Label, Note string }

// Merge joins two asks; the later one wins where only one can be.
func (a Ask) Merge(b Ask) Ask {
	a.Do = append(a.Do, b.Do...)
	if b.Go != "" {
		a.Go, a.Target = b.Go, b.Target
	}
	if b.Act != "" {
		a.Act = b.Act
	}
	if b.Gate != "" {
		a.Gate = b.Gate
	}
	if b.Copy != "" {
		a.Copy = b.Copy
	}
	if b.Say != "" {
		a.Say = b.Say
	}
	if b.Confirm != nil {
		a.Confirm = b.Confirm
	}
	if b.Prompt != nil {
		a.Prompt = b.Prompt
	}
	return a
}
