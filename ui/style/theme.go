package style

import (
	"fmt"
	"strings"
)

// Depth is how many colours the terminal shows. The caller finds it out.
type Depth int

// Depths, from none to 24 bit.
const (
	NoColour Depth = iota
	Colours16
	Colours256
	TrueColour
)

// String names the depth as configuration and checks print it.
func (d Depth) String() string {
	switch d {
	case NoColour:
		return "no colour"
	case Colours16:
		return "16 colours"
	case Colours256:
		return "256 colours"
	default:
		return "true colour"
	}
}

// Theme is a value: hand it down, do not store it globally.
type Theme struct {
	Name string

	Text   Token // ordinary text
	Dim    Token // labels, units, things that may be skipped
	Strong Token // emphasis inside text
	Title  Token // titles of panes
	Accent Token // the one thing to look at
	Info   Token // neutral notice

	Good Token // earned green
	Warn Token // amber: look, not yet wrong
	Bad  Token // red

	Select      Token // the selected row; reverse, and the caller adds ">"
	Match       Token // a hit of the search
	Border      Token
	BorderFocus Token // the focused pane; the glyphs differ as well
	Header      Token // header row of a table
	Key         Token // a key to press, in footer and help
	Ball        Token // who has the ball
	Simulated   Token // the word SIMULATED and what it covers

	Heading Token // heading in rendered markdown
	Code    Token
	Quote   Token
	Link    Token
	Added   Token // diff, with "+"
	Removed Token // diff, with "-"
	Hunk    Token // diff, "@@"
	Changed Token // the part of a changed line that differs

	Bar    Token // filled part of a bar
	Before Token // what was: earlier bar, base column
}

// palette holds the foregrounds in which the coloured themes differ.
type palette struct {
	accent, info, good, warn, bad, ball, code, before string
}

// Default reads on dark and light backgrounds: the sixteen ANSI colours, which
// the user's terminal has already tuned, on the default background.
func Default() Theme {
	return coloured("default", palette{
		accent: "36", info: "36", good: "32", warn: "33", bad: "31", ball: "35", code: "36", before: "34",
	})
}

// Light avoids yellow and cyan, which vanish on white.
func Light(d Depth) Theme {
	if d >= Colours256 {
		return coloured("light", palette{
			accent: "38;5;25", info: "38;5;25", good: "38;5;28", warn: "38;5;130", bad: "38;5;124", ball: "38;5;90", code: "38;5;24", before: "38;5;61",
		})
	}
	return coloured("light", palette{
		accent: "34", info: "34", good: "32", warn: "35", bad: "31", ball: "35", code: "34", before: "34",
	})
}

// Deuteranopia separates better and worse by blue and orange, which eyes that
// mix red and green still tell apart.
func Deuteranopia(d Depth) Theme {
	if d >= Colours256 {
		return coloured("deuteranopia", palette{
			accent: "38;5;33", info: "38;5;33", good: "38;5;33", warn: "38;5;178", bad: "38;5;166", ball: "38;5;133", code: "38;5;67", before: "38;5;67",
		})
	}
	return coloured("deuteranopia", palette{
		accent: "36", info: "36", good: "34", warn: "35", bad: "33", ball: "35", code: "36", before: "36",
	})
}

// Mono uses bold, faint, underline and reverse only. It is what NO_COLOR asks
// for: no colour, while the selection stays visible.
func Mono() Theme {
	t := coloured("mono", palette{})
	t.Good = token("", bold)
	t.Warn = token("", underline)
	t.Bad = token("", bold, underline)
	t.Accent = token("", bold)
	t.Match = token("", reverse)
	t.Ball = token("", bold)
	t.Simulated = token("", reverse)
	t.Before = token("", faint)
	return t
}

func coloured(name string, p palette) Theme {
	return Theme{
		Name:   name,
		Dim:    token("", faint),
		Strong: token("", bold),
		Title:  token("", bold),
		Accent: token(p.accent),
		Info:   token(p.info),

		Good: token(p.good),
		Warn: token(p.warn),
		Bad:  token(p.bad, bold),

		Select:      token("", reverse),
		Match:       token(p.warn, reverse),
		Border:      token("", faint),
		BorderFocus: token(p.accent, bold),
		Header:      token("", bold),
		Key:         token(p.accent, bold),
		Ball:        token(p.ball, bold),
		Simulated:   token(p.warn, reverse),

		Heading: token(p.accent, bold),
		Code:    token(p.code),
		Quote:   token("", faint),
		Link:    token("", underline),
		Added:   token(p.good),
		Removed: token(p.bad),
		Hunk:    token(p.info),
		Changed: token("", bold, underline),

		Bar:    token(p.accent),
		Before: token(p.before),
	}
}

// Names lists what ByName knows, in the order a user should see them.
func Names() []string { return []string{"default", "light", "deuteranopia", "mono"} }

// ByName returns the theme for a word from the configuration. With NoColour
// every name gives Mono. "" and "auto" mean default, "dark" and "ansi16" too.
func ByName(name string, d Depth) (Theme, error) {
	known := true
	var t Theme
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "", "auto", "default", "dark", "ansi16":
		t = Default()
	case "light":
		t = Light(d)
	case "deuteranopia":
		t = Deuteranopia(d)
	case "mono":
		t = Mono()
	default:
		known = false
	}
	if !known {
		return Default(), fmt.Errorf("theme %q is not known: expected auto, %s", name, strings.Join(Names(), ", "))
	}
	if d == NoColour {
		t = Mono()
	}
	return t, nil
}

// Look is what a drawing helper needs to know about appearance.
type Look struct {
	Theme
	Glyphs
}

// NewLook joins a theme and a glyph set.
func NewLook(t Theme, g Glyphs) Look { return Look{Theme: t, Glyphs: g} }
