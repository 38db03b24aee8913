package flyprof

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
)

func TestParseSaid(t *testing.T) {
	for _, c := range []struct {
		name, out string
		check     func(s profile.Said) bool
	}{
		{"doctor", `{"ok":true,"command":"doctor","data":{"rocprofv3":{"present":true,"version":"1.1.0"},"gpu":{"present":true,"arch":"gfx950"},"build_tree":{"path":"/w"},"verdict":"ready","blockers":[]},"warnings":[]}`,
			func(s profile.Said) bool {
				return s.Doctor.Ready && s.Doctor.Rocprofv3 == "1.1.0" && s.Doctor.Arch == "gfx950"
			}},
		{"ready with a blocker is not ready", `{"ok":true,"command":"doctor","data":{"verdict":"ready","blockers":["NO_GPU"]}}`,
			func(s profile.Said) bool { return !s.Doctor.Ready }},
		{"list", `{"ok":true,"command":"list","data":{"count":3,"kernels":[{"kernel":"b","recipe_source":"registry"},{"kernel":"softmax","recipe_source":"registry","needs_multi_gpu":true},{"kernel":"b"},{"kernel":"a\u001b[31m"}]}}`,
			func(s profile.Said) bool {
				return len(s.Kernels) == 3 && s.Kernels[1].PinsGPU() && s.Kernels[1].MultiGPU && !s.Kernels[0].PinsGPU() && s.Kernels[2].Name == "a"
			}},
		{"run after a shell that speaks", "sourcing {x}\nhello\n{\n \"ok\": true,\n \"command\": \"run\",\n \"bundle\": \"/b\",\n \"data\": {\"headline\": \"h\", \"steps\": {\"report\": \"h\", \"doctor\": \"ready\"}},\n \"warnings\": [\"w\"]\n}\n",
			func(s profile.Said) bool {
				return s.Headline == "h" && len(s.Steps) == 2 && s.Steps[0].Name == "doctor" && s.Bundle == "/b" && len(s.Warnings) == 1
			}},
		{"diff", `{"ok":true,"command":"diff","data":{"headline":"x","verdict":{"rank1_bubble_class":"vmcnt","rank1_bubble_shrank":true,"before_pct":29.24,"after_pct":28.44,"delta_pct":-0.8}}}`,
			func(s profile.Said) bool { return strings.Contains(s.Diff.Words(), "no change seen") }},
		{"wiki", `{"ok":true,"command":"wiki","data":{"bubble_class":"barrier","query":"q","results":[{"page_id":"p","title":"t","path":"x.md","score":1}],"technique_hint":null,"implemented_by_prs":[683,"a/b#7"]}}`,
			func(s profile.Said) bool {
				return len(s.Wiki.Pages) == 1 && strings.Join(s.Wiki.PRs, " ") == "683 a/b#7"
			}},
		{"failure", `{"ok":false,"command":"run","error":{"code":"NO_KERNEL_DISCOVERED","exitCode":66,"message":"m","help":"h","candidates":["k"]}}`,
			func(s profile.Said) bool { return s.Exit == 66 && s.Candidates[0] == "k" && !s.OK }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseSaid([]byte(c.out))
			if err != nil || !c.check(s) {
				t.Errorf("%v %+v", err, s)
			}
		})
	}
	for name, out := range map[string]string{
		"nothing": "", "torn": `{"ok":true,"command":"run","data":{"head`, "no verdict": `{"ok":true,"command":"doctor","data":{"verdict":"perhaps"}}`,
		"a list without kernels": `{"ok":true,"command":"list","data":{}}`, "no code": `{"ok":false,"command":"run","error":{"exitCode":66}}`,
		"two answers": "{\n\"ok\":true,\"command\":\"tile\",\"data\":{}}\n{\n\"ok\":tru",
	} {
		if s, err := ParseSaid([]byte(out)); err == nil {
			t.Errorf("%s: taken as %+v", name, s)
		}
	}
}

// TestSaidOnRealEnvelopes reads every published sample.
func TestSaidOnRealEnvelopes(t *testing.T) {
	dir := filepath.Join(dataDir(t), "flyprof", "envelopes")
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) < 15 {
		t.Fatalf("%d envelopes in %s", len(files), dir)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseSaid(b)
		if err != nil {
			t.Errorf("%s: %v", f, err)
		}
		if failed := strings.HasPrefix(filepath.Base(f), "err_"); s.OK == failed || failed && s.Exit == 0 {
			t.Errorf("%s: %+v", f, s)
		}
	}
}

func TestUsageErrorAndStages(t *testing.T) {
	if got := UsageError([]byte("usage: flyprof [-h]\nflyprof run: error: unrecognized arguments: --x\x1b[2J\n")); got != "unrecognized arguments: --x" {
		t.Errorf("%q", got)
	}
	dir := t.TempDir()
	m := runs.Manifest{Argv: []string{"flyprof", "run", "k", "--bundle", "b", "--tag", "big"}, Cwd: dir}
	if s := StagesOf(&m); s.At != 0 {
		t.Errorf("no bundle yet: %+v", s)
	}
	if err := os.MkdirAll(filepath.Join(dir, "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b", "tile.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := StagesOf(&m); s.At != 1 {
		t.Errorf("tile is done: %+v", s)
	}
	st, err := os.Stat(filepath.Join(dir, "b", "tile.json"))
	if err != nil {
		t.Fatal(err)
	}
	m.Started = st.ModTime().Add(60e9)
	if s := StagesOf(&m); s.At != 0 {
		t.Errorf("a file of an earlier run counts: %+v", s)
	}
	if StagesOf(&runs.Manifest{Argv: []string{"flyprof", "list"}}) != nil {
		t.Error("list has no stages")
	}
}

func FuzzParseSaid(f *testing.F) {
	f.Add([]byte(`{"ok":true,"command":"doctor","data":{"verdict":"ready","blockers":[]}}`))
	f.Add([]byte("x\n{\"ok\":false,\"command\":\"run\",\"error\":{\"code\":\"C\",\"exitCode\":66}}"))
	f.Add([]byte(`{"ok":true,"command":"list","data":{"kernels":[{"kernel":"a"}]}}`))
	f.Add([]byte(`{"ok":true,"command":"wiki","data":{"implemented_by_prs":[1,{"a":[2]}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSaid(b)
		if err != nil {
			return
		}
		for _, x := range append([]string{s.Command, s.Bundle, s.Message, s.Help, s.Headline}, s.Warnings...) {
			if strings.ContainsAny(x, "\x1b\n\r") {
				t.Fatalf("control characters in %q", x)
			}
		}
		if !s.OK && s.Code == "" {
			t.Fatal("a failure without a code")
		}
		UsageError(b)
	})
}
