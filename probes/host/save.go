package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"kdapilot/engine/preflight"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// Save stores a result in its worktree and gives the hash of its bytes.
func Save(root string, r preflight.Result) (hash string, err error) {
	b, err := r.Encode()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, preflight.File)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("store preflight result: %w", err)
	}
	if err := renameio.WriteFile(path, b, 0o644); err != nil {
		return "", fmt.Errorf("store preflight result: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Load reads the stored result. None is no error: Result is nil and Why empty. A
// result of another worktree is none of this one.
func Load(root string) preflight.Stored {
	s := LoadCopy(root)
	if s.Result != nil && s.Result.Worktree != root && real(s.Result.Worktree) != real(root) {
		s.Result, s.Why = nil, "it is of another worktree, "+s.Result.Worktree
	}
	return s
}

// LoadCopy reads the result in a folder that was copied from elsewhere: to be
// looked at, never for a gate.
func LoadCopy(root string) preflight.Stored {
	path := filepath.Join(root, preflight.File)
	b, o, err := readfile.Hashed(path, preflight.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return preflight.Stored{}
	}
	if err != nil {
		return preflight.Stored{Why: text.Line(err.Error())}
	}
	s := preflight.Stored{Hash: o.SHA256}
	if s.Result, err = preflight.Parse(preflight.File, b); err != nil {
		s.Why = err.Error()
	}
	return s
}
