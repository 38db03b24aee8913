package gitrepo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"kdapilot/engine/repo"
	"kdapilot/engine/text"
)

// Root is the top folder of the worktree around dir.
func (g Git) Root(ctx context.Context, dir string) (string, error) {
	out, err := g.read(ctx, dir, nil, "rev-parse", "--show-toplevel")
	return strings.TrimSuffix(string(out), "\n"), err
}

// Branch gives the commit a local branch stands at; the error wraps ErrMissing
// if there is no such local branch. Remote branches, tags and commit ids do not
// count, as they do not for Humanize.
func (g Git) Branch(ctx context.Context, dir, name string) (string, error) {
	if err := checkRev(name); err != nil {
		return "", err
	}
	return g.commit(ctx, dir, "refs/heads/"+name)
}

// Commit gives the full id of whatever rev names.
func (g Git) Commit(ctx context.Context, dir, rev string) (string, error) {
	if err := checkRev(rev); err != nil {
		return "", err
	}
	return g.commit(ctx, dir, rev)
}

func (g Git) commit(ctx context.Context, dir, rev string) (string, error) {
	out, err := g.read(ctx, dir, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	var e *Error
	if errors.As(err, &e) && e.Exit == 1 {
		return "", fmt.Errorf("%s in %s: %w", text.Line(rev), dir, ErrMissing)
	}
	if err != nil {
		return "", err
	}
	if id := strings.TrimSpace(string(out)); isCommitID(id) {
		return id, nil
	}
	return "", fmt.Errorf("git rev-parse %s in %s: expected a commit id, got %q", text.Line(rev), dir, firstLine(string(out)))
}

// IsAncestor reports whether old is reachable from young.
func (g Git) IsAncestor(ctx context.Context, dir, old, young string) (bool, error) {
	if err := errors.Join(checkRev(old), checkRev(young)); err != nil {
		return false, err
	}
	_, err := g.read(ctx, dir, nil, "merge-base", "--is-ancestor", old, young)
	var e *Error
	if errors.As(err, &e) && e.Exit == 1 {
		return false, nil
	}
	return err == nil, err
}

// Distance counts the commits of head that base lacks (Ahead) and the reverse.
func (g Git) Distance(ctx context.Context, dir, base, head string) (repo.Distance, error) {
	if err := errors.Join(checkRev(base), checkRev(head)); err != nil {
		return repo.Distance{}, err
	}
	out, err := g.read(ctx, dir, nil, "rev-list", "--left-right", "--count", base+"..."+head, "--")
	if err != nil {
		return repo.Distance{}, err
	}
	var d repo.Distance
	if _, err := fmt.Sscanf(string(out), "%d\t%d", &d.Behind, &d.Ahead); err != nil {
		return repo.Distance{}, fmt.Errorf("git rev-list in %s: expected two counts, got %q", dir, firstLine(string(out)))
	}
	return d, nil
}

// Commits lists what head has and base lacks, newest first, at most 2000.
func (g Git) Commits(ctx context.Context, dir, base, head string) ([]repo.Commit, error) {
	if err := errors.Join(checkRev(base), checkRev(head)); err != nil {
		return nil, err
	}
	cs, _, err := g.log(ctx, dir, base+".."+head)
	return cs, err
}

// DiffStat compares the trees of two commits.
func (g Git) DiffStat(ctx context.Context, dir, from, to string) (repo.DiffStat, error) {
	if err := errors.Join(checkRev(from), checkRev(to)); err != nil {
		return repo.DiffStat{}, err
	}
	out, err := g.read(ctx, dir, nil, "diff", "--numstat", "-z", "-M", "--no-ext-diff", "--no-textconv", "--no-color", from, to, "--")
	if err != nil {
		return repo.DiffStat{}, err
	}
	d, err := parseNumstat(out)
	if err != nil {
		return d, fmt.Errorf("git diff in %s: %w", dir, err)
	}
	return d, nil
}

// Worktrees lists all checkouts of the repository; the main one comes first.
func (g Git) Worktrees(ctx context.Context, dir string) ([]repo.LinkedWorktree, error) {
	out, err := g.read(ctx, dir, nil, "worktree", "list", "--porcelain", "-z")
	var e *Error
	if errors.As(err, &e) && e.Exit == 129 { // -z came with git 2.36
		if out, err = g.read(ctx, dir, nil, "worktree", "list", "--porcelain"); err == nil {
			out = bytes.ReplaceAll(out, []byte{'\n'}, []byte{0})
		}
	}
	if err != nil {
		return nil, err
	}
	return parseWorktrees(out), nil
}

// Ignored returns those of paths (relative to dir) that git ignores.
func (g Git) Ignored(ctx context.Context, dir string, paths ...string) ([]string, error) {
	out, err := g.read(ctx, dir, []byte(strings.Join(paths, "\x00")), "check-ignore", "-z", "--stdin")
	var e *Error
	if errors.As(err, &e) && e.Exit == 1 { // none of them
		return nil, nil
	}
	return splitNUL(out), err
}

// Tracked returns those of paths (relative to dir, plain names, no patterns)
// that are in the index; a folder yields the files below it.
func (g Git) Tracked(ctx context.Context, dir string, paths ...string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	args := []string{"ls-files", "-z", "--"}
	for _, p := range paths {
		args = append(args, ":(literal)"+p)
	}
	out, err := g.read(ctx, dir, nil, args...)
	return splitNUL(out), err
}

func splitNUL(b []byte) []string {
	var out []string
	for rest := b; len(rest) > 0; {
		var rec []byte
		rec, rest = cutNUL(rest)
		out = append(out, text.Line(string(rec)))
	}
	return out
}

// Blob is a file as a commit holds it.
type Blob struct {
	Path string
	// ID is git's own object id; SHA256 is over the bytes. Both empty if Missing.
	ID, SHA256 string
	Bytes      []byte
	Missing    bool
}

// BlobsAt reads files as they are at a commit, all with one process, in the
// order of paths. A path the commit does not have, or that is no file, comes
// back as Missing. Paths are relative to the root.
func (g Git) BlobsAt(ctx context.Context, dir, rev string, paths ...string) ([]Blob, error) {
	if err := checkRev(rev); err != nil {
		return nil, err
	}
	var ask strings.Builder
	for _, p := range paths {
		if p == "" || strings.ContainsAny(p, "\n\x00") {
			return nil, fmt.Errorf("path %q: %w", p, ErrBadName)
		}
		ask.WriteString(rev + ":" + p + "\n")
	}
	out, err := g.read(ctx, dir, []byte(ask.String()), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	blobs, err := parseBatch(out, paths)
	if err != nil {
		return nil, fmt.Errorf("git cat-file at %s in %s: %w", text.Line(rev), dir, err)
	}
	return blobs, nil
}

// parseBatch reads `git cat-file --batch`: "<id> <type> <size>", the bytes and a
// newline, or "<what was asked> missing".
func parseBatch(b []byte, paths []string) ([]Blob, error) {
	out := make([]Blob, 0, len(paths))
	for _, p := range paths {
		head, rest, ok := bytes.Cut(b, []byte{'\n'})
		if !ok {
			return nil, fmt.Errorf("%s: no answer", text.Line(p))
		}
		b = rest
		f := strings.Fields(string(head))
		if len(f) != 3 || !isCommitID(f[0]) { // missing, ambiguous, submodule
			out = append(out, Blob{Path: p, Missing: true})
			continue
		}
		size, err := strconv.Atoi(f[2])
		if err != nil || size < 0 || size >= len(b) || b[size] != '\n' {
			return nil, fmt.Errorf("%s: answer is cut off or of a wrong size", text.Line(p))
		}
		blob := Blob{Path: p, Missing: true}
		if f[1] == "blob" {
			sum := sha256.Sum256(b[:size])
			blob = Blob{Path: p, ID: f[0], SHA256: hex.EncodeToString(sum[:]), Bytes: bytes.Clone(b[:size])}
		}
		out = append(out, blob)
		b = b[size+1:]
	}
	return out, nil
}

// hashLimit bounds the bytes read of one dirty file.
const hashLimit = 64 << 20

// DirtyHash binds the uncommitted state: the SHA-256 over HEAD's dirty files
// outside .humanize, sorted, each with its change and the hash of its bytes. It
// is empty for a clean tree. count is the number of files.
func (g Git) DirtyHash(ctx context.Context, root string) (hash string, count int, err error) {
	out, err := g.read(ctx, root, nil, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return "", 0, err
	}
	st, err := parseStatus(out)
	if err != nil {
		return "", 0, fmt.Errorf("git status in %s: %w", root, err)
	}
	if st.count > len(st.files) {
		return "", 0, fmt.Errorf("%s: %d uncommitted files, more than the %d that are hashed", root, st.count, fileLimit)
	}
	files := repo.Repo{Files: st.files}.Dirty()
	if len(files) == 0 {
		return "", 0, nil
	}
	slices.SortFunc(files, func(a, b repo.File) int { return strings.Compare(a.Path, b.Path) })
	sum := sha256.New()
	for _, f := range files {
		path := f.Path
		if f.Raw != "" {
			path = f.Raw
		}
		fmt.Fprintf(sum, "%s\x00%s\x00%t\x00%s\x00", path, f.Change, f.Staged, contentHash(filepath.Join(root, path)))
	}
	return hex.EncodeToString(sum.Sum(nil)), len(files), nil
}

// contentHash stands for a file's bytes, or says in words why it can not.
func contentHash(path string) string {
	st, err := os.Lstat(path)
	switch {
	case err != nil:
		return "absent"
	case st.Mode()&os.ModeSymlink != 0:
		to, _ := os.Readlink(path)
		return "link to " + to
	case !st.Mode().IsRegular():
		return "not a file"
	case st.Size() > hashLimit:
		return fmt.Sprintf("large %d %d", st.Size(), st.ModTime().UnixNano())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "unreadable"
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, hashLimit)); err != nil {
		return "unreadable"
	}
	return hex.EncodeToString(sum.Sum(nil))
}
