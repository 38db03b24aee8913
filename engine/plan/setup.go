package plan

// Tri is a yes, a no, or not known; the zero value is not known.
type Tri int

// The three.
const (
	NotKnown Tri = iota
	Yes
	No
)

// Is turns a bool into a Tri.
func Is(b bool) Tri {
	if b {
		return Yes
	}
	return No
}

// PathFacts are what the file system and git say about the plan's path. All
// relative to the project root.
type PathFacts struct {
	Symlink Tri `json:"symlink"`
	// SymlinkParent is the first parent that is a symbolic link, "" for none.
	SymlinkParent string `json:"symlink_parent,omitempty"`
	ParentsKnown  bool   `json:"parents_known"`
	DirExists     Tri    `json:"dir_exists"`
	Exists        Tri    `json:"exists"`
	Readable      Tri    `json:"readable"`
	Inside        Tri    `json:"inside"`
	InSubmodule   Tri    `json:"in_submodule"`
	Tracked       Tri    `json:"tracked"`
	// Status is the plan's line of git status, "" when clean.
	Status string `json:"status,omitempty"`
	// Counts are nil when the file was not read.
	Counts *Counts `json:"counts,omitempty"`
}

// SetupFacts are everything Humanize's setup looks at before it starts a loop.
type SetupFacts struct {
	// Args are the arguments after the command's name, one element each.
	Args []string
	// RootKnown says that setup finds a project root: CLAUDE_PROJECT_DIR or git.
	RootKnown Tri
	Git       Tri
	HasCommit Tri
	// MissingTools are those of codex, jq and git that are not on PATH.
	MissingTools []string
	ToolsKnown   bool
	// ActiveLoop is the newest loop folder if it is active.
	ActiveLoop string
	LoopsKnown bool
	// AgentTeamsEnv: CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS is set where Claude runs.
	AgentTeamsEnv Tri
	Path          PathFacts
	// Branch is the current one, "HEAD" when detached, "" when not known.
	Branch string
	// Dirty are git status lines outside .humanize; meaningful with DirtyKnown.
	Dirty      []string
	DirtyKnown bool
	// Local and Origin are branch names; nil when not known. OriginHead is the
	// branch origin's HEAD names, "" when not known.
	Local, Origin map[string]bool
	OriginHead    string
}

// Refusal is one reason why setup would exit with status 1.
type Refusal struct {
	// Check is a stable word: options, root, tools, active, agent-teams, one-plan,
	// git, path, file, tracked, content, branch, model, clean, base.
	Check string `json:"check"`
	// Message is the first line it prints.
	Message string `json:"message"`
	// Clears says what to do.
	Clears string `json:"clears,omitempty"`
}

// SetupForecast is what setup will say, as far as the facts decide it.
type SetupForecast struct {
	// Refusals are in the order of setup's checks: it prints the first and exits.
	Refusals []Refusal `json:"refusals"`
	// Unknown names the checks that the facts do not decide.
	Unknown []string `json:"unknown"`
	// BaseBranch is the base setup would take.
	BaseBranch string `json:"base_branch"`
}

// What setup asks of a plan's length, in lines and in lines of content.
const (
	MinLines   = 5
	MinContent = 3
)
