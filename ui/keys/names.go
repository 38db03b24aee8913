package keys

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// named are the keys that have a name instead of a character, as the terminal
// library prints them.
func named() []string {
	n := []string{"enter", "tab", "backspace", "esc", "space", "up", "down", "left", "right", "insert", "delete", "pgup", "pgdown", "home", "end"}
	for i := 1; i <= 12; i++ {
		n = append(n, fmt.Sprintf("f%d", i))
	}
	return n
}

// reserved are keys that no Dangerous action may have: they move, confirm,
// leave or come by themselves when somebody types or pastes.
func reserved() []string {
	return []string{"enter", "tab", "shift+tab", "esc", "space", "backspace", "delete", "up", "down", "left", "right", "h", "j", "k", "l", "pgup", "pgdown", "home", "end", "g", "G", "q", "y", "n", "?", ":", "/"}
}

// Normal returns the one spelling of a key that the table uses: "escape" is
// esc, "shift+g" is "G", " " is space.
func Normal(key string) string {
	if utf8.RuneCountInString(key) == 1 && key != " " {
		return key
	}
	if key == " " {
		return "space"
	}
	mods, base := split(key)
	switch strings.ToLower(base) {
	case "escape":
		base = "esc"
	case "return":
		base = "enter"
	case "pgdn", "pagedown":
		base = "pgdown"
	case "pageup":
		base = "pgup"
	case "del":
		base = "delete"
	case " ":
		base = "space"
	}
	if utf8.RuneCountInString(base) > 1 {
		base = strings.ToLower(base)
	}
	if i := slices.Index(mods, "shift"); i >= 0 && len(mods) == 1 && utf8.RuneCountInString(base) == 1 {
		if r, _ := utf8.DecodeRuneInString(base); unicode.IsLetter(r) {
			return strings.ToUpper(base)
		}
	}
	out := ""
	for _, m := range []string{"ctrl", "alt", "shift"} { // the library's order
		if slices.Contains(mods, m) {
			out += m + "+"
		}
	}
	return out + base
}

// split separates modifiers from the key: "ctrl+alt+x", and "ctrl++".
func split(key string) (mods []string, base string) {
	for {
		i := strings.IndexByte(key, '+')
		if i <= 0 || i == len(key)-1 {
			return mods, key
		}
		m := strings.ToLower(key[:i])
		if m == "control" {
			m = "ctrl"
		}
		if m != "ctrl" && m != "alt" && m != "shift" {
			return mods, key
		}
		mods, key = append(mods, m), key[i+1:]
	}
}

// Valid returns an error when key is no key a terminal can send.
func Valid(key string) error {
	mods, base := split(Normal(key))
	if slices.Contains(named(), base) {
		return nil
	}
	r, size := utf8.DecodeRuneInString(base)
	if size == len(base) && size > 0 && r != utf8.RuneError && unicode.IsPrint(r) {
		if slices.Contains(mods, "ctrl") && slices.Contains([]string{"i", "m", "["}, base) {
			return fmt.Errorf("key %q can not be told from tab, enter or esc in a terminal: choose another", key)
		}
		return nil
	}
	return fmt.Errorf("key %q is not known: expected one character, or one of %s, with ctrl+, alt+ or shift+ in front", key, strings.Join(named(), ", "))
}

// checkKey holds one key of one action against the rules of the table.
func checkKey(a Action, key string) []string {
	var out []string
	if Normal(key) != key {
		out = append(out, fmt.Sprintf("key %q of %s is spelled %q here", key, a.ID, Normal(key)))
	}
	if err := Valid(key); err != nil {
		out = append(out, fmt.Sprintf("%s: %v", a.ID, err))
	}
	if a.Dangerous && slices.Contains(reserved(), key) {
		out = append(out, fmt.Sprintf("%s changes the world and can not be on %q, which is used to move, confirm or leave", a.ID, key))
	}
	for _, c := range a.Contexts {
		if c.Typing() && (utf8.RuneCountInString(key) == 1 || key == "space") {
			out = append(out, fmt.Sprintf("%s can not be on %q: in %s that is text", a.ID, key, c))
		}
	}
	return out
}

// Show returns a key as help writes it.
func Show(key string) string {
	switch key {
	case "pgup":
		return "PgUp"
	case "pgdown":
		return "PgDn"
	}
	mods, base := split(key)
	out := ""
	for _, m := range mods {
		out += capital(m) + "+"
	}
	if utf8.RuneCountInString(base) > 1 {
		base = capital(base)
	}
	return out + base
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func showAll(keys []string) string {
	shown := make([]string, len(keys))
	for i, k := range keys {
		shown[i] = Show(k)
	}
	return strings.Join(shown, " ")
}
