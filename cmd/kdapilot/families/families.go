// Package families finds kernel families by name: the user's own folder goes
// before the shipped one.
//
// What may not enter: what a family means; that is engine/family.
package families

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kdapilot/engine/family"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
	"kdapilot/templates"
)

// dir is the user's own folder of families, "" when there is no home.
func dir() string {
	d, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(d, "kdapilot", "families")
}

// Names are the shipped families and the user's own, sorted.
func Names() []string {
	names := templates.Families()
	if entries, err := os.ReadDir(dir()); err == nil {
		for _, e := range entries[:min(len(entries), 500)] {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TOML gives a family's bytes: the user's own go before the shipped ones. A
// name that is neither gives an error that wraps fs.ErrNotExist.
func TOML(name string) ([]byte, error) {
	if filepath.Base(name) != name || name == "." || name == ".." {
		return nil, fmt.Errorf("family %q: expected a name", text.Line(name))
	}
	if d := dir(); d != "" {
		b, _, err := readfile.All(filepath.Join(d, name, "family.toml"), family.MaxSize)
		if !errors.Is(err, fs.ErrNotExist) {
			return b, err
		}
	}
	return templates.FamilyTOML(name)
}

// Load reads and checks a family. A broken one gives a *family.Error.
func Load(name string) (family.Family, error) {
	b, err := TOML(name)
	if err != nil {
		return family.Family{}, err
	}
	return family.Parse(name, b)
}

// Contract gives a family's contract template; a user's own gets the shared
// parts in front as the shipped ones do.
func Contract(name string) (string, error) {
	if d := dir(); d != "" && filepath.Base(name) == name {
		b, _, err := readfile.All(filepath.Join(d, name, "contract.md.tmpl"), family.MaxSize)
		if err == nil {
			return templates.Common() + string(b), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return templates.Contract(name)
}
