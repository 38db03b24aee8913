package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A monkey at the keyboard: every key there is, at sizes there are, in operate
// mode on a world with everything in it. Nothing crashes, nothing is drawn over
// the edge, nothing is approved, and the screen still answers at the end. With
// KDAPILOT_MONKEY_SEED another monkey comes; its seed is in every failure.
func TestMonkey(t *testing.T) {
	t.Parallel()
	seed := uint64(20261201)
	if v, err := strconv.ParseUint(os.Getenv("KDAPILOT_MONKEY_SEED"), 10, 64); err == nil {
		seed = v
	}
	dice := rand.New(rand.NewPCG(seed, 7))
	p := world(t)
	s := operating(p)
	// Not pressed: q and ctrl+c, which end it, ctrl+z, which stops it, and w and
	// F, which write files and repair things. Runs and gates want words typed.
	keys := append(strings.Split("1234569bBimusdtfWAROxcrSo/nN?:yYzghjklG[] \r\t", ""),
		"\x1b", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\x1b[Z", "\x7f", "\x12", "\x0c", "\x15", "\x04",
		"\x1b[200~pasted\n\x1b[201~", "\x1bOP", "é", "漢", "\x1b[<0;10;10M", "\x1b[I", "\x1b[999;999R")
	var pressed []string
	for range 500 {
		k := keys[dice.IntN(len(keys))]
		if dice.IntN(25) == 0 {
			w, h := 1+dice.IntN(200), 1+dice.IntN(60)
			s.Resize(w, h)
			pressed = append(pressed, fmt.Sprintf("<%dx%d>", w, h))
		}
		pressed = append(pressed, k)
		s.Keys(k)
		if k == "\x1b" {
			s.Rest(60 * time.Millisecond) // else it begins a sequence
		} else {
			s.Rest(4 * time.Millisecond)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d, pressed %q", seed, pressed)
		}
	})
	s.Resize(120, 40)
	for range 3 { // out of whatever is open
		s.Rest(60 * time.Millisecond)
		s.Keys("\x1b")
	}
	s.Rest(60 * time.Millisecond)
	s.Keys("z\x1b") // zoom hides the tabs; it may be on or off
	s.Rest(60 * time.Millisecond)
	s.Keys("1")
	s.Until("the overview", func(text string) bool {
		return strings.Contains(text, "[1 overview") && !strings.Contains(text, "stopped reading")
	})
	if n := p.seals(); n != 0 {
		t.Errorf("the monkey approved something: %d seals", n)
	}
	quit(t, s)
	if raw := string(s.Raw()); strings.Contains(raw, "panic") || strings.Contains(raw, "goroutine ") {
		t.Errorf("it panicked: ...%q", raw[max(len(raw)-3000, 0):])
	}
}
