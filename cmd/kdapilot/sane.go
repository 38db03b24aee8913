package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// saneTerminal puts line editing and echo back, as `stty sane` does for what a
// raw program changes.
func saneTerminal(f *os.File) error {
	t, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return fmt.Errorf("standard input is not a terminal: %w", err)
	}
	t.Iflag |= unix.BRKINT | unix.ICRNL | unix.IXON
	t.Oflag |= unix.OPOST | unix.ONLCR
	t.Lflag |= unix.ISIG | unix.ICANON | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.IEXTEN
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, t); err != nil {
		return fmt.Errorf("restore the terminal: %w", err)
	}
	return nil
}
