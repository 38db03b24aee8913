package family

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// ErrNoPreset is wrapped when a family has no preset of the name asked for.
var ErrNoPreset = errors.New("no such preset")

// Find gives the preset called name.
func (f Family) Find(name string) (Preset, error) {
	names := make([]string, 0, len(f.Presets))
	for _, p := range f.Presets {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Preset{}, fmt.Errorf("family %s: %w: %q; it has %s", f.Name, ErrNoPreset, name, strings.Join(names, ", "))
}

// Variant tells which variant of the harness a file is, from its text. When
// none fits the first is taken and sure is false.
func (f Family) Variant(harness []byte) (name string, sure bool) {
	text := string(harness)
	for _, v := range f.Variants {
		if len(v.Has)+len(v.Lacks) > 0 && v.fits(text) {
			return v.Name, true
		}
	}
	if len(f.Variants) > 0 {
		return f.Variants[0].Name, false
	}
	return "", false
}

func (v Variant) fits(text string) bool {
	for _, s := range v.Has {
		if !strings.Contains(text, s) {
			return false
		}
	}
	for _, s := range v.Lacks {
		if strings.Contains(text, s) {
			return false
		}
	}
	return true
}

func (f Family) variant(name string) (Variant, error) {
	if len(f.Variants) == 0 && name == "" {
		return Variant{}, nil
	}
	for i, v := range f.Variants {
		if v.Name == name || name == "" && i == 0 {
			return v, nil
		}
	}
	return Variant{}, fmt.Errorf("family %s: no harness variant %q", f.Name, name)
}

// Preset fills in one preset. A preset that walks a focus set needs
// Params.Cell, see Sequence; a missing parameter is an error that names it.
func (f Family) Preset(name string, p Params) (Command, error) {
	pre, err := f.Find(name)
	if err != nil {
		return Command{}, err
	}
	b := builder{f: f, pre: pre, p: p}
	return b.build()
}

// Sequence is Preset for presets that walk a focus set: one command per cell of
// the set, in order. For any other preset it holds the one command.
func (f Family) Sequence(name string, p Params) ([]Command, error) {
	pre, err := f.Find(name)
	if err != nil {
		return nil, err
	}
	if pre.Set == "" || p.Cell != "" {
		c, err := f.Preset(name, p)
		if err != nil {
			return nil, err
		}
		return []Command{c}, nil
	}
	set, err := f.FocusSet(pre.Set)
	if err != nil {
		return nil, err
	}
	var out []Command
	for _, key := range set.Keys {
		p.Cell = key
		c, err := f.Preset(name, p)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// FocusSet gives the focus set called name.
func (f Family) FocusSet(name string) (FocusSet, error) {
	for _, s := range f.FocusSets {
		if s.Name == name {
			return s, nil
		}
	}
	return FocusSet{}, fmt.Errorf("family %s: no focus set %q", f.Name, name)
}

// Override replaces the argv and adds to the environment of a preset, or adds a
// preset of kind script when the family has none of that name. It returns the
// changed family; f stays as it was.
func (f Family) Override(name string, argv []string, env map[string]string) Family {
	presets := append([]Preset(nil), f.Presets...)
	f.Presets = presets
	for i := range presets {
		if presets[i].Name != name {
			continue
		}
		if len(argv) > 0 {
			presets[i].Argv = append([]string(nil), argv...)
		}
		merged := map[string]string{}
		for k, v := range presets[i].Env {
			merged[k] = v
		}
		for k, v := range env {
			merged[k] = v
		}
		presets[i].Env = merged
		return f
	}
	f.Presets = append(presets, Preset{Name: name, Title: "from task.toml", Kind: KindScript,
		Argv: append([]string(nil), argv...), Env: env, Timeout: "60m", Expect: "none"})
	return f
}

type builder struct {
	f   Family
	pre Preset
	p   Params
	at  map[string]string
}

func (b *builder) build() (Command, error) {
	fail := func(err error) (Command, error) {
		return Command{}, fmt.Errorf("family %s, preset %s: %w", b.f.Name, b.pre.Name, err)
	}
	if b.p.Cell != "" {
		at, err := b.f.ParseKey(b.p.Cell)
		if err != nil {
			return fail(err)
		}
		b.at = at
	}
	c := Command{Preset: b.pre.Name, Kind: b.pre.Kind, Parser: b.pre.Parser}
	if c.Parser == "" && b.pre.Kind == KindHarness {
		c.Parser = b.f.Harness.Parser
	}
	if b.pre.Timeout != "" {
		d, err := time.ParseDuration(b.pre.Timeout)
		if err != nil {
			return fail(fmt.Errorf("timeout: %w", err))
		}
		c.Timeout = d
	}
	var err error
	if c.Cwd, err = b.root(b.pre.Root); err != nil {
		return fail(err)
	}
	for _, a := range b.pre.Argv {
		s, err := b.fill(a)
		if err != nil {
			return fail(err)
		}
		c.Argv = append(c.Argv, s)
	}
	if len(c.Argv) == 0 {
		return fail(errors.New("it has no command here: set presets." + b.pre.Name + ".argv in task.toml"))
	}
	if c.Env, err = b.env(); err != nil {
		return fail(err)
	}
	if err := b.expect(&c); err != nil {
		return fail(err)
	}
	return c, nil
}

// root is the folder a root name stands for. The working tree is the default.
func (b *builder) root(name string) (string, error) {
	if name == "" || name == "worktree" {
		if b.p.Worktree == "" {
			return "", errors.New("the worktree path is not given")
		}
		return b.p.Worktree, nil
	}
	if dir := b.p.Roots[name]; dir != "" {
		return dir, nil
	}
	return "", fmt.Errorf("it runs in the %s checkout, whose folder is not given", name)
}

func (b *builder) env() ([]string, error) {
	env := map[string]string{"HIP_VISIBLE_DEVICES": strconv.Itoa(b.p.GPU), "PYTHONUNBUFFERED": "1"}
	for k, v := range b.pre.Env {
		s, err := b.fill(v)
		if err != nil {
			return nil, fmt.Errorf("env %s: %w", k, err)
		}
		env[k] = s
	}
	out := make([]string, 0, len(env))
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	sort.Strings(out)
	return out, nil
}

func (b *builder) expect(c *Command) error {
	v, err := b.f.variant(b.p.Variant)
	if err != nil {
		return err
	}
	switch b.pre.Expect {
	case "cell":
		if b.p.Cell == "" {
			return errors.New("it needs a cell")
		}
		c.Expected = []string{b.p.Cell}
	case "all":
		cells, err := b.f.Expand(b.p.Variant)
		if err != nil {
			return err
		}
		for _, cell := range cells {
			if matches(b.pre.Where, cell.At) {
				c.Expected = append(c.Expected, cell.Key)
			}
		}
	}
	if b.pre.Extra {
		c.ExpectedExtra = v.ExtraRows
		if b.pre.ExtraRows > 0 {
			c.ExpectedExtra = b.pre.ExtraRows
		}
	}
	return nil
}

func (b *builder) fill(s string) (string, error) {
	return fill(s, func(name string) (string, bool) {
		if axis, ok := strings.CutSuffix(name, ":flag"); ok {
			flag, ok := b.f.axis(axis).Flags[b.at[axis]]
			return flag, ok
		}
		if v, ok := b.at[name]; ok {
			return v, v != ""
		}
		v := b.builtin(name)
		return v, v != ""
	})
}

func (b *builder) builtin(name string) string {
	switch name {
	case "harness":
		return b.f.Harness.Path
	case "kernel":
		if b.p.Kernel != "" {
			return b.p.Kernel
		}
		return b.f.Profile.Kernel
	case "gpu":
		return strconv.Itoa(b.p.GPU)
	case "worktree":
		return b.p.Worktree
	case "bundle":
		return b.p.Bundle
	case "run":
		return b.p.RunID
	case "before":
		return b.p.Before
	case "after":
		return b.p.After
	case "class":
		return b.p.Class
	case "python":
		if b.p.Python != "" {
			return b.p.Python
		}
		return "python3"
	default:
		return b.p.Roots[name]
	}
}

// fill replaces every {name} in s. An unknown or empty name is an error.
func fill(s string, value func(string) (string, bool)) (string, error) {
	var out strings.Builder
	for {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			out.WriteString(s)
			return out.String(), nil
		}
		end := strings.IndexByte(s[open:], '}')
		if end < 0 {
			return "", fmt.Errorf("%q: { without }", s)
		}
		name := s[open+1 : open+end]
		v, ok := value(name)
		if !ok {
			return "", fmt.Errorf("nothing given for {%s}", name)
		}
		out.WriteString(s[:open])
		out.WriteString(v)
		s = s[open+end+1:]
	}
}
