package flyprof

import (
	"fmt"
	"path/filepath"

	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
	"kdapilot/probes/readfile"
)

// EndOf reads what a flyprof run left and judges it; nil while it goes on.
// stdout and stderr are the paths of its logs.
func EndOf(r *runs.Run, stdout, stderr string) *profile.End {
	if !r.State.Final() {
		return nil
	}
	in := profile.Ended{Run: r, Stages: StagesOf(&r.Manifest)}
	b, _, err := readfile.All(stdout, maxArtifact)
	if err != nil {
		in.Why = "stdout can not be read: " + line(err.Error())
	} else if s, err := ParseSaid(b); err != nil {
		in.Why = fmt.Sprintf("%s: %s", filepath.Base(stdout), line(err.Error()))
	} else {
		in.Said, in.Missing = &s, MissingOf(&s)
	}
	if in.Said == nil {
		if b, _, err := readfile.All(stderr, maxArtifact); err == nil {
			in.Complaint = UsageError(b)
		}
	}
	return profile.Judge(in)
}
