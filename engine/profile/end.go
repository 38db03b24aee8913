package profile

import (
	"fmt"
	"slices"
	"strings"

	"kdapilot/engine/runs"
)

// Meaning is what the end of a flyprof run is, and so what is to be done.
type Meaning string

// The meanings. Only OK is good.
const (
	// OK: exit 0, a whole envelope that says so, and what it names is there.
	OK Meaning = "ok"
	// NotReady: doctor answered, and something is missing.
	NotReady Meaning = "not ready"
	// Nothing: exit 66, "there is none" is the answer.
	Nothing Meaning = "nothing there"
	// Stop: exit 69, a tool or the GPU is absent; trying again changes nothing.
	Stop Meaning = "stop"
	// Internal: exit 70, flyprof itself failed.
	Internal Meaning = "internal error"
	// Retry: exit 75, transient; one more try is fair.
	Retry Meaning = "retry"
	// FixInput: exit 78, an argument or a prerequisite is wrong.
	FixInput Meaning = "fix input"
	// Usage: exit 2, the command line was refused; there is no envelope.
	Usage Meaning = "usage error"
	// Interrupted: exit 130, a signal, a cancel or a lost supervisor.
	Interrupted Meaning = "interrupted"
	// NoAnswer: an envelope was due and there is none, or it is torn.
	NoAnswer Meaning = "no answer"
	// Disagree: exit status, envelope and files contradict each other.
	Disagree Meaning = "disagree"
	// NotJudged: help, a version, or no flyprof command at all.
	NotJudged Meaning = "not judged"
)

// End is how a flyprof run ended.
type End struct {
	Meaning Meaning `json:"meaning"`
	// Text says what happened in one line, Next what to do about it ("" when
	// nothing).
	Text string `json:"text"`
	Next string `json:"next,omitempty"`
	// Quotes show both sides of a disagreement.
	Quotes []string `json:"quotes,omitempty"`
	// Said is the answer; nil when there was none.
	Said *Said `json:"said,omitempty"`
	// Exit is the exit status of `kdapilot run` for it.
	Exit int `json:"exit"`
	// Stages is how far a capture got, nil for other commands.
	Stages *Stages `json:"stages,omitempty"`
}

// Bad reports whether the end is red. That nothing is there, or that a person
// stopped it, is neither good nor red.
func (e *End) Bad() bool {
	switch e.Meaning {
	case OK, Nothing, Interrupted, NotJudged:
		return false
	default:
		return true
	}
}

// Ended is what is known of a run that is over.
type Ended struct {
	Run *runs.Run
	// Said is nil when stdout held no whole envelope; Why then says why.
	Said *Said
	Why  string
	// Complaint is the last line of a usage error on stderr.
	Complaint string
	// Missing are files the answer promises and that are not there.
	Missing []string
	Stages  *Stages
}

// codes are flyprof's error codes with the exit status each is bound to.
var codes = map[string]int{
	"KERNEL_NOT_FOUND": 66, "NO_KERNEL_DISCOVERED": 66, "DISPATCH_OUT_OF_RANGE": 66, "EMPTY_ATT": 66, "NO_ARTIFACT": 66, "NO_RECOMMENDATION": 66,
	"ROCPROFV3_MISSING": 69, "NO_GPU": 69, "WIKI_MISSING": 69,
	"INTERNAL": 70, "NOT_IMPLEMENTED": 70, "WIKI_QUERY_FAILED": 70,
	"CAPTURE_TIMEOUT": 75, "WIKI_TIMEOUT": 75,
	"BUILD_TREE_MISSING": 78, "BAD_ARGS": 78, "MISSING_PREREQ": 78,
}

// Judge hears exit status, envelope and files of a run that is over. The answer
// is nil while it goes on.
func Judge(in Ended) *End {
	if !in.Run.State.Final() {
		return nil
	}
	e := judge(in)
	e.Said, e.Stages = in.Said, in.Stages
	e.Exit = exitStatus(&e)
	return &e
}

func judge(in Ended) End {
	r := in.Run
	how := stopped(in)
	switch {
	case r.State == runs.Failed:
		return End{Meaning: Stop, Text: "flyprof was never started: " + r.Why, Next: "is flyprof installed and on PATH? kdapilot bootstrap installs it"}
	case r.State != runs.Ended:
		return End{Meaning: Interrupted, Text: string(r.State) + how, Next: "what is in the bundle is partial: start a new one"}
	case r.Result == nil:
		return End{Meaning: NoAnswer, Text: "the run has no result"}
	case r.Result.Signal != "":
		return End{Meaning: Interrupted, Text: "flyprof was ended by " + r.Result.Signal + how, Next: "what is in the bundle is partial: start a new one"}
	case r.Result.Exit == nil:
		return End{Meaning: NoAnswer, Text: "the exit status is not known"}
	}
	return byExit(in, *r.Result.Exit, how)
}

// stopped says in which stage a capture was when it ended.
func stopped(in Ended) string {
	if in.Stages == nil || in.Stages.Complete() {
		return ""
	}
	return ", while " + in.Stages.Now()
}

func byExit(in Ended, exit int, how string) End {
	if exit == 2 || exit == 130 {
		if in.Said != nil {
			return disagree(in, exit, "flyprof prints no envelope with this exit status")
		}
		if exit == 130 {
			return End{Meaning: Interrupted, Text: "exit 130" + how, Next: "what is in the bundle is partial: start a new one"}
		}
		return End{Meaning: Usage, Text: "flyprof refused the command line (exit 2): " + orSay(in.Complaint, "no reason on stderr"), Next: "correct the preset's arguments"}
	}
	switch {
	case in.Said == nil && (exit == 126 || exit == 127):
		return End{Meaning: Stop, Text: fmt.Sprintf("flyprof could not be started (exit %d)", exit), Next: "is flyprof installed and on PATH? kdapilot bootstrap installs it"}
	case in.Said == nil && exit == 0 && CommandOf(in.Run.Manifest.Argv) == "":
		return End{Meaning: NotJudged, Text: "exit 0; help and version have no envelope"}
	case in.Said == nil:
		return End{Meaning: NoAnswer, Text: fmt.Sprintf("exit %d without a whole envelope: %s", exit, orSay(in.Why, "stdout is empty")), Next: "read the log; what it left in the bundle is not an answer"}
	}
	return answered(in, exit)
}

// answered compares a whole envelope with the exit status and the files.
func answered(in Ended, exit int) End {
	s := in.Said
	want, known := codes[s.Code]
	switch cmd := CommandOf(in.Run.Manifest.Argv); {
	case cmd != "" && s.Command != cmd:
		return disagree(in, exit, fmt.Sprintf("asked for %q, the envelope is of %q", cmd, s.Command))
	case s.OK && exit != 0:
		return disagree(in, exit, "the envelope says ok")
	case !s.OK && exit != s.Exit:
		return disagree(in, exit, fmt.Sprintf("the envelope says exit %d", s.Exit))
	case !s.OK && known && exit != want:
		return disagree(in, exit, fmt.Sprintf("%s belongs to exit %d", s.Code, want))
	case s.OK && len(in.Missing) > 0:
		return disagree(in, exit, "the envelope says ok and these are not there: "+strings.Join(in.Missing, ", "))
	case s.OK:
		return good(s)
	}
	return refused(s, exit)
}

func disagree(in Ended, exit int, other string) End {
	e := End{Meaning: Disagree, Text: fmt.Sprintf("exit %d, but %s", exit, other), Next: "trust neither: read the log"}
	e.Quotes = []string{fmt.Sprintf("exit status: %d", exit)}
	if s := in.Said; s != nil {
		e.Quotes = append(e.Quotes, fmt.Sprintf("envelope: ok=%v command=%q code=%q exitCode=%d", s.OK, s.Command, s.Code, s.Exit))
	}
	return e
}

// good is a whole answer that agrees with everything; doctor's can still be no.
func good(s *Said) End {
	e := End{Meaning: OK, Text: "exit 0, a whole envelope"}
	switch {
	case s.Doctor != nil && !s.Doctor.Ready:
		return End{Meaning: NotReady, Text: strings.Join(s.Doctor.Blockers, ", "), Next: cure(s.Doctor.Blockers)}
	case s.Doctor != nil:
		e.Text = strings.TrimSpace("ready, rocprofv3 " + s.Doctor.Rocprofv3 + " " + s.Doctor.Arch)
	case s.Command == "list":
		e.Text = count(len(s.Kernels), "kernel") + " can be profiled"
	case s.Diff != nil:
		e.Text = s.Diff.Words()
	case s.Wiki != nil:
		e.Text = s.Wiki.Words()
	case s.Headline != "":
		e.Text = s.Headline
	}
	if n := len(s.Warnings); n > 0 && s.Command != "list" {
		e.Text += fmt.Sprintf(" (%s)", count(n, "warning"))
	}
	return e
}

func cure(blockers []string) string {
	var out []string
	for _, b := range []struct{ code, do string }{
		{"ROCPROFV3_MISSING", "install rocprofv3 or set FLYPROF_ROCPROFV3"},
		{"NO_GPU", "rocminfo names no gfx device: use a GPU host"},
		{"BUILD_TREE_MISSING", "bind or build build-fly in this worktree"},
	} {
		if slices.Contains(blockers, b.code) {
			out = append(out, b.do)
		}
	}
	return strings.Join(out, "; ")
}

// refused turns a failure that flyprof reports itself into what is to be done.
func refused(s *Said, exit int) End {
	e := End{Text: fmt.Sprintf("%s (%s, exit %d)", s.Message, s.Code, exit)}
	advice := ""
	switch exit {
	case 66:
		e.Meaning, advice = Nothing, "that is an answer, not an error"
		if len(s.Candidates) > 0 {
			advice += "; kernels it saw: " + strings.Join(s.Candidates, ", ")
		}
	case 69:
		e.Meaning, advice = Stop, "a tool or the GPU is absent, trying again changes nothing"
	case 70:
		e.Meaning, advice = Internal, "flyprof failed inside, read the log"
	case 75:
		e.Meaning, advice = Retry, "transient, worth one retry"
	case 78:
		e.Meaning, advice = FixInput, "an argument or a prerequisite is wrong"
	default:
		e.Meaning, advice = NoAnswer, "this exit status is none of flyprof's"
	}
	e.Next = advice
	if s.Help != "" {
		e.Next += ": " + s.Help
	}
	return e
}

// Line is the end in one line: what it means, then what happened.
func (e *End) Line() string { return string(e.Meaning) + ": " + e.Text }

// exitStatus is the exit status of the command line for an end.
func exitStatus(e *End) int {
	switch e.Meaning {
	case OK, NotJudged:
		return 0
	case NotReady:
		if d := e.Said.Doctor; !slices.Contains(d.Blockers, "ROCPROFV3_MISSING") && !slices.Contains(d.Blockers, "NO_GPU") {
			return 78
		}
		return 69
	case Nothing:
		return 66
	case Stop:
		return 69
	case Retry:
		return 75
	case FixInput:
		return 78
	case Usage:
		return 64
	case Interrupted:
		return 3
	case Disagree:
		return 1
	default:
		return 70
	}
}

// Words is the verdict of a diff with the noise margin that flyprof leaves out.
func (d *Diff) Words() string {
	if d.Class == "" {
		return "diff: no bubble class in the first bundle"
	}
	if d.Before == nil || d.After == nil || d.Delta == nil {
		return "diff: top bubble " + d.Class + ": a side has no number"
	}
	s := fmt.Sprintf("top bubble %s: %.2f -> %.2f %% of stall (%+.2f points)", d.Class, *d.Before, *d.After, *d.Delta)
	switch {
	case *d.Delta > -NoisePoints && *d.Delta < NoisePoints:
		return s + ": no change seen, below " + fmt.Sprintf("%g", NoisePoints) + " points"
	case *d.Delta < 0:
		return s + ": its share shrank"
	default:
		return s + ": its share grew"
	}
}

// Words names the technique and how many pages there are.
func (w *Wiki) Words() string {
	s := fmt.Sprintf("%s: %s", w.Class, count(len(w.Pages), "wiki page"))
	if w.Technique != "" {
		s += ", technique " + w.Technique
	}
	if len(w.PRs) > 0 {
		s += ", done before in " + strings.Join(w.PRs, ", ")
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func orSay(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
