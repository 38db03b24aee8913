package ui

import (
	"fmt"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/gate"
	"kdapilot/engine/loop"
	"kdapilot/engine/repo"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/view"
)

// header is the two lines that say at any moment what is looked at and where
// it stands.
func (m *Model) header(w int) []string {
	return []string{joinItems(m.placeItems(), w, m.cfg.Look), joinItems(m.statusItems(), w, m.cfg.Look)}
}

// placeItems: task, family, arch, branch @ HEAD, dirty count, locked base.
func (m *Model) placeItems() []item {
	s, look := m.snap, m.cfg.Look
	name := s.Task.Name()
	if name == "" {
		name = lastPart(s.Root)
	}
	items := []item{}
	if s.Simulated {
		items = append(items, item{look.Simulated.Paint("SIMULATED"), look.Simulated.Paint("SIM"), 0})
	}
	items = append(items, item{look.Strong.Paint(name), look.Strong.Paint(draw.FitMiddle(name, min(draw.Width(name), 14))), 0})
	if s.Task.Family != "" {
		items = append(items, item{s.Task.Family, "", 5})
	}
	if s.Task.Arch != "" {
		items = append(items, item{s.Task.Arch, "", 6})
	}
	items = append(items, m.gitItems()...)
	if s.Host.Name != "" {
		items = append(items, item{look.Dim.Paint("on " + s.Host.Name), "", 8})
	}
	return items
}

func (m *Model) gitItems() []item {
	s, look := m.snap, m.cfg.Look
	r := &s.Repo
	switch r.State {
	case repo.Worktree:
	case "":
		return []item{{look.Dim.Paint("git not read yet"), "", 4}}
	default:
		return []item{{look.Dim.Paint(string(r.State)), "", 4}}
	}
	branch := r.Branch
	if r.Detached {
		branch = "detached"
	}
	items := []item{{branch + " @ " + repo.Short(r.Head), "@ " + repo.Short(r.Head), 3}}
	if n := len(r.Dirty()); n > 0 {
		items = append(items, item{look.Warn.Paint(fmt.Sprintf("%d dirty", n)), look.Warn.Paint(fmt.Sprintf("%dd", n)), 2})
	} else if r.FilesKnown {
		items = append(items, item{look.Dim.Paint("clean"), "", 7})
	}
	return append(items, m.baseItem())
}

// baseItem says whether the locked base is where it was pinned.
func (m *Model) baseItem() item {
	s, look := m.snap, m.cfg.Look
	b := s.Repo.Base
	name := s.Task.BaseBranch
	switch {
	case name == "" && b == nil:
		return item{look.Dim.Paint("no locked base"), "", 6}
	case b == nil || b.Status == fact.NotRead:
		return item{look.Dim.Paint("base " + name + " not read yet"), "", 6}
	case b.Commit == "":
		return item{look.Bad.Paint("base " + b.Ref + " missing " + look.Cross), look.Bad.Paint("base " + look.Cross), 2}
	case s.Task.BaseCommit != "" && s.Task.BaseCommit != b.Commit:
		return item{look.Bad.Paint("base " + b.Ref + " moved " + look.Cross), look.Bad.Paint("base moved"), 2}
	case b.IsAncestor != nil && !*b.IsAncestor:
		return item{look.Bad.Paint("base " + b.Ref + " is no ancestor " + look.Cross), look.Bad.Paint("base " + look.Cross), 2}
	case s.Task.BaseCommit == "":
		return item{look.Warn.Paint("base " + b.Ref + " not pinned"), look.Warn.Paint("base ?"), 4}
	default:
		return item{"base " + b.Ref + " " + look.Good.Paint(look.Check), "base " + look.Good.Paint(look.Check), 4}
	}
}

// statusItems: phase, round, ball, stalls, seals, runs, reds and ambers, mode.
func (m *Model) statusItems() []item {
	s, look := m.snap, m.cfg.Look
	items := m.loopItems()
	for _, id := range []gate.ID{gate.G1, gate.G2} {
		word := s.Gates.Word(id)
		paint := look.Dim
		switch word {
		case "sealed":
			paint = look.Good
		case "void":
			paint = look.Bad
		}
		items = append(items, item{paint.Paint(string(id) + " " + word), "", 4})
	}
	for i := range s.Runs {
		if r := &s.Runs[i]; !r.State.Final() {
			long := fmt.Sprintf("%s %s", r.State, r.Manifest.Preset)
			if r.Progress.Expected != nil {
				long += fmt.Sprintf(" %d/%d", r.Progress.Done, *r.Progress.Expected)
			}
			items = append(items, item{look.Accent.Paint(long), look.Accent.Paint("run"), 3})
			break
		}
	}
	items = append(items, m.redItems()...)
	if s.Watch.Every > 0 {
		items = append(items, item{look.Dim.Paint("polling " + s.Watch.Every.String()), "", 6})
	}
	return append(items, m.modeItem())
}

func (m *Model) loopItems() []item {
	s, look := m.snap, m.cfg.Look
	l := s.Loops.Current()
	if l == nil {
		word := "no loop"
		if s.Loops.Origin.Status == fact.NotRead {
			word = "loops not read yet"
		}
		return []item{{look.Dim.Paint(word), look.Dim.Paint(word), 1}}
	}
	ph := strings.ReplaceAll(string(l.Phase), "-", " ")
	if l.Phase == loop.Ended {
		ph = "ended: " + string(l.Outcome)
	}
	items := []item{
		{look.Strong.Paint(ph), look.Strong.Paint(ph), 0},
		{"round " + l.Round.String() + "/" + l.Max.String(), "r" + l.Round.String() + "/" + l.Max.String(), 1},
	}
	if l.Phase != loop.Ended {
		since := view.Age(m.now, l.Ball.Since)
		items = append(items, item{look.Ball.Paint("ball: "+string(l.Ball.Who)) + look.Dim.Paint(" "+since), look.Ball.Paint(string(l.Ball.Who)), 2})
	}
	if l.StallCount.Known && l.StallCount.N > 0 {
		items = append(items, item{look.Warn.Paint(fmt.Sprintf("stall %d/3", l.StallCount.N)), look.Warn.Paint(fmt.Sprintf("s%d", l.StallCount.N)), 3})
	}
	return items
}

func (m *Model) redItems() []item {
	look := m.cfg.Look
	var items []item
	if n := m.snap.Count(session.Red); n > 0 {
		items = append(items, item{look.Bad.Paint(fmt.Sprintf("%d red", n)), look.Bad.Paint(fmt.Sprintf("!%d", n)), 1})
	}
	if n := m.snap.Count(session.Amber); n > 0 {
		items = append(items, item{look.Warn.Paint(fmt.Sprintf("%d amber", n)), look.Warn.Paint(fmt.Sprintf("?%d", n)), 3})
	}
	return items
}

// modeItem says whether gate and run keys are armed.
func (m *Model) modeItem() item {
	look := m.cfg.Look
	switch {
	case m.cfg.ReadOnly:
		return item{look.Dim.Paint("REVIEW, read-only"), look.Dim.Paint("REVIEW"), 4}
	case m.operate:
		return item{look.Warn.Paint("OPERATE"), look.Warn.Paint("OP"), 1}
	default:
		return item{look.Dim.Paint("read-only"), "", 5}
	}
}

func lastPart(path string) string {
	return path[strings.LastIndexByte(path, '/')+1:]
}
