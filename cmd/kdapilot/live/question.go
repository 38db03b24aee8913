package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kdapilot/engine/family"
	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/probes/flyprof"
	"kdapilot/probes/readfile"
	"kdapilot/probes/run"
)

// profileParams resolves what a preset of flyprof needs: bundles by name, and a
// new bundle folder named for the run and its kernel.
func (s *Session) profileParams(p *family.Params, fam family.Family, a session.StartRun) error {
	for _, word := range []string{a.Kernel, a.Class} {
		if strings.HasPrefix(word, "-") {
			return fmt.Errorf("%q would be read as a flag", text.Line(word))
		}
	}
	for _, side := range []struct {
		word string
		to   *string
	}{{a.Before, &p.Before}, {a.After, &p.After}} {
		if side.word == "" {
			continue
		}
		b, err := s.Snapshot().FindBundle(side.word)
		if err != nil && !filepath.IsAbs(side.word) {
			return err
		}
		if *side.to = b.Path; err != nil {
			*side.to = side.word // not below this worktree: flyprof says what it finds
		}
	}
	kernel := a.Kernel
	if kernel == "" {
		kernel = fam.Profile.Kernel
	}
	p.Bundle = freeFolder(s.path(".humanize", "kdapilot", "bundles", strings.Trim(p.RunID+"-"+fileName(kernel), "-")))
	return nil
}

// fileName keeps what may stand in a folder's name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, s)
}

// freeFolder is path, or path with a number when it is taken: two attempts can
// begin within one second.
func freeFolder(path string) string {
	free := path
	for n := 2; exists(free); n++ {
		free = fmt.Sprintf("%s-%d", path, n)
	}
	return free
}

// needsGPU reports whether a flyprof command captures: the others read files
// and must not wait for a GPU.
func needsGPU(argv []string) bool {
	switch profile.CommandOf(argv) {
	case "run", "capture", "counters":
		return true
	default:
		return false
	}
}

// checkPreset refuses a run that could only fail or prove nothing: a profile
// without a question, a harness flag the harness does not have.
func (s *Session) checkPreset(spec *run.Spec, fam family.Family, a session.StartRun) error {
	switch spec.Kind {
	case runs.Profile:
		if !needsGPU(spec.Argv) {
			spec.GPUs = nil
		} else if strings.TrimSpace(a.Question) == "" {
			return fmt.Errorf("preset %s: a profile answers a named question: one of %s, or your own words", a.Preset, strings.Join(fam.Profile.Questions, ", "))
		}
	case runs.Harness:
		return s.checkFlags(spec, fam)
	}
	return nil
}

// prepareBundle writes, into the bundle a capture is about to make, which
// question it answers and at which commit: flyprof itself records neither. The
// folder is "" when the command makes none.
func (s *Session) prepareBundle(spec *run.Spec) (string, error) {
	if !needsGPU(spec.Argv) {
		return "", nil
	}
	bundle := flyprof.BundleOf(&runs.Manifest{Argv: spec.Argv, Cwd: s.opt.Root})
	if bundle == "" {
		return "", nil
	}
	if err := os.MkdirAll(bundle, 0o755); err != nil {
		return "", fmt.Errorf("bundle: %w", err)
	}
	b, err := json.MarshalIndent(flyprof.Sidecar{Question: spec.Question, Commit: spec.Head, Argv: spec.Argv}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("bundle: %w", err)
	}
	if err := os.WriteFile(filepath.Join(bundle, flyprof.SidecarName), append(b, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("bundle: %w", err)
	}
	return bundle, nil
}

// dropBundle takes back the folder of a run that was not started. It removes
// nothing but its own note and an empty folder.
func dropBundle(bundle string) {
	entries, err := os.ReadDir(bundle)
	if bundle == "" || err != nil || len(entries) != 1 || entries[0].Name() != flyprof.SidecarName {
		return
	}
	_ = os.Remove(filepath.Join(bundle, flyprof.SidecarName))
	_ = os.Remove(bundle)
}

func readHarness(path string) ([]byte, error) {
	b, _, err := readfile.All(path, 8<<20)
	return b, err
}
