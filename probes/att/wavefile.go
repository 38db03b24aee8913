package att

import (
	"bytes"
	"io"
	"os"
	"syscall"

	"kdapilot/engine/stall"
)

// wave is what one wave file says. edges alternates wait lines and producers.
type wave struct {
	edges  [][2]int64
	insts  int64
	cycles stall.StateCycles
}

// readWave reads one wave file from its end, in growing pieces, until the piece
// holds the timeline and the waits. buf is scratch and returned for the next
// file.
func readWave(path string, buf []byte) (wave, []byte, bool) {
	// O_NONBLOCK: a pipe under a wave file's name must not hang the probe.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return wave{}, buf, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxWaveBytes {
		return wave{}, buf, false
	}
	size := info.Size()
	for n := int64(firstTail); ; n *= 4 {
		n = min(n, size)
		if int64(len(buf)) < n {
			buf = make([]byte, n)
		}
		got, err := f.ReadAt(buf[:n], size-n)
		if err != nil && err != io.EOF || int64(got) < n {
			return wave{}, buf, false
		}
		whole := n == size
		w, ok := parseTail(buf[:n])
		switch {
		case !ok && !whole:
			continue
		case !ok:
			w, ok = parseWave(buf[:n])
			return w, buf, ok
		case whole:
			w.insts = headInsts(buf[:min(n, headBytes)])
		default:
			var head [headBytes]byte
			if _, err := f.ReadAt(head[:], 0); err != nil && err != io.EOF {
				return wave{}, buf, false
			}
			w.insts = headInsts(head[:])
		}
		return w, buf, true
	}
}

// parseTail reads the end of a wave file: keys are written in alphabetical
// order, so timeline and waitcnt are the last values of the last object. It
// says no when they are not all there or something else follows.
func parseTail(b []byte) (wave, bool) {
	at := bytes.LastIndex(b, []byte(`"waitcnt"`))
	if at < 0 {
		return wave{}, false
	}
	t := bytes.LastIndex(b[:at], []byte(`"timeline"`))
	if t < 0 {
		return wave{}, false
	}
	var w wave
	s := scanner{b: b, i: t + len(`"timeline"`)}
	if s.expect(':') != nil || w.timeline(&s) != nil || s.expect(',') != nil {
		return wave{}, false
	}
	if key, err := s.text(); err != nil || key != "waitcnt" || s.expect(':') != nil || w.waitcnt(&s) != nil {
		return wave{}, false
	}
	for range 2 { // the wave object and the file's
		if s.expect('}') != nil {
			return wave{}, false
		}
	}
	if s.end() != nil {
		return wave{}, false
	}
	return w, true
}

// parseWave reads a whole wave file whose keys stand in another order.
func parseWave(b []byte) (wave, bool) {
	var w wave
	s := scanner{b: b}
	err := s.object(func(key string) (err error) {
		switch {
		case key == "wave" && s.peek() == '{':
			return s.object(func(key string) error {
				switch key {
				case "timeline":
					return w.timeline(&s)
				case "waitcnt":
					return w.waitcnt(&s)
				}
				return s.skip()
			})
		case key == "num_insts" && s.peek() != 'n':
			w.insts, _, err = s.integer()
			return err
		}
		return s.skip()
	})
	return w, err == nil && s.end() == nil
}

// headInsts finds the number of instructions in the first bytes of a file.
func headInsts(b []byte) int64 {
	const key = `"num_insts"`
	at := bytes.Index(b, []byte(key))
	if at < 0 {
		return 0
	}
	s := scanner{b: b, i: at + len(key)}
	if s.expect(':') != nil {
		return 0
	}
	n, _, err := s.integer()
	if err != nil {
		return 0
	}
	return n
}

// timeline sums [[state, duration], ...].
func (w *wave) timeline(s *scanner) error {
	if s.null() {
		return nil
	}
	return s.array(func() error {
		v, n, err := s.ints()
		if err != nil || n < 2 {
			return err
		}
		switch v[0] {
		case 1:
			w.cycles.Idle += v[1]
		case 2:
			w.cycles.Exec += v[1]
		case 3:
			w.cycles.Wait += v[1]
		case 4:
			w.cycles.Stall += v[1]
		}
		return nil
	})
}

// waitcnt reads [[line, [[producer, x], ...]], ...]; null is none.
func (w *wave) waitcnt(s *scanner) error {
	if s.null() {
		return nil
	}
	return s.array(func() error {
		var line int64
		n := 0
		return s.array(func() (err error) {
			n++
			switch {
			case n == 1:
				line, _, err = s.integer()
				return err
			case n == 2 && s.peek() == '[':
				return s.array(func() error {
					v, k, err := s.ints()
					if err == nil && k > 0 {
						w.edges = append(w.edges, [2]int64{line, v[0]})
					}
					return err
				})
			}
			return s.skip()
		})
	})
}

// ints reads a list of integers and returns the first eight and their number.
func (s *scanner) ints() (v [8]int64, n int, err error) {
	err = s.array(func() error {
		x, _, err := s.integer()
		if n < len(v) {
			v[n] = x
		}
		n++
		return err
	})
	return v, n, err
}
