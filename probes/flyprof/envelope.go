package flyprof

import (
	"encoding/json"
	"errors"
	"fmt"

	"kdapilot/engine/stall"
)

// Envelope is what every flyprof command prints on stdout. Exactly one of Data
// and Error is set.
type Envelope struct {
	OK      bool
	Command string
	// Bundle is absolute; "" for commands that have none.
	Bundle string
	// Data is the command's own object, as printed.
	Data     json.RawMessage
	Warnings []string
	// HotspotsCappedAt and InstructionsTotal are set when `bubbles` cut its list.
	HotspotsCappedAt, InstructionsTotal int
	Error                               *EnvelopeError
}

// EnvelopeError is a failure flyprof reports itself.
type EnvelopeError struct {
	Code string
	// Exit equals the exit status of the process.
	Exit          int
	Message, Help string
	// Available are the first valid code lines for `bubbles --detail`.
	Available []int64
	// Candidates are kernel names when none was picked; Trace the last lines of
	// a traceback.
	Candidates, Trace []string
	// Unmapped is a code flyprof raised and does not know itself.
	Unmapped string
}

// Error gives message and code in one line.
func (e *EnvelopeError) Error() string {
	s := fmt.Sprintf("flyprof: %s [%s, exit %d]", e.Message, e.Code, e.Exit)
	if e.Help != "" {
		s += "; " + e.Help
	}
	return s
}

// maxWarnings bounds the lists of an envelope.
const maxWarnings = 200

// ParseEnvelope reads one envelope. flyprof prints none after a usage error
// (exit 2) or Ctrl-C (exit 130); an empty output is an error that says so.
func ParseEnvelope(b []byte) (Envelope, error) {
	var f struct {
		OK        *bool           `json:"ok"`
		Command   string          `json:"command"`
		Bundle    string          `json:"bundle"`
		Data      json.RawMessage `json:"data"`
		Warnings  []string        `json:"warnings"`
		Truncated struct {
			Cap   int `json:"hotspots_capped_at"`
			Total int `json:"instructions_total"`
		} `json:"truncated"`
		Error *struct {
			Code       string   `json:"code"`
			Exit       int      `json:"exitCode"`
			Message    string   `json:"message"`
			Help       string   `json:"help"`
			Available  []int64  `json:"available"`
			Candidates []string `json:"candidates"`
			Trace      []string `json:"trace"`
			Unmapped   string   `json:"unmapped_code"`
		} `json:"error"`
	}
	if len(b) == 0 {
		return Envelope{}, errors.New("flyprof printed nothing: a usage error (exit 2) or interrupted (exit 130)")
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return Envelope{}, fmt.Errorf("not one flyprof envelope: %w", explain(b, err))
	}
	switch {
	case f.OK == nil:
		return Envelope{}, errors.New(`not a flyprof envelope: no "ok" in it`)
	case *f.OK && f.Data == nil:
		return Envelope{}, errors.New(`flyprof envelope says ok and has no "data"`)
	case !*f.OK && f.Error == nil:
		return Envelope{}, errors.New(`flyprof envelope says not ok and has no "error"`)
	}
	e := Envelope{
		OK: *f.OK, Command: line(f.Command), Bundle: line(f.Bundle), Warnings: lines(f.Warnings),
		HotspotsCappedAt: f.Truncated.Cap, InstructionsTotal: f.Truncated.Total,
	}
	if e.OK {
		e.Data = f.Data
		return e, nil
	}
	e.Error = &EnvelopeError{
		Code: line(f.Error.Code), Exit: f.Error.Exit, Message: line(f.Error.Message), Help: line(f.Error.Help),
		Available: f.Error.Available[:min(len(f.Error.Available), maxWarnings)], Candidates: lines(f.Error.Candidates),
		Trace: lines(f.Error.Trace), Unmapped: line(f.Error.Unmapped),
	}
	return e, nil
}

// Bubbles decodes the data of a `bubbles` envelope.
func (e *Envelope) Bubbles() (stall.Bubbles, error) {
	if !e.OK {
		return stall.Bubbles{}, e.Error
	}
	return ParseBubbles(e.Data)
}

func lines(in []string) []string {
	var out []string
	for _, s := range in[:min(len(in), maxWarnings)] {
		out = append(out, line(s))
	}
	return out
}
