// Package templates is the room for text and data that ships inside the binary:
// one folder per kernel family with its family.toml and its contract.
//
// What may not enter: code that interprets them. engine/family parses a
// family.toml, the caller executes a contract template. This package imports
// nothing of ours.
package templates

import (
	"embed"
	"fmt"
	"io/fs"
	"sort"
	"strings"
	"text/template"
)

//go:embed families
var files embed.FS

// Families lists the names of the embedded families in alphabetical order.
func Families() []string {
	entries, err := fs.ReadDir(files, "families")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	return names
}

// FamilyTOML gives the bytes of a family's family.toml.
func FamilyTOML(name string) ([]byte, error) { return read(name, "family.toml") }

// Contract gives the text of a family's contract template, the shared parts of
// Common in front (text/template; its fields are documented on ContractData).
func Contract(name string) (string, error) {
	b, err := read(name, "contract.md.tmpl")
	if err != nil {
		return "", err
	}
	return Common() + string(b), nil
}

// Common is the text every contract shares, as named templates: head, rules,
// flyprof, outcomes, planshape. Put it in front of a contract of one's own.
func Common() string {
	b, err := files.ReadFile("families/common.tmpl")
	if err != nil {
		return "" // embedded at build time: it is there
	}
	return strings.TrimSpace(string(b)) + "\n"
}

func read(name, file string) ([]byte, error) {
	b, err := files.ReadFile("families/" + name + "/" + file)
	if err != nil {
		return nil, fmt.Errorf("no embedded family %q (there are %v): %w", name, Families(), err)
	}
	return b, nil
}

// ContractData holds every field a contract template uses; see Fill. A contract
// with a hole is worse than none, so no field may be empty.
type ContractData struct {
	// Slug names the task, for example "fa-splitk"; Family and Arch as in
	// family.toml.
	Slug, Family, Arch string
	// Title is one line in the words of the issue.
	Title string
	// Worktree is the absolute path of the task worktree; Branch its branch.
	Worktree, Branch string
	// BaseBranch is the locked local branch, BaseCommit the full SHA it is
	// pinned at, BaseRef what the operator asked for.
	BaseBranch, BaseCommit, BaseRef string
	// Fork and Upstream are remote URLs, or "none".
	Fork, Upstream string
	// GPU is the device index as text, or the variable "$GPU".
	GPU string
	// Issue is the snapshot of the issue text, or the sentence "No issue text
	// was given."; IssueSource says where and when it was taken, with its hash.
	Issue, IssueSource string
	// Goal is the operator's own goal, or the family's default sentence.
	Goal string
	// Date is the day the draft was made, YYYY-MM-DD.
	Date string
	// AiterRoot is the aiter checkout, or "$AITER_ROOT".
	AiterRoot string
}

// Fill executes a contract template, as Contract gives it, strictly: a field
// that does not exist or is empty is an error that names it.
func (d ContractData) Fill(contract string) (string, error) {
	if missing := d.Missing(); len(missing) > 0 {
		return "", fmt.Errorf("contract: nothing given for %s", strings.Join(missing, ", "))
	}
	tpl, err := template.New("contract").Option("missingkey=error").Parse(contract)
	if err != nil {
		return "", fmt.Errorf("contract template: %w", err)
	}
	var b strings.Builder
	if err := tpl.Execute(&b, d); err != nil {
		return "", fmt.Errorf("contract template: %w", err)
	}
	// The parts bring their own blank lines; two in a row say nothing more.
	out := b.String()
	for strings.Contains(out, "\n\n\n") {
		out = strings.ReplaceAll(out, "\n\n\n", "\n\n")
	}
	return out, nil
}

// Missing names the fields that are empty, in the order they are declared.
func (d ContractData) Missing() []string {
	var out []string
	for _, f := range []struct{ name, value string }{
		{"Slug", d.Slug}, {"Family", d.Family}, {"Arch", d.Arch}, {"Title", d.Title},
		{"Worktree", d.Worktree}, {"Branch", d.Branch}, {"BaseBranch", d.BaseBranch},
		{"BaseCommit", d.BaseCommit}, {"BaseRef", d.BaseRef}, {"Fork", d.Fork},
		{"Upstream", d.Upstream}, {"GPU", d.GPU}, {"Issue", d.Issue},
		{"IssueSource", d.IssueSource}, {"Goal", d.Goal}, {"Date", d.Date}, {"AiterRoot", d.AiterRoot},
	} {
		if f.value == "" {
			out = append(out, f.name)
		}
	}
	return out
}
