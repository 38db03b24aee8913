package numerics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Distribution is what the inputs are drawn from.
type Distribution string

const (
	// Normal has mean 0 and standard deviation 1.
	Normal Distribution = "normal"
	// Uniform is between -1 and 1, as the attention harness draws them. Scores
	// are then nearly equal and the softmax nearly flat.
	Uniform Distribution = "uniform"
)

// ScaleMode says how an input tensor is brought into the range of its format.
type ScaleMode string

const (
	// PerTensor has one scale for a whole tensor: largest magnitude / largest
	// value of the format.
	PerTensor ScaleMode = "per_tensor"
	// PerHead has one such scale for each head of each batch entry.
	PerHead ScaleMode = "per_head"
	// Unit does not scale: the value itself is rounded.
	Unit ScaleMode = "unit"
)

// Reference is what the f64 reference is computed from.
type Reference string

const (
	// Dequantised takes the same packed inputs the design gets, as the harness
	// does: the error is then the kernel's and not the quantiser's.
	Dequantised Reference = "dequantised"
	// Original takes the inputs before they were packed.
	Original Reference = "original"
)

// choose reads one of a few words, in any case.
func choose[T ~string](what, got string, from ...T) (T, error) {
	var names []string
	for _, f := range from {
		if strings.EqualFold(got, string(f)) {
			return f, nil
		}
		names = append(names, string(f))
	}
	return "", fmt.Errorf("%s is %.40q, want %s", what, got, strings.Join(names, " or "))
}

// The streams of random numbers, so that no tensor depends on the size of
// another.
const (
	streamQ = iota + 1
	streamK
	streamV
	streamA
	streamW
)

// draw fills n values of one head of one tensor.
func draw(seed uint64, stream, head, n int, d Distribution) []float32 {
	r := rand.New(rand.NewPCG(seed, uint64(stream)<<40|uint64(head)))
	out := make([]float32, n)
	for i := range out {
		if d == Uniform {
			out[i] = float32(2*r.Float64() - 1)
		} else {
			out[i] = float32(r.NormFloat64())
		}
	}
	return out
}

// largest is the largest magnitude.
func largest(v []float32) float32 {
	var m float32
	for _, x := range v {
		if a := float32(math.Abs(float64(x))); a > m {
			m = a
		}
	}
	return m
}

// scaleFor is the f32 dequantisation scale for a largest magnitude: the harness
// keeps it at 1e-12 or more so that an all-zero tensor does not divide by zero.
func scaleFor(amax float32, f Format) float32 { return max(amax/f.Max(), 1e-12) }

// pack rounds src/scale to the format and returns the values of the codes, not
// multiplied by the scale.
func pack(src []float32, scale float32, r *rounder) []float32 {
	dst := make([]float32, len(src))
	for i, x := range src {
		dst[i] = r.round(x / scale)
	}
	return dst
}

// spread widens the range of the scales of an operand.
func (s *InputScale) spread(scale float32) {
	v := Metric(scale)
	if s.Max == 0 || v < s.Min {
		s.Min = v
	}
	s.Max = max(s.Max, v)
}
