package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kdapilot/engine/runs"
)

// TestMain lets the test binary play the supervisor, and the cockpit that gets
// killed, in processes of their own.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == SuperviseCommand {
		if err := SuperviseGuarded(os.Args[2], testGuard()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(70)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "__cockpit" {
		cockpit(os.Args[2])
	}
	goleak.VerifyTestMain(m)
}

// testGuard is a stand-in that reports the process named in the environment, and
// every process that it is told is ours.
func testGuard() Guard {
	name := os.Getenv("RUN_TEST_INTRUDER")
	if name == "" {
		return Guard{}
	}
	clock := 2100.0
	return Guard{Every: 50 * time.Millisecond, SampleEvery: 20 * time.Millisecond, Sample: func(_ context.Context, gpus []runs.GPU) ([]runs.GPUSample, error) {
		if name == "broken" {
			return nil, errors.New("no tool")
		}
		clock += 10
		return []runs.GPUSample{{GPU: gpus[0].Index, ClockMHz: &clock, PerfLevel: "auto"}}, nil
	}, Look: func(_ context.Context, gpus []runs.GPU, ours func(int) bool) ([]runs.Foreign, error) {
		if name == "broken" {
			return nil, errors.New("no tool")
		}
		var out []runs.Foreign
		for _, pid := range []int{os.Getpid(), 1} {
			if !ours(pid) {
				out = append(out, runs.Foreign{GPU: gpus[0].Index, PID: pid, Command: name})
			}
		}
		return out, nil
	}}
}

// cockpit starts the spec read from a file, prints the run folder and hangs.
func cockpit(specFile string) {
	b, err := os.ReadFile(specFile)
	var req struct {
		Spec    Spec
		LockDir string
	}
	if err == nil {
		err = json.Unmarshal(b, &req)
	}
	if err == nil {
		var r runs.Run
		if r, err = New(Local{LockDir: req.LockDir}).Start(context.Background(), req.Spec); err == nil {
			fmt.Println(r.Dir)
			time.Sleep(time.Hour)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// world is a worktree and a lock folder of its own.
type world struct {
	t       *testing.T
	tree    string
	lockDir string
	runner  *Runner
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, tree: t.TempDir(), lockDir: filepath.Join(t.TempDir(), "locks")}
	w.runner = New(Local{LockDir: w.lockDir, Report: func(err error) { t.Error(err) }})
	return w
}

func (w *world) spec(script string) Spec {
	return Spec{Preset: "smoke", Kind: runs.Harness, Worktree: w.tree, Argv: []string{"sh", "-c", script}, Grace: 500 * time.Millisecond}
}

func (w *world) start(s Spec) runs.Run {
	w.t.Helper()
	r, err := w.runner.Start(context.Background(), s)
	if err != nil {
		w.t.Fatalf("start: %v", err)
	}
	w.t.Cleanup(func() { w.stop(r.Dir) })
	return r
}

// stop makes sure no process of a test outlives it.
func (w *world) stop(dir string) {
	_ = w.runner.Cancel(context.Background(), dir, "test is over")
	w.await(dir, func(r runs.Run) bool {
		return r.State.Final() && !r.ChildAlive && (r.Status == nil || !alive(r.Status.Supervisor))
	})
}

func (w *world) await(dir string, ok func(runs.Run) bool) runs.Run {
	w.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		r, err := w.runner.Read(dir)
		if err != nil {
			w.t.Fatalf("read: %v", err)
		}
		if ok(r) {
			return r
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(dir, SupervisorLog))
			w.t.Fatalf("run stuck in state %q (%s), supervisor said: %s", r.State, r.Why, log)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *world) end(dir string) runs.Run {
	w.t.Helper()
	return w.await(dir, func(r runs.Run) bool { return r.State.Final() })
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRunToTheEnd(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.tree, "judge.py"), []byte("gate\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cells := 3
	s := w.spec("echo out; echo err >&2; echo $PYTHONUNBUFFERED $HIP_VISIBLE_DEVICES $X $ROCR_VISIBLE_DEVICES $FLYDSL_RUNTIME_CACHE_DIR; exit 3")
	s.GPUs, s.Env, s.Judges, s.ExpectedCells = []runs.GPU{{Index: 2}}, map[string]string{"X": "y"}, []string{"judge.py"}, &cells
	t.Setenv("ROCR_VISIBLE_DEVICES", "7")
	t.Setenv("SECRET_TOKEN", "hide")
	r := w.start(s)
	r = w.end(r.Dir)
	if r.State != runs.Ended || r.Result.Exit == nil || *r.Result.Exit != 3 || r.Result.Signal != "" || r.Partial {
		t.Errorf("result %+v", r.Result)
	}
	if got, want := read(t, r.Dir, StdoutFile), "out\n1 2 y "+r.Dir+"/jit-cache\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got := read(t, r.Dir, StderrFile); got != "err\n" {
		t.Errorf("stderr %q", got)
	}
	m := read(t, r.Dir, ManifestFile)
	if strings.Contains(m, "hide") {
		t.Error("the manifest holds a secret of the environment")
	}
	if h := r.Manifest.Harness; len(h) != 1 || h[0].Path != "judge.py" || h[0].Size != 5 || len(h[0].SHA256) != 64 {
		t.Errorf("judge hashes %+v", h)
	}
	if bad := Verify(r); bad != nil {
		t.Errorf("fresh run does not verify: %v", bad)
	}
	if st, err := os.Stat(filepath.Join(r.Dir, StdoutFile)); err != nil || st.Mode().Perm() != 0o444 {
		t.Errorf("log not closed: %v %v", st.Mode(), err)
	}
	if err := errors.Join(os.Chmod(filepath.Join(r.Dir, StdoutFile), 0o644), os.WriteFile(filepath.Join(r.Dir, StdoutFile), []byte("forged"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if bad := Verify(r); len(bad) != 1 || !strings.Contains(bad[0], StdoutFile) {
		t.Errorf("forged log not found: %v", bad)
	}
	if err := w.runner.Cancel(context.Background(), r.Dir, ""); !errors.Is(err, ErrFinal) {
		t.Errorf("cancel of an ended run: %v", err)
	}
}

func TestSignalEndsRun(t *testing.T) {
	w := newWorld(t)
	r := w.end(w.start(w.spec("echo half; kill -ABRT $$")).Dir)
	if r.State != runs.Ended || r.Result.Exit != nil || r.Result.Signal != "SIGABRT" || *r.Result.ShellExit() != 134 || !r.Partial {
		t.Errorf("state %s result %+v", r.State, r.Result)
	}
}

func TestCommandNotFound(t *testing.T) {
	w := newWorld(t)
	s := w.spec("")
	s.Argv = []string{"no-such-command-here"}
	r := w.end(w.start(s).Dir)
	if r.State != runs.Failed || !strings.Contains(r.Why, "no-such-command-here") {
		t.Errorf("state %s why %q", r.State, r.Why)
	}
}

func TestRunEnvIsSourced(t *testing.T) {
	w := newWorld(t)
	script := "export PYTHONPATH=\"$PWD/python:${PYTHONPATH:-none}\"\nexport HIP_VISIBLE_DEVICES=5\nexport ROCR_VISIBLE_DEVICES=4\n"
	if err := os.WriteFile(filepath.Join(w.tree, "runenv.sh"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", "before")
	s := w.spec("echo $PYTHONPATH; echo $HIP_VISIBLE_DEVICES-$ROCR_VISIBLE_DEVICES; echo $0 $#")
	s.GPUs = []runs.GPU{{Index: 0}}
	s.Argv = append(s.Argv, "arg 0", "a b", "$(touch x)")
	r := w.end(w.start(s).Dir)
	want := realPath(w.tree) + "/python:before\n0-\narg 0 2\n"
	if got := strings.ReplaceAll(read(t, r.Dir, StdoutFile), w.tree, realPath(w.tree)); got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if r.Manifest.RunEnv == nil || r.Manifest.Inherited["PYTHONPATH"] != "before" {
		t.Errorf("manifest %+v", r.Manifest)
	}
	if err := os.WriteFile(filepath.Join(w.tree, "runenv.sh"), []byte("return 9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r = w.end(w.start(s).Dir)
	if r.Result.Exit == nil || *r.Result.Exit != 78 || !strings.Contains(read(t, r.Dir, StderrFile), "status 9") {
		t.Errorf("failing runenv.sh: %+v %q", r.Result, read(t, r.Dir, StderrFile))
	}
}

func TestOneGPUNeverTwice(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(w.tree, "inside")
	// The second to enter fails to make the folder and says so.
	script := "mkdir " + mark + " || { echo TWICE; exit 9; }; sleep 0.3; rmdir " + mark
	s := w.spec(script)
	s.GPUs = []runs.GPU{{Index: 0}}
	first := w.start(s)
	_, err := w.runner.Start(context.Background(), s)
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Holder.Run != first.ID || err.Error() != "GPU 0 busy: run "+string(first.ID)+" of worktree "+w.tree {
		t.Fatalf("second start: %v", err)
	}
	if list, err := w.runner.List(w.tree); err != nil || len(list) != 1 {
		t.Fatalf("a refused run left a folder: %v %v", list, err)
	}
	s.Queue = true
	var queued []runs.Run
	for range 3 {
		queued = append(queued, w.start(s))
	}
	r := w.await(queued[0].Dir, func(r runs.Run) bool { return r.State != runs.Queued || r.Why != "starting" })
	if r.State == runs.Queued && !strings.HasPrefix(r.Why, "GPU 0 busy: ") {
		t.Errorf("queued run says %q", r.Why)
	}
	other := s
	other.GPUs, other.Queue, other.Argv = []runs.GPU{{Index: 1}}, false, []string{"true"}
	if r := w.end(w.start(other).Dir); r.State != runs.Ended {
		t.Errorf("another GPU was not free: %+v", r)
	}
	for _, q := range append(queued, first) {
		if r := w.end(q.Dir); r.Result.Exit == nil || *r.Result.Exit != 0 {
			t.Errorf("two runs at once: %+v %s", r.Result, read(t, r.Dir, StdoutFile))
		}
	}
}

func TestCancelReachesTheWholeGroup(t *testing.T) {
	w := newWorld(t)
	// The child ignores TERM; a grandchild left its session.
	r := w.start(w.spec("trap '' TERM; setsid sleep 300 & echo row 1; sleep 300"))
	w.await(r.Dir, func(r runs.Run) bool { return r.State == runs.Running && r.StdoutBytes > 0 })
	if err := w.runner.Cancel(context.Background(), r.Dir, "changed my mind"); err != nil {
		t.Fatal(err)
	}
	r = w.end(r.Dir)
	if r.State != runs.Cancelled || !r.Partial || r.Why != "changed my mind" || r.Result.Signal != "SIGKILL" {
		t.Errorf("state %s why %q result %+v", r.State, r.Why, r.Result)
	}
	if got := read(t, r.Dir, StdoutFile); got != "row 1\n" {
		t.Errorf("partial output lost: %q", got)
	}
	if alive(*r.Status.Child) {
		t.Error("child survived")
	}
	if left := offspring(r.Status.Supervisor.PID); len(left) > 0 {
		t.Errorf("processes survived: %+v", left)
	}
}

func TestCancelWhileQueued(t *testing.T) {
	w := newWorld(t)
	s := w.spec("sleep 300")
	s.GPUs, s.Queue = []runs.GPU{{Index: 0}}, true
	w.start(s)
	second := w.start(s)
	if err := w.runner.Cancel(context.Background(), second.Dir, "no"); err != nil {
		t.Fatal(err)
	}
	if r := w.end(second.Dir); r.State != runs.Cancelled || r.Why != "before it started; no" {
		t.Errorf("state %s why %q", r.State, r.Why)
	}
}

func TestLeftBehindIsEnded(t *testing.T) {
	w := newWorld(t)
	r := w.end(w.start(w.spec("sleep 300 & setsid sleep 301 & echo done")).Dir)
	if r.State != runs.Ended || *r.Result.Exit != 0 || r.Result.LeftBehind == 0 {
		t.Errorf("result %+v", r.Result)
	}
}

// TestChildIsNotChanged compares what a child inherits with a child of our own:
// ignored signals would change what pipelines in a test script do.
func TestChildIsNotChanged(t *testing.T) {
	const script = "grep -E 'SigIgn|SigBlk' /proc/self/status; ulimit -n; umask"
	want, err := exec.Command("sh", "-c", script).Output()
	if err != nil {
		t.Skip(err)
	}
	w := newWorld(t)
	r := w.end(w.start(w.spec(script)).Dir)
	if got := read(t, r.Dir, StdoutFile); got != string(want) {
		t.Errorf("under the supervisor:\n%s\ndirectly:\n%s", got, want)
	}
}

func TestForeignProcesses(t *testing.T) {
	for name, want := range map[string]struct{ yes, known bool }{"": {}, "broken": {}, "miner": {true, true}} {
		t.Setenv("RUN_TEST_INTRUDER", name)
		w := newWorld(t)
		s := w.spec("sleep 0.2")
		s.GPUs = []runs.GPU{{Index: 3}}
		r := w.end(w.start(s).Dir)
		yes, known := r.Result.Contaminated()
		if yes != want.yes || known != want.known || (r.Result.ForeignWhy == "") == (name != "miner") {
			t.Errorf("%q: contaminated %v known %v result %+v", name, yes, known, r.Result)
		}
		if n := len(r.Result.Samples); (n >= 3) != (name == "miner") || (r.Result.SamplesWhy == "") != (name == "miner") {
			t.Errorf("%q: %d samples, %q", name, n, r.Result.SamplesWhy)
		}
		if name != "miner" {
			continue
		}
		if lines := strings.Count(read(t, r.Dir, SamplesFile), "\n"); lines != len(r.Result.Samples) {
			t.Errorf("%d lines of samples, %d in the result", lines, len(r.Result.Samples))
		}
		if !slices.ContainsFunc(r.Result.Files, func(h runs.Hashed) bool { return h.Path == SamplesFile }) {
			t.Errorf("the samples file is not bound by the result: %v", r.Result.Files)
		}
		if least, most, ok := r.Result.Clock(); !ok || least < 2100 || most < least {
			t.Errorf("clock %v..%v %v", least, most, ok)
		}
		when := map[string]bool{}
		for _, f := range r.Result.Foreign {
			when[f.When] = true
			if f.PID != 1 || f.GPU != 3 || f.Command != "miner" {
				t.Errorf("sighting %+v", f)
			}
		}
		if len(when) != 3 {
			t.Errorf("looked only %v", when)
		}
	}
}

func TestManyStartersOneWinner(t *testing.T) {
	w := newWorld(t)
	s := w.spec("sleep 300")
	s.GPUs = []runs.GPU{{Index: 0}}
	type outcome struct {
		r   runs.Run
		err error
	}
	all := make(chan outcome)
	for range 8 {
		go func() {
			r, err := w.runner.Start(context.Background(), s)
			all <- outcome{r, err}
		}()
	}
	won := 0
	for range 8 {
		o := <-all
		var busy *BusyError
		switch {
		case o.err == nil:
			won++
			t.Cleanup(func() { w.stop(o.r.Dir) })
		case !errors.As(o.err, &busy):
			t.Errorf("neither started nor refused: %v", o.err)
		}
	}
	if won != 1 {
		t.Errorf("%d runs on one GPU", won)
	}
}

func TestCapture(t *testing.T) {
	w := newWorld(t)
	old := filepath.Join(w.tree, "fmha_perf_OLD.csv")
	if err := os.WriteFile(old, []byte("previous run\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := w.spec("echo a,b > fmha_perf_X.csv; echo c > other.csv")
	s.Captures = []string{"fmha_*.csv"}
	r := w.end(w.start(s).Dir)
	if got := read(t, r.Dir, "fmha_perf_X.csv"); got != "a,b\n" {
		t.Errorf("captured %q", got)
	}
	if len(r.Result.Captured) != 1 || len(r.Result.Stale) != 1 || r.Result.Stale[0] != "fmha_perf_OLD.csv" {
		t.Errorf("captured %v stale %v", r.Result.Captured, r.Result.Stale)
	}
	if _, err := os.Stat(old); err != nil {
		t.Errorf("a file of another run was taken: %v", err)
	}
	if _, err := os.Stat(filepath.Join(w.tree, "fmha_perf_X.csv")); err == nil {
		t.Error("the CSV was copied, not moved")
	}
}

func TestCapturesShareNoFolder(t *testing.T) {
	w := newWorld(t)
	s := w.spec("sleep 300")
	s.Captures, s.GPUs = []string{"*.csv"}, []runs.GPU{{Index: 0}}
	w.start(s)
	s.GPUs[0].Index = 1
	var busy *BusyError
	if _, err := w.runner.Start(context.Background(), s); !errors.As(err, &busy) || !strings.HasPrefix(err.Error(), "folder ") {
		t.Errorf("two runs write the same CSV names: %v", err)
	}
}

// TestCockpitKilled kills the starter hard, mid-run, and re-attaches.
func TestCockpitKilled(t *testing.T) {
	w := newWorld(t)
	s := w.spec("i=0; while [ $i -lt 400 ]; do echo line $i; i=$((i+1)); [ $((i%10)) = 0 ] && sleep 0.02; done")
	s.GPUs = []runs.GPU{{Index: 0}}
	b, err := json.Marshal(map[string]any{"Spec": s, "LockDir": w.lockDir})
	if err != nil {
		t.Fatal(err)
	}
	specFile := filepath.Join(t.TempDir(), "spec")
	if err := os.WriteFile(specFile, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "__cockpit", specFile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(line[:n]))
	t.Cleanup(func() { w.stop(dir) })

	stdout, _ := Attach(dir)
	lines := NewLines(1 << 10)
	var got []string
	follow := func() {
		for {
			c, err := stdout.ReadNew(100)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range lines.Feed(c) {
				got = append(got, string(l.Bytes))
			}
			if !c.More {
				return
			}
		}
	}
	for len(got) < 20 {
		follow()
		time.Sleep(time.Millisecond)
	}
	// The whole session of the cockpit goes, as when a terminal is closed.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGHUP)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if r, err := w.runner.Read(dir); err != nil || r.State != runs.Running {
		t.Fatalf("right after the kill: %s %v", r.State, err)
	}
	if _, err := w.runner.Start(context.Background(), s); err == nil {
		t.Error("the GPU looked free after the cockpit was killed")
	}
	r := w.end(dir)
	follow()
	if r.State != runs.Ended || *r.Result.Exit != 0 || len(got) != 400 || got[0] != "line 0" || got[399] != "line 399" {
		t.Errorf("state %s, %d lines", r.State, len(got))
	}
}

func TestLostSupervisor(t *testing.T) {
	w := newWorld(t)
	s := w.spec("echo row; exec sleep 300")
	s.GPUs = []runs.GPU{{Index: 0}}
	r := w.start(s)
	r = w.await(r.Dir, func(r runs.Run) bool { return r.State == runs.Running && r.StdoutBytes > 0 })
	if err := syscall.Kill(r.Status.Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r = w.await(r.Dir, func(r runs.Run) bool { return r.State == runs.Lost })
	if !r.Partial || !r.ChildAlive || r.Result != nil {
		t.Errorf("lost run: %+v", r)
	}
	// The orphan still occupies the GPU.
	if _, err := w.runner.Start(context.Background(), s); err == nil || !strings.Contains(err.Error(), string(r.ID)) {
		t.Errorf("GPU with an orphan on it was given away: %v", err)
	}
	if err := w.runner.Cancel(context.Background(), r.Dir, "orphan"); err != nil {
		t.Fatal(err)
	}
	r = w.await(r.Dir, func(r runs.Run) bool { return !r.ChildAlive })
	if r.State != runs.Lost || !r.Partial {
		t.Errorf("after the orphan ended: %s", r.State)
	}
	w.end(w.start(Spec{Worktree: w.tree, Argv: []string{"true"}, GPUs: s.GPUs, Queue: true}).Dir)
}

func TestStartRefusesBadSpecs(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*Spec){
		"no command":      func(s *Spec) { s.Argv = nil },
		"relative tree":   func(s *Spec) { s.Worktree = "x" },
		"missing tree":    func(s *Spec) { s.Worktree = "/no/such/folder" },
		"bad pattern":     func(s *Spec) { s.Captures = []string{"../*.csv"} },
		"nul":             func(s *Spec) { s.Argv = []string{"a\x00b"} },
		"negative gpu":    func(s *Spec) { s.GPUs = []runs.GPU{{Index: -1}} },
		"missing judge":   func(s *Spec) { s.Judges = []string{"none.py"} },
		"missing runenv":  func(s *Spec) { s.RunEnv = "none.sh" },
		"bad variable":    func(s *Spec) { s.Env = map[string]string{"A=B": "x"} },
		"assigned as cmd": func(s *Spec) { s.Argv = []string{"A=b"} },
	} {
		s := w.spec("true")
		change(&s)
		if _, err := w.runner.Start(context.Background(), s); err == nil {
			t.Errorf("%s: started", name)
		}
	}
	if entries, _ := os.ReadDir(Folder(w.tree)); len(entries) != 0 {
		t.Errorf("refused specs left %d folders", len(entries))
	}
}

func TestReadStrangeFolders(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(Folder(w.tree), "20260101-000000-x-0000")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.runner.Read(dir); !errors.Is(err, ErrNoRun) {
		t.Errorf("empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), []byte("{\n\"version\": \x1b[31m"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := w.runner.Read(dir)
	if err != nil || r.State != runs.Unreadable || !strings.Contains(r.Why, "line 2") || strings.Contains(r.Why, "\x1b") {
		t.Errorf("torn manifest: %+v %v", r, err)
	}
	if list, err := w.runner.List(w.tree); err != nil || len(list) != 1 {
		t.Errorf("an unreadable run vanished from the list: %v %v", list, err)
	}
	if _, err := w.runner.Find(w.tree, "../x"); !errors.Is(err, ErrNoRun) {
		t.Errorf("id with a path: %v", err)
	}
}

func TestTailerAndLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	tail := NewTailer(path, 0)
	if c, err := tail.ReadNew(10); err != nil || len(c.Bytes) != 0 {
		t.Fatalf("missing file: %+v %v", c, err)
	}
	long := bytes.Repeat([]byte("x"), 1<<20)
	data := append(append([]byte("one\r\ntwo\n"), long...), "\nhalf"...)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	l := NewLines(1000)
	var got []Line
	for {
		c, err := tail.ReadNew(4096)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l.Feed(c)...)
		if !c.More {
			break
		}
	}
	if len(got) != 3 || string(got[0].Bytes) != "one" || got[1].Offset != 5 || got[2].Full != 1<<20 || len(got[2].Bytes) != 1000 {
		t.Fatalf("%d lines", len(got))
	}
	if rest, ok := l.Rest(); !ok || string(rest.Bytes) != "half" || rest.Offset != int64(len(data)-4) {
		t.Errorf("rest %+v", rest)
	}
	if err := os.WriteFile(path, []byte("new\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := tail.ReadNew(100)
	if err != nil || !c.Restarted || string(c.Bytes) != "new\n" {
		t.Errorf("shorter file: %+v %v", c, err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), 3)
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		step = 1 + max(step, 0)%64
		l := NewLines(1 << 20)
		var back []byte
		for i := 0; i < len(b); i += step {
			for _, line := range l.Feed(Chunk{Bytes: b[i:min(i+step, len(b))], Offset: int64(i)}) {
				if line.Offset != int64(len(back)) {
					t.Fatalf("line starts at %d, expected %d", line.Offset, len(back))
				}
				back = append(append(back, b[line.Offset:line.Offset+line.Full]...), '\n')
			}
		}
		if rest, ok := l.Rest(); ok {
			back = append(back, rest.Bytes...)
			if bytes.HasSuffix(b, []byte{'\r'}) {
				back = append(back, '\r')
			}
		}
		if !bytes.Equal(back, b) {
			t.Fatalf("lines %q do not make up %q", back, b)
		}
	})
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 1 1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := parseStat(7, b); err == nil && p.pid != 7 {
			t.Error("pid lost")
		}
	})
}

func BenchmarkList200(b *testing.B) {
	tree := b.TempDir()
	r := New(Local{})
	code := 0
	for range 200 {
		m, err := r.manifest(Spec{Preset: "smoke", Argv: []string{"true"}, Worktree: tree}, time.Now())
		if err != nil {
			b.Fatal(err)
		}
		dir, err := makeFolder(tree, &m)
		res := runs.Result{Version: runs.FormatVersion, ID: m.ID, State: runs.Ended, Exit: &code, Started: m.Started}
		if err = errors.Join(err, writeRecord(dir, ManifestFile, m), writeRecord(dir, ResultFile, res)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if list, err := r.List(tree); err != nil || len(list) != 200 {
			b.Fatal(len(list), err)
		}
	}
}

func BenchmarkTail100MB(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log")
	line := strings.Repeat("x", 119) + "\n"
	if err := os.WriteFile(path, bytes.Repeat([]byte(line), 100<<20/120), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(100 << 20)
	for b.Loop() {
		t, l, n := NewTailer(path, 0), NewLines(4<<10), 0
		for {
			c, err := t.ReadNew(ChunkBytes)
			if err != nil {
				b.Fatal(err)
			}
			n += len(l.Feed(c))
			if !c.More {
				break
			}
		}
		if n != 100<<20/120 {
			b.Fatalf("%d lines", n)
		}
	}
}

// BenchmarkStart measures a whole run of a command that does nothing: manifest,
// supervisor, child, hashes, result.
func BenchmarkStart(b *testing.B) {
	tree, r := b.TempDir(), New(Local{LockDir: filepath.Join(b.TempDir(), "l")})
	var begun time.Duration
	for b.Loop() {
		at := time.Now()
		one, err := r.Start(context.Background(), Spec{Argv: []string{"true"}, Worktree: tree, GPUs: []runs.GPU{{Index: 0}}, Queue: true})
		if err != nil {
			b.Fatal(err)
		}
		begun += time.Since(at)
		for !one.State.Final() {
			time.Sleep(time.Millisecond)
			if one, err = r.Read(one.Dir); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(begun.Microseconds())/1000/float64(b.N), "start-ms")
}
