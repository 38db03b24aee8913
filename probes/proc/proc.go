// Package proc tells when a process ends, without polling: the kernel wakes a
// waiting goroutine through a pidfd.
//
// What may not enter: starting or signalling processes.
package proc

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Wait blocks until the process pid ends or ctx does. nil means it has ended;
// that pid names no process is nil too. The process need not be a child. An
// error other than ctx's means that this kernel has no pidfd.
func Wait(ctx context.Context, pid int) error {
	fd, err := unix.PidfdOpen(pid, unix.O_NONBLOCK)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pidfd_open %d: %w", pid, err)
	}
	f := os.NewFile(uintptr(fd), fmt.Sprintf("pidfd:%d", pid))
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { f.Close() })
	defer stop()
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("pidfd of %d: %w", pid, err)
	}
	err = conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return err == nil && n > 0
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("wait for %d: %w", pid, err)
	}
	return nil
}
