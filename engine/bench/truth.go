package bench

// Says is what one witness claims.
type Says string

// The claims of a witness. Silent means it exists and claims nothing.
const (
	SaysPass   Says = "pass"
	SaysFail   Says = "fail"
	SaysSilent Says = "silent"
)

// Witness is one of the three sources of a run's verdict, with its words.
type Witness struct {
	Says  Says   `json:"says"`
	Quote string `json:"quote"`
}

// Outcome is the run's verdict after the witnesses were heard.
type Outcome string

// The outcomes. Only OutcomePass is green; it needs agreement and executed
// cells. Disagree and NotProven are red. OutcomeRunning is for the caller of a
// run that has not ended: Truth speaks about ended runs only.
const (
	OutcomePass      Outcome = "pass"
	OutcomeFail      Outcome = "fail"
	OutcomeDisagree  Outcome = "disagree"
	OutcomeNotProven Outcome = "not proven"
	OutcomeCrashed   Outcome = "crashed"
	OutcomeRunning   Outcome = "incomplete"
)

// Verdict is the three-way truth about one run.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	Agree   bool    `json:"agree"`
	Exit    Witness `json:"exit"`
	Rows    Witness `json:"rows"`
	Text    Witness `json:"text"`
	// Executed and Expected count cells; Expected is 0 when not known.
	Executed int `json:"executed"`
	Expected int `json:"expected,omitempty"`
	// MaxErrOnly: the run checked max_err and no cosine (compare mode), which
	// is not enough for a promotion.
	MaxErrOnly bool `json:"max_err_only,omitempty"`
	// Reasons say in words why the outcome is what it is, reds first.
	Reasons []Reason `json:"reasons,omitempty"`
}

// Reason is one finding about a run's truth.
type Reason struct {
	Severity Severity `json:"severity"`
	// Rule is the id in the catalogue, for example FA-20; "" when none.
	Rule string `json:"rule,omitempty"`
	Text string `json:"text"`
	// Quote is the line or cell that shows it.
	Quote string `json:"quote,omitempty"`
}
