// Package screen drives a program in a pseudo terminal and reads its screen
// through a terminal emulator, as a person at the keyboard would.
//
// Guarantees: waiting ends with what was waited for or with a failure that shows
// the screen; nothing sleeps where a change can be waited for; the program and
// what it drew are gone at the end of the test.
//
// What may not enter: knowledge of kdapilot.
package screen

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Patience is how long Wait and its kin wait: long enough for a loaded machine.
const Patience = 20 * time.Second

// Options say what to start.
type Options struct {
	Argv       []string
	Env        []string // the whole environment
	Dir        string
	Cols, Rows int
	// Mute answers none of the program's questions to the terminal.
	Mute bool
}

// Term is a program on a screen.
type Term struct {
	t    testing.TB
	cmd  *exec.Cmd
	pty  *os.File
	mute bool

	mu      sync.Mutex
	em      *vt.Emulator
	raw     []byte
	rows    int
	cols    int
	changed chan struct{} // closed and replaced with every piece of output
	over    bool

	done chan struct{} // the program has ended
	err  error
}

// Start runs a program on a screen of its own.
func Start(t testing.TB, o Options) *Term {
	t.Helper()
	if o.Cols == 0 {
		o.Cols, o.Rows = 120, 40
	}
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Env, cmd.Dir = o.Env, o.Dir
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(o.Cols), Rows: uint16(o.Rows)})
	if err != nil {
		t.Fatalf("start %v: %v", o.Argv, err)
	}
	s := &Term{t: t, cmd: cmd, pty: f, em: vt.NewEmulator(o.Cols, o.Rows), rows: o.Rows, cols: o.Cols, changed: make(chan struct{}), done: make(chan struct{}), mute: o.Mute}
	drained := make(chan struct{})
	go s.pump(drained)
	go s.answer()
	go func() {
		s.err = cmd.Wait()
		// What it wrote last is still in the terminal's buffer.
		select {
		case <-drained:
		case <-time.After(2 * time.Second):
		}
		close(s.done)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.done
		_ = f.Close()
	})
	return s
}

// pump feeds the emulator until the terminal closes.
func (s *Term) pump(drained chan struct{}) {
	defer close(drained)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.raw = append(s.raw, buf[:n]...)
		if n > 0 {
			s.feed(buf[:n])
		}
		s.over = err != nil
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// feed hands output to the emulator, one sequence with its text at a time: the
// emulator panics on a scroll that was written for a taller screen and arrives
// after a resize. A terminal ignores that, and the program draws all anew.
func (s *Term) feed(b []byte) {
	for len(b) > 0 {
		n := len(b)
		if at := bytes.IndexByte(b[1:], 0x1b); at >= 0 {
			n = at + 1
		}
		s.sequence(b[:n])
		b = b[n:]
	}
}

func (s *Term) sequence(b []byte) {
	defer func() {
		if recover() != nil {
			_, _ = s.em.Write([]byte{0x18}) // CAN: the sequence is over
		}
	}()
	_, _ = s.em.Write(b)
}

// answer hands the emulator's replies to the program, as a terminal does.
func (s *Term) answer() {
	buf := make([]byte, 4<<10)
	for {
		n, err := s.em.Read(buf)
		if n > 0 && !s.mute {
			_, _ = s.pty.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// Lines is the screen, line by line, without trailing blanks.
func (s *Term) Lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines()
}

func (s *Term) lines() []string {
	out := make([]string, s.rows)
	for y := range s.rows {
		var l strings.Builder
		for x := range s.cols {
			switch c := s.em.CellAt(x, y); {
			case c == nil || c.Content == "" && c.Width > 0:
				l.WriteByte(' ')
			default:
				l.WriteString(c.Content)
			}
		}
		out[y] = strings.TrimRight(l.String(), " ")
	}
	return out
}

// Text is the screen as one text.
func (s *Term) Text() string { return strings.Join(s.Lines(), "\n") }

// Raw is everything the program has written.
func (s *Term) Raw() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.raw)
}

// Until waits until ok holds for the screen.
func (s *Term) Until(what string, ok func(text string) bool) {
	s.t.Helper()
	deadline := time.After(Patience)
	for {
		s.mu.Lock()
		text, next, over := strings.Join(s.lines(), "\n"), s.changed, s.over
		s.mu.Unlock()
		if ok(text) {
			return
		}
		if over {
			s.t.Fatalf("the program ended before %s:\n%s", what, text)
		}
		select {
		case <-next:
		case <-deadline:
			s.t.Fatalf("never saw %s:\n%s", what, text)
		}
	}
}

// Wait waits until all of want are on screen.
func (s *Term) Wait(want ...string) {
	s.t.Helper()
	s.Until(strings.Join(want, " and "), func(text string) bool {
		for _, w := range want {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	})
}

// Gone waits until text is off the screen.
func (s *Term) Gone(text string) {
	s.t.Helper()
	s.Until(text+" to go", func(all string) bool { return !strings.Contains(all, text) })
}

// Keys sends bytes in one write, as a burst or a key's sequence comes.
func (s *Term) Keys(b string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, b); err != nil && !errors.Is(err, syscall.EIO) {
		s.t.Fatalf("send %q: %v", b, err)
	}
}

// Hand is how far apart a person's keys are.
const Hand = 70 * time.Millisecond

// Type sends a text key by key, at a hand's pace.
func (s *Term) Type(text string) {
	s.t.Helper()
	for _, r := range text {
		s.Keys(string(r))
		time.Sleep(Hand) // the pace itself is what is sent
	}
}

// Rest waits as a person does who reads: for d nothing is sent.
func (s *Term) Rest(d time.Duration) { time.Sleep(d) }

// Resize gives the screen another size.
func (s *Term) Resize(cols, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.cols, s.rows = cols, rows
	s.em.Resize(cols, rows)
	s.mu.Unlock()
	if err := pty.Setsize(s.pty, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		s.t.Fatal(err)
	}
}

// Signal sends a signal to the program.
func (s *Term) Signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("signal: %v", err)
	}
}

// PID is the program's process id.
func (s *Term) PID() int { return s.cmd.Process.Pid }

// Ended waits for the program's end and gives its exit status; -1 when a signal
// ended it.
func (s *Term) Ended() int {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(Patience):
		s.t.Fatalf("the program did not end:\n%s", s.Text())
	}
	return s.cmd.ProcessState.ExitCode()
}
