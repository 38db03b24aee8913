package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"kdapilot/engine/preflight"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// DefaultCodexTimeout is how long the model may take to answer.
const DefaultCodexTimeout = 90 * time.Second

// codexAnswer is what is remembered of an answer, good or bad.
type codexAnswer struct {
	Model  string    `json:"model"`
	At     time.Time `json:"at"`
	TookMS int64     `json:"took_ms"`
	Exit   *int      `json:"exit"`
	Reply  string    `json:"reply"`
	Why    string    `json:"why,omitempty"`
}

// codex is PF-01. The model is asked only on request; an answer counts for the
// exact string it was given to.
func (c *checker) codex() preflight.Row {
	f := preflight.CodexFacts{Model: c.model(), OnPath: lookPath(c.env, "codex")}
	if f.OnPath == "" {
		return preflight.JudgeCodex(f, c.now)
	}
	a, ok := c.remembered()
	if c.AskCodex {
		a, ok = c.askCodex(c.ctx, f.Model), true
		if err := c.remember(a); err != nil {
			a.Why = strings.TrimSpace(a.Why + " (not remembered: " + text.Line(err.Error()) + ")")
		}
	}
	if ok {
		f.Asked, f.At, f.Took, f.Exit, f.Reply, f.Why = a.Model, a.At, time.Duration(a.TookMS)*time.Millisecond, a.Exit, a.Reply, a.Why
	}
	return preflight.JudgeCodex(f, c.clock())
}

// askCodex asks for two letters, read-only and outside any project rules.
func (c *checker) askCodex(ctx context.Context, model string) codexAnswer {
	name, effort, _ := strings.Cut(model, ":")
	argv := []string{"codex", "exec", "-m", name, "--sandbox", "read-only", "--skip-git-repo-check"}
	if effort != "" {
		argv = append(argv, "-c", "model_reasoning_effort="+effort)
	}
	timeout := c.CodexTimeout
	if timeout <= 0 {
		timeout = DefaultCodexTimeout
	}
	start := time.Now()
	got := ask(ctx, timeout, c.Root, c.env, append(argv, "Reply with the two letters OK and nothing else.")...)
	a := codexAnswer{Model: model, At: c.clock().UTC(), TookMS: time.Since(start).Milliseconds(), Exit: got.exit, Why: got.why}
	a.Reply = text.Clip(text.Line(got.out), 120)
	if got.exit != nil && *got.exit != 0 {
		a.Why = got.said()
	}
	return a
}

// codexFile is the user's memory of answers: a model answers for a user and not
// for a worktree.
func (c *checker) codexFile() (string, error) {
	base := c.env["XDG_CACHE_HOME"]
	if base == "" && c.env["HOME"] != "" {
		base = filepath.Join(c.env["HOME"], ".cache")
	}
	if !filepath.IsAbs(base) {
		return "", fmt.Errorf("no cache folder: neither XDG_CACHE_HOME nor HOME is set")
	}
	return filepath.Join(base, "kdapilot", "codex-answer.json"), nil
}

func (c *checker) remembered() (codexAnswer, bool) {
	var a codexAnswer
	path, err := c.codexFile()
	if err != nil {
		return a, false
	}
	b, _, err := readfile.All(path, 64<<10)
	if err != nil || json.Unmarshal(b, &a) != nil || a.Model == "" {
		return codexAnswer{}, false
	}
	a.Model, a.Reply, a.Why = text.Line(a.Model), text.Line(a.Reply), text.Line(a.Why)
	return a, true
}

func (c *checker) remember(a codexAnswer) error {
	path, err := c.codexFile()
	if err != nil {
		return err
	}
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(path, append(b, '\n'), 0o600)
}
