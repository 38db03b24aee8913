package numerics

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func storedResults(t testing.TB) [][]byte {
	t.Helper()
	a, err := Attention(context.Background(), AttentionConfig{Shape: Shape{Batch: 1, Heads: 1, SeqLen: 16, HeadDim: 8}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	g, err := MXFP4GEMM(context.Background(), GEMMConfig{M: 2, N: 3, K: 32})
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, r := range []Result{a, g} {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func TestDecodeResult(t *testing.T) {
	stored := storedResults(t)
	for _, b := range stored {
		r, err := DecodeResult(b)
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		if again, err := json.MarshalIndent(r, "", "  "); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%v: written again as\n%s\nwas\n%s", err, again, b)
		}
	}
	good := string(stored[0])
	for _, c := range []struct{ old, new, want string }{
		{`"pass": true`, `"pass": false`, "pass: false, the metrics"},
		{`"version": 1`, `"version": 2`, "this program reads 1"},
		{`"probe": "attention"`, `"probe": "mxfp4_gemm"`, "config: probe"},
		{`"seed": 3,
  "inputs"`, `"seed": 4,
  "inputs"`, "seed: 4"},
		{`"name": "e4m3fn-unnorm"`, `"name": "e4m3fn-best"`, "as in the configuration"},
		{`"name": "q"`, `"name": "\u001b[31m"`, "expected q"},
		{`"f32-unnorm",`, `"f33-unnorm",`, "line 1"},
		{`"version"`, `"verzion"`, "unknown field"},
		{`"heads": 1`, `"heads": 0`, "heads H is 0"},
		{`"max_err": 0.05`, `"max_err": 0.5`, "gate: "},
		{`"non_finite": 0`, `"non_finite": -1`, "non_finite: -1"},
		{`"causal": false,`, `"causal": false`, "line 14"},
		{`"batch": 1`, `"batch": "x"`, "line 7"},
	} {
		if !strings.Contains(good, c.old) {
			t.Errorf("no %s in %s", c.old, good)
			continue
		}
		_, err := DecodeResult([]byte(strings.Replace(good, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
	for _, bad := range []string{"", "null", "{}", "[]", good + "{}", good[:len(good)/2]} {
		if _, err := DecodeResult([]byte(bad)); err == nil {
			t.Errorf("%.20q passes", bad)
		}
	}
}

func FuzzDecodeResult(f *testing.F) {
	for _, b := range storedResults(f) {
		f.Add(b)
	}
	f.Add([]byte(`{"version":1,"probe":"attention","config":{"attention":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeResult(b)
		if err != nil {
			return
		}
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeResult(out); err != nil {
			t.Fatalf("written again it is refused: %v\n%s", err, out)
		}
		if table := r.Table(); strings.ContainsFunc(table, func(c rune) bool { return c < ' ' && c != '\n' || c > '~' }) {
			t.Fatalf("table holds control characters: %q", table)
		}
	})
}
