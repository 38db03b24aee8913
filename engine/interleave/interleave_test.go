package interleave

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Both arms come n times, every block of four is ABBA or BAAB, and the same seed
// gives the same order.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, seed := rapid.IntRange(0, 40).Draw(r, "n"), rapid.Uint64().Draw(r, "seed")
		got := Order(n, seed)
		count := map[Arm]int{}
		for _, a := range got {
			count[a]++
		}
		if len(got) != 2*n || n > 0 && (count[Base] != n || count[Candidate] != n) {
			r.Fatalf("n %d: %v", n, got)
		}
		for i := 0; i+4 <= len(got); i += 4 {
			if b := got[i : i+4]; b[0] != b[3] || b[1] != b[2] || b[0] == b[1] {
				r.Fatalf("block %v", b)
			}
		}
		again := Order(n, seed)
		for i := range got {
			if got[i] != again[i] {
				r.Fatal("another order for the same seed")
			}
		}
	})
	begins := map[Arm]int{}
	for seed := range uint64(200) {
		begins[Order(2, seed)[0]]++
	}
	if begins[Base] < 60 || begins[Candidate] < 60 {
		t.Errorf("who begins is not drawn: %v", begins)
	}
}

func sample() Sequence {
	return New("x", AB, Side{Worktree: "/b", Head: "1"}, Side{Worktree: "/c", Head: "2"}, 9, 7, time.Date(2026, 8, 21, 0, 0, 0, 0, time.UTC))
}

func TestWhatIsLeftToDo(t *testing.T) {
	s := sample()
	for i := range s.Steps {
		if k, ok := s.Next(); !ok || k != i {
			t.Fatalf("next %d %v, want %d", k, ok, i)
		}
		s.Steps[i].Run, s.Steps[i].Done = "r", true
	}
	if _, ok := s.Next(); ok {
		t.Error("something is left")
	}
	if len(s.Runs(Base)) != 9 || len(s.Runs(Candidate)) != 9 || s.Side(Base).Worktree != "/b" || s.Side(Candidate).Worktree != "/c" {
		t.Errorf("%+v", s)
	}
}

func TestParse(t *testing.T) {
	s := sample()
	s.Steps[0].Run, s.Steps[0].Done = "r1", true
	good, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse("f", good)
	if err != nil || back.Steps[0].Run != "r1" || back.Seed != 7 {
		t.Fatalf("%+v %v", back, err)
	}
	for what, edit := range map[string][2]string{
		"version":            {`"version": 1`, `"version": 2`},
		"kind":               {`"kind": "ab"`, `"kind": "abc"`},
		"unknown key":        {`"gpu": 0`, `"gpu": 0, "x": 1`},
		"another seed":       {`"seed": 7`, `"seed": 1234`},
		"relative worktree":  {`"/b"`, `"b"`},
		"done without a run": {`"run": "r1",`, ``},
		"repeats":            {`"repeats": 9`, `"repeats": 8`},
	} {
		bad := strings.Replace(string(good), edit[0], edit[1], 1)
		if bad == string(good) {
			t.Fatalf("%s: nothing was edited", what)
		}
		if _, err := Parse("f", []byte(bad)); err == nil {
			t.Errorf("%s is taken", what)
		} else if !strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("%s: %v does not name the file", what, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	s := sample()
	good, err := s.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":1,"kind":"ab","repeats":200,"seed":0}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse("f", b)
		if err != nil {
			return
		}
		again, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse("f", again); err != nil {
			t.Fatalf("what was taken is refused when stored: %v", err)
		}
	})
}
