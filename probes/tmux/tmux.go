// Package tmux is the probe for the terminal multiplexer the cockpit sits in:
// when a person last typed, which panes there are, and the two routes text can
// take: into a chosen pane, or to the clipboard of the outer terminal.
//
// What may not enter: deciding to send anything. Paste and Enter are separate
// calls, and only a person's keypress leads to them.
package tmux
