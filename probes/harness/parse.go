package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/probes/readfile"
)

const (
	// maxData bounds a CSV, JSON, JSONL or XML file, which is read whole.
	maxData = 64 << 20
	// chunk is how much of a log is read at once.
	chunk = 256 << 10
	// peek is how much of a file decides what kind it is.
	peek = 64 << 10
)

// Parse reads the files of one run. Logs are streamed: a name that holds
// "stderr" is standard error, "merged" both, any other standard output. CSV,
// JSON, JSONL and junit files are recognised by content. Where logs and data
// files are given together the rows come from the logs, and a data file that
// says something else is named in a diagnostic.
//
// The error wraps fs.ErrNotExist, readfile.ErrTooLarge, or says which line of
// which data file could not be read and what was expected there.
func Parse(paths []string, opt Options, exit *int) (bench.Result, error) {
	if len(paths) == 0 {
		return bench.Result{}, errors.New("no file given")
	}
	p := NewParser(opt)
	var data []bench.Result
	logs := 0
	for _, path := range outputFirst(paths) {
		head, err := firstBytes(path)
		if err != nil {
			return bench.Result{}, err
		}
		if kind := dataKind(path, head); kind != "" {
			r, err := parseData(path, kind, opt)
			if err != nil {
				return bench.Result{}, err
			}
			data = append(data, r)
			continue
		}
		if err := p.feedFile(path); err != nil {
			return bench.Result{}, err
		}
		logs++
	}
	if logs > 0 {
		return combine(p.Close(exit), data), nil
	}
	r := mergeData(data)
	r.ExitStatus = exit
	return r, nil
}

// outputFirst puts standard error last: it can hold pieces of other harnesses'
// tables, and a shell sorts stderr.txt before stdout.txt.
func outputFirst(paths []string) []string {
	paths = slices.Clone(paths)
	slices.SortStableFunc(paths, func(a, b string) int { return last(a) - last(b) })
	return paths
}

func last(path string) int {
	if streamOf(path) == Stderr {
		return 1
	}
	return 0
}

// firstBytes reads the start of a regular file.
func firstBytes(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, peek)
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b[:n], nil
}

// openRegular opens a file that can not block.
func openRegular(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: want a file, have %s", path, st.Mode().Type())
	}
	return os.Open(path)
}

// feedFile streams a log.
func (p *Parser) feedFile(path string) error {
	f, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := streamOf(path)
	b := make([]byte, chunk)
	for {
		n, err := f.Read(b)
		p.Feed(s, b[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}

func streamOf(path string) Stream {
	base := strings.ToLower(filepath.Base(path))
	switch {
	case strings.Contains(base, "stderr"):
		return Stderr
	case strings.Contains(base, "merged"):
		return Merged
	}
	return Stdout
}

// dataKind says whether a file is "csv", "json", "jsonl" or "junit"; "" is a
// log.
func dataKind(path string, head []byte) string {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(bom)), " \t\r\n")
	first, _, _ := bytes.Cut(head, []byte("\n"))
	first = bytes.TrimRight(first, "\r")
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case bytes.HasPrefix(head, []byte("<?xml")) || bytes.HasPrefix(head, []byte("<testsuite")):
		return "junit"
	case ext == ".json":
		return "json"
	case ext == ".jsonl":
		return "jsonl"
	case ext == ".csv" || csvFamily(splitHeader(first)) != Unknown:
		return "csv"
	case ext != ".txt" && ext != ".log" && bytes.HasPrefix(first, []byte("{")) && bytes.HasSuffix(first, []byte("}")):
		return "jsonl"
	}
	return ""
}

func splitHeader(first []byte) []string {
	if len(first) > maxText || bytes.Count(first, []byte(",")) < 3 {
		return nil
	}
	return strings.Split(string(first), ",")
}

// parseData reads a whole data file.
func parseData(path, kind string, opt Options) (bench.Result, error) {
	b, _, err := readfile.All(path, maxData)
	if err != nil {
		return bench.Result{}, err
	}
	c := &collector{opt: opt, sink: opt.Sink, keep: opt.keepRepeats}
	b = bytes.TrimPrefix(b, []byte(bom))
	var family Family
	switch kind {
	case "csv":
		family, err = readCSV(c, b)
	case "jsonl":
		family, err = readJSONL(c, b)
	case "json":
		family, err = readJSON(c, b)
	case "junit":
		family, err = Pytest, readJUnit(c, b)
	}
	if err != nil {
		return bench.Result{}, fmt.Errorf("%s: %w", path, err)
	}
	r := c.result()
	r.Family = string(family)
	r.Bytes, r.Lines = int64(len(b)), bytes.Count(b, []byte("\n"))
	for i := range r.Diagnostics {
		r.Diagnostics[i].Stream = filepath.Base(path)
	}
	return r, nil
}

// mergeData joins the results of data files. Two files often hold the same
// records: of two rows with one key the one with more members is kept, and a
// different time is said.
func mergeData(data []bench.Result) bench.Result {
	if len(data) == 1 {
		return data[0]
	}
	c := &collector{}
	c.res.Family = data[0].Family
	for i := range data {
		d := &data[i]
		for _, t := range [...]struct {
			to   *table
			rows []bench.Row
		}{{&c.rows, d.Rows}, {&c.varlen, d.VarlenRows}, {&c.extra, d.ExtraRows}, {&c.compare, d.CompareRows}} {
			for _, r := range t.rows {
				c.merge(t.to, r)
			}
		}
		c.res.AvgRows = append(c.res.AvgRows, d.AvgRows...)
		c.res.Tests = append(c.res.Tests, d.Tests...)
		c.res.Failures = append(c.res.Failures, d.Failures...)
		c.res.Diagnostics = append(c.res.Diagnostics, d.Diagnostics...)
		c.res.Bytes, c.res.Lines = c.res.Bytes+d.Bytes, c.res.Lines+d.Lines
		if !d.Summary.IsNull() {
			c.res.Summary = d.Summary
		}
		if d.Family != c.res.Family {
			c.diag(bench.Amber, "the files are of different families: %s and %s", c.res.Family, d.Family)
		}
	}
	return c.result()
}

// merge files a row of a further data file.
func (c *collector) merge(t *table, r bench.Row) {
	i, ok := t.at([]byte(r.Key))
	if !ok {
		c.line = r.Line
		c.put(t, r)
		return
	}
	if !closeTimes(t.rows[i].US, r.US) {
		c.diag(bench.Amber, "two files give %s different times: %s and %s us", r.Key, t.rows[i].US, r.US)
	}
	if len(r.Fields) > len(t.rows[i].Fields) {
		r.Seen += t.rows[i].Seen
		t.rows[i] = r
	}
}

// closeTimes allows for the rounding of a log to 0.1 us.
func closeTimes(a, b bench.Num) bool {
	return sameNum(a, b) || a.OK && b.OK && math.Abs(a.V-b.V) <= 0.0501
}

// combine adds to the rows of a log what only data files know, and says where
// they disagree.
func combine(r bench.Result, data []bench.Result) bench.Result {
	for i := range data {
		d := &data[i]
		crossCheck(&r, d)
		if len(r.Tests) == 0 {
			r.Tests = d.Tests
		} else {
			addSeconds(r.Tests, d.Tests)
		}
		if r.Summary.IsNull() || len(d.Summary.Items()) > 0 {
			if !d.Summary.IsNull() {
				r.Summary = d.Summary
			}
		}
		r.Diagnostics = append(r.Diagnostics, d.Diagnostics...)
	}
	return r
}

// crossCheck compares the times of a data file with those of the log. A crash
// leaves the data file of the run before in place.
func crossCheck(r *bench.Result, d *bench.Result) {
	pairs := [...][2][]bench.Row{{r.Rows, d.Rows}, {r.ExtraRows, d.ExtraRows}, {r.CompareRows, d.CompareRows}, {r.VarlenRows, d.VarlenRows}}
	for _, p := range pairs {
		if len(p[1]) == 0 || len(p[0]) == 0 {
			continue
		}
		have := make(map[string]*bench.Row, len(p[0]))
		for i := range p[0] {
			have[p[0][i].Key] = &p[0][i]
		}
		missing, differ := 0, 0
		for i := range p[1] {
			l, ok := have[p[1][i].Key]
			if !ok {
				missing++
			} else if !closeTimes(l.US, p[1][i].US) {
				differ++
			}
		}
		if missing+differ > 0 || len(p[0]) != len(p[1]) {
			r.Diagnostics = append(r.Diagnostics, bench.Diagnostic{Severity: bench.Amber,
				Text: fmt.Sprintf("a data file disagrees with the log: %d rows against %d, %d unknown to the log, %d with another time; it may be of another run", len(p[1]), len(p[0]), missing, differ)})
		}
	}
}

// addSeconds takes durations from junit, whose class names are relative to
// another folder, by the end of the test id.
func addSeconds(tests, timed []bench.Test) {
	by := make(map[string]bench.Num, len(timed))
	for _, t := range timed {
		by[t.ID[strings.LastIndex(t.ID, "::")+1:]] = t.Seconds
	}
	for i := range tests {
		if s, ok := by[tests[i].ID[strings.LastIndex(tests[i].ID, "::")+1:]]; ok {
			tests[i].Seconds = s
		}
	}
}
