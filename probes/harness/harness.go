// Package harness reads what kernel harnesses print: stdout and stderr of a
// run as the bytes arrive, and the CSV, JSON, JSONL and junit files they
// leave. Each family is one file here; nothing else knows its format.
//
// Guarantees: no panic on any input, bounded memory (an over-long line is cut
// and said so, rows are capped and said so), an unfinished last line is kept
// aside and never read as a row, and what was not recognised is named.
//
// What may not enter: judgement. Whether a run passed and whether two runs
// differ is engine/bench.
package harness

import "kdapilot/engine/bench"

// Stream says where bytes came from.
type Stream int

// The streams of a run. Merged is stdout and stderr in one.
const (
	Stdout Stream = iota
	Stderr
	Merged
)

// String gives the name that diagnostics use.
func (s Stream) String() string {
	switch s {
	case Stdout:
		return "stdout"
	case Stderr:
		return "stderr"
	}
	return "merged"
}

// Family names a harness; Auto asks for detection by content.
type Family string

// The families. Unknown is the answer when nothing fits.
const (
	Auto           Family = ""
	Unknown        Family = "unknown"
	FlashAttn      Family = "flash_attn"
	PreshuffleGEMM Family = "preshuffle_gemm"
	RowscaleGEMM   Family = "fp8_gemm_rowscale"
	MoEFlyDSL      Family = "moe_flydsl"
	MoEAiter       Family = "moe_aiter"
	Norm           Family = "layernorm"
	RunBenchmark   Family = "run_benchmark"
	Pytest         Family = "pytest"
	RunTests       Family = "run_tests"
	ProfLib        Family = "proflib"
)

// Sink receives events as they arrive, on the goroutine that calls Feed. It
// must not keep the Row's slices beyond the call unless it copies them.
type Sink func(bench.Event)
