package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

	path string
	src  []byte
}

// where is file and line of a key of the config file, for what is wrong with its
// meaning and not with its form.
func (c config) where(key string) string {
	for i, l := range strings.Split(string(c.src), "\n") {
		name, _, _ := strings.Cut(strings.Trim(strings.TrimSpace(l), "[]"), "=")
		if strings.TrimSpace(name) == key {
			return fmt.Sprintf("%s:%d", c.path, i+1)
		}
	}
	return c.path
}

// configKeys are the keys there are, for who mistyped one.
const configKeys = "workspace, theme, glyphs, [keys]"

// loadConfig reads $XDG_CONFIG_HOME/kdapilot/config.toml; none is fine. An error
// names line and column, what is there and what was expected.
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
	c.path, c.src = path, b
	dec := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, &exitError{exitConfig, configError(path, err)}
	}
	switch c.Glyphs {
	case "", "auto", "unicode", "ascii":
	default:
		return c, exitWith(exitConfig, "%s: glyphs %q is not known: expected auto, unicode, ascii", c.where("glyphs"), c.Glyphs)
	}
	return c, nil
}

// wrongType is go-toml's sentence about a value of another type, which speaks of
// Go.
var wrongType = regexp.MustCompile(`^toml: cannot decode TOML (\S+) into (?:.* of type )?(\S+)$`)

func configError(path string, err error) error {
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) && len(missing.Errors) > 0 {
		row, col := missing.Errors[0].Position()
		return fmt.Errorf("%s:%d:%d: unknown key %s: expected one of %s", path, row, col, strings.Join(missing.Errors[0].Key(), "."), configKeys)
	}
	var bad *toml.DecodeError
	if !errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", path, err)
	}
	row, col := bad.Position()
	if m := wrongType.FindStringSubmatch(bad.Error()); m != nil {
		want := map[string]string{"string": "a text in quotes", "[]string": "a list of keys, as in [\"g\"]", "map[string][]string": "a table [keys]"}[m[2]]
		return fmt.Errorf("%s:%d:%d: %s is of type %s: expected %s", path, row, col, strings.Join(bad.Key(), "."), m[1], cmp.Or(want, m[2]))
	}
	return fmt.Errorf("%s:%d:%d: %s", path, row, col, strings.TrimPrefix(bad.Error(), "toml: "))
}
