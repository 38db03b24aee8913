package endtoend

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

// restored holds that a program that had the terminal gave it back: each mode
// was switched on by it, and the last word was off.
func restored(t *testing.T, s *screen.Term) {
	t.Helper()
	raw := s.Raw()
	for what, seq := range map[string][2]string{
		"alternate screen": {"\x1b[?1049h", "\x1b[?1049l"}, "hidden cursor": {"\x1b[?25l", "\x1b[?25h"}, "bracketed paste": {"\x1b[?2004h", "\x1b[?2004l"},
	} {
		on, off := bytes.LastIndex(raw, []byte(seq[0])), bytes.LastIndex(raw, []byte(seq[1]))
		switch {
		case on < 0:
			t.Errorf("%s was never on: this proves nothing", what)
		case off < on:
			t.Errorf("%s was left on", what)
		}
	}
}

func TestSignalsRestoreTheTerminal(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		p := newPlace(t)
		p.scratch()
		s := p.open(screen.Options{Argv: []string{binary, p.tree}})
		s.Wait("round 3/12")
		s.Signal(sig)
		if code := s.Ended(); code != 0 { // -1: the signal ended it, not the program itself
			t.Errorf("%v: exit %d", sig, code)
		}
		restored(t, s)
	}
}

func TestSizesThereAndBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scratch()
	s := p.open(screen.Options{Argv: []string{binary, p.tree}})
	s.Wait("round 3/12", "attention", "No rows yet", "G1 -")
	s.Rest(quiet)
	first := s.Text()
	s.Resize(40, 30)
	s.Wait("round 3/12", "[1 overview] 2  3  4  5  6  9")
	s.Resize(10, 3)
	s.Until("one status line", func(text string) bool {
		return strings.HasPrefix(text, "impl") && strings.TrimSpace(text[strings.IndexByte(text, '\n'):]) == ""
	})
	s.Resize(200, 60)
	s.Wait("round 3/12", "attention")
	s.Resize(120, 40)
	s.Until("the screen as it was", func(text string) bool { return ageless(text) == ageless(first) })
	s.Keys("q")
	s.Ended()
	restored(t, s)
}

// ageless is a screen without its ages, which grow.
func ageless(text string) string { return ages.ReplaceAllString(text, "") }

var ages = regexp.MustCompile(` +(now|\d+ (s|min))\b`)

// Only a shell with job control can stop a program and bring it back.
func TestSuspendAndForeground(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	state := p.scratch()
	s := p.open(screen.Options{Argv: []string{"bash", "-c", `set -m; "$0" "$1"; echo HAS-STOPPED; read -r _; fg`, binary, p.tree}})
	s.Wait("round 3/12", "attention")
	s.Keys("\x1a") // Ctrl-Z
	s.Wait("HAS-STOPPED")
	restored(t, s)                            // for the shell
	p.write(state, fmt.Sprintf(stateText, 4)) // what happens meanwhile is not lost
	s.Keys("\n")
	s.Wait("round 4/12", "attention")
	s.Gone("HAS-STOPPED")
	s.Keys("q")
	s.Ended()
	restored(t, s)
}

func TestPlainTerminals(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scratch()
	best := time.Hour
	for range 3 { // the best of three: the machine may be busy, the program may not
		began := time.Now()
		mute := p.open(screen.Options{Argv: []string{binary, p.tree}, Mute: true})
		mute.Wait("round 3/12")
		best = min(best, time.Since(began))
		mute.Keys("q")
		mute.Ended()
	}
	if best > 2*time.Second {
		t.Errorf("a terminal that answers nothing waited %s for its first frame", best)
	}

	dumb := p.open(screen.Options{Argv: []string{binary, p.tree}, Env: append(p.env, "TERM=dumb")})
	if code := dumb.Ended(); code != 0 || !strings.Contains(string(dumb.Raw()), "round 3 of 12") || bytes.Contains(dumb.Raw(), []byte("\x1b")) {
		t.Errorf("TERM=dumb: exit %d\n%q", code, dumb.Raw())
	}

	plain := p.open(screen.Options{Argv: []string{binary, p.tree}, Env: append(p.env, "NO_COLOR=1")})
	plain.Wait("round 3/12")
	if c := colours(plain.Raw()); len(c) > 0 {
		t.Errorf("NO_COLOR: colours %d", c)
	}
	full := p.open(screen.Options{Argv: []string{binary, p.tree}})
	full.Wait("round 3/12")
	if c := colours(full.Raw()); len(c) == 0 {
		t.Error("no colour without NO_COLOR either: the test above proves nothing")
	}
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;:]*)m")

// attributes are the numbers that were used to choose how text looks, without
// the arguments of 38, 48 and 58.
func attributes(raw []byte) map[int]bool {
	all := map[int]bool{}
	for _, m := range sgr.FindAllSubmatch(raw, -1) {
		fields := strings.FieldsFunc(string(m[1]), func(r rune) bool { return r == ';' || r == ':' })
		for i := 0; i < len(fields); i++ {
			n, err := strconv.Atoi(fields[i])
			if err != nil {
				continue
			}
			all[n] = true
			if (n == 38 || n == 48 || n == 58) && i+1 < len(fields) {
				if fields[i+1] == "2" {
					i += 2 // and red, green, blue
				}
				i += 2
			}
		}
	}
	return all
}

func TestAttributesAreCounted(t *testing.T) {
	t.Parallel()
	got := attributes([]byte("\x1b[1;38;5;9m x\x1b[48;2;5;9;5;7mx\x1b[m\x1b[38:5:5m"))
	for _, n := range []int{1, 7, 38, 48} {
		if !got[n] {
			t.Errorf("%d is missing in %v", n, got)
		}
	}
	if got[5] || got[9] || len(got) != 4 {
		t.Errorf("counted %v", got)
	}
}

// colours are the attributes that set a colour.
func colours(raw []byte) []int {
	var all []int
	for n := range attributes(raw) {
		if n >= 30 && n <= 48 && n != 39 || n >= 90 && n <= 107 || n == 58 {
			all = append(all, n)
		}
	}
	return all
}
