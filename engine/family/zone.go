package family

import (
	"path"
	"strings"
)

// Zone says what a changed file is to the family.
type Zone string

// The zones. A file that is both judge and limited counts as judge.
const (
	ZoneKernel  Zone = "kernel"  // the plan may change it
	ZoneLimited Zone = "limited" // for one reason only
	ZoneJudge   Zone = "judge"   // its bytes decide
	ZoneOther   Zone = "other"   // the family says nothing about it
)

// Zone classifies a path relative to the worktree; reason is the one a limited
// file may change for, or the judge's role.
func (f Family) Zone(file string) (zone Zone, reason string) {
	file = path.Clean(strings.TrimPrefix(file, "./"))
	for _, j := range f.Judges {
		if j.Root == "" && j.Path == file {
			return ZoneJudge, j.Role
		}
	}
	for _, l := range f.Surface.Limited {
		if glob(l.Path, file) {
			return ZoneLimited, l.Reason
		}
	}
	for _, g := range f.Surface.Edit {
		if glob(g, file) {
			return ZoneKernel, ""
		}
	}
	return ZoneOther, ""
}

func glob(pattern, file string) bool {
	ok, err := path.Match(pattern, file)
	return err == nil && ok
}
