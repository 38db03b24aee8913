package family

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// MaxSize is the largest family.toml that Parse reads, in bytes.
const MaxSize = 1 << 20

// Error is one fault of a family file. Line and Col are 1-based, 0 when the
// fault has no single place.
type Error struct {
	File string
	Line int
	Col  int
	Msg  string
}

// Error gives file:line:col: message.
func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.File + ": " + e.Msg
	case e.Col == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
	default:
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	}
}

// Parse reads the family.toml of the family called name. Unknown keys, wrong
// types and every fault that Lint calls an error are refused; the returned
// error then joins one *Error per fault.
func Parse(name string, src []byte) (Family, error) {
	file := name + "/family.toml"
	var f Family
	if len(src) > MaxSize {
		return f, &Error{File: file, Msg: fmt.Sprintf("%d bytes, at most %d are read", len(src), MaxSize)}
	}
	dec := toml.NewDecoder(bytes.NewReader(src)).DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return Family{}, decodeError(file, err)
	}
	f.Name = name
	var errs []error
	for _, p := range Lint(f) {
		if !p.Fatal {
			continue
		}
		errs = append(errs, &Error{File: file, Line: lineOf(src, p.near), Msg: p.Text})
	}
	if len(errs) > 0 {
		return Family{}, errors.Join(errs...)
	}
	return f, nil
}

// decodeError turns go-toml's errors into ours, keeping line and column.
func decodeError(file string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		var errs []error
		for i := range strict.Errors {
			line, col := strict.Errors[i].Position()
			errs = append(errs, &Error{File: file, Line: line, Col: col,
				Msg: fmt.Sprintf("unknown key %q", strings.Join(strict.Errors[i].Key(), "."))})
		}
		return errors.Join(errs...)
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, col := bad.Position()
		msg := strings.TrimPrefix(bad.Error(), "toml: ")
		if key := strings.Join(bad.Key(), "."); key != "" {
			msg = key + ": " + msg
		}
		return &Error{File: file, Line: line, Col: col, Msg: msg}
	}
	return &Error{File: file, Msg: err.Error()}
}

// lineOf is the first line that holds the quoted word near, so that a fault of
// meaning points somewhere useful; 0 when there is none.
func lineOf(src []byte, near string) int {
	if near == "" {
		return 0
	}
	i := bytes.Index(src, []byte(`"`+near+`"`))
	if i < 0 {
		return 0
	}
	return 1 + bytes.Count(src[:i], []byte("\n"))
}
