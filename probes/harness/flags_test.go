package harness

import (
	"strings"
	"testing"
)

const flagSource = `#!/usr/bin/env python3
"""A harness. p.add_argument("--in-a-docstring")"""
import argparse

def main():
    p = argparse.ArgumentParser(
        description='it says --nothing (here',
    )
    # p.add_argument("--commented")
    for name in ("--batch", "--seq_len"):
        p.add_argument(name, type=int)
    p.add_argument("-q", '--quant', type=int, default=1,
                   help="see add_argument('--x')")
    p.add_argument("--causal", action=argparse.BooleanOptionalAction)
    g = p.add_mutually_exclusive_group()
    g.add_argument("--dtype", choices=("fp16", "--odd"), default=max("a", "--b"))
    p.add_argument("file", nargs="*")
    args = p.parse_args()
`

func TestScanFlags(t *testing.T) {
	got := ScanFlags("h.py", []byte(flagSource))
	var names []string
	for _, f := range got.Flags {
		names = append(names, strings.Join(f.Names, "/"))
	}
	if s := strings.Join(names, " "); s != "--batch --seq_len -q/--quant --causal --dtype" || got.Open != "" {
		t.Errorf("%s, open %q", s, got.Open)
	}
	if got.First != 10 || got.Last != 17 || !got.Flags[3].Negatable || got.Flags[2].Line != 12 {
		t.Errorf("%+v", got)
	}
	if err := got.Refuse(got.Check([]string{"--batch", "1", "--no-causal", "--in-a-docstring"})); err == nil || !strings.Contains(err.Error(), "h.py:10") {
		t.Error(err)
	}
	for name, c := range map[string]struct{ src, why string }{
		"none":            {"print(1)", "no add_argument"},
		"variable":        {"p.add_argument(NAME)\n", "line 1: a flag is named by a variable"},
		"f-string":        {"p.add_argument(f'--{x}')\n", "named by a variable"},
		"from a list":     {"for n in NAMES:\n  p.add_argument(n)\n", "named by a variable"},
		"known args":      {"p.add_argument('--a')\nx, y = p.parse_known_args()\n", "line 2: parse_known_args"},
		"handed on":       {"p = argparse.ArgumentParser()\np.add_argument('--a')\ncommon(p)\n", "line 3: the parser is handed on"},
		"handed on later": {"p = ArgumentParser()\np.add_argument('--a')\ncommon(1, p)\n", "handed on"},
		"subcommands":     {"p.add_argument('--a')\ns = p.add_subparsers()\n", "subcommands"},
		"parents":         {"p = ArgumentParser(parents=[c])\np.add_argument('--a')\n", "inherits"},
	} {
		if got := ScanFlags("h.py", []byte(c.src)); !strings.Contains(got.Open, c.why) {
			t.Errorf("%s: open %q, want %q", name, got.Open, c.why)
		}
	}
}

func TestScanHelp(t *testing.T) {
	got := ScanHelp("--help", []byte("usage: t.py [-h] [--iters ITERS]\n\noptions:\n  -h, --help            show this\n  --iters ITERS         how --many\n  -q QUANT, --quant QUANT\n                        --not-a-flag\n  --causal, --no-causal\n"))
	var names []string
	for _, f := range got.Flags {
		names = append(names, strings.Join(f.Names, "/"))
	}
	if s := strings.Join(names, " "); s != "-h/--help --iters -q/--quant --causal/--no-causal" || got.First != 4 || got.Last != 8 {
		t.Errorf("%s %+v", s, got)
	}
	if ScanHelp("", []byte("nothing")).Open == "" {
		t.Error("an empty help is whole")
	}
}

func FuzzScanFlags(f *testing.F) {
	f.Add([]byte(flagSource))
	f.Add([]byte("p.add_argument('''--a\n''', \"--b\\\"\", f'--{c}'"))
	f.Add([]byte("for x in ('--a':\n add_argument(x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		g := ScanFlags("x", b)
		for _, f := range g.Flags {
			if len(f.Names) == 0 || strings.ContainsAny(strings.Join(f.Names, ""), "\x1b\n") {
				t.Fatalf("%+v", f)
			}
		}
		lines := 1 + strings.Count(string(b), "\n")
		if len(g.Flags) == 0 && g.Open == "" || len(g.Flags) > maxFlags || g.First > g.Last || g.Last > lines {
			t.Fatalf("%+v of %d lines", g, lines)
		}
		ScanHelp("x", b)
	})
}
