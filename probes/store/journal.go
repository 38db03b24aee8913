package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/journal"
	"kdapilot/probes/readfile"
)

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

// lockWait is how long Append waits for another cockpit.
const lockWait = 5 * time.Second

// Append adds a record and returns when it is on disk. Two cockpits take turns
// through a lock file.
func (s Store) Append(ctx context.Context, r journal.Record) error {
	at, err := s.open()
	if err != nil {
		return err
	}
	defer at.Close()
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	held, err := lock(ctx, at)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer held.Close()
	c, _, err := s.Journal()
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if c.Broken != nil {
		return fmt.Errorf("journal %s: %w at %s; move it away to begin a new one", s.path(journalName), ErrBroken, c.Broken)
	}
	if err := s.write(at, c, r); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return syncRoot(at)
}

func (s Store) write(at *os.Root, c journal.Chain, r journal.Record) error {
	f, err := openFile(at, journalName)
	if err != nil {
		return err
	}
	defer f.Close()
	tip, out := c.Tip, []byte(nil)
	if c.Torn {
		mended, err := keepTorn(at, f, c.Good, r)
		if err != nil {
			return err
		}
		if out, tip, err = journal.Append(tip, mended); err != nil {
			return err
		}
	}
	line, _, err := journal.Append(tip, r)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(append(out, line...), c.Good); err != nil {
		return err
	}
	return f.Sync()
}

// keepTorn moves an unfinished last line into a file of its own, so that nothing
// is lost, and gives the record that says so.
func keepTorn(at *os.Root, f *os.File, good int64, r journal.Record) (journal.Record, error) {
	info, err := f.Stat()
	if err != nil {
		return journal.Record{}, err
	}
	torn := make([]byte, min(info.Size()-good, journal.MaxLine))
	if _, err := f.ReadAt(torn, good); err != nil {
		return journal.Record{}, fmt.Errorf("read the torn line: %w", err)
	}
	name := fmt.Sprintf("journal.torn-%d", good)
	if _, err := at.Lstat(name); err == nil {
		name += "-" + strconv.FormatInt(r.At.UnixNano(), 10)
	}
	if err := writeOnce(at, name, torn, 0o444); err != nil {
		return journal.Record{}, fmt.Errorf("keep the torn line: %w", err)
	}
	if err := f.Truncate(good); err != nil {
		return journal.Record{}, err
	}
	return journal.Record{
		At: r.At, Who: r.Who, Kind: "journal mended", Text: "the last line was unfinished and is kept in " + name,
		Data: map[string]string{"bytes": strconv.Itoa(len(torn)), "file": name},
	}, nil
}
