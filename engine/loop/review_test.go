package loop

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name, in      string
		want, lenient Verdict
		line          int
	}{
		{"plain", "Mainline Progress Verdict: ADVANCED\n", Advanced, Advanced, 1},
		{"any case", "mainline PROGRESS verdict:stalled", Stalled, Stalled, 1},
		{"whole line bold", "**Mainline Progress Verdict: STALLED**", Stalled, Stalled, 1},
		{"word bold", "Mainline Progress Verdict: **STALLED**", UnknownVerdict, Stalled, 1},
		{"label bold", "**Mainline Progress Verdict:** REGRESSED", UnknownVerdict, Regressed, 1},
		{"template", "Mainline Progress Verdict: ADVANCED / STALLED / REGRESSED", UnknownVerdict, UnknownVerdict, 1},
		{"not a word end", "Mainline Progress Verdict: ADVANCEDLY", UnknownVerdict, Advanced, 1},
		{"last wins", "Mainline Progress Verdict: ADVANCED\nx\nMainline Progress Verdict: REGRESSED\n", Regressed, Regressed, 3},
		{"unusable line after a good one", "Mainline Progress Verdict: ADVANCED\nMainline Progress Verdict: ?\n", Advanced, Advanced, 1},
		{"ambiguous last line", "Mainline Progress Verdict: ADVANCED\nMainline Progress Verdict: STALLED, not ADVANCED\n", UnknownVerdict, UnknownVerdict, 2},
		{"text after", "Mainline Progress Verdict: ADVANCED (two criteria closed)", Advanced, Advanced, 1},
		{"quoted mid-line", "> so: Mainline Progress Verdict:   REGRESSED.", Regressed, Regressed, 1},
		{"none", "fine work\n", UnknownVerdict, "", 0},
		{"empty", "", UnknownVerdict, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ParseSummaryReview([]byte(c.in))
			if r.Verdict != c.want || r.VerdictLenient != c.lenient || r.VerdictLineNo != c.line {
				t.Errorf("got %s lenient %q line %d, want %s %q %d", r.Verdict, r.VerdictLenient, r.VerdictLineNo, c.want, c.lenient, c.line)
			}
		})
	}
}

func TestMarker(t *testing.T) {
	for in, want := range map[string]Word{
		"x\nCOMPLETE\n": MarkComplete, "x\n  STOP  \n\n\n": MarkStop, "COMPLETE": MarkComplete,
		"NOT COMPLETE\n": "", "CANNOT COMPLETE": "", "**COMPLETE**": "", "COMPLETE\nbut\n": "", "complete": "", "": "",
	} {
		if got := ParseSummaryReview([]byte(in)).Marker; got != want {
			t.Errorf("%q: marker %q, want %q", in, got, want)
		}
	}
}

func TestConventions(t *testing.T) {
	r := ParseSummaryReview([]byte(`Goal Alignment Summary
ACs: 2/7 addressed | Forgotten items: 1 | Unjustified deferrals: 3
Estimated remaining rounds: 5-8 with hardware
- Critical blockers: gfx1250 board

## Mainline Gaps
1. run the sweep
2. fix row 17
   - nested
## Blocking Side Issues
- None.
## Open Questions
- varlen?
**Queued Side Issues**
- wording
`))
	if r.ACsMet != known(2) || r.ACsTotal != known(7) || r.Forgotten != known(1) || r.Unjustified != known(3) ||
		r.RemainingRounds != "5-8 with hardware" || r.CriticalBlockers != "gfx1250 board" {
		t.Errorf("%+v", r)
	}
	if r.Gaps != known(2) || r.Blocking != known(0) || r.Queued != known(1) {
		t.Errorf("lanes %v %v %v", r.Gaps, r.Blocking, r.Queued)
	}
	if !r.OpenQuestion || r.OpenQuestionLine != 12 {
		t.Errorf("open question %v at %d", r.OpenQuestion, r.OpenQuestionLine)
	}
	if r := ParseSummaryReview([]byte("There is one Open Question about whether to go on at all.\n")); r.OpenQuestion || r.Gaps.Known {
		t.Errorf("%+v", r)
	}
	bad := ParseSummaryReview([]byte("I could not complete the review\nbwrap: Permission denied\nMainline Progress Verdict: STALLED\n"))
	if bad.CouldNotRun == "" || bad.CouldNotRunLine != 1 || bad.Verdict != Stalled {
		t.Errorf("%+v", bad)
	}
}

func TestCodeReview(t *testing.T) {
	r := ParseCodeReview([]byte("- [P1] Guard the empty slice — /w/kernels/a.py:1-2\n  body [P3]\n- [P0] One line: only — b.py:7\n[P2] no place\n            - [P1] too far right — c.py:1-1\nprose about [P1] here\n- [PX] nothing\n"))
	want := []Finding{
		{Severity: "P1", Title: "Guard the empty slice", Path: "/w/kernels/a.py", From: 1, To: 2, Line: 1},
		{Severity: "P3", Title: "", Line: 2},
		{Severity: "P0", Title: "One line: only", Path: "b.py", From: 7, To: 7, Line: 3},
		{Severity: "P2", Title: "no place", Line: 4},
	}
	if len(r.Findings) != len(want) {
		t.Fatalf("%+v", r.Findings)
	}
	for i := range want {
		if r.Findings[i] != want[i] {
			t.Errorf("finding %d: %+v, want %+v", i, r.Findings[i], want[i])
		}
	}
}

func TestMissedFindings(t *testing.T) {
	log := "- [P1] above the tail — a.py:1-1\n" + strings.Repeat("thinking\n", 60) + "            - [P0] indented — b.py:2-2\n- [P2] seen — c.py:3-3\nold prose [P1]\n"
	got := MissedFindings([]byte(log), 1)
	if len(got) != 2 || got[0].Title != "above the tail" || got[0].Line != 1 || got[1].Title != "indented" || got[1].Line != 62 {
		t.Errorf("%+v", got)
	}
}

func FuzzParseReview(f *testing.F) {
	f.Add([]byte("Mainline Progress Verdict: ADVANCED\n## Mainline Gaps\n- x\nCOMPLETE\n"))
	f.Add([]byte("- [P1] Title — /a/b.py:1-2\n  body\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ParseSummaryReview(b)
		if r.Verdict == "" || r.VerdictLineNo < 0 || r.Gaps.N < 0 {
			t.Errorf("%+v", r)
		}
		clean(t, r.VerdictLine, r.RemainingRounds, r.CouldNotRun, r.CriticalBlockers)
		c := ParseCodeReview(b)
		if len(c.Findings) > maxFindings || len(MissedFindings(b, 1)) > maxFindings {
			t.Error("too many findings")
		}
		for _, x := range c.Findings {
			clean(t, x.Title, x.Path)
		}
		GuessKind(b)
	})
}

func BenchmarkParseSummaryReview(b *testing.B) {
	in := []byte(strings.Repeat("- a line of review text: it says little\n", 150) + "Mainline Progress Verdict: ADVANCED\n")
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		ParseSummaryReview(in)
	}
}
