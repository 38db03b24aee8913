package humanize

import (
	"kdapilot/engine/fact"
)

// Text is one file's text for a screen: bounded, clean, with provenance.
type Text struct {
	Name   string      `json:"name"`
	Text   string      `json:"text"`
	Cut    bool        `json:"cut"` // bytes were left out at the end (a log: at the start)
	Origin fact.Origin `json:"origin"`
}

// RoundTexts are the texts of one round, read when a person drills into it.
type RoundTexts struct {
	Loop         string `json:"loop"`
	Round        int    `json:"round"`
	Prompt       Text   `json:"prompt"`
	Summary      Text   `json:"summary"`
	Contract     Text   `json:"contract"`
	ReviewPrompt Text   `json:"review_prompt"`
	ReviewResult Text   `json:"review_result"`
	// Log is the tail of the reviewer's log of this round.
	Log Text `json:"log"`
}
