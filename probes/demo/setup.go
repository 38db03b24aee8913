package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// startFlags are the arguments of the start command.
type startFlags struct {
	plan                            string
	max, timeout, full              int
	model, effort, base             string
	tracked, push, answer, privacy  bool
	skipImpl, teams, bitlessonEntry bool
}

// startName is the slash command that starts a loop.
const startName = "/humanize:start-rlcr-loop"

// splitStart takes a start command apart at blanks, with single and double
// quotes, and checks that it is one.
func splitStart(text string) ([]string, error) {
	if strings.ContainsAny(strings.TrimSpace(text), "\n\r") {
		return nil, errors.New("the start command has more than one line: one slash command at a time")
	}
	var words []string
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range strings.TrimSpace(text) {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t':
			if open || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the start command has an open %c", quote)
	}
	if open || word.Len() > 0 {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] != startName {
		return nil, fmt.Errorf("expected a command that begins with %s", startName)
	}
	return words[1:], nil
}

// refusal is a message of Humanize's setup, which begins with a capital.
type refusal string

// Error gives the message.
func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// parseStart reads the flags as Humanize's setup does; the errors begin as its
// own do.
func parseStart(args []string) (startFlags, error) {
	f := startFlags{max: 42, timeout: 5400, full: 5, model: "gpt-5.5", effort: "high"}
	for i := 0; i < len(args); i++ {
		name := args[i]
		what, takesValue := valueFlags()[name]
		var err error
		switch {
		case takesValue && (i+1 >= len(args) || strings.HasPrefix(args[i+1], "--")):
			err = refuse("%s requires a %s argument", name, what)
		case takesValue:
			i++
			err = f.set(name, args[i])
		case f.toggle(name):
		case strings.HasPrefix(name, "-"):
			err = refuse("Unknown option: %s", name)
		default:
			err = f.setPlan(name)
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// valueFlags are the flags that take a value, with the word for it.
func valueFlags() map[string]string {
	return map[string]string{"--max": "number", "--codex-timeout": "number", "--full-review-round": "number",
		"--codex-model": "MODEL:EFFORT", "--base-branch": "branch name", "--plan-file": "file path"}
}

func (f *startFlags) set(name, v string) (err error) {
	switch name {
	case "--max":
		f.max, err = positive(name, v)
	case "--codex-timeout":
		f.timeout, err = positive(name, v)
	case "--full-review-round":
		if f.full, err = positive(name, v); err == nil && f.full < 2 {
			err = refusal("--full-review-round must be at least 2")
		}
	case "--codex-model":
		model, effort, ok := strings.Cut(v, ":")
		f.model = model
		if ok {
			f.effort = effort
		}
	case "--base-branch":
		f.base = v
	case "--plan-file":
		err = f.setPlan(v)
	}
	return err
}

// toggle sets a flag without a value; false means there is no such flag.
func (f *startFlags) toggle(name string) bool {
	switch name {
	case "--track-plan-file":
		f.tracked = true
	case "--push-every-round":
		f.push = true
	case "--claude-answer-codex", "--yolo":
		f.answer = true
	case "--privacy":
		f.privacy = true
	case "--skip-impl":
		f.skipImpl = true
	case "--agent-teams":
		f.teams = true
	case "--require-bitlesson-entry-for-none":
		f.bitlessonEntry = true
	case "--skip-quiz", "--allow-empty-bitlesson-none":
	default:
		return false
	}
	return true
}

func (f *startFlags) setPlan(path string) error {
	if f.plan != "" {
		return refusal("Multiple plan files specified")
	}
	f.plan = path
	return nil
}

func positive(name, v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s must be a positive integer, got: %s", name, v)
	}
	return n, nil
}

// checkSetup refuses what Humanize's setup refuses, in its order and with the
// beginnings of its messages, as far as the demo can meet the case.
func checkSetup(ctx context.Context, root string, f startFlags) error {
	if f.skipImpl {
		return refusal("--skip-impl is not part of the simulation (" + Mark + ")")
	}
	if active, err := activeLoop(root); err != nil || active {
		if err != nil {
			return err
		}
		return refusal("An RLCR loop is already active")
	}
	if f.teams && os.Getenv("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS") != "1" {
		return refusal("--agent-teams requires the CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS environment variable")
	}
	if err := checkPlan(ctx, root, f); err != nil {
		return err
	}
	if !regexp.MustCompile(`^[A-Za-z0-9._-]+$`).MatchString(f.model) {
		return refusal("Codex model contains invalid characters")
	}
	if !slices.Contains([]string{"xhigh", "high", "medium", "low"}, f.effort) {
		return refusal("Invalid codex effort: " + f.effort)
	}
	return checkTree(ctx, root, f)
}

func checkPlan(ctx context.Context, root string, f startFlags) error {
	switch {
	case f.plan == "":
		return refusal("No plan file provided")
	case filepath.IsAbs(f.plan):
		return refusal("Plan file must be a relative path")
	case strings.ContainsAny(f.plan, " \t"):
		return refusal("Plan file path cannot contain spaces")
	case strings.ContainsAny(f.plan, ";&|$`<>(){}[]!?#~*\\"):
		return refusal("Plan file path contains shell metacharacters")
	}
	path := filepath.Join(root, filepath.FromSlash(f.plan))
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refusal("Plan file not found: " + f.plan)
	case err != nil:
		return refuse("Plan file not readable: %v", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return refusal("Plan file cannot be a symbolic link")
	case !filepath.IsLocal(filepath.FromSlash(f.plan)):
		return refusal("Plan file must be within project directory")
	}
	inGit, err := git(ctx, root, time.Time{}, "ls-files", "--", f.plan)
	if err != nil {
		return err
	}
	if f.tracked && inGit == "" {
		return refusal("--track-plan-file requires plan file to be tracked in git")
	}
	if !f.tracked && inGit != "" {
		return refusal("Plan file must be gitignored when not using --track-plan-file")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return refuse("Plan file not readable: %v", err)
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	content := 0
	for _, line := range lines {
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "#") && !strings.HasPrefix(s, "<!--") {
			content++
		}
	}
	if len(lines) < 5 {
		return refuse("Plan is too simple (only %d lines)", len(lines))
	}
	if content < 3 {
		return refusal("Plan file has insufficient content")
	}
	return nil
}

func checkTree(ctx context.Context, root string, f startFlags) error {
	status, err := git(ctx, root, time.Time{}, "status", "--porcelain", "--untracked-files=all")
	if err != nil {
		return err
	}
	var dirty []string
	for _, line := range strings.Split(status, "\n") {
		if line != "" && !strings.HasPrefix(line, "?? .humanize") {
			dirty = append(dirty, line)
		}
	}
	if len(dirty) > 0 {
		return refusal("Git working tree is not clean:\n" + strings.Join(dirty, "\n"))
	}
	if f.base == "" {
		return refusal("Could not determine a base branch: the demo wants --base-branch (" + Mark + ")")
	}
	if strings.ContainsAny(f.base, ":#\"'`") {
		return refusal("Branch name contains YAML-unsafe characters")
	}
	if _, err := git(ctx, root, time.Time{}, "rev-parse", "--verify", "-q", "refs/heads/"+f.base); err != nil {
		return refuse("Base branch '%s' does not exist locally", f.base)
	}
	return nil
}

// activeLoop looks at the newest loop folder only, as setup does.
func activeLoop(root string) (bool, error) {
	entries, err := os.ReadDir(filepath.Join(root, ".humanize", "rlcr"))
	if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	newest := filepath.Join(root, ".humanize", "rlcr", entries[len(entries)-1].Name())
	for _, name := range []string{"state.md", "finalize-state.md", "methodology-analysis-state.md"} {
		if _, err := os.Stat(filepath.Join(newest, name)); err == nil {
			return true, nil
		}
	}
	return false, nil
}
