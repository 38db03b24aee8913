// Package profile is the room for what a run of flyprof says: the answer in its
// envelope, how that answer agrees with the exit status, what a person has to
// do about it, and which stage of a capture has been reached.
//
// What may not enter: starting flyprof, reading its files (probes/flyprof), and
// what the stalls mean (engine/stall).
package profile

import (
	"path"
	"slices"
	"strings"

	"kdapilot/engine/runs"
)

// Said is the answer of one flyprof command, taken from its envelope. All texts
// are clean.
type Said struct {
	OK      bool   `json:"ok"`
	Command string `json:"command"`
	// Bundle is absolute; "" for commands that have none.
	Bundle   string   `json:"bundle,omitempty"`
	Warnings []string `json:"warnings,omitempty"`

	// Code, Exit, Message and Help are set when OK is false.
	Code    string `json:"code,omitempty"`
	Exit    int    `json:"exit,omitempty"`
	Message string `json:"message,omitempty"`
	Help    string `json:"help,omitempty"`
	// Candidates are kernel names when none could be picked.
	Candidates []string `json:"candidates,omitempty"`

	// Headline and Steps come from run; Headline from report and diff too.
	Headline string   `json:"headline,omitempty"`
	Steps    []Step   `json:"steps,omitempty"`
	Doctor   *Doctor  `json:"doctor,omitempty"`
	Kernels  []Kernel `json:"kernels,omitempty"`
	Diff     *Diff    `json:"diff,omitempty"`
	Wiki     *Wiki    `json:"wiki,omitempty"`
}

// Step is one step of `flyprof run` with its short result.
type Step struct {
	Name   string `json:"name"`
	Result string `json:"result"`
}

// Doctor is the answer of `flyprof doctor`. Its exit status is 0 whatever it
// found: Ready and Blockers are the answer.
type Doctor struct {
	Ready    bool     `json:"ready"`
	Blockers []string `json:"blockers"`
	// Rocprofv3 is the version, "" when absent; Arch the GPU's, "" when none.
	Rocprofv3 string `json:"rocprofv3,omitempty"`
	Arch      string `json:"arch,omitempty"`
	BuildTree string `json:"build_tree,omitempty"`
}

// Kernel is one entry of `flyprof list`.
type Kernel struct {
	Name     string `json:"kernel"`
	TestFile string `json:"test_file"`
	Category string `json:"op_category"`
	// Recipe is "registry" or "synthesizable".
	Recipe   string `json:"recipe_source"`
	MultiGPU bool   `json:"needs_multi_gpu"`
}

// PinsGPU reports whether the published recipe of the kernel sets
// HIP_VISIBLE_DEVICES itself, so that --gpu is ignored (contract 1.3). Only a
// recipe from a registry can.
func (k Kernel) PinsGPU() bool {
	return k.Recipe == "registry" && slices.Contains([]string{"softmax", "rmsnorm", "layernorm", "quant"}, k.Name)
}

// Diff is the verdict of `flyprof diff`, in points of the share of all stall.
// flyprof knows no noise margin: see Diff.Words.
type Diff struct {
	Class         string   `json:"rank1_bubble_class"`
	Shrank        *bool    `json:"rank1_bubble_shrank"`
	Before, After *float64 `json:"-"`
	Delta         *float64 `json:"delta_pct"`
}

// NoisePoints is the change in share below which two captures of identical ISA
// already differ (contract, traps 3).
const NoisePoints = 3.0

// Wiki is the answer of `flyprof wiki`: prior art, best first.
type Wiki struct {
	Class     string   `json:"bubble_class"`
	Query     string   `json:"query"`
	Technique string   `json:"technique_hint,omitempty"`
	Pages     []Page   `json:"pages"`
	PRs       []string `json:"implemented_by_prs,omitempty"`
}

// Page is one page of the wiki.
type Page struct {
	ID    string `json:"page_id"`
	Title string `json:"title"`
	Path  string `json:"path"`
}

// CommandOf is the flyprof subcommand of an argument list; "" when it is not
// flyprof, or asks for its help or version only.
func CommandOf(argv []string) string {
	rest, ok := arguments(argv)
	if !ok || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return ""
	}
	return rest[0]
}

// IsFlyprof reports whether argv runs flyprof: by name or as a Python module.
func IsFlyprof(argv []string) bool {
	_, ok := arguments(argv)
	return ok
}

func arguments(argv []string) (rest []string, ok bool) {
	switch {
	case len(argv) == 0:
		return nil, false
	case path.Base(argv[0]) == "flyprof":
		return argv[1:], true
	case strings.HasPrefix(path.Base(argv[0]), "python") && len(argv) > 2 && argv[1] == "-m" && strings.HasPrefix(argv[2], "flyprof"):
		return argv[3:], true
	default:
		return nil, false
	}
}

// Option is the value of --name in argv, given as two words or as --name=value.
func Option(argv []string, name string) string {
	for i, a := range argv {
		if v, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			return v
		}
		if a == "--"+name && i+1 < len(argv) {
			return argv[i+1]
		}
	}
	return ""
}

// KernelOf is the kernel a `run` or `capture` was asked for.
func KernelOf(argv []string) string {
	if cmd := CommandOf(argv); cmd == "run" || cmd == "capture" {
		return Operand(argv)
	}
	return ""
}

// Operand is the first word after the subcommand, "" when it is a flag or there
// is none.
func Operand(argv []string) string {
	rest, ok := arguments(argv)
	if !ok || len(rest) < 2 || strings.HasPrefix(rest[1], "-") {
		return ""
	}
	return rest[1]
}

// RetryOf finds the second attempt of a run among list, or nil.
func RetryOf(list []runs.Run, id runs.ID) *runs.Run {
	for i := range list {
		if id != "" && list[i].Manifest.RetryOf == id {
			return &list[i]
		}
	}
	return nil
}
