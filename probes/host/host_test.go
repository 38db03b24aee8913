package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/family"
	"kdapilot/engine/preflight"
	"kdapilot/engine/repo"
	"kdapilot/engine/runs"
	"kdapilot/engine/task"
)

const base = "1111111111111111111111111111111111111111"

// fakeGit answers as a good task worktree does; tests change it.
type fakeGit struct {
	repo      repo.Repo
	worktrees []repo.LinkedWorktree
	dirty     int
}

func (g fakeGit) Snapshot(context.Context, string, string) repo.Repo { return g.repo }
func (g fakeGit) Worktrees(context.Context, string) ([]repo.LinkedWorktree, error) {
	return g.worktrees, nil
}
func (g fakeGit) DirtyHash(context.Context, string) (string, int, error) { return "", g.dirty, nil }

// world is a host on which everything is right.
type world struct {
	t    testing.TB
	dir  string
	git  fakeGit
	opts Options
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	root := filepath.Join(dir, "wt")
	for path, content := range map[string]string{
		"wt/python/flydsl/__init__.py": "",
		"wt/tests/conftest.py":         "import os\nBUILD = os.environ.get('FLY_BUILD_DIR', 'build-fly')\n",
		"wt/tests/test_two.py":         "@pytest.mark.multi_gpu\ndef test(): pass\n",
		"wt/scripts/run_tests.sh":      "pytest -m 'not multi_gpu'\n",
		"wt/lib/Core.cpp":              "int x;\n",
		"wt/build-fly/python_packages/flydsl/_mlir/_mlir_libs/_mlir.so":           "elf",
		"etc/opt/rocm/lib/librocprof-trace-decoder.so.1":                          "elf",
		"etc/opt/rocm/.info/version":                                              "7.0.0\n",
		"etc/proc/sys/kernel/hostname":                                            "gpuhost\n",
		"etc/proc/sys/kernel/random/boot_id":                                      "boot-1\n",
		"home/.claude/plugins/cache/P/humanize/1.16.0/.claude-plugin/plugin.json": `{"name":"humanize","version":"1.16.0"}`,
	} {
		w.write(path, content)
	}
	w.write("wt/.humanize/kernel-agent/runenv.sh", "export PYTHONPATH="+root+"/python:"+root+"\n")
	for _, s := range preflight.SkillNames() {
		w.write("home/.claude/skills/"+s+"/SKILL.md", "x")
	}
	for _, tool := range []string{"claude", "jq", "git", "gh", "flyprof"} {
		w.script(tool, "exit 0")
	}
	w.script("codex", `case "$*" in *broken*) echo "model does not exist" >&2; exit 1;; *) echo OK;; esac`)
	w.script("rocprofv3", "echo '  --att  thread trace'")
	w.script("python3", `case "$PYTHONPATH" in "`+root+`"*) echo '{"at": "`+root+`/python/flydsl/_mlir/__init__.py", "from": "`+root+`/build-fly/x"}';; *) echo "ModuleNotFoundError: No module named flydsl._mlir" >&2; exit 1;; esac`)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(root, "lib/Core.cpp"), old, old); err != nil {
		t.Fatal(err)
	}
	yes := true
	w.git = fakeGit{
		repo: repo.Repo{
			State: repo.Worktree, Root: root, GitDir: filepath.Join(dir, "git/worktrees/wt"), CommonDir: filepath.Join(dir, "git"),
			Branch: "rlcr/fa", Head: base, FilesKnown: true,
			Base: &repo.Base{Ref: "rocm-kda-base/fa", Commit: base, IsBranch: true, Status: fact.OK, IsAncestor: &yes},
		},
		worktrees: []repo.LinkedWorktree{{Path: filepath.Join(dir, "lab"), Branch: "main"}, {Path: root, Branch: "rlcr/fa"}},
	}
	zero, clean := 0, 0
	w.opts = Options{
		Root: root, Task: task.Task{Slug: "fa", Family: "flashattn", Arch: "gfx950", BaseBranch: "rocm-kda-base/fa", BaseCommit: base},
		GPUs: func(context.Context) ([]runs.GPU, fact.Origin) {
			return []runs.GPU{{Index: 0, Arch: "gfx950", ID: "0x1"}}, fact.Origin{Status: fact.OK}
		},
		RunsKnown: true,
		Runs: []runs.Run{{ID: "r1", State: runs.Ended, Result: &runs.Result{Exit: &zero}, Manifest: runs.Manifest{
			Argv: []string{"bash", "scripts/run_tests.sh"}, Env: map[string]string{"RUN_TESTS_FULL": "1"}, Head: base, DirtyFiles: &clean,
		}}},
		AskCodex: true, Etc: filepath.Join(dir, "etc"),
		Env: []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin", "HOME=" + filepath.Join(dir, "home")},
	}
	return w
}

func (w *world) write(path, content string) {
	w.t.Helper()
	full := filepath.Join(w.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) script(name, body string) {
	w.t.Helper()
	w.write("bin/"+name, "#!/bin/sh\n"+body+"\n")
	if err := os.Chmod(filepath.Join(w.dir, "bin", name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, path)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) run() preflight.Result {
	w.opts.Git = w.git
	return Run(w.t.Context(), w.opts, nil)
}

func TestGoodHostIsGreen(t *testing.T) {
	w := newWorld(t)
	var streamed []preflight.ID
	w.opts.Git = w.git
	r := Run(t.Context(), w.opts, func(row preflight.Row) { streamed = append(streamed, row.ID) })
	for _, row := range r.Rows {
		if row.State != preflight.Green {
			t.Errorf("%s is %s: %v", row.ID, row.State, row.Seen)
		}
	}
	if r.State != preflight.Green || len(r.Rows) != len(preflight.Order()) {
		t.Errorf("result %s with %d rows, want green with %d", r.State, len(r.Rows), len(preflight.Order()))
	}
	for _, id := range preflight.Order() {
		if !slices.Contains(streamed, id) {
			t.Errorf("%s was not streamed", id)
		}
	}
	if f := r.Fingerprint; f.Host != "gpuhost" || f.Boot != "boot-1" || f.ROCm != "7.0.0" || f.Head != base || f.Build == "" || len(f.GPUs) != 1 {
		t.Errorf("fingerprint %+v", f)
	}
}

// Each broken thing turns exactly its rows, to the state the catalogue asks for.
func TestBrokenHosts(t *testing.T) {
	tests := []struct {
		name   string
		damage func(w *world)
		want   map[preflight.ID]preflight.State
		seen   string
	}{
		{"model name", func(w *world) { w.opts.Task.Start.Model = "broken:xhigh" },
			map[preflight.ID]preflight.State{preflight.Codex: preflight.Red}, "does not exist"},
		{"model silent", func(w *world) { w.script("codex", "sleep 20"); w.opts.CodexTimeout = 200 * time.Millisecond },
			map[preflight.ID]preflight.State{preflight.Codex: preflight.Red}, "no answer"},
		{"model not asked", func(w *world) { w.opts.AskCodex = false },
			map[preflight.ID]preflight.State{preflight.Codex: preflight.NotRun}, "nobody asked"},
		{"no codex", func(w *world) { w.remove("bin/codex") },
			map[preflight.ID]preflight.State{preflight.Codex: preflight.Red, preflight.Commands: preflight.Red}, "codex"},
		{"no runenv", func(w *world) { w.remove("wt/.humanize/kernel-agent/runenv.sh") },
			map[preflight.ID]preflight.State{preflight.RunEnv: preflight.Amber, preflight.Import: preflight.Red}, "runenv.sh"},
		{"runenv breaks", func(w *world) { w.write("wt/.humanize/kernel-agent/runenv.sh", "exit 3\n") },
			map[preflight.ID]preflight.State{preflight.RunEnv: preflight.Amber, preflight.Import: preflight.Red}, "sourcing"},
		{"runenv names what is not there", func(w *world) {
			w.write("wt/.humanize/kernel-agent/runenv.sh", "export PYTHONPATH="+w.opts.Root+"/python:/nowhere/x\n")
		}, map[preflight.ID]preflight.State{preflight.RunEnv: preflight.Amber}, "/nowhere/x"},
		{"imports from elsewhere", func(w *world) {
			w.script("python3", `echo '{"at":"/usr/lib/flydsl/_mlir/__init__.py","from":"/usr/lib/flydsl/_mlir/__init__.py"}'`)
		},
			map[preflight.ID]preflight.State{preflight.Import: preflight.Red}, "/usr/lib"},
		{"python talks", func(w *world) { w.script("python3", `echo hello`) },
			map[preflight.ID]preflight.State{preflight.Import: preflight.Red}, "hello"},
		{"build linked to the lab", func(w *world) {
			w.write("lab/lib/Core.cpp", "int x;\n")
			old := time.Now().Add(-time.Hour)
			if err := errors.Join(os.Chtimes(filepath.Join(w.dir, "lab/lib/Core.cpp"), old, old),
				os.Rename(filepath.Join(w.dir, "wt/build-fly"), filepath.Join(w.dir, "lab/build-fly")),
				os.Symlink(filepath.Join(w.dir, "lab/build-fly"), filepath.Join(w.dir, "wt/build-fly"))); err != nil {
				w.t.Fatal(err)
			}
		}, map[preflight.ID]preflight.State{preflight.BuildTree: preflight.Red}, "shared by 2 worktrees"},
		{"build of other sources", func(w *world) {
			w.write("lab/lib/Core.cpp", "int y;\n")
			old := time.Now().Add(-time.Hour)
			if err := errors.Join(os.Chtimes(filepath.Join(w.dir, "lab/lib/Core.cpp"), old, old),
				os.Rename(filepath.Join(w.dir, "wt/build-fly"), filepath.Join(w.dir, "lab/build-fly")),
				os.Symlink(filepath.Join(w.dir, "lab/build-fly"), filepath.Join(w.dir, "wt/build-fly"))); err != nil {
				w.t.Fatal(err)
			}
		}, map[preflight.ID]preflight.State{preflight.BuildTree: preflight.Red, preflight.BuildAge: preflight.Red}, "lib/Core.cpp"},
		{"own build, bindings of the lab", func(w *world) {
			w.write("lab/build-fly/python_packages/flydsl/_mlir/_mlir_libs/_mlir.so", "elf")
			if err := os.Symlink(filepath.Join(w.dir, "lab/build-fly/python_packages/flydsl/_mlir"), filepath.Join(w.dir, "wt/python/flydsl/_mlir")); err != nil {
				w.t.Fatal(err)
			}
		}, map[preflight.ID]preflight.State{preflight.BuildTree: preflight.Red}, "python/flydsl/_mlir is of"},
		{"FLY_BUILD_DIR not built", func(w *world) {
			w.write("wt/.humanize/kernel-agent/runenv.sh", "export PYTHONPATH="+w.opts.Root+"/python FLY_BUILD_DIR="+w.opts.Root+"/own\n")
		}, map[preflight.ID]preflight.State{preflight.BuildTree: preflight.Red, preflight.RunEnv: preflight.Amber, preflight.BuildAge: preflight.Red}, "FLY_BUILD_DIR"},
		{"conftest deaf", func(w *world) { w.write("wt/tests/conftest.py", "# FLY_BUILD_DIR is not read\n") },
			map[preflight.ID]preflight.State{preflight.Conftest: preflight.Amber}, "conftest.py"},
		{"source newer", func(w *world) { w.write("wt/lib/Core.cpp", "int z;\n"); w.later("wt/lib/Core.cpp") },
			map[preflight.ID]preflight.State{preflight.BuildAge: preflight.Red}, "lib/Core.cpp"},
		{"not built", func(w *world) { w.remove("wt/build-fly") },
			map[preflight.ID]preflight.State{preflight.BuildTree: preflight.Red, preflight.BuildAge: preflight.Red}, "build-fly"},
		{"gate never ran", func(w *world) { w.opts.Runs = nil },
			map[preflight.ID]preflight.State{preflight.MergeGate: preflight.Red}, "no run of it"},
		{"gate ran elsewhere", func(w *world) { w.opts.Runs[0].Manifest.Head = strings.Repeat("2", 40) },
			map[preflight.ID]preflight.State{preflight.MergeGate: preflight.Red}, "222222222"},
		{"gate simulated", func(w *world) { w.opts.Runs[0].Manifest.Simulated = true },
			map[preflight.ID]preflight.State{preflight.MergeGate: preflight.Red}, "SIMULATED"},
		{"runner keeps multi_gpu", func(w *world) { w.write("wt/scripts/run_tests.sh", "pytest\n") },
			map[preflight.ID]preflight.State{preflight.MultiGPU: preflight.Amber}, "tests/test_two.py"},
		{"other GPU", func(w *world) { w.opts.Task.Arch = "gfx942" },
			map[preflight.ID]preflight.State{preflight.GPU: preflight.Red}, "planned for gfx942"},
		{"no GPU known", func(w *world) {
			w.opts.GPUs = func(context.Context) ([]runs.GPU, fact.Origin) {
				return nil, fact.Origin{Status: fact.Missing, Why: "no driver"}
			}
		}, map[preflight.ID]preflight.State{preflight.GPU: preflight.Unknown}, "no driver"},
		{"skill missing", func(w *world) { w.remove("home/.claude/skills/flyprof-usage") },
			map[preflight.ID]preflight.State{preflight.Skills: preflight.Red}, "flyprof-usage"},
		{"no decoder", func(w *world) { w.remove("etc/opt/rocm/lib") },
			map[preflight.ID]preflight.State{preflight.Profiler: preflight.Red}, "trace-decoder"},
		{"old rocprofv3", func(w *world) { w.script("rocprofv3", "echo no traces here") },
			map[preflight.ID]preflight.State{preflight.Profiler: preflight.Red}, "--att"},
		{"no humanize", func(w *world) { w.remove("home/.claude/plugins") },
			map[preflight.ID]preflight.State{preflight.Humanize: preflight.Red}, "plugins"},
		{"old humanize", func(w *world) {
			w.write("home/.claude/plugins/cache/P/humanize/1.16.0/.claude-plugin/plugin.json", `{"name":"humanize","version":"1.1.2"}`)
		}, map[preflight.ID]preflight.State{preflight.Humanize: preflight.Red}, "1.1.2"},
		{"main checkout", func(w *world) { w.git.repo.GitDir = w.git.repo.CommonDir },
			map[preflight.ID]preflight.State{preflight.OwnTree: preflight.Red}, "main checkout"},
		{"on main", func(w *world) { w.git.repo.Branch = "main" },
			map[preflight.ID]preflight.State{preflight.OwnTree: preflight.Red}, "on main"},
		{"no base", func(w *world) { w.git.repo.Base = &repo.Base{Ref: "rocm-kda-base/fa", Status: fact.Missing} },
			map[preflight.ID]preflight.State{preflight.BaseNamed: preflight.Red, preflight.BaseClean: preflight.Unknown}, "no local branch"},
		{"base moved", func(w *world) { w.git.repo.Base.Commit = strings.Repeat("3", 40) },
			map[preflight.ID]preflight.State{preflight.BaseNamed: preflight.Red}, "moved"},
		{"not from base", func(w *world) { no := false; w.git.repo.Base.IsAncestor = &no },
			map[preflight.ID]preflight.State{preflight.BaseClean: preflight.Red}, "does not contain"},
		{"dirty", func(w *world) {
			w.git.repo.Files, w.git.repo.FileCount = []repo.File{{Path: "kernels/a.py", Change: repo.Modified}}, 1
		}, map[preflight.ID]preflight.State{preflight.Git: preflight.Red}, "kernels/a.py"},
		{"rebase under way", func(w *world) { w.write("git/worktrees/wt/rebase-merge/head-name", "x") },
			map[preflight.ID]preflight.State{preflight.Git: preflight.Red}, "rebase"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.damage(w)
			r := w.run()
			found := false
			for _, row := range r.Rows {
				want, listed := tt.want[row.ID]
				if !listed {
					want = preflight.Green
				}
				if row.State != want {
					t.Errorf("%s is %s, want %s: %v", row.ID, row.State, want, row.Seen)
				}
				if listed && row.Do == "" {
					t.Errorf("%s is %s and does not say what to do", row.ID, row.State)
				}
				if listed && strings.Contains(strings.Join(row.Seen, "\n"), tt.seen) {
					found = true
				}
			}
			if !found {
				t.Errorf("no row quotes %q", tt.seen)
			}
		})
	}
}

func (w *world) later(path string) {
	w.t.Helper()
	next := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(w.dir, path), next, next); err != nil {
		w.t.Fatal(err)
	}
}

func TestCodexAnswerIsRememberedForItsString(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.opts.AskCodex = false
	w.script("codex", "exit 9")
	if row := w.row(preflight.Codex); row.State != preflight.Green {
		t.Errorf("remembered answer: %s %v, want green", row.State, row.Seen)
	}
	w.opts.Task.Start.Model = "gpt-55:xhigh"
	if row := w.row(preflight.Codex); row.State != preflight.NotRun {
		t.Errorf("other model string: %s %v, want not run", row.State, row.Seen)
	}
	w.opts.Task.Start.Model = ""
	w.opts.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	if row := w.row(preflight.Codex); row.State != preflight.NotRun {
		t.Errorf("answer of yesterday: %s %v, want not run", row.State, row.Seen)
	}
	// A bad answer is remembered too: not asking again does not make it better.
	w.opts.Now, w.opts.AskCodex = nil, true
	if row := w.row(preflight.Codex); row.State != preflight.Red {
		t.Errorf("failing model: %s", row.State)
	}
	w.opts.AskCodex = false
	if row := w.row(preflight.Codex); row.State != preflight.Red {
		t.Errorf("failing model, not asked again: %s, want red", row.State)
	}
}

func (w *world) row(id preflight.ID) preflight.Row {
	r := w.run()
	if row := r.Row(id); row != nil {
		return *row
	}
	w.t.Fatalf("no row %s", id)
	return preflight.Row{}
}

func TestOtherFamiliesNeedNoFlyDSL(t *testing.T) {
	w := newWorld(t)
	w.remove("wt/build-fly")
	w.remove("bin/flyprof")
	w.opts.Family = &family.Family{Name: "generic", Profile: family.Profile{Evidence: family.EvidenceROCmReport}}
	r := w.run()
	if r.State != preflight.Green && r.State != preflight.Amber {
		t.Errorf("generic family: %s, %+v", r.State, r.Holding())
	}
	if row := r.Row(preflight.BuildTree); row.State != preflight.NotNeeded {
		t.Errorf("build tree is %s, want not needed", row.State)
	}
}

func TestSaveAndLoad(t *testing.T) {
	w := newWorld(t)
	r := w.run()
	hash, err := Save(w.opts.Root, r)
	if err != nil {
		t.Fatal(err)
	}
	s := Load(w.opts.Root)
	if s.Result == nil || s.Hash != hash || s.Result.State != preflight.Green {
		t.Fatalf("Load: %+v", s)
	}
	here := Look(t.Context(), w.opts)
	if d := s.Result.Fingerprint.Drift(here); len(d) != 0 {
		t.Errorf("nothing changed, drift %v", d)
	}
	w.write("etc/proc/sys/kernel/random/boot_id", "boot-2\n")
	if d := s.Result.Fingerprint.Drift(Look(t.Context(), w.opts)); len(d) != 1 || !strings.Contains(d[0], "boot-2") {
		t.Errorf("after a restart: drift %v", d)
	}
	if s := Load(t.TempDir()); s.Result != nil || s.Why != "" {
		t.Errorf("no result: %+v", s)
	}
	other := t.TempDir()
	if err := os.CopyFS(filepath.Join(other, ".humanize"), os.DirFS(filepath.Join(w.opts.Root, ".humanize"))); err != nil {
		t.Fatal(err)
	}
	if s := Load(other); s.Result != nil || !strings.Contains(s.Why, "another worktree") {
		t.Errorf("copied result: %+v, want a refusal", s)
	}
}

func TestInstalledPluginsBothForms(t *testing.T) {
	for i, form := range []string{
		`{"version":1,"plugins":{"humanize@P":{"version":"1.16.0","installPath":%q}}}`,
		`{"version":2,"plugins":{"humanize@P":[{"scope":"user","installPath":%q}],"other@P":[{"installPath":"/x"}]}}`,
	} {
		path := filepath.Join(t.TempDir(), "installed_plugins.json")
		if err := os.WriteFile(path, fmt.Appendf(nil, form, "/plugins/h"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := installed(path); !slices.Equal(got, []string{"/plugins/h"}) {
			t.Errorf("form %d: %v", i+1, got)
		}
	}
}

func FuzzInstalled(f *testing.F) {
	f.Add([]byte(`{"plugins":{"humanize":[{"installPath":"/a"}]}}`))
	path := filepath.Join(f.TempDir(), "p.json")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Skip(err)
		}
		for _, p := range installed(path) {
			if !filepath.IsAbs(p) {
				t.Errorf("relative path %q", p)
			}
		}
	})
}

// BenchmarkRun is a whole preflight without the model, with stand-in tools: what
// remains is this program's own work and the starting of processes.
func BenchmarkRun(b *testing.B) {
	w := newWorld(b)
	w.opts.AskCodex = false
	for b.Loop() {
		w.run()
	}
}
