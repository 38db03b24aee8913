package keys

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the README's key table anew")

// TestREADME holds the README's key table to the code.
func TestREADME(t *testing.T) {
	const path, begin, end = "../../README.md", "<!-- keys -->\n", "<!-- /keys -->"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	got, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the marks around its key table", path)
	}
	want := strings.TrimSpace(Standard().Markdown()) + "\n"
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("the key table in %s is old: run go test ./ui/keys -update", path)
	}
	if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
