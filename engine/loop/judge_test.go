package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
)

var t0 = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// running is a healthy loop in round 1, made by hand: everything for a stop is
// there but the summary is a minute old.
func running() Loop {
	s, _, _ := ParseState("state.md", []byte(strings.Replace(goodState, "current_round: 3", "current_round: 1", 1)))
	s.StallCount = known(0)
	l := Loop{Name: "2026-12-01_11-00-00", Layout: RLCR, StateFile: stateActive, State: s, Markers: []string{}, LastChange: t0}
	l.Origin = fact.Origin{Path: "/w/state.md", Status: fact.OK, ModTime: t0.Add(-time.Hour)}
	l.Tracker.Origin.Status = fact.OK
	l.Plan = Plan{Backup: fact.OK, File: fact.OK}
	l.Rounds = []Round{
		{N: 0, Files: []string{"contract", "prompt", "review-prompt", "review-result", "summary"}, Reviewed: t0.Add(-30 * time.Minute),
			Review: Review{Kind: SummaryReview, Verdict: Advanced}, ReviewStatus: fact.Origin{Status: fact.OK}},
		{N: 1, Files: []string{"contract", "prompt", "summary"}, Opened: t0.Add(-20 * time.Minute),
			Summary: Summary{Status: fact.OK, Bytes: 100, ModTime: t0}},
	}
	return l
}

func judged(l Loop, now time.Time) Loop {
	l.Judge(now, Bitlessons{}, Git{})
	return l
}

// attempt is a reviewer start whose .out is still empty.
func attempt(at time.Time) *Attempt {
	return &Attempt{Command: Command{Started: at, Timeout: time.Hour}, CmdModTime: at, Log: "/c/log", LogModTime: at}
}

func reviewer(l Loop, checked fact.Status, pid int) Loop {
	l.SetReviewer(checked, "", func(string) int { return pid })
	return l
}

func TestPhaseAndBall(t *testing.T) {
	parked := running()
	parked.Markers, parked.MarkerSince = []string{MarkParked}, map[string]time.Time{MarkParked: t0}
	fixing := running()
	fixing.ReviewStarted, fixing.BuildDone = true, known(0)
	waiting := running()
	waiting.Rounds[1].Run = attempt(t0)
	waiting.LastChange = t0
	code := running()
	code.ReviewStarted = true
	code.Rounds = append(code.Rounds, Round{N: 2, Files: []string{"review-prompt"}, CodeRun: attempt(t0)})
	question := running()
	question.Rounds[0].OpenQuestion = true
	question.Rounds[1].Files = []string{"prompt"}
	question.Rounds[1].Summary = Summary{}
	broken := running()
	broken.Origin.Status, broken.Origin.Why = fact.Unreadable, "state.md:2: not a number"
	file := func(name string, outcome Word) Loop {
		l := running()
		l.StateFile, l.Outcome = Word(name), outcome
		return l
	}
	report := file(stateAnalysis, "")
	report.OutcomeToCome, report.Closing = "complete", Closing{AnalysisReport: 10}
	none := running()
	none.StateFile = ""
	for _, c := range []struct {
		name  string
		l     Loop
		after time.Duration
		phase Phase
		who   Who
		why   string
	}{
		{"implementing", running(), time.Minute, Implementing, Claude, "round 1 of 12"},
		{"parked", parked, time.Minute, Parked, Nobody, "background"},
		{"fixing", fixing, time.Minute, ReviewFixing, Claude, "fixing"},
		{"waiting", reviewer(waiting, fact.OK, 77), time.Minute, AwaitingSummaryReview, Codex, "summary review of round 1 is running (pid 77)"},
		{"waiting for code review", reviewer(code, fact.OK, 77), time.Minute, AwaitingCodeReview, Codex, "code review of round 2"},
		{"just died", reviewer(waiting, fact.OK, 0), time.Minute, Implementing, Claude, "ended without a result"},
		{"dead for long", reviewer(waiting, fact.OK, 0), time.Hour, Implementing, Nobody, "no reviewer runs"},
		{"nobody looked", reviewer(waiting, fact.NotRead, 0), time.Hour, Implementing, Undecided, "not checked"},
		{"question", question, time.Minute, Implementing, Human, "open questions"},
		{"summary without a stop", running(), time.Hour, Implementing, Nobody, "no review was started"},
		{"unreadable", broken, 0, Unknown, Undecided, "state.md:2"},
		{"no state", none, 0, Unknown, Nobody, "no usable state"},
		{"finalizing", file(stateFinalize, ""), 0, Finalizing, Claude, "finalize summary"},
		{"analyzing", file(stateAnalysis, ""), 0, Analyzing, Claude, "methodology"},
		{"analysis asks", report, 0, Analyzing, Human, "upstream"},
		{"ended", file("maxiter-state.md", "maxiter"), 0, Ended, Nobody, "maxiter"},
		{"odd end", file("merged-state.md", "merged"), 0, Ended, Nobody, "merged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := judged(c.l, t0.Add(c.after))
			if l.Phase != c.phase || l.Ball.Who != c.who || !strings.Contains(l.Ball.Why, c.why) {
				t.Errorf("phase %s ball %+v, want %s %s %q", l.Phase, l.Ball, c.phase, c.who, c.why)
			}
		})
	}
}

func TestReviewerDeadlines(t *testing.T) {
	l := running()
	l.ReviewStarted = true
	l.Rounds[1].Review = Review{Kind: SummaryReview, Verdict: Advanced, Marker: MarkComplete}
	l.Rounds[1].Run = attempt(t0.Add(-time.Hour))
	l.Rounds[1].Run.OutBytes = 5
	l.Rounds = append(l.Rounds, Round{N: 2, CodeRun: attempt(t0)})
	l = reviewer(l, fact.OK, 0)
	v := l.Reviewer
	if !v.Open || v.Round != 2 || v.Kind != CodeReview || !v.Deadline.Equal(t0.Add(time.Hour)) || !v.HostDeadline.Equal(t0.Add(time.Hour)) {
		t.Errorf("%+v: the host's 7200 s run from the summary review an hour before", v)
	}
	l = reviewer(l, fact.OK, 9)
	l = judged(l, t0.Add(2*time.Hour))
	if ids := warningIDs(&l); !strings.Contains(ids, "reviewer-overdue") {
		t.Errorf("warnings %s", ids)
	}
}

func warningIDs(l *Loop) string {
	var ids []string
	for _, w := range l.Warnings {
		ids = append(ids, w.ID)
	}
	return strings.Join(ids, " ")
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		id     string
		change func(l *Loop)
	}{
		{"unbound-session", func(l *Loop) { l.SessionID = "" }},
		{"parked", func(l *Loop) { l.Markers = []string{MarkParked} }},
		{"state-lags-files", func(l *Loop) { l.Rounds = append(l.Rounds, Round{N: 3, Files: []string{"summary"}}) }},
		{"last-round-unreviewed", func(l *Loop) { l.Max = known(1) }},
		{"last-reviewed-round", func(l *Loop) { l.Max = known(2) }},
		{"stalled", func(l *Loop) { l.StallCount = known(2) }},
		{"plan-differs", func(l *Loop) { l.Plan.Differs = true }},
		{"state-unreadable", func(l *Loop) { l.Origin.Status, l.Origin.Why = fact.Unreadable, "x" }},
		{"ended-unexpected", func(l *Loop) { l.StateFile, l.Outcome = "unexpected-state.md", "unexpected" }},
		{"no-state", func(l *Loop) { l.StateFile = "" }},
		{"reviewer-could-not-run", func(l *Loop) { l.Rounds[0].CouldNotRun = "bwrap: no" }},
		{"verdict-missing", func(l *Loop) { unusable(l) }},
		{"stale-result", func(l *Loop) { unusable(l); l.Rounds[1].Run = attempt(t0.Add(time.Second)) }},
		{"review-unreadable", func(l *Loop) { l.Rounds[0].ReviewStatus.Status = fact.Unreadable }},
		{"finding-repeated", func(l *Loop) {
			f := Review{Kind: CodeReview, Findings: []Finding{{Severity: "P1", Title: "same", Path: "a.py"}}}
			l.Rounds[0].Review, l.Rounds[1].Review = f, f
		}},
		{"folder-too-large", func(l *Loop) { l.RoundsDropped = 1 }},
		{"reviewer-outlives-loop", func(l *Loop) {
			l.StateFile, l.Outcome = "cancel-state.md", "cancel"
			l.Rounds[1].Run = attempt(t0)
			*l = reviewer(*l, fact.OK, 9)
		}},
		{"finding-missed", func(l *Loop) { l.Reviewer.Missed = []Finding{{Severity: "P1", Title: "x"}} }},
		{"nobody-reviewing", func(l *Loop) { l.LastChange = t0.Add(-time.Hour); l.Rounds[1].Summary.ModTime = t0.Add(-time.Hour) }},
	} {
		t.Run(c.id, func(t *testing.T) {
			base := judged(running(), t0)
			if got := warningIDs(&base); got != "" {
				t.Fatalf("a healthy loop warns: %s", got)
			}
			l := running()
			c.change(&l)
			l = judged(l, t0.Add(time.Minute))
			if got := " " + warningIDs(&l) + " "; !strings.Contains(got, " "+c.id+" ") {
				t.Errorf("warnings %q, want %s", got, c.id)
			}
		})
	}
}

// unusable gives the open round a review without a verdict.
func unusable(l *Loop) {
	r := &l.Rounds[1]
	r.Files = append(r.Files, "review-result")
	r.Review = Review{Kind: SummaryReview, Verdict: UnknownVerdict}
	r.ReviewStatus.Status, r.Reviewed = fact.OK, t0
}

func TestRefusals(t *testing.T) {
	gates := func(l Loop, g Git, b Bitlessons) string {
		var out []string
		for _, r := range l.Refusals(g, b) {
			x := r.Gate
			if r.Ends {
				x += "!"
			}
			out = append(out, x)
		}
		return strings.Join(out, " ")
	}
	delta := func(l *Loop, d LessonDelta) { l.BitlessonNeeded = true; l.Rounds[1].Summary.Delta = d }
	clean := Git{Known: true, Branch: "rlcr/fa-fp8"}
	for _, c := range []struct {
		name, want string
		change     func(l *Loop)
		git        Git
		lessons    Bitlessons
	}{
		{"healthy", "", func(*Loop) {}, clean, Bitlessons{}},
		{"git not asked", "", func(*Loop) {}, Git{}, Bitlessons{}},
		{"branch, tree, push", "branch tracked-humanize dirty-tree unpushed", func(l *Loop) { l.PushEveryRound = true },
			Git{Known: true, Branch: "HEAD", Dirty: []string{"a", "b", "c", "d"}, TrackedHumanize: []string{".humanize/x"}, Ahead: 2}, Bitlessons{}},
		{"plan gone", "plan-missing", func(l *Loop) { l.Plan.File = fact.Missing }, clean, Bitlessons{}},
		{"plan differs", "plan-differs", func(l *Loop) { l.Plan.Differs = true }, clean, Bitlessons{}},
		{"plan does not matter in review", "", func(l *Loop) { l.Plan.Differs, l.ReviewStarted = true, true }, clean, Bitlessons{}},
		{"papers missing", "summary contract", func(l *Loop) { l.Rounds = l.Rounds[:1] }, clean, Bitlessons{}},
		{"last round", "round-limit!", func(l *Loop) { l.Max = known(1) }, clean, Bitlessons{}},
		{"model", "model!", func(l *Loop) { l.Model = "gpt 5" }, clean, Bitlessons{}},
		{"tracker", "tracker", func(l *Loop) {
			l.Rounds = l.Rounds[1:]
			l.Rounds[0].N, l.Round, l.Tracker.Placeholder = 0, known(0), true
		}, clean, Bitlessons{}},
		{"delta", "bitlesson", func(l *Loop) { delta(l, LessonDelta{Problem: "no section"}) }, clean, Bitlessons{}},
		{"unknown lesson", "bitlesson", func(l *Loop) { delta(l, LessonDelta{Action: "add", IDs: []string{"BL-20261201-x"}}) }, clean, Bitlessons{Origin: fact.Origin{Status: fact.OK}}},
		{"known lesson", "", func(l *Loop) { delta(l, LessonDelta{Action: "add", IDs: []string{"BL-20261201-x"}}) }, clean,
			Bitlessons{Count: 1, IDs: []string{"BL-20261201-x"}, Origin: fact.Origin{Status: fact.OK}}},
		{"empty base", "bitlesson", func(l *Loop) { delta(l, LessonDelta{Action: "none"}) }, clean, Bitlessons{Origin: fact.Origin{Status: fact.OK}}},
		{"stuck", "verdict", unusable, clean, Bitlessons{}},
		{"finalize", "summary", func(l *Loop) { l.StateFile = stateFinalize; l.Closing.FinalizeSummary = -1 }, clean, Bitlessons{}},
		{"analysis", "analysis analysis", func(l *Loop) { l.StateFile = stateAnalysis }, clean, Bitlessons{}},
		{"ended", "", func(l *Loop) { l.StateFile = "stop-state.md"; l.Rounds = nil }, clean, Bitlessons{}},
		{"damaged", "state!", func(l *Loop) { l.Origin.Status = fact.Unreadable }, clean, Bitlessons{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := running()
			c.change(&l)
			if got := gates(l, c.git, c.lessons); got != c.want {
				t.Errorf("gates %q, want %q", got, c.want)
			}
		})
	}
}

func TestIgnored(t *testing.T) {
	mk := func(name, state string, session Word) Loop {
		l := running()
		l.Name, l.StateFile, l.SessionID = name, Word(state), session
		return l
	}
	for _, c := range []struct {
		name  string
		newer Loop
		older Loop
		want  bool
	}{
		{"same session, newer ended", mk("b", "complete-state.md", "s"), mk("a", stateActive, "s"), true},
		{"newer unbound", mk("b", "complete-state.md", ""), mk("a", stateActive, "s"), true},
		{"other session", mk("b", stateActive, "x"), mk("a", stateActive, "s"), false},
		{"newer without state", mk("b", "", ""), mk("a", stateActive, "s"), false},
		{"older ended", mk("b", stateActive, "s"), mk("a", "stop-state.md", "s"), false},
		{"older unbound, newer bound", mk("b", stateActive, "x"), mk("a", stateActive, ""), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Set{Loops: []Loop{c.newer, c.older}}
			s.Judge(t0)
			if s.Loops[0].Ignored || s.Loops[1].Ignored != c.want {
				t.Errorf("ignored %v %v, want false %v", s.Loops[0].Ignored, s.Loops[1].Ignored, c.want)
			}
			if ids := warningIDs(&s.Loops[1]); strings.Contains(ids, "ignored-active") != c.want {
				t.Errorf("warnings %s", ids)
			}
		})
	}
}

func TestKeepLastGood(t *testing.T) {
	good := Set{Loops: []Loop{running()}}
	good.Judge(t0)
	torn := running()
	torn.State, _, _ = ParseState("state.md", nil)
	torn.Origin.Status, torn.Origin.Why = fact.Unreadable, "state.md:1: empty file"
	torn.Tracker.Origin = fact.Origin{Status: fact.Unreadable, Why: "mid-write"}
	now := Set{Loops: []Loop{torn}}
	now.Judge(t0)
	if now.Loops[0].Phase != Unknown {
		t.Fatalf("phase %s", now.Loops[0].Phase)
	}
	kept := now.Keep(good, t0)
	k := kept.Loops[0]
	if k.Phase != Implementing || k.Round != known(1) || k.Origin.Status != fact.Torn || k.Origin.Why == "" || k.Tracker.Origin.Status != fact.Torn {
		t.Errorf("phase %s round %v origin %+v tracker %+v", k.Phase, k.Round, k.Origin, k.Tracker.Origin)
	}
	if now.Loops[0].Phase != Unknown || good.Loops[0].Origin.Status != fact.OK {
		t.Error("Keep changed what it was given")
	}
	if again := kept.Keep(good, t0); again.Loops[0].Round != known(1) {
		t.Error("keeping twice lost the state")
	}
}

func TestAtLeavesTheOldSnapshot(t *testing.T) {
	s := Set{Loops: []Loop{running()}}
	s.Judge(t0)
	before := fmt.Sprintf("%+v", s)
	later := s.At(t0.Add(time.Hour))
	if later.Loops[0].Ball.Who != Nobody || fmt.Sprintf("%+v", s) != before {
		t.Errorf("later %+v", later.Loops[0].Ball)
	}
}

func TestConsulting(t *testing.T) {
	s := Set{Loops: []Loop{running()}, Consultations: []Consultation{
		{ID: "b", Status: "success", Started: t0}, {ID: "a", Tool: "codex", Status: "open", Started: t0, Timeout: time.Minute},
	}}
	s.Judge(t0.Add(time.Second))
	if c := s.Consulting(t0.Add(time.Second)); c == nil || c.ID != "a" || !strings.HasSuffix(s.Loops[0].Ball.Why, "consulting codex") {
		t.Errorf("consulting %+v, ball %+v", c, s.Loops[0].Ball)
	}
	s.Judge(t0.Add(2 * time.Minute))
	if c := s.Consulting(t0.Add(2 * time.Minute)); c != nil || strings.Contains(s.Loops[0].Ball.Why, "consulting") {
		t.Errorf("past its timeout: %+v, ball %+v", c, s.Loops[0].Ball)
	}
}

func TestNoRefusalWhileReviewed(t *testing.T) {
	l := running()
	l.Plan.Differs = true
	l.Rounds[1].Run = attempt(t0)
	if l := judged(reviewer(l, fact.OK, 7), t0); len(l.NextStop) != 0 {
		t.Errorf("%+v", l.NextStop)
	}
	if l := judged(reviewer(l, fact.OK, 0), t0); len(l.NextStop) != 1 {
		t.Errorf("%+v", l.NextStop)
	}
}

func TestPickState(t *testing.T) {
	for in, want := range map[string]string{
		"state.md finalize-state.md":                      "finalize-state.md ",
		"finalize-state.md methodology-analysis-state.md": "methodology-analysis-state.md ",
		"plan.md": " ", "": " ", "-state.md": " ",
		"cancel-state.md stop-state.md": "stop-state.md stop", "merged-state.md": "merged-state.md merged",
		"approve-state.md cancel-state.md": "cancel-state.md cancel",
	} {
		f, o := PickState(strings.Fields(in))
		if got := f + " " + string(o); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestStrip(t *testing.T) {
	l := running()
	l.Rounds = []Round{
		{N: 0, Review: Review{Kind: SummaryReview, Verdict: Advanced}}, {N: 1, Review: Review{Kind: SummaryReview, Verdict: Stalled}},
		{N: 2, Review: Review{Kind: SummaryReview, Verdict: Regressed}}, {N: 3, Review: Review{Kind: SummaryReview, Verdict: UnknownVerdict}},
		{N: 4, Review: Review{Kind: SummaryReview, Verdict: Advanced, Marker: MarkComplete}}, {N: 5, Review: Review{Kind: CodeReview}},
		{N: 6, Passed: true}, {N: 7, Unreviewed: true}, {N: 9, Review: Review{Kind: SummaryReview, CouldNotRun: "x"}},
		{N: 10, Review: Review{Kind: SummaryReview, Marker: MarkStop}}, {N: 11},
	}
	var got string
	for _, m := range l.Strip() {
		got += m.Letter
	}
	if got != "ASR?CFP-!X." {
		t.Errorf("strip %q", got)
	}
}

func TestJSONUnknownsAreNull(t *testing.T) {
	b, err := json.Marshal(Loop{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"round":null`, `"max":null`, `"outcome":null`, `"session_id":null`, `"build_finish_round":null`, `"state_file":null`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is missing in %s", want, b)
		}
	}
	for _, want := range []Int{{}, known(0), known(7)} {
		b, _ := json.Marshal(want)
		got := known(99)
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Errorf("%s came back as %+v, %v", b, got, err)
		}
	}
	var w Word
	if err := json.Unmarshal([]byte("null"), &w); err != nil || w != "" {
		t.Errorf("null word: %q %v", w, err)
	}
}
