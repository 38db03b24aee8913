package plan

import (
	"regexp"
	"strconv"
	"strings"
)

// StartOptions are the arguments of a start command as setup reads them.
type StartOptions struct {
	// Plan is the positional plan, PlanFlag that of --plan-file.
	Plan, PlanFlag string
	TrackPlan      bool
	SkipImpl       bool
	AgentTeams     bool
	// NoQuestions and SkipQuiz switch Humanize's own human checks off.
	NoQuestions, SkipQuiz bool
	// Max, FullReview and Timeout are as written; "" when absent.
	Max, FullReview, Timeout string
	Model, Effort            string
	Base                     string
}

// File is the plan, however it was given.
func (o StartOptions) File() string {
	if o.Plan != "" {
		return o.Plan
	}
	return o.PlanFlag
}

var (
	reDigits = regexp.MustCompile(`^[0-9]+$`)
	reModel  = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

// ParseStart reads arguments one by one, as setup does: the first that is wrong
// ends it. refusal is "" when all are taken, else the line setup would print.
func ParseStart(args []string) (o StartOptions, refusal string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a, "-") {
			if o.Plan != "" {
				return o, "Error: Multiple plan files specified"
			}
			o.Plan = a
			continue
		}
		if set, ok := o.switchOf(a); ok {
			if set != nil {
				*set = true
			}
			continue
		}
		value, needs := o.valueOf(a)
		if value == nil {
			return o, "Unknown option: " + a
		}
		if i+1 == len(args) || args[i+1] == "" {
			return o, "Error: " + a + " requires a " + needs + " argument"
		}
		i++
		*value = args[i]
		if why := o.number(a); why != "" {
			return o, why
		}
	}
	o.Model, o.Effort, _ = strings.Cut(o.Model, ":")
	return o, ""
}

// switchOf finds a flag without a value; nil with true for one that decides
// nothing here.
func (o *StartOptions) switchOf(a string) (*bool, bool) {
	switch a {
	case "--track-plan-file":
		return &o.TrackPlan, true
	case "--skip-impl":
		return &o.SkipImpl, true
	case "--agent-teams":
		return &o.AgentTeams, true
	case "--claude-answer-codex":
		return &o.NoQuestions, true
	case "--skip-quiz":
		return &o.SkipQuiz, true
	case "--yolo":
		o.SkipQuiz = true
		return &o.NoQuestions, true
	case "--push-every-round", "--privacy", "--allow-empty-bitlesson-none", "--require-bitlesson-entry-for-none":
		return nil, true
	}
	return nil, false
}

func (o *StartOptions) valueOf(a string) (*string, string) {
	switch a {
	case "--plan-file":
		return &o.PlanFlag, "file path"
	case "--max":
		return &o.Max, "number"
	case "--full-review-round":
		return &o.FullReview, "number"
	case "--codex-timeout":
		return &o.Timeout, "number"
	case "--codex-model":
		return &o.Model, "MODEL:EFFORT"
	case "--base-branch":
		return &o.Base, "branch name"
	}
	return nil, ""
}

func (o *StartOptions) number(a string) string {
	v := map[string]string{"--max": o.Max, "--full-review-round": o.FullReview, "--codex-timeout": o.Timeout}[a]
	switch {
	case v == "":
		return ""
	case !reDigits.MatchString(v):
		return "Error: " + a + " must be a positive integer, got: " + v
	case a == "--full-review-round" && below(v, 2):
		return "Error: --full-review-round must be at least 2, got: " + v
	}
	return ""
}

// below compares digits of any length with a small number.
func below(digits string, n int) bool {
	v, err := strconv.Atoi(digits)
	return err == nil && v < n
}
