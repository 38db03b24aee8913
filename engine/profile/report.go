package profile

import (
	"slices"
	"strings"

	"kdapilot/engine/fact"
)

// Report is one run folder of the rocm-report skill: a REPORT.md that ends in
// exactly one hypothesis for the next edit. All texts are clean and bounded.
type Report struct {
	// Dir is absolute and identifies the report; Name is relative to the
	// worktree.
	Dir  string `json:"dir"`
	Name string `json:"name"`
	// Kernel, GPU and Date are as the report writes them.
	Kernel string `json:"kernel,omitempty"`
	GPU    string `json:"gpu,omitempty"`
	Date   string `json:"date,omitempty"`
	// Created is created_at of analysis/run_metadata.json, "" when absent: the
	// folder was then made by hand.
	Created string `json:"created,omitempty"`
	// Hypothesis is the text of section 4 in one line, at Line of REPORT.md.
	Hypothesis string `json:"hypothesis"`
	Line       int    `json:"line"`
	// Claims counts the claims of section 4; the skill wants one.
	Claims int `json:"claims"`
	// Before and After are the runs of the retest plan, as written.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Problems say what makes the report weaker than it looks.
	Problems []string `json:"problems"`
	// Mentions are the paths and run ids named anywhere in it.
	Mentions []string    `json:"-"`
	Origin   fact.Origin `json:"origin"`
}

// Names reports whether the text names a path or id, whole or as the beginning
// or end of a longer path.
func (r *Report) Names(what string) bool {
	return what != "" && slices.ContainsFunc(r.Mentions, func(m string) bool {
		return m == what || strings.HasPrefix(m, what+"/") || strings.HasSuffix(m, "/"+what) || strings.Contains(m, "/"+what+"/")
	})
}

// One reports whether there is exactly one claim.
func (r *Report) One() bool { return r.Claims == 1 }
