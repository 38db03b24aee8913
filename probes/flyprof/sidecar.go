package flyprof

import (
	"encoding/json"
	"strings"
)

// SidecarName is the file the cockpit writes beside a bundle it started: what
// flyprof itself does not record.
const SidecarName = "kdapilot.json"

// Sidecar is the content of that file.
type Sidecar struct {
	// Question is the named question the capture answers.
	Question string `json:"question"`
	// Commit is the worktree's HEAD at the start, Argv the command.
	Commit string   `json:"commit"`
	Argv   []string `json:"argv"`
}

// ParseSidecar reads the bytes of a kdapilot.json.
func ParseSidecar(b []byte) (Sidecar, error) {
	var s Sidecar
	if err := json.Unmarshal(b, &s); err != nil {
		return Sidecar{}, explain(b, err)
	}
	s.Question, s.Commit, s.Argv = line(s.Question), line(s.Commit), lines(s.Argv)
	return s, nil
}

// questionIn finds "Question: ..." (bold or listed or not) or a heading
// "Question" with text below it in a Markdown note.
func questionIn(note string) string {
	heading := false
	for l := range strings.Lines(note) {
		l = line(l)
		bare := strings.TrimLeft(l, "-*# ")
		if rest, ok := strings.CutPrefix(bare, "Question"); ok {
			rest = strings.TrimLeft(rest, "*: ")
			if rest != "" {
				return rest
			}
			heading = true
			continue
		}
		if heading && l != "" {
			if strings.HasPrefix(l, "#") {
				return ""
			}
			return bare
		}
	}
	return ""
}
