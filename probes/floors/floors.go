// Package floors keeps measured noise floors of this host: per GPU, kernel
// family and preset, what runs of one commit against itself differ by, cell by cell.
//
// Guarantees: a floor is written whole and replaced by a newer one only; one
// that is not of this host and device is never found.
//
// What may not enter: measuring (cmd) and what a floor means (engine/bench).
package floors

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"kdapilot/engine/bench"
	"kdapilot/engine/runs"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// Key says what a floor is of.
type Key struct {
	Host   string `json:"host"`
	GPU    string `json:"gpu"` // index, id and name
	Family string `json:"family"`
	Preset string `json:"preset"`
	// Command is that of a run without a preset: another one has other noise.
	Command string `json:"command,omitempty"`
}

// custom is the preset of a command that a person typed.
const custom = "custom"

// KeyOf is the key of a run.
func KeyOf(m runs.Manifest) Key {
	k := Key{Host: m.Place.Host, Family: m.Family, Preset: m.Preset}
	if m.Preset == custom {
		k.Command = strings.Join(m.Argv, " ")
	}
	for _, g := range m.GPUs {
		k.GPU += fmt.Sprintf("%d %s %s;", g.Index, g.ID, g.Name)
	}
	return k
}

// Floor is a stored floor.
type Floor struct {
	Version int `json:"version"`
	Key
	At    time.Time           `json:"at"`
	Head  string              `json:"head"` // the commit that ran against itself
	Runs  []runs.ID           `json:"runs"`
	Floor bench.MeasuredFloor `json:"floor"`
}

// version is the layout version of a stored Floor.
const version = 1

// limit is the largest floor that is read, in bytes; one of a thousand cells has
// about 60 kB.
const limit = 8 << 20

func file(k Key) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("floors: %w", err)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{k.Host, k.GPU, k.Family, k.Preset, k.Command}, "\x00")))
	return filepath.Join(dir, "kdapilot", "floors", hex.EncodeToString(sum[:8])+".json"), nil
}

// Save stores a floor, in place of an older one of its key, and gives its path.
func Save(f Floor) (string, error) {
	path, err := file(f.Key)
	if err != nil {
		return "", err
	}
	f.Version = version
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return "", fmt.Errorf("store floor: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("store floor: %w", err)
	}
	if err := renameio.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("store floor: %w", err)
	}
	return path, nil
}

// Load reads the floor of a key; the error wraps fs.ErrNotExist when none was
// measured.
func Load(k Key) (Floor, error) {
	path, err := file(k)
	if err != nil {
		return Floor{}, err
	}
	b, _, err := readfile.All(path, limit)
	if err != nil {
		return Floor{}, err
	}
	f, err := Parse(path, b)
	if err == nil && f.Key != k {
		return Floor{}, fmt.Errorf("%s: it is of %s: %w", path, text.Line(f.Host+" "+f.GPU), fs.ErrNotExist)
	}
	return f, err
}

// Parse reads the bytes of a stored floor; name is for errors.
func Parse(name string, b []byte) (Floor, error) {
	var f Floor
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return Floor{}, fmt.Errorf("%s: %s", name, text.Line(err.Error()))
	}
	if f.Version != version {
		return Floor{}, fmt.Errorf("%s: version %d, expected %d", name, f.Version, version)
	}
	for cell, v := range f.Floor.Cells {
		if math.IsNaN(v) || v < 0 || v > 10 {
			return Floor{}, fmt.Errorf("%s: cell %s: floor %v, expected a fraction from 0 to 10", name, text.Line(cell), v)
		}
	}
	return f, nil
}

// Cells are the measured floors for a run, nil when there are none.
func Cells(m runs.Manifest) map[string]float64 {
	f, err := Load(KeyOf(m))
	if err != nil { // a broken one raises no floor: the standard one holds
		return nil
	}
	return f.Floor.Cells
}
