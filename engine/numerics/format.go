package numerics

import (
	"fmt"
	"strings"
)

// Format is a number format. The zero value is not a format, so that a field
// nobody filled in is noticed.
type Format uint8

// The formats. OCP names follow "OCP 8-bit Floating Point Specification (OFP8)"
// and "OCP Microscaling Formats (MX) Specification v1.0"; the fnuz formats are
// the ones of gfx942.
const (
	noFormat Format = iota
	// F32 is IEEE binary32: nothing is packed.
	F32
	// BF16 has 8 exponent and 7 mantissa bits.
	BF16
	// FP16 is IEEE binary16.
	FP16
	// E4M3FN is OCP fp8: bias 7, no infinity, NaN only in S.1111.111, largest
	// 448, smallest subnormal 2^-9.
	E4M3FN
	// E4M3FNUZ has bias 8, no infinity, no -0 (that code is NaN), largest 240,
	// smallest subnormal 2^-10.
	E4M3FNUZ
	// E5M2 is OCP bf8: bias 15, IEEE infinities and NaNs, largest 57344.
	E5M2
	// E5M2FNUZ has bias 16, no infinity, no -0, largest 57344.
	E5M2FNUZ
	// E2M1 is OCP fp4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; no
	// infinity and no NaN.
	E2M1
	lastFormat
)

// kind is what a format does with its topmost codes.
type kind uint8

const (
	// ieee keeps the top exponent for infinity and NaN.
	ieee kind = iota
	// fn has NaN at all ones and nothing else special.
	fn
	// fnuz has NaN at the code of -0 and nothing else special.
	fnuz
	// finite has no special codes.
	finite
)

// spec are the parameters of a binary format. Codes have one sign bit, exp
// exponent bits and man mantissa bits.
type spec struct {
	name           string
	exp, man, bias int
	kind           kind
}

// spec describes the format. F32 has a spec too, which only names it.
func (f Format) spec() spec {
	switch f {
	case F32:
		return spec{"f32", 8, 23, 127, ieee}
	case BF16:
		return spec{"bf16", 8, 7, 127, ieee}
	case FP16:
		return spec{"fp16", 5, 10, 15, ieee}
	case E4M3FN:
		return spec{"e4m3fn", 4, 3, 7, fn}
	case E4M3FNUZ:
		return spec{"e4m3fnuz", 4, 3, 8, fnuz}
	case E5M2:
		return spec{"e5m2", 5, 2, 15, ieee}
	case E5M2FNUZ:
		return spec{"e5m2fnuz", 5, 2, 16, fnuz}
	case E2M1:
		return spec{"e2m1", 2, 1, 1, finite}
	}
	return spec{name: "none"}
}

// valid reports whether f is one of the formats.
func (f Format) valid() bool { return f > noFormat && f < lastFormat }

// Bits is the size of a code in bits.
func (f Format) Bits() int {
	if !f.valid() {
		return 0
	}
	s := f.spec()
	return 1 + s.exp + s.man
}

// maxCode is the code of the largest finite value.
func (s spec) maxCode() uint32 {
	all := uint32(1)<<(s.exp+s.man) - 1
	switch s.kind {
	case ieee:
		return all - 1<<s.man
	case fn:
		return all - 1
	default:
		return all
	}
}

// Max is the largest finite value.
func (f Format) Max() float32 {
	if !f.valid() {
		return 0
	}
	return f.Decode(f.spec().maxCode())
}

// fp8 reports whether the format is packed in a byte.
func (f Format) fp8() bool { return f.Bits() == 8 }

// String is the name used in JSON and on the command line.
func (f Format) String() string { return f.spec().name }

// MarshalText writes the name.
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a name, in any case.
func (f *Format) UnmarshalText(b []byte) error {
	got, err := ParseFormat(string(b))
	if err != nil {
		return err
	}
	*f = got
	return nil
}

// ParseFormat reads a format name, in any case. "fp8" means e4m3fn, as in the
// harness; "fp4" means e2m1. The error lists what could have been said.
func ParseFormat(s string) (Format, error) {
	name := strings.ToLower(strings.TrimSpace(s))
	switch name {
	case "fp8":
		return E4M3FN, nil
	case "fp4":
		return E2M1, nil
	case "f16":
		return FP16, nil
	}
	var known []string
	for f := F32; f < lastFormat; f++ {
		if f.String() == name {
			return f, nil
		}
		known = append(known, f.String())
	}
	return noFormat, fmt.Errorf("number format %.40q is not known, want one of %s", s, strings.Join(known, ", "))
}
