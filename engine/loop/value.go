package loop

import (
	"encoding/json"
	"strconv"
)

// Int is a whole number that may be unknown; JSON null when it is.
type Int struct {
	N     int
	Known bool
}

// known returns a known number.
func known(n int) Int { return Int{N: n, Known: true} }

// String gives the digits, or "?" when unknown.
func (i Int) String() string {
	if !i.Known {
		return "?"
	}
	return strconv.Itoa(i.N)
}

// MarshalJSON writes the number or null.
func (i Int) MarshalJSON() ([]byte, error) {
	if !i.Known {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(i.N), 10), nil
}

// UnmarshalJSON reads a number or null.
func (i *Int) UnmarshalJSON(b []byte) error {
	*i = Int{}
	if string(b) == "null" {
		return nil
	}
	i.Known = true
	return json.Unmarshal(b, &i.N)
}

// Word is a word that may be absent; JSON null when it is.
type Word string

// MarshalJSON writes the word or null.
func (w Word) MarshalJSON() ([]byte, error) {
	if w == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(w))
}
