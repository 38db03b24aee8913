package stalls

import (
	"strings"
	"testing"

	"kdapilot/engine/profile"
	"kdapilot/engine/session"
	"kdapilot/engine/stall"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view/viewtest"
)

func bundleNamed(name string) *bundleView {
	return &bundleView{Bundle: session.Bundle{Path: "/" + name, Name: name}}
}

func TestShortNames(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"profile/a/flyprof", "profile/a/flyprof"},
		{"profile/a/flyprof profile/b/flyprof", "a b"},
		{"profile/a/flyprof runs/b/flyprof", "profile/a runs/b"},
		{"a b/c", "a b/c"},
		{"x/a x/a/b", "a a/b"},
		{"p/a p/a", "a a"},
		{"a/b/a a/c/a", "b c"},
	} {
		var all []*bundleView
		for _, n := range strings.Fields(c.names) {
			all = append(all, bundleNamed(n))
		}
		if got := strings.Join(shortNames(all), " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "(no source line)",
		"/w/k.py:12":                 "k.py:12",
		"k.py:12":                    "k.py:12",
		"/w/a.py:3 -> /w/lib/b.py:9": "a.py:3 -> b.py:9",
	} {
		if got := place(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"ui_output_agent_5_dispatch_87": "dispatch_87", "x_dispatch_44_after_loc_fix": "dispatch_44_after_loc_fix", "other": "other", "": ""} {
		if got := dispatch(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	n := func(f float64) *stall.Num { x := stall.Num(f); return &x }
	for _, c := range []struct{ got, want string }{
		{pct(54.98), "54.98"}, {pct(0), "0.00"}, {pct(100), "100.00"},
		{percent(nil), "unknown"}, {percent(n(87.6)), "87.6 %"},
		{cycles(nil), "-"}, {cycles(n(0)), "0.0"}, {cycles(n(92.54)), "92.5"}, {cycles(n(2735.4)), "2735"},
		{ratioOf(n(2), n(1)), "x0.50"}, {ratioOf(nil, n(1)), "-"}, {ratioOf(n(0), n(1)), "-"}, {ratioOf(n(1), nil), "-"},
		{hits(0), "0"}, {hits(999999), "999999"}, {hits(1234567), "1.2M"}, {hits(2500000000), "2.5G"}, {counted(0), "-"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestTrustWords(t *testing.T) {
	four, eight, two := 4, 8, 2
	executed := stall.Num(87.6)
	for _, c := range []struct {
		name string
		t    stall.Trust
		want string
	}{
		{"nothing known", stall.Trust{}, "waves unknown, executed unknown, mapped unknown, occupancy unknown, dispatch unknown, decoder unknown"},
		{
			"measured", stall.Trust{WaveFiles: &four, WavesListed: &eight, ExecutedPct: &executed, MappedPct: &executed, Tag: "big", Dispatch: "ui_output_agent_1_dispatch_2", Decoder: "rocprofv3 1.1.0", Occupancy: stall.Occupancy{Which: "measured", PeakPerCU: &eight, Estimate: &two}},
			"waves 4/8, executed 87.6 %, mapped 87.6 %, 8 waves/CU measured, big dispatch_2, rocprofv3 1.1.0",
		},
		{"estimated", stall.Trust{WaveFiles: &four, Occupancy: stall.Occupancy{Which: "estimate", Estimate: &two}}, "waves 4/?, executed unknown, mapped unknown, 2 waves/CU estimated, not measured, dispatch unknown, decoder unknown"},
	} {
		if got := strings.Join(trust(&c.t), ", "); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestPendingWords(t *testing.T) {
	zero := 0
	rows := []stall.Row{{Line: 1}}
	wait := &stall.Hotspot{Class: stall.VMCnt}
	for _, c := range []struct {
		name string
		a    stall.Analysis
		h    *stall.Hotspot
		want string
	}{
		{"gone", stall.Analysis{}, nil, "not in the trace any more"},
		{"no wait", stall.Analysis{Rows: rows}, &stall.Hotspot{Class: stall.MFMA}, "no wait"},
		{"barrier", stall.Analysis{Rows: rows}, &stall.Hotspot{Class: stall.Barrier}, "other waves"},
		{"pending", stall.Analysis{Rows: rows, WaitsPending: true}, wait, "still reading the wave files"},
		{"stored", stall.Analysis{}, wait, "only stored artifacts"},
		{"no waves", stall.Analysis{Rows: rows, Trust: stall.Trust{WaveFiles: &zero}}, wait, "no wave files beside"},
		{"none named", stall.Analysis{Rows: rows}, wait, "name no producer"},
	} {
		if got := pending(&c.a, c.h); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestStateWords(t *testing.T) {
	fresh := &stall.Analysis{Freshness: stall.Freshness{Verdict: stall.Fresh}}
	for _, c := range []struct {
		b          bundleView
		state, why string
	}{
		{bundleView{}, "not read yet", "not read yet: enter opens it"},
		{bundleView{asked: true}, "reading", "reading the trace ..."},
		{bundleView{err: "boom", asked: true}, "unreadable", "unreadable: boom"},
		{bundleView{a: fresh}, "fresh", ""},
		{bundleView{a: fresh, err: "boom"}, "fresh!", ""},
	} {
		if c.b.state() != c.state || c.b.why() != c.why {
			t.Errorf("%q, %q; want %q, %q", c.b.state(), c.b.why(), c.state, c.why)
		}
	}
}

// TestGreenIsEarned: only a bubble that shrank, in traces that can be believed,
// whose hits did not get dearer, is green.
func TestGreenIsEarned(t *testing.T) {
	look := style.NewLook(style.Default(), style.Unicode())
	d := func(c stall.Class, w stall.Word, note string) *stall.ClassDelta {
		return &stall.ClassDelta{Class: c, IsBubble: c.IsBubble(), Note: note, Change: stall.Change{Verdict: w}}
	}
	for _, c := range []struct {
		d      *stall.ClassDelta
		earned bool
		want   style.Token
	}{
		{d(stall.VMCnt, stall.Shrank, ""), true, look.Good},
		{d(stall.VMCnt, stall.Shrank, ""), false, look.Text},
		{d(stall.VMCnt, stall.Shrank, "another class grew"), true, look.Text},
		{d(stall.MFMA, stall.Shrank, ""), true, look.Text},
		{d(stall.VMCnt, stall.Grew, ""), true, look.Warn},
		{d(stall.MFMA, stall.Grew, ""), true, look.Text},
		{d(stall.VMCnt, stall.NoChange, ""), true, look.Dim},
		{d(stall.VMCnt, stall.NotComparable, ""), true, look.Bad},
	} {
		if got := changePaint(c.d, c.earned, look); got != c.want {
			t.Errorf("%+v, earned %v: wrong paint", c.d, c.earned)
		}
	}
}

func TestDecisive(t *testing.T) {
	for _, c := range []struct {
		f    stall.Freshness
		want string
	}{
		{stall.Freshness{}, ""},
		{stall.Freshness{Verdict: stall.StaleSource, Reasons: []string{"k.py changed since the capture", "x"}}, "k.py changed since the capture"},
		{stall.Freshness{Verdict: stall.Unverifiable, Reasons: []string{"/a/b.py: copy missing", "no worktree to compare with"}}, "no worktree to compare with"},
		{stall.Freshness{Verdict: stall.StaleSource, Reasons: []string{"/a/b.py is gone from the worktree"}}, "b.py is gone from the worktree"},
	} {
		if got := decisive(&c.f); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestCrumbs(t *testing.T) {
	look := style.NewLook(style.Mono(), style.ASCII())
	for _, w := range []int{5, 20, 34, 80} {
		got := draw.Strip(crumbs([]string{"fa-gfx950-20260821-113000", "vmcnt", "flash_attn_gfx950.py:585", "0x2018"}, w, look))
		if w >= 34 && (draw.Width(got) > w || !strings.HasSuffix(got, "0x2018") || !strings.Contains(got, "> vmcnt >")) {
			t.Errorf("in %d: %q", w, got)
		}
	}
}

func TestEveryClassHasAMeaning(t *testing.T) {
	for _, c := range stall.Classes() {
		got := meaning(c)
		if c != stall.Other && got == meaning(stall.Other) {
			t.Errorf("%s has no meaning", c)
		}
		if c.IsBubble() != strings.HasPrefix(got, "waits") {
			t.Errorf("%s: %q does not fit a bubble %v", c, got, c.IsBubble())
		}
	}
}

func TestAReportBesideTheCaptureIsShown(t *testing.T) {
	s := viewtest.Sample()
	s.Reports = []profile.Report{
		{Dir: "/w/FlyDSL-fa-fp8/profile/fa-gfx950-20260821-113000", Name: "profile/fa-gfx950-20260821-113000", Hypothesis: "Moving the K load ahead shortens vmcnt", Line: 44, Claims: 2, Problems: []string{"section 4 holds more than one claim"}},
		{Dir: "/w/FlyDSL-fa-fp8/profile/other", Name: "profile/other", Hypothesis: "of another capture", Claims: 1},
	}
	e := viewtest.Env(s)
	text := draw.Plain(New().Render(e, 200, 90))
	for _, want := range []string{"Moving the K load ahead", "REPORT.md:44", "more than one claim"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on screen:\n%s", want, text)
		}
	}
	if strings.Contains(text, "of another capture") {
		t.Error("a report that names another capture is shown")
	}
}
