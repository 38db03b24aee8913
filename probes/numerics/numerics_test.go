package numerics

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kdapilot/engine/fact"
	"kdapilot/engine/numerics"
	"kdapilot/probes/readfile"
)

func result(t *testing.T) numerics.Result {
	t.Helper()
	r, err := numerics.Attention(context.Background(), numerics.AttentionConfig{
		Shape: numerics.Shape{Batch: 1, Heads: 2, SeqLen: 20, HeadDim: 8}, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSaveAndLoad(t *testing.T) {
	dir, want := t.TempDir(), result(t)
	saved, err := Save(dir, want)
	if err != nil {
		t.Fatal(err)
	}
	if len(saved.SHA256) != 64 || saved.Status != fact.OK {
		t.Errorf("saved as %+v", saved)
	}
	for _, path := range []string{dir, filepath.Join(dir, File)} {
		got, origin, err := Load(path)
		if err != nil || !reflect.DeepEqual(got, want) || origin.SHA256 != saved.SHA256 {
			t.Errorf("%s: %v, %+v, %+v", path, err, origin, got)
		}
	}
	if _, err := Save(dir, want); !errors.Is(err, ErrStored) {
		t.Errorf("stored a second time: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if info, err := os.Stat(filepath.Join(dir, File)); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestSaveRefuses(t *testing.T) {
	r := result(t)
	r.Designs[0].Pass = false // its metrics pass
	dir := t.TempDir()
	if _, err := Save(dir, r); err == nil || !strings.Contains(err.Error(), "pass: false") {
		t.Errorf("a result that contradicts itself: %v", err)
	}
	if _, err := Save(filepath.Join(dir, "none"), result(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	if _, origin, err := Load(path); !errors.Is(err, fs.ErrNotExist) || origin.Status != fact.Missing {
		t.Errorf("nothing there: %v, %+v", err, origin)
	}
	good, err := Encode(result(t))
	if err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string]string{
		"pass: false":  strings.Replace(string(good), `"pass": true`, `"pass": false`, 1),
		"line ":        string(good[:len(good)/2]),
		"are read":     string(good) + strings.Repeat(" ", limit),
		"version: 0":   "{}",
		"expected the": string(good) + "1",
	} {
		if err := os.WriteFile(path, []byte(b), 0o644); err != nil {
			t.Fatal(err)
		}
		_, origin, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("want %q with the path: %v", want, err)
		}
		if origin.Status != fact.Unreadable || origin.Why == "" {
			t.Errorf("%s: %+v", want, origin)
		}
		if want == "are read" && !errors.Is(err, readfile.ErrTooLarge) {
			t.Errorf("too large: %v", err)
		}
	}
}
