package humanize

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/text"
)

// Scanner scans one root again and again and keeps what did not change, keyed
// by path, size, modification time and inode. Not safe for concurrent use.
//
// A loop that has ended and is not the newest is looked at by its folder, state
// file, tracker and cache folder only; a result rewritten in place inside it is
// not seen until one of these changes. A fresh Scanner sees everything.
type Scanner struct {
	root  string
	opts  Options
	cache cache
	kept  map[string]*keptLoop // by folder
	// lists keep the names of folders.
	lists map[string]*listing
}

type listing struct {
	key
	readAt time.Time
	names  []string
	cut    bool
	used   int
}

// NewScanner prepares a scanner; it reads nothing yet. root is the worktree, or
// its .humanize folder.
func NewScanner(root string, opts Options) *Scanner {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Scanner{root: root, opts: opts, kept: map[string]*keptLoop{}, lists: map[string]*listing{}}
}

// Forget drops everything kept, so that the next Scan reads all files anew.
func (s *Scanner) Forget() {
	s.cache, s.kept, s.lists = cache{}, map[string]*keptLoop{}, map[string]*listing{}
}

// Scan reads what changed since the last call.
func (s *Scanner) Scan(ctx context.Context) (loop.Set, error) {
	now := s.opts.Now()
	root, err := s.resolve()
	if err != nil {
		return loop.Set{Origin: fact.Origin{Path: s.root, ReadAt: now, Status: fact.Missing, Why: err.Error()}}, err
	}
	s.cache.begin()
	set := loop.Set{
		Root: root, Loops: []loop.Loop{}, Consultations: []loop.Consultation{}, Warnings: []loop.Warning{},
		Origin: fact.Origin{Path: join(root, ".humanize"), ReadAt: now, Status: fact.OK},
	}
	if _, err := os.Lstat(set.Origin.Path); err != nil {
		set.Origin.Status, set.Origin.Why = fact.Missing, "no .humanize folder here"
	}
	set.Signal = s.signal(root)
	set.Bitlessons = s.lessons(root)
	if err := s.loops(ctx, root, &set); err != nil {
		return set, err
	}
	set.Consultations = s.consultations(root, &set)
	s.sweep()
	set.Judge(now)
	return set, ctx.Err()
}

// resolve makes root absolute and free of symbolic links, as Humanize does for
// the name of its cache folder.
func (s *Scanner) resolve() (string, error) {
	root, err := filepath.Abs(s.root)
	if err != nil {
		return "", fmt.Errorf("humanize: %s: %w", s.root, err)
	}
	if filepath.Base(root) == ".humanize" {
		root = filepath.Dir(root)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", fmt.Errorf("humanize: %w", err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("humanize: %s: not a folder", real)
	}
	return real, nil
}

func (s *Scanner) sweep() {
	s.cache.sweep()
	for p, k := range s.kept {
		if k.used != s.cache.scan {
			delete(s.kept, p)
		}
	}
	for p, k := range s.lists {
		if k.used != s.cache.scan {
			delete(s.lists, p)
		}
	}
}

// list is names with memory: a folder whose time did not move holds the same
// names.
func (s *Scanner) list(dir string, limit int) ([]string, bool, key, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, false, key{}, err
	}
	st := statOf(info)
	if l := s.lists[dir]; l != nil && l.key == st.key && l.readAt.Sub(st.mod) > settled {
		l.used = s.cache.scan
		return l.names, l.cut, st.key, nil
	}
	at := time.Now()
	list, cut, err := names(dir, limit)
	if err != nil {
		return nil, false, st.key, err
	}
	s.lists[dir] = &listing{key: st.key, readAt: at, names: list, cut: cut, used: s.cache.scan}
	return list, cut, st.key, nil
}

// place is one loop folder found.
type place struct {
	name, dir string
	layout    loop.Layout
}

// loops finds the loop folders of all layouts and reads them, newest first.
func (s *Scanner) loops(ctx context.Context, root string, set *loop.Set) error {
	var found []place
	for _, b := range []struct {
		dir    string
		layout loop.Layout
	}{
		{join(root, ".humanize", "rlcr"), loop.RLCR},
		{join(root, ".humanize-loop.local"), loop.Local},
		{join(root, ".humanize", "pr-loop"), loop.PR},
	} {
		found = append(found, s.places(b.dir, b.layout, set)...)
	}
	slices.SortStableFunc(found, func(a, b place) int {
		switch {
		case a.name > b.name:
			return -1
		case a.name < b.name:
			return 1
		}
		return 0
	})
	if len(found) > MaxLoops {
		set.Dropped = len(found) - MaxLoops
		found = found[:MaxLoops]
	}
	newest := map[loop.Layout]bool{}
	for _, p := range found {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := !newest[p.layout]
		newest[p.layout] = true
		set.Loops = append(set.Loops, s.loop(ctx, root, p, first, set.Signal))
	}
	return nil
}

func (s *Scanner) places(base string, layout loop.Layout, set *loop.Set) []place {
	list, cut, _, err := s.list(base, MaxDirEntries)
	if err != nil {
		unreadable(set, err)
		return nil
	}
	if cut {
		set.Warnings = append(set.Warnings, loop.Warning{ID: "folder-too-large", Severity: loop.Amber, Path: base,
			Text: fmt.Sprintf("more than %d entries, the rest was not looked at", MaxDirEntries)})
	}
	var out []place
	for _, n := range list {
		if text.Line(n) != n {
			set.Warnings = append(set.Warnings, loop.Warning{ID: "folder-name", Severity: loop.Amber, Path: base,
				Text: "a folder name holds control characters, not read: " + text.Clip(text.Line(n), 200)})
			continue
		}
		dir := join(base, n)
		folder, link, err := isFolder(dir)
		switch {
		case err != nil: // a folder without the right to enter it shows its names alone
			unreadable(set, err)
		case folder:
			out = append(out, place{name: n, dir: dir, layout: layout})
		case link:
			set.Warnings = append(set.Warnings, loop.Warning{ID: "folder-is-link", Severity: loop.Note, Path: dir, Text: "symbolic link in the place of a loop folder: not followed"})
		}
	}
	return out
}

// unreadable says that there may be loops that could not be looked at: that is
// not the same as no loop. What is not there any more is no reason.
func unreadable(set *loop.Set, err error) {
	if !os.IsNotExist(err) {
		set.Origin.Status, set.Origin.Why = fact.Unreadable, text.Line(err.Error())
	}
}

func (s *Scanner) signal(root string) loop.Signal {
	path := join(root, ".humanize", ".pending-session-id")
	st, err := look(path)
	if err != nil {
		return loop.Signal{}
	}
	sig, o := parsed(&s.cache, path, "signal", st, maxMeta, false, func(b []byte, _ *fact.Origin) loop.Signal { return loop.ParseSignal(b) })
	sig.Pending, sig.Since = o.Status == fact.OK, st.mod
	return sig
}

func (s *Scanner) lessons(root string) loop.Bitlessons {
	path := join(root, ".humanize", "bitlesson.md")
	st, err := look(path)
	if err != nil {
		return loop.Bitlessons{Origin: missing(path, err)}
	}
	b, o := parsed(&s.cache, path, "lessons", st, maxLessons, false, func(b []byte, _ *fact.Origin) loop.Bitlessons { return loop.ParseBitlessons(b) })
	b.Origin = o
	return b
}

// missing is the origin of a file that a stat did not find or could not reach.
func missing(path string, err error) fact.Origin {
	o := fact.Origin{Path: path, ReadAt: time.Now(), Status: fact.Missing, Why: text.Line(err.Error())}
	if !os.IsNotExist(err) {
		o.Status = fact.Unreadable
	}
	return o
}

// consultations reads the newest skill calls, newest first.
func (s *Scanner) consultations(root string, set *loop.Set) []loop.Consultation {
	base := join(root, ".humanize", "skill")
	out := []loop.Consultation{}
	list, _, _, err := s.list(base, MaxDirEntries)
	if err != nil {
		if !os.IsNotExist(err) {
			set.Warnings = append(set.Warnings, loop.Warning{ID: "folder-unreadable", Severity: loop.Amber, Path: base, Text: text.Line(err.Error())})
		}
		return out
	}
	for i := len(list) - 1; i >= 0 && len(out) < MaxConsultations; i-- {
		dir := join(base, list[i])
		if folder, _, _ := isFolder(dir); folder {
			out = append(out, s.consultation(dir))
		}
	}
	return out
}

func (s *Scanner) consultation(dir string) loop.Consultation {
	input := join(dir, "input.md")
	raw := func(path string) (string, fact.Origin) {
		st, err := look(path)
		if err != nil {
			return "", missing(path, err)
		}
		return parsed(&s.cache, path, "raw", st, maxMeta, false, func(b []byte, _ *fact.Origin) string { return string(b) })
	}
	in, o := raw(input)
	meta, mo := raw(join(dir, "metadata.md"))
	var mb []byte
	if mo.Status == fact.OK {
		mb = append([]byte{}, meta...)
	}
	c := loop.ParseConsultation(filepath.Base(dir), []byte(in), mb)
	c.Origin = o
	if c.Started.IsZero() {
		c.Started = o.ModTime
	}
	return c
}
