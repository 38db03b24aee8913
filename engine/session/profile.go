package session

import (
	"fmt"
	"path/filepath"
	"strings"

	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
	"kdapilot/engine/text"
)

// EndRead is how a run of flyprof ended.
type EndRead struct {
	ID  runs.ID
	End *profile.End
}

func (f EndRead) into(s *Snapshot) {
	s.Ends = cloneMap(s.Ends)
	s.Ends[f.ID] = f.End
}

// ReportsRead are the rocm-report run folders found, newest first.
type ReportsRead struct{ Reports []profile.Report }

func (f ReportsRead) into(s *Snapshot) { s.Reports = f.Reports }

// Kernels are what the newest good `flyprof list` offers, with the run it came
// from; nil when none was made here.
func (s *Snapshot) Kernels() ([]profile.Kernel, *runs.Run) {
	for i := range s.Runs {
		r := &s.Runs[i]
		if e := s.Ends[r.ID]; e != nil && e.Meaning == profile.OK && e.Said != nil && len(e.Said.Kernels) > 0 {
			return e.Said.Kernels, r
		}
	}
	return nil, nil
}

// FindBundle finds one bundle by its path, its name below Root, the end of that
// name, or a part of it that only one has. The error lists what fits.
func (s *Snapshot) FindBundle(word string) (Bundle, error) {
	word = strings.TrimSuffix(strings.TrimSpace(word), "/")
	var ends, parts []Bundle
	for _, b := range s.Bundles {
		switch {
		case b.Path == word, b.Name == word:
			return b, nil
		case strings.HasSuffix(b.Path, string(filepath.Separator)+word):
			ends = append(ends, b)
		case strings.Contains(b.Name, word):
			parts = append(parts, b)
		}
	}
	for _, fit := range [][]Bundle{ends, parts} {
		if len(fit) == 1 && word != "" {
			return fit[0], nil
		}
		if len(fit) > 1 {
			return Bundle{}, fmt.Errorf("bundle %q is not one: %s", text.Line(word), strings.Join(names(fit), ", "))
		}
	}
	return Bundle{}, fmt.Errorf("no bundle %q; there are: %s", text.Line(word), strings.Join(names(s.Bundles), ", "))
}

// names are the first few bundles by name.
func names(list []Bundle) []string {
	const most = 5
	var out []string
	for i, b := range list {
		if i == most {
			return append(out, fmt.Sprintf("and %d more", len(list)-most))
		}
		out = append(out, b.Name)
	}
	if len(out) == 0 {
		return []string{"none"}
	}
	return out
}

// LinkOf gives the bundle a rocm-report names or lies beside, and the run it
// names; empty when it names none that is here.
func (s *Snapshot) LinkOf(r *profile.Report) (bundle string, run runs.ID) {
	for _, b := range s.Bundles {
		inside := strings.HasPrefix(b.Path, r.Dir+string(filepath.Separator)) || b.Path == r.Dir
		if inside || r.Names(b.Path) || r.Names(filepath.ToSlash(b.Name)) {
			bundle = b.Path
			break
		}
	}
	for i := range s.Runs {
		if r.Names(string(s.Runs[i].ID)) {
			return bundle, s.Runs[i].ID
		}
	}
	if bundle == "" {
		return "", ""
	}
	for i := range s.Runs {
		if p := profile.Option(s.Runs[i].Manifest.Argv, "bundle"); p != "" && (p == bundle || strings.HasSuffix(bundle, string(filepath.Separator)+filepath.Clean(p))) {
			return bundle, s.Runs[i].ID
		}
	}
	return bundle, ""
}
