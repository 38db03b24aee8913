package att

import (
	"context"
	"path/filepath"
	"testing"
)

func benchDir(b *testing.B, kernel, tag string) string {
	b.Helper()
	dirs, err := filepath.Glob(filepath.Join(dataDir(b), "att", kernel, tag, "ui_output_agent_*"))
	if err != nil || len(dirs) != 1 {
		b.Skipf("no trace %s/%s", kernel, tag)
	}
	return dirs[0]
}

func BenchmarkOpen(b *testing.B) {
	for _, k := range []string{"moe_gemm", "mla_decode"} {
		b.Run(k, func(b *testing.B) {
			dir := benchDir(b, k, "big")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Open(context.Background(), dir); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFacts(b *testing.B) {
	for _, k := range []string{"moe_gemm", "moe_reduce"} {
		b.Run(k, func(b *testing.B) {
			d := Dispatch{Dir: benchDir(b, k, "big")}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Facts(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWaits(b *testing.B) {
	d := Dispatch{Dir: benchDir(b, "moe_gemm", "big")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Waits(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
