// Package task is the room for task.toml: which task a worktree is for, of
// which kernel family, and which base it is locked to.
//
// What may not enter: files (the bytes are handed in), git, and what a family
// knows (engine/family).
package task

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"kdapilot/engine/fact"
	"kdapilot/engine/text"
)

// Task is a parsed task.toml. The zero Task is a worktree nobody described.
type Task struct {
	// Slug is the short name, for example "fa-fp8".
	Slug string `toml:"slug" json:"slug"`
	// Family is a folder name in templates/families.
	Family string `toml:"family" json:"family"`
	// Arch is the target, for example "gfx950".
	Arch string `toml:"arch" json:"arch,omitempty"`
	// BaseBranch is the locked local base branch and BaseCommit the full commit
	// id it is pinned at.
	BaseBranch string `toml:"base_branch" json:"base_branch"`
	BaseCommit string `toml:"base_commit" json:"base_commit"`
	// ReferenceBranch is what results are compared with beside the base.
	ReferenceBranch string `toml:"reference_branch,omitempty" json:"reference_branch,omitempty"`
	// Simulated marks the demo world.
	Simulated bool `toml:"simulated,omitempty" json:"simulated,omitempty"`
	// Plan and Draft are paths relative to the worktree; empty means the usual
	// ones below .humanize/kernel-agent.
	Plan  string `toml:"plan,omitempty" json:"plan,omitempty"`
	Draft string `toml:"draft,omitempty" json:"draft,omitempty"`
	// Start are the values of the start command.
	Start Start `toml:"start,omitempty" json:"start"`
	// Presets override or add commands of the family, by name.
	Presets map[string]Preset `toml:"presets,omitempty" json:"presets,omitempty"`

	// Issue, Created and Host are notes of whoever made the worktree.
	Issue   string `toml:"issue,omitempty" json:"issue,omitempty"`
	Created string `toml:"created,omitempty" json:"created,omitempty"`
	Host    string `toml:"host,omitempty" json:"host,omitempty"`

	Origin fact.Origin `toml:"-" json:"origin"`
}

// Start are the values the start command of gate 2 is built from. Zero values
// mean the defaults of DefaultStart.
type Start struct {
	Max int `toml:"max,omitempty" json:"max,omitempty"`
	// Model is "name:effort", for example "gpt-5.5:xhigh".
	Model string `toml:"codex_model,omitempty" json:"codex_model,omitempty"`
	// Timeout is in seconds per reviewer call.
	Timeout int `toml:"codex_timeout,omitempty" json:"codex_timeout,omitempty"`
}

// DefaultStart is what the workflow's own command uses.
func DefaultStart() Start { return Start{Max: 12, Model: "gpt-5.5:xhigh", Timeout: 5400} }

// Or fills what s leaves open from d.
func (s Start) Or(d Start) Start {
	if s.Max == 0 {
		s.Max = d.Max
	}
	if s.Model == "" {
		s.Model = d.Model
	}
	if s.Timeout == 0 {
		s.Timeout = d.Timeout
	}
	return s
}

// Preset overrides one command of the family.
type Preset struct {
	Argv []string          `toml:"argv,omitempty" json:"argv,omitempty"`
	Env  map[string]string `toml:"env,omitempty" json:"env,omitempty"`
}

// The usual places of plan and draft, relative to the worktree.
const (
	PlanPath  = ".humanize/kernel-agent/refined-plan.md"
	DraftPath = ".humanize/kernel-agent/draft.md"
)

// PlanFile is the plan's path relative to the worktree.
func (t Task) PlanFile() string {
	if t.Plan != "" {
		return t.Plan
	}
	return PlanPath
}

// DraftFile is the draft's path relative to the worktree.
func (t Task) DraftFile() string {
	if t.Draft != "" {
		return t.Draft
	}
	return DraftPath
}

var (
	slugForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	commitForm = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
)

// Parse reads the bytes of a task.toml. name is the path to name in errors,
// which say line and column and what was expected.
func Parse(name string, b []byte) (Task, error) {
	var t Task
	dec := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	if err := dec.Decode(&t); err != nil {
		return Task{}, explain(name, err)
	}
	t.clean()
	return t, t.check(name)
}

func explain(name string, err error) error {
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) && len(missing.Errors) > 0 {
		row, col := missing.Errors[0].Position()
		return fmt.Errorf("%s:%d:%d: unknown key %s", name, row, col, text.Line(strings.Join(missing.Errors[0].Key(), ".")))
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		row, col := bad.Position()
		return fmt.Errorf("%s:%d:%d: %s", name, row, col, text.Line(bad.Error()))
	}
	return fmt.Errorf("%s: %s", name, text.Line(err.Error()))
}

func (t *Task) clean() {
	for _, s := range []*string{&t.Slug, &t.Family, &t.Arch, &t.BaseBranch, &t.BaseCommit, &t.ReferenceBranch, &t.Plan, &t.Draft, &t.Start.Model, &t.Issue, &t.Created, &t.Host} {
		*s = text.Line(*s)
	}
}

func (t *Task) check(name string) error {
	switch {
	case t.Slug != "" && !slugForm.MatchString(t.Slug):
		return fmt.Errorf("%s: slug %q: expected small letters, digits and dashes", name, t.Slug)
	case t.BaseCommit != "" && !commitForm.MatchString(t.BaseCommit):
		return fmt.Errorf("%s: base_commit %q: expected a full commit id (40 hex digits)", name, t.BaseCommit)
	case t.Start.Max < 0 || t.Start.Timeout < 0:
		return fmt.Errorf("%s: start: max and codex_timeout must not be negative", name)
	}
	for _, p := range []string{t.Plan, t.Draft} {
		if strings.HasPrefix(p, "/") || strings.Contains("/"+p+"/", "/../") {
			return fmt.Errorf("%s: %q: expected a path inside the worktree", name, p)
		}
	}
	return nil
}

// Format writes t as a task.toml.
func (t Task) Format() ([]byte, error) {
	b, err := toml.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("write task.toml: %w", err)
	}
	return b, nil
}
