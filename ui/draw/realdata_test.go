package draw

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dataDir returns the folder of sample data, or skips the test.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("KDAPILOT_DATA")
	if dir == "" {
		root, err := filepath.Abs(".")
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			if root == filepath.Dir(root) {
				t.Fatal("no go.mod above the test")
			}
			root = filepath.Dir(root)
		}
		dir = filepath.Join(root, "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED: no sample data (set KDAPILOT_DATA): %v", err)
	}
	return dir
}

// TestRealMarkdown draws every plan, tracker and review of the sample data at
// four widths: exact lines, and no letter of the source missing.
func TestRealMarkdown(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(dataDir(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || seen[string(b)] {
			return err
		}
		seen[string(b)] = true
		src := string(b)
		want := letters(src)
		for _, w := range []int{20, 40, 80, 200} {
			lines := Texts(Markdown(src, w, look()))
			exact(t, lines, w)
			got := letters(strings.Join(lines, "\n"))
			for r, n := range want {
				if got[r] < n {
					t.Errorf("%s at %d columns: %q is %d times in the source and %d times on the screen", path, w, r, n, got[r])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 {
		t.Error("the sample data holds no markdown")
	}
	t.Logf("%d different files", len(seen))
}
