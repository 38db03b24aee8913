package session

import "strings"

// SplitCommand splits a command line a person typed: blanks separate, quotes and
// backslashes keep blanks. No expansion happens: what is run is what is
// shown. ok is false when a quote is left open.
func SplitCommand(s string) (argv []string, ok bool) {
	var b strings.Builder
	open, quote, esc := false, rune(0), false
	for _, r := range s {
		switch {
		case esc:
			b.WriteRune(r)
			esc = false
		case r == '\\' && quote != '\'':
			esc, open = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				b.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t':
			if open {
				argv = append(argv, b.String())
				b.Reset()
				open = false
			}
		default:
			b.WriteRune(r)
			open = true
		}
	}
	if open {
		argv = append(argv, b.String())
	}
	return argv, quote == 0 && !esc
}
