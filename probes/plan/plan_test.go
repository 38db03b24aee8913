package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/plan"
)

func write(t *testing.T, p, s string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(s), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReadKeepsTheLastGoodBytes(t *testing.T) {
	root := t.TempDir()
	p := filepath.Join(root, "plan.md")
	r := NewReader(root)
	if f := r.Read("plan.md"); f.Origin.Status != fact.Missing || f.Bytes != nil {
		t.Errorf("missing: %+v", f.Origin)
	}
	write(t, p, "# a\n")
	good := r.Read("plan.md")
	if good.Origin.Status != fact.OK || len(good.Origin.SHA256) != 64 || string(good.Bytes) != "# a\n" {
		t.Fatalf("good: %+v", good.Origin)
	}
	write(t, p, "")
	if f := r.Read("plan.md"); f.Origin.Status != fact.Torn || string(f.Bytes) != "# a\n" || f.Origin.SHA256 != good.Origin.SHA256 {
		t.Errorf("just emptied: %+v %q", f.Origin, f.Bytes)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(p, old, old); err != nil {
		t.Fatal(err)
	}
	if f := r.Read("plan.md"); f.Origin.Status != fact.OK || len(f.Bytes) != 0 {
		t.Errorf("empty for a minute: %+v", f.Origin)
	}
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	if f := r.Read("plan.md"); f.Origin.Status != fact.Missing || f.Bytes != nil {
		t.Errorf("deleted: %+v", f.Origin)
	}
	if err := os.Mkdir(p, 0o755); err != nil {
		t.Fatal(err)
	}
	if f := r.Read("plan.md"); f.Origin.Status != fact.Unreadable || f.Origin.Why == "" {
		t.Errorf("a folder: %+v", f.Origin)
	}
}

func TestOversizedIsUnreadable(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "plan.md"), strings.Repeat("x", Limit+1))
	if f := NewReader(root).Read("plan.md"); f.Origin.Status != fact.Unreadable || f.Bytes != nil {
		t.Errorf("%+v", f.Origin)
	}
}

func TestPathOf(t *testing.T) {
	root := t.TempDir()
	body := "# a\n\none\ntwo\nthree\n"
	write(t, filepath.Join(root, "docs", "plan.md"), body)
	write(t, filepath.Join(root, "sub", "plan.md"), body)
	write(t, filepath.Join(root, "sub", ".git"), "gitdir: x\n")
	outside := t.TempDir()
	write(t, filepath.Join(outside, "p.md"), body)
	for from, to := range map[string]string{"docs/link.md": "plan.md", "hz": "docs", "docs/out.md": filepath.Join(outside, "p.md"), "docs/dead.md": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Skip(err)
		}
	}
	escape, err := filepath.Rel(root, filepath.Join(outside, "p.md"))
	if err != nil {
		t.Fatal(err)
	}
	for rel, check := range map[string]func(plan.PathFacts) bool{
		"docs/plan.md": func(f plan.PathFacts) bool {
			return f.Symlink == plan.No && f.SymlinkParent == "" && f.ParentsKnown && f.DirExists == plan.Yes && f.Exists == plan.Yes &&
				f.Readable == plan.Yes && f.Inside == plan.Yes && f.InSubmodule == plan.No && f.Tracked == plan.NotKnown && *f.Counts == plan.Counts{Lines: 5, Content: 3}
		},
		"docs/link.md":  func(f plan.PathFacts) bool { return f.Symlink == plan.Yes },
		"docs/out.md":   func(f plan.PathFacts) bool { return f.Symlink == plan.Yes && f.Inside == plan.No },
		"docs/dead.md":  func(f plan.PathFacts) bool { return f.Symlink == plan.Yes && f.Exists == plan.No },
		"hz/plan.md":    func(f plan.PathFacts) bool { return f.SymlinkParent == "hz" && f.Symlink == plan.No },
		"docs/none.md":  func(f plan.PathFacts) bool { return f.Exists == plan.No && f.DirExists == plan.Yes && f.Counts == nil },
		"nodir/none.md": func(f plan.PathFacts) bool { return f.DirExists == plan.No },
		"sub/plan.md":   func(f plan.PathFacts) bool { return f.InSubmodule == plan.Yes },
		escape:          func(f plan.PathFacts) bool { return f.Exists == plan.Yes && f.Inside == plan.No },
		"/etc/passwd":   func(f plan.PathFacts) bool { return f == plan.PathFacts{} },
	} {
		if f := PathOf(root, NewReader(root).Read(rel)); !check(f) {
			t.Errorf("%s: %+v", rel, f)
		}
	}
}
