package bootstrap

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var names = []string{"rocm-kda-pilot", "rocm-report-skill", "ROCmKernelWiki", "flyprof-usage"}

// seed makes a checkout with all skills, and a PATH with a python3 whose pip
// puts a flyprof beside it.
func seed(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	write := func(path, content string, mode os.FileMode) {
		t.Helper()
		full := filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []string{"skills/rocm-kda-pilot", "external/rocm-report-skill", "external/ROCmKernelWiki", "external/flydsl-rocprof-cli/skills/flyprof-usage", "external/flydsl-rocprof-cli/skills/flyprof-capture"} {
		write("seed/"+s+"/SKILL.md", "x", 0o644)
	}
	write("seed/external/flydsl-rocprof-cli/pyproject.toml", "[project]\n", 0o644)
	bin := filepath.Join(dir, "bin")
	write("bin/python3", "#!/bin/sh\necho \"$*\" > "+bin+"/pip.log\nprintf '#!/bin/sh\\nexit 0\\n' > "+bin+"/flyprof\nchmod +x "+bin+"/flyprof\n", 0o755)
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	return Options{Skills: filepath.Join(dir, "skills"), From: []string{filepath.Join(dir, "seed")}, Names: names}
}

func statuses(steps []Step) map[string]Status {
	out := map[string]Status{}
	for _, s := range steps {
		out[s.Name] = s.Status
	}
	return out
}

func TestPlanDoVerify(t *testing.T) {
	o := seed(t)
	steps := Plan(o)
	if len(steps) != 6 { // four, flyprof-capture, and flyprof itself
		t.Fatalf("%d steps: %+v", len(steps), steps)
	}
	for _, s := range steps {
		if s.Status != Todo {
			t.Errorf("%s is %s: %s", s.Name, s.Status, s.Why)
		}
	}
	if _, err := os.Lstat(o.Skills); err == nil {
		t.Error("planning made the skills folder")
	}
	if left := Verify(t.Context(), o); len(left) != 6 {
		t.Errorf("before: %v, want all six missing", left)
	}
	if err := Do(t.Context(), steps, nil); err != nil {
		t.Fatal(err)
	}
	if left := Verify(t.Context(), o); len(left) != 0 {
		t.Errorf("after: %v", left)
	}
	again := Plan(o)
	if i := slices.IndexFunc(again, func(s Step) bool { return s.Status != There }); i >= 0 {
		t.Errorf("second time: %+v", again[i])
	}
}

func TestNothingRealIsReplaced(t *testing.T) {
	o := seed(t)
	mine := filepath.Join(o.Skills, "rocm-kda-pilot")
	stray := filepath.Join(o.Skills, "ROCmKernelWiki")
	if err := errors.Join(os.MkdirAll(mine, 0o755), os.WriteFile(filepath.Join(mine, "notes"), []byte("mine"), 0o600),
		os.Symlink("/nowhere", stray)); err != nil {
		t.Fatal(err)
	}
	steps := Plan(o)
	got := statuses(steps)
	if got["rocm-kda-pilot"] != Conflict || got["ROCmKernelWiki"] != Conflict {
		t.Errorf("statuses %v, want two conflicts", got)
	}
	if err := Do(t.Context(), steps, nil); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(mine, "notes")); err != nil || string(b) != "mine" {
		t.Errorf("a real folder was touched: %q %v", b, err)
	}
	if to, err := os.Readlink(stray); err != nil || to != "/nowhere" {
		t.Errorf("a foreign link was replaced: %q %v", to, err)
	}
	if left := Verify(t.Context(), o); len(left) != 2 {
		t.Errorf("verify: %v, want the two that are not right", left)
	}
}

func TestMissingAndFailing(t *testing.T) {
	o := seed(t)
	o.Names = append(slices.Clone(names), "flydsl-task-setup")
	if got := statuses(Plan(o))["flydsl-task-setup"]; got != Missing {
		t.Errorf("a skill without a checkout is %s", got)
	}
	py := filepath.Join(filepath.SplitList(os.Getenv("PATH"))[0], "python3")
	if err := os.WriteFile(py, []byte("#!/bin/sh\necho 'No module named pip' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := Do(t.Context(), Plan(o), nil)
	if err == nil || !strings.Contains(err.Error(), "No module named pip") {
		t.Errorf("failing pip: %v", err)
	}
	o.From, o.Flyprof = []string{t.TempDir()}, ""
	if got := statuses(Plan(o)); got["flyprof"] != Missing || got["ROCmKernelWiki"] == Todo {
		t.Errorf("empty checkout: %v", got)
	}
}
