package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/family"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
	"kdapilot/ui/view/viewtest"
)

// sample is a smoke run under way with rows, a sweep that failed, one that
// passed, a run whose witnesses disagree, a cancelled and a lost one.
func sample() *session.Snapshot {
	s := viewtest.Sample()
	left, n := 660.0, 2
	running := &s.Runs[0]
	running.Progress.ETASeconds, running.Progress.QuietSeconds = &left, 75
	so := viewtest.SampleResult(1, false)
	so.Rows = so.Rows[:5]
	s.Results[running.ID] = so
	for i := 1; i < 3; i++ {
		v := bench.Truth(s.Results[s.Runs[i].ID], 16)
		s.Results[s.Runs[i].ID].Truth = &v
	}
	m := &s.Runs[1].Manifest
	m.DirtyFiles, m.DirtyHash, m.Executor = &n, "9f2c51ab77de", "local"
	m.Harness = []runs.Hashed{{Path: "tests/kernels/test_flash_attn_fwd.py", SHA256: "5d41402abc4b2a76b9719d911017c592", Size: 48211}}
	m.Env = map[string]string{"HIP_VISIBLE_DEVICES": "0", "PYTHONUNBUFFERED": "1"}
	s.Runs[1].Result.Files = []runs.Hashed{{Path: "stdout.log", SHA256: "aa41402abc4b2a76b9719d911017c592", Size: 48211}}
	more := func(id string, st runs.State, edit func(r *runs.Run)) {
		r := s.Runs[2]
		m := r.Manifest
		m.ID, m.Started = runs.ID(id), viewtest.Now.Add(-50*time.Hour)
		res := *r.Result
		r.ID, r.State, r.Manifest, r.Result = m.ID, st, m, &res
		edit(&r)
		s.Runs = append(s.Runs, r)
	}
	more("20260819-101500-sweep-1d0c", runs.Cancelled, func(r *runs.Run) {
		r.Partial, r.Progress.Done, r.Result.Signal, r.Result.Exit = true, 7, "SIGTERM", nil
	})
	more("20260819-081500-compare-77ab", runs.Lost, func(r *runs.Run) {
		r.Partial, r.Result, r.Why, r.Manifest.Preset = true, nil, "the supervisor is gone and left no result", "compare"
		r.Progress = runs.Progress{}
	})
	more("20260819-071500-sweep-5e5e", runs.Ended, func(r *runs.Run) {
		zero := 0
		bad := viewtest.SampleResult(1, true)
		bad.ExitStatus = &zero
		v := bench.Truth(bad, 16)
		bad.Truth = &v
		s.Results[r.ID] = bad
		r.Manifest.Simulated = true
		r.Result.Foreign, r.Result.ForeignLooks = []runs.Foreign{{GPU: 0, PID: 4211, Command: "python3 train.py", When: "during"}}, 12
	})
	s.Family = fam(s)
	return s
}

func fam(*session.Snapshot) *family.Family {
	src, err := os.ReadFile(filepath.Join("..", "..", "..", "templates", "families", "flashattn", "family.toml"))
	if err != nil {
		return nil
	}
	f, err := family.Parse("flashattn", src)
	if err != nil {
		return nil
	}
	return &f
}

// quiet is a run that has printed no row yet.
func quiet() *session.Snapshot {
	s := sample()
	s.Runs = s.Runs[:1]
	delete(s.Results, s.Runs[0].ID)
	s.Runs[0].Progress = runs.Progress{Expected: s.Runs[0].Progress.Expected, ElapsedSeconds: 12}
	s.Log = session.Log{}
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

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name string
		snap *session.Snapshot
		show string
		keys []keys.ID
	}{
		{"runs", sample(), "", nil},
		{"runs-log", sample(), "", []keys.ID{keys.NextPane}},
		{"runs-rows", sample(), "", []keys.ID{keys.NextPane, keys.NextPane}},
		{"runs-finished", sample(), "20260821-120310-sweep-91bc", nil},
		{"runs-lost", sample(), "20260819-081500-compare-77ab", nil},
		{"runs-disagree", sample(), "20260819-071500-sweep-5e5e", nil},
		{"runs-detail", sample(), "20260821-120310-sweep-91bc", []keys.ID{keys.Drill}},
		{"runs-quiet", quiet(), "", nil},
		{"runs-unread", &session.Snapshot{}, "", nil},
		{"runs-none", &session.Snapshot{RunsStatus: fact.Origin{Path: "runs", Status: fact.Missing}}, "", nil},
		{"runs-unreadable", &session.Snapshot{RunsStatus: fact.Origin{Path: "runs", Status: fact.Unreadable, Why: "open runs: permission denied"}}, "", nil},
	} {
		if c.snap.Runs != nil && c.snap.Family == nil {
			t.Fatal("the family of the sample does not parse")
		}
		e := viewtest.Env(c.snap)
		s := New()
		s.Show(e, c.show)
		act(t, s, e, c.keys...)
		if c.show != "" {
			e.Snap.LogID = runs.ID(c.show)
		}
		viewtest.Golden(t, c.name, s, e)
	}
}

func looks() []style.Look {
	return []style.Look{style.NewLook(style.Mono(), style.Unicode()), style.NewLook(style.Default(), style.Unicode()), style.NewLook(style.Light(style.Colours256), style.ASCII())}
}

func TestAnySize(t *testing.T) {
	snaps := []*session.Snapshot{sample(), quiet(), {}}
	moves := []keys.ID{keys.Drill, keys.Down, keys.Bottom, keys.Top, keys.NextPane, keys.PrevPane, keys.Back, keys.Sort, keys.SortFlip, keys.PageDown, keys.PageUp, keys.MoveRight, keys.MoveLeft, keys.Follow, keys.Wrap, keys.NextMatch, keys.Run, keys.Cancel, keys.RunAgain}
	rapid.Check(t, func(r *rapid.T) {
		e := viewtest.Env(snaps[rapid.IntRange(0, len(snaps)-1).Draw(r, "snap")])
		e.Look = rapid.SampledFrom(looks()).Draw(r, "look")
		w, h := rapid.IntRange(20, 240).Draw(r, "w"), rapid.IntRange(3, 80).Draw(r, "h")
		s := New()
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(moves)-1), 0, 10).Draw(r, "keys") {
			s.Act(e, moves[i])
			viewtest.Exact(t, s.Render(e, w, h), w, h)
		}
		s.SetFilter(e, rapid.SampledFrom([]string{"", "state:lost", "!sweep", "-f swp", "PASS", "nothing"}).Draw(r, "filter"))
		viewtest.Exact(t, s.Render(e, w, h), w, h)
		s.Selected(e)
	})
}

func TestSelectingARunOpensItsLog(t *testing.T) {
	e := viewtest.Env(sample())
	s := New()
	if ask := s.Show(e, ""); len(ask.Do) != 0 {
		t.Errorf("the log is already followed: %+v", ask.Do)
	}
	ask := act(t, s, e, keys.Down)
	want := session.OpenLog{ID: e.Snap.Runs[1].ID}
	if len(ask.Do) != 1 || ask.Do[0] != want {
		t.Fatalf("does %+v, want %+v", ask.Do, want)
	}
	if text := draw.Plain(s.Render(e, 120, 36)); !strings.Contains(text, "log not read yet") {
		t.Error("the log of another run is shown")
	}
}

func TestSelectionStaysWhenARunAppears(t *testing.T) {
	e := viewtest.Env(sample())
	s := New()
	s.Show(e, "20260819-101500-sweep-1d0c")
	next := *e.Snap
	next.Runs = append([]runs.Run{{ID: "20260821-143000-new-0000", State: runs.Queued}}, next.Runs...)
	e.Snap = &next
	if got := s.Selected(e); !strings.HasPrefix(got, "20260819-101500-sweep-1d0c") {
		t.Errorf("selected %q", got)
	}
}

// What a filter hides is not acted on: the keys and the panes follow the cursor.
func TestTheCursorIsWhatIsSelected(t *testing.T) {
	e := viewtest.Env(sample())
	all := e.Snap.Runs
	first, last := all[0], all[len(all)-1]
	s := New()
	s.Show(e, string(first.ID))
	s.SetFilter(e, string(last.ID))
	if r := s.run(e); r == nil || r.ID != last.ID || s.cursor(e, s.list(e)) != 0 {
		t.Fatalf("the cursor is on %s, selected is %v", last.ID, r)
	}
	if ask := act(t, s, e, keys.NextPane); len(ask.Do) != 1 || ask.Do[0] != (session.OpenLog{ID: last.ID}) {
		t.Errorf("the log asked for is %+v, the cursor is on %s", ask.Do, last.ID)
	}
	s.focus = list
	s.SetFilter(e, "no such run")
	if r := s.run(e); r != nil {
		t.Errorf("nothing is listed and %s is selected", r.ID)
	}
	s.SetFilter(e, "")
	if r := s.run(e); r.ID != last.ID {
		t.Errorf("the selection was lost: %s", r.ID)
	}
	s.focus = log // who reads a log keeps it when the run no longer fits
	s.filter = string(first.ID)
	if r := s.run(e); r.ID != last.ID || s.cursor(e, s.list(e)) != -1 {
		t.Errorf("the log jumped to %s", r.ID)
	}
}

func TestLogKeys(t *testing.T) {
	e := viewtest.Env(sample())
	s := New()
	s.Show(e, "")
	if s.Context() != keys.Runs {
		t.Error("the list has the focus at first")
	}
	act(t, s, e, keys.NextPane)
	if s.Context() != keys.Log {
		t.Fatal("tab focuses the log")
	}
	s.Render(e, 80, 20)
	if !s.log.Follow {
		t.Error("a log is followed at first")
	}
	act(t, s, e, keys.PageUp)
	if s.log.Follow {
		t.Error("moving up stops following")
	}
	act(t, s, e, keys.Follow, keys.Wrap)
	if !s.log.Follow || !s.log.Wrap {
		t.Error("f and W")
	}
	s.SetFilter(e, "2816")
	if s.Filter() != "2816" || s.filter != "" {
		t.Errorf("a search is no filter of the list: %q %q", s.Filter(), s.filter)
	}
	if got := s.Selected(e); !strings.Contains(got, "2816") {
		t.Errorf("the hit is what y copies, got %q", got)
	}
	act(t, s, e, keys.NextMatch, keys.PrevMatch, keys.Top, keys.Bottom, keys.Back)
	if s.Filter() != "" || s.focus != log {
		t.Error("esc clears the search first")
	}
	act(t, s, e, keys.Back)
	if s.focus != list {
		t.Error("then it leaves the log")
	}
	if _, ok := s.Act(e, keys.Back); ok {
		t.Error("in the list esc belongs to the model")
	}
}

// start walks the prompts of a preset with the first entry that has label, or
// with typed text, and returns the question at the end.
func start(t *testing.T, e *view.Env, answers ...string) view.Ask {
	t.Helper()
	ask := act(t, New(), e, keys.Run)
	for _, a := range answers {
		if ask.Prompt == nil {
			t.Fatalf("no prompt for %q: %+v", a, ask)
		}
		i := -1
		for k, entry := range ask.Prompt.Entries {
			if entry.Label == a {
				i = k
			}
		}
		ask = ask.Prompt.Accept(e, a, i)
	}
	return ask
}

func TestStart(t *testing.T) {
	cell := "B1_S512_H16_Hkv16_D128_bf16_causal_sp1"
	for _, c := range []struct {
		name    string
		answers []string
		want    session.StartRun
		lines   []string
	}{
		{"smoke", []string{"smoke"}, session.StartRun{Preset: "smoke"}, []string{"on GPU 0 AMD Instinct MI355X gfx950, running here: smoke", "in /w/FlyDSL-fa-fp8", "--iters"}},
		{"focus", []string{"focus", cell}, session.StartRun{Preset: "focus", Cell: cell}, []string{"--seq_len", "  512"}},
		{"named question", []string{"flyprof-run", "flash_attn_fwd", "VMEM wait"}, session.StartRun{Preset: "flyprof-run", Kernel: "flash_attn_fwd", Question: "VMEM wait"}, []string{"question: VMEM wait", "retried once"}},
		{"own question", []string{"flyprof-run", "moe_gemm", "why is the tail slow"}, session.StartRun{Preset: "flyprof-run", Kernel: "moe_gemm", Question: "why is the tail slow"}, []string{"  moe_gemm"}},
		{"list before a kernel", []string{"flyprof-run", "(ask flyprof for its list first)"}, session.StartRun{Preset: "flyprof-list"}, []string{"  list"}},
		{"prior art", []string{"flyprof-wiki", "barrier"}, session.StartRun{Preset: "flyprof-wiki", Class: "barrier"}, []string{"  wiki", "  barrier"}},
		{"list asks nothing", []string{"flyprof-list"}, session.StartRun{Preset: "flyprof-list"}, []string{"flyprof"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := start(t, viewtest.Env(sample()), c.answers...)
			if ask.Confirm == nil {
				t.Fatalf("no question at the end: %+v", ask)
			}
			if len(ask.Do) > 0 || ask.Confirm.Word != "run" {
				t.Errorf("does %+v without a word", ask.Do)
			}
			if d := cmp.Diff([]session.Action{c.want}, ask.Confirm.Do); d != "" {
				t.Error(d)
			}
			text := strings.Join(ask.Confirm.Lines, "\n")
			for _, l := range c.lines {
				if !strings.Contains(text, l) {
					t.Errorf("%q is not in\n%s", l, text)
				}
			}
		})
	}
}

func TestStartAsksForTheGPU(t *testing.T) {
	e := viewtest.Env(sample())
	e.Snap.Host.GPUs = append(e.Snap.Host.GPUs, runs.GPU{Index: 5, Name: "AMD Instinct MI355X"})
	ask := start(t, e, "smoke")
	if ask.Prompt == nil || len(ask.Prompt.Entries) != 2 || ask.Prompt.Entries[0].Note == "" {
		t.Fatalf("no choice of GPU with its state: %+v", ask.Prompt)
	}
	ask = ask.Prompt.Accept(e, "", 1)
	if ask.Confirm == nil || ask.Confirm.Do[0].(session.StartRun).GPU != 5 {
		t.Errorf("%+v", ask)
	}
}

func TestNothingStartsByMistake(t *testing.T) {
	e := viewtest.Env(sample())
	for _, answers := range [][]string{{"no such preset"}, {"focus", "no such cell"}, {"flyprof-run", "flash_attn_fwd", "  "}, {"flyprof-run", "  "}, {"flyprof-run", "--shape"}} {
		if ask := start(t, e, answers...); ask.Confirm != nil || ask.Say == "" || len(ask.Do) > 0 {
			t.Errorf("%q: %+v", answers, ask)
		}
	}
	e.Snap.Family = nil
	if ask := start(t, e, "python3 'x"); ask.Confirm != nil || ask.Say == "" {
		t.Errorf("an open quote: %+v", ask)
	}
	if ask := start(t, e, "python3 x.py --causal"); ask.Confirm == nil {
		t.Error("a command can be typed without a family")
	}
}

func TestCancelAndAgain(t *testing.T) {
	e := viewtest.Env(sample())
	for _, c := range []struct {
		run  string
		key  keys.ID
		word string
		do   session.Action
		say  string
	}{
		{"20260821-142502-smoke-3f2a", keys.Cancel, "cancel", session.CancelRun{ID: "20260821-142502-smoke-3f2a"}, ""},
		{"20260821-120310-sweep-91bc", keys.Cancel, "", nil, "nothing to cancel"},
		{"20260821-120310-sweep-91bc", keys.RunAgain, "run", session.StartRun{Preset: "sweep"}, ""},
		{"20260819-081500-compare-77ab", keys.SetBase, "", nil, "no rows to compare"},
	} {
		s := New()
		s.Show(e, c.run)
		ask := act(t, s, e, c.key)
		if !strings.Contains(ask.Say, c.say) || len(ask.Do) > 0 {
			t.Errorf("%s %s: %+v", c.run, c.key, ask)
		}
		if c.do == nil {
			continue
		}
		if ask.Confirm == nil || ask.Confirm.Word != c.word {
			t.Fatalf("%s %s: asks %+v", c.run, c.key, ask)
		}
		if d := cmp.Diff([]session.Action{c.do}, ask.Confirm.Do); d != "" {
			t.Errorf("%s %s: %s", c.run, c.key, d)
		}
	}
	s := New()
	s.Show(e, "20260821-120310-sweep-91bc")
	if ask := act(t, s, e, keys.SetBase); ask.Go != keys.GoBench || ask.Target != "20260821-120310-sweep-91bc" {
		t.Errorf("b goes to %q %q", ask.Go, ask.Target)
	}
}

func TestWordsStay(t *testing.T) {
	for _, c := range []struct {
		snap  *session.Snapshot
		show  string
		words []string
	}{
		{sample(), "20260819-071500-sweep-5e5e", []string{"DISAGREE", "SIMULATED", "CONTAMINATED"}},
		{sample(), "20260819-101500-sweep-1d0c", []string{"cancelled", "PARTIAL", "SIGTERM"}},
		{sample(), "20260819-081500-compare-77ab", []string{"LOST", "PARTIAL"}},
		{quiet(), "", []string{"no rows yet", "9120 bytes"}},
	} {
		for _, size := range viewtest.Sizes {
			e := viewtest.Env(c.snap)
			s := New()
			s.Show(e, c.show)
			text := draw.Plain(s.Render(e, size[0], size[1]))
			for _, word := range c.words {
				if !strings.Contains(text, word) {
					t.Errorf("%s at %dx%d: %q is not on the screen:\n%s", c.show, size[0], size[1], word, text)
				}
			}
		}
	}
}

// TestNoGreenForSimulated: a stand-in's pass never looks like a real one, not
// even where the labels have no room.
func TestNoGreenForSimulated(t *testing.T) {
	e := viewtest.Env(sample())
	e.Snap.Simulated = true
	e.Look = style.NewLook(style.Default(), style.Unicode())
	for i := range e.Snap.Runs {
		got := standing(e, &e.Snap.Runs[i])
		if !strings.HasPrefix(draw.Strip(got), "SIM ") || strings.Contains(got, e.Look.Good.Open()) {
			t.Errorf("%s: %q", e.Snap.Runs[i].ID, got)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	e := viewtest.Env(sample())
	s := New()
	for b.Loop() {
		s.Render(e, 200, 56)
	}
}

// BenchmarkLongLog follows a log of 200,000 lines while it grows and is
// searched.
func BenchmarkLongLog(b *testing.B) {
	e := viewtest.Env(sample())
	line := e.Snap.Log.Line(0)
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = fmt.Sprint(line, i)
	}
	for range 200 {
		e.Snap.Log = e.Snap.Log.Append(lines...)
	}
	s := New()
	s.Act(e, keys.NextPane)
	s.SetFilter(e, "PASS")
	for b.Loop() {
		s.Render(e, 200, 56)
	}
}
