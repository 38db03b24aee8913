package gate

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kdapilot/engine/fact"
	"kdapilot/engine/repo"
)

// spoilers are all ways in which the world may have changed at commit.
func spoilers() map[string]func(*Facts) {
	return map[string]func(*Facts){
		"plan":      func(f *Facts) { f.Plan.SHA256 = strings.Repeat("7", 64) },
		"torn":      func(f *Facts) { f.Plan.Status = fact.Torn },
		"draft":     func(f *Facts) { f.Draft.SHA256 = strings.Repeat("7", 64) },
		"judge":     func(f *Facts) { f.Judges[0].SHA256 = strings.Repeat("7", 64) },
		"base":      func(f *Facts) { f.Repo.Base.Commit = headSHA },
		"git lost":  func(f *Facts) { f.Repo = repo.Repo{State: repo.Failed} },
		"base name": func(f *Facts) { f.BaseBranch = "main" },
		"unseen":    func(f *Facts) { f.Seen, f.SeenOf = nil, "other"; f.LoopsKnown = false },
		"waiver": func(f *Facts) {
			f.Judges, f.JudgesWhy = nil, "no family"
			f.Waivers = []Waiver{{Precondition: "judges-bound", Binds: planSHA, Who: "x", Why: "y"}}
		},
	}
}

// event is one input as the model below sees it.
type event struct {
	at   time.Time
	kind string // "key", "long", "paste", "back", "other", "void"
	r    string
}

// model says, without the state machine, whether the inputs so far are the
// phrase typed by a hand: it looks back from the end for the keys that make up
// the phrase and judges each gap between them.
func model(log []event, phrase string, opened time.Time) bool {
	for _, e := range log {
		if e.kind == "void" {
			return false
		}
	}
	// The text since the last thing that clears it.
	last := opened
	armed := false
	var text []string
	var times []time.Time
	clear := func() { text, times, armed = nil, nil, false }
	for _, e := range log {
		gap := e.at.Sub(last)
		last = e.at
		switch e.kind {
		case "paste", "long":
			if e.kind == "paste" || armed || gap >= Quiet {
				clear()
			}
		case "key":
			if !armed && gap < Quiet {
				continue
			}
			armed = true
			times = append(times, e.at)
			if fast(times) {
				clear()
				continue
			}
			text = append(text, e.r)
			if strings.Join(text, "") == phrase {
				if n := min(len(times), len(text)); n > 1 && e.at.Sub(times[len(times)-n]) < time.Duration(n-1)*MeanGap {
					clear()
				}
			}
		case "back":
			if !armed {
				continue
			}
			times = append(times, e.at)
			if fast(times) {
				clear()
				continue
			}
			if len(text) > 0 {
				text = text[:len(text)-1]
			}
		}
	}
	return armed && strings.Join(text, "") == phrase
}

func fast(times []time.Time) bool {
	span := func(k int) time.Duration { return times[len(times)-1].Sub(times[len(times)-k]) }
	return len(times) >= 4 && span(4) <= 30*time.Millisecond || len(times) >= 5 && span(5) < 60*time.Millisecond
}

// TestNoOtherWayToASeal throws random input at a gate: a seal comes out exactly
// when the phrase was typed key by key at a hand's pace, nothing was pasted since,
// nothing changed while the gate was open or before the commit, and a person is
// there.
func TestNoOtherWayToASeal(t *testing.T) {
	sealed := 0
	rapid.Check(t, func(r *rapid.T) {
		g := rapid.SampledFrom([]ID{G1, G2}).Draw(r, "gate")
		s := OpenSession(g, good(), t0)
		want := s.Would.Phrase()
		now, log := t0, []event(nil)
		add := func(kind, k string) { log = append(log, event{now, kind, k}) }
		hand := rapid.Bool().Draw(r, "mostly by hand")
		gaps := []int{1, 8, 14, 16, 60, 90, 500}
		if hand {
			gaps = []int{450, 60, 90, 120}
		}
		for range rapid.IntRange(0, 60).Draw(r, "steps") {
			now = now.Add(time.Duration(rapid.SampledFrom(gaps).Draw(r, "gap")) * time.Millisecond)
			what := rapid.IntRange(0, 40).Draw(r, "input")
			if hand && what < 5 && len(log) < 40 {
				what = 30
			}
			switch {
			case what == 0:
				s.Paste(now)
				add("paste", "")
			case what == 1:
				s.Key(want, now)
				add("long", "")
			case what == 2:
				f := good()
				f.Plan.SHA256 = strings.Repeat("7", 64)
				s.See(f)
				add("void", "")
			case what == 3:
				s.Backspace(now)
				add("back", "")
			case what == 4:
				s.Key("x", now)
				add("key", "x")
			default:
				if s.Matches() {
					continue // stop typing when it is complete
				}
				k := "x"
				if n := len(s.Typed()); n < len(want) {
					k = want[n : n+1]
				}
				s.Key(k, now)
				add("key", k)
			}
			if got, should := s.Matches(), model(log, want, t0); got != should {
				r.Fatalf("matches: %v, should be %v (typed %q of %q)", got, should, s.Typed(), want)
			}
		}
		should := model(log, want, t0)
		p := present()
		p.LastActivity = now
		fresh := good()
		names := []string{"nothing", "nobody there", "plan", "torn", "draft", "judge", "base", "git lost", "base name", "unseen", "waiver"}
		what := rapid.SampledFrom(names).Draw(r, "changed at commit")
		if spoil := spoilers()[what]; spoil != nil {
			spoil(fresh)
		} else if what == "nobody there" {
			p.LastActivity = time.Time{}
		}
		seal, err := s.Commit(now, fresh, p)
		if what != "nothing" {
			should = false
		}
		if (err == nil) != should {
			r.Fatalf("%s, changed: %s: error %v, a seal was due: %v", g, what, err, should)
		}
		if err == nil {
			sealed++
			if seal.ID != s.Would.ID || s.Phase() != Done {
				r.Fatal("another seal than the one shown")
			}
		}
	})
	if sealed == 0 {
		t.Error("no attempt by hand led to a seal: the test tries nothing")
	}
}

func TestEnterOfAPastedLineIsRefused(t *testing.T) {
	s := OpenSession(G2, good(), t0)
	now := typeAll(s, s.Would.Phrase(), t0).Add(-90 * time.Millisecond)
	s.Other(now.Add(2 * time.Millisecond))
	if s.Matches() || len(s.TakeRefusals()) != 1 {
		t.Error("Enter 2 ms after the phrase was taken")
	}
	s = OpenSession(G2, good(), t0)
	now = typeAll(s, s.Would.Phrase(), t0)
	s.Other(now)
	if !s.Matches() {
		t.Error("Enter at a hand's pace cleared the phrase")
	}
}

func TestShortPhraseInABurst(t *testing.T) {
	f := good()
	f.BaseBranch, f.Repo.Base.Ref = "abc", "abc"
	f.Argv[len(f.Argv)-1] = "abc"
	g1 := NewSeal(G1, f, t0)
	f.G1 = &g1
	s := OpenSession(G2, f, t0)
	now := t0.Add(time.Second)
	for _, k := range []string{"a", "b", "c"} {
		s.Key(k, now)
		now = now.Add(time.Millisecond)
	}
	if s.Matches() {
		t.Error("three keys in three milliseconds were taken for a hand")
	}
}

func TestTransientUnknownShutsAndOpensAgain(t *testing.T) {
	s := OpenSession(G2, good(), t0)
	lost := good()
	lost.Repo = repo.Repo{State: repo.Failed}
	s.See(lost)
	if s.Phase() != Shut {
		t.Fatalf("phase %s", s.Phase())
	}
	s.See(good())
	if s.Phase() != Settling {
		t.Errorf("phase %s", s.Phase())
	}
}

func TestSeenIsOfThisPlan(t *testing.T) {
	f := good()
	f.SeenOf = planSHA
	if ok, why := Open(Check(G1, f)); !ok {
		t.Fatal(why)
	}
	f.SeenOf = strings.Repeat("9", 64)
	if ok, _ := Open(Check(G1, f)); ok {
		t.Error("another text was read")
	}
}

func TestPreflightDueAndOld(t *testing.T) {
	for name, c := range map[string]struct {
		p    Preflight
		want State
	}{
		"not run, not yet part of it": {Preflight{}, NotRun},
		"not run, due":                {Preflight{Due: true}, Unknown},
		"green":                       {Preflight{State: Green, Hash: "x", At: t0.Add(-time.Hour), Due: true}, Green},
		"old":                         {Preflight{State: Green, Hash: "x", At: t0.Add(-25 * time.Hour)}, Red},
	} {
		f := good()
		f.Preflight = c.p
		if got := preflight(f); got.State != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
