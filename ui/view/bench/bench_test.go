package bench

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/family"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
	"kdapilot/ui/view/viewtest"
)

// judged is the sample with the truth about both runs.
func judged() *session.Snapshot {
	s := viewtest.Sample()
	for i := range s.Sets {
		v := bench.Truth(s.Sets[i].Result, 16)
		s.Sets[i].Result.Truth = &v
	}
	return s
}

// repeated is the sample with seven runs a side, a reference and gates.
func repeated() *session.Snapshot {
	s := judged()
	s.Sets[0].Result.CompareRows = []bench.Row{{
		Key: "B1_S512_H16_Hkv16_D128_bf16_causal_sp1", Section: "compare", Status: bench.Pass, US: bench.Of(11.2), MaxErr: bench.Of(0.0039),
		Fields: bench.Fields{
			{Name: "flydsl", Value: bench.Obj(bench.Fields{{Name: "us", Value: bench.Float(11.2)}})},
			{Name: "aiter_ck", Value: bench.Obj(bench.Fields{{Name: "us", Value: bench.Float(13.1)}, {Name: "max_err", Value: bench.Float(0.0041)}, {Name: "state", Value: bench.Str("ok")}})},
			{Name: "aiter_asm", Value: bench.Obj(bench.Fields{{Name: "state", Value: bench.Str("absent")}})},
		},
	}}
	s.Family = &family.Family{Name: "flashattn", Gates: []family.Gate{
		{Dtypes: []string{"bf16", "fp8"}, Metric: "max_err", Op: "<", Limit: 0.05}, {Dtypes: []string{"bf16", "fp8"}, Metric: "min_cos", Op: ">", Limit: 0.99},
	}}
	arm := func(i int, f float64) bench.Arm {
		a := bench.Arm{Label: s.Sets[i].Label}
		for n := range 7 {
			rows := append([]bench.Row(nil), s.Sets[i].Result.Rows...)
			for k := range rows {
				wobble := 1 + 0.004*math.Sin(float64(3*n+k+i))
				if rows[k].Axis("dtype").Text() == "fp8" {
					wobble *= f
				}
				rows[k].US = bench.Of(math.Round(rows[k].US.V*wobble*10) / 10)
			}
			a.Runs = append(a.Runs, rows)
		}
		return a
	}
	c := bench.Compare(arm(1, 1), arm(0, 1.12), bench.Options{KeepSamples: true})
	s.Delta = &session.Delta{Base: s.Sets[1].ID, Cand: s.Sets[0].ID, Picked: true, Comparison: c}
	return s
}

// disagree is a candidate whose exit status says pass and whose rows do not,
// from a stand-in tool on another card.
func disagree() *session.Snapshot {
	s := viewtest.Sample()
	zero := 0
	s.Sets[0].Result.ExitStatus = &zero
	s.Sets[0].Run.Manifest.Simulated = true
	for i := range s.Sets {
		v := bench.Truth(s.Sets[i].Result, 16)
		s.Sets[i].Result.Truth = &v
	}
	s.Sets[0].Result.GPU = "AMD Instinct MI300X"
	s.Delta = session.Compare(session.Pairing{Sets: s.Sets})
	return s
}

func single() *session.Snapshot {
	s := judged()
	s.Sets, s.Delta = s.Sets[:1], nil
	r := s.Sets[0].Result
	r.VarlenRows = []bench.Row{{Key: "varlen_1_3_31_33_H16_bf16_causal", Section: "varlen", Status: bench.Error, Error: "RAISED: hipErrorIllegalAddress: an illegal memory access", Fields: bench.Fields{{Name: "dtype", Value: bench.Str("bf16")}}}}
	r.Rows[3].Warnings = []string{"result contains 192 NaN values"}
	return s
}

func act(t *testing.T, s *Screen, e *view.Env, ids ...keys.ID) view.Ask {
	t.Helper()
	var ask view.Ask
	for _, id := range ids {
		var ok bool
		if ask, ok = s.Act(e, id); !ok {
			t.Fatalf("%s was not handled", id)
		}
	}
	return ask
}

// trended is the sample after six runs of the same sweep.
func trended() *session.Snapshot {
	s := judged()
	d := *s.Delta
	d.Trend = &session.Trend{}
	for i := range d.Comparison.Regimes {
		l := bench.TrendLine{Regime: d.Comparison.Regimes[i].Name, Cells: 4}
		for k := range 6 {
			l.Points = append(l.Points, bench.Of(1-0.02*float64(k*i)))
		}
		l.Points[2].OK = false
		d.Trend.Lines = append(d.Trend.Lines, l)
	}
	s.Delta = &d
	return s
}

func TestFrames(t *testing.T) {
	unreadable := &session.Snapshot{RunsStatus: fact.Origin{Path: "runs", Status: fact.Unreadable, Why: "open runs: permission denied"}}
	none := &session.Snapshot{RunsStatus: fact.Origin{Path: "runs", Status: fact.OK}}
	for _, c := range []struct {
		name string
		snap *session.Snapshot
		keys []keys.ID
	}{
		{"bench", judged(), nil},
		{"bench-cells", judged(), []keys.ID{keys.Bottom, keys.PrevSection, keys.Up, keys.Drill}},
		{"bench-repeats", repeated(), nil},
		{"bench-repeats-cells", repeated(), []keys.ID{keys.Regimes}},
		{"bench-cell", repeated(), []keys.ID{keys.Drill, keys.Drill}},
		{"bench-sets", judged(), []keys.ID{keys.SetBase}},
		{"bench-disagree", disagree(), nil},
		{"bench-trend", trended(), nil},
		{"bench-single", single(), []keys.ID{keys.Bottom}},
		{"bench-unread", &session.Snapshot{}, nil},
		{"bench-none", none, nil},
		{"bench-unreadable", unreadable, nil},
	} {
		e := viewtest.Env(c.snap)
		s := New()
		act(t, s, e, c.keys...)
		viewtest.Golden(t, c.name, s, e)
	}
}

func looks() []style.Look {
	return []style.Look{style.NewLook(style.Mono(), style.Unicode()), style.NewLook(style.Default(), style.Unicode()), style.NewLook(style.Light(style.Colours256), style.ASCII())}
}

func TestAnySize(t *testing.T) {
	snaps := []*session.Snapshot{judged(), repeated(), disagree(), single(), {}}
	moves := []keys.ID{keys.Drill, keys.Down, keys.Bottom, keys.Regimes, keys.NextPane, keys.Back, keys.Sort, keys.SortFlip, keys.OnlyOpen, keys.PageDown, keys.NextSection, keys.SetBase}
	rapid.Check(t, func(r *rapid.T) {
		e := viewtest.Env(snaps[rapid.IntRange(0, len(snaps)-1).Draw(r, "snap")])
		e.Look = rapid.SampledFrom(looks()).Draw(r, "look")
		w, h := rapid.IntRange(20, 240).Draw(r, "w"), rapid.IntRange(3, 80).Draw(r, "h")
		s := New()
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(moves)-1), 0, 8).Draw(r, "keys") {
			s.Act(e, moves[i])
			viewtest.Exact(t, s.Render(e, w, h), w, h)
		}
		s.SetFilter(e, rapid.SampledFrom([]string{"", "dtype:fp8 causal:true S>4096", "!x", "-f b1", "nothing"}).Draw(r, "filter"))
		viewtest.Exact(t, s.Render(e, w, h), w, h)
		s.Selected(e)
	})
}

func TestKeys(t *testing.T) {
	e := viewtest.Env(judged())
	base, cand := e.Snap.Sets[1].ID, e.Snap.Sets[0].ID
	for _, c := range []struct {
		name string
		keys []keys.ID
		do   session.Action
		say  string
		goTo keys.ID
	}{
		{name: "b opens the list of sets first", keys: []keys.ID{keys.SetBase}, say: "pick the base"},
		{name: "b again takes the base", keys: []keys.ID{keys.SetBase, keys.SetBase}, do: session.CompareSets{Base: base, Cand: cand}},
		{name: "the candidate is no base", keys: []keys.ID{keys.SetBase, keys.Top, keys.SetBase}, say: "is the candidate"},
		{name: "enter takes a candidate", keys: []keys.ID{keys.NextPane, keys.Top, keys.Drill}, do: session.CompareSets{Base: base, Cand: cand}},
		{name: "B goes back", keys: []keys.ID{keys.ClearBase}, do: session.CompareSets{}, say: "newest"},
		{name: "R runs the candidate again", keys: []keys.ID{keys.RunAgain}, goTo: keys.GoRuns},
	} {
		s := New()
		ask := act(t, s, e, c.keys...)
		if c.do != nil && (len(ask.Do) != 1 || ask.Do[0] != c.do) {
			t.Errorf("%s: does %+v, want %+v", c.name, ask.Do, c.do)
		}
		if c.do == nil && len(ask.Do) > 0 {
			t.Errorf("%s: does %+v", c.name, ask.Do)
		}
		if !strings.Contains(ask.Say, c.say) || ask.Go != c.goTo {
			t.Errorf("%s: says %q, goes to %q", c.name, ask.Say, ask.Go)
		}
	}
}

func TestFilterByAxis(t *testing.T) {
	e := viewtest.Env(judged())
	for _, c := range []struct {
		filter string
		want   int
	}{{"", 16}, {"dtype:fp8", 8}, {"dtype:fp8 causal:true S>4096", 2}, {"status:FAIL", 1}, {"!dtype:fp8", 8}, {"nothing", 0}} {
		s := New()
		act(t, s, e, keys.Regimes)
		s.SetFilter(e, c.filter)
		if got := len(s.model(e).cells); got != c.want {
			t.Errorf("%q keeps %d cells, want %d", c.filter, got, c.want)
		}
	}
}

func TestOpenOnlyKeepsHoles(t *testing.T) {
	e := viewtest.Env(repeated())
	s := New()
	act(t, s, e, keys.Regimes, keys.OnlyOpen)
	hole := false
	for _, c := range s.model(e).cells {
		if c.Verdict == bench.Faster || c.Verdict == bench.Same {
			t.Errorf("%s is %s and not open", c.Key, c.Verdict)
		}
		hole = hole || c.Verdict == bench.NotComparable
	}
	if !hole {
		t.Error("the failed cell is gone from the open ones")
	}
}

func TestSelectionFollowsTheCell(t *testing.T) {
	e := viewtest.Env(judged())
	s := New()
	act(t, s, e, keys.Regimes, keys.Down, keys.Down)
	want := s.Selected(e)
	act(t, s, e, keys.Sort, keys.Sort, keys.SortFlip)
	next := *e.Snap
	next.Version++
	e.Snap = &next
	if got := s.Selected(e); got != want {
		t.Errorf("selected %q, was %q", got, want)
	}
}

func TestShow(t *testing.T) {
	e := viewtest.Env(judged())
	s := New()
	if ask := s.Show(e, e.Snap.Sets[1].ID); len(ask.Do) != 1 || ask.Do[0] != (session.CompareSets{Cand: e.Snap.Sets[1].ID}) {
		t.Errorf("another set becomes the candidate: %+v", ask.Do)
	}
	key := e.Snap.Delta.Comparison.Cells[5].Key
	s.Show(e, key)
	if got := s.Selected(e); !strings.HasPrefix(got, key) {
		t.Errorf("selected %q, want %s", got, key)
	}
	if ask := s.Show(e, "no such thing"); ask.Say == "" {
		t.Error("an unknown target is passed over in silence")
	}
}

// TestNoLoneHeadline: wherever a geometric mean is drawn, n, wins, losses and
// holes are on the same screen line or in the same table.
func TestNoLoneHeadline(t *testing.T) {
	e := viewtest.Env(repeated())
	for _, size := range viewtest.Sizes {
		lines := New().Render(e, size[0], size[1])
		text := draw.Plain(lines)
		if !strings.Contains(text, "hole") {
			t.Errorf("%dx%d: no word about holes", size[0], size[1])
		}
		for _, l := range strings.Split(text, "\n") {
			if strings.Contains(l, "geomean") && strings.Contains(l, "regime ") {
				for _, word := range []string{" n ", "win", "loss", "hole"} {
					if !strings.Contains(l, word) {
						t.Errorf("%dx%d: %q without %s", size[0], size[1], l, word)
					}
				}
			}
		}
	}
}

func TestRedsStay(t *testing.T) {
	for _, size := range viewtest.Sizes {
		text := draw.Plain(New().Render(viewtest.Env(disagree()), size[0], size[1]))
		for _, word := range []string{"DISAGREE", "exit says pass", "rows says fail", "SIMULATED", "16", "NOT COMPARABLE"} {
			if !strings.Contains(text, word) {
				t.Errorf("%dx%d: %q is not on the screen:\n%s", size[0], size[1], word, text)
			}
		}
	}
}

func TestExport(t *testing.T) {
	e := viewtest.Env(judged())
	s := New()
	s.SetFilter(e, "dtype:bf16")
	ask := act(t, s, e, keys.Write)
	if ask.Prompt == nil || len(ask.Prompt.Entries) != 4 {
		t.Fatalf("w asks %+v", ask.Prompt)
	}
	file := func(i int) session.WriteFile {
		return ask.Prompt.Accept(e, "", i).Do[0].(session.WriteFile)
	}
	rows, err := csv.NewReader(strings.NewReader(file(0).Text)).ReadAll()
	if err != nil || len(rows) != 17 {
		t.Errorf("CSV: %d lines, want 17: cells that a filter hides are missing (%v)", len(rows), err)
	}
	var c bench.Comparison
	if err := json.Unmarshal([]byte(file(1).Text), &c); err != nil || len(c.Cells) != 16 {
		t.Errorf("JSON: %d cells, %v", len(c.Cells), err)
	}
	if md := file(2).Text; !strings.Contains(md, "holes") || strings.Count(md, "\n| ") < 20 {
		t.Errorf("markdown:\n%s", md)
	}
	if ask := ask.Prompt.Accept(e, "x", -1); len(ask.Do) > 0 || ask.Say == "" {
		t.Error("something is written without a choice")
	}
}

func BenchmarkRender(b *testing.B) {
	e := viewtest.Env(repeated())
	for _, c := range []struct {
		name string
		keys []keys.ID
	}{{"regimes", nil}, {"cells", []keys.ID{keys.Regimes}}, {"cell", []keys.ID{keys.Drill, keys.Drill}}} {
		b.Run(c.name, func(b *testing.B) {
			s := New()
			for _, id := range c.keys {
				s.Act(e, id)
			}
			for b.Loop() {
				s.Render(e, 200, 56)
			}
		})
	}
}

// BenchmarkManyCells is a moving snapshot with 10,000 cells: the model is built
// anew at every frame.
func BenchmarkManyCells(b *testing.B) {
	snap := judged()
	rows := make([]bench.Row, 10000)
	for i := range rows {
		rows[i] = snap.Sets[0].Result.Rows[i%16]
		rows[i].Key = fmt.Sprintf("%s_%d", rows[i].Key, i)
	}
	snap.Sets[0].Result.Rows, snap.Sets[1].Result.Rows = rows, rows
	snap.Delta = session.Compare(session.Pairing{Sets: snap.Sets})
	e := viewtest.Env(snap)
	s := New()
	s.Act(e, keys.Regimes)
	for b.Loop() {
		snap.Version++
		s.Render(e, 200, 56)
	}
}
