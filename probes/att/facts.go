package att

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"kdapilot/engine/stall"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// Facts are what the small files of a dispatch directory say. A file that is
// missing or can not be understood leaves its part nil and, unless it is simply
// missing, a line in Problems.
type Facts struct {
	// Idle is the artifact's occupancy field, from wstates1.json.
	Idle stall.IdleWaves
	// Occupancy is from occupancy.json, Clock from realtime.json.
	Occupancy *Residency
	ClockMHz  *stall.Num
	// Listed is the number of waves that filenames.json lists.
	Listed   *int
	GfxIP    int64
	GfxName  string
	Problems []string
}

// Residency is the measured residency of waves on the traced shader engines.
type Residency struct {
	Waves, CUs             int
	PeakPerCU, PeakPerSIMD int
	// Span is last wave end - first wave start in shader-clock cycles; nil when
	// there was no wave.
	Span *int64
	// Dispatches maps kernel ids to symbols; id 0 is a dummy.
	Dispatches map[string]string
	// Odd counts rows that made no sense.
	Odd int
}

// Facts reads wstates1.json, occupancy.json, realtime.json and filenames.json.
// The error is the context's.
func (d *Dispatch) Facts(ctx context.Context) (Facts, error) {
	var f Facts
	for _, part := range []struct {
		name string
		read func(b []byte) error
	}{
		{"wstates1.json", f.idle}, {"occupancy.json", f.occupancy}, {"realtime.json", f.realtime}, {"filenames.json", f.filenames},
	} {
		if err := ctx.Err(); err != nil {
			return Facts{}, err
		}
		path := filepath.Join(d.Dir, part.name)
		b, _, err := readfile.All(path, maxSmallBytes)
		if os.IsNotExist(err) {
			continue
		}
		if part.name == "occupancy.json" {
			f.Idle.HasOccupancyJSON = true
		}
		if err == nil {
			err = part.read(b)
		}
		if err != nil {
			f.Problems = append(f.Problems, text.Line(part.name+": "+err.Error()))
		}
	}
	return f, nil
}

// idle reads the state list of wstates1.json. Its points are changes, so the
// mean is over points, not over time, as in the artifact.
func (f *Facts) idle(b []byte) error {
	s := scanner{b: b}
	var n, sum, peak int64
	err := s.object(func(key string) error {
		if key != "state" || s.peek() != '[' {
			return s.skip()
		}
		return s.array(func() error {
			v, _, err := s.integer()
			if n == 0 || v > peak {
				peak = v
			}
			n++
			sum += v
			return err
		})
	})
	if err == nil {
		err = s.end()
	}
	if err != nil || n == 0 {
		return err
	}
	f.Idle.Available, f.Idle.Peak, f.Idle.Samples = true, peak, int(n)
	f.Idle.Mean = stall.Round(float64(sum)/float64(n), 2)
	return nil
}

// Bounds of the hardware coordinates in occupancy.json; gfx9 has 16 compute
// units per engine half and 4 SIMDs.
const (
	maxCU   = 256
	maxSIMD = 16
)

// residency counts the waves of one shader engine as they start and end.
type residency struct {
	perCU   [maxCU]int
	perSIMD [maxCU * maxSIMD]int
	seen    [maxCU]bool
}

// occupancy counts resident waves: +1 per start, -1 per end, in file order.
func (f *Facts) occupancy(b []byte) error {
	r := Residency{Dispatches: map[string]string{}}
	var first, last int64
	started, ended := false, false
	s := scanner{b: b}
	err := s.object(func(key string) error {
		if key == "dispatches" && s.peek() == '{' {
			return s.object(func(id string) error { return dispatchName(&s, r.Dispatches, id) })
		}
		if !isEngine(key) || s.peek() != '[' {
			return s.skip()
		}
		se := &residency{}
		return s.array(func() error {
			v, n, err := s.ints()
			if err != nil {
				return err
			}
			t, cu, simd, start := v[0], v[1], v[2], v[4]
			if n < 5 || cu < 0 || cu >= maxCU || simd < 0 || simd >= maxSIMD || start < 0 || start > 1 {
				r.Odd++
				return nil
			}
			if start == 1 {
				if !started || t < first {
					first, started = t, true
				}
				r.start(se, int(cu), int(simd))
				return nil
			}
			if !ended || t > last {
				last, ended = t, true
			}
			se.perCU[cu]--
			se.perSIMD[cu*maxSIMD+simd]--
			return nil
		})
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return err
	}
	if started && ended {
		span := last - first
		r.Span = &span
	}
	f.Occupancy = &r
	return nil
}

func (r *Residency) start(se *residency, cu, simd int) {
	r.Waves++
	if !se.seen[cu] {
		se.seen[cu] = true
		r.CUs++
	}
	se.perCU[cu]++
	se.perSIMD[cu*maxSIMD+simd]++
	r.PeakPerCU = max(r.PeakPerCU, se.perCU[cu])
	r.PeakPerSIMD = max(r.PeakPerSIMD, se.perSIMD[cu*maxSIMD+simd])
}

// maxDispatches bounds how many kernel ids are carried into a snapshot.
const maxDispatches = 1024

func dispatchName(s *scanner, into map[string]string, id string) error {
	if s.peek() != '"' || len(into) >= maxDispatches {
		return s.skip()
	}
	name, err := s.text()
	into[text.Line(text.Clip(id, 32))] = text.Line(text.Clip(name, 512))
	return err
}

// isEngine reports whether a key of occupancy.json is the number of an engine.
func isEngine(key string) bool {
	for i := range len(key) {
		if key[i] < '0' || key[i] > '9' {
			return false
		}
	}
	return key != ""
}

// clockPair is [shader clock, real-time clock].
type clockPair [2]int64

// realtime derives the shader clock from the first and last pair of the first
// engine: cycles of one clock over cycles of the other times its frequency.
func (f *Facts) realtime(b []byte) error {
	s := scanner{b: b}
	freq := int64(0)
	type engine struct {
		name        string
		first, last clockPair
		pairs       int
	}
	var engines []engine
	err := s.object(func(key string) error {
		switch {
		case key == "metadata" && s.peek() == '{':
			return s.object(func(key string) (err error) {
				if key == "frequency" && s.peek() != '"' {
					freq, _, err = s.integer()
					return err
				}
				return s.skip()
			})
		case s.peek() != '[':
			return s.skip()
		}
		e := engine{name: key}
		err := s.array(func() error {
			v, n, err := s.ints()
			if err != nil || n < 2 {
				return err
			}
			if e.pairs == 0 {
				e.first = clockPair{v[0], v[1]}
			}
			e.last = clockPair{v[0], v[1]}
			e.pairs++
			return nil
		})
		if len(engines) < 256 {
			engines = append(engines, e)
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return err
	}
	slices.SortStableFunc(engines, func(a, b engine) int { return cmp.Compare(a.name, b.name) })
	for _, e := range engines {
		gfx, real := e.last[0]-e.first[0], e.last[1]-e.first[1]
		if gfx > 0 && real > 0 && freq > 0 {
			mhz := stall.Num(float64(gfx) / float64(real) * float64(freq) / 1e6)
			f.ClockMHz = &mhz
			return nil
		}
	}
	return nil
}

// filenames counts the waves that were captured: leaves of
// wave_filenames[se][simd][slot][id].
func (f *Facts) filenames(b []byte) error {
	s := scanner{b: b}
	err := s.object(func(key string) (err error) {
		switch {
		case key == "gfxip" && s.peek() != '"':
			f.GfxIP, _, err = s.integer()
			return err
		case key == "gfxv" && s.peek() == '"':
			v, err := s.text()
			f.GfxName = text.Line(text.Clip(v, 64))
			return err
		case key == "wave_filenames":
			n := 0
			if err := countLeaves(&s, &n); err != nil {
				return err
			}
			f.Listed = &n
			return nil
		}
		return s.skip()
	})
	if err == nil {
		err = s.end()
	}
	return err
}

// countLeaves counts the lists in nested objects.
func countLeaves(s *scanner, n *int) error {
	switch s.peek() {
	case '{':
		return s.object(func(string) error { return countLeaves(s, n) })
	case '[':
		*n++
	}
	return s.skip()
}

// WaveFiles counts the wave files present.
func (d *Dispatch) WaveFiles() (int, error) {
	names, _, err := waveFiles(d.Dir)
	return len(names), err
}

// SpanMicros is the measured span in microseconds, two decimals; nil when the
// clock or the waves are not known.
func (f *Facts) SpanMicros() *stall.Num {
	if f.ClockMHz == nil || f.Occupancy == nil || f.Occupancy.Span == nil {
		return nil
	}
	us := stall.Round(float64(*f.Occupancy.Span)/float64(*f.ClockMHz), 2)
	return &us
}
