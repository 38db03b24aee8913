package task

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const good = `slug = "fa-fp8"
family = "flashattn-fp8"
arch = "gfx950"
base_branch = "rocm-kda-base/fa-fp8"
base_commit = "68d36f462617685a434349b6b88f0f61161f91f7"

[start]
max = 8

[presets.smoke]
argv = ["python3", "x.py"]
`

func TestParse(t *testing.T) {
	got, err := Parse("task.toml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if got.Slug != "fa-fp8" || got.Start.Or(DefaultStart()) != (Start{8, "gpt-5.5:xhigh", 5400}) || got.Presets["smoke"].Argv[1] != "x.py" || got.PlanFile() != PlanPath {
		t.Errorf("got %+v", got)
	}
	b, err := got.Format()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	if d := cmp.Diff(got, again); d != "" {
		t.Error(d)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"unknown key", "slug = \"a\"\nslog = 1\n", "task.toml:2:1: unknown key slog"},
		{"syntax", "slug = \n", "task.toml:1:"},
		{"type", "slug = 3\n", "task.toml:1:"},
		{"slug", "slug = \"A b\"\n", "expected small letters"},
		{"commit", "base_commit = \"abc\"\n", "expected a full commit id"},
		{"path", "plan = \"../x\"\n", "inside the worktree"},
		{"negative", "[start]\nmax = -1\n", "negative"},
	} {
		if _, err := Parse("task.toml", []byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse("x", b)
		if err == nil && strings.ContainsAny(got.Slug+got.BaseBranch, "\x1b\n") {
			t.Errorf("control characters came through: %q %q", got.Slug, got.BaseBranch)
		}
	})
}
