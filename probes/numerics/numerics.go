// Package numerics keeps results of the host numerics probe on disk: one file
// in a run folder, as the evidence a claim of a precision limit is judged by.
//
// Guarantees: a stored result is written whole, synced, read-only and never
// replaced; reading one refuses bytes that contradict themselves.
//
// What may not enter: the arithmetic (engine/numerics), and run folders
// themselves (probes/run).
package numerics

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kdapilot/engine/fact"
	"kdapilot/engine/numerics"
	"kdapilot/probes/readfile"
)

// File is the name of a result inside a run folder.
const File = "numerics.json"

// limit is the largest result that is read, in bytes; a real one with the most
// designs there can be has about 20 kB.
const limit = 1 << 20

// ErrStored is wrapped when a folder already holds a result.
var ErrStored = errors.New("a result is stored there already")

// Encode is a result as Save writes it.
func Encode(r numerics.Result) ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("numerics result: %w", err)
	}
	return append(b, '\n'), nil
}

// Save writes the result as File into dir, which must exist, and gives back
// where it is with its hash. The error wraps ErrStored if one is there already.
func Save(dir string, r numerics.Result) (fact.Origin, error) {
	b, err := Encode(r)
	if err != nil {
		return fact.Origin{}, err
	}
	// What Load would refuse must not be kept as evidence.
	if _, err := numerics.DecodeResult(b); err != nil {
		return fact.Origin{}, fmt.Errorf("numerics result: %w", err)
	}
	path := filepath.Join(dir, File)
	if err := writeOnce(dir, path, b); err != nil {
		return fact.Origin{}, fmt.Errorf("storing %s: %w", path, err)
	}
	_, origin, err := readfile.Hashed(path, limit)
	return origin, err
}

// writeOnce makes the file whole under another name first. A hard link never
// replaces what is there, so of two writers one loses and says so.
func writeOnce(dir, path string, b []byte) (err error) {
	f, err := os.CreateTemp(dir, "."+File+".*")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, os.Remove(f.Name()))
	}()
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(0o444)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return ErrStored
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Load reads a stored result; path is the file or the run folder that holds it.
// The Origin carries the hash of the bytes, and a Status and a Why when they
// could not be understood.
func Load(path string) (numerics.Result, fact.Origin, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, File)
	}
	b, origin, err := readfile.Hashed(path, limit)
	if err != nil {
		return numerics.Result{}, origin, err
	}
	r, err := numerics.DecodeResult(b)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
		origin.Status, origin.Why = fact.Unreadable, err.Error()
		return numerics.Result{}, origin, err
	}
	return r, origin, nil
}
