package runs

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	values := map[string]string{"dtype": "bf16", "causal": "--causal", "none": ""}
	for _, c := range []struct {
		name string
		argv []string
		want []string
		err  string
	}{
		{"plain", []string{"python3", "x.py"}, []string{"python3", "x.py"}, ""},
		{"filled", []string{"x", "--dtype={dtype}", "{causal}"}, []string{"x", "--dtype=bf16", "--causal"}, ""},
		{"empty dropped", []string{"x", "{none}", "--o={none}"}, []string{"x", "--o="}, ""},
		{"empty kept", []string{"x", ""}, []string{"x", ""}, ""},
		{"braces", []string{"x", "{{a}}"}, []string{"x", "{a}"}, ""},
		{"value not expanded again", []string{"x", "{self}"}, []string{"x", "{dtype}"}, ""},
		{"no shell", []string{"x", "$(rm) {dtype}"}, []string{"x", "$(rm) bf16"}, ""},
		{"unknown", []string{"x", "{shape}"}, nil, `argument 2 "{shape}": unknown placeholder {shape}, known: {causal} {dtype}`},
		{"open", []string{"x{"}, nil, "no } after"},
		{"stray", []string{"x}"}, nil, "stray }"},
		{"nothing", nil, nil, "no command"},
		{"vanishing command", []string{"{none}"}, nil, "no command"},
	} {
		values["self"] = "{dtype}"
		if c.name == "unknown" {
			delete(values, "self")
		}
		got, err := Preset{Name: "p", Argv: c.argv}.Resolve(values)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	env, err := Preset{Name: "p", Env: map[string]string{"A": "{dtype}-"}}.ResolveEnv(values)
	if err != nil || env["A"] != "bf16-" {
		t.Errorf("env %v %v", env, err)
	}
	if _, err := (Preset{Name: "p", Env: map[string]string{"A": "{x}"}}).ResolveEnv(values); err == nil {
		t.Error("unknown placeholder in a variable was accepted")
	}
}

func TestProgress(t *testing.T) {
	t0 := time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)
	at := func(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }
	five, two := 5, 2
	eta := func(p Progress) float64 {
		if p.ETASeconds == nil {
			return math.NaN()
		}
		return *p.ETASeconds
	}
	for _, c := range []struct {
		name     string
		expected *int
		cells    []float64 // when each cell came
		now      float64
		done     int
		eta      float64 // NaN for unknown
		surplus  bool
	}{
		{"nothing yet", &five, nil, 3, 0, math.NaN(), false},
		{"one cell is start-up", &five, []float64{6}, 7, 1, math.NaN(), false},
		{"even", &five, []float64{6, 8, 10}, 10, 3, 4, false},
		{"half way into a cell", &five, []float64{6, 8, 10}, 11, 3, 3, false},
		{"slow cell never goes below the rest", &five, []float64{6, 8, 10}, 30, 3, 2, false},
		{"all done", &five, []float64{6, 8, 10, 12, 14}, 20, 5, 0, false},
		{"more than expected", &two, []float64{6, 8, 10}, 10, 3, math.NaN(), true},
		{"expectation unknown", nil, []float64{6, 8, 10}, 10, 3, math.NaN(), false},
		{"all in one burst", &five, []float64{6, 6, 6}, 6, 3, math.NaN(), false},
	} {
		tr := NewTrack(t0, c.expected).Begin("B1 S128")
		for i, s := range c.cells {
			tr = tr.Cells(i+1, at(s))
		}
		p := tr.Cells(1, at(99)).At(at(c.now)) // a count that shrinks changes nothing
		if len(c.cells) == 0 {
			p = tr.At(at(c.now))
		}
		if got := eta(p); p.Done != c.done || p.Surplus != c.surplus || math.Abs(got-c.eta) > 1e-9 || math.IsNaN(got) != math.IsNaN(c.eta) {
			t.Errorf("%s: %+v eta %v, want %v", c.name, p, got, c.eta)
		}
		if len(c.cells) == 0 && (p.Current != "B1 S128" || p.ElapsedSeconds != c.now) {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

const goodManifest = `{"version":1,"id":"20260821-140502-smoke-3f2a","preset":"smoke","kind":"harness","argv":["sh"],
"cwd":"/w","worktree":"/w","place":{"host":"h"},"started":"2026-08-21T14:05:02Z","grace_seconds":10,"executor":"local"}`

func TestDecodeManifest(t *testing.T) {
	m, err := DecodeManifest([]byte(goodManifest))
	if err != nil || m.ID != "20260821-140502-smoke-3f2a" || m.Kind != Harness {
		t.Fatalf("%+v %v", m, err)
	}
	for name, c := range map[string]struct{ in, want string }{
		"empty":     {"", "line 1: empty"},
		"torn":      {goodManifest[:120], "line 1: unexpected EOF"},
		"type":      {strings.Replace(goodManifest, `"/w","worktree"`, `7,"worktree"`, 1), "line 2: "},
		"trailing":  {goodManifest + "\n{}", "line 3: something follows"},
		"version":   {strings.Replace(goodManifest, `"version":1`, `"version":9`, 1), "version: 9, this program reads 1"},
		"no argv":   {strings.Replace(goodManifest, `["sh"]`, `[]`, 1), "argv: missing"},
		"no id":     {strings.Replace(goodManifest, `"20260821-140502-smoke-3f2a"`, `""`, 1), "id: missing"},
		"no start":  {strings.Replace(goodManifest, `"started"`, `"begun"`, 1), "started: missing"},
		"grace":     {strings.Replace(goodManifest, `"grace_seconds":10`, `"grace_seconds":-1`, 1), "grace_seconds: -1"},
		"cells":     {strings.Replace(goodManifest, `"version":1`, `"version":1,"expected_cells":-4`, 1), "expected_cells: -4"},
		"not json":  {"\x1b[31mhello", "line 1: invalid character"},
		"not a map": {"[]", "line 1: "},
	} {
		if _, err := DecodeManifest([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: error %q, want %q", name, err, c.want)
		}
	}
}

func TestDecodeResultAndStatus(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"good":         {`{"version":1,"state":"ended","exit":0}`, ""},
		"signal":       {`{"version":1,"state":"ended","signal":"SIGABRT"}`, ""},
		"never ran":    {`{"version":1,"state":"failed","why":"x"}`, ""},
		"no exit":      {`{"version":1,"state":"ended"}`, "either an exit code or a signal"},
		"both":         {`{"version":1,"state":"ended","exit":0,"signal":"SIGKILL"}`, "either an exit code or a signal"},
		"not final":    {`{"version":1,"state":"running"}`, "expected ended, cancelled or failed"},
		"lost is ours": {`{"version":1,"state":"lost"}`, "expected ended, cancelled or failed"},
		"version":      {`{"state":"ended","exit":0}`, "version: 0"},
	} {
		_, err := DecodeResult([]byte(c.in))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if s, err := DecodeStatus([]byte(`{"state":"queued","why":"a\u001b[2Jb"}`)); err != nil || s.Why != "ab" {
		t.Errorf("%+v %v", s, err)
	}
	if _, err := DecodeStatus([]byte(`{"state":"ended"}`)); err == nil {
		t.Error("a status that claims the end was accepted; only a result may")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(goodManifest))
	f.Add([]byte(`{"version":1,"id":"x","state":"ended","exit":0,"argv":["\u001b[2J"],"runenv":{"path":"\u0007"},"verdict":{"quotes":["\u001b]52;c;x\u0007"]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(v any) {
			out, err := json.Marshal(v)
			if err != nil {
				t.Fatalf("does not encode: %v", err)
			}
			for _, bad := range []string{`\u001b`, `\u0007`, `\u0000`, `\n`, `\u202e`} {
				if strings.Contains(strings.ReplaceAll(string(out), `\\`, ""), bad) {
					t.Errorf("control character survived: %s", out)
				}
			}
		}
		if m, err := DecodeManifest(b); err == nil {
			check(m.Clean())
		}
		if r, err := DecodeResult(b); err == nil {
			check(r.Clean())
		}
		if s, err := DecodeStatus(b); err == nil {
			check(s.Why)
		}
	})
}

func FuzzExpand(f *testing.F) {
	f.Add("--{a}{{}}", "v")
	f.Fuzz(func(t *testing.T, s, v string) {
		got, err := expand(s, map[string]string{"a": v})
		if err == nil && !strings.ContainsAny(s, "{}") && got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}
