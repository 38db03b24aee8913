package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// play runs the harness in a folder of its own and returns its streams.
func play(t *testing.T, args ...string) (code int, out, errs, dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	t.Setenv(EnvSpeed, "0")
	t.Setenv(EnvSeed, "7")
	var o, e bytes.Buffer
	code = Harness(context.Background(), args, &o, &e)
	return code, o.String(), e.String(), dir
}

// rowLine is the row grammar of the harness at HEAD.
var rowLine = regexp.MustCompile(`^ +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(bf16|fp16|fp8) +(causal|nocausal) +(\d+) dense +\| +(PASS|FAIL|ERROR|SKIP|BENCHERR) \|(.*)$`)

func rowsOf(out string) (lines []string) {
	for _, line := range strings.Split(out, "\n") {
		if rowLine.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestHarnessNormalShape(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		rows int // distinct configurations
		mask string
		avgs int
	}{
		{"smoke", []string{"--dtype", "bf16", "--causal", "--warmup", "3", "--iters", "5"}, 110, "causal, bf16", 1},
		{"sweep", []string{"--warmup", "10", "--iters", "20"}, 440, "causal+non-causal, bf16+fp16", 9},
		{"focus", []string{"--batch", "1", "--seq_len", "8192", "--num_heads", "4", "--num_kv_heads", "4", "--head_dim", "128", "--num_kv_splits", "2", "--dtype", "bf16", "--no-causal"}, 1, "non-causal, bf16", 1},
		{"one shape, all else open", []string{"--seq_len", "512"}, 8, "causal+non-causal, bf16+fp16", 9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs, dir := play(t, tt.args...)
			if code != 0 || !strings.HasSuffix(out, "\nAll tests PASSED\n") {
				t.Fatalf("exit %d, tail %.200q", code, out[max(0, len(out)-200):])
			}
			lines := strings.Split(out, "\n")
			want := []string{strings.Repeat("=", 130), "FlyDSL flash_attn_func (" + tt.mask + ")", "GPU: SIMULATED gfx950", "  Kernel opts: " + kernelOpts, strings.Repeat("=", 130), "", header, strings.Repeat("-", 145)}
			for i, w := range want {
				if lines[i] != w {
					t.Errorf("line %d %q, want %q", i+1, lines[i], w)
				}
			}
			rows := rowsOf(out)
			if len(rows) != 2*tt.rows {
				t.Fatalf("%d rows, want every one of %d twice", len(rows), tt.rows)
			}
			for i := range tt.rows {
				if rows[i] != rows[i+tt.rows] {
					t.Errorf("live row %q, in the summary %q", rows[i], rows[i+tt.rows])
				}
			}
			if n := strings.Count(out, "  AVG (") + strings.Count(out, " AVG ("); n < tt.avgs {
				t.Errorf("%d AVG rows, want %d", n, tt.avgs)
			}
			if !strings.Contains(errs, Mark) {
				t.Errorf("stderr does not say %s: %q", Mark, errs)
			}
			b, err := os.ReadFile(filepath.Join(dir, "fmha_perf_gfx950.csv"))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(b), "\r\n"); n != tt.rows+1 {
				t.Errorf("CSV has %d lines, want %d with CRLF", n, tt.rows+1)
			}
		})
	}
}

// TestHarnessLinesAreExact holds the byte form of rows against lines written
// down from the format's description.
func TestHarnessLinesAreExact(t *testing.T) {
	c := cell{2, 1024, 16, 16, 64, 1, "bf16", "causal"}
	h := &sheet{}
	for _, tt := range []struct {
		n    number
		want string
	}{
		{number{us: 23.9, tflops: 180.2, maxErr: 3.91e-3, minCos: 0.99999, status: "PASS"},
			"   2   1024   16   16   64  bf16   causal     1 dense                                          |   PASS | 3.91e-03  0.99999 |       23.9     180.2"},
		{number{maxErr: 3.91e-3, minCos: 0.99999, status: "BENCHERR", noTime: true},
			"   2   1024   16   16   64  bf16   causal     1 dense                                          | BENCHERR | 3.91e-03  0.99999 |        N/A       N/A"},
		{number{status: "SKIP"}, "   2   1024   16   16   64  bf16   causal     1 dense                                          |   SKIP | n/a"},
		{number{status: "ERROR", message: "exec: HIP error: an illegal memory access was encountered\nHIP kernel"},
			"   2   1024   16   16   64  bf16   causal     1 dense                                          |  ERROR | exec: HIP error: an illegal memory access was encountered\nHI"},
	} {
		var b bytes.Buffer
		h.out = &b
		h.line("%s  %20s | %s", c.label(), "", tt.n.cells())
		if got := strings.TrimSuffix(b.String(), "\n"); got != tt.want {
			t.Errorf("\n got %q\nwant %q", got, tt.want)
		}
	}
}

func TestHarnessExtra(t *testing.T) {
	code, out, _, dir := play(t, "--extra")
	if code != 0 {
		t.Fatalf("exit %d", code)
	}
	_, extra, ok := strings.Cut(out, "Additional dense/varlen/cross-length cases: FlyDSL vs reference")
	if !ok {
		t.Fatal("no extra section")
	}
	if n := strings.Count(extra, " ...\n"); n != 104 {
		t.Errorf("%d progress lines, want 104", n)
	}
	if n := strings.Count(extra, " |   PASS | "); n != 104 {
		t.Errorf("%d rows, want 104", n)
	}
	if !strings.Contains(extra, "  [1024, 8192, 3, 31, 6... [1024, 8192, 3, 31, 6...   64    8   64") {
		t.Error("long lists are not cut to 21 characters and dots")
	}
	if !strings.HasSuffix(out, "Varlen results saved to: fmha_varlen_perf_gfx950.csv\nAll tests PASSED\n") {
		t.Errorf("tail %q", out[len(out)-120:])
	}
	if b, err := os.ReadFile(filepath.Join(dir, "fmha_varlen_perf_gfx950.csv")); err != nil || !strings.Contains(string(b), `"[1024, 8192, 3, 31, 65, 127]"`) {
		t.Errorf("CSV: %v %.80s", err, b)
	}
}

func TestHarnessFaults(t *testing.T) {
	for _, tt := range []struct {
		fault string
		code  int
		want  string
		last  string
	}{
		{"fail", 1, "|   FAIL | 2.34e-02", "Some tests FAILED\n"},
		{"error", 1, "|  ERROR | exec: HIP error", "Some tests FAILED\n"},
		{"bench", 1, "| BENCHERR |", "Some tests FAILED\n"},
		{"skip", 0, "|   SKIP | n/a", "All tests PASSED\n"},
		{"crash", 134, "Memory access fault", ""},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			t.Setenv(EnvFault, tt.fault)
			code, out, errs, _ := play(t, "--dtype", "bf16")
			if code != tt.code || !strings.Contains(out+errs, tt.want) || !strings.HasSuffix(out, tt.last) {
				t.Errorf("exit %d, want %d; has %q: %v; tail %q", code, tt.code, tt.want, strings.Contains(out+errs, tt.want), out[max(0, len(out)-60):])
			}
			if tt.fault == "crash" && strings.Contains(out, "All tests") {
				t.Error("a crash prints a verdict")
			}
		})
	}
}

func TestHarnessCompare(t *testing.T) {
	code, out, _, dir := play(t, "--compare", "--causal", "--warmup", "10", "--iters", "100")
	if code != 0 {
		t.Fatalf("exit %d", code)
	}
	if n := strings.Count(out, "dense                    ...\n"); n != 220 {
		t.Errorf("%d progress lines, want 220", n)
	}
	block := `\| +[0-9.]+ +[0-9.]+ [0-9.e-]+ +-- PASS \| +(--|[0-9.]+) `
	if n := len(regexp.MustCompile(block).FindAllString(out, -1)); n != 220 {
		t.Errorf("%d rows, want 220", n)
	}
	// The asm engine takes bf16 at D 128 only: 55 cells.
	b, err := os.ReadFile(filepath.Join(dir, "fmha_perf_compare_gfx950.csv"))
	if err != nil {
		t.Fatal(err)
	}
	asm := 0
	for _, rec := range strings.Split(strings.TrimSpace(string(b)), "\r\n")[1:] {
		if strings.Split(rec, ",")[19] != "" {
			asm++
		}
	}
	if asm != 55 {
		t.Errorf("%d asm numbers, want 55", asm)
	}
	var widths []int
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, " | ") && !strings.HasPrefix(line, "  aiter") {
			widths = append(widths, len(line))
		}
	}
	if len(widths) < 220 || widths[2] != widths[len(widths)-1] {
		t.Errorf("rows and AVG rows differ in width: %v", widths[:4])
	}
}

func TestHarnessSeedsAndKnobs(t *testing.T) {
	_, a, _, _ := play(t, "--seq_len", "8192")
	_, b, _, dir := play(t, "--seq_len", "8192")
	if a != b {
		t.Error("the same seed gives other numbers")
	}
	if err := os.MkdirAll(filepath.Join(dir, "kernels"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kernels/flash_attn_gfx950.py"), []byte("KV_PREFETCH_DEPTH = 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var c bytes.Buffer
	Harness(context.Background(), []string{"--seq_len", "8192"}, &c, &bytes.Buffer{})
	if c.String() == a {
		t.Error("another kernel gives the same numbers")
	}
	t.Setenv(EnvSeed, "8")
	var d bytes.Buffer
	Harness(context.Background(), []string{"--seq_len", "8192"}, &d, &bytes.Buffer{})
	if d.String() == c.String() {
		t.Error("another seed gives the same numbers")
	}
}

func TestHarnessRefusals(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--dtype", "fp4"}, "invalid choice: 'fp4'"},
		{[]string{"--nope"}, "nope"},
		{[]string{"left", "over"}, "unrecognized arguments: left over"},
	} {
		code, out, errs, _ := play(t, tt.args...)
		if code != 2 || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%v: exit %d, out %q, err %q", tt.args, code, out, errs)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if code := Harness(ctx, nil, &bytes.Buffer{}, &bytes.Buffer{}); code != 130 {
		t.Errorf("a stopped run exits %d, want 130", code)
	}
}

func BenchmarkSweep(b *testing.B) {
	b.Chdir(b.TempDir())
	b.Setenv(EnvSpeed, "0")
	for b.Loop() {
		var out bytes.Buffer
		Harness(context.Background(), nil, &out, &bytes.Buffer{})
	}
}
