package live

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"kdapilot/engine/family"
	"kdapilot/probes/readfile"
	"kdapilot/templates"
)

// loadFamily reads a family: the user's own folder goes before the embedded one.
func loadFamily(name string) (family.Family, error) {
	if dir, err := os.UserConfigDir(); err == nil {
		b, _, err := readfile.All(filepath.Join(dir, "kdapilot", "families", filepath.Base(name), "family.toml"), 1<<20)
		if err == nil {
			return family.Parse(name, b)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return family.Family{}, err
		}
	}
	b, err := templates.FamilyTOML(name)
	if err != nil {
		return family.Family{}, err
	}
	return family.Parse(name, b)
}
