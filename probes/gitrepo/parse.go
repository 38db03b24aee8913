package gitrepo

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kdapilot/engine/repo"
	"kdapilot/engine/text"
)

// Limits of what one reading carries; the counts stay exact.
const (
	fileLimit   = 5000
	commitLimit = 2000
)

// status is porcelain v2 with --branch.
type status struct {
	head             string // commit id, empty before the first commit
	branch           string // cleaned; "(detached)" as git writes it
	upstream         string
	ahead, behind    int
	distanceKnown    bool
	files            []repo.File
	count            int
	sawHead, sawName bool
}

// parseStatus reads `git status --porcelain=v2 --branch -z`.
func parseStatus(b []byte) (status, error) {
	var s status
	for rest := b; len(rest) > 0; {
		var rec []byte
		rec, rest = cutNUL(rest)
		if len(rec) < 2 || rec[1] != ' ' {
			return s, fmt.Errorf("status record %q: expected a letter and a blank", text.Clip(text.Line(string(rec)), 80))
		}
		var f repo.File
		var err error
		switch rec[0] {
		case '#':
			s.header(string(rec[2:]))
			continue
		case '1':
			f, err = changed(string(rec), 9)
		case '2':
			if f, err = changed(string(rec), 10); err == nil {
				var from []byte
				from, rest = cutNUL(rest)
				f.From = text.Line(string(from))
				f.Change = repo.Renamed
				if strings.HasPrefix(strings.SplitN(string(rec), " ", 10)[8], "C") {
					f.Change = repo.Copied
				}
			}
		case 'u':
			if f, err = changed(string(rec), 11); err == nil {
				f.Change, f.Staged, f.Unstaged = repo.Unmerged, false, true
			}
		case '?':
			f = file(string(rec[2:]))
			f.Change, f.Unstaged = repo.Untracked, true
		case '!':
			continue
		default:
			return s, fmt.Errorf("status record of unknown kind %q", rec[0])
		}
		if err != nil {
			return s, err
		}
		if s.count++; len(s.files) < fileLimit {
			s.files = append(s.files, f)
		}
	}
	if !s.sawHead || !s.sawName {
		return s, fmt.Errorf("status without branch.oid or branch.head: git is older than 2.11 or was cut off")
	}
	return s, nil
}

func (s *status) header(h string) {
	key, val, _ := strings.Cut(h, " ")
	switch key {
	case "branch.oid":
		s.sawHead = true
		if isCommitID(val) {
			s.head = val
		}
	case "branch.head":
		s.sawName, s.branch = true, text.Line(val)
	case "branch.upstream":
		s.upstream = text.Line(val)
	case "branch.ab":
		a, b, _ := strings.Cut(val, " ")
		var err1, err2 error
		s.ahead, err1 = strconv.Atoi(strings.TrimPrefix(a, "+"))
		s.behind, err2 = strconv.Atoi(strings.TrimPrefix(b, "-"))
		s.distanceKnown = err1 == nil && err2 == nil
	}
}

// changed reads an entry of n blank-separated fields, the last of which is the
// path and may hold blanks. Field 1 is XY, field 2 the submodule state.
func changed(rec string, n int) (repo.File, error) {
	p := strings.SplitN(rec, " ", n)
	if len(p) != n || len(p[1]) != 2 || p[2] == "" {
		return repo.File{}, fmt.Errorf("status record %q: expected %d fields", text.Clip(text.Line(rec), 80), n)
	}
	f := file(p[n-1])
	x, y := p[1][0], p[1][1]
	f.Staged, f.Unstaged, f.Submodule = x != '.', y != '.', p[2][0] == 'S'
	f.Change = repo.Modified
	switch {
	case x == 'D' || y == 'D':
		f.Change = repo.Deleted
	case x == 'A' || y == 'A':
		f.Change = repo.Added
	case x == 'T' || y == 'T':
		f.Change = repo.TypeMoved
	}
	return f, nil
}

func file(path string) repo.File {
	f := repo.File{Path: text.Line(path)}
	if f.Path != path {
		f.Raw = path
	}
	return f
}

// parseLog reads log lines of "%m\t%H\t%ct\t%s" separated by NUL. Without
// --left-right the mark is '>'.
func parseLog(b []byte) (ahead []repo.Commit, behind int, err error) {
	for rest := b; len(rest) > 0; {
		var rec []byte
		rec, rest = cutNUL(rest)
		p := strings.SplitN(string(rec), "\t", 4)
		if len(p) != 4 || !isCommitID(p[1]) {
			return nil, 0, fmt.Errorf("log record %q: expected mark, commit, time and subject", text.Clip(text.Line(string(rec)), 80))
		}
		if p[0] == "<" {
			behind++
			continue
		}
		sec, err := strconv.ParseInt(p[2], 10, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("log record of %s: time %q: %w", p[1], text.Line(p[2]), err)
		}
		ahead = append(ahead, repo.Commit{SHA: p[1], Subject: text.Clip(text.Line(p[3]), 400), Time: time.Unix(sec, 0).UTC()})
	}
	return ahead, behind, nil
}

// parseNumstat reads `git diff --numstat -z`.
func parseNumstat(b []byte) (repo.DiffStat, error) {
	var d repo.DiffStat
	for rest := b; len(rest) > 0; {
		var rec []byte
		rec, rest = cutNUL(rest)
		p := strings.SplitN(string(rec), "\t", 3)
		if len(p) != 3 {
			return d, fmt.Errorf("numstat record %q: expected added, deleted and path", text.Clip(text.Line(string(rec)), 80))
		}
		f := repo.FileStat{Path: text.Line(p[2])}
		if p[0] == "-" && p[1] == "-" {
			f.Binary = true
		} else {
			var err1, err2 error
			f.Added, err1 = strconv.Atoi(p[0])
			f.Deleted, err2 = strconv.Atoi(p[1])
			if err1 != nil || err2 != nil || f.Added < 0 || f.Deleted < 0 {
				return d, fmt.Errorf("numstat record %q: expected two counts", text.Clip(text.Line(string(rec)), 80))
			}
		}
		if p[2] == "" { // a rename: old and new path follow
			var from, to []byte
			from, rest = cutNUL(rest)
			to, rest = cutNUL(rest)
			f.From, f.Path = text.Line(string(from)), text.Line(string(to))
		}
		d.FileCount++
		d.Added += f.Added
		d.Deleted += f.Deleted
		if len(d.Files) < fileLimit {
			d.Files = append(d.Files, f)
		}
	}
	return d, nil
}

// parseWorktrees reads `git worktree list --porcelain -z`: attribute lines, an
// empty one after each worktree.
func parseWorktrees(b []byte) []repo.LinkedWorktree {
	var out []repo.LinkedWorktree
	for rest := b; len(rest) > 0; {
		var rec []byte
		rec, rest = cutNUL(rest)
		key, val, _ := strings.Cut(string(rec), " ")
		if key == "worktree" {
			out = append(out, repo.LinkedWorktree{Path: text.Line(val)})
			continue
		}
		if len(out) == 0 {
			continue
		}
		w := &out[len(out)-1]
		switch key {
		case "HEAD":
			if isCommitID(val) {
				w.Head = val
			}
		case "branch":
			w.Branch = text.Line(strings.TrimPrefix(val, "refs/heads/"))
		case "detached":
			w.Detached = true
		case "bare":
			w.Bare = true
		case "locked":
			w.Locked = true
		case "prunable":
			w.Prunable = true
		}
	}
	return out
}

func cutNUL(b []byte) (rec, rest []byte) {
	rec, rest, _ = bytes.Cut(b, []byte{0})
	return rec, rest
}
