// Package term decides what this terminal can do: colours, glyphs, clipboard,
// bell, layout class. It works on facts that are handed in (an environment
// lookup, the answers of tmux and of the terminal) and on nothing else, so every
// decision can be tested and told to the user.
//
// Guarantee: no decision claims more than a route was found for. A terminal
// that does not answer is a normal case, not an error.
//
// What may not enter: reading the environment, running tmux, writing escape
// sequences. cmd and ui do that with what is decided here.
package term

import (
	"strconv"
	"strings"

	"kdapilot/ui/style"
)

// Term is what is known about the terminal.
type Term struct {
	Name    string // TERM
	Program string // TERM_PROGRAM or what is known by its own variable, "" if unknown

	Dumb       bool // no cursor addressing: print lines, no full screen
	Tmux       bool
	Screen     bool
	SSH        bool
	Console    bool // Linux virtual console: sixteen colours, small font
	NoColour   bool // NO_COLOR is set
	UTF8       bool // locale says UTF-8
	Background Background

	Depth style.Depth

	// Answers, when With was called.
	TmuxVersion  string
	TmuxSetClip  string // value of the tmux option set-clipboard
	CanSync      bool   // answered that mode 2026 is known
	BackgroundBy string // what Background was read from, "" if it is unknown
}

// Background is the brightness behind the text.
type Background int

// Backgrounds. Unknown is the usual case inside tmux.
const (
	UnknownBackground Background = iota
	Dark
	Light
)

// String names the background.
func (b Background) String() string {
	switch b {
	case Dark:
		return "dark"
	case Light:
		return "light"
	default:
		return "unknown"
	}
}

// Answers are facts that had to be asked for. Empty means not asked or no
// answer.
type Answers struct {
	TmuxVersion string // `tmux -V`, such as "tmux 3.3a"
	TmuxSetClip string // `tmux show -sv set-clipboard`: on, external, off
	Background  string // OSC 11 colour: "rgb:ffff/ffff/ffff" or "#ffffff"
	Sync        bool   // DECRPM said mode 2026 is known
	ColourTool  string // what a terminfo lookup says: number of colours, such as "256"
}

// Detect reads the environment through env, which returns "" for what is unset.
func Detect(env func(string) string) Term {
	name := env("TERM")
	t := Term{
		Name:     name,
		Program:  program(env),
		Dumb:     name == "" || name == "dumb" || name == "unknown",
		Tmux:     env("TMUX") != "",
		SSH:      env("SSH_TTY") != "" || env("SSH_CONNECTION") != "" || env("SSH_CLIENT") != "",
		Console:  name == "linux",
		NoColour: env("NO_COLOR") != "",
		UTF8:     utf8Locale(env),
	}
	// Inside tmux TERM is often screen*, so STY decides, then TERM alone.
	t.Screen = env("STY") != "" && !t.Tmux || !t.Tmux && strings.HasPrefix(name, "screen") && env("TERM_PROGRAM") == ""
	t.Depth = depth(env, t)
	t.Background, t.BackgroundBy = byColorFGBG(env("COLORFGBG"))
	return t
}

// With adds answers.
func (t Term) With(a Answers) Term {
	t.TmuxVersion = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(a.TmuxVersion), "tmux "))
	t.TmuxSetClip = strings.TrimSpace(a.TmuxSetClip)
	t.CanSync = a.Sync
	if b := byColour(a.Background); b != UnknownBackground {
		t.Background, t.BackgroundBy = b, "the terminal's answer"
	}
	if n, err := strconv.Atoi(strings.TrimSpace(a.ColourTool)); err == nil && n >= 256 && t.Depth == style.Colours16 && !t.Console {
		t.Depth = style.Colours256
	}
	return t
}

func program(env func(string) string) string {
	if p := env("TERM_PROGRAM"); p != "" && p != "tmux" {
		return p
	}
	for _, v := range []struct{ name, program string }{
		{"KITTY_WINDOW_ID", "kitty"}, {"WT_SESSION", "Windows Terminal"}, {"VTE_VERSION", "VTE"}, {"ALACRITTY_WINDOW_ID", "Alacritty"},
		{"WEZTERM_PANE", "WezTerm"}, {"KONSOLE_VERSION", "Konsole"},
	} {
		if env(v.name) != "" {
			return v.program
		}
	}
	return ""
}

func utf8Locale(env func(string) string) bool {
	for _, n := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(n)); v != "" { // the first that is set decides
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

func depth(env func(string) string, t Term) style.Depth {
	ct := strings.ToLower(env("COLORTERM"))
	switch {
	case t.NoColour || t.Dumb || strings.HasPrefix(t.Name, "vt"):
		return style.NoColour
	case t.Console:
		return style.Colours16
	case (ct == "truecolor" || ct == "24bit") && !t.Screen:
		return style.TrueColour
	case strings.HasSuffix(t.Name, "-direct"), strings.HasPrefix(t.Name, "xterm-kitty"), strings.HasPrefix(t.Name, "alacritty"), strings.HasPrefix(t.Name, "xterm-ghostty"), strings.HasPrefix(t.Name, "wezterm"):
		return style.TrueColour
	case strings.Contains(t.Name, "256color"):
		return style.Colours256
	default:
		return style.Colours16
	}
}

// byColorFGBG reads "15;0" or "0;default;15": the last number is the
// background, 7 and 9 to 15 are bright.
func byColorFGBG(v string) (Background, string) {
	i := strings.LastIndexByte(v, ';')
	if i < 0 {
		return UnknownBackground, ""
	}
	n, err := strconv.Atoi(v[i+1:])
	switch {
	case err != nil || n < 0 || n > 15:
		return UnknownBackground, ""
	case n == 7 || n >= 9:
		return Light, "COLORFGBG"
	default:
		return Dark, "COLORFGBG"
	}
}

// byColour reads "rgb:rrrr/gggg/bbbb" (one to four digits each) or "#rrggbb"
// and judges by relative luminance (ITU-R BT.709 weights, without gamma).
func byColour(c string) Background {
	c = strings.TrimSpace(c)
	var parts []string
	switch {
	case strings.HasPrefix(c, "rgb:"):
		parts = strings.Split(c[4:], "/")
	case strings.HasPrefix(c, "#") && len(c) == 7:
		parts = []string{c[1:3], c[3:5], c[5:7]}
	}
	if len(parts) != 3 {
		return UnknownBackground
	}
	var l float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n := len(parts[i])
		if n < 1 || n > 4 {
			return UnknownBackground
		}
		v, err := strconv.ParseUint(parts[i], 16, 32)
		if err != nil {
			return UnknownBackground
		}
		l += weight * float64(v) / float64(uint64(1)<<(4*n)-1)
	}
	if l > 0.5 {
		return Light
	}
	return Dark
}

// Theme returns the theme for the configured name; "auto" follows the
// background and falls back to the one that reads on both.
func (t Term) Theme(name string) (style.Theme, error) {
	if n := strings.ToLower(strings.TrimSpace(name)); (n == "" || n == "auto") && t.Background == Light {
		name = "light"
	}
	return style.ByName(name, t.Depth)
}

// Glyphs returns the glyph set for the configured word: "auto" (or ""),
// "unicode", "ascii". Any other word gives auto; check it where it is read.
func (t Term) Glyphs(name string) style.Glyphs {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "ascii":
		return style.ASCII()
	case "unicode":
		return style.Unicode()
	}
	if !t.UTF8 && !t.Tmux || t.Console || t.Dumb {
		return style.ASCII()
	}
	return style.Unicode()
}

// Facts lists what was found, for the setup screen and bug reports.
func (t Term) Facts() []string {
	yes := func(name string, on bool) string {
		if on {
			return name + ": yes"
		}
		return name + ": no"
	}
	unknown := func(s string) string {
		if s == "" {
			return "unknown"
		}
		return s
	}
	return []string{
		"TERM: " + unknown(t.Name), "program: " + unknown(t.Program), yes("tmux", t.Tmux), "tmux version: " + unknown(t.TmuxVersion),
		yes("screen", t.Screen), yes("ssh", t.SSH), yes("UTF-8 locale", t.UTF8), yes("NO_COLOR", t.NoColour),
		"colours: " + t.Depth.String(), "background: " + t.Background.String(), "clipboard: " + t.Clipboard(0).Route.String(),
	}
}
