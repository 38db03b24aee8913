package style

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func themes() []Theme {
	return []Theme{Default(), Light(Colours16), Light(Colours256), Deuteranopia(Colours16), Deuteranopia(TrueColour), Mono()}
}

// tokensOf returns the tokens of a theme by field name.
func tokensOf(t Theme) map[string]Token {
	out := map[string]Token{}
	v := reflect.ValueOf(t)
	for i := range v.NumField() {
		if tok, ok := v.Field(i).Interface().(Token); ok {
			out[v.Type().Field(i).Name] = tok
		}
	}
	return out
}

func TestPaint(t *testing.T) {
	th := Default()
	tests := []struct{ name, got, want string }{
		{"plain", th.Text.Paint("x"), "x"},
		{"colour", th.Good.Paint("ok"), "\x1b[32mok\x1b[39m"},
		{"bold colour", th.Bad.Paint("no"), "\x1b[1;31mno\x1b[22;39m"},
		{"empty stays empty", th.Bad.Paint(""), ""},
		{"outer comes back", th.Good.Paint("a" + th.Warn.Paint("b") + "c"), "\x1b[32ma\x1b[33mb\x1b[39m\x1b[32mc\x1b[39m"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestTokensNeverPaintBackgroundOrReset(t *testing.T) {
	for _, th := range themes() {
		for name, tok := range tokensOf(th) {
			p := ";" + strings.TrimSuffix(strings.TrimPrefix(tok.Open(), "\x1b["), "m") + ";"
			p = strings.ReplaceAll(p, ";38;5;", ";F;")
			for _, n := range []string{"0", "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "100", "101", "107"} {
				if strings.Contains(p, ";"+n+";") {
					t.Errorf("%s.%s uses %s: %q", th.Name, name, n, tok.Open())
				}
			}
			if strings.Contains(tok.Close(), "[0m") || (tok.Open() == "") != (tok.Close() == "") {
				t.Errorf("%s.%s ends with %q", th.Name, name, tok.Close())
			}
			if ansi.Strip(tok.Paint("x")) != "x" {
				t.Errorf("%s.%s changes the text", th.Name, name)
			}
		}
	}
}

// TestMonoHasNoColour: what NO_COLOR forbids is absent, the selection is not.
func TestMonoHasNoColour(t *testing.T) {
	for name, tok := range tokensOf(Mono()) {
		for _, p := range strings.Split(strings.Trim(tok.Open(), "\x1b[m"), ";") {
			if len(p) > 1 {
				t.Errorf("%s uses a colour: %q", name, tok.Open())
			}
		}
	}
	if m := Mono(); m.Select.Plain() || m.Bad.Open() == m.Good.Open() || m.Warn.Open() == m.Good.Open() {
		t.Error("selection or verdicts look alike without colour")
	}
}

func TestVerdictsDiffer(t *testing.T) {
	for _, th := range themes() {
		if th.Good.Open() == th.Bad.Open() || th.Good.Open() == th.Warn.Open() || th.Warn.Open() == th.Bad.Open() {
			t.Errorf("%s paints two verdicts alike", th.Name)
		}
	}
}

// TestLightAvoidsBrightColours: yellow and cyan can not be read on white.
func TestLightAvoidsBrightColours(t *testing.T) {
	for name, tok := range tokensOf(Light(Colours16)) {
		for _, n := range []string{"33m", "36m"} {
			if strings.HasSuffix(tok.Open(), n) {
				t.Errorf("%s uses %q", name, tok.Open())
			}
		}
	}
}

func TestByName(t *testing.T) {
	for _, n := range append(Names(), "", "auto", " Light ") {
		if _, err := ByName(n, Colours256); err != nil {
			t.Errorf("%q: %v", n, err)
		}
		if th, _ := ByName(n, NoColour); th.Name != "mono" {
			t.Errorf("%q without colours gives %s", n, th.Name)
		}
	}
	if _, err := ByName("neon", Colours16); err == nil || !strings.Contains(err.Error(), "neon") || !strings.Contains(err.Error(), "deuteranopia") {
		t.Errorf("unknown theme: %v", err)
	}
}

func TestGlyphsAreOneCell(t *testing.T) {
	for _, g := range []Glyphs{Unicode(), ASCII()} {
		walk(reflect.ValueOf(g), func(name, s string) {
			if name == "Name" {
				return
			}
			if utf8.RuneCountInString(s) != 1 || ansi.StringWidth(s) != 1 || ansi.StringWidthWc(s) != 1 {
				t.Errorf("%s %s is not one cell: %q", g.Name, name, s)
			}
			r, _ := utf8.DecodeRuneInString(s)
			switch {
			case r < 0x7f:
			case g.ASCII:
				t.Errorf("ascii %s is %q", name, s)
			case r >= 0x2500 && r <= 0x259f, r == '✓', r == '✗':
			default:
				t.Errorf("%s %s is neither ASCII, box drawing nor block: %q", g.Name, name, s)
			}
		})
	}
}

func walk(v reflect.Value, f func(name, s string)) {
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch field.Kind() {
		case reflect.String:
			f(name, field.String())
		case reflect.Struct:
			walk(field, f)
		case reflect.Array:
			for j := range field.Len() {
				f(name, field.Index(j).String())
			}
		}
	}
}

func BenchmarkPaint(b *testing.B) {
	th := Default()
	for b.Loop() {
		th.Good.Paint("+3.1 %")
	}
}
