package flyprof

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"kdapilot/engine/stall"
)

// BenchmarkShowStalls is what `show stalls --json` does on a real trace, from
// the path to the printed JSON.
func BenchmarkShowStalls(b *testing.B) {
	dir := filepath.Join(dataDir(b), "att", "moe_gemm", "big")
	b.ReportAllocs()
	for b.Loop() {
		v, err := LoadView(context.Background(), dir, "", 0, Options{Waits: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := stall.WriteJSON(io.Discard, v); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstLook is the first stage of the screen: no wave files.
func BenchmarkFirstLook(b *testing.B) {
	dir := filepath.Join(dataDir(b), "att", "moe_gemm", "big")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(context.Background(), dir, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
