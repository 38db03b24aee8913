package draw

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"kdapilot/ui/style"
)

var mdFragments = []string{
	"# Goal\n", "### Deep *heading* `x`\n", "Setext\n======\n", "Other\n---\n", "\n", "plain text goes on and on until it has to wrap somewhere\n", "- item\n", "  - nested **bold**\n",
	"7. seven\n", "9) nine\n", "  continued\n", "> quote\n", "> > deeper\n", ">\n", "```go\ncode := 1\n```\n", "```\nopen\n", "    indented code\n", "<!-- a comment -->\n", "<!-- open\n",
	"<comment>check this</comment>\n", "<div>\nraw\n</div>\n", "| a | b |\n|---|:-:|\n| one | two words |\n| three | `four` |\n", "| lone |\n|---|\n", "[text](https://example.org/x) and <https://example.org>\n",
	"[ref]: https://example.org/ref \"title\"\n", "[ref] used\n", "![alt](pic.png)\n", "hard  \nbreak\n", "\\*escaped\\*\n", "&lt;entity&gt;\n", "***\n", "- [ ] open task\n", "* * *\n", "-\n", "1.\n", "#\n",
	"line with\ttab\n", "中文 段落\n", "no newline",
}

func anyMarkdown() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 14).Draw(t, "parts") {
			b.WriteString(rapid.OneOf(rapid.SampledFrom(mdFragments), rapid.SampledFrom(mdFragments), rapid.SampledFrom(mdFragments), anyText()).Draw(t, "part"))
		}
		return b.String()
	})
}

func TestMarkdownIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, w, look := anyMarkdown().Draw(t, "src"), width().Draw(t, "w"), anyLook().Draw(t, "look")
		lines := Markdown(src, w, look)
		exact(t, Texts(lines), w)
		total := strings.Count(src, "\n") + 1
		for _, l := range lines {
			if l.Source < 1 || l.Source > total {
				t.Fatalf("source line %d of %d: %q", l.Source, total, l.Text)
			}
		}
	})
}

// TestMarkdownHidesNothing holds the promise of review: each letter and digit
// of the source is on the screen.
func TestMarkdownHidesNothing(t *testing.T) {
	look := style.NewLook(style.Default(), style.Unicode())
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 14).Draw(t, "parts") {
			b.WriteString(rapid.SampledFrom(mdFragments).Draw(t, "part"))
		}
		src := b.String()
		w := rapid.IntRange(12, 240).Draw(t, "w")
		drawn := letters(strings.Join(Texts(Markdown(src, w, look)), "\n"))
		for r, n := range letters(src) {
			if drawn[r] < n {
				t.Fatalf("%q is %d times in the source and %d times on the screen (width %d):\n%s\n---\n%s", r, n, drawn[r], w, src, Plain(Texts(Markdown(src, w, look))))
			}
		}
	})
}

func letters(s string) map[rune]int {
	m := map[rune]int{}
	for _, r := range Strip(s) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			m[r]++
		}
	}
	return m
}

// TestMarkdownSurvivesHostileInput: 120 KB of one marker must not take time or
// memory in the square of its size, and must still be shown.
func TestMarkdownSurvivesHostileInput(t *testing.T) {
	look := style.NewLook(style.Default(), style.Unicode())
	for _, unit := range []string{
		"[", "![", "[a](", "[a]: b\n", "> ", "- ", "* * * a\n", "1. ", "  - a\n", "<", "<a\n", "<!--", "*a ", "**a", "_a", "`", "```\n", "|", "a|b\n-|-\n", "| a | b |\n",
		"\\", "&", "x", "a b ", "\t", "\x1b[31m", "中", "e\u0301", "\xff", "\n", "#", "# a\n",
	} {
		src := strings.Repeat(unit, (120<<10)/len(unit))
		lines := Texts(Markdown(src, 80, look))
		exact(t, lines[:min(len(lines), 300)], 80)
		if got, want := letters(strings.Join(lines, ""))['a'], letters(src)['a']; got < want {
			t.Errorf("%q: %d letters of %d are shown", unit, got, want)
		}
	}
}
