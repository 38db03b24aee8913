package bench

import "strings"

// shortener leaves out of cell keys what all listed cells have in common, so
// that what tells them apart is never cut away. The whole key stands in the
// detail.
type shortener map[string][]bool // by section: which parts of a key to keep

const partSep = "_"

// newShortener looks at n keys; at gives section and key.
func newShortener(n int, at func(i int) (section, key string)) shortener {
	first := map[string][]string{}
	s := shortener{}
	for i := range n {
		section, key := at(i)
		if keep, ok := s[section]; ok && keep == nil {
			continue // keys of several shapes: not shortened
		}
		parts := strings.Split(key, partSep)
		was, ok := first[section]
		switch {
		case !ok:
			first[section], s[section] = parts, make([]bool, len(parts))
		case len(was) != len(parts):
			s[section] = nil
		default:
			for k := range parts {
				s[section][k] = s[section][k] || parts[k] != was[k]
			}
		}
	}
	return s
}

// short is the key without the common parts; a key that has no other is whole.
func (s shortener) short(section, key string) string {
	var out []string
	parts := strings.Split(key, partSep)
	if keep := s[section]; len(keep) == len(parts) {
		for k, p := range parts {
			if keep[k] {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		out = parts
	}
	name := strings.Join(out, partSep)
	if section != "" {
		name = section + " " + name
	}
	return name
}

// common are the parts that were left out of the main section's keys.
func (s shortener) common(section, key string) string {
	var out []string
	parts := strings.Split(key, partSep)
	keep := s[section]
	if len(keep) != len(parts) {
		return ""
	}
	for k, p := range parts {
		if !keep[k] {
			out = append(out, p)
		}
	}
	if len(out) == len(parts) {
		return ""
	}
	return strings.Join(out, partSep)
}
