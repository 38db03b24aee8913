package stalls

import (
	"encoding/csv"
	"strings"
	"testing"

	"kdapilot/engine/session"
	"kdapilot/engine/stall"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/view/viewtest"
)

func toBundles(more ...keys.ID) []keys.ID {
	return append([]keys.ID{keys.PrevPane, keys.PrevPane}, more...)
}

func TestKeys(t *testing.T) {
	e := viewtest.Env(world())
	path := func(i int) string { return e.Snap.Bundles[i].Path }
	for _, c := range []struct {
		name       string
		keys       []keys.ID
		do         session.Action
		say        string
		goTo       keys.ID
		cand, base string
	}{
		{name: "moving opens nothing", keys: toBundles(keys.Bottom, keys.Up, keys.Down), cand: path(0)},
		{name: "enter opens what was not read", keys: toBundles(keys.Down, keys.Down, keys.Drill), do: session.OpenBundle{Path: path(2)}, cand: path(2)},
		{name: "enter tries the unreadable again", keys: toBundles(keys.Bottom, keys.Drill), do: session.OpenBundle{Path: path(3)}, cand: path(3)},
		{name: "enter on a read one only shows it", keys: toBundles(keys.Down, keys.Drill), cand: path(1)},
		{name: "b goes to the list and takes nothing", keys: []keys.ID{keys.SetBase}, say: "pick the base", cand: path(0)},
		{name: "b again takes the next older one of this kernel", keys: based(), cand: path(0), base: path(1)},
		{name: "a base that was not read is opened", keys: toBundles(keys.Down, keys.Down, keys.SetBase), do: session.OpenBundle{Path: path(2)}, cand: path(0), base: path(2)},
		{name: "the candidate is no base", keys: toBundles(keys.Top, keys.SetBase), say: "is the candidate", cand: path(0)},
		{name: "B clears", keys: based(keys.ClearBase), say: "no base", cand: path(0)},
		{name: "B without a base says so", keys: []keys.ID{keys.ClearBase}, say: "there is no base", cand: path(0)},
		{name: "the base taken as candidate is no base any more", keys: based(keys.PrevPane, keys.PrevPane, keys.Drill), say: "it was the base", cand: path(1)},
		{name: "r runs on the runs screen", keys: []keys.ID{keys.Run}, goTo: keys.GoRuns, cand: path(0)},
		{name: "m says that it has no floor", keys: []keys.ID{keys.Metric}, say: "no noise floor", cand: path(0)},
	} {
		s := New()
		ask := act(t, s, e, c.keys...)
		if c.do == nil && len(ask.Do) > 0 || c.do != nil && (len(ask.Do) != 1 || ask.Do[0] != c.do) {
			t.Errorf("%s: does %+v, want %+v", c.name, ask.Do, c.do)
		}
		if !strings.Contains(ask.Say, c.say) || ask.Go != c.goTo {
			t.Errorf("%s: says %q, goes to %q", c.name, ask.Say, ask.Go)
		}
		m := s.model(e)
		base := ""
		if m.base != nil {
			base = m.base.Path
		}
		if m.cand.Path != c.cand || base != c.base {
			t.Errorf("%s: candidate %s, base %q", c.name, m.cand.Path, base)
		}
	}
}

// TestNoBaseUnlessPicked: two traces of one kernel are there and not compared.
func TestNoBaseUnlessPicked(t *testing.T) {
	e := viewtest.Env(world())
	for _, size := range viewtest.Sizes {
		text := draw.Plain(New().Render(e, size[0], size[1]))
		if !strings.Contains(text, "no base picked: b on an older") {
			t.Errorf("%dx%d does not say that there is no base:\n%s", size[0], size[1], text)
		}
		for _, word := range []stall.Word{stall.Shrank, stall.Grew, stall.NoChange} {
			if strings.Contains(strings.ToLower(text), string(word)) {
				t.Errorf("%dx%d says %q without a base", size[0], size[1], word)
			}
		}
	}
}

func TestDrillAndBack(t *testing.T) {
	e := viewtest.Env(world())
	s := New()
	at := func(l level, class stall.Class, every bool) {
		t.Helper()
		if s.level != l || l > classes && (s.class != class || s.every != every) {
			t.Fatalf("level %d, class %s, every %v", s.level, s.class, s.every)
		}
	}
	act(t, s, e, keys.Drill)
	at(lines, stall.VMCnt, false)
	act(t, s, e, keys.Drill)
	at(insts, stall.VMCnt, false)
	act(t, s, e, keys.Drill)
	at(waits, stall.VMCnt, false)
	if f := s.Selected(e); !strings.Contains(f, "waits for buffer_load") {
		t.Errorf("selected %q", f)
	}
	if ask := act(t, s, e, keys.Drill); ask.Say == "" {
		t.Error("enter at the innermost level says nothing")
	}
	act(t, s, e, keys.NextSection)
	at(waits, stall.VMCnt, false)
	act(t, s, e, keys.Back)
	at(insts, stall.VMCnt, false)
	act(t, s, e, keys.NextSection, keys.Back)
	at(lines, stall.VMCnt, false)
	act(t, s, e, keys.NextSection)
	at(lines, stall.Barrier, false)
	act(t, s, e, keys.Back)
	at(classes, "", false)
	if _, handled := s.Act(e, keys.Back); handled {
		t.Error("esc at the outermost level must leave the screen")
	}
	act(t, s, e, keys.Top, keys.Source, keys.Drill)
	at(insts, stall.VMCnt, true)
	act(t, s, e, keys.Back)
	at(classes, "", false)
}

// TestSourceAndISA: i keeps the place: the line of the instruction, the
// hottest instruction of the line.
func TestSourceAndISA(t *testing.T) {
	e := viewtest.Env(world())
	s := New()
	act(t, s, e, keys.Drill, keys.Down)
	m := s.model(e)
	line := m.lines[s.lineAt(m)].Source
	act(t, s, e, keys.Source)
	m = s.model(e)
	if h := m.insts[s.instAt(m)]; s.level != insts || !s.every || h.Source != line {
		t.Fatalf("instruction of %s, want one of %s", h.Source, line)
	}
	act(t, s, e, keys.Bottom, keys.Source)
	m = s.model(e)
	if s.level != lines || m.lines[s.lineAt(m)].Source != s.selSource {
		t.Fatalf("level %d, line %s, want %s", s.level, m.lines[s.lineAt(m)].Source, s.selSource)
	}
}

func TestFilters(t *testing.T) {
	e := viewtest.Env(world())
	for _, c := range []struct {
		keys   []keys.ID
		filter string
		want   int
	}{
		{nil, "", 7}, {nil, "bubble:yes", 3}, {nil, "bubble", 3}, {nil, "share>10", 3}, {nil, "!cnt", 5}, {nil, "barrier", 1}, {nil, "could not issue", 4},
		{based(), "shrank", 1}, {based(), "points<0", 1}, {nil, "points<0", 0},
		{[]keys.ID{keys.Drill}, "", 5}, {[]keys.ID{keys.Drill}, "line:585", 1}, {[]keys.ID{keys.Drill}, "class>20", 3},
		{[]keys.ID{keys.Drill, keys.Source}, "vmcnt(4)", 2}, {[]keys.ID{keys.Drill, keys.Drill, keys.Drill}, "offset:16", 1},
		{toBundles(), "kind:bundle", 4}, {toBundles(), "state:unreadable", 1}, {toBundles(), "vmem", 2},
	} {
		s := New()
		act(t, s, e, c.keys...)
		s.SetFilter(e, c.filter)
		m := s.model(e)
		got := s.rows(m)
		if s.focus == bundles {
			got = len(m.bundles)
		}
		if got != c.want {
			t.Errorf("%v /%s keeps %d, want %d", c.keys, c.filter, got, c.want)
		}
		if c.filter != "" {
			act(t, s, e, keys.Back)
			if s.Filter() != "" {
				t.Errorf("esc leaves the filter %q", s.Filter())
			}
		}
	}
}

func TestSorts(t *testing.T) {
	e := viewtest.Env(world())
	for _, c := range []struct {
		keys []keys.ID
		want string
	}{
		{based(), "vmcnt"}, {based(keys.Sort), "vmcnt"}, {based(keys.Sort, keys.SortFlip), "valu"},
		{[]keys.ID{keys.Sort, keys.Sort, keys.Sort}, "barrier"},
		{[]keys.ID{keys.Drill, keys.Sort, keys.Sort, keys.Sort}, file + ":585"},
		{[]keys.ID{keys.Drill, keys.Sort, keys.Sort, keys.Sort, keys.SortFlip}, file + ":589"},
		{[]keys.ID{keys.Drill, keys.Source, keys.Sort, keys.Sort, keys.Sort}, "0x2018"},
	} {
		s := New()
		act(t, s, e, c.keys...)
		act(t, s, e, keys.Top)
		if got := s.Selected(e); !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: first is %q, want %s", c.keys, got, c.want)
		}
	}
}

// TestSelectionStays: what is selected stays so when the trace is read again,
// the order turns round, or a newer bundle appears.
func TestSelectionStays(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []keys.ID
	}{
		{"class", []keys.ID{keys.Down, keys.Down}}, {"line", []keys.ID{keys.Drill, keys.Down}},
		{"inst", []keys.ID{keys.Drill, keys.Drill, keys.Down}}, {"producer", []keys.ID{keys.Drill, keys.Drill, keys.Drill, keys.Down}},
		{"bundle", toBundles(keys.Down)},
	} {
		e := viewtest.Env(world())
		s := New()
		act(t, s, e, keys.Drill, keys.Back) // pins the candidate
		act(t, s, e, c.keys...)
		want := s.Selected(e)
		next := *e.Snap
		next.Version++
		next.Bundles = append([]session.Bundle{{Path: "/new", Name: "profile/new/flyprof", ModTime: viewtest.Now}}, next.Bundles...)
		next.Analyses = map[string]*stall.Analysis{}
		for p, a := range e.Snap.Analyses {
			b := *a
			next.Analyses[p] = &b
		}
		e.Snap = &next
		act(t, s, e, keys.Sort, keys.SortFlip)
		if got := s.Selected(e); got != want {
			t.Errorf("%s: selected %q, was %q", c.name, got, want)
		}
	}
}

func TestShow(t *testing.T) {
	e := viewtest.Env(world())
	s := New()
	b := e.Snap.Bundles[2]
	if ask := s.Show(e, b.Path); len(ask.Do) != 1 || ask.Do[0] != (session.OpenBundle{Path: b.Path}) {
		t.Errorf("a bundle that was not read is opened: %+v", ask.Do)
	}
	if text := draw.Plain(s.Render(e, 80, 20)); !strings.Contains(text, "reading the trace") {
		t.Errorf("while it is read:\n%s", text)
	}
	if ask := s.Show(e, e.Snap.Bundles[1].Name); len(ask.Do) != 0 || s.model(e).cand.Path != e.Snap.Bundles[1].Path {
		t.Errorf("a read bundle is only shown: %+v", ask.Do)
	}
	s.Show(e, "barrier")
	if got := s.Selected(e); !strings.HasPrefix(got, "barrier: ") {
		t.Errorf("selected %q", got)
	}
	if ask := s.Show(e, "no such thing"); ask.Say == "" || len(ask.Do) > 0 {
		t.Errorf("an unknown target: %+v", ask)
	}
	if ask := s.Show(e, "/elsewhere/att"); len(ask.Do) != 1 || s.model(e).cand.Path != "/elsewhere/att" {
		t.Errorf("a trace elsewhere is opened: %+v", ask.Do)
	}
}

func TestExport(t *testing.T) {
	e := viewtest.Env(simulated())
	s := New()
	act(t, s, e, based()...)
	s.SetFilter(e, "vmcnt")
	ask := act(t, s, e, keys.Write)
	file := func(i int) session.WriteFile { return ask.Prompt.Accept(e, "", i).Do[0].(session.WriteFile) }
	rows, err := csv.NewReader(strings.NewReader(file(1).Text)).ReadAll()
	if err != nil || len(rows) != 8 {
		t.Errorf("CSV: %d lines, want 8: classes that a filter hides are missing (%v)", len(rows), err)
	}
	if rows, err := csv.NewReader(strings.NewReader(file(2).Text)).ReadAll(); err != nil || len(rows) != 2 {
		t.Errorf("list: %d lines, want 2 (%v)", len(rows), err)
	}
	md := file(0).Text
	for _, word := range []string{"SIMULATED", "Noise floor: 3.0 points", "| vmcnt | yes |", "no change seen", "not facts", "executed 87.6 %", "stale-source"} {
		if !strings.Contains(md, word) {
			t.Errorf("%q is not in the markdown:\n%s", word, md)
		}
	}
	if ask := ask.Prompt.Accept(e, "x", -1); len(ask.Do) > 0 || ask.Say == "" {
		t.Error("something is written without a choice")
	}
	s = New()
	act(t, s, e, toBundles(keys.Bottom, keys.Drill)...)
	if ask := act(t, s, e, keys.Write); ask.Prompt != nil || ask.Say == "" {
		t.Error("an unread bundle is written")
	}
}

// TestNoRawCycles: the sums of cycles, which grow with the number of waves, are
// on no screen and in no file.
func TestNoRawCycles(t *testing.T) {
	e := viewtest.Env(world())
	a := e.Snap.Analyses[e.Snap.Bundles[0].Path]
	raw := []string{hits(a.Bubbles.Totals.TotalStall), hits(a.Bubbles.Taxonomy.ByClass[0].Cycles)}
	for _, h := range a.Bubbles.Hotspots[:5] {
		raw = append(raw, hits(h.Stall), hits(h.Latency))
	}
	for _, ids := range [][]keys.ID{nil, based(), based(keys.Metric), {keys.Drill}, {keys.Drill, keys.Drill}, {keys.Drill, keys.Drill, keys.Drill}} {
		s := New()
		act(t, s, e, ids...)
		text := draw.Plain(s.Render(e, 200, 56)) + s.Selected(e)
		ask := act(t, s, e, keys.Write)
		for i := range 3 {
			text += ask.Prompt.Accept(e, "", i).Do[0].(session.WriteFile).Text
		}
		for _, n := range raw {
			if strings.Contains(text, n) {
				t.Errorf("%v: %s is drawn", ids, n)
			}
		}
	}
}

// TestBesideTheBars: whatever the size, trust and freshness stand beside the
// bars, and a demo says what it is.
func TestBesideTheBars(t *testing.T) {
	for _, c := range []struct {
		name string
		snap *session.Snapshot
		want []string
	}{
		{"world", world(), []string{"executed 87.6 %", "waves 24/24", "8 waves/CU", "stale-source", "vmcnt"}},
		{"weak", weak(), []string{"executed 0.3 %", "no verdict", "NOT COMPARABLE", "stale-source"}},
		{"stored", stored(), []string{"executed unknown", "waves unknown", "stale-source"}},
		{"simulated", simulated(), []string{"SIMULATED", "executed 87.6 %"}},
	} {
		e := viewtest.Env(c.snap)
		s := New()
		act(t, s, e, based()...)
		for _, size := range viewtest.Sizes {
			text := strings.Join(strings.Fields(draw.Plain(s.Render(e, size[0], size[1]))), " ")
			for _, word := range c.want {
				if !strings.Contains(text, word) {
					t.Errorf("%s %dx%d: %q is not on the screen", c.name, size[0], size[1], word)
				}
			}
		}
	}
}
