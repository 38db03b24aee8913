package gate

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/repo"
)

// signed is a seal as Commit would give it.
func signed(g ID) Seal {
	s := NewSeal(g, good(), t0)
	s.Who, s.At = "mk@host \xff", t0.Add(time.Minute)
	return s
}

// TestEveryFlippedByteOfASealIsFound covers all fields, also who and when.
func TestEveryFlippedByteOfASealIsFound(t *testing.T) {
	for _, g := range []ID{G1, G2} {
		b, err := signed(g).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeSeal("x", b); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		for i := range b {
			for _, bit := range []byte{0x01, 0x04, 0x20} {
				bad := bytes.Clone(b)
				bad[i] ^= bit
				if _, err := DecodeSeal("seals/x.json", bad); err == nil {
					t.Fatalf("byte %d (%q to %q) flipped and not found", i, b[i], bad[i])
				} else if !strings.Contains(err.Error(), "seals/x.json") {
					t.Fatalf("the error does not name the file: %v", err)
				}
			}
		}
		for _, bad := range [][]byte{append(bytes.Clone(b), '}'), append(bytes.Clone(b), "{}"...), b[:len(b)-2], nil} {
			if _, err := DecodeSeal("x", bad); err == nil {
				t.Errorf("taken: %q", bad)
			}
		}
	}
}

func FuzzDecodeSeal(f *testing.F) {
	for _, g := range []ID{G1, G2} {
		b, err := signed(g).Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeSeal("x", b)
		if err != nil {
			return
		}
		if again, err := s.Encode(); err != nil || !bytes.Equal(again, b) || s.ID != s.hash() {
			t.Error("a changed seal was taken")
		}
	})
}

func TestSealBindsEachFact(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoil  func(*Facts)
		g1, g2 string // what changed, "" for nothing
	}{
		{"nothing", func(*Facts) {}, "", ""},
		{"plan", func(f *Facts) { f.Plan.SHA256 = strings.Repeat("9", 64) }, "plan", "plan"},
		{"plan gone", func(f *Facts) { f.Plan.Status, f.Plan.SHA256 = fact.Missing, "" }, "plan", "plan"},
		{"draft", func(f *Facts) { f.Draft.SHA256 = strings.Repeat("9", 64) }, "draft", "draft"},
		{"judge", func(f *Facts) { f.Judges[0].SHA256 = strings.Repeat("9", 64) }, "judge", "judge"},
		{"judge gone", func(f *Facts) { f.Judges[0].Path = "other.py" }, "judge", "judge"},
		{"base moved", func(f *Facts) { f.Repo.Base.Commit = headSHA }, "base branch", "base branch"},
		{"base pinned anew", func(f *Facts) { f.BaseCommit = headSHA }, "base commit", "base commit"},
		{"HEAD", func(f *Facts) { f.Repo.Head = baseSHA }, "", "HEAD"},
		{"branch", func(f *Facts) { f.Repo.Branch = "rlcr/other" }, "", "branch"},
		{"detached", func(f *Facts) { f.Repo.Branch = "" }, "", "branch"},
		{"command", func(f *Facts) { f.Argv = append(f.Argv, "--yolo") }, "", "start command"},
		{"preflight", func(f *Facts) { f.Preflight = Preflight{State: Green, Hash: "a", At: t0} }, "", "preflight"},
		{"humanize", func(f *Facts) { f.Humanize = "1.17.0" }, "", "humanize"},
		{"other seal of gate 1", func(f *Facts) { s := NewSeal(G1, f, t0); f.G1 = &s }, "", "seal of gate 1"},
	} {
		for _, g := range []ID{G1, G2} {
			s := signed(g)
			f := good()
			c.spoil(f)
			v := Void(s, f)
			want := c.g1
			if g == G2 {
				want = c.g2
			}
			got := ""
			if len(v.Changes) > 0 {
				got = v.Changes[0].What
			}
			if got != want || v.Holds != (want == "") {
				t.Errorf("%s of %s: %+v, want %q", c.name, g, v, want)
			}
			if (NewSeal(g, f, t0).ID == s.ID) != (want == "" || c.name == "base moved") {
				t.Errorf("%s of %s: the id says otherwise", c.name, g)
			}
		}
	}
}

// TestUnknownIsNoChange: what can not be read now voids nothing, and opens
// nothing.
func TestUnknownIsNoChange(t *testing.T) {
	for name, spoil := range map[string]func(*Facts){
		"plan mid-write":   func(f *Facts) { f.Plan.Status, f.Plan.SHA256 = fact.Torn, "" },
		"plan unreadable":  func(f *Facts) { f.Plan.Status, f.Plan.SHA256 = fact.Unreadable, "" },
		"draft not read":   func(f *Facts) { f.Draft = Bound{Path: f.Draft.Path} },
		"git failed":       func(f *Facts) { f.Repo = repo.Repo{State: repo.Failed} },
		"judges not known": func(f *Facts) { f.Judges, f.JudgesWhy = nil, "the base commit is not known" },
		"task.toml torn":   func(f *Facts) { f.BaseBranch, f.BaseCommit = "", "" },
	} {
		for _, g := range []ID{G1, G2} {
			f := good()
			spoil(f)
			if v := Void(signed(g), f); v.Holds || len(v.Changes) > 0 || len(v.Unknown) == 0 {
				t.Errorf("%s of %s: %+v", name, g, v)
			}
			if open, _ := Open(Check(G2, f)); open {
				t.Errorf("%s: gate 2 opens", name)
			}
		}
	}
}
