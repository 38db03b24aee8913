// Package store is kdapilot's own state below <worktree>/.humanize/kdapilot:
// the journal, the seals with the plan they approved, waivers and task.toml.
//
// Guarantees: a seal is written once and never replaced; a journal record is on
// disk when Append returns; nothing is written through a symbolic link that
// leads out of the worktree; a torn last line of the journal is cut off before
// the next record, and said so.
//
// What may not enter: what a record or a seal means (engine/journal,
// engine/gate).
package store

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
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/journal"
	"kdapilot/engine/task"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// Dir is the state folder, relative to the worktree.
const Dir = ".humanize/kdapilot"

const (
	journalName  = "journal.jsonl"
	lockName     = "journal.lock"
	journalLimit = 64 << 20 // bytes
	sealLimit    = 1 << 20
	planLimit    = 4 << 20
	taskLimit    = 256 << 10
	maxFiles     = 4096
)

// Store reads and writes the state of one worktree.
type Store struct{ root string }

// New is the store of a worktree; nothing is made until something is written.
func New(worktree string) Store { return Store{root: worktree} }

func (s Store) path(names ...string) string {
	return filepath.Join(append([]string{s.root, filepath.FromSlash(Dir)}, names...)...)
}

// ensure makes a folder of the state and refuses links that lead out.
func (s Store) ensure(names ...string) (string, error) {
	dir := s.path(names...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	root, err := filepath.EvalSymlinks(s.root)
	if err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	if real != root && !strings.HasPrefix(real, root+string(filepath.Separator)) {
		return "", fmt.Errorf("state folder %s leads out of the worktree to %s: not written", dir, real)
	}
	return dir, nil
}

// Task reads task.toml. Missing is a zero Task with a Missing origin.
func (s Store) Task() (task.Task, error) {
	p := s.path("task.toml")
	b, o, err := readfile.Hashed(p, taskLimit)
	if err != nil {
		t := task.Task{Origin: o}
		if errors.Is(err, fs.ErrNotExist) {
			return t, nil
		}
		return t, err
	}
	t, err := task.Parse(p, b)
	t.Origin = o
	if err != nil {
		t.Origin.Status, t.Origin.Why = fact.Unreadable, err.Error()
	}
	return t, err
}

// Journal reads and verifies the whole journal.
func (s Store) Journal() (journal.Chain, fact.Origin, error) {
	b, o, err := readfile.All(s.path(journalName), journalLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return journal.Chain{Tip: journal.Start()}, o, nil
	}
	if err != nil {
		return journal.Chain{}, o, err
	}
	c, err := journal.Verify(bytes.NewReader(b))
	return c, o, err
}

// ErrBroken is wrapped when the journal's chain does not hold: nothing is
// appended to it then.
var ErrBroken = errors.New("the journal's chain is broken")

// Append adds a record and returns when it is on disk. Two cockpits take turns
// through a lock file.
func (s Store) Append(ctx context.Context, r journal.Record) error {
	dir, err := s.ensure()
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, lockName))
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil || !ok {
		return fmt.Errorf("journal: another cockpit holds it: %w", err)
	}
	defer lock.Unlock()
	c, _, err := s.Journal()
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if c.Broken != nil {
		return fmt.Errorf("journal %s: %w at %s; move it away to begin a new one", s.path(journalName), ErrBroken, c.Broken)
	}
	line, _, err := journal.Append(c.Tip, r)
	if err != nil {
		return err
	}
	return s.write(line, c)
}

func (s Store) write(line []byte, c journal.Chain) error {
	p := s.path(journalName)
	f, err := os.OpenFile(p, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	if c.Torn {
		// Keep the torn piece: nothing is lost, and the chain goes on.
		if err := s.keepTorn(f, c.Good); err != nil {
			return err
		}
	}
	if _, err := f.WriteAt(line, c.Good); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return syncDir(filepath.Dir(p))
}

func (s Store) keepTorn(f *os.File, good int64) error {
	b, _, err := readfile.All(s.path(journalName), journalLimit)
	if err != nil || int64(len(b)) <= good {
		return err
	}
	name := s.path(fmt.Sprintf("journal.torn-%d", good))
	if err := os.WriteFile(name, b[good:], 0o444); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("journal: keep the torn line: %w", err)
	}
	if err := f.Truncate(good); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}

// WriteSeal writes a seal and, for gate 1, the bytes of the plan it approves.
// A seal that exists is never replaced: that is an error.
func (s Store) WriteSeal(seal gate.Seal, plan []byte) error {
	dir, err := s.ensure("seals")
	if err != nil {
		return err
	}
	b, err := seal.Encode()
	if err != nil {
		return err
	}
	if plan != nil {
		if err := writeOnce(filepath.Join(dir, seal.ID+".plan.md"), plan); err != nil {
			return err
		}
	}
	return writeOnce(filepath.Join(dir, seal.ID+".json"), b)
}

// writeOnce writes a whole file under a new name or not at all.
func writeOnce(path string, b []byte) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o444))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer f.Cleanup()
	if _, err := f.Write(b); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	// A hard link fails where the name exists; a rename would replace it.
	if err := os.Link(f.Name(), path); err != nil {
		return fmt.Errorf("write %s once: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

// Seals reads all seals, newest first. A file that is no seal is named in bad
// and left out.
func (s Store) Seals() (seals []gate.Seal, bad []string) {
	entries, err := os.ReadDir(s.path("seals"))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			bad = append(bad, text.Line(err.Error()))
		}
		return nil, bad
	}
	for i, e := range entries {
		if i >= maxFiles {
			bad = append(bad, fmt.Sprintf("seals: more than %d files", maxFiles))
			break
		}
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		p := s.path("seals", e.Name())
		b, _, err := readfile.All(p, sealLimit)
		if err != nil {
			bad = append(bad, text.Line(err.Error()))
			continue
		}
		seal, err := gate.DecodeSeal(p, b)
		switch {
		case err != nil:
			bad = append(bad, text.Line(err.Error()))
		case seal.ID+".json" != e.Name():
			bad = append(bad, text.Line(p+": the name is not the seal's id"))
		default:
			seals = append(seals, seal)
		}
	}
	slices.SortFunc(seals, func(a, b gate.Seal) int { return b.At.Compare(a.At) })
	return seals, bad
}

// ApprovedPlan reads the plan a seal of gate 1 approved and checks its hash.
func (s Store) ApprovedPlan(seal gate.Seal) ([]byte, error) {
	b, o, err := readfile.Hashed(s.path("seals", seal.ID+".plan.md"), planLimit)
	if err != nil {
		return nil, fmt.Errorf("approved plan: %w", err)
	}
	if o.SHA256 != seal.Plan.SHA256 {
		return nil, fmt.Errorf("approved plan %s: its bytes are not those that were sealed", o.Path)
	}
	return b, nil
}
