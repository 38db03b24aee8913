package rounds

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view"
	"kdapilot/ui/view/viewtest"
)

// several is the sample with a loop that ended, one that Humanize ignores and
// one of the old layout.
func several() *session.Snapshot {
	s := viewtest.Sample()
	code := loop.Loop{Name: "2026-08-20_10-00-00", Layout: loop.RLCR, StateFile: "complete-state.md", Phase: loop.Ended, Outcome: "complete", PhaseSince: viewtest.Now.Add(-20 * time.Hour), Origin: fact.Origin{Status: fact.OK}}
	code.Round, code.Max = loop.Int{N: 2, Known: true}, loop.Int{N: 8, Known: true}
	code.Rounds = []loop.Round{
		{N: 0, Files: []string{"prompt", "review-result", "summary"}, Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.Advanced, Marker: loop.MarkComplete}},
		{N: 1, Files: []string{"prompt", "review-result"}, Review: loop.Review{Kind: loop.CodeReview, Findings: []loop.Finding{{Severity: "P1", Title: "LDS written past its end"}, {Severity: "P2", Title: "name"}, {Severity: "P2", Title: "doc"}}}},
		{N: 2, Files: []string{"prompt"}, Passed: true},
	}
	ignored := loop.Loop{Name: "2026-08-19_10-00-00", Layout: loop.RLCR, StateFile: "state.md", Phase: loop.Implementing, Ignored: true, Origin: fact.Origin{Status: fact.OK}}
	old := loop.Loop{Name: "2026-08-18_10-00-00", Layout: loop.Local, StateFile: "state.md", Phase: loop.Ended, Outcome: "cancel", Origin: fact.Origin{Status: fact.OK}}
	s.Loops.Loops = append(s.Loops.Loops, code, ignored, old)
	return s
}

// opened is the sample with the texts of round 2.
func opened() *session.Snapshot {
	s := viewtest.Sample()
	ok := func(name string) fact.Origin {
		return fact.Origin{Path: name, Status: fact.OK, Size: 900, ModTime: viewtest.Now.Add(-time.Hour)}
	}
	s.Round = &session.RoundTexts{Loop: s.Loops.Loops[0].Name, Round: 2, Texts: []session.RoundText{
		{Kind: "contract", Name: "round-2-contract.md", Text: "# Round 2 Contract\n\nReach the gate.\n", Origin: ok("round-2-contract.md")},
		{Kind: "review-result", Name: "round-2-review-result.md", Text: "# Review\n\n## Mainline Progress\n\nMainline Progress Verdict: STALLED\n\n- [P1] The wait moved, it did not shrink\n- [P2] A name\n\n" + strings.Repeat("The rows above 8192 wait as before.\n\n", 30), Origin: ok("round-2-review-result.md")},
		{Kind: "log", Name: "round-2-codex-run.log", Text: strings.Repeat("thinking about the wait at line 585 of the kernel, which is long enough to wrap on narrow screens\n", 200), Cut: true, Origin: ok("round-2-codex-run.log")},
		{Kind: "prompt", Name: "round-2-prompt.md", Origin: fact.Origin{Status: fact.Missing, Why: "no such file"}},
	}}
	return s
}

func waiting() *session.Snapshot {
	s := viewtest.Sample()
	l := &s.Loops.Loops[0]
	l.Phase, l.Ball = loop.AwaitingSummaryReview, loop.Ball{Who: loop.Codex, Since: viewtest.Now.Add(-20 * time.Minute), Why: "the reviewer of round 3 is at work"}
	l.Reviewer = loop.Reviewer{Open: true, Round: 3, Kind: loop.SummaryReview, Checked: fact.OK, Alive: true, PID: 4711, Started: viewtest.Now.Add(-20 * time.Minute), Deadline: viewtest.Now.Add(70 * time.Minute), HostDeadline: viewtest.Now.Add(100 * time.Minute), Log: "/c/round-3.log", LogBytes: 120_000, LogModTime: viewtest.Now.Add(-time.Minute)}
	return s
}

func act(t *testing.T, s *Screen, e *view.Env, ids ...keys.ID) view.Ask {
	t.Helper()
	var ask view.Ask
	for _, id := range ids {
		s.Render(e, 120, 36)
		var ok bool
		if ask, ok = s.Act(e, id); !ok {
			t.Fatalf("%s was not handled", id)
		}
	}
	return ask
}

func TestFrames(t *testing.T) {
	torn := viewtest.Sample()
	torn.Loops.Loops[0].Origin = fact.Origin{Status: fact.Torn, Why: "state.md is empty", Path: "state.md"}
	for _, c := range []struct {
		name string
		snap *session.Snapshot
		keys []keys.ID
	}{
		{"rounds", viewtest.Sample(), nil},
		{"rounds-facts", viewtest.Sample(), []keys.ID{keys.NextPane}},
		{"rounds-waiting", waiting(), []keys.ID{keys.NextPane}},
		{"rounds-loops", several(), []keys.ID{keys.NextPane, keys.NextPane}},
		{"rounds-code", several(), []keys.ID{keys.PrevSection}},
		{"rounds-read", opened(), []keys.ID{keys.Down, keys.Drill}},
		{"rounds-log", opened(), []keys.ID{keys.Down, keys.Drill, keys.NextSection}},
		{"rounds-torn", torn, nil},
		{"rounds-none", &session.Snapshot{Loops: loop.Set{Origin: fact.Origin{Status: fact.Missing}}}, nil},
	} {
		e := viewtest.Env(c.snap)
		s := New()
		act2(t, s, e, c.keys)
		viewtest.Golden(t, c.name, s, e)
	}
}

func act2(t *testing.T, s *Screen, e *view.Env, ids []keys.ID) {
	if len(ids) > 0 {
		act(t, s, e, ids...)
	}
}

func TestAnyKeysAnySize(t *testing.T) {
	ids := []keys.ID{keys.Up, keys.Down, keys.PageDown, keys.PageUp, keys.Top, keys.Bottom, keys.Drill, keys.Back, keys.NextPane, keys.PrevPane, keys.PrevSection, keys.NextSection, keys.NextMatch, keys.PrevMatch, keys.MoveLeft, keys.MoveRight}
	hostile := several()
	hostile.Loops.Loops[0].Tracker.Criteria[0].Text = "wide 漢字 and \tcontrol"
	hostile.Loops.Loops[0].NextStop[0].Text = strings.Repeat("long ", 200)
	snaps := []*session.Snapshot{viewtest.Sample(), hostile, opened(), waiting(), {}}
	rapid.Check(t, func(r *rapid.T) {
		s := New()
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			e := viewtest.Env(rapid.SampledFrom(snaps).Draw(r, "snap"))
			w, h := rapid.IntRange(1, 220).Draw(r, "w"), rapid.IntRange(1, 70).Draw(r, "h")
			viewtest.Exact(t, s.Render(e, w, h), w, h)
			s.Act(e, rapid.SampledFrom(ids).Draw(r, "key"))
			if rapid.Bool().Draw(r, "filter") {
				s.SetFilter(e, rapid.SampledFrom([]string{"", "stalled", "verdict:advanced", "!x", "wait"}).Draw(r, "text"))
			}
			s.Selected(e)
		}
	})
}

func TestTheNewestRoundIsFollowedUntilAPersonMoves(t *testing.T) {
	e := viewtest.Env(viewtest.Sample())
	s := New()
	s.Render(e, 120, 36)
	if got := s.Selected(e); !strings.Contains(got, "round 3  -  open") {
		t.Errorf("at first %q, want round 3", got)
	}
	next := viewtest.Sample()
	next.Loops.Loops[0].Rounds = append(next.Loops.Loops[0].Rounds, loop.Round{N: 4})
	e.Snap = next
	if got := s.Selected(e); !strings.Contains(got, "round 4") {
		t.Errorf("after a new round %q, want round 4", got)
	}
	act(t, s, e, keys.Down, keys.Down)
	if got := s.Selected(e); !strings.Contains(got, "round 2  summary  stalled") {
		t.Errorf("after two down %q, want round 2", got)
	}
	next = viewtest.Sample()
	next.Loops.Loops[0].Rounds = append(next.Loops.Loops[0].Rounds, loop.Round{N: 4}, loop.Round{N: 5})
	e.Snap = next
	if got := s.Selected(e); !strings.Contains(got, "round 2") {
		t.Errorf("a person's choice moved to %q", got)
	}
}

func TestDrillAsksForTheTextsOnce(t *testing.T) {
	e := viewtest.Env(viewtest.Sample())
	s := New()
	ask := act(t, s, e, keys.Down, keys.Drill)
	want := session.OpenRound{Loop: e.Snap.Loops.Loops[0].Name, Round: 2}
	if len(ask.Do) != 1 || ask.Do[0] != want {
		t.Fatalf("asks %+v, want %+v", ask.Do, want)
	}
	if text := draw.Plain(s.Render(e, 120, 36)); !strings.Contains(text, "not read yet") {
		t.Errorf("before the text is there:\n%s", text)
	}
	e.Snap = opened()
	text := draw.Plain(s.Render(e, 120, 36))
	for _, w := range []string{"round 2 > review-result", "[review-result]", "Mainline Progress Verdict: STALLED"} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not on screen:\n%s", w, text)
		}
	}
	act(t, s, e, keys.Back)
	if ask := act(t, s, e, keys.Drill); len(ask.Do) != 0 {
		t.Errorf("read again: %+v", ask.Do)
	}
}

func TestSearchGoesFromHitToHit(t *testing.T) {
	e := viewtest.Env(opened())
	s := New()
	act(t, s, e, keys.Down, keys.Drill)
	s.Render(e, 120, 36)
	s.SetFilter(e, "p2")
	if got := s.Selected(e); !strings.Contains(got, "[P2] A name") {
		t.Errorf("first hit %q", got)
	}
	s.SetFilter(e, "rows above")
	first := s.read.found
	act(t, s, e, keys.NextMatch)
	if s.read.found <= first {
		t.Errorf("next hit %d, was %d", s.read.found, first)
	}
	act(t, s, e, keys.PrevMatch)
	if s.read.found != first {
		t.Errorf("back to %d, want %d", s.read.found, first)
	}
	s.SetFilter(e, "no such words")
	if text := draw.Plain(s.Render(e, 120, 36)); !strings.Contains(text, "not found") {
		t.Error("a search without a hit does not say so")
	}
}

func TestWords(t *testing.T) {
	active := &loop.Loop{Phase: loop.Implementing}
	ended := &loop.Loop{Phase: loop.Ended}
	in := &loop.Loop{Phase: loop.AwaitingCodeReview}
	for _, tt := range []struct {
		name   string
		l      *loop.Loop
		r      loop.Round
		word   string
		letter string
	}{
		{"advanced", active, loop.Round{Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.Advanced}}, "advanced", "A"},
		{"two words on the line", active, loop.Round{Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.UnknownVerdict}}, "unknown", "?"},
		{"verdict of a reviewer that could not work", active, loop.Round{Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.Advanced, CouldNotRun: "sandbox"}}, "could not run", "!"},
		{"code findings", active, loop.Round{Review: loop.Review{Kind: loop.CodeReview, Findings: []loop.Finding{{Severity: "P1"}}}}, "findings", "C"},
		{"clean code review leaves no result", active, loop.Round{Passed: true}, "clean", "c"},
		{"last round at max", active, loop.Round{Unreviewed: true}, "never reviewed", "-"},
		{"open", active, loop.Round{}, "open", "."},
		{"in review", in, loop.Round{}, "in review", "."},
		{"ended without review", ended, loop.Round{}, "no review", "-"},
	} {
		tt.l.Rounds = []loop.Round{tt.r}
		if got := verdictWord(tt.l, &tt.l.Rounds[0]); got != tt.word {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.word)
		}
		if got := letter(tt.l, &tt.l.Rounds[0]); got != tt.letter {
			t.Errorf("%s: letter %q, want %q", tt.name, got, tt.letter)
		}
	}
}

func TestSpans(t *testing.T) {
	t0 := viewtest.Now
	at := func(min int) time.Time { return t0.Add(time.Duration(min) * time.Minute) }
	r := loop.Round{Opened: at(0), Reviewed: at(90), Summary: loop.Summary{ModTime: at(60)}}
	run := &loop.Attempt{CmdModTime: at(65)}
	work, review := spans(&r)
	if work != time.Hour || review != 0 {
		t.Errorf("without a reviewer's start: %v, %v", work, review)
	}
	r.Run = run
	if work, review = spans(&r); work != 65*time.Minute || review != 25*time.Minute {
		t.Errorf("with one: %v, %v, want 65 and 25 min", work, review)
	}
	if work, review = spans(&loop.Round{}); work != 0 || review != 0 {
		t.Errorf("nothing known: %v, %v", work, review)
	}
}

func TestShow(t *testing.T) {
	e := viewtest.Env(several())
	s := New()
	if ask := s.Show(e, "2026-01-01_00-00-00"); ask.Say == "" {
		t.Error("a loop that is not there is shown")
	}
	s.Show(e, "2026-08-20_10-00-00/1")
	if got := s.Selected(e); !strings.Contains(got, "2026-08-20_10-00-00  round 1  code  findings") || !strings.Contains(got, "P1 x1 P2 x2") {
		t.Errorf("selected %q", got)
	}
	s.Show(e, "0")
	if got := s.Selected(e); !strings.Contains(got, "round 0") {
		t.Errorf("selected %q", got)
	}
}

// A frame stays cheap with many loops, many rounds and a long review.
func BenchmarkRender(b *testing.B) {
	snap := opened()
	l := &snap.Loops.Loops[0]
	for i := range 40 {
		l.Rounds = append(l.Rounds, loop.Round{N: 4 + i, Files: []string{"prompt", "summary"}})
		snap.Loops.Loops = append(snap.Loops.Loops, loop.Loop{Name: fmt.Sprintf("2026-07-%02d_08-00-00", i%28+1), Layout: loop.RLCR, Rounds: l.Rounds})
	}
	snap.Round.Texts[1].Text = strings.Repeat("A line of review with `code` and **words** in it.\n\n", 2000)
	e := viewtest.Env(snap)
	for _, c := range []struct {
		name string
		keys []keys.ID
	}{{"list", nil}, {"reader", []keys.ID{keys.Drill}}} {
		s := New()
		s.Show(e, "2")
		for _, id := range c.keys {
			s.Act(e, id)
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				s.Render(e, 200, 56)
			}
		})
	}
}
