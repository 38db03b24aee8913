package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// The exit codes are part of the command line's contract.
const (
	exitOK         = 0
	exitRed        = 1  // red finding or regression
	exitUndecided  = 2  // the data cannot decide
	exitIncomplete = 3  // rows missing, failed or skipped
	exitUsage      = 64 // wrong arguments
	exitNothing    = 66 // nothing there: no bundle, no rows, no loop
	exitNoTool     = 69 // tool or GPU missing
	exitInternal   = 70 // a bug of ours or unreadable input
	exitTimeout    = 75
	exitConfig     = 78 // bad configuration or prerequisite
)

// exitError is an error that knows its exit code. A nil err means the output
// already said everything.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func exitWith(code int, format string, args ...any) error {
	return &exitError{code: code, err: fmt.Errorf(format, args...)}
}

// exitQuietly ends with a code when everything has been said already.
func exitQuietly(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// codeOf maps an error to the process exit code.
func codeOf(err error) int {
	var x *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &x):
		return x.code
	case errors.Is(err, fs.ErrNotExist):
		return exitNothing
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	default:
		return exitInternal
	}
}
