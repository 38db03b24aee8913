package gate

import (
	"fmt"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/repo"
)

// Change is one bound value that is not as it was sealed.
type Change struct {
	// What is "plan", "draft", "judge", "base branch", "base commit", "HEAD",
	// "branch", "start command", "preflight", "humanize", "seal of gate 1",
	// "max", "model", "effort", "timeout", "seal of gate 2" or "dirty file".
	What string `json:"what"`
	Path string `json:"path,omitempty"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// String is the change as one line.
func (c Change) String() string {
	what := c.What
	if c.Path != "" {
		what += " " + c.Path
	}
	return fmt.Sprintf("%s changed: %s, now %s", what, firstOf(short(c.Was), "nothing"), firstOf(short(c.Is), "nothing"))
}

// Verdict says whether a seal still holds.
type Verdict struct {
	// Holds is true when every bound value was read and is as it was sealed.
	Holds bool `json:"holds"`
	// Changes void the seal. Unknown names bound values that could not be read
	// now: they do not void it, yet nothing may be built on it until they are.
	Changes []Change `json:"changes,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
}

// Void compares a seal with the facts. A seal of gate 2 is about the moment
// before the start: once its loop has begun, HEAD moves and CompareStart is the
// judge.
func Void(s Seal, f *Facts) Verdict {
	c := comparison{}
	c.file("plan", s.Plan, f.Plan)
	c.file("draft", s.Draft, f.Draft)
	c.judges(s, f)
	c.base(s, f)
	if s.Gate == G2 {
		c.start(s, f)
	}
	c.Holds = len(c.Changes) == 0 && len(c.Unknown) == 0
	return c.Verdict
}

// Changes lists what a seal binds and the facts do not show any more. Facts that
// could not be read are no change: nothing is known about them.
func (s Seal) Changes(f *Facts) []Change { return Void(s, f).Changes }

type comparison struct{ Verdict }

func (c *comparison) changed(what, path, was, is string) {
	c.Changes = append(c.Changes, Change{What: what, Path: path, Was: was, Is: is})
}

// text compares two values; an empty one now is not known.
func (c *comparison) text(what, was, is string) {
	switch {
	case was == is:
	case is == "":
		c.Unknown = append(c.Unknown, what)
	default:
		c.changed(what, "", was, is)
	}
}

// file compares bytes. A file that is gone has changed; one that is mid-write or
// can not be read is not known.
func (c *comparison) file(what string, was, is Bound) {
	switch {
	case is.Status != fact.OK && is.Status != fact.Missing:
		c.Unknown = append(c.Unknown, what+" "+was.Path)
	case was.SHA256 != is.SHA256 || was.Path != is.Path:
		c.changed(what, was.Path, was.SHA256, firstOf(is.SHA256, is.Status.String()))
	}
}

func (c *comparison) judges(s Seal, f *Facts) {
	if f.JudgesWhy != "" || f.Judges == nil {
		if len(s.Judges) > 0 {
			c.Unknown = append(c.Unknown, strings.TrimSpace("judge files "+f.JudgesWhy))
		}
		return
	}
	now := map[string]Bound{}
	for _, j := range f.Judges {
		now[j.Path] = j
	}
	for _, j := range s.Judges {
		is, ok := now[j.Path]
		if !ok {
			c.changed("judge", j.Path, j.SHA256, "")
			continue
		}
		c.file("judge", j, is)
		delete(now, j.Path)
	}
	for _, j := range f.Judges {
		if _, left := now[j.Path]; left {
			c.changed("judge", j.Path, "", j.SHA256)
		}
	}
}

func (c *comparison) base(s Seal, f *Facts) {
	c.text("base branch", s.BaseBranch, f.BaseBranch)
	c.text("base commit", s.BaseCommit, f.BaseCommit)
	if s.BaseBranch == "" {
		return
	}
	switch b := f.Repo.Base; {
	case b == nil || b.Ref != s.BaseBranch || !b.Status.Known() && b.Status != fact.Missing:
		c.Unknown = append(c.Unknown, "where "+s.BaseBranch+" stands")
	case b.Commit != s.BaseCommit && s.BaseCommit != "":
		c.changed("base branch", s.BaseBranch, s.BaseCommit, b.Commit)
	}
}

func (c *comparison) start(s Seal, f *Facts) {
	now := NewSeal(G2, f, s.Opened)
	c.text("seal of gate 1", s.G1, now.G1)
	if f.Repo.State == repo.Worktree {
		c.text("HEAD", s.Head, now.Head)
		c.text("branch", s.Branch, firstOf(now.Branch, "detached"))
	} else {
		c.Unknown = append(c.Unknown, "HEAD")
	}
	c.text("start command", strings.Join(s.Argv, " "), strings.Join(now.Argv, " "))
	c.text("preflight", s.Preflight, now.Preflight)
	c.text("humanize", s.Humanize, now.Humanize)
}
