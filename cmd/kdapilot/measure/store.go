package measure

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"kdapilot/engine/interleave"
	"kdapilot/probes/readfile"
)

// File is where a sequence is stored in the worktree of its candidate.
func File(worktree, id string) string {
	return filepath.Join(worktree, ".humanize", "kdapilot", "ab", id+".json")
}

// Load reads a stored sequence.
func Load(worktree, id string) (interleave.Sequence, error) {
	if filepath.Base(id) != id {
		return interleave.Sequence{}, fmt.Errorf("sequence %q: expected an id", id)
	}
	path := File(worktree, id)
	b, _, err := readfile.All(path, interleave.MaxSize)
	if err != nil {
		return interleave.Sequence{}, fmt.Errorf("sequence %s: %w", id, err)
	}
	return interleave.Parse(path, b)
}

func save(s *interleave.Sequence) error {
	b, err := s.Encode()
	if err != nil {
		return err
	}
	path := File(s.Cand.Worktree, s.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("store sequence: %w", err)
	}
	if err := renameio.WriteFile(path, b, 0o644); err != nil {
		return fmt.Errorf("store sequence: %w", err)
	}
	return nil
}

// hold keeps other processes from doing the same sequence until release is called
// or this process ends.
func hold(s *interleave.Sequence) (release func(), err error) {
	path := File(s.Cand.Worktree, s.ID) + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("sequence %s: %w", s.ID, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sequence %s: %w", s.ID, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("sequence %s: %w", s.ID, ErrHeld)
	}
	return func() { _ = f.Close() }, nil
}
