// Package viewtest helps the screens' tests: golden frames and a hand-made
// snapshot. It is imported by tests only.
//
// What may not enter: anything the program needs.
package viewtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// Sizes are the screen sizes every screen has golden frames for. Height is what
// is left of a terminal of 30, 24, 24, 40 and 60 lines below header and footer.
var Sizes = [][2]int{{40, 26}, {60, 20}, {80, 20}, {120, 36}, {200, 56}}

// Now is the moment all golden frames are drawn at.
var Now = time.Date(2026, 8, 21, 14, 30, 0, 0, time.UTC)

// Env makes what a screen looks at, in the plain profile: no colour, unicode
// boxes.
func Env(s *session.Snapshot) *view.Env {
	return &view.Env{Snap: s, Look: style.NewLook(style.Mono(), style.Unicode()), Now: Now, Keys: keys.Standard()}
}

// Golden compares the screen at all Sizes with
// testdata/frames/<name>/<W>x<H>.plain.txt, and checks that every frame is
// exactly as wide and high as asked for. Run the test with -update to write the
// files, then look at them.
func Golden(t *testing.T, name string, screen view.Screen, e *view.Env) {
	t.Helper()
	for _, size := range Sizes {
		w, h := size[0], size[1]
		t.Run(fmt.Sprintf("%s/%dx%d", name, w, h), func(t *testing.T) {
			lines := screen.Render(e, w, h)
			Exact(t, lines, w, h)
			compare(t, filepath.Join(root(), "testdata", "frames", name, fmt.Sprintf("%dx%d.plain.txt", w, h)), draw.Plain(lines))
		})
	}
}

// Frame compares one frame with a golden file of any profile.
func Frame(t *testing.T, name, profile string, lines []string, w, h int) {
	t.Helper()
	Exact(t, lines, w, h)
	text := strings.Join(lines, "\n")
	if profile == "plain" {
		text = draw.Plain(lines)
	}
	compare(t, filepath.Join(root(), "testdata", "frames", name, fmt.Sprintf("%dx%d.%s.txt", w, h, profile)), text)
}

// Exact fails unless lines are h lines of w cells.
func Exact(t *testing.T, lines []string, w, h int) {
	t.Helper()
	if len(lines) != h {
		t.Fatalf("%d lines, want %d", len(lines), h)
	}
	for i, l := range lines {
		if got := draw.Width(l); got != w {
			t.Fatalf("line %d is %d cells wide, want %d: %q", i+1, got, w, l)
		}
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	got = strings.TrimRight(got, "\n") + "\n"
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden frame, run with -update and look at it: %v", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("frame differs from %s (-want +got):\n%s", path, d)
	}
}

// root is the repository's top folder, found from this file's place.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
