// Package repo is the room for git facts: which branch at which commit, what is
// not committed, how far from the locked base and by what way.
//
// What may not enter: running git (probes/gitrepo) and judging what a fact
// means for a gate (engine/gate, engine/rules).
package repo

import (
	"time"

	"kdapilot/engine/fact"
)

// State says whether there are git facts at all.
type State string

// The states of a folder as git sees it. The zero value means nobody looked.
const (
	// Worktree is a normal checkout.
	Worktree State = "worktree"
	// Bare is a repository without files.
	Bare State = "bare"
	// None is a folder that belongs to no repository: a copied folder, a capsule.
	None State = "no git here"
	// Gone is a folder that does not exist (any more).
	Gone State = "folder is gone"
	// NoTool means git itself is not installed.
	NoTool State = "git is not installed"
	// Refused means git does not trust the folder's owner.
	Refused State = "git refuses the folder"
	// Failed means git ran and failed or gave no answer in time.
	Failed State = "git failed"
)

// Repo is one reading of a worktree.
type Repo struct {
	Origin fact.Origin `json:"origin"`
	State  State       `json:"state"`
	// Why explains every state but Worktree in one line.
	Why string `json:"why,omitempty"`

	// Root is the top folder; it may lie above the folder that was asked for.
	// GitDir belongs to this worktree, CommonDir to all of them. All absolute.
	Root      string `json:"root,omitempty"`
	GitDir    string `json:"git_dir,omitempty"`
	CommonDir string `json:"common_dir,omitempty"`

	// Branch is empty when Detached. Unborn means no commit yet, Head empty.
	Branch   string `json:"branch,omitempty"`
	Detached bool   `json:"detached,omitempty"`
	Unborn   bool   `json:"unborn,omitempty"`
	Head     string `json:"head,omitempty"`
	// Upstream is the tracked branch; the distance to it is nil when unknown.
	Upstream         string    `json:"upstream,omitempty"`
	UpstreamDistance *Distance `json:"upstream_distance,omitempty"`
	Files            []File    `json:"files,omitempty"`
	// FileCount counts all dirty files, also those cut from Files.
	FileCount int `json:"file_count"`
	// FilesKnown is false when the list could not be read: then zero means nothing.
	FilesKnown bool `json:"files_known"`
	// Base is nil when none was asked for.
	Base *Base `json:"base,omitempty"`
}

// Clean reports whether the tree is known to have no uncommitted and no
// untracked file outside .humanize, which is what Humanize's own check asks.
func (r Repo) Clean() bool {
	return r.State == Worktree && r.FilesKnown && len(r.Dirty()) == 0 && r.FileCount == len(r.Files)
}

// Distance counts commits on either side of the merge base.
type Distance struct {
	Ahead  int `json:"ahead"`
	Behind int `json:"behind"`
	// AtLeast is true when counting stopped at the limit.
	AtLeast bool `json:"at_least,omitempty"`
}

// Change is what happened to a file.
type Change string

// The kinds of change, from git's two letter codes.
const (
	Modified  Change = "modified"
	Added     Change = "added"
	Deleted   Change = "deleted"
	Renamed   Change = "renamed"
	Copied    Change = "copied"
	TypeMoved Change = "type changed"
	Unmerged  Change = "unmerged"
	Untracked Change = "untracked"
)

// File is one dirty file. Path is relative to the root, with escapes stripped
// for display; Raw holds the bytes as git gave them when they differ.
type File struct {
	Path string `json:"path"`
	Raw  string `json:"-"`
	// From is the old path of a rename or copy.
	From   string `json:"from,omitempty"`
	Change Change `json:"change"`
	// Staged and Unstaged say where the change sits; both can be true.
	Staged    bool `json:"staged,omitempty"`
	Unstaged  bool `json:"unstaged,omitempty"`
	Submodule bool `json:"submodule,omitempty"`
}

// Base is the locked base as seen from HEAD.
type Base struct {
	// Ref is what was asked for, Commit what it resolves to; empty when missing.
	Ref    string `json:"ref"`
	Commit string `json:"commit,omitempty"`
	// IsBranch tells a local branch from a bare commit id.
	IsBranch bool        `json:"is_branch,omitempty"`
	Status   fact.Status `json:"status"`
	Why      string      `json:"why,omitempty"`
	// IsAncestor is nil when it could not be decided.
	IsAncestor *bool     `json:"is_ancestor,omitempty"`
	Distance   *Distance `json:"distance,omitempty"`
	// Commits are those on HEAD and not on the base, newest first.
	Commits []Commit `json:"commits,omitempty"`
	// Diff compares the two trees, not the merge base.
	Diff *DiffStat `json:"diff,omitempty"`
}

// Commit is one line of history.
type Commit struct {
	SHA     string    `json:"sha"`
	Subject string    `json:"subject"`
	Time    time.Time `json:"time"`
}

// DiffStat is the size of a change, file by file.
type DiffStat struct {
	Files []FileStat `json:"files,omitempty"`
	// FileCount, Added and Deleted cover all files, also those cut from Files.
	FileCount int `json:"file_count"`
	Added     int `json:"added"`
	Deleted   int `json:"deleted"`
}

// FileStat counts changed lines of one file.
type FileStat struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`
}

// LinkedWorktree is one checkout of the same repository.
type LinkedWorktree struct {
	Path     string `json:"path"`
	Head     string `json:"head,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Detached bool   `json:"detached,omitempty"`
	Bare     bool   `json:"bare,omitempty"`
	Locked   bool   `json:"locked,omitempty"`
	// Prunable means its folder is gone.
	Prunable bool `json:"prunable,omitempty"`
}
