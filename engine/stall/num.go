package stall

import (
	"math"
	"strconv"
	"strings"
)

// Num is a number that the profiler prints as a floating-point value. Its JSON
// form is the shortest one that reads back equal and always shows that it is a
// float ("100.0", never "100"), which is what Python's json module writes.
type Num float64

// MarshalJSON writes the Python form. Values that JSON can not hold become null.
func (n Num) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return []byte(n.String()), nil
}

// String is the JSON form: repr of a Python float. Exponents appear below 1e-4
// and from 1e16, with at least two digits.
func (n Num) String() string {
	f := float64(n)
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Round rounds to digits decimals the way Python's round does: on the exact
// binary value, ties to even.
func Round(x float64, digits int) Num {
	f, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
	if err != nil {
		return Num(x)
	}
	return Num(f)
}

// share is part in per cent of whole, rounded; 0 when there is no whole.
func share(part, whole int64, digits int) Num {
	if whole == 0 {
		return 0
	}
	return Round(100*float64(part)/float64(whole), digits)
}
