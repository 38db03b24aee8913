package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Num is a printed number that may be absent. The zero value is absent, so a
// cell that was empty, "N/A" or "--" never turns into a measured zero. NaN and
// infinities are values: a harness printed them.
type Num struct {
	V  float64
	OK bool
}

// Of is a Num that is present.
func Of(v float64) Num { return Num{V: v, OK: true} }

// Finite reports whether there is a value and it is neither NaN nor infinite.
func (n Num) Finite() bool {
	return n.OK && !math.IsNaN(n.V) && !math.IsInf(n.V, 0)
}

// Positive reports whether n can be a time: finite and above zero.
func (n Num) Positive() bool { return n.Finite() && n.V > 0 }

// String prints the shortest form that reads back equal, or "-" when absent.
func (n Num) String() string {
	if !n.OK {
		return "-"
	}
	return strconv.FormatFloat(n.V, 'g', -1, 64)
}

// MarshalJSON writes null for an absent value and the strings "NaN", "+Inf"
// and "-Inf" for the values that JSON lacks.
func (n Num) MarshalJSON() ([]byte, error) {
	if !n.OK {
		return []byte("null"), nil
	}
	return appendFloat(nil, n.V), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Num) UnmarshalJSON(b []byte) error {
	*n = Num{}
	if string(b) == "null" {
		return nil
	}
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("number %q: want a number, NaN, +Inf or -Inf", s)
		}
		*n = Of(v)
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("number %q: %w", b, err)
	}
	*n = Of(v)
	return nil
}

func appendFloat(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"+Inf"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Inf"`...)
	}
	if b, err := json.Marshal(v); err == nil {
		return append(dst, b...)
	}
	return append(dst, "null"...)
}

// kind says which part of a Value is meant.
type kind uint8

const (
	kindNull kind = iota
	kindInt
	kindFloat
	kindString
	kindBool
	kindObject
	kindList
)

// Value is one field of a row: null, integer, float, string, boolean, object
// or list. The zero value is null.
type Value struct {
	kind kind
	num  float64
	str  string
	sub  *sub
}

type sub struct {
	obj  Fields
	list []Value
}

// Int, Float, Str, Bool, Obj and List make values; Null is the absent one.
func Int(v int64) Value { return Value{kind: kindInt, num: float64(v)} }

// Float makes a float value; NaN and infinities are allowed.
func Float(v float64) Value { return Value{kind: kindFloat, num: v} }

// Str makes a string value.
func Str(s string) Value { return Value{kind: kindString, str: s} }

// Bool makes a boolean value.
func Bool(b bool) Value {
	v := Value{kind: kindBool}
	if b {
		v.num = 1
	}
	return v
}

// Obj makes an object value that keeps its field order.
func Obj(f Fields) Value { return Value{kind: kindObject, sub: &sub{obj: f}} }

// List makes a list value.
func List(v ...Value) Value { return Value{kind: kindList, sub: &sub{list: v}} }

// Null is the value of an empty cell.
func Null() Value { return Value{} }

// FromNum turns an optional number into a float or null value.
func FromNum(n Num) Value {
	if !n.OK {
		return Value{}
	}
	return Float(n.V)
}

// IsNull reports whether the value is absent.
func (v Value) IsNull() bool { return v.kind == kindNull }

// Num gives the number of an integer or float value.
func (v Value) Num() Num {
	if v.kind == kindInt || v.kind == kindFloat {
		return Of(v.num)
	}
	return Num{}
}

// Text gives the value as words: a string as it is, numbers in their shortest
// form, true or false, "" for null, JSON for objects and lists.
func (v Value) Text() string {
	switch v.kind {
	case kindString:
		return v.str
	case kindInt:
		return strconv.FormatInt(int64(v.num), 10)
	case kindFloat:
		return strconv.FormatFloat(v.num, 'g', -1, 64)
	case kindBool:
		return strconv.FormatBool(v.num != 0)
	case kindObject, kindList:
		b, err := v.MarshalJSON()
		if err != nil {
			return ""
		}
		return string(b)
	}
	return ""
}

// Truth reports a boolean value; ok is false when the value is not a boolean.
func (v Value) Truth() (val, ok bool) { return v.num != 0, v.kind == kindBool }

// Object gives the fields of an object value, nil for any other.
func (v Value) Object() Fields {
	if v.kind == kindObject {
		return v.sub.obj
	}
	return nil
}

// Items gives the elements of a list value, nil for any other.
func (v Value) Items() []Value {
	if v.kind == kindList {
		return v.sub.list
	}
	return nil
}

// MarshalJSON writes the value; NaN and infinities become strings.
func (v Value) MarshalJSON() ([]byte, error) { return v.append(nil), nil }

func (v Value) append(dst []byte) []byte {
	switch v.kind {
	case kindInt:
		return strconv.AppendInt(dst, int64(v.num), 10)
	case kindFloat:
		return appendFloat(dst, v.num)
	case kindString:
		return appendString(dst, v.str)
	case kindBool:
		return strconv.AppendBool(dst, v.num != 0)
	case kindObject:
		dst = append(dst, '{')
		dst = v.sub.obj.appendMembers(dst, false)
		return append(dst, '}')
	case kindList:
		dst = append(dst, '[')
		for i, e := range v.sub.list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.append(dst)
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

func appendString(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return append(dst, `""`...)
	}
	return append(dst, b...)
}

// MapText gives the value with clean applied to every string inside it, names
// of members included. Outside text goes through it before it becomes a row.
func (v Value) MapText(clean func(string) string) Value {
	switch v.kind {
	case kindString:
		return Str(clean(v.str))
	case kindObject:
		return Obj(v.sub.obj.MapText(clean))
	case kindList:
		list := make([]Value, len(v.sub.list))
		for i, e := range v.sub.list {
			list[i] = e.MapText(clean)
		}
		return List(list...)
	}
	return v
}

// Field is a named value.
type Field struct {
	Name  string
	Value Value
}

// Fields is an ordered list of named values: the axes of a cell and whatever
// else a family prints, in the order of the harness.
type Fields []Field

// Get finds a field by name; ok is false when the row has none of that name.
func (f Fields) Get(name string) (v Value, ok bool) {
	for i := range f {
		if f[i].Name == name {
			return f[i].Value, true
		}
	}
	return Value{}, false
}

// With returns f with the named field replaced, or added at the end.
func (f Fields) With(name string, v Value) Fields {
	for i := range f {
		if f[i].Name == name {
			f[i].Value = v
			return f
		}
	}
	return append(f, Field{Name: name, Value: v})
}

// MapText gives a copy of the fields with clean applied to every string.
func (f Fields) MapText(clean func(string) string) Fields {
	out := make(Fields, len(f))
	for i := range f {
		out[i] = Field{Name: clean(f[i].Name), Value: f[i].Value.MapText(clean)}
	}
	return out
}

// MarshalJSON writes the fields as one object in their order.
func (f Fields) MarshalJSON() ([]byte, error) {
	dst := append([]byte(nil), '{')
	dst = f.appendMembers(dst, false)
	return append(dst, '}'), nil
}

func (f Fields) appendMembers(dst []byte, comma bool) []byte {
	for i := range f {
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		dst = appendString(dst, f[i].Name)
		dst = append(dst, ':')
		dst = f[i].Value.append(dst)
	}
	return dst
}
