package ui

import (
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/ui/draw"
	"kdapilot/ui/view"
)

// deliverPrompt asks where the sealed start command goes. Nothing is sent
// before a person picks.
func deliverPrompt(s *session.Snapshot, command string) view.Prompt {
	var entries []view.Entry
	var acts []session.Deliver
	add := func(label, note string, d session.Deliver) {
		d.Text = command
		entries, acts = append(entries, view.Entry{Label: label, Note: note}), append(acts, d)
	}
	if s.Simulated {
		add("SIMULATED loop of the demo", "plays Humanize", session.Deliver{Route: session.ToDemo})
	}
	for _, p := range s.Panes {
		note := text.Line(p.Title)
		add("tmux pane "+p.ID+"  "+text.Line(p.Command), note, session.Deliver{Route: session.ToPane, Pane: p.ID})
	}
	add("clipboard", "through tmux", session.Deliver{Route: session.ToClipboard})
	add("only show it", "type it yourself", session.Deliver{Route: session.ToText})
	return view.Prompt{
		Title: "gate 2 is sealed: where does the start command go?", Entries: entries,
		Accept: func(_ *view.Env, _ string, i int) view.Ask {
			if i < 0 {
				return view.Ask{Say: "not delivered: " + command}
			}
			return view.Ask{Do: []session.Action{acts[i]}}
		},
	}
}

// overlayAt puts a box in the middle; a box as wide as the screen starts at its
// top.
func overlayAt(base, box []string, w, h int) []string {
	if len(box) == 0 {
		return base
	}
	x := max((w-draw.Width(box[0]))/2, 0)
	y := max((h-len(box))/2, 0)
	return draw.Overlay(base, box, x, y)
}
