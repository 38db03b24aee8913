package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

var (
	privateMode   = regexp.MustCompile("\x1b\\[\\?([0-9;]+)([hl])")
	keyboardStack = regexp.MustCompile("\x1b\\[([<>])([0-9]*)u")
)

// restored says which mode of the terminal is not what it was before.
func restored(t *testing.T, s *screen.Term) {
	t.Helper()
	if left := leftOn(s.Raw()); len(left) > 0 {
		t.Errorf("the terminal was left with %v", left)
	}
}

// leftOn follows every private mode in what was written, the keyboard protocol
// and the text attributes too; it gives those that do not end as they began.
func leftOn(raw []byte) []string {
	mode := map[string]string{}
	for _, m := range privateMode.FindAllSubmatch(raw, -1) {
		for n := range strings.SplitSeq(string(m[1]), ";") {
			mode[n] = string(m[2])
		}
	}
	var left []string
	for n, is := range mode {
		begin := "l"
		if n == "25" || n == "7" { // cursor and automatic wrap begin switched on
			begin = "h"
		}
		if is != begin {
			left = append(left, "mode "+n+" "+is)
		}
	}
	if on := bytes.LastIndex(raw, []byte("\x1b[>4;2m")); on >= 0 && !bytes.Contains(raw[on:], []byte("\x1b[>4m")) && !bytes.Contains(raw[on:], []byte("\x1b[>4;0m")) {
		left = append(left, "modifyOtherKeys")
	}
	depth := 0 // the keyboard protocol is a stack
	for _, m := range keyboardStack.FindAllSubmatch(raw, -1) {
		n, err := strconv.Atoi(string(m[2]))
		switch {
		case string(m[1]) == ">":
			depth++
		case err != nil:
			depth--
		default:
			depth -= n
		}
	}
	if depth > 0 {
		left = append(left, "kitty keyboard")
	}
	return left
}

func TestLeftOnSeesWhatIsLeft(t *testing.T) {
	for raw, want := range map[string]int{
		"\x1b[?1049h\x1b[?25l\x1b[?2004h":                          3,
		"\x1b[?1049h\x1b[?25l\x1b[?1049l\x1b[?25h":                 0,
		"\x1b[?1000;1006h\x1b[?1000l":                              1,
		"\x1b[?25h\x1b[?25l":                                       1,
		"\x1b[>4;2m\x1b[>4;0m":                                     0,
		"\x1b[>4m\x1b[>4;2m":                                       1,
		"\x1b[>1u":                                                 1,
		"\x1b[?2004h\x1b[?2004l\x1b[?1004h\x1b[?1004l\x1b[?7l":     1,
		"\x1b[>4;2m\x1b[>4m\x1b[>1u\x1b[<1u\x1b[?2026h\x1b[?2026l": 0,
	} {
		if got := leftOn([]byte(raw)); len(got) != want {
			t.Errorf("%q: %v, want %d", raw, got, want)
		}
	}
}

// The shell behind the cockpit gets its line editing back, not only its screen.
func TestTheShellGetsItsTerminalBack(t *testing.T) {
	t.Parallel()
	p := scratch(t)
	for how, end := range map[string]func(s *screen.Term){
		"quit":   func(s *screen.Term) { s.Keys("q") },
		"ctrl+c": func(s *screen.Term) { s.Keys("\x03") },
		"SIGTERM": func(s *screen.Term) {
			if err := syscall.Kill(childOf(t, s.PID()), syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		},
	} {
		s := p.start(screen.Options{Argv: []string{"sh", "-c", `echo "was $(stty -g) was"; "$0" "$1"; echo "is $(stty -g) is"`, binary, p.tree}})
		s.Wait("round 3/12", "attention")
		end(s)
		s.Ended()
		restored(t, s)
		raw := string(s.Raw())
		if was, is := lineSettings(raw, "was"), lineSettings(raw, "is"); was == "" || is != was {
			t.Errorf("%s: line settings were %q, are %q", how, was, is)
		}
	}
}

// A killed cockpit can restore nothing; reset-terminal does it afterwards.
func TestResetTerminalAfterAKill(t *testing.T) {
	t.Parallel()
	p := scratch(t)
	s := p.start(screen.Options{Argv: []string{"sh", "-c", `stty sane; echo "was $(stty -g) was"; "$0" "$1"; "$0" reset-terminal; echo "is $(stty -g) is"`, binary, p.tree}})
	s.Wait("round 3/12", "attention")
	if err := syscall.Kill(childOf(t, s.PID()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.Ended()
	restored(t, s)
	raw := string(s.Raw())
	was, is := lineSettings(raw, "was"), lineSettings(raw, "is")
	if was == "" || is != was {
		t.Errorf("line settings were %q, are %q", was, is)
	}
}

// lineSettings are what stty -g printed between two words.
func lineSettings(raw, word string) string {
	if m := regexp.MustCompile(word + ` (\S+) ` + word).FindStringSubmatch(raw); m != nil {
		return m[1]
	}
	return ""
}

// childOf is the one child of a process.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatalf("children of %d: %q", pid, b)
	}
	return child
}

// A dropped connection closes the terminal: the cockpit ends and spins on
// nothing.
func TestALostTerminalEndsTheCockpit(t *testing.T) {
	t.Parallel()
	p := scratch(t)
	cmd := exec.Command(binary, p.tree)
	cmd.Env, cmd.Dir = p.env, p.dir
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	seen, buf := "", make([]byte, 64<<10)
	for !strings.Contains(seen, "round 3/12") {
		n, err := f.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
		seen += string(buf[:n])
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(screen.Patience):
		t.Fatal("the cockpit lives on without a terminal")
	}
}

// A signal from outside stops the program as well as a key does.
func TestStoppedAndContinuedFromOutside(t *testing.T) {
	t.Parallel()
	p := scratch(t)
	s := p.open()
	s.Wait("round 3/12", "attention")
	s.Signal(syscall.SIGSTOP)
	p.put(state, stateText(4, "rlcr/x")) // what changed meanwhile is not lost
	s.Rest(200 * time.Millisecond)
	s.Signal(syscall.SIGCONT)
	s.Wait("round 4/12")
	s.Keys("?")
	s.Wait("keys: overview")
	s.Keys("q")
	s.Gone("keys: overview")
	quit(t, s)
}

// A terminal that answers no question gets its first frame as fast as another;
// the exact budget is a benchmark elsewhere.
func TestMuteTerminalWaitsForNothing(t *testing.T) {
	t.Parallel()
	p := scratch(t)
	best := time.Hour
	for range 3 { // the best of three: the machine may be busy, the program may not
		began := time.Now()
		s := p.start(screen.Options{Argv: []string{binary, p.tree}, Mute: true})
		s.Wait("round 3/12")
		best = min(best, time.Since(began))
		quit(t, s)
	}
	if best > 2*time.Second {
		t.Errorf("the first frame took %s", best)
	}
}

func TestAnySizeThereAndBack(t *testing.T) {
	t.Parallel()
	p := world(t)
	s := p.demo()
	s.Wait("the plan waits for review")
	for _, tab := range []string{"1", "2", "3", "4", "5", "6", "9"} {
		s.Keys(tab)
		for _, size := range [][2]int{{40, 30}, {10, 3}, {1, 1}, {250, 4}, {15, 4}, {40, 30}, {120, 40}} {
			s.Resize(size[0], size[1])
			narrow := size[0] < 20 || size[1] < 6
			s.Until("tab "+tab+" at its size", func(text string) bool {
				switch {
				case size[0] < 10:
					return strings.TrimSpace(text) != ""
				case narrow:
					return strings.HasPrefix(text, "ended:") && !strings.Contains(text, "["+tab)
				default:
					return strings.Contains(text, "["+tab+" ") && strings.Contains(text, "SIM")
				}
			})
		}
	}
	quit(t, s)
}

// The pane beside the agent shows what a person glances at it for, on every
// tab.
func TestSidePane(t *testing.T) {
	t.Parallel()
	p := world(t)
	s := p.start(screen.Options{Argv: []string{binary, p.tree}, Cols: 40, Rows: 30})
	s.Wait("SIM", "ended: complete", "[1 overview]")
	for _, tab := range []string{"2", "3", "4", "5", "6", "9", "1"} {
		s.Keys(tab)
		s.Wait("["+tab+" ", "SIM", "ended: complete")
	}
	s.Keys("o")
	s.Wait("OP")
	s.Keys("2A") // a gate fits here too, with what keeps it shut
	s.Wait("gate 1: plan review", "shut:", "esc leaves")
	s.Keys("\x1b")
	s.Gone("esc leaves")
	quit(t, s)
}
