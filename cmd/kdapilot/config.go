package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"kdapilot/probes/readfile"
)

// config is the user's config.toml.
type config struct {
	// Workspace is where worktrees are made; default /sgl-workspace.
	Workspace string `toml:"workspace"`
	// Theme is auto, default, light, mono or deuteranopia; Glyphs auto, unicode
	// or ascii.
	Theme  string `toml:"theme"`
	Glyphs string `toml:"glyphs"`
	// Keys puts other keys on actions, by action id.
	Keys map[string][]string `toml:"keys"`
}

// loadConfig reads $XDG_CONFIG_HOME/kdapilot/config.toml; none is fine, an
// unknown key is an error with line and column.
func loadConfig() (config, error) {
	c := config{Workspace: "/sgl-workspace"}
	dir, err := os.UserConfigDir()
	if err != nil {
		return c, nil
	}
	path := filepath.Join(dir, "kdapilot", "config.toml")
	b, _, err := readfile.All(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, exitWith(exitConfig, "config: %w", err)
	}
	dec := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		var missing *toml.StrictMissingError
		if errors.As(err, &missing) && len(missing.Errors) > 0 {
			row, col := missing.Errors[0].Position()
			return c, exitWith(exitConfig, "%s:%d:%d: unknown key %s", path, row, col, strings.Join(missing.Errors[0].Key(), "."))
		}
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			row, col := bad.Position()
			return c, exitWith(exitConfig, "%s:%d:%d: %w", path, row, col, err)
		}
		return c, exitWith(exitConfig, "%s: %w", path, err)
	}
	return c, nil
}
