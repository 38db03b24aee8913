package screen

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(t testing.TB, script string, mute bool) *Term {
	if testing.Short() {
		t.Skip("starts programs")
	}
	return Start(t, Options{Argv: []string{"sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"}, Dir: t.TempDir(), Cols: 40, Rows: 5, Mute: mute})
}

func TestWhatIsDrawnIsWhatIsRead(t *testing.T) {
	t.Parallel()
	s := shell(t, `printf 'one\r\ntwo\033[1;3HX\033[4;1H\346\274\242!\033[31mred'; read -r x; printf '\033[2Jbye'; exit 7`, false)
	s.Wait("red")
	want := []string{"onX", "two", "", "漢!red", ""}
	for i, l := range s.Lines() {
		if l != want[i] {
			t.Errorf("line %d is %q, want %q", i, l, want[i])
		}
	}
	if s.Text() != strings.Join(want, "\n") {
		t.Errorf("text %q", s.Text())
	}
	s.Type("ok\r")
	s.Wait("bye")
	if code := s.Ended(); code != 7 {
		t.Errorf("exit %d", code)
	}
	if raw := s.Raw(); !bytes.Contains(raw, []byte("\x1b[31mred")) || !bytes.HasSuffix(raw, []byte("bye")) {
		t.Errorf("raw %q", raw)
	}
}

// Waiting ends when the text comes, not at the next look.
func TestWaitingWakesOnOutput(t *testing.T) {
	t.Parallel()
	s := shell(t, `read -r x; i=0; while [ $i -lt 40 ]; do i=$((i+1)); read -r x; echo "line $i"; done`, false)
	s.Keys("\r")
	began := time.Now()
	for i := 1; i <= 40; i++ {
		s.Keys("\r")
		s.Wait(fmt.Sprintf("line %d", i))
	}
	if d := time.Since(began); d > 4*time.Second { // 40 looks at 100 ms
		t.Errorf("40 lines took %s", d)
	}
}

func TestTheTerminalAnswersUnlessItIsMute(t *testing.T) {
	t.Parallel()
	// Asks where the cursor is and shows what comes within half a second.
	const ask = `stty raw -echo min 0 time 5; printf '\033[6n'; a=$(dd bs=16 count=1 2>/dev/null | od -An -c | tr -d ' \n'); echo "<$a>"`
	for mute, want := range map[bool]string{false: "<033[1;1R>", true: "<>"} {
		shell(t, ask, mute).Until(want, func(text string) bool { return strings.Contains(text, want) })
	}
}

func TestResizeAndSignal(t *testing.T) {
	t.Parallel()
	s := shell(t, `trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done`, false)
	s.Wait("up")
	s.Resize(60, 9)
	s.Wait("9 60")
	if n := len(s.Lines()); n != 9 {
		t.Errorf("%d lines", n)
	}
	s.Signal(syscall.SIGKILL)
	if code := s.Ended(); code != -1 {
		t.Errorf("exit %d of a killed program", code)
	}
}

// A program that has ended ends the waiting, and the failure shows the screen.
func TestAFailureShowsTheScreen(t *testing.T) {
	t.Parallel()
	f := &failing{TB: t}
	s := shell(t, `echo what was there`, false)
	s.t = f
	func() {
		defer func() { _ = recover() }()
		s.Wait("what never comes")
	}()
	if !strings.Contains(f.said, "what never comes") || !strings.Contains(f.said, "what was there") {
		t.Errorf("the failure says %q", f.said)
	}
}

// failing takes a failure in place of the test.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f)
}

// A resize can outrun what was drawn for the size before: the emulator may
// panic, a terminal does not.
func TestASequenceForAnotherSizeIsSurvived(t *testing.T) {
	t.Parallel()
	s := shell(t, `printf '\033[1;40r\033[40;1H\n\033[99L\033[99S\033[3;2r\033[99T'; printf '\033[r\033[1;1Hstill here'; read -r x`, false)
	s.Wait("still here")
}
