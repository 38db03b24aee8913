package family

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Problem is one thing Lint found. Fatal problems make Parse refuse the file.
type Problem struct {
	Fatal bool   `json:"fatal"`
	Text  string `json:"text"`
	near  string // a quoted word of the file, to find the line
}

var placeholders = []string{"harness", "kernel", "gpu", "worktree", "bundle", "run", "python", "before", "after", "class"}

// Lint checks what the types can not: references between parts, conditions,
// argv placeholders, coverage of cells by regimes, gates for every dtype.
func Lint(f Family) []Problem {
	l := &linter{f: f}
	l.head()
	l.axes()
	l.cells()
	l.regimes()
	l.gates()
	l.presets()
	l.rest()
	return l.out
}

type linter struct {
	f   Family
	out []Problem
}

func (l *linter) bad(near, format string, args ...any) {
	l.out = append(l.out, Problem{Fatal: true, Text: fmt.Sprintf(format, args...), near: near})
}

func (l *linter) warn(near, format string, args ...any) {
	l.out = append(l.out, Problem{Text: fmt.Sprintf(format, args...), near: near})
}

func (l *linter) head() {
	if l.f.SchemaVersion != Schema {
		l.bad("", "schema = %d, expected %d", l.f.SchemaVersion, Schema)
	}
	for _, part := range []struct {
		what  string
		empty bool
	}{
		{"title", l.f.Title == ""}, {"archs", len(l.f.Archs) == 0}, {"dtypes", len(l.f.Dtypes) == 0},
		{"presets", len(l.f.Presets) == 0}, {"bar.text", l.f.Bar.Text == ""},
	} {
		if part.empty {
			l.bad("", "%s is missing", part.what)
		}
	}
	for _, a := range l.f.Archs {
		if !strings.HasPrefix(a, "gfx") {
			l.bad(a, "arch %q: expected a gfx name such as gfx950", a)
		}
	}
}

func (l *linter) axes() {
	seen := map[string]bool{}
	for _, a := range l.f.Axes {
		switch {
		case a.Name == "" || strings.ContainsAny(a.Name, "{}: "):
			l.bad(a.Name, "axis %q: a name without blanks, colons and braces is expected", a.Name)
		case seen[a.Name]:
			l.bad(a.Name, "axis %s is there twice", a.Name)
		case a.Kind != "int" && a.Kind != "word":
			l.bad(a.Name, "axis %s: kind %q, expected int or word", a.Name, a.Kind)
		case a.Kind == "word" && len(a.Words) == 0:
			l.bad(a.Name, "axis %s: a word axis needs its words", a.Name)
		}
		seen[a.Name] = true
		for w := range a.Flags {
			if a.Kind == "word" && !slices.Contains(a.Words, w) {
				l.bad(w, "axis %s: a flag for %q, which is not one of its words", a.Name, w)
			}
		}
	}
}

func (l *linter) known(axis string) bool {
	for _, a := range l.f.Axes {
		if a.Name == axis {
			return true
		}
	}
	return false
}

func (l *linter) cells() {
	c := l.f.Cells
	if c.Key == "" {
		if len(c.Tables) > 0 {
			l.bad("", "cells.tables without cells.key")
		}
		return
	}
	rows := 0
	for _, name := range c.Loop {
		if name == "row" {
			rows++
			continue
		}
		if !l.known(name) {
			l.bad(name, "cells.loop: %q is no axis", name)
		}
		if len(c.Values[name]) == 0 {
			l.bad(name, "cells.values.%s is missing: cells.loop runs over it", name)
		}
	}
	if rows != 1 && len(c.Tables) > 0 {
		l.bad("row", `cells.loop: "row" is expected once, it is there %d times`, rows)
	}
	for _, name := range c.Columns {
		if !l.known(name) {
			l.bad(name, "cells.columns: %q is no axis", name)
		}
	}
	l.variants()
}

func (l *linter) variants() {
	names := []string{""}
	if len(l.f.Variants) > 0 {
		names = names[:0]
	}
	for _, v := range l.f.Variants {
		names = append(names, v.Name)
		for _, t := range v.Tables {
			if !l.hasTable(t) {
				l.bad(v.Name, "variant %s: no table %q", v.Name, t)
			}
		}
	}
	for _, name := range names {
		l.variantCells(name)
	}
}

// variantCells expands one variant: every key is unique, reads back and falls
// into a regime. One fault a variant is enough.
func (l *linter) variantCells(name string) {
	cells, err := l.f.Expand(name)
	if err != nil {
		l.bad(name, "%v", err)
		return
	}
	seen := make(map[string]bool, len(cells))
	for _, c := range cells {
		if seen[c.Key] {
			l.bad("", "variant %q: cell %s comes out twice", name, c.Key)
			return
		}
		seen[c.Key] = true
		at, err := l.f.ParseKey(c.Key)
		if err != nil {
			l.bad("", "%v", err)
			return
		}
		if len(l.f.Regimes) > 0 && l.f.regime(at) == "" {
			l.bad("", "no regime takes cell %s", c.Key)
			return
		}
	}
}

func (l *linter) hasTable(name string) bool {
	for _, t := range l.f.Cells.Tables {
		if t.Name == name {
			return true
		}
	}
	return false
}

func (l *linter) regimes() {
	seen := map[string]bool{}
	for _, r := range l.f.Regimes {
		if r.Name == "" || seen[r.Name] {
			l.bad(r.Name, "regime %q: a name of its own is expected", r.Name)
		}
		seen[r.Name] = true
		l.where("regime "+r.Name, r.Name, r.Where)
	}
}

func (l *linter) where(who, near string, where map[string]string) {
	for axis, cond := range where {
		if !l.known(axis) {
			l.bad(near, "%s: %q is no axis", who, axis)
		}
		if _, err := condition(cond, "0"); err != nil {
			l.bad(near, "%s: %v", who, err)
		}
	}
}

func (l *linter) gates() {
	for _, g := range l.f.Gates {
		if !slices.Contains([]string{"<", "<=", ">", ">="}, g.Op) {
			l.bad(g.Metric, "gate %s: op %q, expected < <= > or >=", g.Metric, g.Op)
		}
		for _, d := range g.Dtypes {
			if !slices.Contains(l.f.Dtypes, d) {
				l.bad(g.Metric, "gate %s: dtype %q is not in dtypes", g.Metric, d)
			}
		}
	}
	for _, d := range l.f.Dtypes {
		if len(l.f.GatesFor(d)) == 0 {
			l.warn(d, "no gate for dtype %s: its correctness is decided by the harness's own status only", d)
		}
	}
}

func (l *linter) presets() {
	seen := map[string]bool{}
	for _, p := range l.f.Presets {
		if p.Name == "" || seen[p.Name] {
			l.bad(p.Name, "preset %q: a name of its own is expected", p.Name)
		}
		seen[p.Name] = true
		l.preset(p)
	}
}

func (l *linter) preset(p Preset) {
	if !slices.Contains([]string{KindHarness, KindPytest, KindScript, KindFlyprof}, p.Kind) {
		l.bad(p.Name, "preset %s: kind %q, expected harness, pytest, script or flyprof", p.Name, p.Kind)
	}
	if !slices.Contains([]string{"all", "cell", "none"}, p.Expect) {
		l.bad(p.Name, "preset %s: expect %q, expected all, cell or none", p.Name, p.Expect)
	}
	if d, err := time.ParseDuration(p.Timeout); err != nil || d <= 0 {
		l.bad(p.Name, "preset %s: timeout %q, expected a duration such as 90m", p.Name, p.Timeout)
	}
	if p.Kind == KindHarness && p.Parser == "" && l.f.Harness.Parser == "" {
		l.bad(p.Name, "preset %s: no parser, neither here nor in harness", p.Name)
	}
	if p.Expect == "all" && l.f.Cells.Key == "" {
		l.bad(p.Name, "preset %s: expect all, but the family has no cells", p.Name)
	}
	if p.Set != "" {
		if _, err := l.f.FocusSet(p.Set); err != nil {
			l.bad(p.Name, "preset %s: %v", p.Name, err)
		}
	}
	l.where("preset "+p.Name, p.Name, p.Where)
	for _, a := range p.Argv {
		l.placeholder(p, a)
	}
	for _, v := range p.Env {
		l.placeholder(p, v)
	}
}

func (l *linter) placeholder(p Preset, s string) {
	_, err := fill(s, func(name string) (string, bool) {
		axis, isFlag := strings.CutSuffix(name, ":flag")
		if isFlag {
			return "x", len(l.f.axis(axis).Flags) > 0
		}
		if l.known(name) {
			return "x", true
		}
		return "x", slices.Contains(placeholders, name)
	})
	if err != nil {
		l.bad(p.Name, "preset %s: argv: %v", p.Name, err)
	}
}

func (l *linter) rest() {
	for _, s := range l.f.FocusSets {
		for _, key := range s.Keys {
			if _, err := l.f.ParseKey(key); err != nil {
				l.bad(key, "focus set %s: %v", s.Name, err)
			}
		}
	}
	if e := l.f.Profile.Evidence; e != EvidenceFlyprof && e != EvidenceROCmReport {
		l.bad(e, "profile.evidence %q, expected %s or %s", e, EvidenceFlyprof, EvidenceROCmReport)
	}
	for _, g := range l.f.Surface.Edit {
		if _, err := path.Match(g, "x"); err != nil || path.IsAbs(g) || strings.HasPrefix(g, "..") {
			l.bad(g, "surface.edit %q: expected a glob inside the worktree", g)
		}
	}
	if len(l.f.Judges) == 0 {
		l.warn("", "no judge files: the gate seals bind nothing but the plan")
	}
	if len(l.f.RoundZero) == 0 {
		l.warn("", "no round_zero deliverables")
	}
}
