package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/probes/harness"
	"kdapilot/probes/tmux"
)

// errReadOnly is what every action on a copied folder gets.
var errReadOnly = errors.New("this is a copied folder: it can only be read")

// Do implements session.Session.
func (s *Session) Do(ctx context.Context, a session.Action) (session.Reply, error) {
	switch a := a.(type) {
	case session.Rescan:
		s.pokeAll()
		s.roots.arm()
		return session.Reply{Text: "reading everything again"}, nil
	case session.OpenRound:
		s.loadRound(ctx, a.Loop, a.Round)
		return session.Reply{}, nil
	case session.OpenBundle:
		s.loadBundle(ctx, a.Path, s.modTime(a.Path))
		return session.Reply{}, nil
	case session.OpenLog:
		s.openLog(a.ID)
		return session.Reply{}, nil
	case session.OpenRows:
		return s.openRows(a.Paths)
	case session.CompareSets:
		return s.compareSets(a)
	case session.StartRun:
		return s.startRun(ctx, a)
	case session.CancelRun:
		return s.cancelRun(ctx, a.ID)
	case session.OpenGate:
		return s.openGate(ctx, a.Gate)
	case session.SealGate:
		return s.sealGate(ctx, a)
	case session.NoteRefusals:
		s.noteRefusals(ctx, a.List)
		return session.Reply{}, nil
	case session.CheckHost:
		return s.checkHost(a.AskModel)
	case session.RepairHost:
		return s.repairHost(ctx, a.Name)
	case session.Deliver:
		return s.deliver(ctx, a)
	case session.ListPanes:
		return s.listPanes(ctx)
	case session.WriteFile:
		return s.writeFile(a)
	case session.Copy:
		return s.copy(ctx, a.Text)
	case session.MarkSeen:
		return session.Reply{}, s.markSeen()
	default:
		return session.Reply{}, fmt.Errorf("action %T is not known here", a)
	}
}

func (s *Session) modTime(path string) (mod time.Time) {
	for _, b := range s.Snapshot().Bundles {
		if b.Path == path {
			return b.ModTime
		}
	}
	return mod
}

// openRows reads result files as one set.
func (s *Session) openRows(paths []string) (session.Reply, error) {
	res, err := harness.Parse(paths, harness.Options{}, nil)
	if err != nil {
		return session.Reply{}, fmt.Errorf("read rows: %w", err)
	}
	judge(&res, nil)
	set := session.RowSet{ID: strings.Join(paths, " "), Label: filepath.Base(paths[0]), Result: &res, Origin: fact.Origin{Path: paths[0], Status: fact.OK, ReadAt: s.opt.Now()}}
	if st, err := os.Stat(paths[0]); err == nil {
		set.When, set.Origin.ModTime = st.ModTime(), st.ModTime()
	}
	s.parsed.mu.Lock()
	s.parsed.files = append([]session.RowSet{set}, s.parsed.files...)
	s.parsed.mu.Unlock()
	s.apply(s.sets(s.Snapshot().Runs)...)
	return session.Reply{Text: fmt.Sprintf("%d rows from %s", len(res.AllRows()), text.Line(paths[0])), ID: set.ID}, nil
}

func (s *Session) compareSets(a session.CompareSets) (session.Reply, error) {
	snap := s.Snapshot()
	for _, id := range []string{a.Base, a.Cand} {
		if id != "" && snap.Set(id) == nil {
			return session.Reply{}, fmt.Errorf("compare: no rows under %s", text.Line(id))
		}
	}
	s.parsed.mu.Lock()
	s.parsed.picked.base, s.parsed.picked.cand = a.Base, a.Cand
	d := s.deltaOf(snap.Sets)
	s.parsed.mu.Unlock()
	s.apply(session.DeltaRead{Delta: d})
	return session.Reply{}, nil
}

func (s *Session) cancelRun(ctx context.Context, id runs.ID) (session.Reply, error) {
	if s.opt.Mode != session.Live {
		return session.Reply{}, errReadOnly
	}
	r := s.Snapshot().Run(id)
	if r == nil {
		return session.Reply{}, fmt.Errorf("cancel: no run %s", text.Line(string(id)))
	}
	if err := s.runner.Cancel(ctx, r.Dir, "cancelled in the cockpit"); err != nil {
		return session.Reply{}, fmt.Errorf("cancel %s: %w", r.Manifest.Preset, err)
	}
	s.jobs.runs.poke()
	return session.Reply{Text: "cancel asked for: " + string(id)}, nil
}

func (s *Session) listPanes(ctx context.Context) (session.Reply, error) {
	srv, err := tmux.Inside(os.Getenv)
	if err != nil {
		s.apply(session.PanesRead{Panes: []session.Pane{}})
		return session.Reply{}, nil
	}
	panes, err := srv.Panes(ctx)
	if err != nil {
		return session.Reply{}, fmt.Errorf("list tmux panes: %w", err)
	}
	out := []session.Pane{}
	for _, p := range panes {
		if p.Own || p.Dead {
			continue
		}
		out = append(out, session.Pane{ID: p.ID, Title: p.Title, Command: p.Command, Active: p.Active})
	}
	s.apply(session.PanesRead{Panes: out})
	return session.Reply{}, nil
}

// deliver hands the start command over by the route a person picked.
func (s *Session) deliver(ctx context.Context, a session.Deliver) (session.Reply, error) {
	if s.opt.Mode != session.Live {
		return session.Reply{}, errReadOnly
	}
	switch a.Route {
	case session.ToDemo:
		if s.opt.Deliver == nil {
			return session.Reply{}, errors.New("there is no simulated loop here")
		}
		if err := s.opt.Deliver(a.Text); err != nil {
			return session.Reply{}, fmt.Errorf("simulated loop: %w", err)
		}
		return session.Reply{Text: "SIMULATED: start command given to the simulated loop"}, nil
	case session.ToPane:
		srv, err := tmux.Inside(os.Getenv)
		if err != nil {
			return session.Reply{}, err
		}
		if err := srv.Paste(ctx, a.Pane, a.Text); err != nil {
			return session.Reply{}, fmt.Errorf("paste into pane %s: %w", a.Pane, err)
		}
		if err := srv.Enter(ctx, a.Pane); err != nil {
			return session.Reply{}, fmt.Errorf("press enter in pane %s: %w", a.Pane, err)
		}
		return session.Reply{Text: "start command typed into pane " + a.Pane + "; waiting for the loop to appear"}, nil
	case session.ToClipboard:
		return s.copy(ctx, a.Text)
	case session.ToText:
		return session.Reply{Text: "type it yourself: " + a.Text}, nil
	default:
		return session.Reply{}, fmt.Errorf("deliver: no such route %q", a.Route)
	}
}

// copy hands text to the clipboard of the terminal outside tmux.
func (s *Session) copy(ctx context.Context, content string) (session.Reply, error) {
	srv, err := tmux.Inside(os.Getenv)
	if err != nil {
		return session.Reply{}, errors.New("no way to a clipboard here; write the pane to a file with w")
	}
	if err := srv.Copy(ctx, content); err != nil {
		return session.Reply{}, fmt.Errorf("copy: %w", err)
	}
	return session.Reply{Text: "given to tmux (load-buffer -w): " + text.Clip(text.Line(content), 60)}, nil
}

// writeFile keeps text a person asked for below the state folder.
func (s *Session) writeFile(a session.WriteFile) (session.Reply, error) {
	if s.opt.Mode != session.Live {
		return session.Reply{}, errReadOnly
	}
	dir := s.path(".humanize", "kdapilot", "notes")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return session.Reply{}, fmt.Errorf("write: %w", err)
	}
	base := filepath.Base(a.Name)
	if filepath.Ext(base) == "" {
		base += ".txt"
	}
	name := filepath.Join(dir, s.opt.Now().Format("20060102-150405")+"-"+base)
	if err := os.WriteFile(name, []byte(a.Text), 0o644); err != nil {
		return session.Reply{}, fmt.Errorf("write: %w", err)
	}
	return session.Reply{Text: "written to " + name, ID: name}, nil
}
