package stall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes v as the command line prints it: two blanks of indent, one
// newline at the end, "<" and ">" as they are.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// object writes a JSON object whose keys keep the order of the calls to add.
type object struct {
	buf bytes.Buffer
	err error
}

func (o *object) add(key string, value any) {
	if o.err != nil {
		return
	}
	sep := byte(',')
	if o.buf.Len() == 0 {
		sep = '{'
	}
	o.buf.WriteByte(sep)
	for i, v := range [2]any{key, value} {
		b, err := plainJSON(v)
		if err != nil {
			o.err = err
			return
		}
		if i == 1 {
			o.buf.WriteByte(':')
		}
		o.buf.Write(b)
	}
}

func (o *object) bytes() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	if o.buf.Len() == 0 {
		return []byte("{}"), nil
	}
	o.buf.WriteByte('}')
	return o.buf.Bytes(), nil
}

// plainJSON is json.Marshal without the escapes meant for HTML.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// eachKey calls fn for every key of a JSON object in file order.
func eachKey(b []byte, what string, fn func(key string, dec *json.Decoder) error) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	t, err := dec.Token()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if t == nil {
		return nil
	}
	if t != json.Delim('{') {
		return fmt.Errorf("%s: want an object, found %v", what, t)
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		key, ok := t.(string)
		if !ok {
			return fmt.Errorf("%s: want a key, found %v", what, t)
		}
		if err := fn(key, dec); err != nil {
			return fmt.Errorf("%s.%s: %w", what, key, err)
		}
	}
	return nil
}

// MarshalJSON writes the classes as an object in rank order.
func (c ByClass) MarshalJSON() ([]byte, error) {
	var o object
	for _, s := range c {
		o.add(string(s.Class), s)
	}
	return o.bytes()
}

// UnmarshalJSON keeps the order of the file.
func (c *ByClass) UnmarshalJSON(b []byte) error {
	*c = ByClass{}
	return eachKey(b, "by_class", func(key string, dec *json.Decoder) error {
		s := ClassShare{Class: Class(key)}
		if err := dec.Decode(&s); err != nil {
			return err
		}
		*c = append(*c, s)
		return nil
	})
}

// MarshalJSON writes the fractions as an object, largest first.
func (m InstMix) MarshalJSON() ([]byte, error) {
	var o object
	for _, f := range m {
		o.add(string(f.Class), f.Fraction)
	}
	return o.bytes()
}

// UnmarshalJSON keeps the order of the file.
func (m *InstMix) UnmarshalJSON(b []byte) error {
	*m = InstMix{}
	return eachKey(b, "inst_mix", func(key string, dec *json.Decoder) error {
		f := ClassFraction{Class: Class(key)}
		if err := dec.Decode(&f.Fraction); err != nil {
			return err
		}
		*m = append(*m, f)
		return nil
	})
}

// Of returns the fraction of one class, 0 when it has none.
func (m InstMix) Of(c Class) float64 {
	for _, f := range m {
		if f.Class == c {
			return float64(f.Fraction)
		}
	}
	return 0
}

// MarshalJSON leaves out the numbers when they are not available, and
// occupancy_json when it is not true, as the artifact does.
func (w IdleWaves) MarshalJSON() ([]byte, error) {
	var o object
	o.add("available", w.Available)
	if w.Available {
		o.add("peak_waves", w.Peak)
		o.add("mean_waves", w.Mean)
		o.add("samples", w.Samples)
	}
	if w.HasOccupancyJSON {
		o.add("occupancy_json", true)
	}
	return o.bytes()
}

// UnmarshalJSON reads the artifact's form.
func (w *IdleWaves) UnmarshalJSON(b []byte) error {
	var v struct {
		Available bool  `json:"available"`
		Peak      int64 `json:"peak_waves"`
		Mean      Num   `json:"mean_waves"`
		Samples   int   `json:"samples"`
		HasJSON   bool  `json:"occupancy_json"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*w = IdleWaves{Available: v.Available, Peak: v.Peak, Mean: v.Mean, Samples: v.Samples, HasOccupancyJSON: v.HasJSON}
	return nil
}
