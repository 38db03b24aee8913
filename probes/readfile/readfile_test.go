package readfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"kdapilot/engine/fact"
)

func TestAll(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "f")
	if err := os.WriteFile(p, []byte("0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	b, o, err := Hashed(p, 10)
	if err != nil || string(b) != "0123456789" || o.Status != fact.OK || o.Size != 10 ||
		o.SHA256 != "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882" {
		t.Fatalf("%q %+v %v", b, o, err)
	}
	if _, o, err := All(p, 9); !errors.Is(err, ErrTooLarge) || o.Status != fact.Unreadable {
		t.Errorf("too large: %+v %v", o, err)
	}
	if _, o, err := All(filepath.Join(dir, "none"), 9); !errors.Is(err, fs.ErrNotExist) || o.Status != fact.Missing {
		t.Errorf("missing: %+v %v", o, err)
	}
	b, cut, _, err := Tail(p, 4)
	if err != nil || !cut || string(b) != "6789" {
		t.Errorf("tail: %q %v %v", b, cut, err)
	}
}

func TestPipeDoesNotHang(t *testing.T) {
	p := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(p, 0o600); err != nil {
		t.Skip(err)
	}
	if _, o, err := All(p, 10); err == nil || o.Status != fact.Unreadable {
		t.Errorf("fifo: %+v %v", o, err)
	}
}
