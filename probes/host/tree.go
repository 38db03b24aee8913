package host

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kdapilot/engine/preflight"
	"kdapilot/engine/repo"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

const (
	textLimit = 4 << 20 // bytes of a source or script that is looked into
	walkLimit = 50_000  // folder entries one walk looks at
)

// RunEnvFile is where runenv.sh lies, relative to the worktree.
const RunEnvFile = ".humanize/kernel-agent/runenv.sh"

// runEnv is the environment runs will have.
type runEnv struct {
	facts preflight.RunEnvFacts
	env   map[string]string
}

// readRunEnv sources the script in a shell of its own and compares: only the
// shell knows what it means.
func (c *checker) readRunEnv() runEnv {
	path := filepath.Join(c.Root, RunEnvFile)
	if own := filepath.Join(c.Root, "runenv.sh"); !isFile(path) && isFile(own) {
		path = own
	}
	r := runEnv{facts: preflight.RunEnvFacts{Path: rel(c.Root, path), Found: isFile(path)}, env: c.env}
	if !r.facts.Found {
		return r
	}
	a := ask(c.ctx, askTimeout, c.Root, c.env, "bash", "--noprofile", "--norc", "-c", `. "$1" >&2 && exec env -0`, "kdapilot", path)
	if a.exit == nil || *a.exit != 0 {
		r.facts.Why = strings.TrimSpace("sourcing it failed: " + a.why + " " + a.said())
		return r
	}
	r.env = envMap(strings.Split(string(a.raw), "\x00"))
	c.compareEnv(&r)
	return r
}

// compareEnv fills what the script sets and what of it is not there.
func (c *checker) compareEnv(r *runEnv) {
	for _, k := range []string{"PYTHONPATH", "LD_LIBRARY_PATH", "FLY_BUILD_DIR"} {
		v := r.env[k]
		if v == c.env[k] && v == "" {
			continue
		}
		r.facts.Sets = append(r.facts.Sets, k+"="+v)
		for _, p := range filepath.SplitList(v) {
			inherited := slices.Contains(filepath.SplitList(c.env[k]), p)
			if p != "" && !inherited && !isDir(p) && !isFile(p) {
				r.facts.Missing = append(r.facts.Missing, p)
			}
		}
	}
	if list := filepath.SplitList(r.env["PYTHONPATH"]); len(list) > 0 {
		r.facts.Own = below(list[0], c.Root)
	}
}

const importScript = `import importlib, json, os
m = importlib.import_module("flydsl._mlir")
p = getattr(m, "__file__", None) or list(m.__path__)[0]
print(json.dumps({"at": os.path.abspath(p), "from": os.path.realpath(p)}))
`

// readImport imports the bindings as a run would.
func (c *checker) readImport() preflight.ImportFacts {
	env := c.runenv().env
	f := preflight.ImportFacts{Python: lookPath(env, "python3"), Worktree: c.Root}
	a := ask(c.ctx, askTimeout, c.Root, env, "python3", "-c", importScript)
	f.Exit, f.Why = a.exit, a.why
	if a.exit == nil {
		return f
	}
	if *a.exit != 0 {
		f.Why = a.said()
		return f
	}
	var got struct{ At, From string }
	lines := strings.Split(strings.TrimSpace(a.out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		f.Why = "expected one line of JSON, got " + text.Clip(lines[len(lines)-1], 120)
		f.Exit = nil
		return f
	}
	f.At, f.From = text.Line(got.At), text.Line(got.From)
	if real, err := filepath.EvalSymlinks(c.Root); err == nil && below(f.At, real) {
		f.At = filepath.Join(c.Root, rel(real, f.At)) // the same worktree by another name
	}
	return f
}

// build is the build tree with its newest binding.
type build struct {
	facts preflight.BuildFacts
	// stamp is the newest compiled library.
	stamp     time.Time
	stampPath string
	size      int64
}

func (c *checker) readBuild() build {
	env := c.runenv().env
	b := build{facts: preflight.BuildFacts{Worktree: real(c.Root), Link: filepath.Join(c.Root, "build-fly"), Env: env["FLY_BUILD_DIR"]}}
	b.facts.Target = real(b.facts.Link)
	b.facts.Bindings = real(filepath.Join(c.Root, "python", "flydsl", "_mlir"))
	if b.facts.Env != "" {
		at := b.facts.Env
		if !filepath.IsAbs(at) {
			at = filepath.Join(c.Root, at)
		}
		b.facts.EnvTarget = real(at)
	}
	used := b.facts.Used()
	if used != "" {
		b.facts.Sharers = c.sharers(used)
	}
	libs := filepath.Join(used, "python_packages", "flydsl", "_mlir", "_mlir_libs")
	if used == "" || !isDir(libs) {
		libs = filepath.Join(c.Root, "python", "flydsl", "_mlir", "_mlir_libs")
	}
	b.stampPath = libs
	b.newest(real(libs))
	return b
}

// newest finds the youngest shared library below libs.
func (b *build) newest(libs string) {
	if libs == "" {
		return
	}
	entries, err := os.ReadDir(libs)
	if err != nil {
		return
	}
	for _, e := range entries[:min(len(entries), walkLimit)] {
		if !strings.Contains(e.Name(), ".so") {
			continue
		}
		if st, err := os.Stat(filepath.Join(libs, e.Name())); err == nil && st.ModTime().After(b.stamp) {
			b.stamp, b.stampPath, b.size = st.ModTime(), filepath.Join(libs, e.Name()), st.Size()
		}
	}
}

// sharers are other worktrees whose tests take the same tree.
func (c *checker) sharers(used string) []string {
	list, err := c.Git.Worktrees(c.ctx, c.Root)
	if err != nil {
		return nil
	}
	var out []string
	for _, w := range list {
		if w.Bare || w.Prunable || real(w.Path) == real(c.Root) {
			continue
		}
		if real(filepath.Join(w.Path, "build-fly")) == used {
			out = append(out, w.Path)
		}
	}
	return out
}

func (c *checker) readConftest() preflight.ConftestFacts {
	b := c.build().facts
	f := preflight.ConftestFacts{Path: "tests/conftest.py", Matters: b.Shared() || b.Env != ""}
	src, _, err := readfile.All(filepath.Join(c.Root, f.Path), textLimit)
	f.Found = err == nil
	f.Line, f.Text = mention(src, "FLY_BUILD_DIR")
	return f
}

// mention finds the first line that holds word outside a comment.
func mention(src []byte, word string) (int, string) {
	n := 0
	for line := range strings.Lines(string(src)) {
		n++
		s := strings.TrimSpace(line)
		if i := strings.Index(s, word); i >= 0 && !strings.Contains(s[:i], "#") {
			return n, text.Clip(text.Line(s), 120)
		}
	}
	return 0, ""
}

// readAge compares the sources of the compiled part with the build.
func (c *checker) readAge() preflight.AgeFacts {
	b := c.build()
	f := preflight.AgeFacts{Stamp: b.stamp, StampPath: b.stampPath}
	if b.stamp.IsZero() {
		return f
	}
	// A build of another checkout is as good as that checkout's sources are like
	// ours; their times say nothing, since a new worktree has all files new.
	if at := real(b.stampPath); !below(at, real(c.Root)) {
		f.BuiltIn = c.ownerOf(at)
	}
	f.Sources, f.Cut = walkSources(c.Root, func(path string, st fs.FileInfo) {
		name := rel(c.Root, path)
		if f.BuiltIn != "" {
			if !sameFile(path, filepath.Join(f.BuiltIn, name), st.Size()) {
				f.Differ, f.DifferCount = keep(f.Differ, name), f.DifferCount+1
			}
			return
		}
		if st.ModTime().After(b.stamp) {
			f.Newer, f.NewerCount = keep(f.Newer, name), f.NewerCount+1
		}
	})
	if f.BuiltIn != "" { // and that checkout must not have moved on from its build
		walkSources(f.BuiltIn, func(path string, st fs.FileInfo) {
			if st.ModTime().After(b.stamp) {
				f.Newer, f.NewerCount = keep(f.Newer, path), f.NewerCount+1
			}
		})
	}
	return f
}

func keep(list []string, s string) []string {
	if len(list) < 5 {
		list = append(list, s)
	}
	return list
}

// ownerOf is the worktree that path lies in, else the folder above build-fly.
func (c *checker) ownerOf(path string) string {
	list, _ := c.Git.Worktrees(c.ctx, c.Root)
	for _, w := range list {
		if below(path, real(w.Path)) {
			return w.Path
		}
	}
	if i := strings.Index(path, "/build-fly"); i > 0 {
		return path[:i]
	}
	return filepath.Dir(path)
}

// walkSources visits the C++, TableGen and CMake files below root.
func walkSources(root string, visit func(path string, st fs.FileInfo)) (n int, cut bool) {
	entries := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if entries++; entries > walkLimit {
			cut = true
			return fs.SkipAll
		}
		if err != nil {
			return nil // what can not be read can not have been compiled by this user
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "build") || name == "profile" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !compiled(name) {
			return nil
		}
		if st, err := d.Info(); err == nil {
			n++
			visit(path, st)
		}
		return nil
	})
	return n, cut || err != nil
}

func compiled(name string) bool {
	switch filepath.Ext(name) {
	case ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".td", ".cmake":
		return true
	}
	return name == "CMakeLists.txt"
}

// sameFile compares bytes of two small files.
func sameFile(a, b string, size int64) bool {
	st, err := os.Stat(b)
	if err != nil || st.Size() != size {
		return false
	}
	x, _, errX := readfile.All(a, textLimit)
	y, _, errY := readfile.All(b, textLimit)
	return errX == nil && errY == nil && string(x) == string(y)
}

// readMultiGPU looks for the marker in tests and in the runner.
func (c *checker) readMultiGPU() preflight.MultiGPUFacts {
	f := preflight.MultiGPUFacts{Runner: "scripts/run_tests.sh"}
	g := c.gpus()
	f.GPUs, f.Known = len(g.gpus), g.origin.Status.Known()
	src, _, err := readfile.All(filepath.Join(c.Root, f.Runner), textLimit)
	if err == nil {
		f.Split, _ = mention(src, "multi_gpu")
	}
	entries := 0
	_ = filepath.WalkDir(filepath.Join(c.Root, "tests"), func(path string, d fs.DirEntry, err error) error {
		if entries++; entries > walkLimit || len(f.Tests) > 200 {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".py" {
			return nil
		}
		src, _, err := readfile.All(path, textLimit)
		if n, _ := mention(src, "mark.multi_gpu"); err == nil && n > 0 {
			f.Tests = append(f.Tests, rel(c.Root, path))
		}
		return nil
	})
	return f
}

// readTree asks git once for all checks.
func (c *checker) readTree() preflight.TreeFacts {
	t := preflight.TreeFacts{Slug: c.Task.Slug, BaseBranch: c.Task.BaseBranch, BaseCommit: c.Task.BaseCommit}
	t.Repo = c.Git.Snapshot(c.ctx, c.Root, c.Task.BaseBranch)
	if t.Repo.State != repo.Worktree {
		return t
	}
	list, err := c.Git.Worktrees(c.ctx, c.Root)
	if err == nil {
		t.Worktrees = list
	}
	for _, w := range list {
		if w.Branch == t.BaseBranch && t.BaseBranch != "" && !w.Prunable {
			if _, n, err := c.Git.DirtyHash(c.ctx, w.Path); err == nil {
				t.BaseDirty, t.BaseTree = &n, w.Path
			}
		}
	}
	for _, x := range []struct{ file, word string }{
		{"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase or am"}, {"MERGE_HEAD", "a merge"},
		{"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(t.Repo.GitDir, x.file)); err == nil {
			t.HalfDone = append(t.HalfDone, x.word)
		}
	}
	lock := filepath.Join(t.Repo.GitDir, "index.lock")
	if st, err := os.Lstat(lock); err == nil && c.now.Sub(st.ModTime()) > time.Minute {
		t.Locks = append(t.Locks, fmt.Sprintf("%s, from %s", lock, st.ModTime().Format("2006-01-02 15:04")))
	}
	return t
}

// real follows all links; "" when there is nothing.
func real(path string) string {
	p, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return p
}

func rel(root, path string) string {
	r, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return r
}

// below reports whether path is dir or inside it.
func below(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}
