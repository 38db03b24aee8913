package att

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kdapilot/engine/stall"
)

// dataDir finds the folder of real traces: $KDAPILOT_DATA, else ../shared/data
// beside the repository.
func dataDir(t testing.TB) string {
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
	if _, err := os.Stat(filepath.Join(dir, "att")); err != nil {
		t.Skipf("REAL TRACES NOT TESTED: no att folder in %s; set KDAPILOT_DATA", dir)
	}
	return dir
}

// traces lists <kernel>/<tag> folders with exactly one dispatch.
func traces(t testing.TB) map[string]string {
	t.Helper()
	root := filepath.Join(dataDir(t), "att")
	dirs, err := filepath.Glob(filepath.Join(root, "*", "*", "ui_output_agent_*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no dispatch directories in %s (%v)", root, err)
	}
	out := map[string]string{}
	for _, d := range dirs {
		if strings.Contains(d, "_synthetic") {
			continue
		}
		name, err := filepath.Rel(root, filepath.Dir(d))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = d
	}
	return out
}

func readJSON(t testing.TB, path string, into any) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}

// analyse runs all stages the way probes/flyprof does.
func analyse(dir string) (stall.Bubbles, error) {
	ctx := context.Background()
	d, err := Open(ctx, dir)
	if err != nil {
		return stall.Bubbles{}, err
	}
	f, err := d.Facts(ctx)
	if err != nil {
		return stall.Bubbles{}, err
	}
	w, err := d.Waits(ctx)
	if err != nil {
		return stall.Bubbles{}, err
	}
	return stall.Compute(d.Name, d.Code.Rows, f.Idle).WithWaits(d.Code.Rows, w.Edges), nil
}

// compact removes the blanks between tokens and nothing else.
func compact(t testing.TB, b []byte) string {
	t.Helper()
	out := make([]byte, 0, len(b))
	inText := false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case inText && c == '\\':
			out = append(out, c)
			i++
			c = b[i]
		case c == '"':
			inText = !inText
		case !inText && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

func sameBubbles(t *testing.T, got stall.Bubbles, want []byte) {
	t.Helper()
	mine := marshal(t, got)
	var a, b any
	if err := json.Unmarshal(mine, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("bubbles differ:\n got %s\nwant %s", mine, compact(t, want))
		return
	}
	if g, w := compact(t, mine), compact(t, want); g != w {
		at := 0
		for at < len(g) && at < len(w) && g[at] == w[at] {
			at++
		}
		t.Errorf("equal as values, but bytes differ at %d: got %.60q want %.60q", at, g[at:], w[at:])
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := stall.WriteJSON(f, v); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBubblesOfRealTraces(t *testing.T) {
	for name, dir := range traces(t) {
		t.Run(name, func(t *testing.T) {
			got, err := analyse(dir)
			if err != nil {
				t.Fatal(err)
			}
			var any map[string]any
			want := readJSON(t, filepath.Join(filepath.Dir(dir), "expected", "bubbles.json"), &any)
			sameBubbles(t, got, want)
		})
	}
}

func TestBubblesOfSyntheticTraces(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(dataDir(t), "att", "_synthetic", "*"))
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%d synthetic traces (%v)", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want struct {
				Exit     int
				Envelope struct {
					OK    bool
					Data  json.RawMessage
					Error struct {
						Code     string
						ExitCode int
					}
				}
			}
			readJSON(t, filepath.Join(dir, "expected", "bubbles_envelope.json"), &want)
			sub, err := filepath.Glob(filepath.Join(dir, "ui_output_agent_*"))
			if err != nil || len(sub) != 1 {
				t.Fatal(sub, err)
			}
			got, err := analyse(sub[0])
			if want.Envelope.OK {
				if err != nil {
					t.Fatal(err)
				}
				sameBubbles(t, got, want.Envelope.Data)
				return
			}
			var e *Error
			if !errors.As(err, &e) || e.Code != want.Envelope.Error.Code || e.Exit != want.Exit {
				t.Fatalf("got %v, want %s exit %d", err, want.Envelope.Error.Code, want.Exit)
			}
			t.Log(err)
		})
	}
}
