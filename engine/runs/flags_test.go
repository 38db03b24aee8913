package runs

import (
	"strings"
	"testing"
)

func table() FlagTable {
	return FlagTable{Path: "tests/kernels/t.py", First: 23, Last: 35, Flags: []Flag{
		{Names: []string{"--num_kv_heads"}, Line: 24}, {Names: []string{"--num_heads"}, Line: 25}, {Names: []string{"--iters"}, Line: 29},
		{Names: []string{"-q", "--quant"}, Line: 30}, {Names: []string{"-dim"}, Line: 31}, {Names: []string{"--causal"}, Line: 27, Negatable: true},
	}}
}

func TestCheckFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // "" when nothing is refused
	}{
		{[]string{"--iters", "5", "--causal", "--no-causal", "-q", "4", "-dim", "7168,256"}, ""},
		{[]string{"--iters=5", "--it", "3", "-q4", "--help", "-h"}, ""},
		{[]string{"--seed", "-1"}, "no flag --seed and none like it"},
		{[]string{"--iter_", "1"}, "nearest is --iters (line 29)"},
		{[]string{"--num-heads", "8"}, "no flag --num-heads, nearest is --num_heads (line 25)"},
		{[]string{"--num", "8"}, "--num could be --num_kv_heads or --num_heads"},
		{[]string{"--no-causul"}, "nearest is --no-causal (line 27)"},
		{[]string{"--", "--extra"}, ""},
		{[]string{"-1", "-", "x"}, ""},
		{[]string{"--extra", "--bias"}, "no flag --bias"},
	} {
		err := table().Refuse(table().Check(c.args))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.args, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "tests/kernels/t.py:23: ")):
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
	open := table()
	open.Open = "subcommands"
	if got := open.Check([]string{"--extra"}); got != nil {
		t.Errorf("an open table refuses %v", got)
	}
}
