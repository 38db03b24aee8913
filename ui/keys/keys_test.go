package keys

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

func TestStandard(t *testing.T) {
	if _, err := New(standard()); err != nil {
		t.Fatal(err)
	}
	ids := map[ID]bool{}
	for _, a := range standard() {
		if ids[a.ID] {
			t.Errorf("%s stands twice in the table", a.ID)
		}
		ids[a.ID] = true
		if a.Long == "" || len(a.Contexts) == 0 {
			t.Errorf("%s needs a help text and a context", a.ID)
		}
		if a.Dangerous && !a.Operate {
			t.Errorf("%s is dangerous, so it needs operate mode", a.ID)
		}
		for _, k := range a.Keys {
			for _, c := range a.Contexts {
				if got, ok := Standard().Match(c, k); !ok || got.ID != a.ID {
					t.Errorf("%q in %s gives %s, want %s", k, c, got.ID, a.ID)
				}
			}
		}
	}
}

// TestModalOwnsKeys: behind a gate, a prompt or a question no other key acts.
func TestModalOwnsKeys(t *testing.T) {
	table := Standard()
	for _, c := range []Context{Gate, Prompt, Confirm} {
		for _, k := range []string{"q", "A", "S", "x", "y", "1", "space", "o", "enter"} {
			a, ok := table.Match(c, k)
			if k != "enter" && ok {
				t.Errorf("%q acts in %s: %s", k, c, a.ID)
			}
			if a.Dangerous {
				t.Errorf("%q is dangerous in %s", k, c)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name    string
		actions []Action
		want    string
	}{
		{"same context", []Action{{ID: "a", Keys: []string{"x"}, Contexts: in(Plan)}, {ID: "b", Keys: []string{"x"}, Contexts: in(Plan)}}, `key "x" means both a and b in plan`},
		{"global shadowed", []Action{{ID: "a", Keys: []string{"x"}, Contexts: in(Plan)}, {ID: "b", Keys: []string{"x"}, Contexts: in(Global)}}, `key "x" means both b and a in plan`},
		{"log shadows view", []Action{{ID: "a", Keys: []string{"f"}, Contexts: in(Runs)}, {ID: "b", Keys: []string{"f"}, Contexts: in(Log)}}, "when a log has the focus"},
		{"dangerous on enter", []Action{{ID: "a", Keys: []string{"enter"}, Contexts: in(Runs), Dangerous: true}}, "can not be on"},
		{"text where text is typed", []Action{{ID: "a", Keys: []string{"x"}, Contexts: in(Gate)}}, "in gate that is text"},
		{"unknown key", []Action{{ID: "a", Keys: []string{"hyperspace"}, Contexts: in(Plan)}}, "is not known"},
		{"ctrl+i is tab", []Action{{ID: "a", Keys: []string{"ctrl+i"}, Contexts: in(Plan)}}, "can not be told from"},
		{"second spelling", []Action{{ID: "a", Keys: []string{"escape"}, Contexts: in(Plan)}}, `spelled "esc"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.actions)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestModalMayReuseKeys(t *testing.T) {
	if _, err := New([]Action{{ID: "a", Keys: []string{"esc"}, Contexts: in(Gate)}, {ID: "b", Keys: []string{"esc"}, Contexts: in(Global)}}); err != nil {
		t.Fatal(err)
	}
}

// TestMatchRealKeys goes through the library's own spelling of keys.
func TestMatchRealKeys(t *testing.T) {
	tests := []struct {
		key  tea.KeyPressMsg
		want ID
	}{
		{tea.KeyPressMsg{Code: 'j', Text: "j"}, Down},
		{tea.KeyPressMsg{Code: 'g', ShiftedCode: 'G', Mod: tea.ModShift, Text: "G"}, Bottom},
		{tea.KeyPressMsg{Code: 'g', Mod: tea.ModShift}, Bottom},
		{tea.KeyPressMsg{Code: tea.KeyEscape}, Back},
		{tea.KeyPressMsg{Code: tea.KeyEnter}, Drill},
		{tea.KeyPressMsg{Code: tea.KeyKpEnter}, Drill},
		{tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}, PageDown},
		{tea.KeyPressMsg{Code: tea.KeyTab}, NextPane},
		{tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}, PrevPane},
		{tea.KeyPressMsg{Code: 'l', Mod: tea.ModCtrl}, Redraw},
		{tea.KeyPressMsg{Code: 'z', Mod: tea.ModCtrl}, Suspend},
		{tea.KeyPressMsg{Code: '/', Text: "/"}, Filter},
		{tea.KeyPressMsg{Code: '/', ShiftedCode: '?', Mod: tea.ModShift, Text: "?"}, ShowHelp},
		{tea.KeyPressMsg{Code: tea.KeyPgDown}, PageDown},
		{tea.KeyPressMsg{Code: 'a', ShiftedCode: 'A', Mod: tea.ModShift, Text: "A"}, OpenG1},
	}
	for _, tt := range tests {
		a, ok := Standard().Match(Plan, tt.key.String())
		if !ok || a.ID != tt.want {
			t.Errorf("%q gives %q, want %q", tt.key.String(), a.ID, tt.want)
		}
	}
}

func TestWith(t *testing.T) {
	table, err := Standard().With(map[string][]string{"quit": {"Q", "ctrl+q"}, "log.wrap": {"shift+w"}, "rescan": {}})
	if err != nil {
		t.Fatal(err)
	}
	if !table.Is(Plan, "Q", Quit) || table.Is(Plan, "q", Quit) || !table.Is(Log, "W", Wrap) {
		t.Error("overrides are not in force")
	}
	if _, ok := table.Match(Plan, "ctrl+r"); ok {
		t.Error("ctrl+r was taken away and still works")
	}
	if !Standard().Is(Plan, "q", Quit) {
		t.Error("the standard table changed")
	}
	bad := []struct {
		name string
		over map[string][]string
		want string
	}{
		{"unknown action", map[string][]string{"quitt": {"Q"}}, `did you mean "quit"?`},
		{"conflict names both", map[string][]string{"zoom": {"n"}}, "match.next"},
		{"unknown key", map[string][]string{"zoom": {"zz"}}, `key "zz" is not known`},
		{"danger on enter", map[string][]string{"gate.plan": {"enter"}}, "can not be on"},
		{"no way out", map[string][]string{"quit": {}}, "must keep at least one key"},
		{"letters at a gate", map[string][]string{"gate.cancel": {"c"}}, "in gate that is text"},
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Standard().With(tt.over)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q in it", err, tt.want)
			}
			if !got.Is(Plan, "q", Quit) {
				t.Error("the table changed although the overrides are refused")
			}
		})
	}
}

func TestHelpComesFromTheTable(t *testing.T) {
	table := Standard()
	md := table.Markdown()
	for _, a := range table.All() {
		if len(a.Keys) == 0 {
			continue
		}
		if !strings.Contains(md, strings.ReplaceAll(a.help(), "|", `\|`)) {
			t.Errorf("README misses %s", a.ID)
		}
	}
	for _, c := range Views() {
		n := 0
		for _, s := range table.HelpFor(c) {
			n += len(s.Hints)
		}
		if n < 30 {
			t.Errorf("help of %s has %d keys", c, n)
		}
		for _, h := range table.Footer(c, false) {
			if slices.Contains([]string{"A", "S", "x", "r", "R", "V", "O"}, h.Keys) {
				t.Errorf("footer of %s offers %q without operate mode", c, h.Keys)
			}
		}
	}
	if !slices.ContainsFunc(table.Footer(Plan, true), func(h Hint) bool { return h.Keys == "A" }) {
		t.Error("footer of plan misses gate 1 in operate mode")
	}
}

func FuzzNormal(f *testing.F) {
	for _, s := range []string{"G", "shift+g", "ctrl++", "+", "escape", "ctrl+shift+alt+x", " ", "ctrl+ ", "\xff", "shift+ä"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		n := Normal(key)
		if utf8.ValidString(key) && Normal(n) != n {
			t.Errorf("Normal(%q) = %q, and again %q", key, n, Normal(n))
		}
		if Valid(key) == nil {
			if _, err := Standard().With(map[string][]string{"zoom": {key}}); err != nil && strings.Contains(err.Error(), "spelled") {
				t.Errorf("%q is valid and refused: %v", key, err)
			}
		}
		Standard().Match(Plan, key)
	})
}
