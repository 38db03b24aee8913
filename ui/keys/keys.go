// Package keys is the one table of what a key does. Help screen, footer and the
// README are generated from it, and a test fails when two actions claim a key
// in the same context.
//
// Guarantees: a Dangerous action only ever opens a question, it is never on a
// key that is used to move, confirm or leave, also after the user's overrides;
// contexts in which text is typed bind no printable key.
//
// What may not enter: what an action does (ui does that), the terminal library
// (keys arrive as the strings it prints), package state: a Table is a value.
package keys

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Context is where a key is pressed.
type Context string

// Contexts. Global keys work in every view, not in a modal context.
const (
	Global   Context = "everywhere"
	Overview Context = "overview"
	Plan     Context = "plan"
	Rounds   Context = "rounds"
	Stalls   Context = "stalls"
	Bench    Context = "bench"
	Runs     Context = "runs"
	Setup    Context = "setup"
	Log      Context = "log" // a log or text pane has the focus, inside a view

	Gate    Context = "gate"    // modal: a phrase is typed
	Prompt  Context = "prompt"  // modal: filter, search, palette, any input
	Confirm Context = "confirm" // modal: a question with a word to type
	Help    Context = "help"    // modal
)

// Views lists the contexts of the eight tabs and setup, in order.
func Views() []Context {
	return []Context{Overview, Plan, Rounds, Stalls, Bench, Runs, Setup}
}

// Modal reports whether c owns all keys, so that Global ones do not work.
func (c Context) Modal() bool { return c == Gate || c == Prompt || c == Confirm || c == Help }

// Typing reports whether printable keys are text in c.
func (c Context) Typing() bool { return c == Gate || c == Prompt || c == Confirm }

// ID names an action, in code and in the configuration.
type ID string

// Action is one thing a key can do.
type Action struct {
	ID       ID
	Keys     []string // as the terminal library prints them; none: palette only
	Short    string   // one or two words for the footer; "" keeps it out
	Long     string   // a sentence for help and README
	Contexts []Context
	// Dangerous marks what changes the world. It opens a question first.
	Dangerous bool
	// Operate marks what needs operate mode to be on.
	Operate bool
}

// In reports whether the action belongs to context c itself.
func (a Action) In(c Context) bool { return slices.Contains(a.Contexts, c) }

// Table is a checked list of actions.
type Table struct {
	actions []Action
	index   map[Context]map[string]int
}

// New builds a table and checks it; the error names every conflict.
func New(actions []Action) (Table, error) {
	t := Table{actions: actions, index: map[Context]map[string]int{}}
	var problems []string
	for i, a := range actions {
		for _, k := range a.Keys {
			problems = append(problems, checkKey(a, k)...)
			for _, c := range a.Contexts {
				if t.index[c] == nil {
					t.index[c] = map[string]int{}
				}
				if j, taken := t.index[c][k]; taken {
					problems = append(problems, clash(k, c, actions[j], a))
					continue
				}
				t.index[c][k] = i
			}
		}
	}
	problems = append(problems, t.shadowed()...)
	if len(problems) > 0 {
		sort.Strings(problems)
		return Table{}, fmt.Errorf("keys: %s", strings.Join(slices.Compact(problems), "; "))
	}
	return t, nil
}

func clash(k string, c Context, a, b Action) string {
	return fmt.Sprintf("key %q means both %s and %s in %s", k, a.ID, b.ID, c)
}

// shadowed finds keys of a view that a Global or a Log action claims as well:
// both work at the same time there.
func (t Table) shadowed() []string {
	var out []string
	for c, byKey := range t.index {
		if c == Global || c.Modal() {
			continue
		}
		for k, i := range byKey {
			if j, both := t.index[Global][k]; both {
				out = append(out, clash(k, c, t.actions[j], t.actions[i]))
			}
			if j, both := t.index[Log][k]; both && c != Log {
				out = append(out, clash(k, c, t.actions[j], t.actions[i])+" when a log has the focus")
			}
		}
	}
	return out
}

// Match returns the action of a key in a context: the context's own, then the
// global ones unless the context is modal. For a log pane inside a view ask for
// Log first, then for the view.
func (t Table) Match(c Context, key string) (Action, bool) {
	key = Normal(key)
	if i, ok := t.index[c][key]; ok {
		return t.actions[i], true
	}
	if !c.Modal() {
		if i, ok := t.index[Global][key]; ok {
			return t.actions[i], true
		}
	}
	return Action{}, false
}

// Is reports whether key means the action id in context c.
func (t Table) Is(c Context, key string, id ID) bool {
	a, ok := t.Match(c, key)
	return ok && a.ID == id
}

// Action returns the action with an id.
func (t Table) Action(id ID) (Action, bool) {
	for _, a := range t.actions {
		if a.ID == id {
			return a, true
		}
	}
	return Action{}, false
}

// Actions returns the actions of one context itself, in table order.
func (t Table) Actions(c Context) []Action {
	var out []Action
	for _, a := range t.actions {
		if a.In(c) {
			out = append(out, a)
		}
	}
	return out
}

// All returns every action, for the palette.
func (t Table) All() []Action { return slices.Clone(t.actions) }

// Hint is a key and what it does, ready to draw.
type Hint struct {
	ID         ID
	Keys, Text string
}

// Footer returns what the footer of a context shows: help, which must not be cut
// off, then the context's own keys, then the global ones. Without operate mode
// the actions that need it are left out.
func (t Table) Footer(c Context, operate bool) []Hint {
	var out []Hint
	if help, ok := t.Action(ShowHelp); ok && len(help.Keys) > 0 && !c.Modal() {
		out = append(out, Hint{ID: ShowHelp, Keys: Show(help.Keys[0]), Text: help.Short})
	}
	add := func(c Context) {
		for _, a := range t.Actions(c) {
			if a.ID != ShowHelp && a.Short != "" && len(a.Keys) > 0 && (operate || !a.Operate) {
				out = append(out, Hint{ID: a.ID, Keys: Show(a.Keys[0]), Text: a.Short})
			}
		}
	}
	add(c)
	if !c.Modal() && c != Global {
		add(Global)
	}
	return out
}

// Section is one titled part of the help screen.
type Section struct {
	Context Context
	Title   string
	Hints   []Hint
}

// HelpFor returns the sections for a context: its own keys, those of a log pane
// where there is one, then the global ones. Actions that need operate mode say
// so.
func (t Table) HelpFor(c Context) []Section {
	order := []Context{c}
	if c == Runs { // the screen that has a log
		order = append(order, Log)
	}
	if !c.Modal() {
		order = append(order, Global)
	}
	var out []Section
	seen := map[Context]bool{}
	for _, c := range order {
		if !seen[c] {
			seen[c] = true
			out = append(out, t.sections(c)...)
		}
	}
	return out
}

// sections lists the keys of one context; the global ones in three parts.
func (t Table) sections(c Context) []Section {
	parts := []Section{{Context: c, Title: title(c)}}
	if c == Global {
		parts = append(parts, Section{Context: c, Title: "Moving"}, Section{Context: c, Title: "Screens"})
	}
	for _, a := range t.Actions(c) {
		if len(a.Keys) == 0 {
			continue
		}
		i := 0
		if c == Global {
			i = part(a.ID)
		}
		parts[i].Hints = append(parts[i].Hints, Hint{Keys: showAll(a.Keys), Text: a.help()})
	}
	return slices.DeleteFunc(parts, func(s Section) bool { return len(s.Hints) == 0 })
}

// part returns in which part of the global keys an action is listed.
func part(id ID) int {
	switch {
	case strings.HasPrefix(string(id), "move."), strings.HasPrefix(string(id), "pane."):
		return 1
	case strings.HasPrefix(string(id), "go."):
		return 2
	default:
		return 0
	}
}

func (a Action) help() string {
	if a.Operate {
		return a.Long + " (operate mode)"
	}
	return a.Long
}

func title(c Context) string {
	switch c {
	case Global:
		return "Everywhere"
	case Log:
		return "In a log or text"
	case Gate:
		return "At a gate"
	case Prompt:
		return "While typing a filter, search or command"
	case Confirm:
		return "At a question"
	case Help:
		return "In this help"
	default:
		return strings.ToUpper(string(c[:1])) + string(c[1:])
	}
}

// Markdown returns the table of all keys for the README.
func (t Table) Markdown() string {
	var b strings.Builder
	order := append(append([]Context{Global}, Views()...), Log, Gate, Confirm, Prompt, Help)
	for _, c := range order {
		var rows []Action
		for _, a := range t.Actions(c) {
			if len(a.Keys) > 0 {
				rows = append(rows, a)
			}
		}
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "### %s\n\n| Key | Does |\n|---|---|\n", title(c))
		for _, a := range rows {
			quoted := make([]string, len(a.Keys))
			for i, k := range a.Keys {
				quoted[i] = "`" + strings.ReplaceAll(Show(k), "|", `\|`) + "`"
			}
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(quoted, " "), strings.ReplaceAll(a.help(), "|", `\|`))
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
