package humanize

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kdapilot/engine/fact"
)

// A place for loops that can not be looked into is said to be one; that nothing
// is there is something else.
func TestUnreadablePlaceIsNotNoLoop(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".humanize"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := NewScanner(root, Options{})
	set, err := s.Scan(context.Background())
	if err != nil || set.Origin.Status != fact.OK {
		t.Fatalf("without loops: %+v %v", set.Origin, err)
	}
	if err := os.WriteFile(filepath.Join(root, ".humanize", "rlcr"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err = s.Scan(context.Background())
	if err != nil || set.Origin.Status != fact.Unreadable || !strings.Contains(set.Origin.Why, "rlcr") {
		t.Errorf("a file in the place of the folder: %+v %v", set.Origin, err)
	}
}
