package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/plan"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
	"kdapilot/ui/view/viewtest"
)

func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// env is a snapshot with this plan, judged as the program does.
func env(t testing.TB, text string) *view.Env {
	t.Helper()
	s := viewtest.Sample()
	setPlan(t, s, text)
	s.Gates = session.Gates{Known: true}
	return viewtest.Env(s)
}

func setPlan(t testing.TB, s *session.Snapshot, text string) {
	t.Helper()
	sum := sha256.Sum256([]byte(text))
	doc := plan.Parse([]byte(text))
	var issues []gate.Issue
	for _, f := range plan.Check(doc, plan.Facts{Draft: []byte(fixture(t, "draft.md")), BaseBranch: "rocm-kda-base/decode"}) {
		issues = append(issues, gate.Issue{ID: f.ID, Title: f.Title, Line: f.Line, Text: f.Text, Blocks: f.Level == plan.Block, Clears: f.Clears})
	}
	approved := s.Plan.Approved
	s.Plan = session.Plan{
		Doc: doc, Text: text, Issues: issues, Approved: approved,
		Origin: fact.Origin{Path: "/w/FlyDSL-fa-fp8/.humanize/kernel-agent/refined-plan.md", Status: fact.OK, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:]), ModTime: viewtest.Now.Add(-time.Hour)},
		Draft:  fact.Origin{Path: "draft.md", Status: fact.OK, Size: 148, ModTime: viewtest.Now.Add(-2 * time.Hour)},
	}
}

func approve(e *view.Env, text string) {
	e.Snap.Plan.Approved = &session.ApprovedPlan{SealID: "3f2a9c", Who: "kim", At: viewtest.Now.Add(-26 * time.Hour), Text: text}
}

// spoil puts one thing of each blocking kind into the plan.
func spoil(text string) string {
	return strings.NewReplacer(
		"Decision Status: hard, with a documented NO-GO allowed", "Decision Status: `PENDING`",
		"| AC-3 | coding |", "| AC-4 | code |",
		"Split factor chosen per shape", "CMT: how many shapes? ENDCMT Split factor chosen per {{SHAPE}}",
	).Replace(text)
}

// fresh renders a new screen each time, after the given keys, so that one
// golden frame does not depend on the ones before.
type fresh struct {
	*Screen
	press []keys.ID
}

func (f fresh) Render(e *view.Env, w, h int) []string {
	s := New()
	for _, id := range f.press {
		s.Render(e, w, h)
		s.Act(e, id)
	}
	return s.Render(e, w, h)
}

func TestFrames(t *testing.T) {
	text := fixture(t, "plan.md")
	viewtest.Golden(t, "plan", fresh{New(), nil}, env(t, text))
	viewtest.Golden(t, "plan-read", fresh{New(), []keys.ID{keys.PageDown, keys.PageDown, keys.NextUnread, keys.NextPane}}, env(t, text))
	viewtest.Golden(t, "plan-issues", fresh{New(), []keys.ID{keys.NextPane, keys.NextPane, keys.Down, keys.Down}}, env(t, spoil(text)))
	e := env(t, strings.Replace(text, "1.25 against", "1.30 against", 1))
	approve(e, text)
	viewtest.Golden(t, "plan-diff", fresh{New(), []keys.ID{keys.ShowDiff}}, e)
}

func TestNoPlanFrames(t *testing.T) {
	e := viewtest.Env(viewtest.Sample())
	e.Snap.Plan = session.Plan{
		Origin: fact.Origin{Path: "/w/x/refined-plan.md", Status: fact.Missing},
		Draft:  fact.Origin{Status: fact.OK, Size: 148, ModTime: viewtest.Now.Add(-2 * time.Hour)},
	}
	viewtest.Golden(t, "plan-none", New(), e)
}

func TestAnySizeAnyKeys(t *testing.T) {
	text := fixture(t, "plan.md")
	envs := []*view.Env{env(t, text), env(t, spoil(text)), env(t, ""), env(t, "x"), viewtest.Env(&session.Snapshot{})}
	approve(envs[1], text)
	ids := []keys.ID{
		keys.Up, keys.Down, keys.PageUp, keys.PageDown, keys.Top, keys.Bottom, keys.NextPane, keys.PrevPane, keys.NextUnread,
		keys.NextSection, keys.PrevSection, keys.NextMatch, keys.PrevMatch, keys.ShowDiff, keys.Drill, keys.Back, keys.HalfDown, keys.HalfUp, keys.OpenG1,
	}
	rapid.Check(t, func(r *rapid.T) {
		s := New()
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			e := rapid.SampledFrom(envs).Draw(r, "env")
			w, h := rapid.IntRange(1, 240).Draw(r, "w"), rapid.IntRange(1, 80).Draw(r, "h")
			viewtest.Exact(t, s.Render(e, w, h), w, h)
			s.Act(e, rapid.SampledFrom(ids).Draw(r, "key"))
			s.SetFilter(e, rapid.SampledFrom([]string{"", "a", "AC-1", "İ", "the"}).Draw(r, "search"))
			s.Selected(e)
			s.Show(e, rapid.SampledFrom([]string{"", "12", "AC-1", "task-breakdown", "nothing"}).Draw(r, "target"))
		}
		e := rapid.SampledFrom(envs).Draw(r, "last")
		viewtest.Exact(t, s.Render(e, 80, 20), 80, 20)
	})
}

// readAll pages to the end.
func readAll(s *Screen, e *view.Env, w, h int) {
	for range 200 {
		s.Render(e, w, h)
		s.Act(e, keys.PageDown)
	}
	s.Render(e, w, h)
}

func TestSeenNeedsEveryLine(t *testing.T) {
	for _, size := range viewtest.Sizes {
		t.Run(strconv.Itoa(size[0]), func(t *testing.T) {
			w, h := size[0], size[1]
			e := env(t, fixture(t, "plan.md"))
			s := New()
			if n := len(s.Seen()); n != 0 {
				t.Fatalf("%d sections read before anything was drawn", n)
			}
			s.Render(e, w, h)
			// Jumping to the end leaves out the middle.
			s.Act(e, keys.Bottom)
			s.Render(e, w, h)
			if h < 50 && s.Seen()["task-breakdown"] && s.Seen()["acceptance-criteria"] {
				t.Error("first and last page count as the whole")
			}
			s.Act(e, keys.Top)
			readAll(s, e, w, h)
			seen := s.Seen()
			for _, x := range e.Snap.Plan.Doc.Sections {
				if !seen[x.ID] {
					t.Errorf("%s (line %d) was scrolled through and is unread", x.ID, x.Line)
				}
			}
			if top := draw.Plain(s.Render(e, w, h)[:1]); !strings.Contains(top, "read all "+strconv.Itoa(len(seen))) {
				t.Errorf("header: %q", top)
			}
			if s.SeenOf(e.Snap.Plan.Origin.SHA256) == nil || len(s.SeenOf("other")) != 0 {
				t.Error("the reading is bound to the bytes shown")
			}
		})
	}
}

func TestLongSectionMustBeScrolled(t *testing.T) {
	text := "# T\n\n## Long\n" + strings.Repeat("- line\n", 100) + "- end\n"
	e, s := env(t, text), New()
	s.Render(e, 80, 20)
	s.Act(e, keys.Bottom)
	s.Render(e, 80, 20)
	if s.Seen()["long"] {
		t.Error("heading and last line alone make a long section read")
	}
	if got, _ := s.Act(e, keys.NextUnread); got.Say != "" {
		t.Errorf("u says %q", got.Say)
	}
	s.Act(e, keys.Top)
	readAll(s, e, 80, 20)
	if !s.Seen()["long"] {
		t.Error("not read after scrolling through")
	}
}

func TestUnreadWalk(t *testing.T) {
	e, s := env(t, fixture(t, "plan.md")), New()
	s.Render(e, 80, 20)
	for range 100 {
		ask, _ := s.Act(e, keys.NextUnread)
		if ask.Say != "" {
			if len(s.Seen()) != len(e.Snap.Plan.Doc.Sections) {
				t.Fatalf("u says %q with %d sections read", ask.Say, len(s.Seen()))
			}
			return
		}
		s.Render(e, 80, 20)
	}
	t.Fatal("pressing u never reaches the end")
}

func TestChangedPlanKeepsUnchangedSections(t *testing.T) {
	text := fixture(t, "plan.md")
	e, s := env(t, text), New()
	readAll(s, e, 100, 20)
	all := len(s.Seen())
	setPlan(t, e.Snap, strings.Replace(text, "in f32.", "in f64.", 1))
	s.Act(e, keys.Top)
	seen := s.Seen()
	if seen["agreements"] || len(seen) != all-1 {
		t.Errorf("%d of %d read after one section changed, agreements %v", len(seen), all, seen["agreements"])
	}
	// A plan that is gone for a moment comes back as read.
	good := e.Snap.Plan
	e.Snap.Plan.Origin.Status = fact.Missing
	s.Render(e, 100, 20)
	if len(s.Seen()) != 0 {
		t.Error("something is read while there is no plan")
	}
	e.Snap.Plan = good
	s.Act(e, keys.Top)
	if len(s.Seen()) != all-1 {
		t.Errorf("%d read after the plan came back", len(s.Seen()))
	}
}

func TestSidePanesDoNotReadTheText(t *testing.T) {
	e, s := env(t, fixture(t, "plan.md")), New()
	s.Act(e, keys.NextPane)
	s.Render(e, 60, 20)
	if len(s.Seen()) != 0 {
		t.Error("the outline alone counts as reading")
	}
}

func TestMixedLineEndsNeverCount(t *testing.T) {
	text := "# T\n\n## A\rhidden\n"
	e, s := env(t, text), New()
	e.Snap.Plan.Text = "# T\n\n## A\nhidden\n" // as the cleaner makes it
	out := draw.Plain(s.Render(e, 80, 20))
	if len(s.Seen()) != 0 || !strings.Contains(out, "mixes line ends") {
		t.Errorf("read %d, header %q", len(s.Seen()), out[:80])
	}
}

func TestJumps(t *testing.T) {
	e, s := env(t, spoil(fixture(t, "plan.md"))), New()
	s.Render(e, 120, 36)
	want := 0
	for i, l := range strings.Split(e.Snap.Plan.Text, "\n") {
		if strings.Contains(l, "{{SHAPE}}") {
			want = i + 1
		}
	}
	s.Act(e, keys.NextPane)
	s.Act(e, keys.NextPane)
	for range 400 {
		if r := s.list.selected(); r != nil && r.line == want {
			break
		}
		s.Act(e, keys.Down)
	}
	s.Act(e, keys.Drill)
	if s.at != want || s.focus != textPane {
		t.Fatalf("enter leads to line %d, want %d", s.at, want)
	}
	if got := s.Selected(e); !strings.HasPrefix(got, "refined-plan.md:"+strconv.Itoa(want)+": ") {
		t.Errorf("selected %q", got)
	}
	if ask := s.Show(e, "DEC-1"); ask.Say != "" || s.at != e.Snap.Plan.Doc.Decisions[0].Line {
		t.Errorf("show DEC-1: line %d, %q", s.at, ask.Say)
	}
	if ask, _ := s.Act(e, keys.OpenG1); ask.Gate != keys.OpenG1 {
		t.Error("A does not ask for gate 1")
	}
}

func TestSearch(t *testing.T) {
	e, s := env(t, fixture(t, "plan.md")), New()
	s.Render(e, 80, 20)
	s.SetFilter(e, "split factor")
	var at []int
	for range 4 {
		at = append(at, s.at)
		s.Act(e, keys.NextMatch)
	}
	if at[0] == 0 || at[0] >= at[1] || at[1] >= at[2] {
		t.Errorf("matches at %v", at)
	}
	s.Act(e, keys.PrevMatch)
	if s.at != at[3] {
		t.Errorf("N leads to %d, want %d", s.at, at[3])
	}
	s.SetFilter(e, "no such words")
	if out := draw.Plain(s.Render(e, 80, 20)); !strings.Contains(out, "not found: no such words") {
		t.Error("a search without a hit does not say so")
	}
	row := s.search.light("x Merge merge x", 15, e.Look)
	if draw.Strip(row) != "x Merge merge x" {
		t.Errorf("painting changes the text: %q", row)
	}
	s.search.text = "merge"
	if row = s.search.light("x Merge merge x", 15, e.Look); draw.Strip(row) != "x Merge merge x" || strings.Count(row, e.Look.Match.Paint("Merge"))+strings.Count(row, e.Look.Match.Paint("merge")) != 2 {
		t.Errorf("painted %q", row)
	}
}

func TestDiffNeedsAnApprovedPlan(t *testing.T) {
	e, s := env(t, fixture(t, "plan.md")), New()
	if ask, ok := s.Act(e, keys.ShowDiff); !ok || ask.Say != "no approved plan yet" {
		t.Errorf("d says %q", ask.Say)
	}
	approve(e, e.Snap.Plan.Text)
	s.Act(e, keys.ShowDiff)
	if out := draw.Plain(s.Render(e, 80, 20)); !strings.Contains(out, "is the one that was approved") {
		t.Errorf("an unchanged plan:\n%s", out)
	}
	if _, ok := s.Act(e, keys.Back); !ok || s.diff.on {
		t.Error("esc does not leave the diff")
	}
	if _, ok := s.Act(e, keys.Back); ok {
		t.Error("esc in the text is the model's")
	}
}

func TestPlaceIsKept(t *testing.T) {
	text := fixture(t, "plan.md")
	e, s := env(t, text), New()
	s.Render(e, 120, 20)
	s.Show(e, "task-breakdown")
	s.Act(e, keys.Down)
	line := s.topLine()
	s.Render(e, 60, 20)
	if s.topLine() != line {
		t.Errorf("after a resize line %d is on top, was %d", s.topLine(), line)
	}
	setPlan(t, e.Snap, strings.Replace(text, "## Goal Description\n", "## Goal Description\nNew first line.\n\n", 1))
	s.Render(e, 60, 20)
	if s.topLine() != line+2 {
		t.Errorf("after two lines were put above, line %d is on top, want %d", s.topLine(), line+2)
	}
}

func BenchmarkRender(b *testing.B) {
	text := fixture(b, "plan.md")
	for len(text) < 20<<10 {
		text += "\n" + text
	}
	e, s := env(b, text), New()
	s.Render(e, 200, 56)
	b.ReportAllocs()
	for b.Loop() {
		s.Render(e, 200, 56)
	}
}

func BenchmarkFirstRender(b *testing.B) {
	text := fixture(b, "plan.md")
	for len(text) < 20<<10 {
		text += "\n" + text
	}
	e := env(b, text)
	for b.Loop() {
		New().Render(e, 200, 56)
	}
}

// FuzzReadable holds the promise that any plan can be read: whoever scrolls
// through all of it has every section seen, or is told why not.
func FuzzReadable(f *testing.F) {
	for _, s := range []string{
		fixture(f, "plan.md"), "", "x", "# A\n\n\n", "# A\r\n## B\r\ntext\r\n", "# A\rB\n", "<!--\n# A\n-->\n## B", "```\n# A\n", "A\n===\nB\n---\n",
		"[a]: http://x\n# [a]\n\n[^1]: note\n", "| a | b |\n|---|---|\n| c |\n# T\n", "- # A\n  - ## B\n", "> # A\n> b\n# C", "CMT: a\n## x\nENDCMT\n# y", "--- Original Design Draft Start ---\n# A\n--- Original Design Draft End ---\ntail",
	} {
		f.Add(s, uint8(80))
	}
	f.Fuzz(func(t *testing.T, raw string, width uint8) {
		if len(raw) > 4<<10 {
			return
		}
		w := max(int(width), 20)
		doc := plan.Parse([]byte(raw))
		snap := &session.Snapshot{Plan: session.Plan{Doc: doc, Text: text.Clean(raw), Origin: fact.Origin{Status: fact.OK, SHA256: "x"}}}
		e, s := viewtest.Env(snap), New()
		for range 4096 {
			viewtest.Exact(t, s.Render(e, w, 20), w, 20)
			top := s.top
			if s.Act(e, keys.PageDown); s.top == top {
				break
			}
		}
		if s.uncounted != "" {
			return
		}
		seen := s.Seen()
		for _, x := range doc.Sections {
			if !seen[x.ID] {
				t.Fatalf("%q at %d: section %q, lines %d to %d, can not be read", raw, w, x.ID, x.Line, x.End)
			}
		}
	})
}
