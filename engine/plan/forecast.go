package plan

import (
	"fmt"
	"slices"
	"strings"

	"kdapilot/engine/text"
)

// shellMarks are the characters setup refuses in a plan's path.
const shellMarks = ";&|$`<>(){}[]!?#~*\\"

// Forecast says what Humanize's setup script would refuse, in the order it
// looks, with the first line it would print. Messages are those of Humanize
// 1.16.0. What the facts do not decide is named in Unknown, never taken as good.
func Forecast(f SetupFacts) SetupForecast {
	r := forecast{SetupFacts: f}
	opts, refusal := ParseStart(f.Args)
	if refusal != "" {
		r.refuse("options", refusal, "mend the start command")
		return r.out
	}
	r.world(opts)
	if opts.File() == "" && opts.SkipImpl {
		r.rest(opts)
		return r.out
	}
	if r.onePlan(opts) {
		r.repository()
		if r.path(opts.File()) {
			r.file(opts.File())
			r.tracked(opts)
			r.content()
		}
	}
	r.rest(opts)
	return r.out
}

// SetupRefusals is Forecast without what is not known.
func SetupRefusals(f SetupFacts) []Refusal { return Forecast(f).Refusals }

type forecast struct {
	SetupFacts
	out SetupForecast
}

func (r *forecast) refuse(check, message, clears string) {
	r.out.Refusals = append(r.out.Refusals, Refusal{Check: check, Message: text.Line(message), Clears: clears})
}

func (r *forecast) unknown(check string) { r.out.Unknown = append(r.out.Unknown, check) }

// when refuses if t is the answer that setup does not take.
func (r *forecast) when(t, bad Tri, check, message, clears string) {
	switch t {
	case bad:
		r.refuse(check, message, clears)
	case NotKnown:
		r.unknown(check)
	}
}

func (r *forecast) world(o StartOptions) {
	r.when(r.RootKnown, No, "root", "Error: Cannot determine humanize project root.", "start it inside the git worktree")
	if !r.ToolsKnown {
		r.unknown("tools")
	} else if len(r.MissingTools) > 0 {
		r.refuse("tools", "Error: Missing required dependencies for RLCR loop", "install "+strings.Join(r.MissingTools, ", "))
	}
	if !r.LoopsKnown {
		r.unknown("active")
	} else if r.ActiveLoop != "" {
		r.refuse("active", "Error: An RLCR loop is already active", "let "+text.Line(r.ActiveLoop)+" end, or /humanize:cancel-rlcr-loop")
	}
	if o.AgentTeams {
		r.when(r.AgentTeamsEnv, No, "agent-teams", "Error: --agent-teams requires the CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS environment variable to be set.", "set it where Claude Code is started")
	}
}

func (r *forecast) onePlan(o StartOptions) bool {
	switch {
	case o.Plan != "" && o.PlanFlag != "":
		r.refuse("one-plan", "Error: Cannot specify both --plan-file and positional plan file", "give the plan once")
	case o.File() == "":
		r.refuse("one-plan", "Error: No plan file provided", "name the plan")
	default:
		return true
	}
	return false
}

func (r *forecast) repository() {
	if r.when(r.Git, No, "git", "Error: Project must be a git repository", "git init"); r.Git == No {
		return
	}
	r.when(r.HasCommit, No, "git", "Error: Git repository must have at least one commit (or git command timed out)", "commit something")
}

// path judges the text of the path alone.
func (r *forecast) path(p string) bool {
	switch {
	case strings.HasPrefix(p, "/"):
		r.refuse("path", "Error: Plan file must be a relative path, got: "+p, "give it relative to the worktree")
	case strings.ContainsAny(p, " \t\n\r\v\f"):
		r.refuse("path", "Error: Plan file path cannot contain spaces", "rename it")
	case strings.ContainsAny(p, shellMarks):
		r.refuse("path", "Error: Plan file path contains shell metacharacters", "rename it with letters, digits, dash, underscore, dot and slash")
	default:
		return true
	}
	return false
}

// file judges what stands at the path; one thing wrong hides the later ones.
func (r *forecast) file(p string) {
	f := r.Path
	dir := "."
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		dir = p[:i]
	}
	for _, c := range []struct {
		is, bad         Tri
		message, clears string
	}{
		{f.Symlink, Yes, "Error: Plan file cannot be a symbolic link", "put the file itself there"},
		{symlinkParent(f), Yes, "Error: Plan file path contains a symbolic link in parent directory", "use a path without the link " + f.SymlinkParent},
		{f.DirExists, No, "Error: Plan file directory not found: " + dir, "make the folder"},
		{f.Exists, No, "Error: Plan file not found: " + p, "write the plan"},
		{f.Readable, No, "Error: Plan file is not readable: " + p, "chmod u+r " + p},
		{f.Inside, No, "Error: Plan file must be within project directory", "move it into the worktree"},
		{f.InSubmodule, Yes, "Error: Plan file cannot be in a git submodule", "move it out of the submodule"},
	} {
		r.when(c.is, c.bad, "file", c.message, c.clears)
		if c.is == c.bad {
			return
		}
	}
}

func symlinkParent(f PathFacts) Tri {
	if f.SymlinkParent != "" {
		return Yes
	}
	if f.ParentsKnown {
		return No
	}
	return NotKnown
}

func (r *forecast) tracked(o StartOptions) {
	p := o.File()
	switch {
	case r.Path.Exists == No:
	case r.Path.Tracked == NotKnown:
		r.unknown("tracked")
	case o.TrackPlan && r.Path.Tracked == No:
		r.refuse("tracked", "Error: --track-plan-file requires plan file to be tracked in git", "commit the plan, or drop --track-plan-file")
	case o.TrackPlan && r.Path.Status != "":
		r.refuse("tracked", "Error: --track-plan-file requires plan file to be clean (no modifications)", "commit the plan's changes")
	case !o.TrackPlan && r.Path.Tracked == Yes:
		r.refuse("tracked", "Error: Plan file must be gitignored when not using --track-plan-file", "git rm --cached "+p+" and commit, or use --track-plan-file")
	}
}

func (r *forecast) content() {
	c := r.Path.Counts
	switch {
	case r.Path.Exists == No || r.Path.Readable == No:
	case c == nil:
		r.unknown("content")
	case c.Lines < MinLines:
		r.refuse("content", fmt.Sprintf("Error: Plan is too simple (only %d lines, need at least %d)", c.Lines, MinLines), "write the plan")
	case c.Content < MinContent:
		r.refuse("content", fmt.Sprintf("Error: Plan file has insufficient content (only %d content lines)", c.Content), "headings do not count; write the plan")
	}
}

func (r *forecast) rest(o StartOptions) {
	if r.Branch == "" {
		r.unknown("branch")
	} else if strings.ContainsAny(r.Branch, ":#\"'`\n") {
		r.refuse("branch", "Error: Branch name contains YAML-unsafe characters", "git branch -m to a name without : # \" ' `")
	}
	if o.Model != "" && !reModel.MatchString(o.Model) {
		r.refuse("model", "Error: Codex model contains invalid characters", "letters, digits, dash, underscore and dot only")
	}
	if o.Effort != "" && !slices.Contains(Efforts(), o.Effort) {
		r.refuse("model", "Error: Invalid codex effort: "+o.Effort, "one of "+strings.Join(Efforts(), ", "))
	}
	if !r.DirtyKnown {
		r.unknown("clean")
	} else if len(r.Dirty) > 0 {
		r.refuse("clean", "Error: Git working tree is not clean", "commit or remove: "+text.Line(strings.Join(r.Dirty[:min(5, len(r.Dirty))], "; ")))
	}
	r.base(o)
}

// Efforts are the words setup takes after the model's colon.
func Efforts() []string { return []string{"xhigh", "high", "medium", "low"} }

// base follows section 3.3 of how setup picks its base branch.
func (r *forecast) base(o StartOptions) {
	if r.Local == nil {
		r.unknown("base")
		return
	}
	if b := o.Base; b != "" {
		switch {
		case r.Local[b]:
			r.out.BaseBranch = b
		case r.Origin[b]:
			r.refuse("base", "Error: Base branch '"+b+"' exists on remote but not locally", "git fetch origin "+b+":"+b)
		default:
			r.refuse("base", "Error: Specified base branch does not exist: "+b, "name a local branch; a remote name, tag or commit id does not count")
		}
		return
	}
	for _, b := range []string{r.OriginHead, "main", "master"} {
		if b != "" && r.Local[b] {
			r.out.BaseBranch = b
			return
		}
	}
	r.refuse("base", "Error: Cannot determine base branch for code review", "give --base-branch")
}
