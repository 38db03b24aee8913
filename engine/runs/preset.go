package runs

import (
	"fmt"
	"slices"
	"strings"
)

// Preset is a named command of a family. Argv is a list, never a shell line;
// "{name}" inside an argument is replaced by a value at start.
type Preset struct {
	Name     string   `json:"name"`
	Kind     Kind     `json:"kind"`
	Argv     []string `json:"argv"`
	Captures []string `json:"captures,omitempty"`
	Question string   `json:"question,omitempty"`
	// Env are variables the preset sets, with the same placeholders.
	Env map[string]string `json:"env,omitempty"`
	// ExpectedCells is nil when the family's tables do not say.
	ExpectedCells *int `json:"expected_cells,omitempty"`
}

// Resolve fills the placeholders of the preset's arguments from values. An
// argument that consists of one placeholder whose value is empty is dropped;
// "{{" and "}}" stand for the braces themselves. The error names the argument
// and lists what could have been used.
func (p Preset) Resolve(values map[string]string) ([]string, error) {
	var argv []string
	for i, a := range p.Argv {
		s, err := expand(a, values)
		if err != nil {
			return nil, fmt.Errorf("preset %s: argument %d %q: %w", p.Name, i+1, a, err)
		}
		if s == "" && a != "" {
			continue
		}
		argv = append(argv, s)
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, fmt.Errorf("preset %s: no command to run", p.Name)
	}
	return argv, nil
}

// ResolveEnv fills the placeholders of the preset's variables.
func (p Preset) ResolveEnv(values map[string]string) (map[string]string, error) {
	env := make(map[string]string, len(p.Env))
	for k, v := range p.Env {
		s, err := expand(v, values)
		if err != nil {
			return nil, fmt.Errorf("preset %s: variable %s=%q: %w", p.Name, k, v, err)
		}
		env[k] = s
	}
	return env, nil
}

func expand(s string, values map[string]string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "{{"), strings.HasPrefix(s[i:], "}}"):
			b.WriteByte(s[i])
			i += 2
		case s[i] == '}':
			return "", fmt.Errorf("stray } at byte %d; write }} for a brace", i)
		case s[i] == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return "", fmt.Errorf("no } after the { at byte %d; write {{ for a brace", i)
			}
			name := s[i+1 : i+end]
			v, ok := values[name]
			if !ok {
				return "", fmt.Errorf("unknown placeholder {%s}, known: %s", name, known(values))
			}
			b.WriteString(v)
			i += end + 1
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String(), nil
}

func known(values map[string]string) string {
	names := make([]string, 0, len(values))
	for n := range values {
		names = append(names, "{"+n+"}")
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}
