package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kdapilot": main, "flyprof": fakeFlyprof})
}

// TestScripts runs the command line as a user would, one file of
// testdata/script each.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, Setup: func(e *testscript.Env) error {
		e.Setenv("TERM", "xterm-256color")
		return os.MkdirAll(e.Getenv("HOME"), 0o755)
	}})
}
