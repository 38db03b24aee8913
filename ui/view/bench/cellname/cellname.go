// Package cellname shortens the keys of cells that are listed together.
//
// Guarantee: two keys that differ have short names that differ.
//
// What may not enter: what an axis means. A key is text with "_" between parts.
package cellname

import "strings"

// Shortener leaves out of cell keys what all listed cells have in common, so
// that what tells them apart is never cut away. The whole key stands in the
// detail.
type Shortener map[string][]bool // by section: which parts of a key to keep

const partSep = "_"

// New looks at n keys; at gives section and key.
func New(n int, at func(i int) (section, key string)) Shortener {
	first := map[string][]string{}
	s := Shortener{}
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

// Short is the key without the common parts; a key that has no other is whole.
func (s Shortener) Short(section, key string) string {
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

// Common are the parts that Short leaves out of a key; "" when it leaves none.
func (s Shortener) Common(section, key string) string {
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
