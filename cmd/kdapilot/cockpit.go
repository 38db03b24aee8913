package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"kdapilot/cmd/kdapilot/live"
	"kdapilot/engine/safe"
	"kdapilot/engine/session"
	"kdapilot/ui"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	uiterm "kdapilot/ui/term"
)

// runCockpit opens the cockpit on a worktree, or prints its state where there
// is no terminal to draw on.
func runCockpit(ctx context.Context, s streams, dir string) error {
	root, mode, err := resolve(ctx, dir)
	if err != nil {
		return err
	}
	return openCockpit(ctx, s, live.Options{Root: root, Mode: mode})
}

func openCockpit(ctx context.Context, s streams, opt live.Options) error {
	tty := term.IsTerminal(s.in.Fd()) && term.IsTerminal(s.out.Fd())
	if !tty || os.Getenv("TERM") == "dumb" {
		return printStatus(ctx, s, opt)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cfg, err := loadConfig()
	if err != nil {
		return err
	}
	drawn := make(chan struct{})
	opt.Self, opt.TTY, opt.Workspace, opt.After = self, true, cfg.Workspace, drawn
	// SIGHUP ends the cockpit cleanly; runs go on, they have their own session.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ses, err := live.Open(ctx, opt)
	if err != nil {
		return err
	}
	defer ses.Close()
	return drive(ctx, s, ses, cfg, ui.Config{ReadOnly: opt.Mode == session.Offline, Drawn: func() { close(drawn) }})
}

// drive runs the terminal program on a session until the person or a signal
// ends it.
func drive(ctx context.Context, s streams, ses *live.Session, cfg config, u ui.Config) error {
	caps := uiterm.Detect(os.Getenv)
	theme, err := caps.Theme(cfg.Theme)
	if err != nil {
		return exitWith(exitConfig, "%s: %w", cfg.where("theme"), err)
	}
	table, err := keys.Standard().With(cfg.Keys)
	if err != nil {
		return exitWith(exitConfig, "%s: %w", cfg.where("keys"), err)
	}
	var clock *frameClock
	var program *tea.Program
	u.Session, u.Look, u.Keys, u.Now = ses, style.NewLook(theme, caps.Glyphs(cfg.Glyphs)), table, time.Now
	u.OSC52 = caps.Clipboard(0).Route == uiterm.OSC52
	u.Busy = func() {
		if clock == nil {
			clock = newFrameClock(program)
		}
		clock.Busy()
	}
	model := ui.New(u)
	program = tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(s.in), tea.WithOutput(s.out), tea.WithFPS(fallbackFPS), tea.WithoutSignalHandler(), tea.WithFilter(suspended))
	bridge(ctx, ses, program)
	_, err = program.Run()
	switch {
	case err == nil, errors.Is(err, tea.ErrInterrupted), errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil, errors.Is(err, context.Canceled):
		_, markErr := ses.Do(context.WithoutCancel(ctx), session.MarkSeen{})
		return markErr
	default:
		return fmt.Errorf("terminal: %w", err)
	}
}

// fallbackFPS is the renderer's rate where the frame clock finds no ticker.
const fallbackFPS = 120

// bridge sends what the session tells to the program, and a message once
// everything has been read for the first time.
func bridge(ctx context.Context, ses *live.Session, p *tea.Program) {
	lost := func(err error) {
		p.Send(ui.Happened{Event: session.Event{Kind: session.ProbeLost, Bad: true, Text: err.Error()}})
	}
	safe.Go("snapshot bridge", lost, func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-ses.Changed():
				p.Send(ui.Changed{})
			case e := <-ses.Events():
				p.Send(ui.Happened{Event: e})
			}
		}
	})
	safe.Go("since the last look", lost, func() {
		if ses.Ready(ctx) == nil {
			ses.LoadSeen()
		}
	})
}

// printStatus is the cockpit for a pipe: the overview as text.
func printStatus(ctx context.Context, s streams, opt live.Options) error {
	snap, err := readNow(ctx, opt)
	if err != nil {
		return err
	}
	return printOverview(s.out, snap)
}

// reviewRoot resolves the folder of `kdapilot review`.
func reviewRoot(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", dir, err)
	}
	st, err := os.Stat(abs)
	if err != nil {
		return "", exitWith(exitNothing, "open %s: %w", dir, err)
	}
	if !st.IsDir() {
		return "", exitWith(exitUsage, "review %s: expected a folder", dir)
	}
	return abs, nil
}
