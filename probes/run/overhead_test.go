package run

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kdapilot/engine/runs"
)

// BenchmarkOverhead runs a child that only computes, bare and supervised in turn
// (ABBA), and reports by how many percent the supervised one takes longer.
func BenchmarkOverhead(b *testing.B) {
	const script = `awk 'BEGIN { for (i = 0; i < 120000000; i++) x += i }'`
	tree, r := b.TempDir(), New(Local{LockDir: filepath.Join(b.TempDir(), "l")})
	bare := func() float64 {
		began := time.Now()
		if err := exec.Command("sh", "-c", script).Run(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began).Seconds()
	}
	supervised := func() float64 {
		one, err := r.Start(context.Background(), Spec{Argv: []string{"sh", "-c", script}, Worktree: tree, GPUs: []runs.GPU{{Index: 0}}, Queue: true})
		if err != nil {
			b.Fatal(err)
		}
		for !one.State.Final() {
			time.Sleep(100 * time.Millisecond)
			if one, err = r.Read(one.Dir); err != nil {
				b.Fatal(err)
			}
		}
		return one.Result.WallSeconds
	}
	for b.Loop() {
		var plain, driven []float64
		for range 6 {
			plain = append(plain, bare())
			driven = append(driven, supervised(), supervised())
			plain = append(plain, bare())
		}
		// The least of each: whatever else a host does only adds.
		p, d := slices.Min(plain), slices.Min(driven)
		b.ReportMetric(100*(d/p-1), "%-longer")
		b.ReportMetric(p, "s-bare")
		b.ReportMetric(0, "ns/op")
	}
}
