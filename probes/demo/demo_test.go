package demo_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdapilot/probes/demo"
)

// TestMain lets the test binary play the tools, as the real one does.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "__sim" {
		os.Exit(demo.Sim(context.Background(), os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// makeWorld builds a world and points this process at its tools.
func makeWorld(t *testing.T) demo.Layout {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := demo.Make(t.Context(), filepath.Join(t.TempDir(), "world"), self)
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range l.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		t.Setenv(k, v)
	}
	return l
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}

// within polls until the condition holds.
func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %s: %s", limit, what)
}
