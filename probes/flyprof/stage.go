package flyprof

import (
	"os"
	"path/filepath"
	"time"

	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
)

// StagesOf looks how far the capture of a run got, by the files in its bundle;
// nil for commands without stages or without a --bundle. Files older than the
// start of the run are of an earlier one and do not count.
func StagesOf(m *runs.Manifest) *profile.Stages {
	plan := profile.Plan(profile.CommandOf(m.Argv), profile.Option(m.Argv, "tag"))
	bundle := BundleOf(m)
	if plan == nil || bundle == "" {
		return nil
	}
	// File systems round times down, by up to two seconds on some.
	since := m.Started.Add(-2 * time.Second)
	s := profile.Reached(plan, func(name string) bool {
		st, err := os.Stat(filepath.Join(bundle, name))
		return err == nil && st.ModTime().After(since)
	})
	return &s
}

// BundleOf is the bundle folder a run was told to write, absolute; "" when none.
func BundleOf(m *runs.Manifest) string {
	b := profile.Option(m.Argv, "bundle")
	if b == "" || filepath.IsAbs(b) {
		return b
	}
	return filepath.Join(m.Cwd, b)
}

// MissingOf are the files that a whole answer promises and that are not there,
// relative to the bundle.
func MissingOf(s *profile.Said) []string {
	var want []string
	switch s.Command {
	case "run":
		want = []string{"capture.json", "bubbles.json", "report.json"}
	case "capture":
		want = []string{"capture.json"}
	case "report":
		want = []string{"report.json"}
	}
	var out []string
	for _, name := range want {
		if !s.OK || s.Bundle == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(s.Bundle, name)); err != nil {
			out = append(out, filepath.Join(s.Bundle, name))
		}
	}
	return out
}
