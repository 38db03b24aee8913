package live

import (
	"bytes"
	"context"
	"path/filepath"

	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/probes/run"
)

const (
	// logLine bounds a line of a log on screen, in bytes.
	logLine = 16 << 10
	// logBack is how much of a long log is read when it is opened, in bytes; the
	// whole log stays on disk.
	logBack = 24 << 20
)

// logTail follows the log that is on screen: standard output and error of one
// run, each line whole.
type logTail struct {
	s     *Session
	id    runs.ID
	tails []*run.Tailer
	lines []*run.Lines
	job   *job
	stop  context.CancelFunc
	whole bool // the log was read to the end of a run that ended
}

// openLog follows the log of a run on screen, in place of the one before.
func (s *Session) openLog(id runs.ID) {
	s.follow.mu.Lock()
	if s.follow.log != nil {
		s.follow.log.stop()
		s.follow.log = nil
	}
	s.follow.mu.Unlock()
	s.apply(session.LogOpened{ID: id})
	r := s.Snapshot().Run(id)
	if r == nil {
		return
	}
	t := &logTail{s: s, id: id}
	out, errs := run.Attach(r.Dir)
	if r.StdoutBytes > logBack {
		path := filepath.Join(r.Dir, run.StdoutFile)
		out = run.NewTailer(path, r.StdoutBytes-logBack)
		s.apply(session.LogRead{ID: id, Lines: []string{"[earlier output is in " + text.Line(path) + "]"}})
	}
	for _, tl := range []*run.Tailer{out, errs} {
		t.tails = append(t.tails, tl)
		t.lines = append(t.lines, run.NewLines(logLine))
	}
	ctx, cancel := context.WithCancel(s.ctx)
	t.stop = cancel
	t.job = newJob("read log", t.read)
	s.wg.Add(1)
	t.job.start(ctx, s.lost, s.wg.Done)
	s.follow.mu.Lock()
	s.follow.log = t
	s.follow.mu.Unlock()
	t.job.poke()
}

// pokeLog tells the log on screen that it grew.
func (s *Session) pokeLog(id runs.ID) {
	s.follow.mu.Lock()
	t := s.follow.log
	s.follow.mu.Unlock()
	if t != nil && t.id == id {
		t.job.poke()
	}
}

// read appends what is new, standard output first. Lines are handed over in
// pieces, so that a long log appears from its beginning at once.
func (t *logTail) read(ctx context.Context) {
	// Asked before reading: what a run wrote before it ended is there by then.
	r := t.s.Snapshot().Run(t.id)
	ended := r != nil && r.State.Final()
	for i, tl := range t.tails {
		for ctx.Err() == nil {
			c, err := tl.ReadNew(run.ChunkBytes)
			if err != nil || len(c.Bytes) == 0 {
				break
			}
			if lines := cleanLines(t.lines[i].Feed(c)); len(lines) > 0 {
				t.s.apply(session.LogRead{ID: t.id, Lines: lines})
			}
			if !c.More {
				break
			}
		}
	}
	if !ended || ctx.Err() != nil || t.whole {
		return
	}
	t.whole = true
	for _, l := range t.lines {
		if rest, ok := l.Rest(); ok {
			t.s.apply(session.LogRead{ID: t.id, Lines: cleanLines([]run.Line{rest})})
		}
	}
	t.s.apply(session.LogRead{ID: t.id, Whole: true})
}

func cleanLines(lines []run.Line) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		b := l.Bytes
		// Only the last state of a progress line is worth a line.
		if i := bytes.LastIndexByte(b, '\r'); i >= 0 {
			b = b[i+1:]
		}
		s := text.Clean(string(b))
		if l.Full > int64(len(l.Bytes))+1 {
			s += " [line cut]"
		}
		out = append(out, s)
	}
	return out
}
