package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// rule forbids packages whose path matches from to import anything matching
// deny, unless it matches except. Patterns are path.Match patterns or prefixes
// that end in "/...".
type rule struct {
	from, deny []string
	exempt     []string // packages of from that the rule does not hold for
	except     []string
	direct     bool // only direct imports count, not what they pull in
	why        string
}

var rules = []rule{
	{
		from: []string{"kdapilot/engine/..."}, deny: []string{"kdapilot/ui/...", "kdapilot/ui", "kdapilot/probes/...", "kdapilot/cmd/..."},
		why: "the engine is what things mean; it must be testable without screen or world",
	},
	{
		from: []string{"kdapilot/engine/..."}, deny: []string{"os/exec", "charm.land/...", "github.com/fsnotify/...", "github.com/creack/...", "net/http", "net"}, direct: true,
		why: "the engine is pure: no processes, no terminal, no network",
	},
	{
		from: []string{"kdapilot/engine/..."}, deny: []string{"os", "io/ioutil", "syscall", "golang.org/x/sys/unix"}, direct: true,
		why: "the engine is pure: probes read files and hand it facts",
	},
	{
		from: []string{"kdapilot/ui", "kdapilot/ui/..."}, deny: []string{"kdapilot/probes/...", "kdapilot/cmd/..."},
		why: "the ui knows the world only through session.Session",
	},
	{
		from: []string{"kdapilot/ui", "kdapilot/ui/..."}, deny: []string{"os", "os/exec", "io/ioutil", "syscall", "github.com/fsnotify/...", "net", "net/http"}, direct: true,
		exempt: []string{"kdapilot/ui/view/viewtest"}, // golden files, never linked
		why:    "no file, process or git access from Update or View",
	},
	{
		from: []string{"kdapilot/ui/draw", "kdapilot/ui/style"}, deny: []string{"kdapilot/..."},
		except: []string{"kdapilot/ui/draw", "kdapilot/ui/style"},
		why:    "line helpers and tokens know no domain",
	},
	{
		from: []string{"kdapilot/ui/view/..."}, deny: []string{"charm.land/bubbletea/..."}, direct: true,
		why: "views are plain structs; there is one tea.Model, in ui",
	},
	{
		from: []string{"kdapilot/probes/..."}, deny: []string{"kdapilot/ui", "kdapilot/ui/...", "kdapilot/cmd/...", "charm.land/..."},
		why: "probes turn outside bytes into facts and know no screen",
	},
	{
		from: []string{"kdapilot/templates", "kdapilot/templates/..."}, deny: []string{"kdapilot/..."}, except: []string{"kdapilot/templates", "kdapilot/templates/..."},
		why: "templates are data",
	},
	{
		from: []string{"kdapilot/..."}, deny: []string{
			"github.com/charmbracelet/bubbletea", "github.com/charmbracelet/bubbles/...", "github.com/charmbracelet/lipgloss",
			"github.com/charmbracelet/glamour/...", "github.com/muesli/termenv",
		},
		why: "v1 packages beside v2 freeze every start for five seconds",
	},
}

// probeLeaves are the probes that other probes may import, and the probes that
// are built from others by design.
var probeLeaves = map[string]string{
	"kdapilot/probes/readfile": "bounded reading, no format",
	"kdapilot/probes/att":      "a flyprof bundle holds decoded traces",
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestImportRules(t *testing.T) {
	pkgs := list(t)
	for _, p := range pkgs {
		for _, r := range rules {
			if !matchAny(r.from, p.ImportPath) || matchAny(r.exempt, p.ImportPath) {
				continue
			}
			deps := p.Deps
			if r.direct {
				deps = p.Imports
			}
			for _, d := range deps {
				if matchAny(r.deny, d) && !matchAny(r.except, d) {
					t.Errorf("%s imports %s: %s", p.ImportPath, d, r.why)
				}
			}
		}
	}
}

func TestProbesStandAlone(t *testing.T) {
	for _, p := range list(t) {
		if !strings.HasPrefix(p.ImportPath, "kdapilot/probes/") {
			continue
		}
		for _, d := range p.Imports {
			if strings.HasPrefix(d, "kdapilot/probes/") && probeLeaves[d] == "" {
				t.Errorf("%s imports %s: probes do not know each other; join them in cmd", p.ImportPath, d)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{if not .Doc}}{{.ImportPath}}{{end}}`, "kdapilot/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if s := strings.TrimSpace(string(out)); s != "" {
		t.Errorf("packages without a doc comment:\n%s", s)
	}
}

func list(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps", "kdapilot/...").Output()
	if err != nil {
		var x *exec.ExitError
		if errors.As(err, &x) {
			t.Fatalf("go list: %v\n%s", err, x.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		if strings.HasPrefix(p.ImportPath, "kdapilot") {
			pkgs = append(pkgs, p)
		}
	}
	if len(pkgs) < 5 {
		t.Fatalf("only %d packages found", len(pkgs))
	}
	return pkgs
}

func matchAny(patterns []string, s string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "..."); ok {
			if strings.HasPrefix(s, prefix) {
				return true
			}
			continue
		}
		if ok, err := path.Match(p, s); err == nil && ok {
			return true
		}
	}
	return false
}

func TestRulesCatchViolations(t *testing.T) {
	if !matchAny([]string{"kdapilot/probes/..."}, "kdapilot/probes/att") || matchAny([]string{"kdapilot/ui"}, "kdapilot/ui/draw") {
		t.Error("pattern matching is broken, the rules above prove nothing")
	}
}
