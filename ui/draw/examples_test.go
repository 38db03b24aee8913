package draw

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kdapilot/ui/style"
)

func updateGolden() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if updateGolden() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("golden file: %v (write it with -update)", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}

func plainLook() style.Look { return style.NewLook(style.Mono(), style.ASCII()) }

func TestFit(t *testing.T) {
	red := style.Default().Bad
	tests := []struct{ name, got, want string }{
		{"pads", Fit("ab", 4), "ab  "},
		{"cuts and marks", Fit("abcdef", 4), "abc~"},
		{"exact", Fit("abcd", 4), "abcd"},
		{"one cell", Fit("abcd", 1), "~"},
		{"no room", Fit("abcd", 0), ""},
		{"wide rune does not half fit", Fit("ab中", 3), "ab~"},
		{"wide rune before the mark", Fit("a中b", 3), "a ~"},
		{"colour closed at the cut", Fit(red.Paint("abcdef"), 4), "\x1b[1;31mabc\x1b[22;39m~"},
		{"colour kept when it fits", Fit(red.Paint("ab"), 3), "\x1b[1;31mab\x1b[22;39m "},
		{"colour left on is closed", Fit("\x1b[31mab", 3), "\x1b[31mab\x1b[39m "},
		{"clear screen is harmless", Fit("a\x1b[2Jb", 7), "a?[2Jb "},
		{"tab", Fit("a\tb", 10), "a       b "},
		{"invalid byte", Fit("a\xffb", 4), "a?b "},
		{"combining mark stays", Fit("e\u0301x", 3), "e\u0301x "},
		{"zero width dropped", Fit("a\u200bb", 3), "ab "},
		{"flag shows its letters", Fit("🇩🇪", 3), "DE "},
		{"middle keeps both ends", FitMiddle("flash_attn_fwd_d128", 11), "flash~_d128"},
		{"middle, short enough", FitMiddle("flash", 7), "flash  "},
		{"numbers stand right", PadLeft("12.5", 6), "  12.5"},
		{"a long number is marked", PadLeft("1234567", 4), "123~"},
		{"center", Center("ab", 5), " ab  "},
		{"window", Cut("abcdef", 2, 3), "cde"},
		{"window past the end", Cut("abc", 2, 3), "c  "},
		{"window through a wide rune", Cut("a中b", 2, 2), " b"},
		{"window keeps the colour", Cut(red.Paint("abcdef"), 2, 2), "\x1b[1;31mcd\x1b[22;39m"},
		{"sides", Sides("left side", "right", 12), "left ~ right"},
		{"strip", Strip(red.Paint("x")), "x"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		name string
		got  []string
		want []string
	}{
		{"words", Wrap("the quick brown fox", 10), []string{"the quick ", "brown fox "}},
		{"blank at the edge", Wrap("the quick", 3), []string{"the", "qui", "ck "}},
		{"long word", Wrap("a abcdefgh", 4), []string{"a   ", "abcd", "efgh"}},
		{"line breaks", Wrap("a\n\nb", 2), []string{"a ", "  ", "b "}},
		{"leading blanks stay", Wrap("  a b", 3), []string{"  a", "b  "}},
		{"hard", WrapHard("ab cd ef", 3), []string{"ab ", "cd ", "ef "}},
		{"hard breaks words", WrapHard("abcdefg", 3), []string{"abc", "def", "g  "}},
		{"colour goes on", Wrap("\x1b[32mab cd\x1b[39m", 2), []string{"\x1b[32mab\x1b[39m", "\x1b[32mcd\x1b[39m"}},
		{"wide rune in one column", Wrap("中", 1), []string{"?"}},
		{"empty", Wrap("", 3), []string{"   "}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, tt.got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
	}
}

func TestPlots(t *testing.T) {
	u, a := look(), plainLook()
	tests := []struct{ name, got, want string }{
		{"half", Bar(5, 10, 4, u), "██  "},
		{"eighths", Bar(1, 32, 4, u), "▏   "},
		{"tiny is not nothing", Bar(0.0001, 10, 4, u), "▏   "},
		{"zero is nothing", Bar(0, 10, 4, u), "    "},
		{"over", Bar(20, 10, 4, u), "████"},
		{"ascii", Bar(5, 10, 4, a), "##  "},
		{"ascii tiny", Bar(0.01, 10, 4, a), ":   "},
		{"shrunk", BarPair(8, 4, 10, 10, u), "████░░░░  "},
		{"grew", BarPair(4, 8, 10, 10, u), "████▓▓▓▓  "},
		{"shrunk ascii", BarPair(8, 4, 10, 10, a), "####....  "},
		{"spark", Spark([]float64{0, 7, 3.5}, 4, u), "▁█▅ "},
		{"spark keeps the newest", Spark([]float64{9, 0, 7}, 2, u), "▁█"},
		{"dots", DotPlot(Dots{Values: []float64{0, 5, 5, 10}, Lo: 0, Hi: 10}, 11, u), "o    8    o"},
		{"dots outside", DotPlot(Dots{Values: []float64{-1, 11}, Lo: 0, Hi: 10}, 5, u), "<   >"},
		{"dots with a mark", DotPlot(Dots{Values: []float64{0}, Lo: 0, Hi: 10, Marks: []float64{5}}, 5, a), "o |  "},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func exampleTable() Table {
	return Table{
		Columns: []Column{
			{Title: "cell", Min: 9, Middle: true}, {Title: "us", Align: Right, Priority: 1}, {Title: "ratio", Align: Right}, {Title: "backend", Priority: 2},
		},
		Len: 9, Selected: 4, Noun: "cells",
		Row: func(i int) []string {
			return []string{fmt.Sprintf("fp8_causal_%d", i), fmt.Sprint(100 + i), "0.97", "asm"}
		},
	}
}

func TestTableDropsColumnsByPriority(t *testing.T) {
	tests := []struct {
		w    int
		want []string
	}{
		{40, []string{
			"  cell           us  ratio  backend      ",
			"  fp8_causal_3  103   0.97  asm          ",
			"> fp8_causal_4  104   0.97  asm          ",
			"  #5 4-5/9 cells                         ",
		}},
		{27, []string{
			"  cell           us  ratio ",
			"  fp8_causal_3  103   0.97 ",
			"> fp8_causal_4  104   0.97 ",
			"  #5 4-5/9 cells  +1 hidden",
		}},
		{18, []string{
			"  cell       ratio",
			"  fp8_~al_3   0.97",
			"> fp8_~al_4   0.97",
			"  #5 4-5/9 cells  ",
		}},
	}
	for _, tt := range tests {
		got := exampleTable().Render(tt.w, 4, plainLook())
		for i := range got {
			got[i] = Strip(got[i])
			// The footer's right part stands at the edge; compare without padding.
			got[i], tt.want[i] = strings.TrimRight(got[i], " "), strings.TrimRight(tt.want[i], " ")
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("width %d (-want +got):\n%s", tt.w, d)
		}
	}
}

// TestTableServesLowPriorityNumbersFirst: the name is whole before a note is.
func TestTableServesLowPriorityNumbersFirst(t *testing.T) {
	tab := Table{
		Columns: []Column{{Title: "name", Min: 6}, {Title: "note", Priority: 3, Min: 4}},
		Len:     1, Selected: -1, Bare: true, Plain: true,
		Row: func(int) []string { return []string{"0123456789", "abcdefgh"} },
	}
	if got := tab.Render(17, 2, plainLook())[1]; got != "0123456789  abcd~" {
		t.Errorf("got %q", got)
	}
}

func TestTableSelectionIsReversed(t *testing.T) {
	lines := exampleTable().Render(40, 6, look())
	for i, l := range lines[1:5] {
		if got, want := strings.HasPrefix(l, "\x1b[7m> "), strings.Contains(l, "causal_4"); got != want {
			t.Errorf("line %d reversed %v, selected %v: %q", i, got, want, l)
		}
	}
}

func TestEmptyTableSaysSo(t *testing.T) {
	tab := exampleTable()
	tab.Len, tab.Selected, tab.Empty = 0, -1, "no cells read yet"
	got := Plain(tab.Render(40, 4, plainLook()))
	if !strings.Contains(got, "no cells read yet") || !strings.Contains(got, "0 cells") {
		t.Errorf("empty table:\n%s", got)
	}
}

func TestLogFollowsAndStays(t *testing.T) {
	r := NewRing(100, 0)
	add := func(n int) {
		for range n {
			r.Append(fmt.Sprintf("line %d", r.End()))
		}
	}
	first := func(v LogView) string { return strings.TrimSpace(v.Render(r, 20, 5, plainLook())[0]) }
	add(50)
	v := LogView{Follow: true}
	if got := first(v); got != "line 45" {
		t.Errorf("following shows %q first", got)
	}
	v.Scroll(r, -3, 20, 5)
	add(10)
	if got := first(v); got != "line 42" || v.Follow {
		t.Errorf("after scrolling up and new lines: %q, follow %v", got, v.Follow)
	}
	v.Scroll(r, 1000, 20, 5)
	add(1)
	if got := first(v); got != "line 56" || !v.Follow {
		t.Errorf("after scrolling to the end and a new line: %q, follow %v", got, v.Follow)
	}
	v.Home(r)
	add(80) // lines 0 to 40 are dropped
	if got := first(v); got != "line 41" || r.Dropped() != 41 {
		t.Errorf("after the top was dropped: %q, %d dropped", got, r.Dropped())
	}
	v.Find("line 9")
	if !v.Next(r, 1, 20, 5) || v.Found != 91 {
		t.Errorf("found %d, want line 90", v.Found-1)
	}
	if !v.Next(r, -1, 20, 5) || v.Found != 100 {
		t.Errorf("backwards found %d, want line 99 (round the top)", v.Found-1)
	}
	if v.Find("no such"); v.Next(r, 1, 20, 5) {
		t.Error("found what is not there")
	}
}

func TestLogWrapScrollsByRows(t *testing.T) {
	lines := Slice{strings.Repeat("a", 25), "b", strings.Repeat("c", 12)}
	v := LogView{Wrap: true}
	v.Scroll(lines, 2, 10, 3)
	got := v.Render(lines, 10, 3, plainLook())
	want := []string{"aaaaa     ", "b         ", "cccccccccc"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	v.Scroll(lines, 9, 10, 3)
	if got := v.Render(lines, 10, 3, plainLook()); strings.TrimSpace(got[2]) != "cc" || !v.Follow {
		t.Errorf("end shows %q", got)
	}
}

func TestLogSearchHighlights(t *testing.T) {
	l := look()
	v := LogView{Search: "fail"}
	got := v.Render(Slice{"row FAIL here", "fine"}, 20, 2, l)
	if want := "row " + l.Match.Paint("FAIL") + " here"; !strings.HasPrefix(got[0], want) {
		t.Errorf("got %q, want %q", got[0], want)
	}
	v.Search = "Fail" // a capital: case counts
	if got := v.Render(Slice{"row FAIL here"}, 20, 1, l); strings.Contains(got[0], "\x1b") {
		t.Errorf("case was ignored: %q", got[0])
	}
}

func TestRingBoundsBytes(t *testing.T) {
	r := NewRing(1000, 100)
	for range 50 {
		r.Append(strings.Repeat("x", 30))
	}
	if n := r.End() - r.First(); n != 3 || r.First() != 47 {
		t.Errorf("%d lines from %d are kept, want 3 from 47", n, r.First())
	}
	r.Append(strings.Repeat("y", 500))
	if r.End()-r.First() != 1 || len(r.Line(r.First())) != 500 {
		t.Error("the newest line is not kept whole")
	}
	if r.Line(0) != "" || r.Line(r.End()) != "" {
		t.Error("a line outside the ring is not empty")
	}
}

func TestDiff(t *testing.T) {
	before := "a\nb\nc\nd\n"
	after := "a\nB\nc\nd\ne\n"
	want := []DiffLine{
		{Kind: Skip, Text: "@@ line 1 -> 1 @@"},
		{Old: 1, New: 1, Text: "a"},
		{Kind: Removed, Old: 2, Text: "b"},
		{Kind: Added, New: 2, Text: "B"},
		{Old: 3, New: 3, Text: "c"},
		{Old: 4, New: 4, Text: "d"},
		{Kind: Added, New: 5, Text: "e"},
	}
	if d := cmp.Diff(want, Diff(before, after, 1)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := Diff(before, before, 3); got != nil {
		t.Errorf("equal texts give %v", got)
	}
	if got := Diff("a", "a\n", 0); len(got) < 2 {
		t.Errorf("a missing line break is not shown: %v", got)
	}
	lines := DiffLines([]DiffLine{{Kind: Removed, Old: 9, Text: "reach 8 % more"}, {Kind: Added, New: 9, Text: "reach 5 % more"}}, 40, look())
	if !strings.Contains(lines[0], look().Changed.Paint("8")) || !strings.Contains(lines[1], look().Changed.Paint("5")) {
		t.Errorf("the changed word is not marked: %q", lines)
	}
	if got := DiffLines([]DiffLine{{Kind: Added, New: 1, Text: "x  "}}, 40, look()); !strings.Contains(got[0], look().Select.Paint("  ")) {
		t.Errorf("blanks at the end do not show: %q", got)
	}
}

func TestParseDiff(t *testing.T) {
	in := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ func f()\n a\n-b\n+c\n+-- d\n\\ No newline at end of file\n"
	want := []DiffLine{
		{Kind: Skip, Text: "diff --git a/x b/x"}, {Kind: Skip, Text: "--- a/x"}, {Kind: Skip, Text: "+++ b/x"}, {Kind: Skip, Text: "@@ -1,2 +1,3 @@ func f()"},
		{Old: 1, New: 1, Text: "a"}, {Kind: Removed, Old: 2, Text: "b"}, {Kind: Added, New: 2, Text: "c"}, {Kind: Added, New: 3, Text: "-- d"},
		{Kind: Skip, Text: `\ No newline at end of file`},
	}
	if d := cmp.Diff(want, ParseDiff(in)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestTabs(t *testing.T) {
	tabs := []Tab{{"1", "overview", ""}, {"2", "plan", ""}, {"3", "checks", "!2"}}
	tests := []struct {
		w    int
		want string
	}{
		{40, " 1 overview [2 plan] 3 checks !2        "},
		{20, " 1 [2 plan] 3!2     "},
		{8, "[2 plan]"},
		{5, "[2 p~"},
	}
	for _, tt := range tests {
		if got := Strip(Tabs(tabs, 1, tt.w, look())); got != tt.want {
			t.Errorf("width %d: got %q, want %q", tt.w, got, tt.want)
		}
	}
}

func TestOverlay(t *testing.T) {
	base := Block([]string{"aaaaaa", "bbbbbb", "cccccc"}, 6, 3)
	got := Overlay(base, []string{"12", "34"}, 3, 1)
	if d := cmp.Diff([]string{"aaaaaa", "bbb12b", "ccc34c"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	got = Overlay(base, []string{"12", "34"}, -1, -1)
	if d := cmp.Diff([]string{"4aaaaa", "bbbbbb", "cccccc"}, got); d != "" {
		t.Errorf("clipped: (-want +got)\n%s", d)
	}
	if base[1] != "bbbbbb" {
		t.Error("the base was changed")
	}
}

func TestScrollbarAndPosition(t *testing.T) {
	l := plainLook()
	bar := func(top int) string {
		var s string
		for _, x := range Scrollbar(5, top, 10, 50, l) {
			s += Strip(x)
		}
		return s
	}
	if bar(0) != "#...." || bar(1) != ".#..." || bar(40) != "....#" {
		t.Errorf("bars %q %q %q", bar(0), bar(1), bar(40))
	}
	for _, tt := range []struct {
		top, shown, total int
		want              string
	}{{0, 10, 50, "1-10/50"}, {45, 10, 50, "46-50/50"}, {0, 5, 0, "0/0"}, {3, 1, 9, "4/9"}} {
		if got := Position(tt.top, tt.shown, tt.total); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestMarkdownGolden shows each line with its source line and heading level.
func TestMarkdownGolden(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("testdata", "plan.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []int{36, 80} {
		var b strings.Builder
		for _, l := range Markdown(string(src), w, look()) {
			fmt.Fprintf(&b, "%3d %d|%s\n", l.Source, l.Heading, strings.TrimRight(Strip(l.Text), " "))
		}
		golden(t, fmt.Sprintf("plan.%d.golden", w), b.String())
	}
}

func TestMarkdownKeepsSourceLines(t *testing.T) {
	src := "# One\n\ntext a\ntext b\n\n## Two\n- item\n"
	got := map[int]string{}
	for _, l := range Markdown(src, 6, look()) {
		got[l.Source] += strings.TrimRight(Strip(l.Text), " ") + "."
	}
	want := map[int]string{1: "# One.", 2: ".", 3: "text a.", 4: "text b.", 5: ".", 6: "## Two.", 7: "- item."}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestMarkdownLongUnderline(t *testing.T) {
	lines := Markdown("Title\n"+strings.Repeat("-", 90)+"\n\n"+strings.Repeat("*", 90)+"\n", 40, look())
	if lines[0].Heading != 2 {
		t.Errorf("a long underline makes no heading: %+v", lines)
	}
	if last := lines[len(lines)-1]; Strip(last.Text) != strings.Repeat("─", 40) {
		t.Errorf("a long rule is drawn as %q", last.Text)
	}
}

func TestHelpUsesColumns(t *testing.T) {
	groups := []Group{{"Moving", []Hint{{"j", "down"}, {"k", "up"}}}, {"Views", []Hint{{"1", "overview"}}}}
	if n := len(Help(groups, 120, look())); n != 3 {
		t.Errorf("two groups beside each other take %d lines, want 3", n)
	}
	if n := len(Help(groups, 40, look())); n != 6 {
		t.Errorf("two groups below each other take %d lines, want 6", n)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range mdFragments {
		f.Add(s, 40)
	}
	l := look()
	f.Fuzz(func(t *testing.T, src string, w int) {
		w = min(max(w, -1), 240)
		if len(src) > 4096 {
			src = src[:4096]
		}
		exact(t, Texts(Markdown(src, w, l)), w)
	})
}

func FuzzParseDiff(f *testing.F) {
	f.Add("@@ -1,2 +1,3 @@\n a\n-b\n+c\n", 40)
	f.Add("@@ -9999999999999999999 +1 @@\n", 10)
	l := look()
	f.Fuzz(func(t *testing.T, src string, w int) {
		w = min(max(w, -1), 240)
		lines := ParseDiff(src)
		if len(lines) < strings.Count(strings.TrimSuffix(src, "\n"), "\n")+1 {
			t.Error("a line of the input is lost")
		}
		if len(lines) < 500 {
			exact(t, DiffLines(lines, w, l), w)
		}
	})
}
