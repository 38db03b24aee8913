package family

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxCells bounds the expansion of a cell table.
const MaxCells = 20000

// Cell is one cell: its key and its coordinates by axis name.
type Cell struct {
	Key string            `json:"key"`
	At  map[string]string `json:"at"`
}

// Expand lists the cells of a variant in the order the harness prints them. An
// empty variant is the first one.
func (f Family) Expand(variant string) ([]Cell, error) {
	v, err := f.variant(variant)
	if err != nil {
		return nil, err
	}
	if f.Cells.Key == "" {
		return nil, nil
	}
	e := expander{f: f, v: v, at: map[string]string{}}
	if err := e.walk(0, nil); err != nil {
		return nil, err
	}
	return e.out, nil
}

type expander struct {
	f   Family
	v   Variant
	at  map[string]string
	out []Cell
	// steps bounds the walk itself: a file with many empty rows emits nothing
	// and would still run for ever.
	steps int
}

// walk binds the axis of loop level i, then the levels below it. t is the table
// whose row is bound, nil above the "row" level.
func (e *expander) walk(i int, t *Table) error {
	if e.steps++; e.steps > 8*MaxCells {
		return fmt.Errorf("family %s: the loop over %s is too large", e.f.Name, strings.Join(e.f.Cells.Loop, ", "))
	}
	if i == len(e.f.Cells.Loop) {
		return e.emit(t)
	}
	name := e.f.Cells.Loop[i]
	if name == "row" {
		return e.rows(i)
	}
	for _, raw := range e.values(name) {
		val, err := scalar(raw)
		if err != nil {
			return fmt.Errorf("family %s: axis %s: %w", e.f.Name, name, err)
		}
		e.at[name] = val
		if err := e.walk(i+1, t); err != nil {
			return err
		}
	}
	return nil
}

func (e *expander) values(axis string) []any {
	if v, ok := e.v.Values[axis]; ok {
		return v
	}
	return e.f.Cells.Values[axis]
}

func (e *expander) rows(i int) error {
	for ti := range e.f.Cells.Tables {
		t := &e.f.Cells.Tables[ti]
		if len(e.v.Tables) > 0 && !slices.Contains(e.v.Tables, t.Name) {
			continue
		}
		for _, row := range t.Rows {
			if len(row) != len(e.f.Cells.Columns) {
				return fmt.Errorf("family %s: table %s: a row has %d values, the columns are %d (%s)",
					e.f.Name, t.Name, len(row), len(e.f.Cells.Columns), strings.Join(e.f.Cells.Columns, " "))
			}
			for c, raw := range row {
				val, err := scalar(raw)
				if err != nil {
					return fmt.Errorf("family %s: table %s: %w", e.f.Name, t.Name, err)
				}
				e.at[e.f.Cells.Columns[c]] = val
			}
			if err := e.walk(i+1, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *expander) emit(t *Table) error {
	if t != nil {
		for axis, allowed := range t.Only {
			if !hasScalar(allowed, e.at[axis]) {
				return nil
			}
		}
	}
	if len(e.out) >= MaxCells {
		return fmt.Errorf("family %s: more than %d cells", e.f.Name, MaxCells)
	}
	at := make(map[string]string, len(e.at))
	for k, v := range e.at {
		at[k] = v
	}
	key, err := fill(e.f.Cells.Key, func(name string) (string, bool) { v, ok := at[name]; return v, ok })
	if err != nil {
		return fmt.Errorf("family %s: cells.key: %w", e.f.Name, err)
	}
	e.out = append(e.out, Cell{Key: key, At: at})
	return nil
}

// scalar turns a TOML integer or string into its text.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("%v is neither an integer nor a string", v)
	}
}

func hasScalar(list []any, want string) bool {
	for _, v := range list {
		if s, err := scalar(v); err == nil && s == want {
			return true
		}
	}
	return false
}

// ParseKey reads the coordinates back out of a cell key. Keys of another shape
// give an error that says what was expected.
func (f Family) ParseKey(key string) (map[string]string, error) {
	at := map[string]string{}
	rest, tpl := key, f.Cells.Key
	fail := func() (map[string]string, error) {
		return nil, fmt.Errorf("cell key %q: expected the form %s", key, f.Cells.Key)
	}
	if tpl == "" || len(key) > 512 {
		return fail()
	}
	for tpl != "" {
		open := strings.IndexByte(tpl, '{')
		if open < 0 {
			if rest != tpl {
				return fail()
			}
			return at, nil
		}
		if !strings.HasPrefix(rest, tpl[:open]) {
			return fail()
		}
		rest = rest[open:]
		end := strings.IndexByte(tpl, '}')
		if end < open {
			return fail()
		}
		axis := f.axis(tpl[open+1 : end])
		tpl = tpl[end+1:]
		val, ok := axis.take(rest)
		if !ok {
			return fail()
		}
		at[axis.Name], rest = val, rest[len(val):]
	}
	if rest != "" {
		return fail()
	}
	return at, nil
}

func (f Family) axis(name string) Axis {
	for _, a := range f.Axes {
		if a.Name == name {
			return a
		}
	}
	return Axis{Name: name}
}

// take reads the axis's value at the start of s: digits, or the longest of its
// words that fits.
func (a Axis) take(s string) (string, bool) {
	if a.Kind == "int" {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return s[:n], n > 0
	}
	best := ""
	for _, w := range a.Words {
		if strings.HasPrefix(s, w) && len(w) > len(best) {
			best = w
		}
	}
	return best, best != ""
}

// Regime gives the name of the regime a cell belongs to, "" when the key is of
// another shape or no regime takes it.
func (f Family) Regime(cellKey string) string {
	at, err := f.ParseKey(cellKey)
	if err != nil {
		return ""
	}
	return f.regime(at)
}

func (f Family) regime(at map[string]string) string {
	for _, r := range f.Regimes {
		if matches(r.Where, at) {
			return r.Name
		}
	}
	return ""
}

// GatesFor lists the gates that bind for a dtype.
func (f Family) GatesFor(dtype string) []Gate {
	var out []Gate
	for _, g := range f.Gates {
		if slices.Contains(g.Dtypes, dtype) {
			out = append(out, g)
		}
	}
	return out
}

// Pass reports whether v is within the gate. NaN is not.
func (g Gate) Pass(v float64) bool {
	switch g.Op {
	case "<":
		return v < g.Limit
	case "<=":
		return v <= g.Limit
	case ">":
		return v > g.Limit
	case ">=":
		return v >= g.Limit
	default:
		return false
	}
}

// matches reports whether every condition holds; an axis the cell does not have
// never matches.
func matches(where, at map[string]string) bool {
	for axis, cond := range where {
		v, ok := at[axis]
		if !ok {
			return false
		}
		if hit, err := condition(cond, v); err != nil || !hit {
			return false
		}
	}
	return true
}

// condition evaluates "64", "64|128", "<=512", ">4096" or "513..4096".
func condition(cond, v string) (bool, error) {
	for _, op := range []string{"<=", ">=", "<", ">"} {
		arg, ok := strings.CutPrefix(cond, op)
		if !ok {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(arg), 10, 64)
		if err != nil {
			return false, fmt.Errorf("condition %q: expected an integer after %s", cond, op)
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return false, nil
		}
		switch op {
		case "<=":
			return n <= limit, nil
		case ">=":
			return n >= limit, nil
		case "<":
			return n < limit, nil
		default:
			return n > limit, nil
		}
	}
	if lo, hi, ok := strings.Cut(cond, ".."); ok {
		a, errA := strconv.ParseInt(lo, 10, 64)
		b, errB := strconv.ParseInt(hi, 10, 64)
		if errA != nil || errB != nil {
			return false, fmt.Errorf("condition %q: expected two integers with .. between them", cond)
		}
		n, err := strconv.ParseInt(v, 10, 64)
		return err == nil && n >= a && n <= b, nil
	}
	for _, alt := range strings.Split(cond, "|") {
		if alt == v {
			return true, nil
		}
	}
	return false, nil
}
