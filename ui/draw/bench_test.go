package draw

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kdapilot/ui/style"
)

func look() style.Look { return style.NewLook(style.Default(), style.Unicode()) }

func benchTable() Table {
	th := style.Default()
	return Table{
		Columns: []Column{
			{Title: "cell", Min: 20, Middle: true, Grow: true}, {Title: "base us", Align: Right}, {Title: "cand us", Align: Right},
			{Title: "ratio", Align: Right}, {Title: "verdict"}, {Title: "backend", Priority: 3}, {Title: "note", Priority: 5, Max: 30},
		},
		Len: 5000,
		Row: func(i int) []string {
			return []string{fmt.Sprintf("fp8 b=%d h=32 d=128 s=%d causal", i%8, 1024*(i%9)), "123.4", "118.2", "0.958", th.Good.Paint("faster"), "asm", "within the bar"}
		},
		Selected: 2500,
		Needs:    []int{34, 7, 7, 5, 7, 7, 14},
	}
}

func BenchmarkTable200x60(b *testing.B) {
	t, l := benchTable(), look()
	b.ReportAllocs()
	for b.Loop() {
		t.Render(200, 60, l)
	}
}

func benchRing(n int) *Ring {
	r := NewRing(n, 0)
	for i := range n {
		r.Append(fmt.Sprintf("%06d [bench] shape=4x32x%d dtype=fp8 causal=1 us=%d.%d TFLOPS=%d max_err=0.0123 %s", i, 1024*(i%8), 100+i%50, i%10, 400+i%99, strings.Repeat("x", i%120)))
	}
	return r
}

func BenchmarkLogView200x60(b *testing.B) {
	r, l := benchRing(150_000), look()
	for _, c := range []struct {
		name string
		v    LogView
	}{
		{"follow", LogView{Follow: true}},
		{"wrap", LogView{Follow: true, Wrap: true}},
		{"search", LogView{Follow: true, Search: "tflops"}},
		{"panned", LogView{Top: 70_000, Left: 30}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.v.Render(r, 200, 60, l)
			}
		})
	}
}

func BenchmarkLogSearch150k(b *testing.B) {
	r := benchRing(150_000)
	for b.Loop() {
		v := LogView{}
		v.Find("not in there")
		v.Next(r, 1, 200, 60)
	}
}

func BenchmarkBox200x60(b *testing.B) {
	l := look()
	lines := benchTable().Render(198, 58, l)
	b.ReportAllocs()
	for b.Loop() {
		Box("cells", lines, 200, 60, true, l)
	}
}

func BenchmarkJoinH200x60(b *testing.B) {
	l := look()
	a := Box("left", benchTable().Render(98, 58, l), 100, 60, true, l)
	c := Box("right", benchTable().Render(98, 58, l), 100, 60, false, l)
	b.ReportAllocs()
	for b.Loop() {
		JoinH(a, c)
	}
}

func BenchmarkOverlay200x60(b *testing.B) {
	l := look()
	base := Box("base", benchTable().Render(198, 58, l), 200, 60, true, l)
	box := Box("gate", nil, 80, 20, true, l)
	b.ReportAllocs()
	for b.Loop() {
		OverlayCenter(base, box)
	}
}

// benchPlan repeats a plan written for this test until it has n bytes.
func benchPlan(b testing.TB, n int) string {
	b.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", "plan.md"))
	if err != nil {
		b.Fatal(err)
	}
	return strings.Repeat(string(src), n/len(src)+1)[:n]
}

func BenchmarkMarkdown(b *testing.B) {
	for _, kb := range []int{20, 120} {
		src, l := benchPlan(b, kb<<10), look()
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Markdown(src, 80, l)
			}
		})
	}
}

func BenchmarkDiff(b *testing.B) {
	before := benchPlan(b, 20<<10)
	after := strings.ReplaceAll(before, "TILE_N", "TILE_K")
	l := look()
	for b.Loop() {
		DiffLines(Diff(before, after, 3), 80, l)
	}
}
