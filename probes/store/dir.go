package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrLink is wrapped when the state folder, or a file in it, is a symbolic
// link: nothing is written through one.
var ErrLink = errors.New("is a symbolic link: nothing is written through it")

// open opens a folder of the state for writing, and makes it when it is not
// there. All writing goes through the os.Root it returns, so that no path in it
// can lead elsewhere, also not one that is swapped in between.
func (s Store) open(below ...string) (*os.Root, error) {
	at, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	for _, name := range append(strings.Split(Dir, "/"), below...) {
		next, err := step(at, name)
		at.Close()
		if err != nil {
			return nil, fmt.Errorf("state folder: %w", err)
		}
		at = next
	}
	return at, nil
}

func step(at *os.Root, name string) (*os.Root, error) {
	path := filepath.Join(at.Name(), name)
	info, err := at.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := at.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err := syncRoot(at); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s %w", path, ErrLink)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a folder", path)
	}
	return at.OpenRoot(name)
}

func syncRoot(at *os.Root) error {
	d, err := at.Open(".")
	if err != nil {
		return fmt.Errorf("sync %s: %w", at.Name(), err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", at.Name(), err)
	}
	return nil
}

// openFile opens a regular file of the state for reading and writing, and makes
// it when it is not there. It never waits on a pipe.
func openFile(at *os.Root, name string) (*os.File, error) {
	path := filepath.Join(at.Name(), name)
	info, err := at.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s %w", path, ErrLink)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return at.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
}

// lock takes the one lock of the state folder; closing the file gives it back.
func lock(ctx context.Context, at *os.Root) (*os.File, error) {
	f, err := openFile(at, lockName)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock %s: another cockpit holds it: %w", f.Name(), ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// writeOnce writes a whole file under a new name or not at all: the bytes go to
// a temporary file, onto the disk, and then get their name, which must be free.
// The same bytes under the name already are no error.
func writeOnce(at *os.Root, name string, b []byte, mode fs.FileMode) error {
	path := filepath.Join(at.Name(), name)
	if err := writeNew(at, name, b, mode); err != nil {
		if errors.Is(err, fs.ErrExist) {
			if have, rerr := at.ReadFile(name); rerr == nil && bytes.Equal(have, b) {
				return nil
			}
		}
		return fmt.Errorf("write %s once: %w", path, err)
	}
	return syncRoot(at)
}

func writeNew(at *os.Root, name string, b []byte, mode fs.FileMode) (err error) {
	var r [6]byte
	if _, err := rand.Read(r[:]); err != nil {
		return err
	}
	temp := "." + name + "." + hex.EncodeToString(r[:])
	if err := fill(at, temp, b, mode); err != nil {
		return err
	}
	defer func() {
		if rerr := at.Remove(temp); rerr != nil && err == nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = rerr
		}
	}()
	// A hard link fails where the name exists; a rename would replace it.
	err = at.Link(temp, name)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) {
		// File systems without hard links: make the name itself, if it is free.
		err = fill(at, name, b, mode)
	}
	return err
}

// fill makes a file that must not be there yet and puts it on the disk.
func fill(at *os.Root, name string, b []byte, mode fs.FileMode) error {
	f, err := at.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		err = errors.Join(err, at.Remove(name))
	}
	return err
}
