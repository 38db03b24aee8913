package demo

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

// pace waits for made-up work. A speed of 0 does not wait at all.
type pace struct{ speed float64 }

// newPace takes the speed from the environment, def when it says nothing.
func newPace(def float64) pace {
	if v, err := strconv.ParseFloat(os.Getenv(EnvSpeed), 64); err == nil && v >= 0 {
		return pace{v}
	}
	return pace{def}
}

// wait sleeps for the given seconds at speed 1. It is false when the context
// ended first.
func (p pace) wait(ctx context.Context, seconds float64) bool {
	if p.speed <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(time.Duration(seconds / p.speed * float64(time.Second)))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// seedFromEnv is the seed of the made-up numbers.
func seedFromEnv() uint64 {
	if v, err := strconv.ParseUint(os.Getenv(EnvSeed), 10, 64); err == nil {
		return v
	}
	return uint64(time.Now().UnixNano())
}

// dice gives a random source that depends on the seed and a name only.
func dice(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
