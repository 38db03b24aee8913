package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"kdapilot/probes/readfile"
)

const fileLimit = 4 << 20 // bytes of a file that is compared or extended

// ExcludeLines are what every task keeps out of git's sight.
func ExcludeLines() []string {
	return []string{"/.humanize*", "/build-fly", "/build-fly-own", "/python/flydsl/_mlir", "/profile/"}
}

const excludeHead = "# kdapilot: what tasks leave in a worktree"

// Exclude is the step that adds lines to .git/info/exclude of the repository
// whose common git folder is given.
func Exclude(commonDir string, lines []string) Step { return exclude(commonDir, lines) }

func exclude(commonDir string, lines []string) Step {
	path := filepath.Join(commonDir, "info", "exclude")
	st := Step{What: "ignore lines in " + path, Status: Todo}
	before, _, err := readfile.All(path, fileLimit)
	absent := errors.Is(err, fs.ErrNotExist)
	if err != nil && !absent {
		st.Status, st.Why = Conflict, err.Error()
		return st
	}
	have := strings.Split(string(before), "\n")
	var add []string
	for _, l := range lines {
		if !slices.Contains(have, l) && !slices.Contains(add, l) {
			add = append(add, l)
		}
	}
	if len(add) == 0 {
		st.Status = There
		return st
	}
	st.What += ": " + strings.Join(add, " ")
	after := bytes.Clone(before)
	if len(after) > 0 && after[len(after)-1] != '\n' {
		after = append(after, '\n')
	}
	if !slices.Contains(have, excludeHead) {
		after = append(after, excludeHead+"\n"...)
	}
	after = append(after, strings.Join(add, "\n")+"\n"...)
	st.do = func(context.Context) error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return renameio.WriteFile(path, after, 0o644)
	}
	st.undo = func(context.Context) error {
		now, _, err := readfile.All(path, fileLimit)
		switch {
		case err != nil || !bytes.Equal(now, after):
			return fmt.Errorf("%s was changed by somebody else meanwhile", path)
		case absent:
			return os.Remove(path)
		}
		return renameio.WriteFile(path, before, 0o644)
	}
	return st
}

// bindings link the compiled part of a built checkout into the worktree.
func bindings(s Spec) ([]Step, error) {
	if s.BuildFrom == "" {
		return nil, nil
	}
	build := filepath.Join(s.BuildFrom, "build-fly")
	mlir := filepath.Join(build, "python_packages", "flydsl", "_mlir")
	for _, dir := range []string{build, mlir} {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("--build-from %s: %s is not there: that checkout is not built", s.BuildFrom, dir)
		}
	}
	return []Step{
		link(filepath.Join(s.Path, "python", "flydsl", "_mlir"), mlir),
		link(filepath.Join(s.Path, "build-fly"), build),
	}, nil
}

// Link is the step that makes a symbolic link at path. It never replaces
// anything.
func Link(path, to string) Step { return link(path, to) }

func link(path, to string) Step {
	st := Step{What: path + " -> " + to, Status: Todo}
	if at, err := os.Readlink(path); err == nil {
		st.Status, st.Why = Conflict, "it is a link to "+at
		if same(at, to) {
			st.Status, st.Why = There, ""
		}
	} else if _, err := os.Lstat(path); err == nil {
		st.Status, st.Why = Conflict, "there is a real file or folder; it is not replaced"
	}
	var made []string
	st.do = func(context.Context) (err error) {
		if made, err = makeDirs(filepath.Dir(path)); err != nil {
			return err
		}
		return os.Symlink(to, path)
	}
	st.undo = func(context.Context) error {
		if at, err := os.Readlink(path); err == nil && at == to {
			err = os.Remove(path)
			removeDirs(made)
			return err
		}
		return nil // gone with its worktree
	}
	return st
}

// file writes one file of the task.
func file(root string, f File) Step {
	path := filepath.Join(root, f.Path)
	st := Step{What: f.What + " " + path, Status: Todo}
	if now, _, err := readfile.All(path, fileLimit); err == nil {
		st.Status = There
		if !bytes.Equal(now, f.Bytes) {
			st.Status, st.Why = Kept, "it is there with other content; it is not replaced"
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		st.Status, st.Why = Conflict, err.Error()
	}
	var made []string
	st.do = func(context.Context) (err error) {
		if made, err = makeDirs(filepath.Dir(path)); err != nil {
			return err
		}
		return writeNew(path, f.Bytes)
	}
	st.undo = func(context.Context) error {
		err := os.Remove(path)
		removeDirs(made)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return st
}

// NewFile is the step that writes one file below root, if it is not there.
func NewFile(root string, f File) Step { return file(root, f) }

// writeNew writes a file that must not exist yet, whole or not at all.
func writeNew(path string, b []byte) error {
	t, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer t.Cleanup()
	if _, err := t.Write(b); err != nil {
		return err
	}
	if err := t.Sync(); err != nil {
		return err
	}
	// A link refuses to replace what a rename would.
	return os.Link(t.Name(), path)
}

// makeDirs makes dir and gives the folders that were not there, outermost first.
func makeDirs(dir string) ([]string, error) {
	var made []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	slices.Reverse(made)
	return made, os.MkdirAll(dir, 0o755)
}

// removeDirs takes back empty folders, innermost first.
func removeDirs(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		if os.Remove(made[i]) != nil {
			return
		}
	}
}

// RunEnv is the text of runenv.sh: this worktree's own packages first.
func RunEnv(root string) []byte {
	q := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	var b strings.Builder
	b.WriteString("# Written by kdapilot. Source it before anything that imports flydsl.\n")
	fmt.Fprintf(&b, "KDA_WT=%s\n", q(root))
	b.WriteString("# A build of this worktree's own goes before the linked one.\n")
	b.WriteString(`if [ -d "$KDA_WT/build-fly-own/python_packages/flydsl/_mlir" ]; then` + "\n")
	b.WriteString(`  export FLY_BUILD_DIR="$KDA_WT/build-fly-own"` + "\n")
	b.WriteString(`  KDA_MLIR="$FLY_BUILD_DIR/python_packages/flydsl/_mlir"` + "\n")
	b.WriteString("else\n" + `  KDA_MLIR="$KDA_WT/python/flydsl/_mlir"` + "\nfi\n")
	b.WriteString(`export PYTHONPATH="$KDA_WT/python:$KDA_WT${PYTHONPATH:+:$PYTHONPATH}"` + "\n")
	b.WriteString(`export LD_LIBRARY_PATH="$KDA_MLIR/_mlir_libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"` + "\n")
	b.WriteString("unset KDA_WT KDA_MLIR\n")
	return []byte(b.String())
}
