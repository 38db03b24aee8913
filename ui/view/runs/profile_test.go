package runs

import (
	"strings"
	"testing"

	"kdapilot/engine/profile"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/view/viewtest"
)

// profiled is a snapshot whose only runs are profiles, with their ends.
func profiled() *session.Snapshot {
	s := sample()
	exit := func(n int) *runs.Result { return &runs.Result{State: runs.Ended, Exit: &n} }
	run := func(id runs.ID, st runs.State, res *runs.Result) runs.Run {
		return runs.Run{ID: id, State: st, Result: res, Manifest: runs.Manifest{
			ID: id, Preset: "flyprof-run", Kind: runs.Profile, Question: "VMEM wait", Argv: []string{"flyprof", "run", "flash_attn_fwd", "--bundle", "/b"},
		}}
	}
	nine := 9
	going := run("20260821-150000-flyprof-run-0005", runs.Running, nil)
	going.Progress = runs.Progress{Done: 2, Expected: &nine, Current: "stage 3 of 9: capturing the thread trace, tag big"}
	second := run("20260821-140000-flyprof-run-0004", runs.Ended, exit(0))
	second.Manifest.RetryOf = "20260821-135900-flyprof-run-0003"
	s.Simulated = false
	s.Runs = []runs.Run{going, second,
		run("20260821-135900-flyprof-run-0003", runs.Ended, exit(75)),
		run("20260821-130000-flyprof-run-0002", runs.Ended, exit(66)),
		run("20260821-120000-flyprof-run-0001", runs.Ended, exit(0)),
	}
	fail := func(code string, n int) *profile.Said {
		return &profile.Said{Command: "run", Code: code, Exit: n, Message: "because", Help: "do this"}
	}
	said := map[runs.ID]*profile.Said{
		second.ID:                          {OK: true, Command: "run", Bundle: "/b", Headline: "k: memory-bound", Steps: []profile.Step{{Name: "bubbles", Result: "91.0% stall"}}, Warnings: []string{"2 counters read 0"}},
		"20260821-135900-flyprof-run-0003": fail("CAPTURE_TIMEOUT", 75), "20260821-130000-flyprof-run-0002": fail("KERNEL_NOT_FOUND", 66), "20260821-120000-flyprof-run-0001": fail("NO_GPU", 69),
	}
	s.Ends = map[runs.ID]*profile.End{}
	for i := range s.Runs {
		if r := &s.Runs[i]; said[r.ID] != nil {
			s.Ends[r.ID] = profile.Judge(profile.Ended{Run: r, Said: said[r.ID]})
		}
	}
	return s
}

func TestProfilesAreJudgedByTheirEnvelope(t *testing.T) {
	e := viewtest.Env(profiled())
	for id, want := range map[runs.ID]struct {
		word string
		bad  bool
	}{
		"20260821-140000-flyprof-run-0004": {"ok", false}, "20260821-135900-flyprof-run-0003": {"RETRY", true},
		"20260821-130000-flyprof-run-0002": {"nothing there", false}, "20260821-120000-flyprof-run-0001": {"DISAGREE", true},
	} {
		if word, bad := outcome(e, e.Snap.Run(id)); word != want.word || bad != want.bad {
			t.Errorf("%s: %q %v, want %q %v", id, word, bad, want.word, want.bad)
		}
	}
	s := New()
	text := func(id string) string {
		s.Show(e, id)
		return draw.Strip(strings.Join(s.Render(e, 160, 44), "\n"))
	}
	for id, want := range map[string][]string{
		"20260821-150000-flyprof-run-0005": {"stage 3 of 9: capturing the thread trace", "2/9", "flyprof prints it at its end"},
		"20260821-140000-flyprof-run-0004": {"ok", "k: memory-bound", "91.0% stall", "2 counters read 0", "retry of", "VMEM wait"},
		"20260821-135900-flyprof-run-0003": {"RETRY", "worth one retry", "retried", "CAPTURE_TIMEOUT"},
		"20260821-120000-flyprof-run-0001": {"DISAGREE", "exit status: 0", "NO_GPU"},
	} {
		got := text(id)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is not in\n%s", id, w, got)
			}
		}
	}
}

func TestKernelPickerOffersTheList(t *testing.T) {
	snap := profiled()
	list := snap.Runs[4]
	list.ID, list.Manifest.Argv = "20260821-110000-flyprof-list-0001", []string{"flyprof", "list"}
	snap.Runs = append(snap.Runs, list)
	snap.Ends[list.ID] = &profile.End{Meaning: profile.OK, Said: &profile.Said{OK: true, Command: "list", Kernels: []profile.Kernel{
		{Name: "softmax", Recipe: "registry"}, {Name: "allreduce", MultiGPU: true},
	}}}
	e := viewtest.Env(snap)
	ask := start(t, e, "flyprof-run")
	var labels, notes []string
	for _, x := range ask.Prompt.Entries {
		labels, notes = append(labels, x.Label), append(notes, x.Note)
	}
	if got := strings.Join(labels, " "); got != "flash_attn_fwd softmax allreduce" || !strings.Contains(notes[1], "pins GPU 0") || !strings.Contains(notes[2], "several GPUs") {
		t.Errorf("%s %q", got, notes)
	}
	ask = start(t, e, "flyprof-run", "softmax", "VMEM wait")
	if text := strings.Join(ask.Confirm.Lines, "\n"); !strings.Contains(text, "--gpu is ignored") {
		t.Error(text)
	}
	// The same profile again gets a new bundle: it goes through its preset.
	ask = profileAgain(e, e.Snap.Run("20260821-130000-flyprof-run-0002"))
	if ask.Confirm == nil || !strings.Contains(strings.Join(ask.Confirm.Lines, "\n"), "new bundle folder") {
		t.Errorf("%+v", ask)
	}
}
