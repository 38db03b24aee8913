package att

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/probes/readfile"
)

// Limits of the source copies beside a trace.
const (
	maxSources     = 512
	maxSourceBytes = 4 << 20
	maxAllSources  = 64 << 20
)

// Source is one source file that the line table names: its path on the machine
// that captured, the name of the copy beside the trace, and the copy's bytes.
type Source struct {
	// Traced and Copy are as written in snapshots.json: not cleaned, because
	// they are matched against paths. Clean them before they are shown.
	Traced, Copy string
	// Bytes is nil when the copy is not there; Origin says why and holds the
	// hash when it is.
	Bytes  []byte
	Origin fact.Origin
}

// Sources reads snapshots.json and the copies it names, in file order. No
// snapshots.json gives none and no error. A name that would leave the folder is
// refused. The error is an *Error or the context's.
func (d *Dispatch) Sources(ctx context.Context) ([]Source, error) {
	path := filepath.Join(d.Dir, "snapshots.json")
	b, _, err := readfile.All(path, maxSourceBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, Broken(path, err, "can not be read: %v", err)
	}
	sources, err := ParseSnapshots(b)
	if err != nil {
		return nil, Broken(path, err, "not a tree of source paths: %v", err)
	}
	total := int64(0)
	for i := range sources {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := &sources[i]
		if s.Copy != filepath.Base(s.Copy) || s.Copy == "." || s.Copy == ".." {
			s.Origin = fact.Origin{Path: s.Copy, Status: fact.Unreadable, Why: "the copy's name is not a plain file name"}
			continue
		}
		if total >= maxAllSources {
			s.Origin = fact.Origin{Path: s.Copy, Status: fact.Unreadable, Why: "too many bytes of source copies"}
			continue
		}
		// On failure Origin says why and Bytes stays nil.
		s.Bytes, s.Origin, _ = readfile.Hashed(filepath.Join(d.Dir, s.Copy), maxSourceBytes)
		total += int64(len(s.Bytes))
	}
	return sources, nil
}

// ParseSnapshots walks the nested object of a snapshots.json: keys joined with
// "/" are a path (the key "/" adds nothing), a text leaf is the name of the
// copy. At most 512 files are taken.
func ParseSnapshots(b []byte) ([]Source, error) {
	s := scanner{b: b}
	var out []Source
	if err := snapshotDir(&s, "", &out); err != nil {
		return nil, err
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	return out, nil
}

func snapshotDir(s *scanner, at string, out *[]Source) error {
	return s.object(func(key string) error {
		path := at
		if key = strings.TrimSuffix(key, "/"); key != "" {
			path = at + "/" + key
		}
		switch s.peek() {
		case '{':
			return snapshotDir(s, path, out)
		case '"':
			name, err := s.text()
			if err != nil {
				return err
			}
			if len(*out) == maxSources {
				return fmt.Errorf("more than %d source files", maxSources)
			}
			*out = append(*out, Source{Traced: path, Copy: name})
			return nil
		}
		return s.skip()
	})
}
