package runs

import (
	"fmt"
	"strings"
)

// Flag is one option a program accepts.
type Flag struct {
	// Names are all its spellings with their dashes, for example "-q" and
	// "--quant".
	Names []string `json:"names"`
	// Line is where it is declared.
	Line int `json:"line"`
	// Negatable is true when "--no-x" exists beside "--x".
	Negatable bool `json:"negatable,omitempty"`
}

// FlagTable are the options of a program as its own text declares them.
type FlagTable struct {
	// Path is the file or help text they were read from; First and Last are the
	// lines of the block that declares them.
	Path  string `json:"path"`
	First int    `json:"first"`
	Last  int    `json:"last"`
	Flags []Flag `json:"flags"`
	// Open says why the program may accept more than was seen; "" when the table
	// is whole. Nothing is refused against an open table.
	Open string `json:"open,omitempty"`
}

// UnknownFlag is a word of a command that the program does not accept.
type UnknownFlag struct {
	Word string
	// Nearest is the flag that looks most like it, "" when none does.
	Nearest Flag
	// Ambiguous lists the flags the word abbreviates.
	Ambiguous []string
}

// Check lists the flags among args that the table does not have, as argparse
// reads them: unique abbreviations and "--x=value" are fine, "--" ends flags.
func (t FlagTable) Check(args []string) []UnknownFlag {
	var out []UnknownFlag
	if t.Open != "" {
		return nil
	}
	for _, a := range args {
		if a == "--" {
			break
		}
		name, _, _ := strings.Cut(a, "=")
		if !isFlag(name) || name == "-h" || name == "--help" {
			continue
		}
		fits := t.fit(name)
		if len(fits) == 1 {
			continue
		}
		u := UnknownFlag{Word: name}
		if len(fits) > 1 {
			u.Ambiguous = fits
		} else {
			u.Nearest = t.nearest(name)
		}
		out = append(out, u)
	}
	return out
}

// isFlag tells a flag from a value: "-1" and "-" are values.
func isFlag(s string) bool {
	bare := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "-")
	if len(bare) == len(s) {
		return false
	}
	s = bare
	return len(s) > 0 && (s[0] == '_' || s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
}

// fit lists the spellings a word means: itself, or those it abbreviates.
func (t FlagTable) fit(word string) []string {
	var short []string
	var abbreviated []string
	for _, f := range t.Flags {
		hit := ""
		for _, n := range f.spellings() {
			switch {
			case n == word:
				return []string{n}
			case strings.HasPrefix(n, word) && hit == "":
				hit = n
			case len(n) == 2 && !strings.HasPrefix(word, "--") && strings.HasPrefix(word, n):
				short = append(short, n) // "-q4" is "-q 4"
			}
		}
		if hit != "" {
			abbreviated = append(abbreviated, hit)
		}
	}
	if len(abbreviated) == 0 {
		return short[:min(len(short), 1)]
	}
	return abbreviated
}

func (f Flag) spellings() []string {
	out := f.Names
	for _, n := range f.Names {
		if rest, ok := strings.CutPrefix(n, "--"); ok && f.Negatable {
			out = append(out[:len(out):len(out)], "--no-"+rest)
		}
	}
	return out
}

// nearest is the flag with the fewest edits to word, else one that begins with
// the same letters; the zero Flag when none is like it.
func (t FlagTable) nearest(word string) Flag {
	best, least := Flag{}, len(word)/2+1
	for _, f := range t.Flags {
		for _, n := range f.spellings() {
			if d := edits(word, n); d < least {
				best, least = Flag{Names: []string{n}, Line: f.Line}, d
			}
		}
	}
	const same = len("--abc")
	for _, f := range t.Flags {
		for _, n := range f.spellings() {
			if len(best.Names) == 0 && len(word) >= same && strings.HasPrefix(n, word[:same]) {
				best = Flag{Names: []string{n}, Line: f.Line}
			}
		}
	}
	return best
}

// edits is the Levenshtein distance in bytes; "-" and "_" count as one letter,
// since that is the commonest slip.
func edits(a, b string) int {
	a, b = strings.ReplaceAll(a, "-", "_"), strings.ReplaceAll(b, "-", "_")
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// Refuse turns unknown flags into the reason why a run is not started; nil when
// there are none.
func (t FlagTable) Refuse(unknown []UnknownFlag) error {
	if len(unknown) == 0 {
		return nil
	}
	var parts []string
	for _, u := range unknown {
		s := "no flag " + u.Word
		switch {
		case len(u.Ambiguous) > 0:
			s = u.Word + " could be " + strings.Join(u.Ambiguous, " or ")
		case len(u.Nearest.Names) > 0:
			s += fmt.Sprintf(", nearest is %s (line %d)", u.Nearest.Names[0], u.Nearest.Line)
		default:
			s += " and none like it"
		}
		parts = append(parts, s)
	}
	return fmt.Errorf("%s:%d: its flags (lines %d to %d) have %s", t.Path, t.First, t.First, t.Last, strings.Join(parts, "; "))
}
