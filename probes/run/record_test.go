package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"kdapilot/engine/runs"
)

func TestRecordKeepsWorkOfThisProcessAsARun(t *testing.T) {
	root := t.TempDir()
	r := New(Local{})
	got, err := r.Record(t.Context(), Spec{Worktree: root, Preset: "numerics", Argv: []string{"kdapilot", "numerics"}}, func(_ context.Context, dir string, out io.Writer) (int, error) {
		if during, err := r.Read(dir); err != nil || during.State != runs.Running {
			t.Errorf("while it runs: %s, %v", during.State, err)
		}
		fmt.Fprintln(out, "a line")
		return 1, os.WriteFile(filepath.Join(dir, "own.json"), []byte("{}"), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.State != runs.Ended || got.Result == nil || got.Result.Exit == nil || *got.Result.Exit != 1 || got.Manifest.Preset != "numerics" {
		t.Fatalf("%+v", got)
	}
	if bad := Verify(got); len(bad) > 0 {
		t.Errorf("hashes: %v", bad)
	}
	names := map[string]bool{}
	for _, f := range got.Result.Files {
		names[f.Path] = true
	}
	if !names["own.json"] || !names[StdoutFile] {
		t.Errorf("files %v", names)
	}
	if st, err := os.Stat(filepath.Join(got.Dir, "own.json")); err != nil || st.Mode().Perm()&0o222 != 0 {
		t.Errorf("still writable: %v %v", st, err)
	}
}

func TestRecordOfWorkThatFails(t *testing.T) {
	broken := errors.New("no shape")
	got, err := New(Local{}).Record(t.Context(), Spec{Worktree: t.TempDir(), Argv: []string{"x"}}, func(context.Context, string, io.Writer) (int, error) { return 0, broken })
	if !errors.Is(err, broken) || got.State != runs.Failed || got.Result.Exit != nil {
		t.Errorf("%v, %s", err, got.State)
	}
	ctx, cancel := context.WithCancel(t.Context())
	got, err = New(Local{}).Record(ctx, Spec{Worktree: t.TempDir(), Argv: []string{"x"}}, func(context.Context, string, io.Writer) (int, error) {
		cancel()
		return 0, ctx.Err()
	})
	if err == nil || got.State != runs.Cancelled {
		t.Errorf("%v, %s", err, got.State)
	}
}
