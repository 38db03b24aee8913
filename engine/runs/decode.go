package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"kdapilot/engine/text"
)

// DecodeManifest reads a manifest as it was written, control characters and
// all: only the supervisor that executes it uses it raw. Everybody else calls
// Clean on it. The error gives the line and what was expected.
func DecodeManifest(b []byte) (Manifest, error) {
	var m Manifest
	if err := decode(b, &m); err != nil {
		return Manifest{}, err
	}
	switch {
	case m.Version != FormatVersion:
		return Manifest{}, fmt.Errorf("version: %d, this program reads %d", m.Version, FormatVersion)
	case m.ID == "":
		return Manifest{}, errors.New("id: missing")
	case len(m.Argv) == 0 || m.Argv[0] == "":
		return Manifest{}, errors.New("argv: missing, expected the command as a list")
	case m.Started.IsZero():
		return Manifest{}, errors.New("started: missing, expected a time")
	case m.GraceSeconds < 0 || math.IsNaN(m.GraceSeconds) || m.GraceSeconds > 3600:
		return Manifest{}, fmt.Errorf("grace_seconds: %g, expected 0 to 3600", m.GraceSeconds)
	case m.ExpectedCells != nil && *m.ExpectedCells < 0:
		return Manifest{}, fmt.Errorf("expected_cells: %d, expected 0 or more", *m.ExpectedCells)
	}
	return m, nil
}

// DecodeStatus reads a status record.
func DecodeStatus(b []byte) (Status, error) {
	var s Status
	if err := decode(b, &s); err != nil {
		return Status{}, err
	}
	if s.State != Queued && s.State != Running {
		return Status{}, fmt.Errorf("state: %q, expected queued or running", s.State)
	}
	s.Why = text.Line(s.Why)
	return s, nil
}

// DecodeResult reads a result record.
func DecodeResult(b []byte) (Result, error) {
	var r Result
	if err := decode(b, &r); err != nil {
		return Result{}, err
	}
	switch {
	case r.Version != FormatVersion:
		return Result{}, fmt.Errorf("version: %d, this program reads %d", r.Version, FormatVersion)
	case r.State != Ended && r.State != Cancelled && r.State != Failed:
		return Result{}, fmt.Errorf("state: %q, expected ended, cancelled or failed", r.State)
	case r.State == Ended && (r.Exit == nil) == (r.Signal == ""):
		return Result{}, errors.New("an ended run has either an exit code or a signal")
	}
	return r, nil
}

// Clean returns the manifest with all control sequences stripped, fit for a
// snapshot.
func (m Manifest) Clean() Manifest {
	m.ID, m.Preset, m.Kind = ID(text.Line(string(m.ID))), text.Line(m.Preset), Kind(text.Line(string(m.Kind)))
	m.Family, m.Question, m.Arm = text.Line(m.Family), text.Line(m.Question), text.Line(m.Arm)
	m.Sequence = text.Line(m.Sequence)
	m.RetryOf = ID(text.Line(string(m.RetryOf)))
	m.Cwd, m.Worktree, m.Branch, m.Head = text.Line(m.Cwd), text.Line(m.Worktree), text.Line(m.Branch), text.Line(m.Head)
	m.DirtyHash, m.Executor = text.Line(m.DirtyHash), text.Line(m.Executor)
	m.Argv, m.Unset, m.Captures = cleanAll(m.Argv), cleanAll(m.Unset), cleanAll(m.Captures)
	m.Env, m.Inherited = cleanMap(m.Env), cleanMap(m.Inherited)
	m.Harness = cleanHashed(m.Harness)
	m.Place = m.Place.clean()
	if m.RunEnv != nil {
		h := cleanHashed([]Hashed{*m.RunEnv})[0]
		m.RunEnv = &h
	}
	gpus := make([]GPU, len(m.GPUs))
	for i, g := range m.GPUs {
		gpus[i] = GPU{Index: g.Index, Name: text.Line(g.Name), Arch: text.Line(g.Arch), ID: text.Line(g.ID)}
	}
	if len(gpus) > 0 {
		m.GPUs = gpus
	}
	return m
}

// Clean returns the result with all control sequences stripped.
func (r Result) Clean() Result {
	r.ID, r.Signal, r.Why = ID(text.Line(string(r.ID))), text.Line(r.Signal), text.Line(r.Why)
	r.Files, r.Captured, r.Stale = cleanHashed(r.Files), cleanAll(r.Captured), cleanAll(r.Stale)
	r.ForeignWhy = text.Line(r.ForeignWhy)
	r.SamplesWhy, r.Samples = text.Line(r.SamplesWhy), slices.Clone(r.Samples)
	for i := range r.Samples {
		r.Samples[i].When, r.Samples[i].PerfLevel = text.Line(r.Samples[i].When), text.Line(r.Samples[i].PerfLevel)
	}
	r.Foreign = slices.Clone(r.Foreign)
	for i, f := range r.Foreign {
		r.Foreign[i].Command, r.Foreign[i].When = text.Line(f.Command), text.Line(f.When)
	}
	if r.Verdict != nil {
		v := *r.Verdict
		v.Exit, v.Rows, v.Text, v.Quotes = text.Line(v.Exit), text.Line(v.Rows), text.Line(v.Text), cleanAll(v.Quotes)
		r.Verdict = &v
	}
	return r
}

func (p Place) clean() Place {
	return Place{Host: text.Line(p.Host), Boot: text.Line(p.Boot), PIDSpace: text.Line(p.PIDSpace)}
}

func cleanAll(in []string) []string {
	if in == nil {
		return nil
	}
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = text.Line(s)
	}
	return out
}

func cleanMap(in map[string]string) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[text.Line(k)] = text.Line(v)
	}
	return out
}

func cleanHashed(in []Hashed) []Hashed {
	if in == nil {
		return nil
	}
	out := make([]Hashed, len(in))
	for i, h := range in {
		out[i] = Hashed{Path: text.Line(h.Path), SHA256: text.Line(h.SHA256), Size: h.Size}
	}
	return out
}

// decode reads exactly one JSON value and places errors by line.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("line 1: empty, expected a JSON object")
		}
		return fmt.Errorf("line %d: %s", lineAt(b, offsetOf(err, d)), text.Line(err.Error()))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("line %d: something follows the JSON object", lineAt(b, d.InputOffset()))
	}
	return nil
}

func offsetOf(err error, d *json.Decoder) int64 {
	var syn *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syn):
		return syn.Offset
	case errors.As(err, &typ):
		return typ.Offset
	default:
		return d.InputOffset()
	}
}

func lineAt(b []byte, off int64) int {
	off = max(0, min(off, int64(len(b))))
	return 1 + bytes.Count(b[:off], []byte{'\n'})
}
