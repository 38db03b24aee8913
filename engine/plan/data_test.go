package plan

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRealPlans holds the sample plans to the answers of the real validator and
// to what their notes say is wrong with them.
func TestRealPlans(t *testing.T) {
	dir := dataDir(t, "humanize", "plans")
	pending := []string{"plan-decisions:88"}
	for _, c := range []struct {
		file     string
		comments int
		errors   []string
		// want are the blocking findings beside the missing draft lines.
		want []string
	}{
		{"plan-converged.md", 0, nil, nil},
		{"plan-pending-decision.md", 0, nil, pending},
		{"plan-bad-tags.md", 0, nil, append([]string{"plan-task-tag:62", "plan-task-target:62", "plan-task-depends:62"}, pending...)},
		{"plan-branch-switch.md", 0, nil, append(slices.Clone(pending), "plan-branch-switch:50")},
		{"plan-annotated.md", 3, nil, []string{"plan-comments:13", "plan-comments:33", "plan-comments:73", "plan-decisions:99"}},
		{"plan-missing-section.md", 3, nil, []string{"plan-sections:0", "plan-comments:13", "plan-comments:33", "plan-comments:73", "plan-decisions:99"}},
		{"plan-annotated-nested.md", 1, []string{"32:12 Upper Bound"}, []string{"plan-comments:32", "plan-comments:32", "plan-decisions:90"}},
		{"plan-annotated-unclosed.md", 0, []string{"32:1 Upper Bound"}, []string{"plan-comments:32", "plan-decisions:90"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			d := Parse(b)
			if len(d.Comments) != c.comments || len(d.CommentErrors) != len(c.errors) {
				t.Errorf("comments %+v errors %+v", d.Comments, d.CommentErrors)
			}
			for i, e := range d.CommentErrors {
				if got := strings.TrimSpace(numbers([]int{e.Line})) + ":" + numbers([]int{e.Column}) + " " + e.Heading; !strings.HasPrefix(got, c.errors[i]) {
					t.Errorf("error %s (%s), want %s", got, e.What, c.errors[i])
				}
			}
			draft, err := os.ReadFile(filepath.Join(dir, "draft.md"))
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(blocks(Check(d, Facts{Draft: draft, BaseBranch: "rocm-kda-base/fa"})), func(s string) bool { return strings.HasPrefix(s, "plan-draft:") })
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if len(d.Criteria) != 4 || len(d.Tasks) != 4 || len(d.Decisions) != 2 || d.Convergence.Line == 0 {
				t.Errorf("%d criteria, %d tasks, %d decisions, convergence %+v", len(d.Criteria), len(d.Tasks), len(d.Decisions), d.Convergence)
			}
		})
	}
}

// splitArgs splits like a shell without quotes, but for the one sample whose
// argument held a blank.
func splitArgs(s string) []string {
	s = strings.ReplaceAll(s, "gpt 5.5", "gpt\x005.5")
	s = strings.ReplaceAll(s, "docs/my plan.md", "docs/my\x00plan.md")
	out := strings.Fields(s)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "\x00", " ")
	}
	return out
}

// worldOf builds the facts of one sample call: a sound world, and what the name
// of the case says was wrong with it.
func worldOf(name, args string) SetupFacts {
	f := SetupFacts{
		Args: splitArgs(args), RootKnown: Yes, Git: Yes, HasCommit: Yes, ToolsKnown: true, LoopsKnown: true, AgentTeamsEnv: Yes,
		Path:   PathFacts{Symlink: No, ParentsKnown: true, DirExists: Yes, Exists: Yes, Readable: Yes, Inside: Yes, InSubmodule: No, Tracked: No, Counts: &Counts{90, 60}},
		Branch: "rlcr/fa", DirtyKnown: true, Local: map[string]bool{"main": true, "rlcr/fa": true, "rocm-kda-base/fa": true},
		Origin: map[string]bool{"main": true, "onlyremote": true}, OriginHead: "main",
	}
	switch name {
	case "missing-file", "escape":
		f.Path.Exists, f.Path.Readable, f.Path.Counts = No, NotKnown, nil
	case "missing-dir":
		f.Path.DirExists, f.Path.Exists, f.Path.Readable, f.Path.Counts = No, No, NotKnown, nil
	case "symlink":
		f.Path.Symlink = Yes
	case "symlink-parent":
		f.Path.SymlinkParent = "hz"
	case "escape-exists":
		f.Path.Inside = No
	case "tracked-without-flag":
		f.Path.Tracked = Yes
	case "tracked-dirty":
		f.Path.Tracked, f.Path.Status, f.Dirty = Yes, " M docs/t.md", []string{" M docs/t.md"}
	case "short-plan":
		f.Path.Counts = &Counts{3, 3}
	case "thin-plan":
		f.Path.Counts = &Counts{8, 2}
	case "dirty-untracked":
		f.Dirty = []string{"?? junk.txt"}
	case "dirty-gitignore-as-left-by-seed-prepare-script":
		f.Dirty = []string{" M .gitignore"}
	case "autodetect-none":
		f.Local = map[string]bool{"rlcr/fa": true}
	case "branch-yaml-unsafe":
		f.Branch = `we"ird`
	case "detached-head":
		f.Branch = "HEAD"
	case "agent-teams-env":
		f.AgentTeamsEnv = No
	case "already-active", "already-active-finalize":
		f.ActiveLoop = "2026-12-01_00-00-00"
	case "no-codex":
		f.MissingTools = []string{"codex"}
	case "not-a-repo":
		f.RootKnown, f.Git, f.HasCommit = No, No, No
	case "no-commit":
		f.HasCommit = No
	}
	return f
}

// TestSetupForecast compares the first line predicted for every sample call
// with the first line the real script printed.
func TestSetupForecast(t *testing.T) {
	file, err := os.Open(dataDir(t, "humanize", "setup-failures.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for in := bufio.NewScanner(file); in.Scan(); {
		var c struct {
			Case, Args string
			RC         int
			Stderr     []string
		}
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		n++
		got := Forecast(worldOf(c.Case, c.Args))
		predicted, actual := "accepted", "accepted"
		if len(got.Refusals) > 0 {
			predicted = got.Refusals[0].Message
		}
		if c.RC != 0 {
			actual = c.Stderr[0]
		}
		t.Logf("%-48s predicted %-60s actual %s", c.Case, predicted, actual)
		if predicted != actual {
			t.Errorf("%s (%s): predicted %q, the script said %q", c.Case, c.Args, predicted, actual)
		}
		if len(got.Unknown) > 0 && len(got.Refusals) == 0 {
			t.Errorf("%s: not decided: %v", c.Case, got.Unknown)
		}
	}
	if n != 45 {
		t.Errorf("%d cases", n)
	}
}
