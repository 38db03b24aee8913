package templates_test

import (
	"strings"
	"testing"

	"kdapilot/templates"
)

func full() templates.ContractData {
	return templates.ContractData{
		Slug: "fa-demo", Family: "flashattn", Arch: "gfx950", Title: "A title", Worktree: "/w/FlyDSL-fa-demo",
		Branch: "rlcr/fa-demo", BaseBranch: "rocm-kda-base/fa-demo", BaseCommit: strings.Repeat("a", 40),
		BaseRef: "upstream/main", Fork: "none", Upstream: "none", GPU: "0", Issue: "No issue text was given.",
		IssueSource: "none", Goal: "Make it fast.", Date: "2026-01-02", AiterRoot: "/w/aiter",
	}
}

// TestContractsFill executes every contract strictly and looks for what a
// reviewer of gate 1 would refuse.
func TestContractsFill(t *testing.T) {
	if len(templates.Families()) == 0 {
		t.Fatal("no families are embedded")
	}
	if missing := full().Missing(); len(missing) > 0 {
		t.Fatalf("the test's own data lacks %v", missing)
	}
	for _, name := range templates.Families() {
		t.Run(name, func(t *testing.T) {
			text, err := templates.Contract(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := full().Fill(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"\nK: ", "\nR: ", "\nW: ", "## Promotion Bar", "## Outcomes", "IMPROVEMENT", "NO-GO", "BLOCKED",
				"rocm-kda-base/fa-demo", "## Baseline and Benchmark Commands", "## Ultimate Goal", "## Deliverables", "## Profiling"} {
				if !strings.Contains(s, want) {
					t.Errorf("contract lacks %q", want)
				}
			}
			for _, bad := range []string{"{{", "}}", "<no value>", "TODO", "\n\n\n", "git checkout -b", "git switch", "worktree add"} {
				if strings.Contains(s, bad) {
					t.Errorf("contract holds %q", bad)
				}
			}
			if !strings.HasPrefix(s, "# A title") {
				t.Errorf("contract does not open with its title: %.60q", s)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	d := full()
	d.Goal, d.Slug = "", ""
	if got := strings.Join(d.Missing(), " "); got != "Slug Goal" {
		t.Errorf("Missing() = %q, want Slug and Goal", got)
	}
	if _, err := d.Fill("x"); err == nil || !strings.Contains(err.Error(), "Slug, Goal") {
		t.Errorf("Fill with holes: %v", err)
	}
	for _, bad := range []string{"{{.Nope}}", "{{", `{{template "nope" .}}`} {
		if _, err := full().Fill(bad); err == nil {
			t.Errorf("Fill(%q) gives no error", bad)
		}
	}
}

func TestUnknownFamily(t *testing.T) {
	if _, err := templates.FamilyTOML("../common"); err == nil {
		t.Error("a path outside the families was read")
	}
	if _, err := templates.Contract("nope"); err == nil || !strings.Contains(err.Error(), "flashattn") {
		t.Errorf("error %v does not say what there is", err)
	}
}
