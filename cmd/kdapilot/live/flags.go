package live

import (
	"fmt"
	"path/filepath"
	"slices"

	"kdapilot/engine/family"
	"kdapilot/probes/harness"
	"kdapilot/probes/run"
)

// checkFlags compares the flags of a harness preset with those the harness in
// this worktree declares: a family file can be newer or older than a checkout.
// A harness that can not be read is left to fail by itself.
func (s *Session) checkFlags(spec *run.Spec, fam family.Family) error {
	at := slices.Index(spec.Argv, fam.Harness.Path)
	if at < 0 {
		return nil
	}
	cwd := spec.Cwd
	if cwd == "" {
		cwd = s.opt.Root
	}
	src, err := readHarness(filepath.Join(cwd, fam.Harness.Path))
	if err != nil {
		return nil
	}
	table := harness.ScanFlags(fam.Harness.Path, src)
	if err := table.Refuse(table.Check(spec.Argv[at+1:])); err != nil {
		return fmt.Errorf("preset %s: not started: %w", spec.Preset, err)
	}
	return nil
}
