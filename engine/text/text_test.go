package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "vmcnt 54.98", "vmcnt 54.98"},
		{"sgr", "\x1b[31mFAIL\x1b[0m", "FAIL"},
		{"clipboard", "a\x1b]52;c;aGk=\x07b", "ab"},
		{"unterminated osc", "a\x1b]0;title", "a"},
		{"dcs", "a\x1bPtmux;\x1b\x1b[2J\x1b\\b", "ab"},
		{"c1 csi", "a\u009b2Jb", "ab"},
		{"crlf", "a\r\nb", "a\nb"},
		{"progress", "10%\r20%", "10%\n20%"},
		{"bidi", "a\u202eb", "ab"},
		{"bell", "a\ab", "ab"},
		{"invalid utf-8", "a\xffb", "a\uFFFDb"},
		{"unicode kept", "µs ≤ 3", "µs ≤ 3"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	if got := Line(" a\n\tb\x1b[2J "); got != "a  b" {
		t.Errorf("Line = %q", got)
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abc..."}, {"aé€xyz1", 6, "aé..."}, {"abc", 2, ".."}} {
		if got := Clip(c.in, c.n); got != c.want || !utf8.ValidString(got) {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b]52;c;x\x07\u009b2J\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if strings.ContainsAny(got, "\x1b\x07\r\x7f\x00") || !utf8.ValidString(got) {
			t.Errorf("Clean(%q) = %q still holds control characters", s, got)
		}
		if again := Clean(got); again != got {
			t.Errorf("not idempotent: %q then %q", got, again)
		}
	})
}
