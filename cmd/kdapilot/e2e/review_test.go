package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

// A copied folder is looked at and left exactly as it was, and every key that
// would do something says that it does not.
func TestReviewLeavesTheCopyAlone(t *testing.T) {
	t.Parallel()
	p := world(t)
	copied := filepath.Join(p.dir, "laptop")
	if err := os.Mkdir(copied, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-r", p.path(".humanize"), copied).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	before := inventory(t, copied)
	s := p.start(screen.Options{Argv: []string{binary, "review", copied}})
	s.Wait("REVIEW", "no git here", "ended: complete")
	readPlan(s)
	for _, k := range []struct{ tab, key, says string }{
		{"1", "o", "only be read"}, {"1", "S", "read-only"}, {"1", "r", "read-only"}, {"2", "A", "read-only"}, {"5", "R", "read-only"}, {"6", "x", "read-only"}, {"6", "r", "read-only"},
		{"9", "c", "read-only"}, {"9", "F", "read-only"},
	} {
		s.Keys(k.tab)
		s.Wait("[" + k.tab + " ")
		s.Keys("\x1b[A") // takes a message off the last line, if one is left
		s.Until("the last line without a message", func(text string) bool { return !strings.Contains(lastLine(text), "! ") })
		s.Keys(k.key)
		s.Until(fmt.Sprintf("key %s on tab %s to be refused", k.key, k.tab), func(text string) bool {
			return strings.Contains(lastLine(text), "! ") && strings.Contains(lastLine(text), k.says)
		})
	}
	// By its name it is refused as well.
	s.Keys(":")
	s.Wait("palette")
	s.Type("run sh -c 'touch made-by-run'")
	s.Keys("\r")
	s.Gone("palette")
	s.Rest(quiet)
	quit(t, s)
	for name, now := range inventory(t, copied) {
		if was, ok := before[name]; !ok || was != now {
			t.Errorf("%s: was %q, is %q", name, was, now)
		}
		delete(before, name)
	}
	for name := range before {
		t.Errorf("%s is gone", name)
	}
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n ")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// inventory is every file below dir with its mode, time and contents.
func inventory(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[path] += fmt.Sprintf(" %x", sha256.Sum256(b))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
