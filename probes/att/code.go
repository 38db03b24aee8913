package att

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/stall"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// Limits of one dispatch directory. The largest files seen are 0.7 MB of
// code.json, 1.2 MB of occupancy.json and 0.5 MB per wave.
const (
	maxCodeBytes  = 64 << 20
	maxSmallBytes = 64 << 20
	maxColumns    = 32
	minColumns    = 10
	maxLabels     = 64
)

// Dispatch is one decoded dispatch directory whose code.json has been read.
type Dispatch struct {
	Dir string
	// Name is the base name of Dir, cleaned for drawing.
	Name string
	// Origin is code.json.
	Origin fact.Origin
	Code   stall.Code
}

// Open reads code.json in dir and nothing else. The error is an *Error with
// flyprof's code for the same input, or the context's.
func Open(ctx context.Context, dir string) (*Dispatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "code.json")
	b, origin, err := readfile.All(path, maxCodeBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Nothing(dir, "no code.json here, so no decoded trace")
	case err != nil:
		return nil, Broken(path, err, "can not be read: %v", err)
	}
	code, err := ParseCode(b)
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Path = path
		}
		return nil, err
	}
	return &Dispatch{Dir: dir, Name: text.Line(filepath.Base(dirName(dir))), Origin: origin, Code: code}, nil
}

// dirName makes "." and ".." into a path with a name of its own.
func dirName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// HasCode reports whether dir holds a code.json, without opening it.
func HasCode(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "code.json"))
	return err == nil && !info.IsDir()
}

// columns says in which column each field stands.
type columns struct {
	isa, line, source, codeObj, addr, hit, latency, stall, idle int
	named                                                       int
}

// columnsOf reads the header text. Names win over places; when not all names
// are there the documented order is used.
func columnsOf(header string) columns {
	c := columns{isa: 0, line: 2, source: 3, codeObj: 4, addr: 5, hit: 6, latency: 7, stall: 8, idle: 9}
	place := map[string]int{}
	for i, name := range strings.Split(header, ",") {
		if i >= maxColumns {
			break
		}
		if header != "" {
			c.named = i + 1
		}
		place[strings.TrimSpace(name)] = i
	}
	by := c
	for name, field := range map[string]*int{
		"ISA": &by.isa, "LineNumber": &by.line, "Source": &by.source, "Codeobj": &by.codeObj, "Vaddr": &by.addr,
		"Hit": &by.hit, "Latency": &by.latency, "Stall": &by.stall, "Idle": &by.idle,
	} {
		i, ok := place[name]
		if !ok {
			return c
		}
		*field = i
	}
	return by
}

// cell is one column of a row: an integer, a string's place, or something else.
type cell struct {
	kind     byte // 'i' integer, 's' string, 'S' string with escapes, 'n' null, 'x' other
	n        int64
	from, to int
}

type codeParser struct {
	scanner
	all   string // b as a string, so that rows share its memory
	cols  columns
	cells [maxColumns]cell
	code  stall.Code
}

// ParseCode reads the bytes of a code.json. Errors are *Error without a path.
func ParseCode(b []byte) (stall.Code, error) {
	p := codeParser{scanner: scanner{b: b}}
	start, header := -1, ""
	err := p.object(func(key string) (err error) {
		switch key {
		case "code":
			p.peek()
			start = p.i
		case "header", "version":
			if p.peek() != '"' {
				break
			}
			s, err := p.text()
			if key == "header" {
				header = s
			} else {
				p.code.Version = text.Line(text.Clip(s, 64))
			}
			return err
		}
		return p.skip()
	})
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return stall.Code{}, Broken("", err, "not a whole JSON object (cut off or mid-write?): %v", err)
	}
	if start < 0 {
		return stall.Code{}, Broken("", nil, `no "code" in it; want the rows of a decoded trace`)
	}
	p.cols, p.all, p.i = columnsOf(header), string(b), start
	if err := p.rows(); err != nil {
		return stall.Code{}, err
	}
	return p.code, nil
}

func (p *codeParser) rows() error {
	p.code.Columns = p.cols.named
	if p.null() {
		return Broken("", nil, `"code" is null: an empty capture, no wave was decoded on the traced compute unit`)
	}
	if p.peek() != '[' {
		return Broken("", nil, `"code" is not a list of rows: %v`, p.fail("'['"))
	}
	p.code.Rows = make([]stall.Row, 0, min(len(p.b)/100, 1<<16))
	err := p.array(func() error {
		n, err := p.row()
		if err != nil {
			return err
		}
		return p.keep(n)
	})
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			return e
		}
		return Broken("", err, "%v", err)
	}
	if len(p.code.Rows) == 0 {
		return Nothing("", "%d rows and none of them is an instruction: an empty capture", p.code.AllRows)
	}
	return nil
}

// row reads one row into cells and returns its number of columns.
func (p *codeParser) row() (int, error) {
	n := 0
	if p.peek() != '[' {
		return 0, fmt.Errorf("row %d: %w", p.code.AllRows+1, p.fail("a list of columns"))
	}
	err := p.array(func() error {
		var c cell
		var err error
		switch b := p.peek(); {
		case b == '"':
			var escaped bool
			c.kind = 's'
			if c.from, c.to, escaped, err = p.str(); escaped {
				c.kind = 'S'
			}
		case b == '-' || b >= '0' && b <= '9':
			var whole bool
			c.kind = 'x'
			if c.n, whole, err = p.integer(); whole {
				c.kind = 'i'
			}
		default:
			c.kind = 'x'
			if b == 'n' {
				c.kind = 'n'
			}
			err = p.skip()
		}
		if n < maxColumns {
			p.cells[n] = c
		}
		n++
		return err
	})
	return n, err
}

// keep decides as flyprof does what becomes of the row in cells.
func (p *codeParser) keep(n int) error {
	p.code.AllRows++
	isa := p.string(n, p.cols.isa)
	source := p.string(n, p.cols.source)
	if source != "" {
		p.code.AllMapped++
	}
	label := strings.HasPrefix(isa, ";")
	if label && len(p.code.Labels) < maxLabels {
		p.code.Labels = append(p.code.Labels, strings.TrimSpace(strings.TrimPrefix(isa, ";")))
	}
	line := cell{kind: 'x'}
	if p.cols.line < n {
		line = p.cells[p.cols.line]
	}
	if n < minColumns || line.kind != 'i' || line.n == 0 {
		if !label {
			p.code.Dropped++
		}
		return nil
	}
	if c := p.cells[p.cols.isa]; p.cols.isa >= n || c.kind != 's' && c.kind != 'S' {
		return Broken("", nil, "row %d: the instruction (column %d) is not a text", p.code.AllRows, p.cols.isa)
	}
	row := stall.Row{ISA: isa, Line: line.n, Source: source}
	for _, f := range [...]struct {
		name string
		col  int
		to   *int64
	}{
		{"Codeobj", p.cols.codeObj, &row.CodeObj}, {"Vaddr", p.cols.addr, &row.Addr}, {"Hit", p.cols.hit, &row.Hit},
		{"Latency", p.cols.latency, &row.Latency}, {"Stall", p.cols.stall, &row.Stall}, {"Idle", p.cols.idle, &row.Idle},
	} {
		if f.col >= n || p.cells[f.col].kind != 'i' {
			if f.to == &row.CodeObj {
				continue // flyprof never looks at it
			}
			return Broken("", nil, "row %d (line number %d): %s (column %d) is not an integer", p.code.AllRows, line.n, f.name, f.col)
		}
		*f.to = p.cells[f.col].n
	}
	row.Class = stall.Classify(isa)
	p.code.Rows = append(p.code.Rows, row)
	return nil
}

// string gives a column's text, cleaned; "" when it is not a string.
func (p *codeParser) string(n, col int) string {
	if col >= n || col >= maxColumns {
		return ""
	}
	switch c := p.cells[col]; c.kind {
	case 's':
		return OneLine(p.all[c.from:c.to])
	case 'S':
		return OneLine(unquote(p.b[c.from:c.to], true))
	}
	return ""
}

// maxText bounds one text of a trace in bytes; the longest instruction seen has
// 90 and the longest inline chain some hundreds.
const maxText = 4096

// OneLine makes outside text safe to draw on one line and keeps its blanks:
// texts of the artifact have to stay equal to what flyprof prints.
func OneLine(s string) string {
	s = text.Clean(text.Clip(s, maxText))
	if strings.ContainsAny(s, "\n\t") {
		return text.Line(s)
	}
	return s
}
