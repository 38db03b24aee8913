package att

import (
	"fmt"

	"kdapilot/engine/text"
)

// The codes and exit statuses that flyprof uses for the same conditions.
const (
	NoArtifact = "NO_ARTIFACT"
	Internal   = "INTERNAL"
	BadArgs    = "BAD_ARGS"

	exitNothing  = 66
	exitInternal = 70
	exitBadArgs  = 78
)

// Error is a trace that can not be analysed. Code and Exit are those of
// flyprof for the same input, so scripts can rely on them; Msg is ours.
type Error struct {
	Code string
	Exit int
	// Path is the file or folder the error is about.
	Path string
	Msg  string
	Err  error
}

// Error gives one clean line: path, what is wrong, flyprof's code.
func (e *Error) Error() string {
	return text.Line(fmt.Sprintf("%s: %s [%s, exit %d]", e.Path, e.Msg, e.Code, e.Exit))
}

// Unwrap gives the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Nothing is NO_ARTIFACT, exit 66: there is nothing to analyse at path.
func Nothing(path, format string, args ...any) *Error {
	return &Error{Code: NoArtifact, Exit: exitNothing, Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Broken is INTERNAL, exit 70: something is there and can not be understood.
func Broken(path string, cause error, format string, args ...any) *Error {
	return &Error{Code: Internal, Exit: exitInternal, Path: path, Msg: fmt.Sprintf(format, args...), Err: cause}
}

// Refused is BAD_ARGS, exit 78: the path itself can not be used.
func Refused(path string, cause error, format string, args ...any) *Error {
	return &Error{Code: BadArgs, Exit: exitBadArgs, Path: path, Msg: fmt.Sprintf(format, args...), Err: cause}
}
