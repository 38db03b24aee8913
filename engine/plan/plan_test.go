package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func good(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/good.md")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// draftOf is the draft that testdata/good.md appends.
func draftOf(t testing.TB) []byte {
	_, rest, _ := strings.Cut(string(good(t)), draftStart)
	draft, _, ok := strings.Cut(rest, draftEnd)
	if !ok {
		t.Fatal("the fixture has no appendix")
	}
	return []byte(draft)
}

// blocks gives id and line of the findings that block, as text.
func blocks(fs []Finding) []string {
	var out []string
	for _, f := range Blocking(fs) {
		out = append(out, fmt.Sprintf("%s:%d", f.ID, f.Line))
	}
	return out
}

func TestParseKeepsLines(t *testing.T) {
	d := Parse(good(t))
	if d.Title != "Faster split of long sequences" || len(d.Own()) != 12 || len(d.Notes) != 0 {
		t.Errorf("title %q, %d own sections, notes %v", d.Title, len(d.Own()), d.Notes)
	}
	if s := d.Find("Claude-Codex Deliberation"); s == nil || s.ID != "claude-codex-deliberation" || s.Through <= s.End {
		t.Errorf("deliberation: %+v", s)
	}
	ac := d.Find("Acceptance Criteria")
	if want := (Section{ID: "acceptance-criteria", Level: 2, Title: "Acceptance Criteria", Parent: "faster-split-of-long-sequences", Line: 6, End: 22, Through: 22}); ac == nil || *ac != want {
		t.Errorf("got %+v", ac)
	}
	want := []Criterion{
		{ID: "AC-1", Text: "results stay within max_err < 1e-2", Line: 8, End: 14,
			Positive: []Test{{"the sweep reports no failed row", 10}, {"and neither does the varlen sweep, which takes longer", 11}},
			Negative: []Test{{"a wrong scale is rejected", 14}}},
		{ID: "AC-2", Text: "the long bucket gains 3 % over the baseline", Line: 15, End: 15},
		{ID: "AC-2.1", Parent: "AC-2", Text: "causal", Line: 16, End: 18, Positive: []Test{{"12 rows beyond noise", 17}}, Negative: []Test{{"one lucky run is rejected", 18}}},
		{ID: "AC-2.2", Parent: "AC-2", Text: "not causal", Line: 19, End: 21, Positive: []Test{{"12 rows beyond noise", 20}}, Negative: []Test{{"one lucky run is rejected", 21}}},
	}
	if diff := cmp.Diff(want, d.Criteria); diff != "" {
		t.Error(diff)
	}
	tasks := []Task{
		{ID: "task1", Text: "Measure a|b first", Line: 41, Targets: []string{"AC-1"}, Tag: "analyze"},
		{ID: "task2", Text: "Split", Line: 42, Targets: []string{"AC-1", "AC-2.1"}, Tag: "coding", Depends: []string{"task1"}},
		{ID: "task3", Text: "Report", Line: 43, Targets: []string{"AC-2"}, Tag: "coding", Depends: []string{"task1", "task2"}},
	}
	if diff := cmp.Diff(tasks, d.Tasks); diff != "" {
		t.Error(diff)
	}
	dec := []Decision{{ID: "DEC-1", Topic: "Which card?", Line: 52, End: 57, Claude: "the first", Codex: "N/A - open question",
		Tradeoff: "cards differ by a few percent", Status: "the first", StatusLine: 57}}
	if diff := cmp.Diff(dec, d.Decisions); diff != "" {
		t.Error(diff)
	}
	if d.Convergence != (Convergence{"partially_converged", 48}) || d.Draft != (Appendix{61, 70}) {
		t.Errorf("convergence %+v draft %+v", d.Convergence, d.Draft)
	}
	if len(d.Contract) != 3 || !d.Contract[0].InDraft || d.Contract[2].Line != 68 || d.Contract[1].Letter != "R" {
		t.Errorf("contract %+v", d.Contract)
	}
	if got := blocks(Check(d, Facts{Draft: draftOf(t)})); got != nil {
		t.Errorf("a sound plan is blocked by %v", got)
	}
}

// TestEachSpoiledPart checks that each thing a script can decide is found, at
// its line.
func TestEachSpoiledPart(t *testing.T) {
	for _, c := range []struct{ name, old, put, want string }{
		{"section gone", "## Implementation Notes", "### Implementation Notes", "plan-sections:0"},
		{"no negative test", "  - Negative Tests (expected to FAIL):\n    - a wrong scale is rejected\n", "", "plan-tests:8"},
		{"part without tests", "    - Positive: 12 rows beyond noise\n    - Negative: one lucky run is rejected\n  - AC-2.2", "  - AC-2.2", "plan-tests:15"},
		{"target gone", "AC-1, AC-2.1", "AC-1, AC-9", "plan-task-target:42"},
		{"no target", "| AC-1, AC-2.1 |", "| - |", "plan-task-target:42"},
		{"criterion without task", "| AC-1 | analyze", "| AC-2 | analyze", ""},
		{"bad tag", "| `coding` |", "| code |", "plan-task-tag:42"},
		{"two tags", "| `coding` |", "| coding, analyze |", "plan-task-tag:42"},
		{"unknown dependency", "task1, task2 |", "task1, task7 |", "plan-task-depends:43"},
		{"cycle", "analyze | - |", "analyze | task3 |", "plan-task-cycle:41"},
		{"own dependency", "analyze | - |", "analyze | task1 |", "plan-task-cycle:41"},
		{"twice the same task", "| task3 |", "| task2 |", "plan-task-ids:43"},
		{"twice the same criterion", "AC-2.2: not", "AC-2.1: not", "plan-criteria-twice:19"},
		{"pending", "Decision Status: the first", "Decision Status: `PENDING`", "plan-decisions:57"},
		{"no status", "  - Decision Status: the first\n", "", "plan-decisions:52"},
		{"comment", "Cut the tail", "CMT: why? ENDCMT Cut the tail", "plan-comments:4"},
		{"open comment", "Cut the tail", "<cmt> Cut the tail", "plan-comments:4"},
		{"stray end", "Cut the tail", "Cut</comment> the tail", "plan-comments:4"},
		{"wrong end", "Cut the tail", "CMT: a </cmt> b ENDCMT Cut the tail", "plan-comments:4"},
		{"no appendix", draftStart, "", "plan-draft:0"},
		{"appendix not closed", draftEnd, "", "plan-draft:61"},
		{"draft line dropped", "- R: tests/split.py\n", "", "plan-draft:61"},
		{"placeholder", "the tail of", "the {{ TAIL }} of", "plan-placeholders:4"},
		{"placeholder in code", "# not a heading", "run {{SLUG}}", "plan-placeholders:31"},
		{"branch switch", "Cut the tail", "git checkout -b x, cut the tail", "plan-branch-switch:4"},
		{"git switch", "Cut the tail", "Git switch main. Cut the tail", "plan-branch-switch:4"},
		{"worktree", "Cut the tail", "git worktree add ../x. Cut the tail", "plan-branch-switch:4"},
		{"no tasks", "Task ID", "Nothing", "plan-tasks:0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := strings.Replace(string(good(t)), c.old, c.put, 1)
			if b == string(good(t)) {
				t.Fatal("nothing was spoiled")
			}
			got := blocks(Check(Parse([]byte(b)), Facts{Draft: draftOf(t)}))
			if c.want == "" && got != nil || c.want != "" && !slices.Contains(got, c.want) {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

func TestQuestionsNotOrders(t *testing.T) {
	for _, c := range []struct{ name, add, id string }{
		{"negated", "Never run git switch here.", "plan-branch-talk"},
		{"checkout of a branch", "Then git checkout main for a look.", "plan-branch-talk"},
		{"double braces in code", "Use f\"{{{x}}}\" there.", "plan-placeholders-maybe"},
		{"narrow", "One candidate is enough.", "ask-breadth"},
		{"external", "CI must pass on another machine.", "ask-external"},
	} {
		b := strings.Replace(string(good(t)), "Cut the tail", c.add+"\nCut the tail", 1)
		fs := Check(Parse([]byte(b)), Facts{Draft: draftOf(t)})
		if got := blocks(fs); got != nil {
			t.Errorf("%s blocks: %v", c.name, got)
		}
		i := slices.IndexFunc(fs, func(f Finding) bool { return f.ID == c.id && f.Line == 4 })
		if i < 0 || fs[i].Level != Ask {
			t.Errorf("%s: no question %s on line 4 in %v", c.name, c.id, fs)
		}
	}
	for _, f := range Check(Parse(good(t)), Facts{BaseBranch: "rocm-kda-base/x"}) {
		if f.Level == Ask && !strings.HasSuffix(f.Title, "?") {
			t.Errorf("%s is no question: %s", f.ID, f.Title)
		}
	}
	if strings.Contains(strings.Join(blocks(Check(Parse([]byte("| task4 | Switch QK to the wide MFMA |")), Facts{})), " "), "branch") {
		t.Error("switching an instruction is taken for switching a branch")
	}
}

func TestCommentsHideHeadings(t *testing.T) {
	d := Parse([]byte("# A\n<comment>\n## not one\n</comment>\n<!--\n## nor this\n-->\n~~~\n## nor that\n~~~\n## B\n"))
	if len(d.Sections) != 2 || d.Sections[1].Title != "B" || d.Sections[1].Line != 11 {
		t.Errorf("sections %+v", d.Sections)
	}
	if len(d.Comments) != 1 || d.Comments[0].Heading != "A" || d.Comments[0].EndLine != 4 {
		t.Errorf("comments %+v", d.Comments)
	}
	// A comment without an end hides nothing.
	d = Parse([]byte("# A\nCMT: open\n## B\n"))
	if len(d.Sections) != 2 || len(d.Comments) != 0 || len(d.CommentErrors) != 1 || d.CommentErrors[0].Column != 1 {
		t.Errorf("open: %+v %+v", d.Sections, d.CommentErrors)
	}
}

func TestHandMadePlan(t *testing.T) {
	d := Parse([]byte("Do it fast.\n\n## Criteria\n\nAC1: right\n\n### AC-2: fast\nPositive: 2x\n\n## Questions\n- DEC-1 - what?\n  - Status: pending\n"))
	if len(d.Criteria) != 2 || d.Criteria[0].ID != "AC-1" || len(d.Criteria[1].Positive) != 1 {
		t.Errorf("criteria %+v", d.Criteria)
	}
	if len(d.Decisions) != 1 || !d.Decisions[0].Pending {
		t.Errorf("decisions %+v", d.Decisions)
	}
	if d.Sections[0].Level != 0 || d.Sections[0].Line != 1 {
		t.Errorf("text before the first heading: %+v", d.Sections[0])
	}
}

func TestReading(t *testing.T) {
	d := Parse(good(t))
	r := NewReading(d, "x")
	if len(r.Seen(d)) != 0 {
		t.Fatal("seen before it was shown")
	}
	r.Show(1, 10)
	if s := r.Seen(d); !s["goal-description"] || s["acceptance-criteria"] || r.Next(10) != 11 {
		t.Errorf("after ten lines: %v, next %d", s, r.Next(10))
	}
	r.Show(-5, 1000)
	if s := r.Seen(d); len(s) != len(d.Sections) || r.Left() != 0 || r.Next(3) != 0 || r.Show(1, 70) {
		t.Errorf("at the end: %d of %d, %d left", len(s), len(d.Sections), r.Left())
	}
}

func TestCount(t *testing.T) {
	for in, want := range map[string]Counts{
		"": {}, "a": {0, 1}, "# a\n\nb\n": {3, 1}, "<!-- a\nb\n-->\nc\n<!-- d -->\n": {5, 1}, "  # a\nb\r\n": {2, 1},
	} {
		if got := Count([]byte(in)); got != want {
			t.Errorf("%q: got %+v, want %+v", in, got, want)
		}
	}
}

// TestSectionsTile checks that the sections cover every line that holds text
// once, whatever the text: otherwise something could be approved unread.
func TestSectionsTile(t *testing.T) {
	piece := rapid.SampledFrom([]string{"# A", "## A", "###### B", "text", "", "```", "~~~~", "<!--", "-->", "CMT:", "ENDCMT", "<cmt>", "</cmt>", draftStart, draftEnd, "#", "| a | b |", "|--|--|", "- AC-1: x"})
	rapid.Check(t, func(r *rapid.T) {
		src := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(r, "lines"), "\n")
		d := Parse([]byte(src))
		tile(r, d)
	})
}

func tile(t interface{ Fatalf(string, ...any) }, d *Doc) {
	covered := make([]int, d.Lines+1)
	ids := map[string]bool{}
	for _, s := range d.Sections {
		if ids[s.ID] {
			t.Fatalf("two sections have the id %s", s.ID)
		}
		ids[s.ID] = true
		for n := s.Line; n <= s.End; n++ {
			covered[n]++
		}
	}
	for n := 1; n <= d.Lines; n++ {
		if strings.TrimSpace(d.lines[n-1].text) != "" && covered[n] != 1 {
			t.Fatalf("line %d %q lies in %d sections", n, d.lines[n-1].text, covered[n])
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(good(f))
	f.Add([]byte("\x1b[31m# a\r\n{{x}}\n|a|\n|-|\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := Parse(b)
		tile(t, d)
		for _, x := range Check(d, Facts{Draft: b, BaseBranch: "main"}) {
			if strings.ContainsAny(x.Text, "\x1b\x07") || x.Line < 0 || x.Line > d.Lines {
				t.Fatalf("finding %+v", x)
			}
		}
	})
}

func BenchmarkParseAndCheck(b *testing.B) {
	src := good(b)
	for len(src) < 100<<10 {
		src = append(src, good(b)...)
	}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Check(Parse(src), Facts{Draft: src})
	}
}

// dataDir is the folder of real samples, or skips.
func dataDir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("KDAPILOT_DATA")
	if dir == "" {
		root, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			if root == filepath.Dir(root) {
				t.Fatal("no go.mod above the test")
			}
			root = filepath.Dir(root)
		}
		dir = filepath.Join(root, "..", "shared", "data")
	}
	p := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("SKIPPED: real samples are not there: %v (set KDAPILOT_DATA)", err)
	}
	return p
}
