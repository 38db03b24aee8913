package bench

import (
	"fmt"
	"strconv"
)

// UnmarshalJSON reads any JSON value and keeps the order of object members.
func (v *Value) UnmarshalJSON(b []byte) error {
	got, err := ParseValue(b)
	if err != nil {
		return err
	}
	*v = got
	return nil
}

// UnmarshalJSON reads a JSON object and keeps the order of its members.
func (f *Fields) UnmarshalJSON(b []byte) error {
	got, err := ParseFields(b)
	if err != nil {
		return err
	}
	*f = got
	return nil
}

// ParseFields reads one JSON object; see ParseValue.
func ParseFields(b []byte) (Fields, error) {
	v, err := ParseValue(b)
	if err != nil {
		return nil, err
	}
	if v.kind != kindObject {
		return nil, fmt.Errorf("want a JSON object, have %.80s", v.Text())
	}
	return v.sub.obj, nil
}

// ParseValue reads exactly one JSON value. It exists beside encoding/json
// because a comparison reads hundreds of thousands of rows and must keep the
// order of members. The error says at which byte it stopped.
func ParseValue(b []byte) (Value, error) {
	p := scanner{b: b}
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	if p.space(); p.i < len(p.b) {
		return Value{}, p.want("the end")
	}
	return v, nil
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
