package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"kdapilot/engine/family"
	"kdapilot/engine/journal"
	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/probes/run"
)

// startRun turns what a person asked for into a supervised run.
func (s *Session) startRun(ctx context.Context, a session.StartRun) (session.Reply, error) {
	if s.opt.Mode != session.Live {
		return session.Reply{}, errReadOnly
	}
	spec, err := s.spec(a)
	if err != nil {
		return session.Reply{}, err
	}
	bundle := ""
	if spec.Kind == runs.Profile {
		if bundle, err = s.prepareBundle(&spec); err != nil {
			return session.Reply{}, err
		}
	}
	if hash, n, err := s.git.DirtyHash(ctx, s.opt.Root); err == nil {
		spec.DirtyHash, spec.DirtyFiles = hash, &n
	}
	r, err := s.runner.Start(ctx, spec)
	if err != nil {
		dropBundle(bundle)
	}
	var busy *run.BusyError
	if errors.As(err, &busy) {
		return session.Reply{}, fmt.Errorf("not started: %w", err)
	}
	if err != nil {
		return session.Reply{}, fmt.Errorf("start %s: %w", spec.Preset, err)
	}
	if spec.Kind == runs.Profile {
		s.profiles.note(r.ID, a)
	}
	s.note(ctx, journal.Record{Kind: "run started", Text: text.Line(strings.Join(spec.Argv, " ")), Data: map[string]string{"run": string(r.ID)}})
	s.readRuns(ctx) // whoever asked wants to go to it now
	return session.Reply{Text: fmt.Sprintf("run %s started", r.ID), ID: string(r.ID)}, nil
}

// spec builds the run of a preset, or of a command line a person typed.
func (s *Session) spec(a session.StartRun) (run.Spec, error) {
	snap := s.Snapshot()
	spec := run.Spec{
		Worktree: s.opt.Root, Branch: snap.Repo.Branch, Head: snap.Repo.Head, Question: a.Question,
		Simulated: snap.Simulated, GPUs: s.gpus(a.GPU), Kind: runs.Other, Preset: "custom", Argv: a.Argv,
		// A repetition waits for the GPU its first attempt may just be leaving.
		RetryOf: a.RetryOf, Arm: a.Arm, Sequence: a.Sequence, Queue: a.RetryOf != "" || a.Arm != "",
	}
	if p := s.path(".humanize", "kernel-agent", "runenv.sh"); exists(p) {
		spec.RunEnv = p
	}
	fam := snap.Family
	if fam == nil && a.Preset != "" {
		return spec, fmt.Errorf("preset %s: no kernel family is known: %s", a.Preset, snap.FamilyWhy)
	}
	if fam != nil {
		spec.Family = fam.Name
		for _, j := range fam.Judges {
			if j.Root == "" || j.Root == "worktree" {
				// A command of a person's own may run where no judge is; a
				// preset of the family may not.
				if a.Preset != "" || exists(s.path(filepath.FromSlash(j.Path))) {
					spec.Judges = append(spec.Judges, j.Path)
				}
			}
		}
	}
	if a.Preset == "" {
		if len(a.Argv) == 0 {
			return spec, errors.New("run: no command")
		}
		spec.Kind = kindOfArgv(a.Argv)
		if spec.Kind == runs.Profile && !needsGPU(a.Argv) {
			spec.GPUs = nil
		}
		if spec.Kind == runs.Harness && fam != nil {
			spec.Captures = fam.Harness.CSV
		}
		return spec, nil
	}
	return s.presetSpec(spec, *fam, a)
}

func (s *Session) presetSpec(spec run.Spec, fam family.Family, a session.StartRun) (run.Spec, error) {
	p := family.Params{
		GPU: a.GPU, Worktree: s.opt.Root, Cell: a.Cell, Variant: s.variant(fam),
		RunID: s.opt.Now().Format("20060102-150405"), Kernel: a.Kernel, Class: a.Class,
	}
	if err := s.profileParams(&p, fam, a); err != nil {
		return spec, fmt.Errorf("preset %s: %w", a.Preset, err)
	}
	cmd, err := fam.Preset(a.Preset, p)
	if err != nil {
		return spec, err
	}
	spec.Preset, spec.Argv, spec.Cwd = cmd.Preset, cmd.Argv, cmd.Cwd
	spec.Kind = kindOf(cmd.Kind)
	spec.Env = map[string]string{}
	for _, kv := range cmd.Env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			spec.Env[k] = v
		}
	}
	if n := len(cmd.Expected); n > 0 {
		total := n + cmd.ExpectedExtra
		spec.ExpectedCells = &total
	}
	if spec.Kind == runs.Harness {
		spec.Captures = fam.Harness.CSV
	}
	return spec, s.checkPreset(&spec, fam, a)
}

// variant tells which version of the harness the worktree has.
func (s *Session) variant(fam family.Family) string {
	b, err := readHarness(s.path(fam.Harness.Path))
	if err != nil {
		return ""
	}
	name, _ := fam.Variant(b)
	return name
}

func kindOf(k string) runs.Kind {
	switch k {
	case family.KindHarness:
		return runs.Harness
	case family.KindPytest:
		return runs.Pytest
	case family.KindFlyprof:
		return runs.Profile
	default:
		return runs.Other
	}
}

// kindOfArgv guesses the kind of a typed command, for its label only.
func kindOfArgv(argv []string) runs.Kind {
	line := strings.Join(argv, " ")
	switch {
	case profile.IsFlyprof(argv):
		return runs.Profile
	case strings.Contains(line, "pytest"):
		return runs.Pytest
	case strings.Contains(line, "tests/kernels/"), strings.Contains(line, "op_tests/"):
		return runs.Harness
	default:
		return runs.Other
	}
}

// gpus is the device a run locks.
func (s *Session) gpus(index int) []runs.GPU {
	for _, g := range s.Snapshot().Host.GPUs {
		if g.Index == index {
			return []runs.GPU{g}
		}
	}
	return []runs.GPU{{Index: index}}
}
