package profile

import (
	"strings"
	"testing"

	"kdapilot/engine/runs"
)

func ended(argv []string, exit int) *runs.Run {
	return &runs.Run{State: runs.Ended, Manifest: runs.Manifest{Argv: argv}, Result: &runs.Result{State: runs.Ended, Exit: &exit}}
}

func failure(command, code string, exit int) *Said {
	return &Said{Command: command, Code: code, Exit: exit, Message: "what went wrong", Help: "what helps"}
}

func TestJudge(t *testing.T) {
	run := []string{"flyprof", "run", "k"}
	doctor := []string{"flyprof", "doctor"}
	for _, c := range []struct {
		name string
		in   Ended
		want Meaning
		exit int
		bad  bool
		text string
	}{
		{"good", Ended{Run: ended(run, 0), Said: &Said{OK: true, Command: "run", Headline: "k: memory-bound"}}, OK, 0, false, "memory-bound"},
		{"66 is an answer", Ended{Run: ended(run, 66), Said: failure("run", "KERNEL_NOT_FOUND", 66)}, Nothing, 66, false, "KERNEL_NOT_FOUND, exit 66"},
		{"69 stops", Ended{Run: ended(run, 69), Said: failure("run", "ROCPROFV3_MISSING", 69)}, Stop, 69, true, "ROCPROFV3_MISSING"},
		{"70", Ended{Run: ended(run, 70), Said: failure("run", "INTERNAL", 70)}, Internal, 70, true, "INTERNAL"},
		{"75 retries", Ended{Run: ended(run, 75), Said: failure("run", "CAPTURE_TIMEOUT", 75)}, Retry, 75, true, "CAPTURE_TIMEOUT"},
		{"78 fixes", Ended{Run: ended(run, 78), Said: failure("run", "BUILD_TREE_MISSING", 78)}, FixInput, 78, true, "BUILD_TREE_MISSING"},
		{"2", Ended{Run: ended(run, 2), Complaint: "unrecognized arguments: --x"}, Usage, 64, true, "--x"},
		{"2 with an envelope", Ended{Run: ended(run, 2), Said: failure("run", "BAD_ARGS", 78)}, Disagree, 1, true, "no envelope"},
		{"130", Ended{Run: ended(run, 130)}, Interrupted, 3, false, "130"},
		{"130 with an envelope", Ended{Run: ended(run, 130), Said: &Said{OK: true, Command: "run"}}, Disagree, 1, true, ""},
		{"torn", Ended{Run: ended(run, 0), Why: "line 3: unexpected end of JSON input"}, NoAnswer, 70, true, "line 3"},
		{"75 without envelope is no retry", Ended{Run: ended(run, 75)}, NoAnswer, 70, true, "stdout is empty"},
		{"ok says the envelope, 1 the exit", Ended{Run: ended(run, 1), Said: &Said{OK: true, Command: "run"}}, Disagree, 1, true, "says ok"},
		{"0 says the exit, 69 the envelope", Ended{Run: ended(run, 0), Said: failure("run", "NO_GPU", 69)}, Disagree, 1, true, "says exit 69"},
		{"a code with the wrong exit", Ended{Run: ended(run, 75), Said: failure("run", "NO_GPU", 75)}, Disagree, 1, true, "belongs to exit 69"},
		{"another command's envelope", Ended{Run: ended(run, 0), Said: &Said{OK: true, Command: "list"}}, Disagree, 1, true, "list"},
		{"an ok without its files", Ended{Run: ended(run, 0), Said: &Said{OK: true, Command: "run"}, Missing: []string{"/b/report.json"}}, Disagree, 1, true, "report.json"},
		{"unknown exit", Ended{Run: ended(run, 5), Said: failure("run", "NEW", 5)}, NoAnswer, 70, true, "exit 5"},
		{"not installed", Ended{Run: ended(run, 127)}, Stop, 69, true, "could not be started"},
		{"doctor ready", Ended{Run: ended(doctor, 0), Said: &Said{OK: true, Command: "doctor", Doctor: &Doctor{Ready: true, Arch: "gfx950"}}}, OK, 0, false, "ready"},
		{"doctor says no with exit 0", Ended{Run: ended(doctor, 0), Said: &Said{OK: true, Command: "doctor", Doctor: &Doctor{Blockers: []string{"NO_GPU"}}}}, NotReady, 69, true, "NO_GPU"},
		{"doctor lacks the build only", Ended{Run: ended(doctor, 0), Said: &Said{OK: true, Command: "doctor", Doctor: &Doctor{Blockers: []string{"BUILD_TREE_MISSING"}}}}, NotReady, 78, true, "BUILD"},
		{"help", Ended{Run: ended([]string{"flyprof", "--version"}, 0), Why: "not JSON"}, NotJudged, 0, false, ""},
		{"killed", Ended{Run: &runs.Run{State: runs.Ended, Manifest: runs.Manifest{Argv: run}, Result: &runs.Result{Signal: "SIGKILL", SignalNumber: 9}}, Stages: &Stages{Plan: Plan("run", ""), At: 2}}, Interrupted, 3, false, "SIGKILL, while capturing the thread trace, tag small"},
		{"cancelled", Ended{Run: &runs.Run{State: runs.Cancelled, Manifest: runs.Manifest{Argv: run}}}, Interrupted, 3, false, "cancelled"},
		{"never started", Ended{Run: &runs.Run{State: runs.Failed, Why: "no such file", Manifest: runs.Manifest{Argv: run}}}, Stop, 69, true, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Judge(c.in)
			if got == nil || got.Meaning != c.want || got.Exit != c.exit || got.Bad() != c.bad || !strings.Contains(got.Text, c.text) {
				t.Errorf("%+v; want %s, exit %d, bad %v, %q", got, c.want, c.exit, c.bad, c.text)
			}
			if got.Meaning == Disagree && len(got.Quotes) < 2 {
				t.Errorf("a disagreement shows both sides: %q", got.Quotes)
			}
		})
	}
	if Judge(Ended{Run: &runs.Run{State: runs.Running}}) != nil {
		t.Error("a run that goes on has no end")
	}
}

func TestDiffHasANoiseMargin(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	yes := true
	for _, c := range []struct {
		before, after float64
		want          string
	}{{29.24, 28.44, "no change seen"}, {29.24, 20, "shrank"}, {20, 29, "grew"}} {
		d := Diff{Class: "vmcnt", Shrank: &yes, Before: num(c.before), After: num(c.after), Delta: num(c.after - c.before)}
		if got := d.Words(); !strings.Contains(got, c.want) {
			t.Errorf("%v -> %v: %s", c.before, c.after, got)
		}
	}
	if got := (&Diff{Class: "vmcnt", Before: num(1)}).Words(); !strings.Contains(got, "no number") {
		t.Error(got)
	}
}

func TestStages(t *testing.T) {
	there := map[string]bool{}
	plan := Plan("run", "")
	at := func() string {
		s := Reached(plan, func(n string) bool { return there[n] })
		return s.Words()
	}
	for _, c := range []struct{ file, want string }{
		{"", "stage 1 of 10: checking tools"},
		{"tile.json", "stage 2 of 10: discovering"},
		{"discover_kernel_stats.csv", "stage 3 of 10: capturing the thread trace, tag small"},
		{"input_trace_big.yaml", "stage 4 of 10: capturing the thread trace, tag big"},
		{"capture_big.log", "stage 5 of 10: picking"},
		{"capture.json", "stage 6 of 10: collecting counters"},
		{"bubbles.json", "stage 9 of 10: mapping"}, // counters may be skipped
		{"report.json", "all 10 stages done"},
	} {
		there[c.file] = true
		if got := at(); !strings.HasPrefix(got, c.want) {
			t.Errorf("after %q: %s, want %s", c.file, got, c.want)
		}
	}
	if Plan("diff", "") != nil {
		t.Error("a diff has no stages")
	}
	if n := len(Plan("run", "big")); n != 9 {
		t.Errorf("%d stages with one tag", n)
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		argv    []string
		fly     bool
		command string
		kernel  string
	}{
		{[]string{"flyprof", "run", "moe_gemm", "--gpu", "1"}, true, "run", "moe_gemm"},
		{[]string{"/opt/bin/flyprof", "doctor"}, true, "doctor", ""},
		{[]string{"python3", "-m", "flyprof.cli", "list"}, true, "list", ""},
		{[]string{"flyprof", "--version"}, true, "", ""},
		{[]string{"python3", "tools/read.py", "profile/x/flyprof/bubbles.json"}, false, "", ""},
		{nil, false, "", ""},
	} {
		if IsFlyprof(c.argv) != c.fly || CommandOf(c.argv) != c.command || KernelOf(c.argv) != c.kernel {
			t.Errorf("%q: %v %q %q", c.argv, IsFlyprof(c.argv), CommandOf(c.argv), KernelOf(c.argv))
		}
	}
	if Option([]string{"--bundle=x"}, "bundle") != "x" || Option([]string{"--bundle", "y"}, "bundle") != "y" || Option([]string{"--bundle"}, "bundle") != "" {
		t.Error("option")
	}
}
