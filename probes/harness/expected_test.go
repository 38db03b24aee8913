package harness

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kdapilot/engine/bench"
)

// dataDir finds the sample data, or skips the test out loud.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("KDAPILOT_DATA")
	if dir == "" {
		root, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			if root == filepath.Dir(root) {
				t.Skip("SKIPPED: no go.mod above the test, so the sample data can not be found")
			}
			root = filepath.Dir(root)
		}
		dir = filepath.Join(root, "..", "shared", "data")
	}
	dir = filepath.Join(dir, "harness")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED: the harness samples are not there (%v); set KDAPILOT_DATA to compare with them", err)
	}
	return dir
}

// expected is one expected.json, kept loose: its members differ by family.
type expected map[string]any

func (e expected) list(name string) []any { l, _ := e[name].([]any); return l }

func (e expected) text(name string) string { s, _ := e[name].(string); return s }

// TestExpected walks every sample of every family.
func TestExpected(t *testing.T) {
	dir := dataDir(t)
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*", "expected.json"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("found %d samples, %v", len(paths), err)
	}
	for _, p := range paths {
		name, _ := filepath.Rel(dir, filepath.Dir(p))
		t.Run(filepath.ToSlash(name), func(t *testing.T) { checkSample(t, filepath.Dir(p), filepath.ToSlash(name)) })
	}
}

func checkSample(t *testing.T, dir, name string) {
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	if why, ok := notRows()[name]; ok {
		t.Skip(why)
	}
	got := parseSample(t, dir, e, "")
	compareMembers(t, e, got)
	if _, ok := e["merged_rows"]; ok {
		m := parseSample(t, dir, e, "merged.txt")
		compareList(t, "merged_rows", e.list("merged_rows"), m["rows"])
		compareList(t, "merged_extra_rows", e.list("merged_extra_rows"), m["extra_rows"])
	}
}

// notRows names the samples that are not the output of a harness.
func notRows() map[string]string {
	return map[string]string{
		"stats/h200_harness_repeats":              "statistics of repeats, compared in engine/bench and in TestArmRepeats",
		"stats/mi350x_moe_repeatability":          "a summary of two runs without rows: A/A data for the noise floor",
		"moe_flydsl/kda_mi350x_base_vs_candidate": "a comparison of two files, see TestKDACampaign",
		"layernorm/proflib_results":               "row_count 0 counts the JSONL that the sample lacks; its CSV has 730 records, see TestNormProfLib",
	}
}

// logsOf picks the files of a sample that belong to one run.
func logsOf(e expected, only string) []string {
	var files []string
	for _, f := range e.list("files") {
		files = append(files, f.(string))
	}
	if only != "" {
		return []string{only}
	}
	if slices.Contains(files, "stdout.txt") {
		files = slices.DeleteFunc(files, func(f string) bool { return f != "stdout.txt" && f != "stderr.txt" && f != "junit.xml" })
	}
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(b, a) })
	return files
}

// parseSample parses and goes through JSON, as show rows prints it.
func parseSample(t *testing.T, dir string, e expected, only string) map[string]any {
	t.Helper()
	var paths []string
	for _, f := range logsOf(e, only) {
		paths = append(paths, filepath.Join(dir, f))
	}
	var exit *int
	if v, ok := e["exit_status"].(float64); ok {
		n := int(v)
		exit = &n
	}
	r, err := Parse(paths, Options{Command: e.text("command")}, exit)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// compareMembers checks every member of expected.json that a parser answers.
func compareMembers(t *testing.T, e expected, got map[string]any) {
	t.Helper()
	for name, want := range e {
		switch name {
		case "sample", "files", "provenance", "source", "command", "notes", "merged_rows", "merged_extra_rows", "missing":
		case "rows", "varlen_rows", "extra_rows", "compare_rows", "avg_rows", "perf_table", "tests", "examples":
			compareList(t, name, e.list(name), got[name])
		default:
			if special(t, name, want, e, got) {
				continue
			}
			if !equal(want, got[name]) {
				t.Errorf("%s:\n want %v\n have %v", name, want, got[name])
			}
		}
	}
}

// compareList compares rows in order: every expected member must be there and
// equal; members that only we have are allowed.
func compareList(t *testing.T, name string, want []any, have any) {
	t.Helper()
	got, _ := have.([]any)
	if len(got) != len(want) {
		t.Errorf("%s: want %d, have %d", name, len(want), len(got))
	}
	bad := 0
	for i := range min(len(want), len(got)) {
		w, _ := want[i].(map[string]any)
		g, _ := got[i].(map[string]any)
		for k, v := range w {
			gv, ok := g[k]
			if (!ok && v != nil) || !equal(v, gv) {
				if bad++; bad < 6 {
					t.Errorf("%s[%d].%s:\n want %v\n have %v (row %v)", name, i, k, v, gv, g)
				}
			}
		}
	}
}

// equal compares decoded JSON; objects may have more members than expected.
func equal(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return len(w) == 0 && got == nil
		}
		for k, v := range w {
			if gv, ok := g[k]; (!ok && v != nil) || !equal(v, gv) {
				return false
			}
		}
		return true
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return false
		}
		for i := range w {
			if !equal(w[i], g[i]) {
				return false
			}
		}
		return true
	case float64:
		g, ok := got.(float64)
		return ok && math.Abs(w-g) <= 1e-9*math.Max(math.Abs(w), 1)
	}
	return reflect.DeepEqual(want, got)
}

// special compares members whose shape in expected.json is not that of show
// rows; it reports whether it took the member.
func special(t *testing.T, name string, want any, e expected, got map[string]any) bool {
	rows, _ := got["rows"].([]any)
	switch name {
	case "avg_labels":
		var labels []any
		avg, _ := got["avg_rows"].([]any)
		for _, r := range avg {
			labels = append(labels, r.(map[string]any)["label"])
		}
		if !equal(want, labels) {
			t.Errorf("avg_labels: want %v, have %v", want, labels)
		}
	case "partial_tail":
		if got[name] != want {
			t.Errorf("%s: want %q, have %q", name, want, got[name])
		}
	case "row_count":
		if n := len(rows); float64(n) != want {
			t.Errorf("row_count: want %v, have %d", want, n)
		}
	case "first_row", "last_row":
		if len(rows) == 0 {
			t.Errorf("%s: no rows", name)
			return true
		}
		r := rows[0]
		if name == "last_row" {
			r = rows[len(rows)-1]
		}
		w, g := loose(want), loose(r)
		for k, v := range w {
			switch k {
			case "benchmark_status":
				k = "status"
			case "median_us":
				k = "us"
			case "effective_tflops":
				k = "tflops"
			}
			if g[k] != v {
				t.Errorf("%s.%s: want %v, have %v", name, k, v, g[k])
			}
		}
	case "tokens":
		compareSet(t, name, want, rows, "token")
	case "shapes", "csv_header", "columns":
		if len(rows) == 0 {
			t.Errorf("%s: no rows", name)
		}
		for _, c := range columnsOf(want) {
			if _, ok := rows[0].(map[string]any)[c]; !ok {
				t.Errorf("%s: column %s is not in the rows", name, c)
			}
		}
	case "by_arch_and_op":
		compareHistory(t, want.([]any), rows)
	case "aiter_rows":
		compareList(t, name, want.([]any), got["perf_table"])
	case "current":
		compareCurrent(t, want.([]any), got)
	case "lines", "longest_line", "has_ansi", "has_cr":
		return name == "has_ansi" || name == "has_cr"
	default:
		return false
	}
	return true
}

// compareHistory recomputes the spread of the dashboard's history per arch and
// operation from the rows.
func compareHistory(t *testing.T, want []any, rows []any) {
	t.Helper()
	by := map[string][]float64{}
	for _, r := range rows {
		m := r.(map[string]any)
		k := fmt.Sprint(m["arch"], m["op"])
		by[k] = append(by[k], m["delta_pct"].(float64))
	}
	for _, w := range want {
		w := w.(map[string]any)
		d := by[fmt.Sprint(w["arch"], w["op"])]
		slices.Sort(d)
		if float64(len(d)) != w["n"] || len(d) == 0 {
			t.Errorf("%v %v: want %v pairs, have %d", w["arch"], w["op"], w["n"], len(d))
			continue
		}
		flagged := 0
		for _, x := range d {
			if x <= -3 {
				flagged++
			}
		}
		share := 100 * float64(flagged) / float64(len(d))
		for name, v := range map[string]float64{"median_pct": bench.Median(d), "min_pct": d[0], "max_pct": d[len(d)-1], "flagged_at_minus_3_pct": share} {
			if math.Abs(v-w[name].(float64)) > 0.006 {
				t.Errorf("%v %v %s: want %v, have %v", w["arch"], w["op"], name, w[name], v)
			}
		}
	}
}

// columnsOf leaves out columns that rows carry under another name.
func columnsOf(want any) []string {
	var out []string
	for _, c := range want.([]any) {
		s, ok := c.(string)
		if ok && s != "benchmark_status" && s != "median_us" && s != "effective_tflops" {
			out = append(out, s)
		}
	}
	return out
}

// loose prints every member, so that "1" and 1 compare equal.
func loose(v any) map[string]string {
	out := map[string]string{}
	m, _ := v.(map[string]any)
	for k, x := range m {
		out[k] = fmt.Sprint(x)
	}
	return out
}

func compareSet(t *testing.T, name string, want any, rows []any, field string) {
	t.Helper()
	have := map[string]bool{}
	for _, r := range rows {
		have[fmt.Sprint(r.(map[string]any)[field])] = true
	}
	list := want.([]any)
	if len(have) != len(list) {
		t.Errorf("%s: want %d, have %d", name, len(list), len(have))
	}
	for _, w := range list {
		if !have[fmt.Sprint(w)] {
			t.Errorf("%s: %v is missing", name, w)
		}
	}
}

// compareCurrent joins table rows with the comparison lines, as the dashboard
// does.
func compareCurrent(t *testing.T, want []any, got map[string]any) {
	t.Helper()
	rows, _ := got["rows"].([]any)
	cmp, _ := got["compare_rows"].([]any)
	if len(rows) != len(want) {
		t.Fatalf("current: want %d rows, have %d", len(want), len(rows))
	}
	for i, w := range want {
		w, g := w.(map[string]any), rows[i].(map[string]any)
		value := g["tflops"]
		if w["metric"] == "TB/s" {
			value = g["tbps"]
		}
		if w["op"] != g["op"] || w["shape"] != g["shape_truncated"] || w["dtype"] != g["dtype"] || w["value"] != value {
			t.Errorf("current[%d]: want %v, have %v", i, w, g)
		}
		if s, ok := w["status"]; ok && s != g["status"] {
			t.Errorf("current[%d].status: want %v, have %v", i, s, g["status"])
		}
		for _, c := range cmp {
			c := c.(map[string]any)
			if c["op"] != w["op"] || c["shape"] != w["shape"] || c["dtype"] != w["dtype"] {
				continue
			}
			if c["base_label"] == "main" && (c["pct"] != w["vs_main_pct"] || c["regression"] != w["regression"]) {
				t.Errorf("current[%d] against main: want %v, have %v", i, w, c)
			}
			if c["base_label"] == w["vs_tag"] && c["pct"] != w["vs_tag_pct"] {
				t.Errorf("current[%d] against tag: want %v, have %v", i, w, c)
			}
		}
	}
}
