package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"kdapilot/cmd/kdapilot/ready"
	"kdapilot/engine/preflight"
	"kdapilot/probes/demo"
	"kdapilot/probes/host"
	"kdapilot/probes/worktree"
)

// workspace is a folder with a host checkout FlyDSL-lab in it, a remote
// "upstream" it was cloned from, and stub tools on PATH.
type workspace struct {
	t                   testing.TB
	dir, lab, up, stubs string
}

func newWorkspace(t testing.TB, files int) *workspace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{t: t, dir: dir, lab: filepath.Join(dir, "FlyDSL-lab"), up: filepath.Join(dir, "upstream"), stubs: filepath.Join(dir, "stubs")}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "home/config"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "home/cache"))
	t.Setenv("CLAUDE_SKILLS_DIR", "")
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("PATH", w.stubs+":/usr/bin:/bin")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	w.write("home/.gitconfig", "[user]\nname = t\nemail = t@example.invalid\n[init]\ndefaultBranch = main\n")
	w.write("upstream/.gitignore", "*.pyc\n")
	w.write("upstream/tests/conftest.py", "import os\nos.environ.get('FLY_BUILD_DIR')\n")
	w.write("upstream/scripts/run_tests.sh", "echo\n")
	w.write("upstream/python/flydsl/__init__.py", "")
	for i := range files {
		w.write(fmt.Sprintf("upstream/src/d%d/f%d.cpp", i%20, i), "int x;\n")
	}
	w.git(w.up, "init", "-q")
	w.git(w.up, "add", "-A")
	w.git(w.up, "commit", "-qm", "first")
	w.git(dir, "clone", "-q", w.up, w.lab)
	w.git(w.lab, "remote", "rename", "origin", "upstream")
	w.stub("python3", "echo 'No module named flydsl._mlir' >&2; exit 1")
	w.stub("codex", "echo OK")
	return w
}

func (w *workspace) write(path, content string) {
	w.t.Helper()
	full := filepath.Join(w.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workspace) stub(name, body string) {
	w.t.Helper()
	w.write("stubs/"+name, "#!/bin/sh\n"+body+"\n")
	if err := os.Chmod(filepath.Join(w.stubs, name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workspace) git(dir string, args ...string) string {
	w.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// run executes a command built by build and gives its output and exit code.
func (w *workspace) run(build func(streams) *cobra.Command, args ...string) (out, errs string, code int) {
	w.t.Helper()
	var files [2]*os.File
	for i := range files {
		f, err := os.CreateTemp(w.dir, "out")
		if err != nil {
			w.t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	cmd := build(streams{in: os.Stdin, out: files[0], err: files[1]})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(w.t.Context())
	a, errA := os.ReadFile(files[0].Name())
	b, errB := os.ReadFile(files[1].Name())
	if errA != nil || errB != nil {
		w.t.Fatal(errA, errB)
	}
	if err != nil {
		b = fmt.Appendln(b, err)
	}
	return string(a), string(b), codeOf(err)
}

func (w *workspace) new(args ...string) (out, errs string, code int) {
	w.t.Helper()
	return w.run(newNew, append([]string{"--workspace", w.dir, "--host", w.lab, "--slug", "fa-splitk", "--family", "flashattn"}, args...)...)
}

func TestNewMakesATask(t *testing.T) {
	w := newWorkspace(t, 600)
	wt := worktree.Path(w.dir, "fa-splitk")
	out, _, code := w.new("--dry-run")
	if code != 0 || !strings.Contains(out, "to do") || strings.Contains(out, "conflict") {
		t.Fatalf("dry run: exit %d\n%s", code, out)
	}
	if _, err := os.Stat(wt); err == nil {
		t.Fatal("the dry run made the worktree")
	}
	start := time.Now()
	out, errs, code := w.new()
	if code != 0 {
		t.Fatalf("new: exit %d\n%s%s", code, out, errs)
	}
	t.Logf("new with preflight on 600 files: %v", time.Since(start))
	head := w.git(w.up, "rev-parse", "HEAD")
	for what, got := range map[string]string{
		"task branch": w.git(wt, "rev-parse", "rlcr/fa-splitk"), "base branch": w.git(w.lab, "rev-parse", "refs/heads/rocm-kda-base/fa-splitk"),
	} {
		if got != head {
			t.Errorf("%s at %s, want %s", what, got, head)
		}
	}
	if s := w.git(wt, "status", "--porcelain"); s != "" {
		t.Errorf("the new worktree is not clean, Humanize would refuse:\n%s", s)
	}
	if s := w.git(wt, "diff", "--stat"); s != "" {
		t.Errorf("a tracked file was edited: %s", s)
	}
	draft := w.read(wt, worktree.DraftPath)
	if strings.Contains(draft, "{{") || !strings.Contains(draft, head) || !strings.Contains(draft, "rocm-kda-base/fa-splitk") || !strings.Contains(draft, "upstream/main") {
		t.Errorf("draft is not filled:\n%.600s", draft)
	}
	if !strings.Contains(out, "/humanize:gen-plan --input .humanize/kernel-agent/draft.md --output .humanize/kernel-agent/refined-plan.md --direct") {
		t.Errorf("no gen-plan command:\n%s", out)
	}
	if s := host.Load(wt); s.Result == nil || s.Result.State != preflight.Red {
		t.Errorf("preflight was not stored, or is not red: %+v", s)
	}
	// Again: nothing to do, nothing lost.
	if err := os.WriteFile(filepath.Join(wt, worktree.DraftPath), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, code = w.new("--no-preflight")
	if code != 0 || strings.Contains(out, "to do") || !strings.Contains(out, "kept as it is") {
		t.Errorf("again: exit %d\n%s%s", code, out, errs)
	}
	if got := w.read(wt, worktree.DraftPath); got != "mine" {
		t.Errorf("running again replaced the draft with %.60q", got)
	}
	// The base moves on: the task stays locked.
	w.write("FlyDSL-lab/more", "x")
	w.git(w.lab, "add", "more")
	w.git(w.lab, "commit", "-qm", "more")
	if _, errs, code = w.new("--base", "main", "--no-preflight"); code != exitConfig || !strings.Contains(errs, "locked") {
		t.Errorf("moved base: exit %d %s", code, errs)
	}
}

func (w *workspace) read(dir, path string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func TestNewTakesIssueText(t *testing.T) {
	w := newWorkspace(t, 3)
	w.write("issue.md", "# Split-K is slow\n\n## K\nplease {{do}} \x1b[31mthis\n")
	wt := worktree.Path(w.dir, "fa-splitk")
	if out, errs, code := w.new("--no-preflight", "--issue-file", filepath.Join(w.dir, "issue.md")); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	draft := w.read(wt, worktree.DraftPath)
	if !strings.HasPrefix(draft, "# Split-K is slow\n") || !strings.Contains(draft, "> ## K\n") || strings.Contains(draft, "\x1b") || !strings.Contains(draft, "sha256 ") {
		t.Errorf("draft:\n%.900s", draft)
	}
	if got := w.read(wt, worktree.IssuePath); !strings.Contains(got, "\x1b[31m") {
		t.Error("the snapshot is not the bytes that were given")
	}
}

func TestNewAsksGH(t *testing.T) {
	w := newWorkspace(t, 3)
	if _, errs, code := w.new("--dry-run", "--issue", "698"); code != exitNoTool || !strings.Contains(errs, "gh on PATH") {
		t.Errorf("without gh: exit %d %s", code, errs)
	}
	w.stub("gh", `echo '{"number":698,"title":"FP8 parity","body":"R: aiter asm","url":"https://github.com/o/r/issues/698"}'`)
	if out, errs, code := w.new("--no-preflight", "--issue", "698"); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	if d := w.read(worktree.Path(w.dir, "fa-splitk"), worktree.DraftPath); !strings.Contains(d, "FP8 parity") || !strings.Contains(d, "issues/698") {
		t.Errorf("draft:\n%.500s", d)
	}
	w.stub("gh", "echo 'could not resolve to an issue' >&2; exit 1")
	if _, errs, code := w.new("--dry-run", "--issue", "1"); code != exitNoTool || !strings.Contains(errs, "could not resolve") {
		t.Errorf("failing gh: exit %d %s", code, errs)
	}
	if _, _, code := w.new("--dry-run", "--issue", "1; rm -rf /"); code != exitUsage {
		t.Errorf("odd reference: exit %d", code)
	}
}

// A step that fails half-way leaves the repository as it was.
func TestNewTakesBack(t *testing.T) {
	w := newWorkspace(t, 3)
	before := w.git(w.lab, "for-each-ref") + w.read(w.lab, ".git/info/exclude")
	w.write("FlyDSL-lab/.git/hooks/post-checkout", "#!/bin/sh\nmkdir -p .humanize\ntouch .humanize/kdapilot\n")
	if err := os.Chmod(filepath.Join(w.lab, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, errs, code := w.new("--no-preflight")
	if code == 0 || !strings.Contains(errs, "taken back") {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	if after := w.git(w.lab, "for-each-ref") + w.read(w.lab, ".git/info/exclude"); after != before {
		t.Errorf("left behind:\n%s\nbefore:\n%s", after, before)
	}
	if _, err := os.Stat(worktree.Path(w.dir, "fa-splitk")); err == nil {
		t.Error("the worktree is still there")
	}
	if err := os.Remove(filepath.Join(w.lab, ".git/hooks/post-checkout")); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := w.new("--no-preflight"); code != 0 {
		t.Errorf("after the cause is gone: exit %d\n%s", code, errs)
	}
}

func TestNewRefuses(t *testing.T) {
	w := newWorkspace(t, 3)
	w.write("FlyDSL-taken/file", "somebody's")
	for _, tt := range []struct {
		args []string
		code int
		say  string
	}{
		{[]string{"--slug", "Bad Slug"}, exitUsage, "small letters"},
		{[]string{"--slug", "taken"}, exitConfig, "no worktree of"},
		{[]string{"--family", "nope"}, exitNothing, "nope"},
		{[]string{"--arch", "gfx1250"}, exitUsage, "gfx950"},
		{[]string{"--base", "no/such"}, exitNothing, "no such branch"},
		{[]string{"--base", "--upload-pack=x"}, exitNothing, "--base"},
		{[]string{"--host", filepath.Join(w.dir, "nowhere")}, exitNothing, "--host"},
		{[]string{"--build-from", w.lab}, exitConfig, "not built"},
		{[]string{"--issue-file", filepath.Join(w.dir, "nothing")}, exitNothing, "nothing"},
	} {
		if _, errs, code := w.new(tt.args...); code != tt.code || !strings.Contains(errs, tt.say) {
			t.Errorf("%v: exit %d, want %d: %s", tt.args, code, tt.code, errs)
		}
	}
	if w.git(w.lab, "branch", "--list", "rlcr/*", "rocm-kda-base/*") != "" {
		t.Error("a refused command made a branch")
	}
}

func TestNewLinksABuild(t *testing.T) {
	w := newWorkspace(t, 3)
	w.write("FlyDSL-lab/build-fly/python_packages/flydsl/_mlir/_mlir_libs/x.so", "elf")
	if out, errs, code := w.new("--build-from", w.lab); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	wt := worktree.Path(w.dir, "fa-splitk")
	if _, err := os.Stat(filepath.Join(wt, "python/flydsl/_mlir/_mlir_libs/x.so")); err != nil {
		t.Error(err)
	}
	if s := w.git(wt, "status", "--porcelain"); s != "" {
		t.Errorf("links are not ignored: %s", s)
	}
	r := host.Load(wt).Result
	if r == nil || r.Row(preflight.BuildTree).State != preflight.Red {
		t.Errorf("a build shared with the host checkout passes PF-04: %+v", r.Row(preflight.BuildTree))
	}
	if row := r.Row(preflight.RunEnv); row.State != preflight.Green {
		t.Errorf("runenv: %s %v", row.State, row.Seen)
	}
}

func TestTaskListAndRemove(t *testing.T) {
	w := newWorkspace(t, 3)
	flags := []string{"--workspace", w.dir, "--host", w.lab}
	task := func(args ...string) (string, string, int) { return w.run(newTask, append(args, flags...)...) }
	if _, _, code := task("list"); code != exitNothing {
		t.Errorf("no tasks: exit %d", code)
	}
	if _, errs, code := w.new("--no-preflight"); code != 0 {
		t.Fatal(errs)
	}
	wt := worktree.Path(w.dir, "fa-splitk")
	out, _, _ := task("list", "--json")
	var got struct{ Tasks []taskRow }
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Tasks) != 1 || got.Tasks[0].Slug != "fa-splitk" || *got.Tasks[0].Dirty != 0 {
		t.Errorf("list: %v %s", err, out)
	}
	w.write("FlyDSL-fa-splitk/kernel.py", "x")
	if out, _, code := task("remove", "fa-splitk", "--yes"); code != exitRed || !strings.Contains(out, "kernel.py") {
		t.Errorf("untracked file: exit %d %s", code, out)
	}
	w.git(wt, "add", "kernel.py")
	w.git(wt, "commit", "-qm", "a local candidate")
	if out, _, code := task("remove", "fa-splitk", "--yes"); code != exitRed || !strings.Contains(out, "a local candidate") {
		t.Errorf("unpushed commit: exit %d %s", code, out)
	}
	w.git(wt, "push", "-q", "upstream", "rlcr/fa-splitk")
	if out, _, code := task("remove", "fa-splitk"); code != 0 || !strings.Contains(out, "--yes") {
		t.Errorf("without --yes: exit %d %s", code, out)
	}
	if _, err := os.Stat(wt); err != nil {
		t.Fatal("removed without --yes")
	}
	out, errs, code := task("remove", "fa-splitk", "--yes")
	if code != 0 {
		t.Fatalf("pushed and clean: exit %d %s%s", code, out, errs)
	}
	if _, err := os.Stat(wt); err == nil {
		t.Error("still there")
	}
	kept, err := filepath.Glob(wt + ".humanize-*")
	if err != nil || len(kept) != 1 {
		t.Fatalf("evidence was not kept: %v %v", kept, err)
	}
	if b, err := os.ReadFile(filepath.Join(kept[0], "kernel-agent/draft.md")); err != nil || len(b) == 0 {
		t.Errorf("kept folder lacks the draft: %v", err)
	}
	if _, _, code := task("remove", w.lab, "--yes"); code == 0 {
		t.Error("the main checkout was removed")
	}
}

func TestPreflightCommand(t *testing.T) {
	w := newWorkspace(t, 3)
	if _, errs, code := w.new("--no-preflight"); code != 0 {
		t.Fatal(errs)
	}
	wt := worktree.Path(w.dir, "fa-splitk")
	out, errs, code := w.run(newPreflight, wt, "--json", "--probe-codex")
	var r struct {
		preflight.Result
		Hash string
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitRed {
		t.Fatalf("exit %d: %v\n%s%s", code, err, out, errs)
	}
	states := map[preflight.ID]preflight.State{}
	for _, row := range r.Rows {
		states[row.ID] = row.State
	}
	for id, want := range map[preflight.ID]preflight.State{
		preflight.Codex: preflight.Green, preflight.Import: preflight.Red, preflight.OwnTree: preflight.Green, preflight.BaseNamed: preflight.Green,
		preflight.BaseClean: preflight.Green, preflight.Git: preflight.Green, preflight.Commands: preflight.Red, preflight.Humanize: preflight.Red,
	} {
		if states[id] != want {
			t.Errorf("%s is %s, want %s: %v", id, states[id], want, r.Row(id))
		}
	}
	if r.Hash == "" || host.Load(wt).Hash != r.Hash {
		t.Errorf("hash %q, stored %q", r.Hash, host.Load(wt).Hash)
	}
	if err := os.Remove(filepath.Join(wt, worktree.RunEnvPath)); err != nil {
		t.Fatal(err)
	}
	w.git(w.lab, "branch", "-D", "rocm-kda-base/fa-splitk")
	for _, fix := range []string{"runenv", "base-branch", "exclude"} {
		if out, errs, _ := w.run(newPreflight, wt, "--fix", fix); strings.Contains(errs, "--fix") {
			t.Errorf("--fix %s: %s%s", fix, out, errs)
		}
	}
	out, _, _ = w.run(newPreflight, wt)
	for _, want := range []string{"green      HF-07", "green      HF-01", "red        PF-02", "do: "} {
		if !strings.Contains(out, want) {
			t.Errorf("text lacks %q:\n%s", want, out)
		}
	}
	if _, _, code := w.run(newPreflight, wt, "--fix", "everything"); code != exitUsage {
		t.Errorf("unknown fix: exit %d", code)
	}
	if _, _, code := w.run(newPreflight, t.TempDir()); code != exitNothing {
		t.Errorf("no worktree: exit %d", code)
	}
}

func TestFamilyCommand(t *testing.T) {
	w := newWorkspace(t, 0)
	out, _, code := w.run(newFamily, "list")
	for _, name := range []string{"flashattn", "flashattn-deep", "flashattn-fp8", "mxfp4-moe", "gemm", "generic"} {
		if code != 0 || !strings.Contains(out, name+" ") {
			t.Errorf("list lacks %s: %d\n%s", name, code, out)
		}
	}
	if out, errs, code := w.run(newFamily, "lint"); code != 0 {
		t.Errorf("a shipped family is not usable: %s%s", out, errs)
	}
	out, _, code = w.run(newFamily, "show", "flashattn")
	if code != 0 || !strings.Contains(out, "max_err < 0.01") || !strings.Contains(out, "440 in variant head") {
		t.Errorf("show: %d\n%s", code, out)
	}
	if _, _, code = w.run(newFamily, "show", "nope"); code != exitNothing {
		t.Errorf("unknown family: exit %d", code)
	}
	w.write("home/config/kdapilot/families/mine/family.toml", "schema = 1\ntitel = \"x\"\n")
	out, _, code = w.run(newFamily, "lint", "mine")
	if code != exitConfig || !strings.Contains(out, "2") || !strings.Contains(out, "titel") {
		t.Errorf("broken family: exit %d, want the line and the key\n%s", code, out)
	}
}

// BenchmarkNew is `new` without preflight on a repository of 600 files.
func BenchmarkNew(b *testing.B) {
	w := newWorkspace(b, 600)
	i := 0
	for b.Loop() {
		i++
		if _, errs, code := w.new("--no-preflight", "--slug", fmt.Sprintf("t%d", i)); code != 0 {
			b.Fatal(errs)
		}
	}
}

// Whatever an issue holds, in the draft it stays a quotation.
func FuzzIssueText(f *testing.F) {
	f.Add("# Title\r\n\n## K\n> quoted\x1b[2J\n")
	f.Fuzz(func(t *testing.T, s string) {
		i := issueText{raw: []byte(s)}
		q := i.quoted()
		if len(s) == 0 {
			return
		}
		for line := range strings.Lines(q) {
			if !strings.HasPrefix(line, ">") && line != "\n" {
				t.Errorf("line %q of %q is no quotation", line, s)
			}
		}
		if strings.Contains(q+titleOf(s), "\x1b") || strings.Contains(titleOf(s), "\n") {
			t.Errorf("control characters in %q", q)
		}
	})
}

// The made-up host of the demo lets every check look at something, so that gate
// 2 can be tried; what stands in says so.
func TestDemoWorldPassesItsOwnPreflight(t *testing.T) {
	world, err := demo.Make(t.Context(), t.TempDir(), "/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	// python3 of the world is this program, which is not built here.
	o, err := ready.Options(world.Worktree)
	if err != nil {
		t.Fatal(err)
	}
	r := host.Run(t.Context(), o, nil)
	for _, row := range r.Rows {
		switch {
		case row.ID == preflight.Import || row.ID == preflight.Codex:
		case row.State != preflight.Green:
			t.Errorf("%s is %s: %v", row.ID, row.State, row.Seen)
		}
	}
	if got := strings.Join(r.Row(preflight.MergeGate).Seen, " "); !strings.Contains(got, demo.Mark) {
		t.Errorf("merge gate %q does not say %s", got, demo.Mark)
	}
	o.Task.Simulated = false
	r = host.Run(t.Context(), o, nil)
	if real := r.Row(preflight.MergeGate); real.State == preflight.Green {
		t.Error("a simulated run counts as merge gate of a real task")
	}
}
