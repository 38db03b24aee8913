package numerics

import "math"

// Overflow says what becomes of a value too large for its format.
type Overflow uint8

const (
	// Saturate gives the largest finite value, also for an infinite one. This is
	// what packing code asks of the hardware.
	Saturate Overflow = iota
	// Special gives infinity where the format has one, else NaN. e2m1 has
	// neither and saturates.
	Special
)

// Encode rounds x to the nearest code of the format, ties to even, as one
// rounding: subnormals are kept, values below half the smallest one become zero.
// NaN stays NaN; e2m1 has none and gets its largest value, which the MX
// specification leaves open. The code is in the low Bits() bits.
func (f Format) Encode(x float32, o Overflow) uint32 {
	if f == F32 {
		return math.Float32bits(x)
	}
	return f.spec().encode(x, o)
}

func (s spec) encode(x float32, o Overflow) uint32 {
	b := math.Float32bits(x)
	sign, e, sig := b>>31, int(b>>23&0xff), b&(1<<23-1)
	if e == 255 {
		if sig != 0 {
			return s.nan(sign)
		}
		return s.over(sign, o)
	}
	// value = sig * 2^(ex-23)
	ex := -126
	if e > 0 {
		ex, sig = e-127, sig|1<<23
	}
	low := 1 - s.bias // exponent of the smallest normal
	at := max(ex, low)
	drop := at - ex + 23 - s.man // bits below the last one kept, at least 13
	if drop > 25 {
		return s.signed(sign, 0)
	}
	r := sig >> drop
	rest, half := sig&(1<<drop-1), uint32(1)<<(drop-1)
	if rest > half || rest == half && r&1 == 1 {
		r++
	}
	// For a normal r carries the hidden bit, which moves the exponent field up
	// by one, from at-low to at+bias; a carry out of r moves it again.
	code := uint32(at-low)<<s.man + r
	if code > s.maxCode() {
		return s.over(sign, o)
	}
	return s.signed(sign, code)
}

// signed puts the sign bit on; fnuz formats have no negative zero.
func (s spec) signed(sign, code uint32) uint32 {
	if s.kind == fnuz && code == 0 {
		return 0
	}
	return sign<<(s.exp+s.man) | code
}

func (s spec) over(sign uint32, o Overflow) uint32 {
	if o == Special {
		switch s.kind {
		case ieee:
			return s.signed(sign, s.maxCode()+1)
		case fn, fnuz:
			return s.nan(sign)
		}
	}
	return s.signed(sign, s.maxCode())
}

func (s spec) nan(sign uint32) uint32 {
	switch s.kind {
	case fn:
		return s.signed(sign, 1<<(s.exp+s.man)-1)
	case fnuz:
		return 1 << (s.exp + s.man)
	case ieee: // quiet
		return s.signed(sign, s.maxCode()+1|1<<(s.man-1))
	}
	return s.signed(sign, s.maxCode())
}

// Decode gives the value of a code; bits above Bits() are ignored. Every code of
// every format is exact in a float32.
func (f Format) Decode(code uint32) float32 {
	if f == F32 {
		return math.Float32frombits(code)
	}
	return f.spec().decode(code)
}

func (s spec) decode(code uint32) float32 {
	width := s.exp + s.man
	code &= 1<<(width+1) - 1
	sign, mag := code>>width, code&(1<<width-1)
	switch {
	case s.kind == fnuz && sign == 1 && mag == 0:
		return float32(math.NaN())
	case s.kind == fn && mag == 1<<width-1:
		return float32(math.NaN())
	case s.kind == ieee && mag > s.maxCode():
		if mag == s.maxCode()+1 {
			return float32(math.Inf(1 - 2*int(sign)))
		}
		return float32(math.NaN())
	}
	e, m := int(mag>>s.man), mag&(1<<s.man-1)
	if e > 0 {
		m |= 1 << s.man
		e--
	}
	// value = m * 2^(e + 1 - bias - man); the power is a normal float64.
	power := math.Float64frombits(uint64(e+1-s.bias-s.man+1023) << 52)
	v := float32(float64(m) * power)
	if sign == 1 {
		return -v
	}
	return v
}

// Round rounds x to the format and back. It saturates.
func (f Format) Round(x float32) float32 { return f.Decode(f.Encode(x, Saturate)) }

// rounder rounds many values to one format and back, saturating. Values that are
// normal in the format take a short way on the bits of the float32; all others
// take encode and decode.
type rounder struct {
	format Format
	spec   spec
	max    float32
	// low and high are the float32 bits of the smallest normal and of the
	// largest value; keep is the number of bits below the format's mantissa.
	low, high, keep uint32
}

func newRounder(f Format) rounder {
	s := f.spec()
	r := rounder{format: f, spec: s, max: f.Max(), keep: uint32(23 - s.man)}
	r.low = math.Float32bits(f.Decode(1 << s.man))
	r.high = math.Float32bits(r.max)
	return r
}

func (r *rounder) round(x float32) float32 {
	if r.keep == 0 { // f32
		return x
	}
	b := math.Float32bits(x)
	if mag := b &^ (1 << 31); mag >= r.low && mag <= r.high {
		// Half of what is cut, less one bit unless the last bit kept is odd:
		// ties go to even. The largest value has nothing to cut, so no carry
		// leads above it.
		mag += 1<<(r.keep-1) - 1 + mag>>r.keep&1
		return math.Float32frombits(mag>>r.keep<<r.keep | b&(1<<31))
	}
	return r.spec.decode(r.spec.encode(x, Saturate))
}
