package live

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"crypto/sha256"
	"encoding/hex"

	"github.com/google/renameio/v2"

	"kdapilot/engine/fact"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/probes/demo"
	"kdapilot/probes/gpu"
	"kdapilot/probes/readfile"
)

// startSlack is how much earlier than its seal a loop may say it started: the
// clocks of both are the same, their grain is a second.
const startSlack = 2 * time.Second

// readState verifies the journal and tells what happened since the last look.
func (s *Session) readState(ctx context.Context) {
	c, o, err := s.store.Journal()
	j := session.Journal{Origin: o, Records: len(c.Records)}
	switch {
	case err != nil:
		j.Broken = oneLine(err)
	case c.Broken != nil:
		j.Broken = text.Line(c.Broken.Error())
	}
	if n := len(c.Records); n > 0 {
		j.Last = c.Records[n-1].At
	}
	s.apply(session.JournalRead{Journal: j}, session.HostRead{Host: s.host(ctx)})
}

// host says where the cockpit runs. GPUs are looked for once: they do not come
// and go under a running cockpit.
func (s *Session) host(ctx context.Context) session.Host {
	h := s.Snapshot().Host
	if name, err := os.Hostname(); err == nil {
		h.Name = text.Line(name)
	}
	h.InTmux = os.Getenv("TMUX") != ""
	switch {
	case h.GPUStatus.Status != fact.NotRead || s.opt.Mode != session.Live:
	case s.simulated():
		h.GPUs = demo.GPUs()
		h.GPUStatus = fact.Origin{Status: fact.OK, ReadAt: s.opt.Now()}
	default:
		h.GPUs, h.GPUStatus = gpu.Scan(ctx)
	}
	return h
}

// simulated: the task may not have been read yet.
func (s *Session) simulated() bool {
	if s.Snapshot().Simulated {
		return true
	}
	t, err := s.store.Task()
	return err == nil && t.Simulated
}

// seenFile is where the last look is kept, outside the worktree.
func (s *Session) seenFile() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("remember the last look: %w", err)
	}
	sum := sha256.Sum256([]byte(s.opt.Root))
	return filepath.Join(dir, "kdapilot", "seen", hex.EncodeToString(sum[:8])+".json"), nil
}

// LoadSeen tells what happened since the last look, once everything was read.
func (s *Session) LoadSeen() {
	name, err := s.seenFile()
	if err != nil {
		return
	}
	b, _, err := readfile.All(name, 64<<10)
	if err != nil {
		return
	}
	var mark session.Mark
	if json.Unmarshal(b, &mark) != nil {
		return
	}
	s.apply(session.SinceRead{Since: session.SinceMark(mark, s.Snapshot())})
}

func (s *Session) markSeen() error {
	if s.opt.Mode != session.Live {
		return nil
	}
	name, err := s.seenFile()
	if err != nil {
		return err
	}
	b, err := json.Marshal(session.MarkOf(s.Snapshot(), s.opt.Now()))
	if err != nil {
		return fmt.Errorf("remember the last look: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("remember the last look: %w", err)
	}
	return renameio.WriteFile(name, b, 0o644)
}
