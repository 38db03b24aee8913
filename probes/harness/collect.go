package harness

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/text"
)

const (
	maxRows        = 100_000
	maxDiagnostics = 200
	maxText        = 4096
	maxTests       = 100_000
)

// collector gathers what a family parser finds into a Result.
type collector struct {
	res  bench.Result
	sink Sink
	opt  Options

	rows, varlen, extra, compare table
	dropped                      int
	// totals are counts that the harness printed itself.
	totals map[string]int
	// repeats are rows of a file that holds several runs of the same cells;
	// keep asks for them.
	repeats []bench.Row
	keep    bool
	last    string

	stream Stream
	line   int
}

// table keeps rows in first-seen order and finds them by key.
type table struct {
	rows  []bench.Row
	index map[string]int
}

// at finds the row with this key.
func (t *table) at(key []byte) (int, bool) {
	i, ok := t.index[string(key)]
	return i, ok
}

// put files a row under its key. A later row replaces the numbers of an
// earlier one; what only one print said (warnings, hashes) stays.
func (c *collector) put(t *table, r bench.Row) {
	r.Line, r.Seen = c.line, 1
	c.last = r.Key
	if c.keep && len(c.repeats) < maxRows*10 {
		c.repeats = append(c.repeats, r)
		return
	}
	if i, ok := t.index[r.Key]; ok {
		c.replace(&t.rows[i], r)
		return
	}
	if len(t.rows) >= maxRows {
		c.dropped++
		return
	}
	if t.index == nil {
		t.index = make(map[string]int)
	}
	t.index[r.Key] = len(t.rows)
	t.rows = append(t.rows, r)
	c.emitRow(&r)
}

func (c *collector) replace(old *bench.Row, r bench.Row) {
	r.Seen = old.Seen + 1
	if r.Warnings == nil {
		r.Warnings = old.Warnings
	}
	if r.MD5 == "" {
		r.MD5, r.RefMD5 = old.MD5, old.RefMD5
	}
	changed := r.Status != old.Status || r.Error != old.Error ||
		!sameNum(r.US, old.US) || !sameNum(r.TFLOPS, old.TFLOPS) ||
		!sameNum(r.MaxErr, old.MaxErr) || !sameNum(r.MinCos, old.MinCos) || len(r.Warnings) != len(old.Warnings)
	*old = r
	if changed {
		c.emitRow(&r)
	}
}

func sameNum(a, b bench.Num) bool {
	return a.OK == b.OK && (math.Float64bits(a.V) == math.Float64bits(b.V) || a.V == b.V || math.IsNaN(a.V) && math.IsNaN(b.V))
}

func (c *collector) emitRow(r *bench.Row) {
	if c.sink != nil {
		row := *r
		row.Fields, row.Warnings = slices.Clone(r.Fields), slices.Clone(r.Warnings)
		c.sink(bench.Event{Kind: bench.EventRow, Row: row})
	}
}

// amend changes a field of a row that was filed already. The fields are copied
// first: a result handed out earlier shares them.
func amend(r *bench.Row, name string, v bench.Value) {
	r.Fields = slices.Clone(r.Fields).With(name, v)
}

// total records a count that the harness printed itself.
func (c *collector) total(name string, n int) {
	if c.totals == nil {
		c.totals = make(map[string]int)
	}
	c.totals[name] = n
}

// current reports the cell that is running now.
func (c *collector) current(what string) {
	if c.sink != nil {
		c.sink(bench.Event{Kind: bench.EventCurrent, Text: text.Clip(text.Line(what), maxText)})
	}
}

// verdict keeps the last verdict line.
func (c *collector) verdict(line string) {
	v := text.Clip(text.Line(line), maxText)
	c.res.Verdict = &v
	if c.sink != nil {
		c.sink(bench.Event{Kind: bench.EventVerdict, Text: v})
	}
}

// diag records something the reader must know; the first maxDiagnostics are
// kept.
func (c *collector) diag(sev bench.Severity, format string, args ...any) {
	if len(c.res.Diagnostics) > maxDiagnostics {
		return
	}
	d := bench.Diagnostic{Severity: sev, Stream: c.stream.String(), Line: c.line,
		Text: text.Clip(text.Line(fmt.Sprintf(format, args...)), maxText)}
	if len(c.res.Diagnostics) == maxDiagnostics {
		d = bench.Diagnostic{Severity: bench.Amber, Text: "more diagnostics were left out"}
	}
	c.res.Diagnostics = append(c.res.Diagnostics, d)
	if c.sink != nil {
		c.sink(bench.Event{Kind: bench.EventDiagnostic, Diag: d})
	}
}

// csv records an announced file.
func (c *collector) csv(name string) {
	name = text.Clip(text.Line(name), maxText)
	if len(c.res.CSVAnnounced) < 64 {
		c.res.CSVAnnounced = append(c.res.CSVAnnounced, name)
	}
}

// skip records the harness's words about a case it did not run.
func (c *collector) skip(why string) {
	if len(c.res.Skips) < 1000 {
		c.res.Skips = append(c.res.Skips, said(why))
	}
}

// said cleans a piece of outside text that goes into a row. Printable ASCII,
// which is nearly everything, is only trimmed.
func said(s string) string {
	s = strings.Trim(s, " ")
	if len(s) <= maxText && plain(s) {
		// A copy: a word must not keep its whole line in memory.
		return strings.Clone(s)
	}
	return text.Clip(text.Line(s), maxText)
}

// plain reports printable ASCII only.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// result assembles what was found so far.
func (c *collector) result() bench.Result {
	r := c.res
	if len(c.repeats) > 0 {
		r.Rows = c.repeats
		r.Counts = count(r.Rows)
		r.VarlenRows, r.ExtraRows, r.CSVAnnounced = []bench.Row{}, []bench.Row{}, []string{}
		return r
	}
	r.Rows, r.VarlenRows, r.ExtraRows, r.CompareRows = clone(c.rows.rows), clone(c.varlen.rows), clone(c.extra.rows), c.compare.rows
	r.Counts = count(r.Rows)
	for k, v := range c.totals {
		r.Counts[k] = v
	}
	if len(r.VarlenRows) > 0 {
		r.VarlenCounts = count(r.VarlenRows)
	}
	if len(r.ExtraRows) > 0 {
		r.ExtraCounts = count(r.ExtraRows)
	}
	if r.CSVAnnounced == nil {
		r.CSVAnnounced = []string{}
	}
	if c.dropped > 0 {
		r.Diagnostics = append(r.Diagnostics, bench.Diagnostic{Severity: bench.Red,
			Text: fmt.Sprintf("%d rows beyond the first %d were not kept", c.dropped, maxRows)})
	}
	return r
}

// clone makes an empty table an empty JSON list and a copy safe to keep.
func clone(rows []bench.Row) []bench.Row {
	return append(make([]bench.Row, 0, len(rows)), rows...)
}

func count(rows []bench.Row) map[string]int {
	n := make(map[string]int)
	for i := range rows {
		n[string(rows[i].Status)]++
	}
	return n
}

// joinWords puts words of a line together with single blanks.
func joinWords(w [][]byte) string {
	var b strings.Builder
	for i, s := range w {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.Write(s)
	}
	return b.String()
}
