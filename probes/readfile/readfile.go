// Package readfile is the leaf every probe reads files through: bounded in
// size, never blocking on a pipe or device, and always saying where the bytes
// came from.
//
// What may not enter: formats. It returns bytes and provenance.
package readfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"kdapilot/engine/fact"
)

// ErrTooLarge is wrapped when a file exceeds the caller's limit.
var ErrTooLarge = errors.New("file too large")

// All reads the whole of path if it is a regular file of at most limit bytes.
// The Origin is filled in every case, with a Status and a one-line Why when the
// read failed; the error wraps fs.ErrNotExist, ErrTooLarge or the system's.
func All(path string, limit int64) ([]byte, fact.Origin, error) {
	return read(path, limit, false)
}

// Tail reads at most the last limit bytes of path. cut reports whether bytes
// before them were left out; the first line may then be partial.
func Tail(path string, limit int64) (b []byte, cut bool, o fact.Origin, err error) {
	b, o, err = read(path, limit, true)
	return b, err == nil && o.Size > int64(len(b)), o, err
}

// Hashed is All with the SHA256 of the bytes in the Origin.
func Hashed(path string, limit int64) ([]byte, fact.Origin, error) {
	b, o, err := read(path, limit, false)
	if err == nil {
		sum := sha256.Sum256(b)
		o.SHA256 = hex.EncodeToString(sum[:])
	}
	return b, o, err
}

func read(path string, limit int64, tail bool) ([]byte, fact.Origin, error) {
	o := fact.Origin{Path: path, ReadAt: time.Now()}
	fail := func(err error) ([]byte, fact.Origin, error) {
		o.Status, o.Why = fact.Unreadable, err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			o.Status = fact.Missing
		}
		return nil, o, err
	}
	// O_NONBLOCK so that a FIFO planted under a known name can not hang a probe.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	if !info.Mode().IsRegular() {
		return fail(fmt.Errorf("%s: not a regular file (%s)", path, info.Mode().Type()))
	}
	o.ModTime, o.Size = info.ModTime(), info.Size()
	size := info.Size()
	if size > limit {
		if !tail {
			return fail(fmt.Errorf("%s: %d bytes, at most %d are read: %w", path, size, limit, ErrTooLarge))
		}
		if _, err := f.Seek(size-limit, io.SeekStart); err != nil {
			return fail(fmt.Errorf("%s: %w", path, err))
		}
		size = limit
	}
	// One byte more than stated: a file that grows while it is read is seen.
	b := make([]byte, 0, size+1)
	buf := make([]byte, 64<<10)
	for int64(len(b)) <= limit {
		n, err := f.Read(buf)
		b = append(b, buf[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fail(fmt.Errorf("%s: %w", path, err))
		}
	}
	if int64(len(b)) > limit {
		if !tail {
			return fail(fmt.Errorf("%s: grew past %d bytes while it was read: %w", path, limit, ErrTooLarge))
		}
		b = b[int64(len(b))-limit:]
	}
	if int64(len(b)) > o.Size {
		o.Size = int64(len(b))
	}
	o.Status = fact.OK
	return b, o, nil
}
