package draw

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"kdapilot/ui/style"
)

// fragments is what outside text is made of at its worst.
var fragments = []string{
	"a", "fp8", " ", "  ", "word ", "flash_attn_fwd_causal_d128", "-3.14", "\t", "\n", "\r", "\x00", "\x1b", "\x1b[", "\x1b[2J",
	"\x1b]52;c;aGk=\x07", "\x9b31m", "\xff", "\xc3", "é", "e\u0301", "a\u0300\u0301\u0302\u0303\u0304\u0305", "\u0301", "中", "文字", "한", "\u1112\u1161\u11ab",
	"👩\u200d💻", "👍🏽", "🇩🇪", "🇩", "❤\ufe0f", "⚠", "…", "─│┌█▏░", "\u200b", "\u202e", "\ufffd", "\u00ad", "नमस्ते", "ก็", "ำ", "\u0600", "#\ufe0f\u20e3",
	"\u0085", "\u2028", "ｶﾞ", "\U000e0041", "✓✗", "\x7f",
}

func tokens() []style.Token {
	t := style.Default()
	l := style.Light(style.Colours256)
	return []style.Token{t.Good, t.Bad, t.Dim, t.Select, l.Warn, t.Title, {}}
}

// anyText draws hostile text, painted and plain.
func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			s := rapid.OneOf(rapid.SampledFrom(fragments), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "part")
			b.WriteString(rapid.SampledFrom(tokens()).Draw(t, "ink").Paint(s))
		}
		return b.String()
	})
}

func anyLook() *rapid.Generator[style.Look] {
	return rapid.Custom(func(t *rapid.T) style.Look {
		g := rapid.SampledFrom([]style.Glyphs{style.Unicode(), style.ASCII()}).Draw(t, "glyphs")
		th := rapid.SampledFrom([]style.Theme{style.Default(), style.Mono(), style.Deuteranopia(style.Colours256)}).Draw(t, "theme")
		return style.NewLook(th, g)
	})
}

func width() *rapid.Generator[int]  { return rapid.IntRange(-1, 240) }
func height() *rapid.Generator[int] { return rapid.IntRange(-1, 60) }

// fatal is the part of testing.T and rapid.T the checks need.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// exact fails unless every line has w cells however a terminal counts, closes
// its colours, and holds no control byte that is not SGR.
func exact(t fatal, lines []string, w int) {
	t.Helper()
	w = max(w, 0)
	for i, l := range lines {
		if n := Width(l); n != w {
			t.Fatalf("line %d has %d cells, want %d: %q", i, n, w, l)
		}
		if g, c := ansi.StringWidth(l), ansi.StringWidthWc(l); g != w || c != w {
			t.Fatalf("line %d has %d cells by grapheme and %d by rune, want %d: %q", i, g, c, w, l)
		}
		if bad := strings.IndexFunc(Strip(l), func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }); bad >= 0 {
			t.Fatalf("line %d holds a control byte: %q", i, l)
		}
		var g sgr
		for j := 0; j < len(l); j++ {
			if n := sgrLen(l[j:]); n > 0 {
				g.apply(l[j : j+n])
			}
		}
		if !g.none() {
			t.Fatalf("line %d leaves colours on (%+v): %q", i, g, l)
		}
	}
}

func rect(t fatal, lines []string, w, h int) {
	t.Helper()
	if len(lines) != max(h, 0) {
		t.Fatalf("%d lines, want %d", len(lines), max(h, 0))
	}
	exact(t, lines, w)
}

func one(s string) []string { return []string{s} }

func TestLinesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w, look := anyText().Draw(t, "s"), width().Draw(t, "w"), anyLook().Draw(t, "look")
		s2 := anyText().Draw(t, "s2")
		left := rapid.IntRange(-3, 100).Draw(t, "left")
		exact(t, one(Fit(s, w)), w)
		exact(t, one(FitMiddle(s, w)), w)
		exact(t, one(PadLeft(s, w)), w)
		exact(t, one(PadRight(s, w)), w)
		exact(t, one(Center(s, w)), w)
		exact(t, one(Cut(s, left, w)), w)
		exact(t, Wrap(s, w), w)
		exact(t, WrapHard(s, w), w)
		exact(t, one(Rule(w, look)), w)
		exact(t, one(TitleRule(s, w, left%2 == 0, look)), w)
		exact(t, one(KV(s, s2, left, w, look)), w)
		exact(t, KVs([]Pair{{s, s2}, {s2, s}}, w, look), w)
		exact(t, one(Sides(s, s2, w)), w)
		exact(t, one(Hints([]Hint{{s, s2}, {s2, s}}, w, look)), w)
		exact(t, one(Tabs([]Tab{{"1", s, s2}, {"2", s2, ""}, {s, "", ""}}, left%4, w, look)), w)
		exact(t, Help([]Group{{s, []Hint{{s, s2}}}, {s2, []Hint{{s2, s}, {"a", "b"}}}, {"x", nil}}, w, look), w)
		// What was fitted once stays as it is.
		if f := Fit(s, w); Fit(f, w) != f {
			t.Fatalf("Fit is not stable: %q", f)
		}
	})
}

func TestBlocksAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(anyText(), 0, 8).Draw(t, "lines")
		w, h, look := width().Draw(t, "w"), height().Draw(t, "h"), anyLook().Draw(t, "look")
		title := anyText().Draw(t, "title")
		focus := rapid.Bool().Draw(t, "focus")
		block := Block(lines, w, h)
		rect(t, block, w, h)
		box := BoxNote(title, title, lines, w, h, focus, look)
		rect(t, box, w, h)
		rect(t, Panel(title, lines, w, h, focus, look), w, h)
		rect(t, Scrollbar(h, len(lines), w, h+w, look), min(max(h, 0), 1), h)
		w2, h2 := rapid.IntRange(0, 60).Draw(t, "w2"), rapid.IntRange(0, 20).Draw(t, "h2")
		other := Block(lines, w2, h2)
		if max(w, 0) > 0 && h > 0 && h2 > 0 {
			rect(t, JoinH(block, other, box), 2*max(w, 0)+w2, max(h, h2))
		}
		x, y := rapid.IntRange(-20, 250).Draw(t, "x"), rapid.IntRange(-5, 40).Draw(t, "y")
		rect(t, Overlay(block, other, x, y), w, h)
		rect(t, OverlayCenter(box, other), w, h)
	})
}

func TestPlotsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOf(rapid.Float64()).Draw(t, "values")
		a, b, c := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b"), rapid.Float64().Draw(t, "c")
		w, look := width().Draw(t, "w"), anyLook().Draw(t, "look")
		exact(t, one(Bar(a, b, w, look)), w)
		exact(t, one(BarPair(a, b, c, w, look)), w)
		exact(t, BarLines(a, b, c, w, look), w)
		exact(t, one(Spark(v, w, look)), w)
		exact(t, one(DotPlot(Dots{Values: v, Lo: a, Hi: b, Marks: []float64{c}}, w, look)), w)
		exact(t, one(DotPlot(Dots{Values: v}, w, look)), w)
	})
}

func TestTableIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tab Table
		for range rapid.IntRange(0, 6).Draw(t, "columns") {
			tab.Columns = append(tab.Columns, Column{
				Title: anyText().Draw(t, "title"), Min: rapid.IntRange(-1, 30).Draw(t, "min"), Max: rapid.IntRange(-1, 40).Draw(t, "max"),
				Priority: rapid.IntRange(0, 3).Draw(t, "prio"), Align: Align(rapid.IntRange(0, 1).Draw(t, "align")),
				Middle: rapid.Bool().Draw(t, "middle"), Grow: rapid.Bool().Draw(t, "grow"),
			})
		}
		cells := rapid.SliceOfN(anyText(), 0, 7).Draw(t, "cells")
		tab.Len = rapid.IntRange(0, 1000).Draw(t, "len")
		asked := 0
		tab.Row = func(i int) []string {
			if i < 0 || i >= tab.Len {
				t.Fatalf("row %d of %d asked", i, tab.Len)
			}
			asked++
			return cells
		}
		tab.Top = rapid.IntRange(-5, 1100).Draw(t, "top")
		tab.Selected = rapid.IntRange(-1, 1100).Draw(t, "sel")
		tab.Bare, tab.Plain = rapid.Bool().Draw(t, "bare"), rapid.Bool().Draw(t, "plain")
		tab.Note, tab.Empty = anyText().Draw(t, "note"), anyText().Draw(t, "empty")
		w, h, look := width().Draw(t, "w"), height().Draw(t, "h"), anyLook().Draw(t, "look")
		rect(t, tab.Render(w, h, look), w, h)
		if asked > max(h, 0) {
			t.Fatalf("%d rows asked for %d lines", asked, h)
		}
		tab.Needs = tab.Measure(10)
		rect(t, tab.Render(w, h, look), w, h)
	})
}

func TestLogIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRing(rapid.IntRange(1, 40).Draw(t, "max"), rapid.IntRange(1, 4000).Draw(t, "bytes"))
		w, h, look := width().Draw(t, "w"), height().Draw(t, "h"), anyLook().Draw(t, "look")
		v := LogView{Wrap: rapid.Bool().Draw(t, "wrap"), Follow: rapid.Bool().Draw(t, "follow"), Left: rapid.IntRange(-1, 50).Draw(t, "left")}
		v.Find(rapid.SampledFrom([]string{"", "a", "word", "FP8", "中"}).Draw(t, "search"))
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			r.Append(rapid.SliceOfN(anyText(), 0, 10).Draw(t, "lines")...)
			switch rapid.IntRange(0, 5).Draw(t, "move") {
			case 0:
				v.Scroll(r, rapid.IntRange(-100, 100).Draw(t, "by"), w, h)
			case 1:
				v.Next(r, rapid.SampledFrom([]int{1, -1}).Draw(t, "dir"), w, h)
			case 2:
				v.Home(r)
			case 3:
				v.End()
			case 4:
				v.Pan(rapid.IntRange(-20, 20).Draw(t, "pan"))
			case 5:
				v.Wrap = !v.Wrap
			}
			rect(t, v.Render(r, w, h, look), w, h)
			_ = v.Status(r, w, h)
		}
	})
}

func TestDiffIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(anyText(), 0, 10), func(l []string) string { return strings.Join(l, "\n") })
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		w, look := width().Draw(t, "w"), anyLook().Draw(t, "look")
		exact(t, DiffLines(Diff(a, b, rapid.IntRange(-1, 3).Draw(t, "context")), w, look), w)
		exact(t, DiffLines(ParseDiff(a), w, look), w)
	})
}
