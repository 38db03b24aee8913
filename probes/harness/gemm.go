package harness

import (
	"bytes"
	"fmt"
	"strings"

	"kdapilot/engine/bench"
)

// gemm reads test_preshuffle_gemm.py. It prints neither M, N, K nor a verdict:
// the shape comes from the command line, success is a Throughput line and exit
// status 0. Its gate lets up to five percent of the elements through, even
// NaN; the only trace is a checkAllclose line on stderr.
type gemm struct {
	c     *collector
	shape shapeArgs
	// cells are the keys begun so far; open is set while the last one has
	// neither a time nor a failure.
	cells []string
	open  bool
	row   bench.Row
	// checks are the warnings of checkAllclose in order, "" for a pass.
	checks []string
	warned bool
	trace  lastError
}

func newGEMM(c *collector) *gemm { return &gemm{c: c, shape: gemmShape(c.opt.Command)} }

func (g *gemm) line(b []byte) {
	g.trace.line(b)
	if len(b) == 0 || b[0] == ' ' || b[0] == '=' || b[0] == '-' && b[len(b)-1] == '-' {
		return
	}
	s := string(b[:min(len(b), maxText)])
	switch {
	case strings.HasPrefix(s, "[flyc] MFMA "):
		g.begin(s)
	case strings.HasPrefix(s, "[flyc] ") && strings.Contains(s, "Throughput: "):
		g.throughput(s)
	case strings.HasPrefix(s, "Aiter Throughput: "):
		us, _ := numBefore(s, " us")
		tf, _ := numBefore(s, " TFLOPS")
		gb, _ := numBefore(s, " GB/s")
		g.row.Fields = g.row.Fields.With("baseline", bench.Obj(bench.Fields{{Name: "name", Value: bench.Str("aiter")},
			{Name: "us", Value: bench.FromNum(us)}, {Name: "tflops", Value: bench.FromNum(tf)}, {Name: "gbps", Value: bench.FromNum(gb)}}))
	case strings.HasPrefix(s, "Logits Diff: "):
		v, _ := between(s, "Logits Diff: ", ",")
		g.row.Fields = g.row.Fields.With("logits_diff", bench.FromNum(numText(v)))
	case strings.Contains(s, "Check failed: "):
		g.finish(bench.Fail, said(s))
	case strings.HasPrefix(s, "Skipped: "):
		if !g.open {
			g.begin("")
		}
		g.finish(bench.Skip, said(strings.TrimPrefix(s, "Skipped: ")))
	default:
		g.check(s)
	}
}

// begin opens a cell at its banner: "[flyc] MFMA FP8 GEMM Test (Tile: 16x64x256)".
func (g *gemm) begin(s string) {
	g.abandon(nil)
	dtype, _ := between(s, "MFMA ", " GEMM")
	tile, _ := between(s, "Tile: ", ")")
	if dtype == "" {
		dtype, tile = g.shape.dtype, g.shape.tile
	}
	dtype = strings.ToLower(said(dtype))
	g.row = bench.Row{Key: g.shape.key(dtype, said(tile)), Fields: g.shape.fields(dtype, said(tile))}
	g.open = true
	if len(g.cells) < maxRows {
		g.cells = append(g.cells, g.row.Key)
	}
	g.c.current(g.row.Key)
}

func (g *gemm) throughput(s string) {
	if !g.open {
		g.begin("")
	}
	var ok [3]bool
	var tb bench.Num
	g.row.US, ok[0] = numBefore(s, " us")
	g.row.TFLOPS, ok[1] = numBefore(s, " TFLOPS")
	tb, ok[2] = numBefore(s, " TB/s")
	if !ok[0] || !ok[1] {
		g.c.diag(bench.Amber, "a Throughput line was not read: %s", s)
		return
	}
	g.row.Fields = g.row.Fields.With("tbps", bench.FromNum(tb))
	g.finish(bench.Pass, "")
}

// finish files the open cell.
func (g *gemm) finish(st bench.Status, why string) {
	if len(g.cells) == 0 {
		g.begin("")
	}
	g.row.Status, g.row.Error = st, why
	g.open = false
	g.c.res.RowLinesSeen++
	g.c.put(&g.c.rows, g.row)
}

// check reads what checkAllclose logs on stderr:
//
//	INFO:flydsl:[checkAllclose atol=0.1 rtol=0.1 warning!] a and b …
//	INFO:flydsl:-->max abs delta:nan, delta details: 0.9% (1418 of 163840) elements
func (g *gemm) check(s string) {
	switch {
	case strings.Contains(s, "[checkAllclose atol="):
		g.warned = !strings.Contains(s, "passed~")
		if len(g.checks) < maxRows {
			g.checks = append(g.checks, "")
		}
	case strings.Contains(s, "-->max abs delta:") && g.warned && len(g.checks) > 0:
		delta, _ := between(s, "-->max abs delta:", ",")
		detail, _ := between(s, "delta details: ", " elements")
		g.checks[len(g.checks)-1] = fmt.Sprintf("checkAllclose warning: %s elements differ, max abs delta %s", said(detail), said(delta))
		g.warned = false
	case strings.HasPrefix(s, "ERROR:root:logits_diff"):
		g.c.diag(bench.Amber, "%s", s)
	}
}

// abandon files a cell that never finished.
func (g *gemm) abandon(exit *int) {
	if !g.open {
		return
	}
	switch {
	case g.trace.last != "":
		g.finish(bench.Error, g.trace.last)
	case exit != nil && *exit == 0:
		g.finish(bench.Missing, "no Throughput line")
	default:
		g.finish(bench.Error, "the run ended inside this cell")
	}
}

// close files what is open, gives each check to its cell (both are in run
// order, on different streams), and makes the row of a run that died before
// its banner.
func (g *gemm) close(exit *int) {
	g.abandon(exit)
	if len(g.cells) == 0 && g.trace.last != "" && g.shape.known {
		g.row = bench.Row{Key: g.shape.key(g.shape.dtype, g.shape.tile), Fields: g.shape.fields(g.shape.dtype, g.shape.tile)}
		g.cells = append(g.cells, g.row.Key)
		g.finish(bench.Error, g.trace.last)
	}
	if len(g.checks) != len(g.cells) && len(g.cells) > 1 && hasText(g.checks) {
		g.c.diag(bench.Red, "%d checkAllclose lines for %d cells: a warning can not be given to its cell: %s", len(g.checks), len(g.cells), strings.Join(g.checks, "; "))
		return
	}
	for i, w := range g.checks {
		if w == "" || i >= len(g.cells) {
			continue
		}
		if at, ok := g.c.rows.at([]byte(g.cells[i])); ok {
			r := g.c.rows.rows[at]
			r.Warnings = append(r.Warnings, w)
			g.c.put(&g.c.rows, r)
		}
	}
}

func hasText(s []string) bool { return strings.Join(s, "") != "" }

// shapeArgs is what the command line says about a GEMM.
type shapeArgs struct {
	known       bool
	m, n, k     string
	dtype, tile string
}

// gemmShape applies the harness's defaults to a known command line.
func gemmShape(command string) shapeArgs {
	if !strings.Contains(command, "test_preshuffle_gemm") {
		return shapeArgs{}
	}
	a := args(command)
	get := func(name, def string) string {
		if v, ok := a[name]; ok {
			return v
		}
		return def
	}
	return shapeArgs{known: true, m: get("-M", "16"), n: get("-N", "10240"), k: get("-K", "8192"), dtype: get("--in_dtype", "fp8"),
		tile: get("--tile_m", "16") + "x" + get("--tile_n", "64") + "x" + get("--tile_k", "256")}
}

// args cuts a command line into options and their values.
func args(command string) map[string]string {
	out := make(map[string]string)
	w := strings.Fields(command)
	for i, a := range w {
		if !strings.HasPrefix(a, "-") {
			continue
		}
		if name, v, ok := strings.Cut(a, "="); ok {
			out[name] = strings.Trim(v, `"'`)
		} else if i+1 < len(w) {
			out[a] = strings.Trim(w[i+1], `"'`)
		}
	}
	return out
}

func (s shapeArgs) key(dtype, tile string) string {
	if !s.known {
		return fmt.Sprintf("M?_N?_K?_%s_tile%s", dtype, tile)
	}
	return fmt.Sprintf("M%s_N%s_K%s_%s_tile%s", s.m, s.n, s.k, dtype, tile)
}

func (s shapeArgs) fields(dtype, tile string) bench.Fields {
	return bench.Fields{{Name: "M", Value: intText(s.m)}, {Name: "N", Value: intText(s.n)}, {Name: "K", Value: intText(s.k)},
		{Name: "dtype", Value: bench.Str(dtype)}, {Name: "tile", Value: bench.Str(tile)}, {Name: "tbps", Value: bench.Null()}}
}

// lastError remembers the exception that ended the last traceback.
type lastError struct {
	inside bool
	last   string
}

func (e *lastError) line(b []byte) {
	switch {
	case bytes.HasPrefix(b, []byte(traceStart)):
		e.inside = true
	case e.inside && len(b) > 0 && b[0] != ' ':
		e.inside, e.last = false, said(string(b[:min(len(b), maxText)]))
	}
}
