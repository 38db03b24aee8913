package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"kdapilot/engine/text"
)

// decode reads one JSON value strictly; the error names file and line.
func decode(name string, b []byte, into any, what string) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			return fmt.Errorf("%s:%d: expected %s and nothing after it", name, lineAt(b, dec.InputOffset()), what)
		}
		return nil
	}
	at := dec.InputOffset()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	return fmt.Errorf("%s:%d: expected %s: %s", name, lineAt(b, at), what, text.Line(err.Error()))
}

func lineAt(b []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(b)))
	return 1 + bytes.Count(b[:offset], []byte{'\n'})
}

// DecodeWaiver reads a waiver's file. name is the path to name in errors.
func DecodeWaiver(name string, b []byte) (Waiver, error) {
	var w Waiver
	if err := decode(name, b, &w, "a waiver"); err != nil {
		return Waiver{}, err
	}
	w.Who, w.Why = text.Line(w.Who), text.Line(w.Why)
	return w, w.check(name)
}

func (w Waiver) check(name string) error {
	for _, f := range []struct{ name, value string }{{"precondition", w.Precondition}, {"binds", w.Binds}, {"who", w.Who}, {"why", w.Why}} {
		if strings.TrimSpace(f.value) == "" {
			return fmt.Errorf("%s: a waiver needs %s", name, f.name)
		}
	}
	return nil
}

// Encode gives the bytes of a waiver's file; a waiver without who, why or what
// it binds is an error.
func (w Waiver) Encode() ([]byte, error) {
	if err := w.check("waiver"); err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("waiver: %w", err)
	}
	return append(b, '\n'), nil
}
