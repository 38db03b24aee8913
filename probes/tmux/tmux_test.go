package tmux

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server starts a tmux of the test's own, with a shell-less pane running argv.
func server(t *testing.T, argv ...string) Server {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: the tmux probe can not be tested")
	}
	// Socket paths are limited to about 100 bytes; test folders can be longer.
	dir, err := os.MkdirTemp("/tmp", "kdatmux")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := Server{Socket: filepath.Join(dir, "s"), Session: "$0", Timeout: 10 * time.Second}
	args := append([]string{"-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "50", "-s", "work", "-n", "win", "-P", "-F", "#{pane_id}"}, argv...)
	out, err := s.run(context.Background(), nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.run(context.Background(), nil, "kill-server") })
	s.Pane = strings.TrimSpace(out)
	return s
}

func TestInside(t *testing.T) {
	for _, c := range []struct {
		tmux, pane string
		want       Server
		bad        bool
	}{
		{tmux: "/tmp/tmux-0/default,123,4", pane: "%7", want: Server{Socket: "/tmp/tmux-0/default", Session: "$4", Pane: "%7"}},
		{tmux: "/tmp/a,b/default,123,4", pane: "-x", want: Server{Socket: "/tmp/a,b/default", Session: "$4"}},
		{tmux: "", bad: true}, {tmux: "x", bad: true}, {tmux: "x,1,y", bad: true},
	} {
		got, err := Inside(func(k string) string { return map[string]string{"TMUX": c.tmux, "TMUX_PANE": c.pane}[k] })
		if (err != nil) != c.bad || got != c.want {
			t.Errorf("%q: %+v %v", c.tmux, got, err)
		}
		if c.tmux == "" && !errors.Is(err, ErrOutside) {
			t.Errorf("no TMUX: %v", err)
		}
	}
}

func TestPanes(t *testing.T) {
	s := server(t, "cat")
	ctx := context.Background()
	out, err := s.run(ctx, nil, "split-window", "-d", "-t", s.Pane, "-P", "-F", "#{pane_id}", "sh", "-c", `printf '\033]2;ti|tle\033\\'; exec sleep 300`)
	if err != nil {
		t.Fatal(err)
	}
	second := strings.TrimSpace(out)
	var ps []Pane
	for range 500 {
		if ps, err = s.Panes(ctx); err != nil {
			t.Fatal(err)
		}
		if len(ps) == 2 && ps[1].Command == "sleep" && ps[1].Title == "ti|tle" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(ps) != 2 || ps[0].ID != s.Pane || !ps[0].Own || ps[0].Command != "cat" || ps[1].ID != second || ps[1].Own || ps[1].Title != "ti|tle" || ps[1].Window != "0:win" || ps[1].PID == 0 || ps[1].Cwd == "" {
		t.Errorf("panes %+v", ps)
	}
}

func TestPasteThenEnter(t *testing.T) {
	dir := t.TempDir()
	s := server(t, "sh", "-c", "while read -r l; do printf '%s\\n' \"$l\" >> "+dir+"/got; done")
	ctx := context.Background()
	const line = "/humanize:start-rlcr-loop plan.md --max 12 $(x) 'y' -- µ"
	if err := s.Paste(ctx, s.Pane, line); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if _, err := os.Stat(dir + "/got"); err == nil {
		t.Error("paste alone already sent the line")
	}
	if err := s.Enter(ctx, s.Pane); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for range 500 {
		if got, _ = os.ReadFile(dir + "/got"); len(got) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if string(got) != line+"\n" {
		t.Errorf("pane got %q", got)
	}
	if out, err := s.run(ctx, nil, "list-buffers"); err != nil || out != "" {
		t.Errorf("buffer left behind: %q %v", out, err)
	}
}

func TestPasteRefuses(t *testing.T) {
	s := server(t, "cat")
	ctx := context.Background()
	for _, bad := range []string{"", "  ", "a\nb", "a\x1b[201~b", "a\rb", "a\u202eb", "a\xffb"} {
		if err := s.Paste(ctx, s.Pane, bad); !errors.Is(err, ErrText) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, pane := range []string{"", "%", "work", "-t", "%99", "%1;x"} {
		if err := s.Paste(ctx, pane, "x"); !errors.Is(err, ErrNoPane) {
			t.Errorf("pane %q: %v", pane, err)
		}
	}
	if _, err := s.run(ctx, nil, "copy-mode", "-t", s.Pane); err != nil {
		t.Fatal(err)
	}
	if err := s.Paste(ctx, s.Pane, "x"); err == nil || !strings.Contains(err.Error(), "scrolled back") {
		t.Errorf("pane in copy mode: %v", err)
	}
}

func TestActivityIsAPersons(t *testing.T) {
	s := server(t, "cat")
	ctx := context.Background()
	if _, err := s.LastActivity(ctx); !errors.Is(err, ErrNoClient) {
		t.Errorf("nobody attached: %v", err)
	}
	cmd := exec.Command("tmux", "-S", s.Socket, "attach", "-t", "work")
	cmd.Env = append(os.Environ(), "TERM=screen", "TMUX=")
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	drained := make(chan struct{})
	go func() { // ends when the terminal is closed
		defer close(drained)
		buf := make([]byte, 4096)
		for {
			if _, err := tty.Read(buf); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); tty.Close(); <-drained })
	var first time.Time
	for range 500 {
		if first, err = s.LastActivity(ctx); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil || time.Since(first) > time.Minute {
		t.Fatalf("attached client: %v %v", first, err)
	}
	// Whole seconds: wait until a later key would show.
	time.Sleep(time.Until(first.Add(1100 * time.Millisecond)))
	if err := s.Enter(ctx, s.Pane); err != nil {
		t.Fatal(err)
	}
	if at, err := s.LastActivity(ctx); err != nil || !at.Equal(first) {
		t.Errorf("send-keys looks like a person: %v then %v (%v)", first, at, err)
	}
	if _, err := tty.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if at, err := s.LastActivity(ctx); err == nil && at.After(first) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a key of the attached client does not show")
}

func TestCopy(t *testing.T) {
	s := server(t, "cat")
	const content = "two\nlines\x1b]52"
	if err := s.Copy(context.Background(), content); err != nil {
		t.Fatal(err)
	}
	if out, err := s.run(context.Background(), nil, "show-buffer"); err != nil || out != content {
		t.Errorf("buffer %q %v", out, err)
	}
}

func TestNoAnswer(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/tmux", []byte("#!/bin/sh\nsleep 300\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Server{Bin: dir + "/tmux", Timeout: 100 * time.Millisecond}.Panes(context.Background())
	if err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("hanging tmux: %v", err)
	}
}

func FuzzParsePanes(f *testing.F) {
	f.Add(strings.Join([]string{"%1", "0:w", "0", "77", "1", "0", "0", "cat", "/x", "t"}, separator) + "\n")
	f.Add("%1\\0370:w\n")
	f.Fuzz(func(t *testing.T, s string) {
		ps, err := parsePanes(s, "%1")
		for _, p := range ps {
			if err == nil && (!paneID(p.ID) || strings.ContainsAny(p.Title+p.Command+p.Cwd+p.Window, "\x1b\n\x07")) {
				t.Errorf("%+v", p)
			}
		}
	})
}
