package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kdapilot/probes/run"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kdapilot": main, "flyprof": fakeFlyprof})
}

// TestScripts runs the command line as a user would, one file of
// testdata/script each; $GPU is a number that no other script uses, $TRACES the
// folder of real traces, which may be absent. Beside testscript's own commands
// there is `exits N PROGRAM ARG...`, which wants that exit status.
func TestScripts(t *testing.T) {
	var gpu atomic.Int32
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Condition: func(cond string) (bool, error) {
			if cond != "traces" {
				return false, fmt.Errorf("condition %s is not known", cond)
			}
			_, err := os.Stat(filepath.Join(traces(), "att"))
			return err == nil, nil
		},
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home") // testscript's own is outside
			e.Setenv("TERM", "xterm-256color")
			e.Setenv("HOME", home)
			// A GPU number of its own: the locks are the host's, and scripts run at once.
			n := strconv.Itoa(1000*os.Getpid() + int(gpu.Add(1)))
			e.Setenv("GPU", n)
			e.Setenv("TRACES", filepath.Join(traces(), "att"))
			e.Defer(func() { _ = os.Remove(filepath.Join(run.DefaultLockDir(), "gpu-"+n+".lock")) })
			return os.MkdirAll(home, 0o755)
		},
	})
}

// traces is the folder of real sample data, wherever this test runs.
func traces() string {
	if d := os.Getenv("KDAPILOT_DATA"); d != "" {
		return d
	}
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	return filepath.Join(wd, "..", "..", "..", "shared", "data")
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var ended *exec.ExitError
	got := 0
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
