package harness

import (
	"bytes"
	"fmt"

	"kdapilot/engine/bench"
	"kdapilot/engine/text"
)

// replayLimit bounds what is held before the family is known.
const replayLimit = 1 << 20

// Options steer a parser. The zero value detects the family and knows no
// command line.
type Options struct {
	// Family overrides detection when it is not Auto.
	Family Family
	// Command is the command line of the run where it is known. Some
	// harnesses print no shape; it comes from here.
	Command string
	// Sink receives events while bytes are fed; nil for none.
	Sink Sink
	// keepRepeats keeps every record of a data file in which cells repeat.
	keepRepeats bool
}

// reader is what a family implements. line receives one cleaned line without
// its newline, valid during the call only; close sees the end of the run.
type reader interface {
	line(b []byte)
	close(exit *int)
}

// Parser turns the bytes of one run into rows as they arrive. It is not safe
// for concurrent use: the caller serialises Feed calls of the two streams.
type Parser struct {
	c       *collector
	streams [3]splitter
	fam     reader
	family  Family
	held    [][]byte
	heldAt  []heldLine
	heldN   int
	lost    bool
	scratch []byte
	trace   [3]bool
	bytes   int64
	closed  bool
	each    [3]func([]byte, int)
}

type heldLine struct {
	stream Stream
	line   int
}

// NewParser makes a parser for one run.
func NewParser(opt Options) *Parser {
	p := &Parser{c: &collector{sink: opt.Sink, opt: opt}}
	for s := range p.each {
		st := Stream(s)
		p.each[s] = func(b []byte, n int) { p.line(st, b, n) }
	}
	if opt.Family != Auto {
		p.choose(opt.Family)
	}
	return p
}

// Feed takes the next bytes of a stream. Lines may be cut anywhere.
func (p *Parser) Feed(s Stream, b []byte) {
	if s < Stdout || s > Merged || p.closed {
		return
	}
	p.bytes += int64(len(b))
	p.streams[s].feed(b, p.each[s])
}

// Result gives what was found so far; after Close it is final.
func (p *Parser) Result() bench.Result {
	r := p.c.result()
	r.Family = string(p.family)
	if p.family == Auto {
		r.Family = string(Unknown)
	}
	r.Bytes = p.bytes
	r.Lines, r.LongestLine = 0, 0
	for i := range p.streams {
		r.Lines += p.streams[i].lines
		r.LongestLine = max(r.LongestLine, p.streams[i].longest)
	}
	return r
}

// Close ends the run. exit is the process's status (negative: killed by that
// signal), nil when it is not known. A last line without a newline is read
// only when the process is known to have ended in order; else it is kept
// aside as PartialTail.
func (p *Parser) Close(exit *int) bench.Result {
	if p.closed {
		return p.Result()
	}
	p.c.res.ExitStatus = exit
	for s := range p.streams {
		p.closeStream(Stream(s), exit)
	}
	p.closed = true
	if p.fam == nil {
		p.lastResort()
	}
	if p.fam == nil {
		p.giveUp()
	} else {
		p.fam.close(exit)
	}
	p.held, p.heldAt = nil, nil
	return p.Result()
}

func (p *Parser) closeStream(s Stream, exit *int) {
	sp := &p.streams[s]
	p.c.stream, p.c.line = s, sp.lines
	if sp.cut > 0 {
		p.c.diag(bench.Amber, "%d line(s) longer than %d bytes were cut", sp.cut, maxLine)
	}
	tail := sp.tail()
	if len(bytes.TrimSpace(tail)) == 0 {
		return
	}
	if exit != nil && *exit == 0 {
		sp.lines++
		sp.longest = max(sp.longest, sp.held)
		p.line(s, tail, sp.lines)
		return
	}
	t := scrub(tail, &p.scratch)
	p.c.line++
	if len(t) > 0 {
		p.watchCrash(t)
	}
	kept := text.Clip(text.Clean(string(t)), maxText)
	p.c.res.PartialTail = &kept
	p.c.diag(bench.Amber, "the last line is unfinished and was not read")
}

// lastResort takes the family from the command line where no line told.
func (p *Parser) lastResort() {
	if f := commandFamily(p.c.opt.Command); f != Unknown {
		p.choose(f)
		p.replay()
	}
}

// giveUp says that nothing was recognised; the log itself is the caller's.
func (p *Parser) giveUp() {
	p.family = Unknown
	p.c.stream, p.c.line = Stdout, 0
	if p.bytes == 0 {
		p.c.diag(bench.Red, "no output at all: with PYTHONUNBUFFERED unset a crash loses everything that was printed")
		return
	}
	p.c.diag(bench.Amber, "unknown output: no line of a known harness was found; name the family to read it anyway")
}

func (p *Parser) choose(f Family) {
	p.family = f
	p.fam = newReader(f, p.c)
	if p.c.sink != nil {
		p.c.sink(bench.Event{Kind: bench.EventFamily, Text: string(f)})
	}
}

func newReader(f Family, c *collector) reader {
	switch f {
	case FlashAttn:
		return newFlash(c)
	case PreshuffleGEMM:
		return newGEMM(c)
	case RowscaleGEMM:
		return newRowscale(c)
	case MoEFlyDSL:
		return newMoE(c)
	case MoEAiter:
		return newAiterMoE(c)
	case Norm:
		return newNorm(c)
	case RunBenchmark:
		return newRunBench(c)
	case Pytest:
		return newPytest(c)
	case RunTests:
		return newRunTests(c)
	case ProfLib:
		return newProfLib(c)
	}
	return &ignorer{}
}

// ignorer reads nothing: the family was named and has no line format.
type ignorer struct{}

func (*ignorer) line([]byte) {}
func (*ignorer) close(*int)  {}

// line is the hot path: clean, watch for crashes, hand on.
func (p *Parser) line(s Stream, b []byte, n int) {
	b = scrub(b, &p.scratch)
	p.c.stream, p.c.line = s, n
	if len(b) == 0 {
		if p.fam != nil {
			p.fam.line(b)
		}
		return
	}
	if b[0] != ' ' || p.trace[s] {
		p.watch(s, b)
	} else if bytes.Contains(b, []byte(crashFault)) {
		p.watchCrash(b)
	}
	if p.fam != nil {
		p.fam.line(b)
		return
	}
	p.hold(s, b, n)
	if f := sniff(b); f != Auto {
		p.choose(f)
		p.replay()
	}
}

// hold keeps a line for the family that is not known yet.
func (p *Parser) hold(s Stream, b []byte, n int) {
	if p.heldN+len(b) > replayLimit {
		p.lost = true
		p.held, p.heldAt, p.heldN = nil, nil, 0
		if len(b) > replayLimit {
			return
		}
	}
	p.held = append(p.held, bytes.Clone(b))
	p.heldAt = append(p.heldAt, heldLine{s, n})
	p.heldN += len(b) + 48
}

func (p *Parser) replay() {
	if p.lost {
		p.c.diag(bench.Info, "text before this line was not kept while the family was unknown")
	}
	for i, b := range p.held {
		p.c.stream, p.c.line = p.heldAt[i].stream, p.heldAt[i].line
		p.fam.line(b)
	}
	p.held, p.heldAt = nil, nil
}

const (
	crashFault = "Memory access fault by GPU"
	traceStart = "Traceback (most recent call last):"
	usageError = ".py: error: "
)

// watch looks for what any program may print: crashes, tracebacks, usage
// errors, a machine without torch or GPU.
func (p *Parser) watch(s Stream, b []byte) {
	p.watchCrash(b)
	switch {
	case bytes.HasPrefix(b, []byte(traceStart)):
		p.trace[s] = true
	case p.trace[s] && b[0] != ' ':
		p.trace[s] = false
		p.c.diag(bench.Amber, "traceback: %s", b)
	case bytes.HasSuffix(b, []byte("not available")) && (bytes.HasPrefix(b, []byte("PyTorch")) || bytes.HasPrefix(b, []byte("CUDA/ROCm"))):
		p.c.diag(bench.Red, "the machine can not run this harness: %s", b)
	case bytes.Contains(b, []byte("No module named ")):
		p.c.diag(bench.Red, "the machine can not run this: %s", b)
	default:
		if i := bytes.Index(b[:min(len(b), 120)], []byte(usageError)); i > 0 && bytes.IndexByte(b[:i], ' ') < 0 {
			p.c.diag(bench.Red, "the command line was refused: %s", b)
		}
	}
}

// watchCrash marks the run as crashed at the first line that says so.
func (p *Parser) watchCrash(b []byte) {
	if p.c.res.Crashed {
		return
	}
	at := bytes.Index(b, []byte(crashFault))
	if at < 0 && fatal(b) {
		at = 0
	}
	if at < 0 {
		return
	}
	p.c.res.Crashed = true
	p.c.res.CrashLine = text.Clip(text.Line(string(b[at:])), maxText)
	p.c.res.CrashedAfter = p.c.last
	p.c.diag(bench.Red, "the GPU or the process crashed: %s", b[at:])
}

// fatal recognises the beginnings of the other lines that end a process.
func fatal(b []byte) bool {
	start := func(m string) bool { return len(b) >= len(m) && string(b[:len(m)]) == m }
	switch b[0] {
	case 'S':
		return start("Segmentation fault")
	case 'A':
		return start("Aborted (core dumped)") || string(b) == "Aborted"
	case 'F':
		return start("Fatal Python error:")
	case 'B':
		return start("Bus error")
	case 't':
		return start("terminate called after throwing")
	case 'H':
		return start("HSA_STATUS_ERROR")
	case 'K':
		return string(b) == "Killed"
	}
	return false
}

// Describe names a family and the layout that was found, for the screens.
func Describe(r bench.Result) string {
	if r.Version == "" {
		return r.Family
	}
	return fmt.Sprintf("%s (%s)", r.Family, r.Version)
}
