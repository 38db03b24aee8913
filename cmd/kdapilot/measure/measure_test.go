package measure

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/bench"
	"kdapilot/engine/interleave"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
)

func TestRunsThatDoNotCount(t *testing.T) {
	ok := runs.Run{ID: "ok", State: runs.Ended, Result: &runs.Result{}}
	beside := runs.Run{ID: "beside", State: runs.Ended, Result: &runs.Result{Foreign: []runs.Foreign{{GPU: 2, PID: 77, Command: "miner", When: "during"}}}}
	silent := runs.Run{ID: "silent", State: runs.Ended, Dir: t.TempDir()}
	old := runs.Run{ID: "old", State: runs.Ended, Dir: t.TempDir()} // too old for the cockpit to read
	const log = "   B      S    H  Hkv    D dtype   causal kv_sp KVLayout                  Path                 | Status |   MaxErr   MinCos |   Time(us)   TFLOPS\n" +
		"----\n" +
		"   1   1024   16   16  128 bf16    causal     1 dense                                          |   PASS | 3.91e-03  0.99999 |      100.0      85.9\n" +
		"All tests PASSED\n"
	if err := os.WriteFile(filepath.Join(old.Dir, "stdout.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	snap := &session.Snapshot{Runs: []runs.Run{ok, beside, silent, old}, Sets: []session.RowSet{
		{ID: "ok", Run: &ok, Result: &bench.Result{}}, {ID: "beside", Run: &beside, Result: &bench.Result{}},
	}}
	for _, tt := range []struct {
		id     runs.ID
		why    string
		counts bool
	}{
		{"ok", "", true},
		{"beside", "process 77 miner used GPU 2 during the run", false},
		{"silent", "no rows", true},
		{"old", "", true},
		{"gone", "folder is gone", true},
	} {
		set, why, counts := setOf(snap, interleave.Step{Run: tt.id, Done: true})
		if (set == nil) != (tt.why != "") || !strings.Contains(why, tt.why) || counts != tt.counts {
			t.Errorf("%s: %v %q %v", tt.id, set, why, counts)
		}
	}
}

// A run that was started just before a kill is found by its label; one that did
// not come to its end is made again.
func TestRunsOfAStepAreFound(t *testing.T) {
	snap := &session.Snapshot{Runs: []runs.Run{
		{ID: "r3", State: runs.Running, Manifest: runs.Manifest{Sequence: "a/2"}},
		{ID: "r2", State: runs.Cancelled, Manifest: runs.Manifest{Sequence: "a/1"}},
		{ID: "r1", State: runs.Ended, Manifest: runs.Manifest{Sequence: "a/1"}},
		{ID: "r0", State: runs.Lost},
	}}
	if got := left(snap, "a/2"); got != "r3" || !going(snap, got) {
		t.Errorf("%q", got)
	}
	if got := left(snap, "a/1"); got != "r2" || going(snap, got) {
		t.Errorf("%q", got)
	}
	if got := left(snap, "b/1"); got != "" || going(snap, got) || going(snap, "r0") {
		t.Errorf("%q", got)
	}
}

func TestSequencesOnDisk(t *testing.T) {
	tree := t.TempDir()
	side := interleave.Side{Worktree: tree, Head: "1"}
	q := interleave.New("x-1", interleave.AB, side, side, 2, 1, time.Now())
	if err := save(&q); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(tree, "x-1"); err != nil || len(got.Steps) != 4 {
		t.Errorf("%+v %v", got, err)
	}
	for _, id := range []string{"../x-1", "", ".", "none"} {
		if _, err := Load(tree, id); err == nil {
			t.Errorf("%q is loaded", id)
		}
	}
	release, err := hold(&q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold(&q); !errors.Is(err, ErrHeld) {
		t.Errorf("held twice: %v", err)
	}
	release()
	release, err = hold(&q)
	if err != nil {
		t.Fatal(err)
	}
	release()
	// A link in the place of the lock is not followed.
	q.ID = "x-2"
	if err := os.Symlink(filepath.Join(tree, "elsewhere"), File(tree, "x-2")+".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := hold(&q); err == nil {
		t.Error("a link was followed")
	}
}

func TestPace(t *testing.T) {
	var p pace
	if got := p.words(9); got != "" {
		t.Errorf("before the first run: %q", got)
	}
	at := time.Date(2026, 8, 21, 0, 0, 0, 0, time.UTC)
	for _, m := range []int{10, 14} {
		p.add(&runs.Run{Manifest: runs.Manifest{Started: at}, Result: &runs.Result{Ended: at.Add(time.Duration(m) * time.Minute)}})
	}
	if got := p.words(8); got != ", about 1h36m left" {
		t.Errorf("%q", got)
	}
}

func TestBaseWords(t *testing.T) {
	for _, tt := range []struct {
		base, cand interleave.Side
		want       string
	}{
		{interleave.Side{Head: "locked"}, interleave.Side{Head: "c"}, ""},
		{interleave.Side{Head: "yesterday"}, interleave.Side{Head: "c"}, "no comparison with the locked baseline"},
		{interleave.Side{Head: "locked", Dirty: "x"}, interleave.Side{Head: "c"}, "the base has uncommitted files"},
		{interleave.Side{Head: "locked"}, interleave.Side{Head: "c", Dirty: "x"}, "the candidate has uncommitted files"},
		{interleave.Side{Head: "locked"}, interleave.Side{Head: "locked"}, "same code"},
	} {
		got := baseWords(&interleave.Sequence{Base: tt.base, Cand: tt.cand}, "locked")
		if (tt.want == "") != (len(got) == 0) || !strings.Contains(strings.Join(got, " "), tt.want) {
			t.Errorf("%+v: %q, want %q", tt.base, got, tt.want)
		}
	}
	if got := baseWords(&interleave.Sequence{Base: interleave.Side{Head: "a"}, Cand: interleave.Side{Head: "b"}}, ""); got != nil {
		t.Errorf("nothing locked: %q", got)
	}
}
