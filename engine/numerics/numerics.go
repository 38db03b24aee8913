// Package numerics is the room for arithmetic on the host: what a kernel design
// would lose to its number formats, computed without a GPU. It answers one kind
// of question: does the claim "this precision can not pass the gate" hold? The
// answer is data, a measured error and a pass or fail per design.
//
// Guarantees: formats are rounded bit for bit (round to nearest, ties to even);
// every f32 product and sum is rounded by itself, so no compiler may fuse them;
// sums run in index order; the same seed gives the same result whatever the
// number of workers.
//
// Not promised: the order in which a matrix core adds. A kernel's own f32 sums
// differ in their last bits, far below what the formats lose.
//
// What may not enter: files, clocks, verdicts in prose.
package numerics

import (
	"fmt"
	"math"
	"strconv"
)

// Probe names what was computed.
type Probe string

// The probes.
const (
	ProbeAttention Probe = "attention"
	ProbeMXFP4GEMM Probe = "mxfp4_gemm"
)

// Result is what a probe measured. Config holds exactly one configuration, with
// every default filled in, so that the result can be computed again.
type Result struct {
	Version int    `json:"version"`
	Probe   Probe  `json:"probe"`
	Config  Setup  `json:"config"`
	Seed    uint64 `json:"seed"`
	// Inputs are the scales the operands got, in the order of their names.
	Inputs  []InputScale `json:"inputs,omitempty"`
	Designs []Outcome    `json:"designs"`
	// ElapsedSeconds is nil when the caller handed in no clock.
	ElapsedSeconds *float64 `json:"elapsed_seconds,omitempty"`
}

// FormatVersion is the layout of Result this program writes.
const FormatVersion = 1

// Setup is the configuration a result belongs to: one of the two is set.
type Setup struct {
	Attention *AttentionConfig `json:"attention,omitempty"`
	GEMM      *GEMMConfig      `json:"gemm,omitempty"`
}

// InputScale is the range of the dequantisation scales of one operand: value =
// code x scale. Min and Max are equal when one scale covers the tensor.
type InputScale struct {
	Name string `json:"name"`
	Min  Metric `json:"min_scale"`
	Max  Metric `json:"max_scale"`
}

// Outcome is one design's error against the f64 reference.
type Outcome struct {
	Name string `json:"name"`
	// MaxErr is the largest absolute difference of any output element.
	MaxErr Metric `json:"max_err"`
	// MinCos is the smallest cosine between an output row and its reference row.
	MinCos Metric `json:"min_cos"`
	// Cos is the cosine of the whole output, taken as one vector. No gate uses it.
	Cos Metric `json:"cos"`
	// WorstErr and WorstCos say where those were found.
	WorstErr Place `json:"worst_err"`
	WorstCos Place `json:"worst_cos"`
	// LogitsDiff is 1 - 2*sum(x*y)/sum(x*x+y*y) over the whole output; set by
	// the GEMM probe.
	LogitsDiff *Metric `json:"logits_diff,omitempty"`
	// NonFinite counts output elements that are NaN or infinite; one is enough
	// to fail.
	NonFinite int64 `json:"non_finite"`
	// PFlushed is the share of probabilities above zero that became zero when
	// packed, PSaturated the share that was cut to the format's largest value;
	// nil where nothing was packed.
	PFlushed   *float64 `json:"p_flushed,omitempty"`
	PSaturated *float64 `json:"p_saturated,omitempty"`
	// Quantisation is the error against the operands before they were packed.
	// No gate applies to it. Set by the GEMM probe.
	Quantisation *Errors `json:"quantisation,omitempty"`

	Gate Gate `json:"gate"`
	Pass bool `json:"pass"`
}

// Errors are the metrics without a gate.
type Errors struct {
	MaxErr     Metric `json:"max_err"`
	MinCos     Metric `json:"min_cos"`
	Cos        Metric `json:"cos"`
	LogitsDiff Metric `json:"logits_diff"`
}

// Place is one output row. Batch and Head are 0 for a GEMM. Row is -1 when no
// row had anything to compare.
type Place struct {
	Batch int `json:"batch"`
	Head  int `json:"head"`
	Row   int `json:"row"`
}

// Gate is a correctness gate. All limits that are set must hold, strictly for
// MaxErr and MinCos (the harness: max_err < 5e-2 AND min_cos > 0.98), inclusively
// for LogitsDiff (aiter's strict MoE gate: logits_diff <= 0.01).
type Gate struct {
	MaxErr     *float64 `json:"max_err,omitempty"`
	MinCos     *float64 `json:"min_cos,omitempty"`
	LogitsDiff *float64 `json:"logits_diff,omitempty"`
}

// FP8Gate is the attention harness's gate for fp8: max_err < 5e-2 AND min_cos >
// 0.98.
func FP8Gate() Gate { return attentionGate(5e-2, 0.98) }

// HalfGate is the attention harness's gate for bf16 and fp16: max_err < 1e-2 AND
// min_cos > 0.99.
func HalfGate() Gate { return attentionGate(1e-2, 0.99) }

// MoEGate is the strict MoE gate: logits_diff <= 0.01.
func MoEGate() Gate {
	limit := 0.01
	return Gate{LogitsDiff: &limit}
}

func attentionGate(maxErr, minCos float64) Gate {
	return Gate{MaxErr: &maxErr, MinCos: &minCos}
}

func (g Gate) empty() bool { return g.MaxErr == nil && g.MinCos == nil && g.LogitsDiff == nil }

// check refuses limits that nothing or everything would pass.
func (g Gate) check() error {
	for _, l := range []struct {
		name     string
		v        *float64
		low, top float64
	}{{"max_err", g.MaxErr, 0, math.MaxFloat64}, {"min_cos", g.MinCos, -1, 1}, {"logits_diff", g.LogitsDiff, 0, 2}} {
		if l.v != nil && !(*l.v >= l.low && *l.v <= l.top) {
			return fmt.Errorf("gate: %s is %v, want a number from %g to %g", l.name, *l.v, l.low, l.top)
		}
	}
	return nil
}

// passes applies the gate. A limit whose metric is unknown or not a number
// fails.
func (g Gate) passes(o Outcome) bool {
	if o.NonFinite > 0 {
		return false
	}
	if g.MaxErr != nil && !(float64(o.MaxErr) < *g.MaxErr) {
		return false
	}
	if g.MinCos != nil && !(float64(o.MinCos) > *g.MinCos) {
		return false
	}
	return g.LogitsDiff == nil || o.LogitsDiff != nil && float64(*o.LogitsDiff) <= *g.LogitsDiff
}

// Metric is a measured number. NaN and infinities are written as null, since
// JSON has no word for them; null reads back as NaN.
type Metric float64

// MarshalJSON writes the shortest form that reads back the same.
func (m Metric) MarshalJSON() ([]byte, error) {
	v := float64(m)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// UnmarshalJSON reads a number or null.
func (m *Metric) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*m = Metric(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("metric %.40q: want a number or null", b)
	}
	*m = Metric(v)
	return nil
}

// Progress is how far a probe got, in blocks of equal size.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}
