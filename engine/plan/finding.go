package plan

// Level grades a finding.
type Level string

// The levels. Block keeps gate 1 shut until cleared or waived; Ask is a question
// for the reviewer's eye; Note is worth knowing.
const (
	Block Level = "block"
	Ask   Level = "ask"
	Note  Level = "note"
)

// Finding is something a reviewer of gate 1 should see.
type Finding struct {
	// ID is stable; waivers name it.
	ID    string `json:"id"`
	Level Level  `json:"level"`
	// Title says what ought to hold, or asks a question.
	Title string `json:"title"`
	// Line is 1-based, 0 for the plan as a whole; Text quotes what was seen.
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
	// Clears says what makes it go away.
	Clears string `json:"clears,omitempty"`
}

// Facts are what Check needs beside the plan. The zero Facts leave out the
// checks they would decide.
type Facts struct {
	// Draft is the draft file as it is now; nil when not read.
	Draft []byte
	// BaseBranch is the locked base, BaseCommit its commit; "" when not known.
	BaseBranch, BaseCommit string
}

// Required are the titles of the nine level 2 sections that gen-plan writes and
// refine-plan asks for.
func Required() []string {
	return []string{
		"Goal Description", "Acceptance Criteria", "Path Boundaries", "Feasibility Hints and Suggestions",
		"Dependencies and Sequence", "Task Breakdown", "Claude-Codex Deliberation", "Pending User Decisions",
		"Implementation Notes",
	}
}
