// Package bench is the room where benchmark numbers mean something: rows of a
// harness table, what a run as a whole claims, whether exit status, rows and
// text agree, and how two arms of runs compare.
//
// Guarantees: a missing, failed or skipped cell is never dropped from a
// denominator; deltas come from microseconds and never from TFLOPS; a verdict
// is given only where the statistics can carry it, and the reason is said
// where they can not.
//
// What may not enter: reading (probes/harness turns bytes into rows), drawing,
// files, and the clock.
package bench

// Status is a row's own verdict, in the harness's spelling where it prints one.
type Status string

// The statuses that harnesses print, and Missing for an announced
// cell without numbers. OK is the word of run_benchmark and the profiling
// library, which also say failed, unsupported and skip.
const (
	Pass     Status = "PASS"
	Fail     Status = "FAIL"
	Error    Status = "ERROR"
	Skip     Status = "SKIP"
	BenchErr Status = "BENCHERR"
	OK       Status = "ok"
	Missing  Status = "missing"
	// Measured is the FlyDSL MoE line: a number that nothing gated.
	Measured      Status = "OK"
	Failed        Status = "failed"
	Unsupported   Status = "unsupported"
	SkipCell      Status = "skip"
	NotConfigured Status = "not_configured"
)

// Class sorts the spellings of all harnesses into what they mean.
type Class int

// The classes. ClassUngated rows carry numbers that no gate has looked at.
const (
	ClassUngated Class = iota
	ClassPass
	ClassFail
	ClassSkip
)

// Class tells what a status means. An unknown word is ungated, never a pass.
func (s Status) Class() Class {
	switch s {
	case Pass:
		return ClassPass
	case Fail, Error, BenchErr, Missing, Failed:
		return ClassFail
	case Skip, SkipCell, Unsupported, NotConfigured:
		return ClassSkip
	}
	return ClassUngated
}

// Row is one configuration (cell) of a run after de-duplication.
type Row struct {
	// Key identifies the cell across runs, for example
	// B2_S1024_H16_Hkv16_D64_bf16_causal_sp1. Never empty.
	Key string
	// Section is "" for the main table, else "varlen", "extra" or "compare".
	Section string
	// Fields are the axes (B, S, H, M, N, K, dtype, causal, …) and the extra
	// numbers of the family (tbps, gbps, cos, logits_diff, mode, …).
	Fields Fields
	Status Status
	// US is in microseconds per call; TFLOPS is as printed and only shown.
	US, TFLOPS Num
	// MaxErr is the largest absolute error, MinCos the smallest cosine.
	MaxErr, MinCos Num
	// Error is the first physical line of an error cell; "" when none.
	Error string
	// Warnings are what the harness said about this cell without failing it,
	// for example "result contains 192 NaN values".
	Warnings []string
	// MD5 is the hash of the output tensor where the harness prints it, Ref
	// that of the reference.
	MD5, RefMD5 string
	// Line is the 1-based line of the row's last print; Seen counts its prints.
	Line, Seen int
}

// Axis gives a field of the row by name, or null.
func (r *Row) Axis(name string) Value {
	v, _ := r.Fields.Get(name)
	return v
}

// Executed reports whether a kernel ran for this row: it passed, failed its
// gate, or was at least measured. Skipped, missing and errored cells did not.
func (r *Row) Executed() bool {
	switch r.Status {
	case Error, Missing, Failed:
		return false
	}
	if r.Status.Class() == ClassSkip {
		return false
	}
	return r.US.OK || r.TFLOPS.OK || r.MaxErr.OK || r.Status == Pass || r.Status == Fail || r.Status == BenchErr
}

// Bad reports whether the row's own verdict is a failure.
func (r *Row) Bad() bool { return r.Status.Class() == ClassFail }

// MarshalJSON writes the fields in the harness's order between the key and the
// numbers. Absent numbers are null; error is null when there is none.
func (r Row) MarshalJSON() ([]byte, error) {
	dst := make([]byte, 0, 320)
	dst = append(dst, '{')
	if r.Section != "" {
		dst = append(dst, `"section":`...)
		dst = appendString(dst, r.Section)
		dst = append(dst, ',')
	}
	dst = append(dst, `"key":`...)
	dst = appendString(dst, r.Key)
	for i := range r.Fields {
		if !reserved(r.Fields[i].Name) {
			dst = r.Fields[i:i+1].appendMembers(dst, true)
		}
	}
	dst = append(dst, `,"status":`...)
	dst = appendString(dst, string(r.Status))
	for _, n := range []struct {
		name string
		v    Num
	}{{"us", r.US}, {"tflops", r.TFLOPS}, {"max_err", r.MaxErr}, {"min_cos", r.MinCos}} {
		dst = append(dst, ',', '"')
		dst = append(dst, n.name...)
		dst = append(dst, '"', ':')
		dst = FromNum(n.v).append(dst)
	}
	dst = append(dst, `,"error":`...)
	if r.Error == "" {
		dst = append(dst, "null"...)
	} else {
		dst = appendString(dst, r.Error)
	}
	dst = r.appendSaid(dst)
	return append(dst, '}'), nil
}

// reserved names members that a field must not repeat.
func reserved(name string) bool {
	switch name {
	case "key", "section", "status", "us", "tflops", "max_err", "min_cos", "error", "warnings", "result_md5", "ref_md5":
		return true
	}
	return false
}

// appendSaid writes the members that most rows lack.
func (r *Row) appendSaid(dst []byte) []byte {
	if len(r.Warnings) > 0 {
		dst = append(dst, `,"warnings":[`...)
		for i, w := range r.Warnings {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, w)
		}
		dst = append(dst, ']')
	}
	if r.MD5 != "" {
		dst = append(dst, `,"result_md5":`...)
		dst = appendString(dst, r.MD5)
	}
	if r.RefMD5 != "" {
		dst = append(dst, `,"ref_md5":`...)
		dst = appendString(dst, r.RefMD5)
	}
	return dst
}
