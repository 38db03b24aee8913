package term

import (
	"errors"
	"strings"
	"testing"

	"kdapilot/ui/style"
)

func environ(pairs ...string) func(string) string {
	m := map[string]string{}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	return func(k string) string { return m[k] }
}

func TestDetect(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		want Term
	}{
		{"nothing at all", nil, Term{Dumb: true}},
		{"dumb", []string{"TERM=dumb", "LANG=C"}, Term{Name: "dumb", Dumb: true}},
		{"ssh and tmux", []string{"TERM=tmux-256color", "TMUX=/tmp/x,1,0", "SSH_CONNECTION=a b", "LANG=en_US.UTF-8", "TERM_PROGRAM=tmux"},
			Term{Name: "tmux-256color", Tmux: true, SSH: true, UTF8: true, Depth: style.Colours256}},
		{"tmux with TERM=screen", []string{"TERM=screen", "TMUX=/tmp/x,1,0", "TERM_PROGRAM=tmux", "LC_ALL=C", "LANG=de_DE.UTF-8"},
			Term{Name: "screen", Tmux: true, Depth: style.Colours16}},
		{"screen", []string{"TERM=screen.xterm-256color", "STY=1.pts", "COLORTERM=truecolor", "LANG=C.UTF-8"},
			Term{Name: "screen.xterm-256color", Screen: true, UTF8: true, Depth: style.Colours256}},
		{"truecolour kitty", []string{"TERM=xterm-kitty", "KITTY_WINDOW_ID=1", "COLORTERM=truecolor", "LC_CTYPE=UTF-8"},
			Term{Name: "xterm-kitty", Program: "kitty", UTF8: true, Depth: style.TrueColour}},
		{"no colour", []string{"TERM=xterm-256color", "NO_COLOR=1", "COLORTERM=truecolor"},
			Term{Name: "xterm-256color", NoColour: true, Depth: style.NoColour}},
		{"empty NO_COLOR is unset", []string{"TERM=xterm-256color", "NO_COLOR="}, Term{Name: "xterm-256color", Depth: style.Colours256}},
		{"console", []string{"TERM=linux", "LANG=C.UTF-8"}, Term{Name: "linux", Console: true, UTF8: true, Depth: style.Colours16}},
		{"light rxvt", []string{"TERM=rxvt", "COLORFGBG=0;default;15"},
			Term{Name: "rxvt", Depth: style.Colours16, Background: Light, BackgroundBy: "COLORFGBG"}},
		{"dark rxvt", []string{"TERM=rxvt", "COLORFGBG=15;0"},
			Term{Name: "rxvt", Depth: style.Colours16, Background: Dark, BackgroundBy: "COLORFGBG"}},
		{"strange COLORFGBG", []string{"TERM=rxvt", "COLORFGBG=15;blue"}, Term{Name: "rxvt", Depth: style.Colours16}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Detect(environ(tt.env...)); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestBackgroundAnswer(t *testing.T) {
	tests := map[string]Background{
		"rgb:ffff/ffff/ffff": Light, "rgb:0000/0000/0000": Dark, "rgb:fd/f6/e3": Light, "#002b36": Dark, "#ffffff": Light,
		"": UnknownBackground, "rgb:": UnknownBackground, "rgb:1/2": UnknownBackground, "rgb:xx/yy/zz": UnknownBackground, "#fff": UnknownBackground, "rgb:12345/0/0": UnknownBackground,
	}
	for answer, want := range tests {
		if got := (Term{}).With(Answers{Background: answer}).Background; got != want {
			t.Errorf("%q gives %s, want %s", answer, got, want)
		}
	}
}

func TestThemeAndGlyphs(t *testing.T) {
	light := Detect(environ("TERM=xterm-256color", "COLORFGBG=0;15", "LANG=C.UTF-8"))
	if th, err := light.Theme("auto"); err != nil || th.Name != "light" {
		t.Errorf("auto on light gives %q, %v", th.Name, err)
	}
	mono := Detect(environ("TERM=xterm-256color", "NO_COLOR=1"))
	if th, err := mono.Theme("deuteranopia"); err != nil || th.Name != "mono" {
		t.Errorf("NO_COLOR gives %q, %v", th.Name, err)
	}
	if _, err := light.Theme("sepia"); err == nil || !strings.Contains(err.Error(), "sepia") {
		t.Errorf("unknown theme: %v", err)
	}
	if light.Glyphs("").ASCII || !light.Glyphs("ascii").ASCII || !mono.Glyphs("auto").ASCII || mono.Glyphs("unicode").ASCII {
		t.Error("glyph set does not follow locale and wish")
	}
}

func TestClipboard(t *testing.T) {
	tmux := []string{"TERM=screen", "TMUX=/tmp/x,1,0"}
	tests := []struct {
		name    string
		env     []string
		answers Answers
		n       int
		want    Route
	}{
		{"tmux 3.3a", tmux, Answers{TmuxVersion: "tmux 3.3a"}, 1 << 20, TmuxBuffer},
		{"tmux, version not asked", tmux, Answers{}, 10, TmuxBuffer},
		{"tmux next-3.5", tmux, Answers{TmuxVersion: "tmux next-3.5"}, 10, TmuxBuffer},
		{"tmux 2.8", tmux, Answers{TmuxVersion: "tmux 2.8"}, 10, TmuxInternal},
		{"tmux 3.1c", tmux, Answers{TmuxVersion: "tmux 3.1c"}, 10, TmuxInternal},
		{"tmux, clipboard off", tmux, Answers{TmuxVersion: "tmux 3.4", TmuxSetClip: "off"}, 10, TmuxInternal},
		{"plain xterm", []string{"TERM=xterm"}, Answers{}, 10, OSC52},
		{"too long", []string{"TERM=xterm"}, Answers{}, maxOSC52 + 1, NoRoute},
		{"screen", []string{"TERM=screen", "STY=1"}, Answers{}, 10, NoRoute},
		{"console", []string{"TERM=linux"}, Answers{}, 10, NoRoute},
		{"dumb", []string{"TERM=dumb"}, Answers{}, 10, NoRoute},
		{"apple", []string{"TERM=xterm-256color", "TERM_PROGRAM=Apple_Terminal"}, Answers{}, 10, NoRoute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Detect(environ(tt.env...)).With(tt.answers).Clipboard(tt.n)
			if c.Route != tt.want || c.Why == "" {
				t.Fatalf("got %+v, want %s", c, tt.want)
			}
			if (c.Route == TmuxBuffer || c.Route == TmuxInternal) != (len(c.Argv) > 0) {
				t.Errorf("argv %q for %s", c.Argv, c.Route)
			}
			said := c.Said(nil)
			if strings.HasPrefix(said, "copied") != (c.Route == TmuxBuffer) {
				t.Errorf("%s says %q", c.Route, said)
			}
			if s := c.Said(errors.New("no server")); c.Route != NoRoute && (!strings.HasPrefix(s, "not copied") || !strings.Contains(s, "no server")) {
				t.Errorf("failure says %q", s)
			}
		})
	}
}

func TestNotify(t *testing.T) {
	if n := Detect(environ("TERM=dumb")).Notify(true); n != (Notify{}) {
		t.Errorf("dumb terminal gets %+v", n)
	}
	if n := Detect(environ("TERM=screen", "TMUX=x")).Notify(true); !n.Bell || !n.Title || n.OSC9 {
		t.Errorf("tmux gets %+v", n)
	}
	if n := Detect(environ("TERM=xterm")).Notify(true); !n.OSC9 {
		t.Errorf("xterm gets %+v", n)
	}
	if n := Detect(environ("TERM=xterm")).Notify(false); n.OSC9 {
		t.Error("OSC 9 although not wanted")
	}
}

func TestClassOf(t *testing.T) {
	tests := []struct {
		w, h int
		want Class
	}{
		{0, 0, Tiny}, {19, 40, Tiny}, {200, 5, Tiny}, {20, 6, Narrow}, {40, 15, Narrow}, {41, 15, OnePane}, {79, 24, OnePane}, {80, 24, TwoPanes}, {119, 40, TwoPanes}, {120, 40, FourPanes}, {-1, -1, Tiny},
	}
	for _, tt := range tests {
		if got := ClassOf(tt.w, tt.h); got != tt.want {
			t.Errorf("%dx%d is %s, want %s", tt.w, tt.h, got, tt.want)
		}
	}
}

func TestFactsSayUnknown(t *testing.T) {
	facts := strings.Join(Detect(environ("TERM=xterm")).Facts(), "\n")
	for _, want := range []string{"tmux version: unknown", "background: unknown", "program: unknown", "clipboard: OSC 52"} {
		if !strings.Contains(facts, want) {
			t.Errorf("facts miss %q:\n%s", want, facts)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add("tmux 3.3a", "rgb:ffff/0/0", "15;0")
	f.Add("3.", "#12345g", ";")
	f.Fuzz(func(t *testing.T, version, colour, fgbg string) {
		tt := Detect(environ("TERM=xterm", "TMUX=x", "COLORFGBG="+fgbg)).With(Answers{TmuxVersion: version, Background: colour})
		if c := tt.Clipboard(1); len(c.Argv) == 0 || c.Why == "" {
			t.Errorf("no decision for %q", version)
		}
		_ = tt.Facts()
	})
}
