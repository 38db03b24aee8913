package demo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"kdapilot/templates"
)

//go:embed world texts
var files embed.FS

// Make builds a world in dir, which must be empty or absent; selfPath is the
// binary whose hidden subcommand __sim plays the tools. It needs git and
// nothing else, and takes a second or two. On an error dir holds what was made
// so far.
func Make(ctx context.Context, dir, selfPath string) (Layout, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Layout{}, fmt.Errorf("demo world %s: %w", dir, err)
	}
	if err := os.MkdirAll(abs, 0o755); err != nil {
		return Layout{}, fmt.Errorf("demo world: %w", err)
	}
	// Git and Humanize work with resolved paths; a linked temp folder would give
	// two names to one worktree.
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return Layout{}, fmt.Errorf("demo world: %w", err)
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return Layout{}, fmt.Errorf("demo world: %w", err)
	}
	if len(entries) > 0 {
		return Layout{}, fmt.Errorf("demo world %s: the folder is not empty", abs)
	}
	l, err := layout(abs, selfPath)
	if err != nil {
		return Layout{}, err
	}
	w := &world{ctx: ctx, l: &l, now: time.Now().Add(-20 * time.Hour).Truncate(time.Second)}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"tools", w.tools}, {"host checkout", w.host}, {"task worktree", w.worktree}, {"contract and plan", w.contract},
		{"baseline profile", w.before}, {"host stand-ins", w.standIns}, {"baseline runs", w.baseRuns}, {"merge gate run", w.mergeGate}, {"finished loop", w.loop}, {"later profile", w.after}, {"candidate runs", w.candidateRuns},
		{"main moves on", w.mainMoves}, {"file times", w.times},
	} {
		if err := step.do(); err != nil {
			return l, fmt.Errorf("demo world: %s: %w", step.name, err)
		}
	}
	return l, nil
}

// layout names the parts of a world in dir, which is absolute and resolved.
func layout(dir, self string) (Layout, error) {
	self, err := filepath.Abs(self)
	if err != nil {
		return Layout{}, fmt.Errorf("demo world: binary %s: %w", self, err)
	}
	return Layout{Dir: dir, Host: filepath.Join(dir, "FlyDSL-lab"), Worktree: filepath.Join(dir, "FlyDSL-"+Slug),
		Bin: filepath.Join(dir, "bin"), Cache: filepath.Join(dir, "cache"), Self: self,
		StartCommand: startName + " " + planPath + " --skip-quiz --claude-answer-codex --max 12 --codex-model gpt-5.5:xhigh --codex-timeout 5400 --base-branch " + BaseBranch}, nil
}

// Open gives the layout of a world that Make built earlier; dir is the world or
// its task worktree. It writes the tools anew, for the binary may have moved.
func Open(ctx context.Context, dir, selfPath string) (Layout, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Layout{}, fmt.Errorf("demo world %s: %w", dir, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return Layout{}, fmt.Errorf("demo world: %w", err)
	}
	if filepath.Base(abs) == "FlyDSL-"+Slug {
		abs = filepath.Dir(abs)
	}
	l, err := layout(abs, selfPath)
	if err != nil {
		return l, err
	}
	marker, err := os.ReadFile(filepath.Join(l.Worktree, ".humanize", "kdapilot", "task.toml"))
	if err != nil || !bytes.Contains(marker, []byte(Mark)) {
		return l, fmt.Errorf("demo world %s: this is no world that Make built", abs)
	}
	if l.BaseCommit, err = git(ctx, l.Worktree, time.Time{}, "rev-parse", "refs/heads/"+BaseBranch); err != nil {
		return l, err
	}
	for suffix, where := range map[string]*string{"baseline": &l.Before, "prefetch2": &l.After} {
		found, err := filepath.Glob(filepath.Join(l.Worktree, ".humanize", "kdapilot", "bundles", "*-"+suffix))
		if err == nil && len(found) > 0 {
			*where = found[len(found)-1]
		}
	}
	w := &world{ctx: ctx, l: &l}
	return l, w.tools()
}

// Remove deletes a world. A loop player or a tool that still runs in it stops
// at its next step; for a moment it may hold files, so the deletion is tried
// again for up to three seconds.
func Remove(l Layout) error {
	if l.Dir == "" || !isDir(filepath.Join(l.Dir, "FlyDSL-"+Slug)) {
		return fmt.Errorf("demo world %q: this is no world that Make built", l.Dir)
	}
	var err error
	for range 30 {
		if err = os.RemoveAll(l.Dir); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("demo world: %w", err)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// world is the making of one; now is the made-up time of the step at hand.
type world struct {
	ctx context.Context
	l   *Layout
	now time.Time
}

func (w *world) git(dir string, args ...string) (string, error) {
	return git(w.ctx, dir, w.now, args...)
}

// tools writes the two scripts that stand for python3 and flyprof.
func (w *world) tools() error {
	for name, tool := range map[string]string{"python3": "python", "flyprof": "flyprof"} {
		script := "#!/bin/sh\n# " + Mark + ": the cockpit plays this tool.\nexec " + quote(w.l.Self) + " __sim " + tool + " \"$@\"\n"
		if err := write(filepath.Join(w.l.Bin, name), []byte(script), 0o755); err != nil {
			return err
		}
	}
	return os.MkdirAll(w.l.Cache, 0o755)
}

// quote makes a path safe inside a shell script.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// host makes the checkout that owns the worktrees, with two commits.
func (w *world) host() error {
	err := fs.WalkDir(files, "world", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if strings.HasSuffix(path, ".sh") {
			mode = 0o755
		}
		return write(filepath.Join(w.l.Host, filepath.FromSlash(strings.TrimPrefix(path, "world/"))), b, mode)
	})
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "--all"}, {"commit", "-q", "-m", "Import the kernels (" + Mark + ")"}} {
		if _, err := w.git(w.l.Host, args...); err != nil {
			return err
		}
	}
	w.now = w.now.Add(10 * time.Minute)
	if err := w.edit(w.l.Host, "README.md", "measured.", "measured.\n\nTargets: gfx950, gfx942."); err != nil {
		return err
	}
	if _, err := w.git(w.l.Host, "commit", "-q", "-a", "-m", "Name the targets"); err != nil {
		return err
	}
	w.l.BaseCommit, err = w.git(w.l.Host, "rev-parse", "HEAD")
	return err
}

// worktree pins the base, adds the task worktree and hides what must not make
// it dirty. The exclude file of the host serves every worktree.
func (w *world) worktree() error {
	for _, args := range [][]string{
		{"branch", BaseBranch, w.l.BaseCommit},
		{"worktree", "add", "-q", "-b", Branch, w.l.Worktree, w.l.BaseCommit},
	} {
		if _, err := w.git(w.l.Host, args...); err != nil {
			return err
		}
	}
	exclude := "# written by kdapilot demo\n.humanize*\nprofile/\nfmha_*.csv\nbuild-fly\nbuild-fly-own\npython/flydsl/_mlir\n__pycache__/\n"
	return write(filepath.Join(w.l.Host, ".git", "info", "exclude"), []byte(exclude), 0o644)
}

// contract writes the draft, the plans, runenv.sh and task.toml.
func (w *world) contract() error {
	draft, err := w.draft()
	if err != nil {
		return err
	}
	text, err := files.ReadFile("texts/plan.md.tmpl")
	if err != nil {
		return err
	}
	tpl, err := template.New("plan").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return err
	}
	var plan bytes.Buffer
	if err := tpl.Execute(&plan, map[string]string{"BaseBranch": BaseBranch, "BaseCommit": w.l.BaseCommit, "Draft": strings.TrimSpace(draft)}); err != nil {
		return err
	}
	older, err := files.ReadFile("texts/plan-01.md")
	if err != nil {
		return err
	}
	wt := w.l.Worktree
	runenv := fmt.Sprintf("# %s: there are no bindings to point at\nexport PYTHONPATH=%s:%s\nexport LD_LIBRARY_PATH=%s\nexport FLY_BUILD_DIR=%s\n", Mark,
		quote(filepath.Join(wt, "python")), quote(wt), quote(filepath.Join(wt, "python")), quote(filepath.Join(wt, buildDir)))
	task := fmt.Sprintf("# %s\nslug = %q\nfamily = %q\narch = %q\nbase_branch = %q\nbase_commit = %q\nsimulated = true\n", Mark, Slug, Family, Arch, BaseBranch, w.l.BaseCommit)
	for rel, b := range map[string][]byte{
		"kernel-agent/draft.md": []byte(draft), "kernel-agent/refined-plan.md": plan.Bytes(), "kernel-agent/loop-01-plan.md": older,
		"kernel-agent/runenv.sh": []byte(runenv), "kdapilot/task.toml": []byte(task),
	} {
		if err := write(filepath.Join(wt, ".humanize", filepath.FromSlash(rel)), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// draft fills the family's own contract, as `kdapilot new` does.
func (w *world) draft() (string, error) {
	text, err := templates.Contract(Family)
	if err != nil {
		return "", err
	}
	issue := "Short rows of the attention forward wait at the output store (" + Mark + ")."
	sum := sha256.Sum256([]byte(issue))
	data := templates.ContractData{
		Slug: Slug, Family: Family, Arch: Arch, Title: Mark + ": shorter waits at the output store", Worktree: w.l.Worktree, Branch: Branch,
		BaseBranch: BaseBranch, BaseCommit: w.l.BaseCommit, BaseRef: "main", Fork: "none", Upstream: "none", GPU: "0",
		Issue: issue, IssueSource: "demo text, sha256 " + hex.EncodeToString(sum[:]), Date: w.now.Format("2006-01-02"),
		Goal: "Make short rows faster without making anything else slower (" + Mark + ").", AiterRoot: "none",
	}
	return data.Fill(text)
}

func (w *world) before() error {
	w.now = w.now.Add(30 * time.Minute)
	return w.profile(&w.l.Before, "baseline", 11)
}

func (w *world) after() error {
	w.now = w.now.Add(20 * time.Minute)
	return w.profile(&w.l.After, "prefetch2", 12)
}

// profile writes a bundle of the kernel as it is now.
func (w *world) profile(where *string, name string, seed uint64) error {
	src, err := os.ReadFile(filepath.Join(w.l.Worktree, filepath.FromSlash(kernelRel)))
	if err != nil {
		return err
	}
	*where = filepath.Join(w.l.Worktree, ".humanize", "kdapilot", "bundles", w.now.Format("20060102-150405")+"-"+name)
	c := capture{bundle: *where, worktree: w.l.Worktree, source: src, seed: seed, tags: []string{"big", "small"}, when: w.now, shape: "1,8192,64,64,128"}
	if _, err := c.write(); err != nil {
		return err
	}
	head, err := w.git(w.l.Worktree, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	// What the cockpit notes beside a bundle it starts.
	if err := writeJSON(filepath.Join(*where, "kdapilot.json"), map[string]any{"question": w.question(name), "commit": head, "argv": []string{"flyprof", "run", "flash_attn_fwd"}}); err != nil {
		return err
	}
	return filepath.WalkDir(*where, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, w.now, w.now)
	})
}

// question is what a profile of the story was taken for.
func (w *world) question(name string) string {
	if name == "baseline" {
		return "VMEM wait: which loads do short rows wait for?"
	}
	return "VMEM wait: did a deeper prefetch shorten it?"
}

// mainMoves adds a commit to main, so that the locked base is not its tip.
func (w *world) mainMoves() error {
	if err := w.edit(w.l.Host, "README.md", "Targets: gfx950, gfx942.", "Targets: gfx950, gfx942, gfx1250."); err != nil {
		return err
	}
	_, err := w.git(w.l.Host, "commit", "-q", "-a", "-m", "Name one more target")
	return err
}

// times puts draft and plan of loop 02 after the end of loop 01, in the order in
// which people write them.
func (w *world) times() error {
	for _, rel := range []string{"draft.md", "refined-plan.md"} {
		w.now = w.now.Add(20 * time.Minute)
		path := filepath.Join(w.l.Worktree, ".humanize", "kernel-agent", rel)
		if err := os.Chtimes(path, w.now, w.now); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) edit(root, rel, old, repl string) error {
	path := filepath.Join(root, filepath.FromSlash(rel))
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(b, []byte(old)) {
		return fmt.Errorf("%s does not hold %q", rel, old)
	}
	return os.WriteFile(path, bytes.Replace(b, []byte(old), []byte(repl), 1), 0o644)
}

func write(path string, b []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b, mode)
}
