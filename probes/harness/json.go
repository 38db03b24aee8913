package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"kdapilot/engine/bench"
)

// readJSONL reads one record per line. Its family follows from the members.
func readJSONL(c *collector, b []byte) (Family, error) {
	family := Unknown
	for n := 1; len(b) > 0; n++ {
		l, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		l = bytes.TrimSpace(l)
		if len(l) == 0 {
			continue
		}
		var f bench.Fields
		if err := json.Unmarshal(l, &f); err != nil {
			if len(rest) == 0 && family != Unknown {
				c.line = n
				c.diag(bench.Amber, "the last record is unfinished and was not read")
				return family, nil
			}
			return family, fmt.Errorf("line %d: want one JSON object per line: %w", n, err)
		}
		c.line = n
		got, err := jsonRow(c, f)
		if err != nil {
			return family, fmt.Errorf("line %d: %w", n, err)
		}
		if family == Unknown {
			family = got
		}
	}
	if family == Unknown {
		return family, errors.New("line 1: want the records of a known harness")
	}
	return family, nil
}

// jsonRow files one record.
func jsonRow(c *collector, f bench.Fields) (Family, error) {
	has := func(n string) bool { _, ok := f.Get(n); return ok }
	switch {
	case has("key") && has("status"):
		r, err := bench.RowFrom(f)
		if err != nil {
			return Unknown, err
		}
		c.put(c.tableOf(r.Section), r)
		return Family("rows"), nil
	}
	return Unknown, errors.New("want a record of a known harness: a row with key and status, or one of the profiling library")
}

func (c *collector) tableOf(section string) *table {
	switch section {
	case "varlen":
		return &c.varlen
	case "extra":
		return &c.extra
	case "compare":
		return &c.compare
	}
	return &c.rows
}

func readJSON(c *collector, b []byte) (Family, error) {
	return Unknown, errors.New("want the JSON of a known harness")
}

func readJUnit(c *collector, b []byte) error { return errors.New("want junit XML") }
