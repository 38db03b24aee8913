package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"kdapilot/probes/flyprof"
	"kdapilot/probes/readfile"
	"kdapilot/probes/run"
)

// noteQuestion writes, beside a capture that is about to be made, which
// question it answers and at which commit: flyprof itself records neither.
func (s *Session) noteQuestion(bundle, question string, spec run.Spec) error {
	if err := os.MkdirAll(bundle, 0o755); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	b, err := json.MarshalIndent(flyprof.Sidecar{Question: question, Commit: spec.Head, Argv: spec.Argv}, "", "  ")
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	if err := os.WriteFile(filepath.Join(bundle, flyprof.SidecarName), append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	return nil
}

func readHarness(path string) ([]byte, error) {
	b, _, err := readfile.All(path, 8<<20)
	return b, err
}
