package numerics

import (
	"math"
	"math/big"
	"sort"
	"testing"
)

// ladder is a format described the way its specification draws it, without
// formulas shared with the code under test: values go up from zero in steps; the
// first two runs of perStep values have the smallest step, then each run doubles
// it. count is the number of finite values from zero on.
type ladder struct {
	format     Format
	smallest   float64 // smallest subnormal
	perStep    int
	count      int
	largest    float64
	minNormal  float64
	nanCodes   []uint32
	infCode    uint32 // 0: none
	negZero    bool
	overflowTo string // what Special gives: inf, nan or max
}

func ladders() []ladder {
	return []ladder{
		{E4M3FN, 0x1p-9, 8, 127, 448, 0x1p-6, []uint32{0x7f, 0xff}, 0, true, "nan"},
		{E4M3FNUZ, 0x1p-10, 8, 128, 240, 0x1p-7, []uint32{0x80}, 0, false, "nan"},
		{E5M2, 0x1p-16, 4, 124, 57344, 0x1p-14, []uint32{0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff}, 0x7c, true, "inf"},
		{E5M2FNUZ, 0x1p-17, 4, 128, 57344, 0x1p-15, []uint32{0x80}, 0, false, "nan"},
		{E2M1, 0.5, 2, 8, 6, 1, nil, 0, true, "max"},
		{FP16, 0x1p-24, 1024, 0x7c00, 65504, 0x1p-14, []uint32{0x7c01, 0x7e00, 0x7fff, 0xfc01, 0xfe00}, 0x7c00, true, "inf"},
		{BF16, 0x1p-133, 128, 0x7f80, 0x1.fep127, 0x1p-126, []uint32{0x7f81, 0x7fc0, 0x7fff, 0xff81}, 0x7f80, true, "inf"},
	}
}

// values builds the ladder: index is code, for positive codes. One more value
// than there are is appended: where the next one would be, for ties above the
// largest.
func (l ladder) values() []float64 {
	v := []float64{0}
	step := l.smallest
	for len(v) <= l.count {
		if last := len(v) - 1; last >= 2*l.perStep && last%l.perStep == 0 {
			step *= 2
		}
		v = append(v, v[len(v)-1]+step)
	}
	return v
}

func TestLaddersMatchTheSpecifications(t *testing.T) {
	for _, l := range ladders() {
		v := l.values()
		if got := v[l.count-1]; got != l.largest {
			t.Errorf("%s: the test's ladder ends at %g, the specification at %g", l.format, got, l.largest)
		}
		if got := v[l.perStep]; got != l.minNormal {
			t.Errorf("%s: the test's ladder has smallest normal %g, the specification %g", l.format, got, l.minNormal)
		}
		if float64(l.format.Max()) != l.largest {
			t.Errorf("%s: Max %g, want %g", l.format, l.format.Max(), l.largest)
		}
	}
}

func TestDecodeEveryCode(t *testing.T) {
	for _, l := range ladders() {
		bits := l.format.Bits()
		sign := uint32(1) << (bits - 1)
		want := l.values()
		for code := range sign {
			if int(code) >= l.count {
				break
			}
			if got := float64(l.format.Decode(code)); got != want[code] || math.Signbit(got) {
				t.Fatalf("%s: code %#x decodes to %g, want %g", l.format, code, got, want[code])
			}
			if code == 0 && !l.negZero {
				continue
			}
			got := float64(l.format.Decode(code | sign))
			if got != -want[code] || !math.Signbit(got) {
				t.Fatalf("%s: code %#x decodes to %g, want %g", l.format, code|sign, got, -want[code])
			}
		}
		for _, c := range l.nanCodes {
			if got := l.format.Decode(c); got == got {
				t.Errorf("%s: code %#x decodes to %g, want NaN", l.format, c, got)
			}
		}
		if l.infCode != 0 {
			if got := float64(l.format.Decode(l.infCode)); !math.IsInf(got, 1) {
				t.Errorf("%s: code %#x decodes to %g, want +Inf", l.format, l.infCode, got)
			}
			if got := float64(l.format.Decode(l.infCode | sign)); !math.IsInf(got, -1) {
				t.Errorf("%s: code %#x decodes to %g, want -Inf", l.format, l.infCode|sign, got)
			}
		}
	}
}

// TestEncodeEveryCodeAndTie walks all codes: the value itself, the midpoint to
// the next one, and the float32 on either side of that midpoint.
func TestEncodeEveryCodeAndTie(t *testing.T) {
	for _, l := range ladders() {
		v := l.values()
		sign := uint32(1) << (l.format.Bits() - 1)
		check := func(x float64, code uint32, what string) {
			t.Helper()
			f := float32(x)
			if float64(f) != x {
				return // not a float32: nothing to encode
			}
			if got := l.format.Encode(f, Saturate); got != code {
				t.Fatalf("%s: %s %g encodes to %#x, want %#x", l.format, what, x, got, code)
			}
			neg := code | sign
			if code == 0 && !l.negZero {
				neg = 0
			}
			if got := l.format.Encode(-f, Saturate); got != neg {
				t.Fatalf("%s: %s %g encodes to %#x, want %#x", l.format, what, -x, got, neg)
			}
		}
		for c := range l.count {
			lo, hi := uint32(c), uint32(c+1)
			if c+1 == l.count {
				hi = lo // saturates
			}
			check(v[c], lo, "value")
			mid := v[c]/2 + v[c+1]/2
			even := lo
			if lo%2 == 1 {
				even = hi
			}
			check(mid, even, "tie")
			if math.Abs(mid) > math.MaxFloat32 {
				continue
			}
			check(float64(math.Nextafter32(float32(mid), 0)), lo, "below tie")
			above := float64(math.Nextafter32(float32(mid), math.MaxFloat32))
			if above < v[c+1] {
				check(above, hi, "above tie")
			}
		}
	}
}

func TestSpecialValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, l := range ladders() {
		f := l.format
		if got := f.Round(nan); f == E2M1 {
			if got != 6 {
				t.Errorf("e2m1 has no NaN: NaN rounds to %g, want 6", got)
			}
		} else if got == got {
			t.Errorf("%s: NaN rounds to %g", f, got)
		}
		for _, big := range []float32{inf, math.MaxFloat32} {
			if f == BF16 && big != inf {
				continue // rounds up to infinity or saturates; covered by the ties
			}
			if got := f.Round(big); got != f.Max() {
				t.Errorf("%s: %g saturates to %g, want %g", f, big, got, f.Max())
			}
			if got := f.Round(-big); got != -f.Max() {
				t.Errorf("%s: %g saturates to %g, want %g", f, -big, got, -f.Max())
			}
			got := float64(f.Decode(f.Encode(-big, Special)))
			ok := map[string]bool{"inf": math.IsInf(got, -1), "nan": math.IsNaN(got), "max": got == -l.largest}[l.overflowTo]
			if !ok {
				t.Errorf("%s: %g without saturation gives %g, want %s", f, -big, got, l.overflowTo)
			}
		}
		if got := f.Encode(float32(math.Copysign(0, -1)), Saturate); (got != 0) != l.negZero {
			t.Errorf("%s: -0 encodes to %#x", f, got)
		}
		if got := f.Round(float32(l.smallest / 2)); got != 0 {
			t.Errorf("%s: half the smallest subnormal rounds to %g, want 0 (tie to even)", f, got)
		}
		if got := f.Round(math.Nextafter32(float32(l.smallest/2), 1)); float64(got) != l.smallest {
			t.Errorf("%s: above half the smallest subnormal rounds to %g, want %g", f, got, l.smallest)
		}
	}
}

// TestKnownCodes are codes written out in the OCP and IEEE documents.
func TestKnownCodes(t *testing.T) {
	for _, c := range []struct {
		f    Format
		x    float32
		code uint32
	}{
		{E4M3FN, 1, 0x38}, {E4M3FN, 448, 0x7e}, {E4M3FN, 464, 0x7e}, {E4M3FN, -0x1p-9, 0x81}, {E4M3FN, 0.1, 0x1d},
		{E4M3FNUZ, 1, 0x40}, {E4M3FNUZ, 240, 0x7f}, {E4M3FNUZ, -1e-9, 0},
		{E5M2, 1, 0x3c}, {E5M2, 57344, 0x7b}, {E5M2, 0x1p-16, 1},
		{FP16, 1, 0x3c00}, {FP16, 65504, 0x7bff}, {FP16, 0.1, 0x2e66},
		{BF16, 1, 0x3f80}, {BF16, 3.14159265, 0x4049}, {BF16, 1e-40, 0x0001},
		{E2M1, 0.25, 0}, {E2M1, 0.75, 2}, {E2M1, 2.5, 4}, {E2M1, 5, 6}, {E2M1, -3.4, 0xd},
	} {
		if got := c.f.Encode(c.x, Saturate); got != c.code {
			t.Errorf("%s: %g encodes to %#x, want %#x", c.f, c.x, got, c.code)
		}
	}
	if got := E4M3FN.Encode(464, Special); got != 0x7e {
		t.Errorf("464 is the tie between 448 and the NaN code: %#x, want 0x7e", got)
	}
	if got := E4M3FN.Encode(math.Nextafter32(464, 500), Special); got != 0x7f {
		t.Errorf("above 464 without saturation: %#x, want NaN 0x7f", got)
	}
}

// bigRound is the reference rounding: nearest ladder value in exact arithmetic,
// ties to the even index, saturating.
func bigRound(l ladder, v []float64, x float32) float64 {
	if math.IsInf(float64(x), 0) {
		return math.Copysign(l.largest, float64(x))
	}
	exact := func(f float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(f) }
	a := math.Abs(float64(x))
	hi := sort.SearchFloat64s(v[:l.count], a)
	best := l.count - 1
	if hi < l.count {
		best = hi
		if hi > 0 {
			down := new(big.Float).Sub(exact(a), exact(v[hi-1]))
			up := new(big.Float).Sub(exact(v[hi]), exact(a))
			if c := down.Cmp(up); c < 0 || c == 0 && (hi-1)%2 == 0 {
				best = hi - 1
			}
		}
	}
	r := math.Copysign(v[best], float64(x))
	if r == 0 && !l.negZero {
		return 0
	}
	return r
}

// FuzzRound holds both roundings, the plain one and the fast one, against exact
// arithmetic.
func FuzzRound(f *testing.F) {
	for _, x := range []float32{0, 1, -0.1, 448, 464, 0x1p-10, 0x1p-9, 1e-45, 65520, 3.3e38, 0.24999999} {
		f.Add(math.Float32bits(x))
	}
	all := ladders()
	values := make([][]float64, len(all))
	fast := make([]rounder, len(all))
	for i, l := range all {
		values[i], fast[i] = l.values(), newRounder(l.format)
	}
	f.Fuzz(func(t *testing.T, bits uint32) {
		x := math.Float32frombits(bits)
		for i, l := range all {
			got, quick := l.format.Round(x), fast[i].round(x)
			if math.Float32bits(got) != math.Float32bits(quick) && (got == got || quick == quick) {
				t.Fatalf("%s: %g (%#x): Round gives %g, the fast way %g", l.format, x, bits, got, quick)
			}
			if x != x {
				if got == got && l.format != E2M1 {
					t.Fatalf("%s: NaN %#x rounds to %g", l.format, bits, got)
				}
				continue
			}
			want := bigRound(l, values[i], x)
			if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
				t.Fatalf("%s: %g (%#x) rounds to %g, want %g", l.format, x, bits, got, want)
			}
		}
	})
}

// TestFastRoundingEverywhere compares the two roundings on a grid that meets
// every float32 exponent, both signs and all upper mantissa bits.
func TestFastRoundingEverywhere(t *testing.T) {
	for _, l := range ladders() {
		r := newRounder(l.format)
		for hi := range uint32(1 << 16) {
			for _, lo := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
				x := math.Float32frombits(hi<<16 | lo)
				a, b := l.format.Round(x), r.round(x)
				if math.Float32bits(a) != math.Float32bits(b) && (a == a || b == b) {
					t.Fatalf("%s: %g (%#x): %g and %g", l.format, x, hi<<16|lo, a, b)
				}
			}
		}
	}
	keep := newRounder(F32)
	if x := float32(1.2345678); keep.round(x) != x || F32.Round(x) != x {
		t.Error("f32 is changed by rounding")
	}
}

func TestFormatNames(t *testing.T) {
	for f := F32; f < lastFormat; f++ {
		got, err := ParseFormat(" " + f.String() + " ")
		if err != nil || got != f {
			t.Errorf("%s reads back as %v, %v", f, got, err)
		}
	}
	for in, want := range map[string]Format{"FP8": E4M3FN, "fp4": E2M1, "F16": FP16, "E4M3FN": E4M3FN} {
		if got, err := ParseFormat(in); err != nil || got != want {
			t.Errorf("%q reads as %v, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "none", "e4m3", "int8"} {
		if got, err := ParseFormat(bad); err == nil {
			t.Errorf("%q reads as %v, want an error", bad, got)
		}
	}
}
