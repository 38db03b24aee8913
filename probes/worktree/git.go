package worktree

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kdapilot/engine/text"
)

const gitTimeout = 30 * time.Second

// git runs one git command; it is here for the few that only taking back and
// removing need.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "-C", dir}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	for _, kv := range os.Environ() {
		// GIT_DIR of a hook would point git at another repository.
		if k, _, _ := strings.Cut(kv, "="); k == "GIT_CONFIG_GLOBAL" || k == "GIT_CONFIG_NOSYSTEM" || !strings.HasPrefix(k, "GIT_") && !strings.HasPrefix(k, "LC_") && k != "LANGUAGE" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 500 * time.Millisecond
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("git %s in %s: %w: %s", args[0], dir, err, text.Clip(text.Line(first), 300))
	}
	return out.String(), nil
}

// deleteBranch removes a branch only while it stands at commit.
func deleteBranch(ctx context.Context, dir, name, commit string) error {
	_, err := git(ctx, dir, "update-ref", "-d", "refs/heads/"+name, commit)
	return err
}

// forceRemove removes a worktree this program has just made.
func forceRemove(ctx context.Context, dir, path string) error {
	_, err := git(ctx, dir, "worktree", "remove", "--force", "--", path)
	return err
}

// RemoteURL is where a remote points, without credentials; "" when there is no
// such remote.
func RemoteURL(ctx context.Context, dir, name string) string {
	out, err := git(ctx, dir, "config", "--get", "remote."+name+".url")
	if err != nil {
		return ""
	}
	s := text.Clip(text.Line(out), 300)
	if u, err := url.Parse(s); err == nil && u.User != nil && u.Host != "" && strings.HasPrefix(u.Scheme, "http") {
		u.User = nil
		return u.String()
	}
	return s
}

// unpushed lists commits of rev that are neither on a remote (as of the last
// fetch) nor below base, newest first, at most limit.
func unpushed(ctx context.Context, dir, rev, base string, limit int) ([]string, int, error) {
	args := []string{"rev-list", "--count", rev, "--not", "--remotes"}
	if base != "" {
		args = append(args, base)
	}
	out, err := git(ctx, dir, append(args, "--")...)
	if err != nil {
		return nil, 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil || n == 0 {
		return nil, n, err
	}
	args = []string{"log", "--format=%h %s", "-n", strconv.Itoa(limit), rev, "--not", "--remotes"}
	if base != "" {
		args = append(args, base)
	}
	out, err = git(ctx, dir, append(args, "--")...)
	if err != nil {
		return nil, n, err
	}
	var lines []string
	for l := range strings.Lines(out) {
		lines = append(lines, text.Clip(text.Line(l), 120))
	}
	return lines, n, nil
}

// ignored lists what git ignores at the top of a worktree, folders as one.
func ignored(ctx context.Context, dir string) ([]string, error) {
	out, err := git(ctx, dir, "status", "--porcelain", "-z", "--ignored=traditional", "--untracked-files=normal")
	if err != nil {
		return nil, err
	}
	var list []string
	for rec := range strings.SplitSeq(out, "\x00") {
		if p, ok := strings.CutPrefix(rec, "!! "); ok && len(list) < 200 {
			list = append(list, text.Line(p))
		}
	}
	return list, nil
}
