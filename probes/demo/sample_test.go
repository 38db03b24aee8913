package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sample finds a file of the reference data, which is not part of the
// repository.
func sample(t *testing.T, rel string) []string {
	t.Helper()
	root := os.Getenv("KDAPILOT_DATA")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for !fileExists(filepath.Join(dir, "go.mod")) {
			if filepath.Dir(dir) == dir {
				t.Fatal("no go.mod above the test")
			}
			dir = filepath.Dir(dir)
		}
		root = filepath.Join(dir, "..", "shared", "data")
	}
	b, err := os.ReadFile(filepath.Join(root, rel))
	if err != nil {
		t.Skipf("SKIPPED: the reference data is not here (%v); set KDAPILOT_DATA to compare the simulation with real harness output", err)
	}
	return strings.Split(string(b), "\n")
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestRowsEqualRealRows reprints every row of real harness output from its
// numbers: the bytes must be the same.
func TestRowsEqualRealRows(t *testing.T) {
	n := 0
	h := &sheet{}
	for _, line := range sample(t, "harness/flash_attn/head_normal_extra/stdout.txt") {
		m := rowLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		i := func(k int) int { v, _ := strconv.Atoi(m[k]); return v }
		c := cell{i(1), i(2), i(3), i(4), i(5), i(8), m[6], m[7]}
		var v number
		v.status = m[9]
		if _, err := fmt.Sscanf(m[10], "%g %g | %g %g", &v.maxErr, &v.minCos, &v.us, &v.tflops); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var b strings.Builder
		h.out = &b
		h.line("%s  %20s | %s", c.label(), "", v.cells())
		if b.String() != line+"\n" {
			t.Errorf("\n got %q\nwant %q", b.String(), line)
		}
		n++
	}
	if n < 24 {
		t.Errorf("only %d rows were compared", n)
	}
}

// TestSheetEqualsRealSheet compares everything that holds no number: titles,
// heads, rules, the order of AVG rows.
func TestSheetEqualsRealSheet(t *testing.T) {
	for _, tt := range []struct {
		rel  string
		args []string
	}{
		{"harness/flash_attn/head_normal_extra/stdout.txt", []string{"--extra"}},
		{"harness/flash_attn/head_compare/stdout.txt", []string{"--compare", "--dtype", "bf16"}},
	} {
		t.Run(filepath.Base(filepath.Dir(tt.rel)), func(t *testing.T) {
			want := skeleton(sample(t, tt.rel))
			_, out, _, _ := play(t, tt.args...)
			if got := skeleton(strings.Split(out, "\n")); got != want {
				t.Errorf("\n got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// skeleton keeps the lines that are the same for every shape, numbers out.
func skeleton(lines []string) string {
	digits := regexp.MustCompile(`[0-9][0-9.e%x-]*|\bnan\b|nanx`)
	var out []string
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "===="), strings.HasPrefix(line, "----"), strings.HasPrefix(line, "  ----"), strings.Contains(line, "KVLayout"),
			strings.Contains(line, "Time(us)"), strings.HasPrefix(line, "FlyDSL"), strings.HasPrefix(line, "Additional"), strings.HasPrefix(line, "All tests"),
			strings.HasPrefix(line, "Running"), strings.Contains(line, "opts:"), strings.Contains(line, "how_v3"):
			out = append(out, line)
		case strings.Contains(line, "AVG ("):
			label, _, _ := strings.Cut(line, "|")
			out = append(out, label)
		case strings.Contains(line, "results saved to:"), strings.Contains(line, "Results saved to:"):
			out = append(out, digits.ReplaceAllString(line[:strings.Index(line, ":")], ""))
		}
	}
	return strings.Join(out, "\n")
}

func TestExtraRowsEqualRealRows(t *testing.T) {
	want := "  [1, 3, 31, 33, 63, 65]   [1, 3, 31, 33, 63, 65]     16   16  128   fp16 nocausal                      |   PASS | 4.88e-04  1.00000 |       43.6       1.9"
	r := extraRow{p: pair{[]int{1, 3, 31, 33, 63, 65}, []int{1, 3, 31, 33, 63, 65}, 16, 16}, c: cell{d: 128, dtype: "fp16", mask: "nocausal"},
		n: number{us: 43.6, tflops: 1.9, maxErr: 4.88e-4, minCos: 1, status: "PASS"}}
	if got := r.label() + " | " + r.n.cells(); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// TestComparedRowsEqualRealRows reprints the engine blocks of real output.
func TestComparedRowsEqualRealRows(t *testing.T) {
	want := "   1   2048   16    4  128  bf16 nocausal     1 dense                    |       58.2    590.6 2.44e-04      -- PASS |       55.7    616.9 2.44e-04      --   -- |       54.0    635.7 2.44e-04      --   -- |   95.7%  1.00x |   92.9%  1.00x"
	r := compared{c: cell{1, 2048, 16, 4, 128, 1, "bf16", "nocausal"}, fly: engine{58.2, 590.6, 2.44e-4, "PASS"}, ck: engine{55.7, 616.9, 2.44e-4, "--"}, asm: engine{54, 635.7, 2.44e-4, "--"}}
	if got := r.c.label() + " | " + r.text(); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	want = "   1    512    8    8   64  bf16   causal     1 dense                    |        9.4     28.7 3.91e-03      -- PASS |        9.0     29.8 3.91e-03      --   -- |         --       --       --      --   -- |   96.3%  1.00x |      --     --"
	r = compared{c: cell{1, 512, 8, 8, 64, 1, "bf16", "causal"}, fly: engine{9.4, 28.7, 3.91e-3, "PASS"}, ck: engine{9, 29.8, 3.91e-3, "--"}}
	if got := r.c.label() + " | " + r.text(); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}
