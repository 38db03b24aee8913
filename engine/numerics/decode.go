package numerics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
)

// DecodeResult reads a result that was stored as JSON. It refuses one that
// contradicts itself: designs that are not those of the configuration, a gate
// that is not the configuration's, or a pass the metrics do not support. The
// error gives the line, or names the field and what was expected.
//
// Every text in a Result it returns is one this program could have written, so
// nothing in it needs cleaning before it is drawn.
func DecodeResult(b []byte) (Result, error) {
	var r Result
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Result{}, fmt.Errorf("line %d: %w", lineAt(b, err, d.InputOffset()), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Result{}, fmt.Errorf("line %d: expected the end after the result", 1+bytes.Count(b[:d.InputOffset()], []byte("\n")))
	}
	if err := r.check(); err != nil {
		return Result{}, err
	}
	return r, nil
}

// lineAt is the 1-based line of a JSON error.
func lineAt(b []byte, err error, reached int64) int {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		reached = syntax.Offset
	case errors.As(err, &kind):
		reached = kind.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		reached = int64(len(b))
	}
	return 1 + bytes.Count(b[:min(max(reached, 0), int64(len(b)))], []byte("\n"))
}

func (r Result) check() error {
	if r.Version != FormatVersion {
		return fmt.Errorf("version: %d, this program reads %d", r.Version, FormatVersion)
	}
	names, gate, seed, err := r.Config.expected(r.Probe)
	if err != nil {
		return err
	}
	if seed != r.Seed {
		return fmt.Errorf("seed: %d, the configuration says %d", r.Seed, seed)
	}
	if e := r.ElapsedSeconds; e != nil && !(*e >= 0) {
		return fmt.Errorf("elapsed_seconds: %v, expected 0 or more", *e)
	}
	if len(r.Designs) != len(names) {
		return fmt.Errorf("designs: %d results, the configuration has %d designs", len(r.Designs), len(names))
	}
	for i, o := range r.Designs {
		if o.Name != names[i] {
			return fmt.Errorf("designs[%d].name: %.60q, expected %s as in the configuration", i, o.Name, names[i])
		}
		if !reflect.DeepEqual(o.Gate, gate) {
			return fmt.Errorf("designs[%d].gate: %s, the configuration says %s", i, o.Gate, gate)
		}
		if err := o.check(); err != nil {
			return fmt.Errorf("designs[%d] %s: %w", i, o.Name, err)
		}
	}
	return r.checkInputs()
}

// checkInputs: only the attention probe reports scales, always the same three.
func (r Result) checkInputs() error {
	var want []string
	if r.Probe == ProbeAttention {
		want = []string{"q", "k", "v"}
	}
	if len(r.Inputs) != len(want) {
		return fmt.Errorf("inputs: %d operands, expected %d", len(r.Inputs), len(want))
	}
	for i, in := range r.Inputs {
		if in.Name != want[i] {
			return fmt.Errorf("inputs[%d].name: %.20q, expected %s", i, in.Name, want[i])
		}
	}
	return nil
}

// expected is what a configuration says about the result it belongs to.
func (s Setup) expected(p Probe) (names []string, g Gate, seed uint64, err error) {
	switch {
	case p == ProbeAttention && s.Attention != nil && s.GEMM == nil:
		for _, d := range s.Attention.Designs {
			names = append(names, d.Name())
		}
		g, seed, err = s.Attention.Gate, s.Attention.Seed, s.Attention.check()
	case p == ProbeMXFP4GEMM && s.GEMM != nil && s.Attention == nil:
		for _, d := range s.GEMM.Designs {
			names = append(names, d.Name())
		}
		g, seed, err = s.GEMM.Gate, s.GEMM.Seed, s.GEMM.check()
	default:
		err = fmt.Errorf("probe: %.40q, expected %s or %s with its own configuration and no other", p, ProbeAttention, ProbeMXFP4GEMM)
	}
	if err != nil {
		return nil, Gate{}, 0, fmt.Errorf("config: %w", err)
	}
	if g.empty() {
		return nil, Gate{}, 0, errors.New("config: gate: no limit, nothing could fail")
	}
	return names, g, seed, nil
}

func (o Outcome) check() error {
	if v := float64(o.MaxErr); v < 0 {
		return fmt.Errorf("max_err: %v, expected 0 or more", v)
	}
	for name, v := range map[string]Metric{"min_cos": o.MinCos, "cos": o.Cos} {
		if math.Abs(float64(v)) > 1+1e-9 {
			return fmt.Errorf("%s: %v, expected -1 to 1", name, v)
		}
	}
	for name, v := range map[string]*float64{"p_flushed": o.PFlushed, "p_saturated": o.PSaturated} {
		if v != nil && !(*v >= 0 && *v <= 1) {
			return fmt.Errorf("%s: %v, expected 0 to 1", name, *v)
		}
	}
	if o.NonFinite < 0 {
		return fmt.Errorf("non_finite: %d, expected 0 or more", o.NonFinite)
	}
	if want := o.Gate.passes(o); o.Pass != want {
		return fmt.Errorf("pass: %t, the metrics against %s say %t", o.Pass, o.Gate, want)
	}
	return nil
}
