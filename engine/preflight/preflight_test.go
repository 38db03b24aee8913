package preflight

import (
	"strings"
	"testing"
	"time"

	"kdapilot/engine/gate"
	"kdapilot/engine/runs"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// whole is a finished result in which only the given rows are not green.
func whole(change map[ID]State, before *Result) *Result {
	r := &Result{At: now, Worktree: "/wt", Model: "m:xhigh", Fingerprint: Fingerprint{Host: "h", Head: "abc", GPUs: []string{"gfx950 0x1"}}}
	for _, id := range Order() {
		if id == Downgraded || id == Current {
			continue
		}
		s, ok := change[id]
		if !ok {
			s = Green
		}
		r.Rows = append(r.Rows, row(id, s, "do it", "seen"))
	}
	r.Finish(before)
	return r
}

func TestWholeResult(t *testing.T) {
	tests := []struct {
		change map[ID]State
		want   State
	}{
		{nil, Green},
		{map[ID]State{RunEnv: Amber}, Amber},
		{map[ID]State{Conftest: Amber}, Amber},
		{map[ID]State{Codex: NotRun}, Red},
		{map[ID]State{GPU: Unknown}, Red},
		{map[ID]State{MultiGPU: Unknown}, Amber},
		{map[ID]State{MultiGPU: Red}, Red},
		{map[ID]State{Import: Red}, Red},
		{map[ID]State{BuildTree: NotNeeded}, Green},
	}
	for _, tt := range tests {
		if got := whole(tt.change, nil).State; got != tt.want {
			t.Errorf("%v: %s, want %s", tt.change, got, tt.want)
		}
	}
	if (&Result{}).Judge() != Red {
		t.Error("a result without rows is not red")
	}
}

func TestRedIsNotDowngraded(t *testing.T) {
	before := whole(map[ID]State{RunEnv: Red, Conftest: Red}, nil)
	r := whole(map[ID]State{Conftest: Amber}, before)
	if got := r.Row(Downgraded); got.State != Red || !strings.Contains(strings.Join(got.Seen, " "), "PF-05 was red and is amber") {
		t.Errorf("PF-11 = %+v", got)
	}
	if r.State != Red {
		t.Errorf("result is %s, want red", r.State)
	}
	if got := whole(nil, before).Row(Downgraded); got.State != Green {
		t.Errorf("after a repair PF-11 is %s: %v", got.State, got.Seen)
	}
}

func TestForGate(t *testing.T) {
	good := whole(nil, nil)
	same := good.Fingerprint
	moved := same
	moved.Head = "def"
	tests := []struct {
		name string
		s    Stored
		at   time.Time
		want gate.State
		text string
	}{
		{"none", Stored{}, now, gate.NotRun, "no preflight"},
		{"unreadable", Stored{Why: "line 3"}, now, gate.Red, "line 3"},
		{"good", Stored{Result: good, Hash: "h", Here: &same}, now.Add(time.Hour), gate.Green, "60 min"},
		{"old", Stored{Result: good, Here: &same}, now.Add(25 * time.Hour), gate.Red, "25 h old"},
		{"from the future", Stored{Result: good}, now.Add(-time.Hour), gate.Red, "future"},
		{"not compared", Stored{Result: good}, now, gate.Unknown, "nobody compared"},
		{"HEAD moved", Stored{Result: good, Here: &moved}, now, gate.Red, "HEAD: was abc, is def"},
		{"red row", Stored{Result: whole(map[ID]State{Codex: NotRun}, nil), Here: &same}, now, gate.Red, "PF-01 not run"},
	}
	for _, tt := range tests {
		got := ForGate(tt.s, tt.at)
		if tt.name == "good" {
			tt.text = "1 h old"
		}
		if got.State != tt.want || !strings.Contains(got.Text, tt.text) || got.Hash != tt.s.Hash {
			t.Errorf("%s: %+v, want %s with %q", tt.name, got, tt.want, tt.text)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good, err := whole(map[ID]State{Import: Red}, nil).Encode()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse("f", good)
	if err != nil || r.State != Red || r.Row(Import).State != Red {
		t.Fatalf("round trip: %v, %+v", err, r)
	}
	for what, edit := range map[string][2]string{
		"unknown state": {`"state": "green"`, `"state": "fine"`},
		"unknown key":   {`"version": 1`, `"extra": 1, "version": 1`},
		"version":       {`"version": 1`, `"version": 9`},
		"row twice":     {`"id": "PF-02"`, `"id": "PF-01"`},
		"row missing":   {`"id": "PF-02"`, `"id": "PF-99"`},
	} {
		bad := strings.Replace(string(good), edit[0], edit[1], 1)
		if bad == string(good) {
			t.Fatalf("%s: nothing was edited", what)
		}
		if _, err := Parse("f", []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("%s: %v, want a refusal that names the file", what, err)
		}
	}
	// A file that says green of a red result is not believed.
	forged := strings.Replace(string(good), `"state": "red",
  "rows"`, `"state": "green",
  "rows"`, 1)
	if r, err := Parse("f", []byte(forged)); err != nil || r.State != Red {
		t.Errorf("forged state: %v %v", r, err)
	}
}

func TestMergeGateWantsTheWholeTruth(t *testing.T) {
	zero, one, clean := 0, 1, 0
	base := strings.Repeat("a", 40)
	good := func() runs.Run {
		return runs.Run{ID: "r", State: runs.Ended, Result: &runs.Result{Exit: &zero}, Manifest: runs.Manifest{
			Argv: []string{"bash", "scripts/run_tests.sh"}, Env: map[string]string{"RUN_TESTS_FULL": "1"}, Head: base, DirtyFiles: &clean}}
	}
	tests := map[string]func(r *runs.Run){
		"":             func(*runs.Run) {},
		"exit 1":       func(r *runs.Run) { r.Result.Exit = &one },
		"cancelled":    func(r *runs.Run) { r.State = runs.Cancelled },
		"SIGABRT":      func(r *runs.Run) { r.Result.Exit, r.Result.Signal = nil, "SIGABRT" },
		"uncommitted":  func(r *runs.Run) { r.Manifest.DirtyFiles = &one },
		"nobody":       func(r *runs.Run) { r.Manifest.DirtyFiles = nil },
		"not a pass":   func(r *runs.Run) { r.Result.Verdict = &runs.Verdict{Quotes: []string{"FileCheck not found"}} },
		"no run of it": func(r *runs.Run) { r.Manifest.Env = nil },
	}
	for why, change := range tests {
		r := good()
		change(&r)
		row := JudgeMergeGate(GateRunFacts{Found: true, BaseCommit: base, RunsKnown: true, Runs: []runs.Run{r}})
		if want := why == ""; (row.State == Green) != want || !strings.Contains(strings.Join(row.Seen, " "), why) {
			t.Errorf("%q: %s %v", why, row.State, row.Seen)
		}
	}
}

func TestRowsAreClean(t *testing.T) {
	r := row(Git, Red, "", strings.Repeat("x\x1b[31m", 500), "a", "b", "c", "d", "e", "f", "g", "h", "i")
	if len(r.Seen) != seenLimit+1 || len(r.Seen[0]) > lineLimit || strings.Contains(r.Seen[0], "\x1b") {
		t.Errorf("row holds %d lines, first of %d bytes", len(r.Seen), len(r.Seen[0]))
	}
}

func FuzzParse(f *testing.F) {
	b, err := whole(map[ID]State{Import: Red}, nil).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"version":1,"rows":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse("f", b)
		if err != nil {
			return
		}
		if r.State == Green && len(r.Holding()) > 0 {
			t.Errorf("green with %v", r.Holding())
		}
		ForGate(Stored{Result: r, Here: &Fingerprint{}}, now)
		for _, x := range r.Rows {
			if strings.Contains(strings.Join(x.Seen, ""), "\x1b") {
				t.Errorf("escape in %+v", x)
			}
		}
	})
}
