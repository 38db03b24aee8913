package demo

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// cacheDir is the folder of the reviewer's logs for this loop.
func (p *player) cacheDir() string {
	name := regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(p.root, "-")
	return filepath.Join(p.cache, regexp.MustCompile(`-+`).ReplaceAllString(name, "-"), filepath.Base(p.dir))
}

// review starts the reviewer and waits for it. code says which kind: a code
// review has no .out file.
func (p *player) review(name string, code bool, seconds float64) error {
	dir := p.cacheDir()
	cmd := fmt.Sprintf("# Codex invocation debug info\n# Timestamp: %s\n# Working directory: %s\n# Timeout: %d seconds\n\ncodex exec -m %s -c model_reasoning_effort=%s -C %s \"<prompt>\"\n\n# Prompt content:\n(%s)\n",
		p.now().UTC().Format("2006-01-02T15:04:05Z"), p.root, p.st.timeout, p.st.model, p.st.effort, p.root, Mark)
	if code {
		cmd = fmt.Sprintf("# Code review invocation debug info\n# Timestamp: %s\n# Working directory: %s\n# Base branch: %s\n# Base commit: %s\n# Review base (commit): %s\n# Timeout: %d seconds\n\ncodex review --base %s -c model=%s -c model_reasoning_effort=high\n",
			p.now().UTC().Format("2006-01-02T15:04:05Z"), p.root, p.st.base, p.st.sha, p.st.sha, p.st.timeout, p.st.sha, p.st.model)
	}
	if err := p.put(filepath.Join(dir, name+".cmd"), cmd); err != nil {
		return err
	}
	findings := ""
	if code && p.st.reviewStarted && p.findingsDue() {
		findings = p.story.findings(p.root)
	}
	if !p.live {
		if err := p.wait(seconds); err != nil {
			return err
		}
		if err := p.put(filepath.Join(dir, name+".log"), reviewerLog(6)+findings); err != nil {
			return err
		}
		if code {
			return nil
		}
		return p.put(filepath.Join(dir, name+".out"), "Review written ("+Mark+").\n")
	}
	return p.spawnReviewer(filepath.Join(dir, name), code, seconds, findings)
}

// findingsDue is true for the first code review only: the second is clean.
func (p *player) findingsDue() bool {
	_, err := os.Stat(filepath.Join(p.dir, fmt.Sprintf("round-%d-review-result.md", p.st.round)))
	last := len(p.story.rounds) - 1
	return err == nil && p.st.round <= last
}

// spawnReviewer runs a real process whose stderr (and stdout, for a code
// review) is the log, so that a watcher finds proof of life.
func (p *player) spawnReviewer(base string, code bool, seconds float64, findings string) error {
	log, err := os.Create(base + ".log")
	if err != nil {
		return err
	}
	defer log.Close()
	out := log
	if !code {
		if out, err = os.Create(base + ".out"); err != nil {
			return err
		}
		defer out.Close()
	}
	if p.pace.speed > 0 {
		seconds /= p.pace.speed
	} else {
		seconds = 0
	}
	c := exec.CommandContext(p.ctx, p.self)
	c.Args = []string{"codex", "__sim", "reviewer", "--seconds", fmt.Sprintf("%.3f", seconds), "--findings", findings, "exec", "-C", p.root, "-"}
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = p.root, out, log, 2*time.Second
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Run(); err != nil {
		if p.ctx.Err() != nil {
			return errStopped
		}
		return fmt.Errorf("simulated reviewer: %w", err)
	}
	return p.wait(0)
}

// reviewer is the process that holds a review's log open. Its progress goes to
// stderr, its last word to stdout.
func reviewer(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("reviewer", flag.ContinueOnError)
	fs.SetOutput(stderr)
	seconds := fs.Float64("seconds", 5, "how long it takes")
	findings := fs.String("findings", "", "what it finds")
	if err := fs.Parse(args); err != nil {
		return 64
	}
	lines := strings.SplitAfter(reviewerLog(6), "\n")
	for _, line := range lines {
		fmt.Fprint(stderr, line)
		if !(pace{1}).wait(ctx, *seconds/float64(len(lines))) {
			return 130
		}
	}
	if *findings != "" {
		fmt.Fprint(stdout, *findings)
	} else {
		fmt.Fprintf(stdout, "Review written (%s).\n", Mark)
	}
	return 0
}

func reviewerLog(steps int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "codex session (%s)\n--------\n", Mark)
	for i := range steps {
		fmt.Fprintf(&b, "thinking step %d\n", i+1)
	}
	return b.String()
}
