package loop

import "time"

// State is the front matter of a state file. Text fields are clean; a field
// whose key is absent keeps its zero value, and Has tells the difference.
type State struct {
	Round           Int    `json:"round"`
	Max             Int    `json:"max"`
	FullReviewRound Int    `json:"full_review_round"`
	ReviewStarted   bool   `json:"review_started"`
	Model           string `json:"model"`
	Effort          string `json:"effort"`
	// CodexTimeout is in seconds per reviewer call.
	CodexTimeout     Int     `json:"codex_timeout_seconds"`
	PushEveryRound   bool    `json:"push_every_round"`
	PlanFile         string  `json:"plan_file"`
	PlanTracked      bool    `json:"plan_tracked"`
	StartBranch      string  `json:"start_branch"`
	BaseBranch       string  `json:"base_branch"`
	BaseCommit       string  `json:"base_commit"`
	SessionID        Word    `json:"session_id"`
	StallCount       Int     `json:"stall_count"`
	LastVerdict      Verdict `json:"last_verdict"`
	Drift            string  `json:"drift"`
	AskCodexQuestion bool    `json:"ask_codex_question"`
	Privacy          bool    `json:"privacy"` // absent counts as true, as Humanize reads it
	AgentTeams       bool    `json:"agent_teams"`
	BitlessonNeeded  bool    `json:"bitlesson_required"`
	// BitlessonEmptyOK allows Action none while there is no lesson at all.
	BitlessonEmptyOK bool      `json:"bitlesson_allow_empty_none"`
	BitlessonFile    string    `json:"bitlesson_file,omitempty"`
	StartedAt        time.Time `json:"started_at,omitzero"`
	// Keys are the keys present, in file order (at most 64).
	Keys []string `json:"-"`
	// Extra are keys Humanize 1.16 does not write (forks do), in file order.
	Extra []string `json:"extra_keys,omitempty"`
}

// Has reports whether key stood in the file.
func (s *State) Has(key string) bool {
	for _, k := range s.Keys {
		if k == key {
			return true
		}
	}
	return false
}
