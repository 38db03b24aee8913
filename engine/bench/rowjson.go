package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// maxDepth bounds nested JSON values.
const maxDepth = 32

// UnmarshalJSON reads any JSON value and keeps the order of object members.
func (v *Value) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	got, err := readValue(d, 0)
	if err != nil {
		return err
	}
	*v = got
	return nil
}

// UnmarshalJSON reads a JSON object and keeps the order of its members.
func (f *Fields) UnmarshalJSON(b []byte) error {
	var v Value
	if err := v.UnmarshalJSON(b); err != nil {
		return err
	}
	if v.kind != kindObject {
		return fmt.Errorf("want a JSON object, have %s", v.Text())
	}
	*f = v.sub.obj
	return nil
}

func readValue(d *json.Decoder, depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, fmt.Errorf("JSON nested deeper than %d", maxDepth)
	}
	t, err := d.Token()
	if err == io.EOF {
		return Value{}, io.ErrUnexpectedEOF
	}
	if err != nil {
		return Value{}, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return readObject(d, depth)
		}
		return readList(d, depth)
	case json.Number:
		return number(t.String()), nil
	case string:
		return Str(t), nil
	case bool:
		return Bool(t), nil
	}
	return Null(), nil
}

func readObject(d *json.Decoder, depth int) (Value, error) {
	f := Fields{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return Value{}, err
		}
		name, ok := k.(string)
		if !ok {
			return Value{}, fmt.Errorf("object member name: have %v", k)
		}
		v, err := readValue(d, depth+1)
		if err != nil {
			return Value{}, err
		}
		f = append(f, Field{name, v})
	}
	_, err := d.Token()
	return Obj(f), err
}

func readList(d *json.Decoder, depth int) (Value, error) {
	l := []Value{}
	for d.More() {
		v, err := readValue(d, depth+1)
		if err != nil {
			return Value{}, err
		}
		l = append(l, v)
	}
	_, err := d.Token()
	return List(l...), err
}

// number keeps integers that a float holds exactly as integers.
func number(s string) Value {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil && i > -1<<53 && i < 1<<53 {
		return Int(i)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && math.IsInf(f, 0) {
		return Float(f)
	}
	return Float(f)
}

// UnmarshalJSON reads what MarshalJSON writes; unknown members become Fields.
func (r *Row) UnmarshalJSON(b []byte) error {
	var f Fields
	if err := f.UnmarshalJSON(b); err != nil {
		return err
	}
	row, err := RowFrom(f)
	if err != nil {
		return err
	}
	*r = row
	return nil
}

// RowFrom builds a row from the members of its JSON form. A row without a key
// is an error; numbers may be null, numbers, "NaN", "+Inf" or "-Inf".
func RowFrom(f Fields) (Row, error) {
	var r Row
	for _, m := range f {
		var err error
		switch m.Name {
		case "key":
			r.Key = m.Value.Text()
		case "section":
			r.Section = m.Value.Text()
		case "status":
			r.Status = Status(m.Value.Text())
		case "us":
			r.US, err = m.Value.number()
		case "tflops":
			r.TFLOPS, err = m.Value.number()
		case "max_err":
			r.MaxErr, err = m.Value.number()
		case "min_cos":
			r.MinCos, err = m.Value.number()
		case "error":
			r.Error = m.Value.Text()
		case "result_md5":
			r.MD5 = m.Value.Text()
		case "ref_md5":
			r.RefMD5 = m.Value.Text()
		case "warnings":
			for _, w := range m.Value.Items() {
				r.Warnings = append(r.Warnings, w.Text())
			}
		default:
			r.Fields = append(r.Fields, m)
		}
		if err != nil {
			return Row{}, fmt.Errorf("row %s: %s: %w", r.Key, m.Name, err)
		}
	}
	if r.Key == "" {
		return Row{}, fmt.Errorf("row has no key")
	}
	return r, nil
}

// number reads a numeric member in its JSON spelling.
func (v Value) number() (Num, error) {
	switch v.kind {
	case kindNull:
		return Num{}, nil
	case kindInt, kindFloat:
		return Of(v.num), nil
	case kindString:
		if f, err := strconv.ParseFloat(v.str, 64); err == nil {
			return Of(f), nil
		}
	}
	return Num{}, fmt.Errorf("want a number, null, NaN, +Inf or -Inf, have %s", v.Text())
}
