package keys

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// With returns the table with the user's keys in place of the standard ones.
// overrides maps an action id to its keys; an empty list takes the action off
// the keyboard (the palette still has it). The error names every unknown
// action, unknown key and conflict, and the table is then not changed.
func (t Table) With(overrides map[string][]string) (Table, error) {
	if len(overrides) == 0 {
		return t, nil
	}
	actions := slices.Clone(t.actions)
	var problems []string
	for _, name := range sortedNames(overrides) {
		i := slices.IndexFunc(actions, func(a Action) bool { return string(a.ID) == name })
		if i < 0 {
			problems = append(problems, fmt.Sprintf("action %q is not known%s", name, t.nearest(name)))
			continue
		}
		if essential(actions[i].ID) && len(overrides[name]) == 0 {
			problems = append(problems, fmt.Sprintf("action %q must keep at least one key", name))
			continue
		}
		var keys []string
		for _, k := range overrides[name] {
			if err := Valid(k); err != nil {
				problems = append(problems, fmt.Sprintf("action %q: %v", name, err))
				continue
			}
			if n := Normal(k); !slices.Contains(keys, n) {
				keys = append(keys, n)
			}
		}
		actions[i].Keys = keys
	}
	if len(problems) > 0 {
		return t, fmt.Errorf("keys: %s", strings.Join(problems, "; "))
	}
	changed, err := New(actions)
	if err != nil {
		return t, err
	}
	return changed, nil
}

// essential actions are the ways out; they can be moved but not removed.
func essential(id ID) bool {
	switch id {
	case Quit, Back, ShowHelp, GateCancel, PromptCancel, ConfirmCancel, HelpClose:
		return true
	default:
		return false
	}
}

func sortedNames(m map[string][]string) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// nearest suggests the action whose name is closest, when one is close.
func (t Table) nearest(name string) string {
	best, at := "", 4
	for _, a := range t.actions {
		if d := distance(name, string(a.ID), at); d < at {
			best, at = string(a.ID), d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// distance is the Levenshtein distance, or limit when lengths differ too much.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
