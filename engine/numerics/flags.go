package numerics

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Flags are the words a command line was given, unread. Empty means default.
type Flags struct {
	// Shape is "B1 H8 Hkv2 S2048 D128", or "M64 N512 K7168" for a GEMM.
	Shape     string
	Causal    bool
	Inputs    string
	Scales    string
	Values    string
	Output    string
	Reference string
	// Designs are names, separated by commas or given one by one.
	Designs []string
	// MaxErr, MinCos and LogitsDiff replace the gate; any of them set replaces
	// all three.
	MaxErr, MinCos, LogitsDiff string
	Seed                       uint64
	Workers                    int
}

// DefaultShape and DefaultGEMMShape are used when no shape is given.
const (
	DefaultShape     = "B1 H8 S2048 D128"
	DefaultGEMMShape = "M64 N512 K7168"
)

// Attention reads the flags of an attention probe. The error names every flag
// that is wrong, one a line.
func (f Flags) Attention() (AttentionConfig, error) {
	c := AttentionConfig{
		Causal: f.Causal, Scales: ScaleMode(lower(f.Scales)), Values: Distribution(lower(f.Values)),
		Reference: Reference(lower(f.Reference)), Seed: f.Seed, Workers: f.Workers,
	}
	var errs problems
	var err error
	c.Shape, err = ParseShape(orDefault(f.Shape, DefaultShape))
	errs.add("shape", err)
	c.Inputs, err = optionalFormat(f.Inputs)
	errs.add("inputs", err)
	c.Output, err = optionalFormat(f.Output)
	errs.add("output", err)
	for _, name := range words(f.Designs) {
		d, err := ParseDesign(name)
		errs.add("designs", err)
		c.Designs = append(c.Designs, d)
	}
	c.Gate, err = f.gate()
	errs.add("gate", err)
	return c, errs.orCheck(c.Check)
}

// GEMM reads the flags of an MXFP4 GEMM probe; Causal, Inputs and Scales must
// be left out.
func (f Flags) GEMM() (GEMMConfig, error) {
	c := GEMMConfig{
		Values: Distribution(lower(f.Values)), Reference: Reference(lower(f.Reference)),
		Seed: f.Seed, Workers: f.Workers,
	}
	var errs problems
	if f.Causal || f.Inputs != "" || f.Scales != "" {
		errs.add("flags", errors.New("causal, inputs and scales belong to the attention probe; formats of a GEMM are in its designs"))
	}
	v, err := parseDims(orDefault(f.Shape, DefaultGEMMShape), []string{"m", "n", "k"}, "M64 N512 K7168")
	errs.add("shape", err)
	c.M, c.N, c.K = v["m"], v["n"], v["k"]
	c.Output, err = optionalFormat(f.Output)
	errs.add("output", err)
	for _, name := range words(f.Designs) {
		d, err := ParseGEMMDesign(name)
		errs.add("designs", err)
		c.Designs = append(c.Designs, d)
	}
	c.Gate, err = f.gate()
	errs.add("gate", err)
	return c, errs.orCheck(c.Check)
}

// ParseShape reads "B1 H8 Hkv2 S2048 D128": letters in any case and any order,
// separated by blanks, commas or "x", with or without "=". Hkv may be left out
// and is then H; all others are needed.
func ParseShape(s string) (Shape, error) {
	v, err := parseDims(s, []string{"b", "h", "s", "d", "hkv"}, "B1 H8 S2048 D128, with Hkv2 for grouped heads")
	if err != nil {
		return Shape{}, err
	}
	sh := Shape{Batch: v["b"], Heads: v["h"], KVHeads: v["hkv"], SeqLen: v["s"], HeadDim: v["d"]}
	if _, given := v["hkv"]; !given {
		sh.KVHeads = sh.Heads
	}
	if err := sh.check(); err != nil {
		return Shape{}, fmt.Errorf("shape %.80q: %w", s, err)
	}
	return sh, nil
}

// parseDims reads letter-number pairs. Only "hkv" may be missing.
func parseDims(s string, names []string, form string) (map[string]int, error) {
	got := map[string]int{}
	bad := func(format string, args ...any) (map[string]int, error) {
		return map[string]int{}, fmt.Errorf("shape %.80q: %s; want %s", s, fmt.Sprintf(format, args...), form)
	}
	if len(s) > 256 {
		return bad("it is %d bytes long", len(s))
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \t,x", r) }) {
		at := strings.IndexAny(w, "=0123456789+-")
		if at <= 0 {
			return bad("%q is not a letter and a number", w)
		}
		name, number := w[:at], strings.TrimPrefix(w[at:], "=")
		if !contains(names, name) {
			return bad("%q is not one of %s", name, strings.Join(names, ", "))
		}
		if _, twice := got[name]; twice {
			return bad("%q is given twice", name)
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return bad("%q of %q is not a number of 1 or more", number, name)
		}
		got[name] = n
	}
	for _, n := range names {
		if _, ok := got[n]; !ok && n != "hkv" {
			return bad("%q is missing", n)
		}
	}
	return got, nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// gate reads the limits; none set gives the default gate.
func (f Flags) gate() (Gate, error) {
	var g Gate
	var errs []error
	for _, l := range []struct {
		name, text string
		to         **float64
	}{{"max_err", f.MaxErr, &g.MaxErr}, {"min_cos", f.MinCos, &g.MinCos}, {"logits_diff", f.LogitsDiff, &g.LogitsDiff}} {
		if l.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(l.text), 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %.40q is not a number", l.name, l.text))
			continue
		}
		*l.to = &v
	}
	return g, errors.Join(errs...)
}

func optionalFormat(s string) (Format, error) {
	if strings.TrimSpace(s) == "" {
		return noFormat, nil
	}
	return ParseFormat(s)
}

func orDefault(s, def string) string {
	if strings.TrimSpace(s) == "" {
		return def
	}
	return s
}

func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// words splits at commas and drops empty ones.
func words(list []string) []string {
	var out []string
	for _, l := range list {
		for w := range strings.SplitSeq(l, ",") {
			if w = strings.TrimSpace(w); w != "" {
				out = append(out, w)
			}
		}
	}
	return out
}

// problems collects the errors of several flags.
type problems []error

func (p *problems) add(flag string, err error) {
	if err != nil {
		*p = append(*p, fmt.Errorf("%s: %w", flag, err))
	}
}

// orCheck looks at the whole only when each flag could be read by itself, so
// that one mistake is not reported twice.
func (p problems) orCheck(check func() error) error {
	if len(p) > 0 {
		return errors.Join(p...)
	}
	return check()
}
