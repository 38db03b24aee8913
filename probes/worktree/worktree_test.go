package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kdapilot/engine/repo"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestExcludeKeepsWhatIsThere(t *testing.T) {
	for _, before := range []string{"", "# git's own\n*.swp", "*.swp\n"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "info/exclude")
		if before != "" {
			write(t, path, before)
		}
		s := Exclude(dir, []string{"/profile/", "/build-fly"})
		if s.Status != Todo {
			t.Fatalf("%q: %s", before, s.Status)
		}
		if err := Do(t.Context(), []Step{s}, nil); err != nil {
			t.Fatal(err)
		}
		got := read(t, path)
		if !strings.HasPrefix(got, before) || !strings.Contains(got, "\n/profile/\n/build-fly\n") {
			t.Errorf("%q became %q", before, got)
		}
		if s := Exclude(dir, []string{"/profile/", "/build-fly"}); s.Status != There {
			t.Errorf("second time: %s", s.Status)
		}
		if err := s.undo(t.Context()); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); before == "" && err == nil || string(b) != before {
			t.Errorf("taken back: %q, want %q", b, before)
		}
	}
}

func TestExcludeIsNotTakenBackOverOthers(t *testing.T) {
	dir := t.TempDir()
	s := Exclude(dir, []string{"/x"})
	if err := s.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "info/exclude"), "/x\n/theirs\n")
	if err := s.undo(t.Context()); err == nil {
		t.Error("a line that somebody added meanwhile was dropped")
	}
}

func TestLinksAndFilesReplaceNothing(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "built")
	write(t, filepath.Join(target, "x"), "x")
	write(t, filepath.Join(dir, "real"), "mine")
	if s := Link(filepath.Join(dir, "real"), target); s.Status != Conflict {
		t.Errorf("link over a file: %s", s.Status)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if s := Link(filepath.Join(dir, "elsewhere"), target); s.Status != Conflict {
		t.Errorf("link over another link: %s", s.Status)
	}
	if s := NewFile(dir, File{Path: "real", Bytes: []byte("ours")}); s.Status != Kept {
		t.Errorf("file over another: %s", s.Status)
	}
	// A file that appears between plan and deed stays as well.
	s := NewFile(dir, File{Path: "late", Bytes: []byte("ours")})
	write(t, filepath.Join(dir, "late"), "theirs")
	if err := Do(t.Context(), []Step{s}, nil); err == nil || read(t, filepath.Join(dir, "late")) != "theirs" {
		t.Errorf("late file: %v, now %q", err, read(t, filepath.Join(dir, "late")))
	}
}

func TestTakenBackInReverse(t *testing.T) {
	dir := t.TempDir()
	steps := []Step{
		NewFile(dir, File{Path: "a/b/one", Bytes: []byte("1")}),
		Link(filepath.Join(dir, "a/two"), dir),
		{What: "break", Status: Todo, do: func(context.Context) error { return errors.New("boom") }},
	}
	err := Do(t.Context(), steps, nil)
	if err == nil || !strings.Contains(err.Error(), "boom") || !strings.Contains(err.Error(), "taken back") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	steps = []Step{
		NewFile(dir, File{Path: "x", Bytes: []byte("1")}),
		{What: "stop", Status: Todo, do: func(context.Context) error { cancel(); return nil }, undo: func(context.Context) error { return nil }},
		NewFile(dir, File{Path: "y", Bytes: []byte("1")}),
	}
	if err := Do(ctx, steps, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind after an interrupt: %v %v", left, err)
	}
}

// What runenv.sh means only a shell can tell.
func TestRunEnvIsSourced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a tree")
	write(t, filepath.Join(dir, RunEnvPath), string(RunEnv(dir)))
	source := func() string {
		t.Helper()
		cmd := exec.Command("bash", "--noprofile", "--norc", "-uec", `. "$1"; echo "$PYTHONPATH|$LD_LIBRARY_PATH|${FLY_BUILD_DIR-}|${KDA_WT-gone}"`, "x", filepath.Join(dir, RunEnvPath))
		cmd.Env = []string{"PATH=/usr/bin:/bin", "PYTHONPATH=/before"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if got, want := source(), dir+"/python:"+dir+":/before|"+dir+"/python/flydsl/_mlir/_mlir_libs||gone"; got != want {
		t.Errorf("sourced: %s\nwant     %s", got, want)
	}
	own := filepath.Join(dir, "build-fly-own")
	write(t, filepath.Join(own, "python_packages/flydsl/_mlir/x"), "")
	if got := source(); !strings.HasSuffix(got, "|"+own+"/python_packages/flydsl/_mlir/_mlir_libs|"+own+"|gone") {
		t.Errorf("with a build of its own: %s", got)
	}
}

func TestRemoteURLHidesCredentials(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", "https://me:secret@example.invalid/a/b.git"}, {"remote", "add", "up", "git@example.invalid:a/b.git"}} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"origin": "https://example.invalid/a/b.git", "up": "git@example.invalid:a/b.git", "none": ""} {
		if got := RemoteURL(t.Context(), dir, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	for slug, ok := range map[string]bool{"fa-fp8": true, "a": true, "": false, "-a": false, "A": false, "a/b": false, "a b": false, "..": false, strings.Repeat("a", 65): false} {
		if got := CheckSlug(slug) == nil; got != ok {
			t.Errorf("CheckSlug(%q) ok = %t, want %t", slug, got, ok)
		}
	}
}

func TestLossNamesWhatBlocks(t *testing.T) {
	l := Loss{Dirty: []repo.File{{Path: "k.py", Change: repo.Untracked}}, Unpushed: 2, Commits: []string{"abc one"}}
	got := strings.Join(l.Blocks(), "\n")
	for _, want := range []string{"1 uncommitted", "k.py", "2 commits", "abc one"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not named in:\n%s", want, got)
		}
	}
	if (Loss{Ignored: []string{"build-fly-own/"}}).Blocks() != nil {
		t.Error("ignored files block")
	}
}
