package gate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"kdapilot/engine/loop"
	"kdapilot/engine/task"
)

// StartArgv is the slash command of gate 2, element by element. The flags are
// those of the workflow: both of Humanize's own human checks are off, since the
// gates here replace them.
func StartArgv(t task.Task) []string {
	st := t.Start.Or(task.DefaultStart())
	return []string{
		"/humanize:start-rlcr-loop", t.PlanFile(), "--skip-quiz", "--claude-answer-codex",
		"--max", strconv.Itoa(st.Max), "--codex-model", st.Model, "--codex-timeout", strconv.Itoa(st.Timeout),
		"--base-branch", t.BaseBranch,
	}
}

var (
	branchForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+@-]*$`)
	modelForm  = regexp.MustCompile(`^[A-Za-z0-9._-]+(:(xhigh|high|medium|low))?$`)
)

// CheckArgv says why a start command must not be typed anywhere; nil when it
// may. It guards against what would be read as another command, another flag, or
// be refused by setup.
func CheckArgv(argv []string) error {
	for _, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t\r\n\x00'\"`$;&|<>(){}[]!?#~*\\") {
			return fmt.Errorf("start command: %q holds a character that must not be there", a)
		}
	}
	if b := flag(argv, "--base-branch"); !branchForm.MatchString(b) || strings.Contains(b, "..") || strings.HasSuffix(b, ".lock") {
		return fmt.Errorf("start command: %q: expected the name of a local branch", b)
	}
	if m := flag(argv, "--codex-model"); !modelForm.MatchString(m) {
		return fmt.Errorf("start command: %q: expected MODEL or MODEL:xhigh|high|medium|low", m)
	}
	return nil
}

// CompareStart lists how a running loop differs from the seal it should have
// been started with. planSHA is the hash of the plan copy in the loop's folder,
// "" when not known. A nil seal is a loop nobody sealed. While the loop's state
// can not be read, only the plan is compared.
func CompareStart(s *Seal, l *loop.Loop, planSHA string) []Change {
	if s == nil {
		return []Change{{What: "seal of gate 2", Was: "", Is: "loop " + l.Name + " runs without one"}}
	}
	var out []Change
	text := func(what, was, is string) {
		if was != "" && was != is {
			out = append(out, Change{What: what, Was: was, Is: is})
		}
	}
	if planSHA != "" {
		text("plan", s.Plan.SHA256, planSHA)
	}
	if !l.Origin.Status.Known() {
		return out
	}
	text("base branch", s.BaseBranch, l.BaseBranch)
	text("base commit", s.BaseCommit, l.BaseCommit)
	text("max", flag(s.Argv, "--max"), l.Max.String())
	model, effort, _ := strings.Cut(flag(s.Argv, "--codex-model"), ":")
	text("model", model, l.Model)
	text("effort", effort, l.Effort)
	text("timeout", flag(s.Argv, "--codex-timeout"), l.CodexTimeout.String())
	return out
}
