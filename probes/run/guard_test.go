package run

import (
	"context"
	"os"
	"strings"
	"testing"

	"kdapilot/engine/runs"
)

// A day of samples of eight devices stays small in the result, keeps its ends and
// all devices, and is whole in the file up to its bound.
func TestSamplesAreBounded(t *testing.T) {
	clock := 0.0
	w := &watchman{dir: t.TempDir(), gpus: make([]runs.GPU, 8), g: Guard{Sample: func(_ context.Context, gpus []runs.GPU) ([]runs.GPUSample, error) {
		clock++
		at := clock
		var out []runs.GPUSample
		for i := range gpus {
			out = append(out, runs.GPUSample{GPU: i, ClockMHz: &at})
		}
		return out, nil
	}}}
	w.sample("before")
	for range 3000 {
		w.sample("during")
	}
	w.sample("after")
	var res runs.Result
	w.report(&res)
	w.close()
	if n := len(res.Samples); n < sampleLimit/4 || n > sampleLimit {
		t.Errorf("%d samples kept", n)
	}
	if a, b := res.Samples[0], res.Samples[len(res.Samples)-1]; a.When != "before" || b.When != "after" || *b.ClockMHz != 3002 {
		t.Errorf("ends: %+v %+v", a, b)
	}
	seen := map[int]int{}
	last := 0.0
	for _, s := range res.Samples {
		seen[s.GPU]++
		if *s.ClockMHz < last {
			t.Fatal("out of order")
		}
		last = *s.ClockMHz
	}
	if len(seen) != 8 || seen[0] != seen[7] {
		t.Errorf("devices: %v", seen)
	}
	b, err := os.ReadFile(w.dir + "/" + SamplesFile)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n != sampleLines || !strings.Contains(res.SamplesWhy, "more samples") {
		t.Errorf("%d lines, %q", n, res.SamplesWhy)
	}
}
