package numerics

import (
	"fmt"
	"math"
	"strings"
)

// mxBlock is the number of elements along the inner dimension that share one
// e8m0 scale (per-1x32).
const mxBlock = 32

// ScaleRule says how the e8m0 scale of a block follows from its largest
// magnitude amax. emax is the exponent of the element format's largest value: 2
// for e2m1, 8 for e4m3fn.
type ScaleRule string

const (
	// ScaleFloor is floor(log2(amax)) - emax, from the MX specification v1.0
	// section 6.3. Elements above the largest value saturate.
	ScaleFloor ScaleRule = "floor"
	// ScaleEven rounds amax to the element format's mantissa first, so that an
	// amax that would round up to the next power of two gets the next scale.
	ScaleEven ScaleRule = "even"
	// ScaleCeil is the smallest scale with which nothing saturates.
	ScaleCeil ScaleRule = "ceil"
)

// e8m0Exponent is the exponent of the block's scale, -127 to 127, which are the
// exponents e8m0 can hold. A block of zeros gets the lowest.
func e8m0Exponent(amax float32, f Format, rule ScaleRule) int {
	if !(amax > 0) {
		return -127
	}
	if math.IsInf(float64(amax), 0) {
		return 127
	}
	bits := math.Float32bits(amax)
	if rule == ScaleEven {
		// Half a unit in the last place of the element's mantissa; a carry moves
		// the exponent, which is all that is used of the sum.
		bits += 1 << (22 - f.spec().man)
	}
	// A subnormal amax reads as -127 here, below what e8m0 holds after emax.
	scale := int(bits>>23) - 127 - exponentOf(f.Max())
	if rule == ScaleCeil && math.Ldexp(float64(amax), -scale) > float64(f.Max()) {
		scale++
	}
	return min(127, max(-127, scale))
}

// exponentOf is floor(log2(v)) of a normal positive value.
func exponentOf(v float32) int { return int(math.Float32bits(v)>>23) - 127 }

// packMX packs rows of k elements in blocks of 32 and returns the values the
// codes stand for, scale included. A scale is a power of two, so those are
// exact in f32 as long as they do not leave its range.
func packMX(src []float32, k int, r *rounder, rule ScaleRule) []float32 {
	dst := make([]float32, len(src))
	for at := 0; at < len(src); at += k {
		for i := 0; i < k; i += mxBlock {
			block := src[at+i : at+i+min(mxBlock, k-i)]
			e := e8m0Exponent(largest(block), r.format, rule)
			up, down := math.Ldexp(1, e), math.Ldexp(1, -e)
			for j, v := range block {
				code := r.round(float32(float64(v) * down))
				dst[at+i+j] = float32(float64(code) * up)
			}
		}
	}
	return dst
}

// GEMMDesign is one way to pack the two operands of a GEMM. W is always e2m1
// with one e8m0 scale per 1x32.
type GEMMDesign struct {
	// A is the activations' format: E2M1 and E4M3FN are packed per 1x32 like W;
	// BF16 is rounded and has no scale.
	A     Format
	Scale ScaleRule
}

// DefaultGEMMDesigns are both operands in fp4 under each scale rule, and wider
// activations.
func DefaultGEMMDesigns() []GEMMDesign {
	return []GEMMDesign{
		{E2M1, ScaleEven}, {E2M1, ScaleFloor}, {E2M1, ScaleCeil}, {E4M3FN, ScaleEven}, {BF16, ScaleEven},
	}
}

// Name is a4w4-RULE, a8w4-RULE or a16w4-RULE.
func (d GEMMDesign) Name() string { return fmt.Sprintf("a%dw4-%s", d.A.Bits(), d.Scale) }

// MarshalText writes the name.
func (d GEMMDesign) MarshalText() ([]byte, error) { return []byte(d.Name()), nil }

// UnmarshalText reads a name.
func (d *GEMMDesign) UnmarshalText(b []byte) error {
	got, err := ParseGEMMDesign(string(b))
	if err != nil {
		return err
	}
	*d = got
	return nil
}

// ParseGEMMDesign reads a design's name, in any case.
func ParseGEMMDesign(s string) (GEMMDesign, error) {
	bad := fmt.Errorf("design %.60q: want a4w4, a8w4 or a16w4, then -floor, -even or -ceil (a4w4-even)", s)
	formats, rule, ok := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "-")
	if !ok {
		return GEMMDesign{}, bad
	}
	var d GEMMDesign
	switch formats {
	case "a4w4":
		d.A = E2M1
	case "a8w4":
		d.A = E4M3FN
	case "a16w4":
		d.A = BF16
	default:
		return GEMMDesign{}, bad
	}
	d.Scale = ScaleRule(rule)
	if d.check() != nil {
		return GEMMDesign{}, bad
	}
	return d, nil
}

func (d GEMMDesign) check() error {
	if d.A != E2M1 && d.A != E4M3FN && d.A != BF16 {
		return fmt.Errorf("activations in %s can not be used, want e2m1, e4m3fn or bf16", d.A)
	}
	_, err := choose("scale rule", string(d.Scale), ScaleFloor, ScaleEven, ScaleCeil)
	return err
}
