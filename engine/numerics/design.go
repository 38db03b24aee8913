package numerics

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Design is one way to get from scores to the output. All designs keep the row
// maximum and the row sum in f32 and sum products in f32; they differ in how the
// probabilities are packed before they are multiplied with V.
type Design struct {
	// P is the format the probabilities are packed in; F32 packs nothing.
	P Format
	// Normalised packs exp(S-m)/l, else exp(S-m) is packed and the output is
	// divided by l, the sum of the values before packing.
	Normalised bool
	// Scale multiplies the probabilities before packing and is divided out of
	// the output; 1 means none.
	Scale float32
	// KVTile is the number of keys after which a running maximum and sum are
	// updated (online softmax); 0 means the whole row at once.
	KVTile int
	// SumPacked makes l the sum of the packed values, which takes part of the
	// rounding back out of rows with few keys.
	SumPacked bool
}

// DefaultDesigns are the ones a precision claim is tried on first: no packing
// as the control, both kinds of packing and, for fp8, normalised packing with a
// scale that lifts small probabilities above the smallest subnormal.
func DefaultDesigns(p Format) []Design {
	designs := []Design{{P: F32, Scale: 1}}
	if p == F32 {
		return designs
	}
	designs = append(designs, Design{P: p, Scale: 1}, Design{P: p, Scale: 1, Normalised: true})
	if p.fp8() {
		designs = append(designs, Design{P: p, Scale: liftScale(p), Normalised: true})
	}
	return designs
}

// liftScale is the largest power of two a probability of 1 can be multiplied
// with and still be representable.
func liftScale(p Format) float32 {
	_, e := math.Frexp(float64(p.Max()))
	return float32(math.Ldexp(1, e-1))
}

// Name is the design in one word: FORMAT-unnorm or FORMAT-norm, then -xSCALE,
// -kvTILE and -psum where they are not the default. ParseDesign reads it back.
func (d Design) Name() string {
	name := d.P.String() + "-unnorm"
	if d.Normalised {
		name = d.P.String() + "-norm"
	}
	if d.Scale != 1 {
		name += "-x" + strconv.FormatFloat(float64(d.Scale), 'f', -1, 32)
	}
	if d.KVTile != 0 {
		name += "-kv" + strconv.Itoa(d.KVTile)
	}
	if d.SumPacked {
		name += "-psum"
	}
	return name
}

// MarshalText writes the name.
func (d Design) MarshalText() ([]byte, error) { return []byte(d.Name()), nil }

// UnmarshalText reads a name.
func (d *Design) UnmarshalText(b []byte) error {
	got, err := ParseDesign(string(b))
	if err != nil {
		return err
	}
	*d = got
	return nil
}

// designForm is what a design looks like, for errors.
const designForm = "FORMAT-unnorm or FORMAT-norm, then -xSCALE, -kvTILE and -psum if wanted (e4m3fn-norm-x256)"

// ParseDesign reads a design's name, in any case.
func ParseDesign(s string) (Design, error) {
	bad := func(why string) (Design, error) {
		return Design{}, fmt.Errorf("design %.60q: %s; want %s", s, why, designForm)
	}
	parts := strings.Split(strings.ToLower(strings.TrimSpace(s)), "-")
	if len(parts) < 2 {
		return bad("no packing named")
	}
	f, err := ParseFormat(parts[0])
	if err != nil {
		return bad(err.Error())
	}
	d := Design{P: f, Scale: 1}
	switch parts[1] {
	case "norm":
		d.Normalised = true
	case "unnorm":
	default:
		return bad(fmt.Sprintf("packing %.20q is neither unnorm nor norm", parts[1]))
	}
	for _, p := range parts[2:] {
		if p == "psum" {
			d.SumPacked = true
		} else if n, ok := strings.CutPrefix(p, "kv"); ok {
			d.KVTile, err = strconv.Atoi(n)
		} else if n, ok := strings.CutPrefix(p, "x"); ok {
			var v float64
			v, err = strconv.ParseFloat(n, 32)
			d.Scale = float32(v)
		} else {
			return bad(fmt.Sprintf("%.20q is no scale, no tile and not psum", p))
		}
		if err != nil {
			return bad(fmt.Sprintf("%.20q is not a number", p))
		}
	}
	if err := d.check(); err != nil {
		return bad(err.Error())
	}
	return d, nil
}

// check refuses what can not be computed.
func (d Design) check() error {
	switch {
	case !d.P.valid():
		return fmt.Errorf("no format for P")
	case !(d.Scale >= 0x1p-60 && d.Scale <= 0x1p60):
		return fmt.Errorf("scale %v is not between 2^-60 and 2^60", d.Scale)
	case d.KVTile < 0 || d.KVTile > maxSeqLen:
		return fmt.Errorf("tile of %d keys is not between 0 and %d", d.KVTile, maxSeqLen)
	case d.SumPacked && d.Normalised:
		return fmt.Errorf("normalised P was divided by the sum before it was packed, so psum can not apply")
	case d.KVTile > 0 && d.Normalised:
		return fmt.Errorf("normalised P needs the whole row's sum, so it can not have a tile")
	}
	return nil
}
