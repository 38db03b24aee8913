package budgets

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

var binary string

// generate makes the test program itself print a log: 1,000 lines a second.
const generate = "KDAPILOT_BUDGET_LOG"

func TestMain(m *testing.M) {
	if os.Getenv(generate) != "" {
		printLog()
		return
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "kdapilot-budgets-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "kdapilot")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "kdapilot/cmd/kdapilot")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

func printLog() {
	start := time.Now()
	for n := 0; ; n += 10 {
		for i := range 10 {
			fmt.Printf("line %7d  B1 S%d H16 D128 bf16 causal  us 123.4  a line as long as harness lines are\n", n+i, 128*(n%64+1))
		}
		time.Sleep(time.Until(start.Add(time.Duration(n+10) * time.Millisecond)))
	}
}

// home is an environment of its own.
func home(b *testing.B) (dir string, env []string) {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	return dir, []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir + "/config", "XDG_CACHE_HOME=" + dir + "/cache", "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
}

const loops = 40

// worktree is one of 600 files with 40 loops and a goal tracker of 100 KB.
func worktree(b *testing.B, dir string, env []string) (tree, state string) {
	b.Helper()
	tree = filepath.Join(dir, "tree")
	write := func(name, text string) {
		path := filepath.Join(tree, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 600 {
		write(fmt.Sprintf("kernels/part%02d/k%03d.py", i%20, i), strings.Repeat("x = 1\n", 40))
	}
	write(".gitignore", ".humanize*\n")
	for _, args := range [][]string{{"init", "-q", "-b", "rlcr/x"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-q", "-m", "first"}, {"branch", "rocm-kda-base/x"}} {
		cmd := exec.Command("git", append([]string{"-C", tree}, args...)...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	var tracker strings.Builder
	tracker.WriteString("# Goal Tracker\n\n## IMMUTABLE SECTION\n\n### Ultimate Goal\nFaster.\n\n### Acceptance Criteria\n\n- AC-1: passes\n\n---\n\n## MUTABLE SECTION\n\n#### Active Tasks\n| Task | Target AC | Status | Tag | Owner | Notes |\n|---|---|---|---|---|---|\n")
	for tracker.Len() < 100<<10 {
		fmt.Fprintf(&tracker, "| task %d of the plan, with words | AC-1 | pending | coding | claude | a note |\n", tracker.Len())
	}
	for i := range loops {
		base := fmt.Sprintf(".humanize/rlcr/2026-08-%02d_%02d-00-00/", i%28+1, i/28+8)
		name, n := "complete-state.md", 6
		if i == loops-13 { // the newest folder
			name = "state.md"
			state = filepath.Join(tree, base, name)
		}
		write(base+name, stateText(n))
		write(base+"goal-tracker.md", tracker.String())
		for r := range n {
			for _, kind := range []string{"prompt", "contract", "summary", "review-prompt"} {
				write(fmt.Sprintf("%sround-%d-%s.md", base, r, kind), "# "+kind+"\n\n"+strings.Repeat("Words of a round.\n", 40))
			}
			write(fmt.Sprintf("%sround-%d-review-result.md", base, r), "# Review\n\nMainline Progress Verdict: ADVANCED\n")
		}
	}
	return tree, state
}

func stateText(round int) string {
	return fmt.Sprintf("---\ncurrent_round: %d\nmax_iterations: 9999\ncodex_model: gpt-5.5\ncodex_effort: xhigh\ncodex_timeout: 5400\npush_every_round: false\nplan_file: .humanize/kernel-agent/refined-plan.md\nplan_tracked: false\nstart_branch: rlcr/x\nbase_branch: rocm-kda-base/x\nbase_commit: 68d36f462617685a434349b6b88f0f61161f91f7\nreview_started: false\nsession_id: s1\nstarted_at: 2026-08-21T08:12:44Z\n---\n", round)
}

func median(d []time.Duration) float64 { return quantile(d, 0.5) }

// quantile is in milliseconds.
func quantile(d []time.Duration, q float64) float64 {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)].Seconds() * 1000
}

func report(b *testing.B, d []time.Duration) {
	b.ReportMetric(median(d), "ms-median")
	b.ReportMetric(quantile(d, 0), "ms-least")
	b.ReportMetric(0, "ns/op")
}

// starts is how often a start is measured.
const starts = 15

func firstFrame(b *testing.B, mute bool) {
	dir, env := home(b)
	tree, _ := worktree(b, dir, env)
	for b.Loop() {
		var took []time.Duration
		for range starts {
			began := time.Now()
			s := screen.Start(b, screen.Options{Argv: []string{binary, tree}, Env: env, Dir: dir, Mute: mute})
			s.Wait("[1 overview]")
			took = append(took, time.Since(began))
			s.Wait("round 6/9999") // and it goes on to show what there is
			s.Signal(syscall.SIGTERM)
			s.Ended()
		}
		report(b, took)
	}
}

func BenchmarkFirstFrame(b *testing.B) { firstFrame(b, false) }

// BenchmarkFirstFrameMute is on a terminal that answers no question.
func BenchmarkFirstFrameMute(b *testing.B) { firstFrame(b, true) }

// cpu is the processor time of a process so far.
func cpu(b *testing.B, pid int) time.Duration {
	b.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(tasks) == 0 {
		b.Fatalf("no tasks of %d: %v", pid, err)
	}
	var total int64
	for _, t := range tasks {
		text, err := os.ReadFile(t)
		if err != nil {
			continue // a thread that ended
		}
		n, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		total += n
	}
	return time.Duration(total)
}

// reaped are the page faults of children that ended: no process, however short,
// comes and goes without adding to them.
func reaped(b *testing.B, pid int) int {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	n, err := strconv.Atoi(strings.Fields(rest)[8]) // cminflt
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// children counts how often a child process was seen while stop is open.
func children(pid int, stop chan struct{}) chan int {
	out := make(chan int, 1)
	go func() {
		seen := map[string]bool{}
		for {
			select {
			case <-stop:
				out <- len(seen)
				return
			case <-time.After(5 * time.Millisecond):
			}
			lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
			if err != nil {
				continue
			}
			for _, l := range lists {
				text, err := os.ReadFile(l)
				if err != nil {
					continue
				}
				for _, c := range strings.Fields(string(text)) {
					seen[c] = true
				}
			}
		}
	}()
	return out
}

// idle is how long the idle cockpit is watched.
const idle = 30 * time.Second

// BenchmarkIdle watches a cockpit on which nothing happens. A minute step of the
// ages may fall into the time.
func BenchmarkIdle(b *testing.B) {
	dir, env := home(b)
	tree, _ := worktree(b, dir, env)
	s := screen.Start(b, screen.Options{Argv: []string{binary, tree}, Env: env, Dir: dir})
	s.Wait("round 6/9999")
	time.Sleep(3 * time.Second)
	for b.Loop() {
		stop := make(chan struct{})
		kids := children(s.PID(), stop)
		faults, was, bytes, began := reaped(b, s.PID()), cpu(b, s.PID()), len(s.Raw()), time.Now()
		time.Sleep(idle)
		b.ReportMetric(float64(cpu(b, s.PID())-was)/float64(time.Since(began))*100, "%-of-a-core")
		b.ReportMetric(float64(len(s.Raw())-bytes), "bytes-written")
		close(stop)
		seen := <-kids
		if seen == 0 && reaped(b, s.PID()) != faults {
			seen = 1 // at least one, too short to be seen
		}
		b.ReportMetric(float64(seen), "processes")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkFileToScreen replaces the state of the loop as Humanize does.
func BenchmarkFileToScreen(b *testing.B) {
	fileToScreen(b, func(state, text string) (time.Time, error) {
		if err := os.WriteFile(state+".tmp", []byte(text), 0o644); err != nil {
			return time.Time{}, err
		}
		return time.Now(), os.Rename(state+".tmp", state)
	})
}

// BenchmarkFileInPlace writes the state over, as an editor may: for a moment the
// file is empty, and then half there.
func BenchmarkFileInPlace(b *testing.B) {
	fileToScreen(b, func(state, text string) (time.Time, error) {
		f, err := os.OpenFile(state, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return time.Time{}, err
		}
		_, err = f.WriteString(text[:len(text)/2])
		began := time.Now()
		_, err2 := f.WriteString(text[len(text)/2:])
		return began, errors.Join(err, err2, f.Close())
	})
}

// fileToScreen measures from a change, whose time change gives, to the screen.
func fileToScreen(b *testing.B, change func(state, text string) (time.Time, error)) {
	dir, env := home(b)
	tree, state := worktree(b, dir, env)
	s := screen.Start(b, screen.Options{Argv: []string{binary, tree}, Env: env, Dir: dir})
	s.Wait("round 6/9999")
	round := 100
	for b.Loop() {
		var took []time.Duration
		for i := range 24 {
			time.Sleep(400*time.Millisecond + time.Duration(i)*7*time.Millisecond)
			round++
			began, err := change(state, stateText(round))
			if err != nil {
				b.Fatal(err)
			}
			s.Wait(fmt.Sprintf("round %d/9999", round))
			took = append(took, time.Since(began))
		}
		report(b, took)
	}
}

// BenchmarkKeyToFrame presses keys at 200x60 while a run's log scrolls by.
func BenchmarkKeyToFrame(b *testing.B) {
	dir, env := home(b)
	tree, _ := worktree(b, dir, env)
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	s := screen.Start(b, screen.Options{Argv: []string{binary, tree}, Env: append(env, generate+"=1"), Dir: dir, Cols: 200, Rows: 60})
	s.Wait("round 6/9999")
	s.Keys("o:")
	s.Wait("palette")
	s.Type("run " + self)
	s.Keys("\r")
	s.Wait("run a command")
	time.Sleep(time.Second)
	s.Type("run")
	s.Keys("\r")
	s.Wait("[6 runs]", "line ")
	time.Sleep(2 * time.Second)
	for b.Loop() {
		var took []time.Duration
		was, bytes, began := cpu(b, s.PID()), len(s.Raw()), time.Now()
		time.Sleep(12 * time.Second)
		wall := time.Since(began)
		b.ReportMetric(float64(cpu(b, s.PID())-was)/float64(wall)*100, "%-of-a-core")
		b.ReportMetric(float64(len(s.Raw())-bytes)/wall.Seconds()/1024, "KB/s")
		for range 40 {
			time.Sleep(110 * time.Millisecond)
			began := time.Now()
			s.Keys("?")
			s.Wait("keys: runs")
			took = append(took, time.Since(began))
			time.Sleep(110 * time.Millisecond)
			began = time.Now()
			s.Keys("?")
			s.Gone("keys: runs")
			took = append(took, time.Since(began))
		}
		report(b, took)
		b.ReportMetric(quantile(took, 0.95), "ms-p95")
	}
	s.Keys("x")
	s.Wait("type ")
	time.Sleep(time.Second)
	s.Type("cancel")
	s.Keys("\r")
	s.Wait("cancelled")
}

// data is a folder of real files; the benchmark is skipped without it.
func data(b *testing.B, name string) string {
	root := os.Getenv("KDAPILOT_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	path, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		// A skipped benchmark is silent without -v.
		fmt.Printf("NOT MEASURED: %s: %v (set KDAPILOT_DATA)\n", b.Name(), err)
		b.SkipNow()
	}
	return path
}

// command runs a command several times and reports time and memory.
func command(b *testing.B, env []string, n int, exits []int, argv ...string) {
	for b.Loop() {
		var took, busy []time.Duration
		most := 0.0
		for range n {
			cmd := exec.Command(binary, argv...)
			cmd.Env = env
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			began := time.Now()
			err := cmd.Start()
			if err != nil {
				b.Fatal(err)
			}
			peak := peakOf(cmd.Process.Pid)
			err = cmd.Wait()
			took = append(took, time.Since(began))
			most = max(most, <-peak)
			busy = append(busy, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			if err != nil && !slices.Contains(exits, cmd.ProcessState.ExitCode()) {
				b.Fatalf("%v: %v\n%s", argv, err, out.Bytes())
			}
		}
		report(b, took)
		b.ReportMetric(median(busy), "cpu-ms")
		b.ReportMetric(most, "MB")
	}
}

// peakOf gives the greatest resident size of a process in MB, once it is gone.
// The kernel's own figure for an ended process counts the pages of the process
// that started it, so this one's is read while it lives.
func peakOf(pid int) chan float64 {
	out := make(chan float64, 1)
	go func() {
		most := 0.0
		for {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, rest, ok := strings.Cut(string(text), "VmHWM:")
			if err != nil || !ok {
				out <- most
				return
			}
			if n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
				most = max(most, n/1024)
			}
			time.Sleep(500 * time.Microsecond)
		}
	}()
	return out
}

func BenchmarkShowStalls(b *testing.B) {
	path := data(b, "att/moe_gemm/big")
	_, env := home(b)
	command(b, env, 15, nil, "show", "stalls", path, "--json")
}

func BenchmarkNumerics(b *testing.B) {
	_, env := home(b)
	command(b, env, 3, nil, "numerics")
}

func BenchmarkPreflight(b *testing.B) {
	dir, env := home(b)
	tree, _ := worktree(b, dir, env)
	command(b, env, 3, []int{1, 2}, "preflight", "--no-save", tree)
}

// BenchmarkNew makes the worktree of a task from a repository of 600 files.
func BenchmarkNew(b *testing.B) {
	dir, env := home(b)
	tree, _ := worktree(b, dir, env)
	n := 0
	for b.Loop() {
		var took []time.Duration
		for range 5 {
			n++
			cmd := exec.Command(binary, "new", "--family", "flashattn", "--slug", fmt.Sprintf("t%d", n), "--base", "rlcr/x", "--host", tree, "--workspace", dir, "--no-preflight")
			cmd.Env = env
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			took = append(took, time.Since(began))
		}
		report(b, took)
	}
}

// BenchmarkBinary weighs the static binary and looks what is in it.
func BenchmarkBinary(b *testing.B) {
	for b.Loop() {
		st, err := os.Stat(binary)
		if err != nil {
			b.Fatal(err)
		}
		out, err := exec.Command("go", "version", "-m", binary).Output()
		if err != nil {
			b.Fatal(err)
		}
		old := 0
		for _, path := range []string{"github.com/charmbracelet/bubbletea", "github.com/charmbracelet/bubbles", "github.com/charmbracelet/lipgloss", "github.com/muesli/termenv"} {
			old += strings.Count(string(out), path+"\t")
		}
		b.ReportMetric(float64(st.Size())/1e6, "MB")
		b.ReportMetric(float64(old), "v1-packages")
		b.ReportMetric(float64(libraries(b)), "libraries")
		b.ReportMetric(0, "ns/op")
	}
}

// libraries counts what the binary would load at its start: a static one nothing,
// not even an interpreter.
func libraries(b *testing.B) int {
	f, err := elf.Open(binary)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		b.Fatal(err)
	}
	n := len(libs)
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			n++
		}
	}
	return n
}
