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
	"kdapilot/ui/view/viewtest"
)

func TestFrames(t *testing.T) {
	none := &session.Snapshot{Loops: loop.Set{Origin: fact.Origin{Status: fact.Missing}}}
	for _, c := range []struct {
		name string
		snap *session.Snapshot
		keys []keys.ID
	}{
		{"rounds", sample(), nil},
		{"rounds-facts", sample(), []keys.ID{keys.NextPane, keys.NextPane}},
		{"rounds-detail", sample(), []keys.ID{keys.Down, keys.NextPane}},
		{"rounds-waiting", waiting(), []keys.ID{keys.NextPane, keys.NextPane}},
		{"rounds-finalizing", finalizing(), nil},
		{"rounds-loops", several(), []keys.ID{keys.PrevPane}},
		{"rounds-ignored", several(), []keys.ID{keys.PrevSection, keys.PrevSection}},
		{"rounds-code", several(), []keys.ID{keys.PrevSection}},
		{"rounds-read", opened(), []keys.ID{keys.Down, keys.Drill}},
		{"rounds-log", opened(), []keys.ID{keys.Down, keys.Drill, keys.PrevSection, keys.PrevSection}},
		{"rounds-torn", broken(), nil},
		{"rounds-none", none, nil},
	} {
		e := viewtest.Env(c.snap)
		s := New()
		act(t, s, e, c.keys...)
		viewtest.Golden(t, c.name, s, e)
	}
}

func TestAnyKeysAnySize(t *testing.T) {
	ids := []keys.ID{keys.Up, keys.Down, keys.PageDown, keys.PageUp, keys.Top, keys.Bottom, keys.Drill, keys.Back, keys.NextPane, keys.PrevPane, keys.PrevSection, keys.NextSection, keys.NextMatch, keys.PrevMatch, keys.MoveLeft, keys.MoveRight, keys.HalfUp, keys.HalfDown, keys.Follow, keys.Wrap}
	hostile := several()
	hostile.Loops.Loops[0].Tracker.Criteria[0].Text = "wide 漢字 and \tcontrol"
	hostile.Loops.Loops[0].NextStop[0].Text = strings.Repeat("long ", 200)
	snaps := []*session.Snapshot{sample(), hostile, opened(), waiting(), finalizing(), broken(), {}}
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
	if got := s.Selected(e); !strings.Contains(got, "round 3  open") {
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
	if text := draw.Plain(s.Render(e, 120, 36)); !strings.Contains(text, "Not read yet") {
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
	parked := &loop.Loop{Phase: loop.Parked}
	unchecked := &loop.Loop{Phase: loop.Implementing, Reviewer: loop.Reviewer{Open: true}}
	gone := &loop.Loop{Phase: loop.Implementing, Reviewer: loop.Reviewer{Open: true, Checked: fact.OK}}
	for _, tt := range []struct {
		name   string
		l      *loop.Loop
		r      loop.Round
		kind   string
		word   string
		letter string
	}{
		{"advanced", active, loop.Round{Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.Advanced}}, "summary", "advanced", "A"},
		{"complete", active, loop.Round{Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.Advanced, Marker: loop.MarkComplete}}, "summary", "advanced", "C"},
		{"stopped", active, loop.Round{Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.Stalled, Marker: loop.MarkStop}}, "summary", "stalled", "X"},
		{"two words on the line", active, loop.Round{Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.UnknownVerdict}}, "summary", "unknown", "?"},
		{"verdict of a reviewer that could not work", active, loop.Round{Review: loop.Review{Kind: loop.SummaryReview, Verdict: loop.Advanced, CouldNotRun: "sandbox"}}, "summary", "could not run", "!"},
		{"code findings", active, loop.Round{Review: loop.Review{Kind: loop.CodeReview, Findings: []loop.Finding{{Severity: "P1"}}}}, "code", "findings", "F"},
		{"clean code review leaves no result", active, loop.Round{Passed: true}, "code", "clean", "P"},
		{"last round at max", active, loop.Round{Unreviewed: true}, "-", "never reviewed", "-"},
		{"open", active, loop.Round{}, "-", "open", "."},
		{"in review", in, loop.Round{}, "-", "in review", "."},
		{"parked", parked, loop.Round{}, "-", "parked", "."},
		{"a reviewer was started, nobody looked for it", unchecked, loop.Round{}, "-", "in review?", "."},
		{"a reviewer was started and is gone", gone, loop.Round{}, "-", "unfinished", "."},
		{"ended without review", ended, loop.Round{}, "-", "no review", "-"},
	} {
		tt.l.Rounds = []loop.Round{tt.r}
		r := &tt.l.Rounds[0]
		if k, w, m := kindWord(tt.l, r), verdictWord(tt.l, r), tt.l.Strip()[0].Letter; k != tt.kind || w != tt.word || m != tt.letter {
			t.Errorf("%s: %q %q %q, want %q %q %q", tt.name, k, w, m, tt.kind, tt.word, tt.letter)
		}
	}
	active.Rounds = []loop.Round{{N: 0}, {N: 1}}
	if got := verdictWord(active, &active.Rounds[0]); got != "no review" {
		t.Errorf("a round passed over without a review is %q", got)
	}
}

func TestAlignmentRounds(t *testing.T) {
	l := &loop.Loop{}
	if alignment(l, 4) {
		t.Error("alignment without knowing every how many rounds")
	}
	l.FullReviewRound = known(5)
	for n := range 12 {
		if got, want := alignment(l, n), n == 4 || n == 9; got != want {
			t.Errorf("round %d: %v", n, got)
		}
	}
	r := &loop.Round{N: 4, Review: loop.Review{Kind: loop.SummaryReview}}
	if got := kindWord(l, r); got != "alignment" {
		t.Errorf("kind of round 4 is %q", got)
	}
	r.Kind = loop.CodeReview
	if got := kindWord(l, r); got != "code" {
		t.Errorf("kind of a code review is %q", got)
	}
}

func TestWhatWasFound(t *testing.T) {
	for want, r := range map[string]loop.Round{
		"P1 x1 P2 x2":        {Review: loop.Review{Findings: []loop.Finding{{Severity: "P2"}, {Severity: "P1"}, {Severity: "P2"}}}},
		"2 gaps, 1 blocking": {Review: loop.Review{Gaps: known(2), Blocking: known(1)}},
		"none":               {Review: loop.Review{Gaps: known(0), Blocking: known(0), Queued: known(0)}},
		"-":                  {Review: loop.Review{Gaps: known(0)}}, // the others are not known
		"1 gap, 3 queued":    {Review: loop.Review{Gaps: known(1), Queued: known(3)}},
	} {
		if got := foundWord(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, r := range map[string]loop.Round{
		"all":         {Files: []string{"contract", "summary", "review-result"}},
		"no contract": {Files: []string{"summary", "review-result"}},
		"no summary":  {Files: []string{"contract"}, Passed: true},
		"no result":   {Files: []string{"contract", "summary"}},
		"none":        {},
	} {
		if got := filesWord(&r); got != want {
			t.Errorf("files %q, want %q", got, want)
		}
	}
}

func TestStripShowsTheNewest(t *testing.T) {
	l := &loop.Loop{Phase: loop.Implementing}
	for n := range 13 {
		v := loop.Advanced
		if n == 12 {
			v = loop.Stalled
		}
		l.Rounds = append(l.Rounds, loop.Round{N: n, Review: loop.Review{Kind: loop.SummaryReview, Verdict: v}})
	}
	look := viewtest.Env(nil).Look
	for w, want := range map[int]string{80: "AAAAA AAAAA AAS", 15: "AAAAA AAAAA AAS", 14: "~AAA AAAAA AAS", 5: "~AAS", 6: "~A AAS", 1: "S", 0: "S"} {
		if got := draw.Strip(strip(l, w, look)); got != want {
			t.Errorf("in %d cells %q, want %q", w, got, want)
		}
	}
}

func TestLoopNames(t *testing.T) {
	for _, tt := range []struct {
		name string
		w    int
		want string
	}{
		{"2026-08-21_08-12-44", 19, "2026-08-21_08-12-44"},
		{"2026-08-21_08-12-44", 18, "08-21 08:12:44"},
		{"2026-08-21_08-12-44", 11, "08-21 08:12"},
		{"some other name of a loop", 12, "some ~a loop"},
	} {
		if got := loopName(tt.name, tt.w); got != tt.want {
			t.Errorf("%s in %d: %q, want %q", tt.name, tt.w, got, tt.want)
		}
	}
}

func TestClaimAndProofStayApart(t *testing.T) {
	e := viewtest.Env(sample())
	l := &e.Snap.Loops.Loops[0]
	if got := tally(l.Tracker.Criteria); got != "criteria: 2 of 7 verified, 2 ONLY CLAIMED" {
		t.Error(got)
	}
	text := draw.Plain(New().proofLines(e, l, 100))
	for _, want := range []string{
		"verified AC-1", "verified in round 1, done in 0: sweep of 16 rows",
		"! CLAIMED  AC-3", "claude, done (round 2, pending verification): task3",
		"open       AC-6", "owner not named, pending: task6",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	l.Tracker = loop.Tracker{Origin: fact.Origin{Status: fact.Missing}}
	e.Snap = &session.Snapshot{Loops: e.Snap.Loops}
	if text := draw.Plain(New().proofLines(e, l, 100)); !strings.Contains(text, "goal tracker: missing") || strings.Contains(text, "0 open") {
		t.Errorf("a tracker that is not there reads\n%s", text)
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

// The clock of a screen steps once a minute: what was just written may be newer.
func TestTimesAheadOfTheClock(t *testing.T) {
	e := viewtest.Env(sample())
	l := &e.Snap.Loops.Loops[0]
	r := &l.Rounds[3]
	r.Opened = at(-40 * time.Second)
	if work, _ := spanWords(e, l, r); work != "<1 min+" {
		t.Errorf("work %q", work)
	}
	for ago, want := range map[time.Duration]string{-40 * time.Second: "just now", 30 * time.Second: "just now", 5 * time.Minute: "5 min ago", -5 * time.Minute: "in 5 min", -90 * time.Minute: "in 1:30 h"} {
		if got := until(e, at(ago)); got != want {
			t.Errorf("%v ago: %q, want %q", ago, got, want)
		}
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

// A text that is read stays, whatever loop or round arrives; so does what a
// person selected.
func TestTheReaderStaysWithItsRound(t *testing.T) {
	e := viewtest.Env(opened())
	s := New()
	act(t, s, e, keys.Down, keys.Drill)
	next := opened()
	newer := loop.Loop{Name: "2026-08-21_13-00-00", Layout: loop.RLCR, Phase: loop.Implementing, Rounds: []loop.Round{{N: 0}, {N: 1}, {N: 2}}}
	next.Loops.Loops = append([]loop.Loop{newer}, next.Loops.Loops...)
	e.Snap = next
	text := draw.Plain(s.Render(e, 100, 30))
	for _, want := range []string{"2026-08-21_08-12-44 > round 2 > review-result", "Mainline Progress Verdict: STALLED"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on screen after a new loop:\n%s", want, text)
		}
	}
	act(t, s, e, keys.Back)
	if got := s.Selected(e); !strings.HasPrefix(got, "2026-08-21_08-12-44  round 2") {
		t.Errorf("the selection moved to %q", got)
	}
	act(t, s, e, keys.NextSection) // the newer loop
	if got := s.Selected(e); !strings.HasPrefix(got, "2026-08-21_13-00-00  round 2") {
		t.Errorf("newest round of the newer loop: %q", got)
	}
}

func TestAFollowedLoopGivesWayToANewerOne(t *testing.T) {
	e := viewtest.Env(sample())
	s := New()
	act(t, s, e, keys.Down, keys.Up) // back on the newest: followed again
	next := sample()
	next.Loops.Loops = append([]loop.Loop{{Name: "2026-08-21_13-00-00", Layout: loop.RLCR, Phase: loop.Implementing, Rounds: []loop.Round{{N: 0}}}}, next.Loops.Loops...)
	e.Snap = next
	if got := s.Selected(e); !strings.HasPrefix(got, "2026-08-21_13-00-00  round 0") {
		t.Errorf("selected %q", got)
	}
}

func TestAFilterDoesNotChangeWhatIsFollowed(t *testing.T) {
	e := viewtest.Env(sample())
	s := New()
	s.SetFilter(e, "verdict:advanced")
	if got := s.Selected(e); !strings.Contains(got, "round 1") {
		t.Errorf("filtered %q", got)
	}
	act(t, s, e, keys.Bottom, keys.Top)
	s.SetFilter(e, "")
	if got := s.Selected(e); !strings.Contains(got, "round 1") {
		t.Errorf("a choice made under a filter is lost: %q", got)
	}
}

func TestTheLogIsFollowed(t *testing.T) {
	e := viewtest.Env(opened())
	s := New()
	act(t, s, e, keys.Down, keys.Drill, keys.PrevSection, keys.PrevSection) // round to the log
	last := func() string { return draw.Plain(s.Render(e, 100, 30)) }
	if text := last(); !strings.Contains(text, "end of the log") || s.Context() != keys.Log {
		t.Fatalf("context %v\n%s", s.Context(), text)
	}
	grow := opened()
	grow.Round.Texts[3].Text += "one line more\n"
	e.Snap = grow
	if !strings.Contains(last(), "one line more") {
		t.Error("a log that grows is not followed")
	}
	act(t, s, e, keys.PageUp)
	grow = opened()
	grow.Round.Texts[3].Text += "another line\n"
	e.Snap = grow
	if strings.Contains(last(), "another line") {
		t.Error("the view jumped although a person had moved up")
	}
	s.SetFilter(e, "[P1]")
	if got := s.Selected(e); got != "- [P1] The wait moved" {
		t.Errorf("found %q", got)
	}
	act(t, s, e, keys.Back, keys.Back)
	if s.Context() != keys.Rounds {
		t.Error("back does not leave the log")
	}
}

func TestWhatAReaderMustKnow(t *testing.T) {
	snap := opened()
	snap.Round.Round = 3
	l := &snap.Loops.Loops[0]
	l.Rounds[3].Passed = true
	snap.Round.Texts = []session.RoundText{
		{Kind: "summary", Text: "# Summary\n", Origin: fact.Origin{Path: l.Dir + "/round-3-summary.md", Status: fact.OK, Size: 12}},
		{Kind: "review-result", Origin: fact.Origin{Status: fact.Missing, Why: "no such file"}},
		{Kind: "prompt", Text: "# Prompt\n", Cut: true, Origin: fact.Origin{Status: fact.OK, Size: 700_000, ModTime: at(time.Hour)}},
	}
	e := viewtest.Env(snap)
	s := New()
	act(t, s, e, keys.Drill)
	for _, want := range []string{"a scaffold: nobody has filled it in", "leaves no result", "cut: the end is left out, 700.0 kB are on disk"} {
		found := false
		for range 3 {
			found = found || strings.Contains(draw.Plain(s.Render(e, 100, 30)), want)
			act(t, s, e, keys.NextSection)
		}
		if !found {
			t.Errorf("%q is said of no text", want)
		}
	}
}

// A marker counts only on a line of its own, so lines are shown as they are.
func TestLinesOfAReviewAreNotJoined(t *testing.T) {
	snap := opened()
	snap.Round.Texts[1].Text = "Mainline Progress Verdict: ADVANCED\nCOMPLETE\n"
	e := viewtest.Env(snap)
	s := New()
	act(t, s, e, keys.Down, keys.Drill)
	s.Render(e, 100, 30)
	s.SetFilter(e, "COMPLETE")
	if got := s.Selected(e); got != "COMPLETE" {
		t.Errorf("the marker's line is %q", got)
	}
}

func TestNoLoopSaysWhy(t *testing.T) {
	for want, o := range map[string]fact.Origin{
		"Loops: not read yet.":             {},
		"Loops: unreadable permission":     {Status: fact.Unreadable, Why: "permission"},
		"No loop yet. Review the plan (2)": {Status: fact.Missing},
	} {
		e := viewtest.Env(&session.Snapshot{Loops: loop.Set{Origin: o}})
		if got := draw.Plain(New().Render(e, 100, 20)); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// crowd is 40 loops of 40 rounds, a review of 100 KB and a tracker at its limits.
func crowd() *session.Snapshot {
	snap := opened()
	l := &snap.Loops.Loops[0]
	for i := range 40 {
		if i > 3 {
			l.Rounds = append(l.Rounds, loop.Round{N: i, Files: []string{"prompt", "summary"}})
		}
		snap.Loops.Loops = append(snap.Loops.Loops, loop.Loop{Name: fmt.Sprintf("2026-07-%02d_08-00-%02d", i%28+1, i), Layout: loop.RLCR, Rounds: l.Rounds})
	}
	l = &snap.Loops.Loops[0]
	for i := range 200 {
		id := fmt.Sprintf("AC-%d", 100+i)
		l.Tracker.Criteria = append(l.Tracker.Criteria, loop.Criterion{ID: id, Text: strings.Repeat("words ", 40)})
		l.Tracker.Active = append(l.Tracker.Active, loop.Task{Task: strings.Repeat("task ", 30), AC: id, Status: "pending"}, loop.Task{Task: "second", AC: id})
	}
	snap.Round.Texts[1].Text = strings.Repeat("A line of review with `code` and **words** in it.\n\n", 2000)
	return snap
}

// A frame stays cheap with many loops, many rounds and a long review.
func BenchmarkRender(b *testing.B) {
	e := viewtest.Env(crowd())
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
				s.Render(e, 200, 60)
			}
		})
	}
}

// The first frame after the tracker changed lays all of it out.
func BenchmarkFirstFrame(b *testing.B) {
	e := viewtest.Env(crowd())
	for b.Loop() {
		s := New()
		s.Render(e, 200, 60)
	}
}

// The first frame of a text lays all of it out.
func BenchmarkOpenReview(b *testing.B) {
	e := viewtest.Env(crowd())
	for b.Loop() {
		s := New()
		s.Show(e, "2")
		s.Act(e, keys.Drill)
		s.Render(e, 200, 60)
	}
}
