package harness

import (
	"fmt"
	"slices"
	"strings"

	"kdapilot/engine/runs"
	"kdapilot/engine/text"
)

// maxFlags bounds the options taken from one program.
const maxFlags = 500

// ScanFlags reads the options a Python program declares with argparse from its
// source, without running it. What the source does not say literally makes the
// table open: names from variables, parsers that are handed on, subcommands,
// parse_known_args. path is only for the words of a refusal.
func ScanFlags(path string, src []byte) runs.FlagTable {
	s := flagScan{toks: pyTokens(src), t: runs.FlagTable{Path: path}, parsers: map[string]bool{}}
	for i := range s.toks {
		s.at(i)
	}
	if len(s.t.Flags) == 0 && s.t.Open == "" {
		s.open(0, "no add_argument call was seen")
	}
	return s.t
}

type flagScan struct {
	toks []pyTok
	t    runs.FlagTable
	// parsers are the names that hold an ArgumentParser or a group of one.
	parsers map[string]bool
}

func (s *flagScan) open(line int, why string) {
	if s.t.Open != "" {
		return
	}
	if s.t.Open = why; line > 0 {
		s.t.Open = fmt.Sprintf("line %d: %s", line, why)
	}
}

// tok is the token at i; beyond the ends there is nothing.
func (s *flagScan) tok(i int) pyTok {
	if i < 0 || i >= len(s.toks) {
		return pyTok{}
	}
	return s.toks[i]
}

func (s *flagScan) at(i int) {
	t := s.toks[i]
	if t.kind != pyName {
		return
	}
	calls := s.tok(i+1).text == "("
	switch t.text {
	case "ArgumentParser", "add_argument_group", "add_mutually_exclusive_group":
		s.assigned(i)
	case "parse_known_args", "parse_known_intermixed_args":
		s.open(t.line, t.text+" lets other flags pass")
	case "add_subparsers":
		s.open(t.line, "it has subcommands")
	case "parents":
		if s.tok(i+1).text == "=" {
			s.open(t.line, "it inherits flags from another parser")
		}
	case "add_argument":
		if calls {
			s.argument(i)
		}
	default:
		before, after := s.tok(i-1).text, s.tok(i+1).text
		if s.parsers[t.text] && (before == "(" || before == ",") && (after == ")" || after == ",") && s.tok(i-2).kind == pyName {
			s.open(t.line, "the parser is handed on, flags may be added elsewhere")
		}
	}
}

// assigned notes the name in "name = argparse.ArgumentParser(" and the like.
func (s *flagScan) assigned(i int) {
	for k := i - 1; k >= 0 && s.toks[k].line == s.toks[i].line; k-- {
		if s.toks[k].text == "=" && s.tok(k-1).kind == pyName {
			s.parsers[s.toks[k-1].text] = true
			return
		}
	}
}

// argument takes the literal names out of one add_argument call.
func (s *flagScan) argument(i int) {
	line := s.toks[i].line
	f := runs.Flag{Line: line}
	depth, last, literal := 0, i+1, false
	for k := i + 1; k < len(s.toks); k++ {
		t := s.toks[k]
		last = k
		switch t.text {
		case "(", "[", "{":
			if t.kind == pyOther {
				depth++
			}
		case ")", "]", "}":
			if t.kind == pyOther {
				depth--
			}
		case "BooleanOptionalAction":
			f.Negatable = true
		}
		if depth == 0 {
			break
		}
		// Only direct, positional arguments are names.
		if depth == 1 && t.kind == pyString && (s.tok(k-1).text == "(" && k == i+2 || s.tok(k-1).text == "," && literal) {
			literal = true
			if strings.HasPrefix(t.text, "-") {
				f.Names = append(f.Names, text.Line(text.Clip(t.text, 200)))
			}
		}
	}
	s.reach(line, s.tok(last).line)
	if !literal {
		s.variable(i, f)
		return
	}
	if len(f.Names) > 0 && len(s.t.Flags) < maxFlags {
		s.t.Flags = append(s.t.Flags, f)
	}
}

// reach widens the block of lines.
func (s *flagScan) reach(first, last int) {
	if s.t.First == 0 {
		s.t.First = first
	}
	s.t.Last = max(s.t.Last, last)
}

// variable handles add_argument(name, ...) below "for name in (literals):";
// anything else that is not literal can not be known.
func (s *flagScan) variable(i int, f runs.Flag) {
	name := s.tok(i + 2)
	const back = 400 // tokens between the loop and the call
	for k := i - 1; k >= max(0, i-back) && name.kind == pyName; k-- {
		if s.toks[k].text != "for" || s.tok(k+1).text != name.text || s.tok(k+2).text != "in" || s.tok(k+3).kind == pyName {
			continue
		}
		s.reach(s.toks[k].line, s.toks[k].line)
		for j := k + 3; j < i && s.toks[j].text != ":"; j++ {
			if t := s.toks[j]; t.kind == pyString && strings.HasPrefix(t.text, "-") && len(s.t.Flags) < maxFlags {
				s.t.Flags = append(s.t.Flags, runs.Flag{Names: []string{text.Line(text.Clip(t.text, 200))}, Line: t.line, Negatable: f.Negatable})
			}
		}
		s.t.First = min(s.t.First, s.toks[k].line)
		return
	}
	s.open(f.Line, "a flag is named by a variable")
}

// ScanHelp reads the options from the text that --help prints.
func ScanHelp(path string, help []byte) runs.FlagTable {
	t := runs.FlagTable{Path: path}
	n := 0
	for l := range strings.Lines(string(help[:min(len(help), 1<<20)])) {
		n++
		trimmed := strings.TrimLeft(l, " ")
		indent := len(l) - len(trimmed)
		if indent < 1 || indent > 8 || !strings.HasPrefix(trimmed, "-") || len(t.Flags) == maxFlags {
			continue
		}
		f := runs.Flag{Line: n}
		spec, _, _ := strings.Cut(strings.TrimRight(trimmed, "\n"), "  ") // the explanation follows two blanks
		for _, w := range strings.FieldsFunc(spec, func(r rune) bool { return r == ' ' || r == ',' || r == '=' }) {
			if strings.HasPrefix(w, "-") && !slices.Contains(f.Names, w) {
				f.Names = append(f.Names, text.Line(text.Clip(w, 200)))
			}
		}
		if len(f.Names) == 0 {
			continue
		}
		if t.First == 0 {
			t.First = n
		}
		t.Last = n
		t.Flags = append(t.Flags, f)
	}
	if len(t.Flags) == 0 {
		t.Open = "no option in the help text"
	}
	return t
}
