package harness

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"kdapilot/engine/bench"
)

// pytest reads pytest at every verbosity: one line per test, dots, the quiet
// form without frames, -s with output between a name and its outcome, and
// xdist's order of words.
type pytest struct {
	c       *collector
	index   map[string]int
	pending string
}

func newPytest(c *collector) *pytest { return &pytest{c: c, index: map[string]int{}} }

// outcomes are the words pytest prints after a test's name.
func outcomes() [7]string {
	return [...]string{"PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", "XPASS", "RERUN"}
}

func (p *pytest) line(b []byte) {
	if len(b) == 0 || b[0] == ' ' {
		return
	}
	s := string(b[:min(len(b), maxText)])
	switch {
	case strings.HasPrefix(s, "FAILED ") || strings.HasPrefix(s, "ERROR "):
		if p.resolve(s) {
			return
		}
		p.failure(s)
	case strings.Contains(s, "collected "):
		p.collected(s)
	case p.final(s):
	case strings.Contains(s, "::"):
		p.test(s)
	default:
		p.resolve(s)
	}
}

// collected reads "collected 169 items / 149 deselected / 20 selected".
func (p *pytest) collected(s string) {
	if v, ok := between(s, "/ ", " selected"); ok {
		if i := strings.LastIndex(v, "/ "); i >= 0 {
			v = v[i+2:]
		}
		if n, ok := integer([]byte(strings.TrimSpace(v))); ok {
			p.c.res.Planned = int(n)
			return
		}
	}
	if v, ok := between(s, "collected ", " item"); ok {
		if n, ok := integer([]byte(v)); ok {
			p.c.res.Planned = int(n)
		}
	}
}

// test reads "PATH::test[params] PASSED [  5%]" and "[gw0] [  5%] PASSED ID".
func (p *pytest) test(s string) {
	if strings.HasPrefix(s, "[gw") {
		for _, o := range outcomes() {
			if i := strings.Index(s, "] "+o+" "); i > 0 {
				p.add(s[i+len(o)+3:], o)
				return
			}
		}
	}
	for _, o := range outcomes() {
		i := strings.LastIndex(s, " "+o)
		if i <= 0 {
			continue
		}
		if tail := s[i+1+len(o):]; tail == "" || tail[0] == ' ' {
			if id := strings.TrimSpace(s[:i]); isTestID(id) {
				p.add(id, o)
				return
			}
		}
	}
	if id, _, ok := strings.Cut(s, " "); ok && isTestID(id) {
		p.pending = id
		p.c.current(id)
	}
}

// isTestID: a path, two colons, a name; the path has no blank.
func isTestID(s string) bool {
	i := strings.Index(s, "::")
	return i > 0 && strings.HasSuffix(s[:i], ".py") && strings.IndexByte(s[:i], ' ') < 0
}

// resolve gives a pending name (pytest -s) the outcome at the start of s.
func (p *pytest) resolve(s string) bool {
	if p.pending == "" {
		return false
	}
	for _, o := range outcomes() {
		if s == o || strings.HasPrefix(s, o+" [") || strings.HasPrefix(s, o+" (") {
			p.add(p.pending, o)
			p.pending = ""
			return true
		}
	}
	return false
}

func (p *pytest) add(id, outcome string) {
	id = said(id)
	p.pending = ""
	if i, ok := p.index[id]; ok {
		p.c.res.Tests[i].Outcome = outcome
		return
	}
	if len(p.c.res.Tests) >= maxTests {
		return
	}
	p.index[id] = len(p.c.res.Tests)
	p.c.res.Tests = append(p.c.res.Tests, bench.Test{ID: id, Outcome: outcome})
	p.c.current(id)
}

// failure reads the short summary: "FAILED ID - AssertionError: …".
func (p *pytest) failure(s string) {
	_, rest, _ := strings.Cut(s, " ")
	id, msg, _ := strings.Cut(rest, " - ")
	path, _, _ := strings.Cut(id, "::")
	if !strings.HasSuffix(path, ".py") || strings.IndexByte(path, ' ') >= 0 {
		return
	}
	if id = said(id); len(p.c.res.Failures) >= maxTests {
		return
	}
	p.c.res.Failures = append(p.c.res.Failures, id)
	if i, ok := p.index[id]; ok {
		p.c.res.Tests[i].Message = said(msg)
	}
}

// final reads "=== 1 failed, 19 passed, 149 deselected, 1 warning in 9.40s ===",
// with or without the frame.
func (p *pytest) final(s string) bool {
	t := strings.Trim(s, "= ")
	body, dur, ok := cutLast(t, " in ")
	if !ok || !strings.Contains(dur, "s") {
		return false
	}
	secs, _, _ := strings.Cut(dur, "s")
	sec := numText(secs)
	if !sec.OK {
		return false
	}
	f := bench.Fields{}
	if body != "no tests ran" {
		for _, part := range strings.Split(body, ", ") {
			n, word, ok := strings.Cut(part, " ")
			v, isNum := integer([]byte(n))
			if !ok || !isNum || strings.ContainsAny(word, " :") {
				return false
			}
			switch word {
			case "warning":
				word = "warnings"
			case "error":
				word = "errors"
			}
			f = append(f, bench.Field{Name: said(word), Value: bench.Int(v)})
		}
	}
	f = append(f, bench.Field{Name: "seconds", Value: bench.FromNum(sec)})
	p.c.res.Summary = bench.Obj(f)
	p.c.verdict(t)
	return true
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func (p *pytest) close(exit *int) {
	if p.pending != "" {
		p.c.diag(bench.Red, "the run ended inside %s", p.pending)
	}
}

// readJUnit reads junit XML: durations are only there.
func readJUnit(c *collector, b []byte) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Strict = true
	var cur *bench.Test
	cases := 0
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line, _ := d.InputPos()
			return fmt.Errorf("line %d: want junit XML: %w", line, err)
		}
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "testcase":
				if cases++; cases > maxTests {
					return fmt.Errorf("more than %d test cases", maxTests)
				}
				c.res.Tests = append(c.res.Tests, bench.Test{ID: said(attr(e, "classname") + "::" + attr(e, "name")), Outcome: "PASSED", Seconds: numText(attr(e, "time"))})
				cur = &c.res.Tests[len(c.res.Tests)-1]
			case "failure", "error", "skipped":
				if cur != nil {
					cur.Outcome = map[string]string{"failure": "FAILED", "error": "ERROR", "skipped": "SKIPPED"}[e.Name.Local]
					cur.Message = said(attr(e, "message"))
				}
			}
		case xml.EndElement:
			if e.Name.Local == "testcase" {
				cur = nil
			}
		}
	}
	if cases == 0 {
		return errors.New("want junit XML with at least one testcase")
	}
	for _, t := range c.res.Tests {
		if t.Outcome == "FAILED" || t.Outcome == "ERROR" {
			c.res.Failures = append(c.res.Failures, t.ID)
		}
	}
	return nil
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
