package harness

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kdapilot/engine/bench"
)

// sheet is a CSV file with its columns by name.
type sheet struct {
	cols map[string]int
	head []string
	rec  []string
	line int
}

// get gives the cell of the current record, "" when there is no such column.
func (s *sheet) get(col string) string {
	if i, ok := s.cols[col]; ok && i < len(s.rec) {
		return s.rec[i]
	}
	return ""
}

func (s *sheet) has(col string) bool { _, ok := s.cols[col]; return ok }

// csvFamily names the family of a header.
func csvFamily(head []string) Family {
	has := func(names ...string) bool {
		for _, n := range names {
			if !slices.Contains(head, n) {
				return false
			}
		}
		return len(head) > 0
	}
	switch {
	case has("H", "Hkv", "D", "dtype", "causal"):
		return FlashAttn
	case has("op", "shape", "dtype", "tbps", "tflops", "status"):
		return RunBenchmark
	case has("op", "shape", "dtype", "metric", "current", "main"):
		return RunBenchmark
	case has("run_id", "shape_id", "op_type", "median_us"):
		return ProfLib
	case has("label", "provider", "us_median"):
		return ProfLib
	case has("kernel_path_us", "e2e_us", "token"):
		return MoEFlyDSL
	case has("token", "model_dim", "inter_dim", "expert", "topk"):
		return MoEAiter
	}
	return Unknown
}

// readCSV reads every record through the family's row function.
func readCSV(c *collector, b []byte) (Family, error) {
	rd := csv.NewReader(bytes.NewReader(b))
	rd.FieldsPerRecord = -1
	rd.ReuseRecord = true
	rd.LazyQuotes = true
	head, err := rd.Read()
	if errors.Is(err, io.EOF) {
		return Unknown, errors.New("line 1: the file is empty, want a CSV header")
	}
	if err != nil {
		return Unknown, err
	}
	s := &sheet{head: slices.Clone(head), cols: make(map[string]int, len(head))}
	for i, h := range s.head {
		s.cols[strings.TrimSpace(h)] = i
	}
	f := csvFamily(s.head)
	if f == Unknown {
		return Unknown, fmt.Errorf("line 1: want the header of a known harness, have %q", said(strings.Join(s.head, ",")))
	}
	each := csvRow(f, s)
	for {
		s.rec, err = rd.Read()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return f, err
		}
		s.line, _ = rd.FieldPos(0)
		c.line = s.line
		if len(s.rec) != len(s.head) {
			c.diag(bench.Amber, "record of %d cells under a header of %d was not read", len(s.rec), len(s.head))
			continue
		}
		if err := each(c, s); err != nil {
			return f, fmt.Errorf("line %d: %w", s.line, err)
		}
	}
}

func csvRow(f Family, s *sheet) func(*collector, *sheet) error {
	switch f {
	case FlashAttn:
		return flashCSV(s)
	case RunBenchmark:
		if s.has("metric") {
			return ciHistoryCSV
		}
		return runBenchCSV
	case ProfLib:
		return profLibCSV(s)
	case MoEFlyDSL:
		return kdaCSV
	case MoEAiter:
		return aiterCSV
	}
	return func(*collector, *sheet) error { return fmt.Errorf("family %s has no CSV", f) }
}
