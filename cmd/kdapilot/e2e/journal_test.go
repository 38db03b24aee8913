package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// Every byte of the journal counts: whichever is changed, the check fails and
// names the line.
func TestJournalNamesTheLineOfAnyFlippedByte(t *testing.T) {
	t.Parallel()
	p := scratch(t)
	for i := range 3 {
		if out, code := p.cli("run", "--gpu", "43", "-C", p.tree, "--", "echo", fmt.Sprint(i)); code != 0 {
			t.Fatalf("run: exit %d\n%s", code, out)
		}
	}
	name := p.path(".humanize/kdapilot/journal.jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines = lines[:len(lines)-1]
	if len(lines) < 3 {
		t.Fatalf("only %d records:\n%s", len(lines), whole)
	}
	verify := func() (string, int) { return p.cli("show", "journal", p.tree, "--verify") }
	if out, code := verify(); code != 0 || !strings.Contains(out, "chain holds") {
		t.Fatalf("before: exit %d\n%s", code, out)
	}
	try := func(what string, changed []byte, want string) {
		t.Helper()
		if err := os.WriteFile(name, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		if out, code := verify(); code != 1 || !strings.Contains(out, "journal.jsonl:"+want) {
			t.Errorf("%s: exit %d, want 1 and line %s\n%s", what, code, want, out)
		}
	}
	dice := rand.New(rand.NewPCG(1, 2))
	start := 0
	for n, l := range lines {
		for _, at := range []int{0, len(l) - 2, dice.IntN(len(l) - 1), dice.IntN(len(l) - 1)} {
			changed := bytes.Clone(whole)
			changed[start+at] ^= 1 << dice.IntN(7)
			try(fmt.Sprintf("line %d, byte %d", n+1, at), changed, fmt.Sprintf("%d:", n+1))
		}
		start += len(l)
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	try("first record gone", join(lines[1:]...), "1:")
	try("middle record gone", join(lines[0], join(lines[2:]...)), "2:")
	try("two records swapped", join(lines[1], lines[0], join(lines[2:]...)), "1:")
	try("a record twice", join(lines[0], lines[0], join(lines[1:]...)), "2:")
	try("an empty record between", join(lines[0], []byte("\n"), join(lines[1:]...)), "2:")
}

// A changed journal is red in a cockpit that is open.
func TestABrokenJournalTurnsRedWhileOpen(t *testing.T) {
	t.Parallel()
	p := scratch(t)
	if out, code := p.cli("run", "--gpu", "44", "-C", p.tree, "--", "echo", "x"); code != 0 {
		t.Fatalf("run: exit %d\n%s", code, out)
	}
	s := p.open()
	s.Wait("round 3/12", "clean")
	p.put(".humanize/kdapilot/journal.jsonl", strings.Replace(p.journal(), "echo", "edho", 1))
	s.Wait("journal chain broken")
	quit(t, s)
}
