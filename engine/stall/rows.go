package stall

import "strconv"

// Row is one line of the disassembly with what the sampled waves spent on it.
// Cycles are shader-clock cycles summed over those waves.
type Row struct {
	ISA string
	// Line is the row number of the trace; waits refer to it. Never 0.
	Line int64
	// Source is "file:line", possibly an inline chain joined with " -> ", or "".
	Source  string
	CodeObj int64
	Addr    int64
	// Hit is the number of executions.
	Hit     int64
	Latency int64
	Stall   int64
	Idle    int64
	Class   Class
}

// IsLabel reports a label row: the name of a kernel, not an instruction. The
// profiler counts the label rows of a second and later kernel as instructions.
func (r *Row) IsLabel() bool { return len(r.ISA) > 0 && r.ISA[0] == ';' }

// Issue is the cycles not spent stalled, never negative.
func (r *Row) Issue() int64 { return max(0, r.Latency-r.Stall) }

// hexAddr writes an address as Python's hex does.
func hexAddr(a int64) string {
	if a < 0 {
		return "-0x" + strconv.FormatUint(uint64(-a), 16)
	}
	return "0x" + strconv.FormatInt(a, 16)
}

// Code is a code.json as it was read: the rows the profiler keeps, and counts
// of what it does not keep.
type Code struct {
	Rows []Row
	// Labels are the kernel names of the label rows, in order, without "; ".
	Labels []string
	// AllRows counts rows as the profiler's capture does: with label rows and
	// with rows it does not analyse. AllMapped are those with a source.
	AllRows   int
	AllMapped int
	// Dropped are non-label rows that were not kept: fewer than ten columns, or
	// a line number that is not a non-zero integer.
	Dropped int
	// Columns is the number of columns the header names.
	Columns int
	// Version is the trace format's own version text.
	Version string
}

// Waits is what the wave files say beyond the sums in Code: for every executed
// wait, the memory operations it was for; and a few counts of the waves.
type Waits struct {
	// Edges maps the line of a wait to the lines of its producers, ascending.
	Edges map[int64][]int64
	// Files is the number of wave files in the folder; Broken of them could not
	// be read and count for nothing.
	Files, Broken int
	// InstsMin and InstsMax are executed instructions per wave.
	InstsMin, InstsMax int64
	// Cycles are the wave-state sums over the waves read.
	Cycles StateCycles
	// Capped says that there were more files than are read.
	Capped bool
}

// StateCycles are shader-clock cycles that the sampled waves spent per state.
type StateCycles struct {
	Idle  int64 `json:"idle"`
	Exec  int64 `json:"exec"`
	Wait  int64 `json:"wait"`
	Stall int64 `json:"stall"`
}
