// Package store is kdapilot's own state below <worktree>/.humanize/kdapilot:
// the journal, the seals with the plan they approved, waivers and task.toml.
//
// Guarantees: a seal is written once and never replaced; a journal record is on
// disk when Append returns; nothing is written through a symbolic link; a torn
// last line of the journal is kept beside it before the next record, and a record
// says so.
//
// What may not enter: what a record or a seal means (engine/journal,
// engine/gate).
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
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

// WriteSeal writes a seal and, for gate 1, the bytes of the plan it approves:
// they must be the ones that were sealed. A seal that exists is never replaced.
func (s Store) WriteSeal(seal gate.Seal, plan []byte) error {
	b, err := seal.Encode()
	if err != nil {
		return err
	}
	if _, err := gate.DecodeSeal("seal "+seal.ID, b); err != nil {
		return err
	}
	at, err := s.open("seals")
	if err != nil {
		return err
	}
	defer at.Close()
	if plan != nil || seal.Gate == gate.G1 {
		sum := sha256.Sum256(plan)
		if got := hex.EncodeToString(sum[:]); got != seal.Plan.SHA256 {
			return fmt.Errorf("seal %s: the plan's bytes have the hash %s, sealed was %s", seal.ID, got, seal.Plan.SHA256)
		}
		if err := writeOnce(at, seal.ID+".plan.md", plan, 0o444); err != nil {
			return err
		}
	}
	if _, err := at.Lstat(seal.ID + ".json"); err == nil {
		return fmt.Errorf("seal %s: %w", seal.ID, fs.ErrExist)
	}
	return writeOnce(at, seal.ID+".json", b, 0o444)
}

// WriteTask writes task.toml of a new task. One that is there is the person's:
// it is not replaced.
func (s Store) WriteTask(t task.Task) error {
	b, err := t.Format()
	if err != nil {
		return err
	}
	if _, err := task.Parse("task.toml", b); err != nil {
		return err
	}
	at, err := s.open()
	if err != nil {
		return err
	}
	defer at.Close()
	return writeOnce(at, "task.toml", b, 0o644)
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
