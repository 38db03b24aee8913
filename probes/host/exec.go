package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kdapilot/engine/text"
)

const (
	askTimeout  = 10 * time.Second // for everything but the model
	outputLimit = 1 << 20          // bytes
)

// answer is what a process said.
type answer struct {
	out, errs string // clean
	raw       []byte // stdout as it came
	// exit is nil when it did not end by itself; why says why.
	exit *int
	why  string
}

// said is the last line of stderr, or of stdout when that is empty: where a
// program says what is wrong.
func (a answer) said() string {
	s := strings.TrimSpace(a.errs)
	if s == "" {
		s = strings.TrimSpace(a.out)
	}
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	return text.Clip(text.Line(s), 300)
}

// ask runs argv without input, in a process group of its own that is killed as
// a whole when time is up.
func ask(ctx context.Context, timeout time.Duration, dir string, env map[string]string, argv ...string) answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	path := lookPath(env, argv[0])
	if path == "" {
		return answer{why: argv[0] + " is not on PATH"}
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	out, errs := &bounded{}, &bounded{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, errs
	cmd.Env = envList(env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 500 * time.Millisecond
	err := cmd.Run()
	a := answer{out: text.Clean(out.String()), errs: text.Clean(errs.String()), raw: out.Bytes()}
	var x *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		a.why = fmt.Sprintf("%s gave no answer in %v", argv[0], timeout)
	case ctx.Err() != nil:
		a.why = argv[0] + ": stopped"
	case err == nil:
		a.exit = new(int)
	case errors.As(err, &x) && x.Exited():
		code := x.ExitCode()
		a.exit = &code
	default:
		a.why = fmt.Sprintf("%s: %v", argv[0], err)
	}
	return a
}

// bounded keeps the first bytes and lets the rest go.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := outputLimit - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// lookPath finds an executable in the PATH of env; "" when there is none.
func lookPath(env map[string]string, name string) string {
	if strings.ContainsRune(name, '/') {
		if executable(name) {
			return name
		}
		return ""
	}
	for _, dir := range filepath.SplitList(env["PATH"]) {
		if !filepath.IsAbs(dir) {
			continue // a program of the current folder is not what is meant
		}
		if p := filepath.Join(dir, name); executable(p) {
			return p
		}
	}
	return ""
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func envMap(list []string) map[string]string {
	out := make(map[string]string, len(list))
	for _, kv := range list {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			out[k] = v
		}
	}
	return out
}

func envList(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k, v := range m {
		out = append(out, k+"="+v)
	}
	return out
}
