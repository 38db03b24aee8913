package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"kdapilot/engine/runs"
	"kdapilot/engine/safe"
	"kdapilot/engine/text"
)

// resource is something only one run may use: a GPU of this host, or a working
// folder in which a harness overwrites files with fixed names.
type resource struct{ file, label string }

// resourcesOf lists what m needs, in the one order everybody locks in, so that
// two runs can not wait for each other.
func resourcesOf(m runs.Manifest) []resource {
	var rs []resource
	if len(m.Captures) > 0 {
		sum := sha256.Sum256([]byte(realPath(m.Cwd)))
		rs = append(rs, resource{"folder-" + hex.EncodeToString(sum[:8]) + ".lock", "folder " + m.Cwd})
	}
	var gpus []int
	for _, g := range m.GPUs {
		gpus = append(gpus, g.Index)
	}
	slices.Sort(gpus)
	prefix := "gpu-"
	if m.Simulated { // a stand-in keeps nobody from the device itself
		sum := sha256.Sum256([]byte(realPath(m.Worktree)))
		prefix = "simulated-" + hex.EncodeToString(sum[:8]) + "-gpu-"
	}
	for _, g := range slices.Compact(gpus) {
		n := strconv.Itoa(g)
		rs = append(rs, resource{prefix + n + ".lock", "GPU " + n})
	}
	return rs
}

func realPath(p string) string {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r
	}
	return filepath.Clean(p)
}

// DefaultLockDir is the host-wide folder of the GPU locks. It depends on the
// user alone: XDG_RUNTIME_DIR or TMPDIR differ between a login, cron and
// `docker exec`, and two folders would mean two runs on one GPU.
func DefaultLockDir() string { return fmt.Sprintf("/tmp/kdapilot-%d", os.Getuid()) }

// openLockDir makes dir if need be and refuses one that belongs to somebody
// else or is a link, since /tmp is open to all.
func openLockDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("lock folder: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return fmt.Errorf("lock folder %s: %w", dir, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() {
		return fmt.Errorf("lock folder %s: expected a folder owned by user %d, found mode %o owned by %d", dir, os.Getuid(), st.Mode, st.Uid)
	}
	return nil
}

// lock is one held advisory lock. The kernel drops it when the last process
// that inherited the file is gone, so a child that outlives its supervisor
// still keeps the GPU.
type lock struct {
	f *os.File
	r resource
}

// tryLock takes the lock or returns a *BusyError.
func tryLock(dir string, r resource) (*lock, error) {
	for {
		f, err := os.OpenFile(filepath.Join(dir, r.file), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock for %s: %w", r.label, err)
		}
		err = retryFlock(f, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			h := readHolder(f)
			f.Close()
			return nil, &BusyError{Resource: r.label, Holder: h}
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock for %s: %w", r.label, err)
		}
		if samePath(f) {
			return &lock{f, r}, nil
		}
		f.Close() // a cleaner removed the file meanwhile: lock the new one
	}
}

// waitLock takes the lock, sleeping in the kernel if it has to wait; busy is
// then called first. When ctx ends, the sleeping goroutine stays behind: only a
// process that ends then may wait like this.
func waitLock(ctx context.Context, dir string, r resource, busy func(*BusyError)) (*lock, error) {
	for {
		l, err := tryLock(dir, r)
		var b *BusyError
		if !errors.As(err, &b) {
			return l, err
		}
		busy(b)
		f, err := os.OpenFile(filepath.Join(dir, r.file), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock for %s: %w", r.label, err)
		}
		done := make(chan error, 1)
		safe.Go("lock wait", func(err error) { done <- err }, func() { done <- retryFlock(f, unix.LOCK_EX) })
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case err := <-done:
			if err != nil {
				f.Close()
				return nil, fmt.Errorf("lock for %s: %w", r.label, err)
			}
		}
		if samePath(f) {
			return &lock{f, r}, nil
		}
		f.Close()
	}
}

func retryFlock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// samePath reports whether the path still names the locked file.
func samePath(f *os.File) bool {
	a, err1 := f.Stat()
	b, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// sign leaves the holder's name in the file, for those who are refused.
func (l *lock) sign(h Holder) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err = l.f.WriteAt(append(b, '\n'), 0)
	return err
}

// release unlocks for every process that shares the open file.
func (l *lock) release() {
	_ = l.f.Truncate(0)
	_ = retryFlock(l.f, unix.LOCK_UN)
	l.f.Close()
}

func readHolder(f *os.File) Holder {
	buf := make([]byte, 16<<10)
	n, _ := f.ReadAt(buf, 0)
	var h Holder
	if json.Unmarshal(buf[:n], &h) != nil {
		return Holder{}
	}
	h.Run, h.Worktree, h.Dir = runs.ID(text.Line(string(h.Run))), text.Line(h.Worktree), text.Line(h.Dir)
	return h
}
