package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kdapilot/engine/repo"
	"kdapilot/probes/readfile"
)

const refLimit = 64 << 10 // bytes of HEAD or of one loose ref

// detached reports whether HEAD holds a commit instead of a branch.
func detached(gitDir string) bool {
	b, _, err := readfile.All(filepath.Join(gitDir, "HEAD"), refLimit)
	return err == nil && !strings.HasPrefix(string(b), "ref:")
}

// Stamp is a cheap fingerprint of HEAD, its branch and the index, read from
// files without starting git. While it stays the same, neither a commit nor a
// checkout nor a git add happened; edits of files do not show in it.
func Stamp(r repo.Repo) string {
	if r.State != repo.Worktree {
		return string(r.State)
	}
	head, _, err := readfile.All(filepath.Join(r.GitDir, "HEAD"), refLimit)
	if err != nil {
		return "HEAD: " + err.Error()
	}
	s := strings.TrimSpace(string(head))
	if ref, ok := strings.CutPrefix(s, "ref: "); ok && filepath.IsLocal(ref) {
		if b, _, err := readfile.All(filepath.Join(r.CommonDir, ref), refLimit); err == nil {
			s += " " + strings.TrimSpace(string(b))
		} else {
			s += " packed " + fileStamp(filepath.Join(r.CommonDir, "packed-refs"))
		}
	}
	return s + " index " + fileStamp(filepath.Join(r.GitDir, "index"))
}

func fileStamp(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	return fmt.Sprintf("%d.%d", st.Size(), st.ModTime().UnixNano())
}

// WatchFolder is a folder whose changes mean the facts here may have changed.
type WatchFolder struct {
	Path      string
	Recursive bool
}

// WatchFolders lists what to watch for commits, checkouts and moved branches:
// the folder with HEAD and index, and the local branches.
func WatchFolders(r repo.Repo) []WatchFolder {
	if r.State != repo.Worktree {
		return nil
	}
	out := []WatchFolder{{Path: r.GitDir}}
	if r.CommonDir != r.GitDir {
		out = append(out, WatchFolder{Path: r.CommonDir})
	}
	return append(out, WatchFolder{Path: filepath.Join(r.CommonDir, "refs", "heads"), Recursive: true})
}
