package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"kdapilot/engine/safe"
)

// Loop plays Humanize: setup with its checks, a session that binds, rounds with
// contracts, commits and summaries, a reviewer that is a real process, verdicts
// ADVANCED, STALLED and COMPLETE, a code review with findings, finalize,
// analysis, end. Arguments: [--worktree DIR] [--speed X] then those of the start
// command. Exit: 0 the loop ended, 1 setup refused, 130 stopped.
func Loop(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("loop", flag.ContinueOnError)
	fs.SetOutput(stderr)
	root := fs.String("worktree", ".", "the task worktree")
	speed := fs.Float64("speed", newPace(1).speed, "pace; 0 waits for nothing")
	if err := fs.Parse(args); err != nil {
		return 64
	}
	p, err := newPlayer(ctx, *root, fs.Args())
	if err != nil {
		fmt.Fprintf(stderr, "Error: %v\n", err)
		return 1
	}
	p.pace = pace{*speed}
	fmt.Fprintf(stdout, "%s: loop in %s\n", Mark, p.root)
	switch err := p.run(); {
	case errors.Is(err, errStopped), err != nil && ctx.Err() != nil:
		fmt.Fprintf(stdout, "%s: stopped; the loop's files stay as they are\n", Mark)
		return 130
	case err != nil:
		fmt.Fprintf(stderr, "Error: %s: %v\n", Mark, err)
		return 70
	}
	fmt.Fprintf(stdout, "%s: loop ended\n", Mark)
	return 0
}

// newPlayer checks the start as setup does and readies a live player.
func newPlayer(ctx context.Context, root string, args []string) (*player, error) {
	f, err := parseStart(args)
	if err != nil {
		return nil, err
	}
	top, err := git(ctx, root, time.Time{}, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, refuse("Project must be a git repository: %v", err)
	}
	if err := checkSetup(ctx, top, f); err != nil {
		return nil, err
	}
	self := os.Getenv(EnvSelf)
	if self == "" {
		if self, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("%s is not set: %w", EnvSelf, err)
		}
	}
	// Humanize takes ~/.cache on every system, so os.UserCacheDir would not do.
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("no cache folder: %w", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	p := &player{ctx: ctx, live: true, root: top, self: self, cache: filepath.Join(cache, "humanize"), story: newStory()}
	return p, p.fill(f)
}

// fill sets the state that setup writes.
func (p *player) fill(f startFlags) error {
	branch, err := git(p.ctx, p.root, time.Time{}, "rev-parse", "--abbrev-ref", "HEAD")
	if err != nil {
		return err
	}
	sha, err := git(p.ctx, p.root, time.Time{}, "rev-parse", "refs/heads/"+f.base)
	if err != nil {
		return err
	}
	p.st = state{max: f.max, timeout: f.timeout, full: f.full, model: f.model, effort: f.effort, plan: f.plan, tracked: f.tracked, push: f.push,
		branch: branch, base: f.base, sha: sha, ask: !f.answer, priv: f.privacy, allowEmpty: !f.bitlessonEntry, verdict: "unknown", drift: "normal"}
	return nil
}

// Deliver hands a start command to the world: it stands for typing it into an
// agent's pane. What Humanize's setup would refuse comes back as an error;
// otherwise a loop player runs on in a session of its own, with exactly the
// flags of the text, and writes what it says to loop.log in the world's folder.
func Deliver(l Layout, text string) error {
	args, err := splitStart(text)
	if err != nil {
		return err
	}
	f, err := parseStart(args)
	if err != nil {
		return fmt.Errorf("the simulated setup refuses: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := checkSetup(ctx, l.Worktree, f); err != nil {
		return fmt.Errorf("the simulated setup refuses: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(l.Dir, "loop.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("loop player's log: %w", err)
	}
	defer log.Close()
	c := exec.Command(l.Self, append([]string{"__sim", "loop", "--worktree", l.Worktree, "--"}, args...)...)
	c.Dir, c.Stdout, c.Stderr = l.Worktree, log, log
	c.Env = append(os.Environ(), l.Environ()...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return fmt.Errorf("loop player: %w", err)
	}
	// Waited for so that it leaves no zombie; what went wrong is in the log.
	safe.Go("demo loop player", func(err error) { note(l, err) }, func() {
		if err := c.Wait(); err != nil {
			note(l, err)
		}
	})
	return nil
}

// note adds an error to the loop player's log; there is no other place for it.
func note(l Layout, err error) {
	f, openErr := os.OpenFile(filepath.Join(l.Dir, "loop.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if openErr != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s: loop player: %v\n", Mark, err)
}

// loop writes the finished loop 01 into the past.
func (w *world) loop() error {
	p := &player{ctx: w.ctx, clock: w.now.Add(5 * time.Minute), root: w.l.Worktree, self: w.l.Self,
		cache: filepath.Join(w.l.Cache, "humanize"), story: olderStory()}
	f, err := parseStart([]string{".humanize/kernel-agent/loop-01-plan.md", "--skip-quiz", "--claude-answer-codex", "--max", "8", "--codex-model", "gpt-5.5:xhigh", "--base-branch", BaseBranch})
	if err != nil {
		return err
	}
	if err := p.fill(f); err != nil {
		return err
	}
	if err := p.run(); err != nil {
		return err
	}
	w.now = p.clock
	return nil
}
