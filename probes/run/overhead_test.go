package run

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/runs"
)

// BenchmarkOverhead runs a child that only computes, bare and supervised in turn
// (ABBA). On a host with other work the wall clock says little, so it reports by
// how many percent the child needs more processor time (median of pairs) and how
// much the supervisor itself takes of one processor, beside the least wall times.
func BenchmarkOverhead(b *testing.B) {
	const script = `awk 'BEGIN { for (i = 0; i < 40000000; i++) x += i }'`
	tree, r := b.TempDir(), New(Local{LockDir: filepath.Join(b.TempDir(), "l")})
	// took are seconds of processor and wall time.
	type took struct{ cpu, wall float64 }
	bare := func() took {
		began := time.Now()
		cmd := exec.Command("sh", "-c", script)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		p := cmd.ProcessState
		return took{(p.UserTime() + p.SystemTime()).Seconds(), time.Since(began).Seconds()}
	}
	own, watched := 0.0, 0.0 // of the supervisors
	supervised := func() took {
		one, err := r.Start(context.Background(), Spec{Argv: []string{"sh", "-c", script}, Worktree: tree, GPUs: []runs.GPU{{Index: 0}}, Queue: true})
		if err != nil {
			b.Fatal(err)
		}
		last := 0.0
		for !one.State.Final() {
			if s := one.Status; s != nil {
				last = max(last, processorSeconds(s.Supervisor.PID))
			}
			time.Sleep(50 * time.Millisecond)
			if one, err = r.Read(one.Dir); err != nil {
				b.Fatal(err)
			}
		}
		own, watched = own+last, watched+one.Result.WallSeconds
		return took{one.Result.UserSeconds + one.Result.SystemSeconds, one.Result.WallSeconds}
	}
	for b.Loop() {
		var ratios, plain, driven []float64
		pair := func(p, d took) {
			ratios, plain, driven = append(ratios, d.cpu/p.cpu), append(plain, p.wall), append(driven, d.wall)
		}
		for range 6 {
			p := bare()
			d := supervised()
			pair(p, d)
			d = supervised()
			pair(bare(), d)
		}
		slices.Sort(ratios)
		n := len(ratios)
		b.ReportMetric(100*((ratios[n/2-1]+ratios[n/2])/2-1), "%-more-cpu")
		b.ReportMetric(100*own/watched, "%-of-a-cpu-supervisor")
		b.ReportMetric(100*(slices.Min(driven)/slices.Min(plain)-1), "%-longer-least-wall")
		b.ReportMetric(slices.Min(plain), "s-bare")
		b.ReportMetric(0, "ns/op")
	}
	if math.IsNaN(own / watched) {
		b.Error("no supervisor was seen")
	}
}

// processorSeconds is what a process has used so far, 0 when it is gone.
func processorSeconds(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest) // from the state on: utime and stime are fields 14 and 15
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}
