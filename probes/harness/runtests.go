package harness

import (
	"strings"

	"kdapilot/engine/bench"
)

// runTests reads scripts/run_tests.sh: pytest, then examples, then FileCheck
// tests. It says "All tests passed." also when a tool was missing.
type runTests struct {
	c      *collector
	py     *pytest
	python bool
}

func newRunTests(c *collector) *runTests {
	return &runTests{c: c, py: newPytest(c)}
}

func (r *runTests) line(b []byte) {
	s := string(b[:min(len(b), maxText)])
	switch {
	case strings.HasPrefix(s, "Pytest: "):
		r.python = true
	case strings.HasPrefix(s, "Examples ("), strings.HasPrefix(s, "MLIR FileCheck Tests"):
		r.python = false
	case strings.HasPrefix(s, "All tests passed."):
		r.c.verdict("All tests passed.")
	case r.python:
		r.py.line(b)
		// The verdict is the script's own last line, not pytest's.
		r.c.res.Verdict = nil
	case strings.HasPrefix(s, "  PASS  "), strings.HasPrefix(s, "  FAIL  "), strings.HasPrefix(s, "  SKIP  "):
		r.example(s)
	}
}

// example reads "  SKIP  name  (not in RDNA whitelist, arch: …)".
func (r *runTests) example(s string) {
	word, rest := s[2:6], strings.TrimSpace(s[8:])
	name, note, _ := strings.Cut(rest, " ")
	if len(r.c.res.Examples) < maxTests {
		r.c.res.Examples = append(r.c.res.Examples, bench.Example{Result: word, Name: said(name), Note: said(note)})
	}
	r.c.current(rest)
}

func (r *runTests) close(exit *int) { r.py.close(exit) }
