package bench

import (
	"fmt"
	"strings"
)

// Truth hears the three witnesses of a run — exit status, rows, text — and
// gives its verdict. expected is the number of cells the run should execute,
// 0 when that is not known.
//
// A pass needs: exit status 0, at least one executed cell and as many as
// expected, no failed, unchecked or NaN cell, and a verdict line that says so
// where the family prints one. Everything else is red or not proven, with the
// words of both sides.
func Truth(r *Result, expected int) Verdict {
	v := Verdict{Expected: expected}
	rows := r.AllRows()
	v.Exit, v.Text = exitWitness(r), textWitness(r)
	v.Rows = v.rowWitness(r, rows)
	v.Executed = executed(r, rows)
	v.traps(r, rows)
	v.conclude(r)
	return v
}

// Broken says why the rows of a run can not be trusted although none of them
// failed: it crashed, or its exit status or its text says fail. "" when nothing
// speaks against them; rows that failed speak for themselves, cell by cell.
func (v *Verdict) Broken() string {
	switch {
	case v.Outcome == OutcomeCrashed:
		return "it crashed: " + v.Exit.Quote
	case v.Rows.Says == SaysFail:
		return ""
	case v.Exit.Says == SaysFail:
		return "the rows say " + string(v.Rows.Says) + ", and " + v.Exit.Quote
	case v.Text.Says == SaysFail:
		return "the rows say " + string(v.Rows.Says) + ", and the text: " + v.Text.Quote
	}
	return ""
}

// exitWitness reads the process's status.
func exitWitness(r *Result) Witness {
	switch {
	case r.ExitStatus == nil:
		return Witness{SaysSilent, "the exit status is not known"}
	case *r.ExitStatus == 0:
		return Witness{SaysPass, "exit status 0"}
	}
	return Witness{SaysFail, "exit status " + exitWords(*r.ExitStatus)}
}

// exitWords names the signals that crashes end with.
func exitWords(code int) string {
	name := ""
	switch code {
	case 134, -6:
		name = "SIGABRT, a GPU fault or abort"
	case 137, -9:
		name = "SIGKILL"
	case 139, -11:
		name = "SIGSEGV"
	case 143, -15:
		name = "SIGTERM"
	case 2:
		name = "usage error"
	}
	if name == "" {
		return fmt.Sprint(code)
	}
	return fmt.Sprintf("%d (%s)", code, name)
}

// textWitness reads the verdict line and the crash line.
func textWitness(r *Result) Witness {
	if r.Crashed {
		return Witness{SaysFail, r.CrashLine}
	}
	if r.Verdict == nil {
		return Witness{SaysSilent, "no verdict line"}
	}
	low := strings.ToLower(*r.Verdict)
	switch {
	case strings.Contains(low, "failed"), strings.Contains(low, "error"):
		return Witness{SaysFail, *r.Verdict}
	case strings.Contains(low, "passed"):
		return Witness{SaysPass, *r.Verdict}
	}
	return Witness{SaysSilent, *r.Verdict}
}

// rowWitness reads rows, test outcomes and totals.
func (v *Verdict) rowWitness(r *Result, rows []Row) Witness {
	passed, bad, first := 0, 0, ""
	fail := func(quote string) {
		if bad++; first == "" {
			first = quote
		}
	}
	for i := range rows {
		switch row := &rows[i]; {
		case rowFails(row):
			fail(rowQuote(row))
		case row.Status == Pass || gateWord(row) == "pass":
			passed++
		}
	}
	for _, t := range r.Tests {
		switch t.Outcome {
		case "PASSED", "XFAIL":
			passed++
		case "FAILED", "ERROR", "XPASS(strict)":
			fail(t.ID + " " + t.Outcome)
		}
	}
	if len(r.Tests) == 0 {
		for _, id := range r.Failures {
			fail(id + " FAILED")
		}
		passed += int(total(r, "passed"))
	}
	for _, e := range r.Examples {
		switch e.Result {
		case "PASS":
			passed++
		case "FAIL":
			fail("FAIL " + e.Name)
		}
	}
	if n := total(r, "failed"); n > 0 && bad == 0 {
		fail(fmt.Sprintf("%g failed in the summary", n))
	}
	switch {
	case bad > 0:
		return Witness{SaysFail, fmt.Sprintf("%d failed, first: %s", bad, first)}
	case passed > 0:
		return Witness{SaysPass, fmt.Sprintf("%d passed", passed)}
	}
	return Witness{SaysSilent, "no cell passed or failed a gate"}
}

// total reads a number of the harness's own summary.
func total(r *Result, name string) float64 {
	f, _ := r.Summary.Object().Get(name)
	return f.Num().V
}

// rowFails reports a cell that failed its gate, whatever its status word says:
// NaN or Inf in an output that passed, a cosine that nothing gated.
func rowFails(r *Row) bool {
	return r.Bad() || gateWord(r) == "fail" || saysNaN(r) && r.Status.Class() != ClassSkip
}

// gateWord is the gate that the cockpit applied to a tool without one.
func gateWord(r *Row) string { return r.Axis("cockpit_gate").Text() }

// rowQuote is the cell in words.
func rowQuote(r *Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Key, r.Status)
	if r.MaxErr.OK || r.MinCos.OK {
		fmt.Fprintf(&b, " max_err=%s min_cos=%s", r.MaxErr, r.MinCos)
	}
	for _, n := range [...]string{"cos", "logits_diff", "allclose"} {
		if c := r.Axis(n); !c.IsNull() {
			fmt.Fprintf(&b, " %s=%s", n, c.Text())
		}
	}
	if r.Error != "" {
		b.WriteString(": " + r.Error)
	} else if len(r.Warnings) > 0 {
		b.WriteString(": " + r.Warnings[0])
	}
	return b.String()
}

// executed counts the cells, tests and examples that ran.
func executed(r *Result, rows []Row) int {
	n := 0
	for i := range rows {
		if rows[i].Executed() {
			n++
		}
	}
	for _, t := range r.Tests {
		if t.Outcome != "SKIPPED" {
			n++
		}
	}
	if len(r.Tests) == 0 {
		n += int(total(r, "passed"))
		if len(rows) == 0 {
			n += int(total(r, "failed"))
		}
	}
	for _, e := range r.Examples {
		if e.Result != "SKIP" {
			n++
		}
	}
	return n
}

// conclude turns witnesses and traps into one word.
func (v *Verdict) conclude(r *Result) {
	said := [...]Witness{v.Exit, v.Rows, v.Text}
	pass, fail := 0, 0
	for _, w := range said {
		switch w.Says {
		case SaysPass:
			pass++
		case SaysFail:
			fail++
		}
	}
	v.Agree = pass == 0 || fail == 0
	// A script that reports a crashed child in its own verdict did not crash.
	crashed := r.Crashed && r.Verdict == nil || r.ExitStatus != nil && isCrash(*r.ExitStatus)
	switch {
	case crashed:
		v.Outcome = OutcomeCrashed
		quote := r.CrashLine
		if quote == "" {
			quote = v.Exit.Quote
		}
		v.say(Red, "", "the run crashed; rows after "+orStart(r.CrashedAfter)+" are missing", quote)
	case !v.Agree:
		v.Outcome = OutcomeDisagree
		v.say(Red, "FA-08", "exit status, rows and text disagree: "+v.disagreement(), "")
	case fail > 0:
		v.Outcome = OutcomeFail
		if !v.hasRed() {
			v.say(Red, "", v.failure(), "")
		}
	case v.hasRed() || pass == 0 || v.Exit.Says != SaysPass || v.Rows.Says != SaysPass:
		v.Outcome = OutcomeNotProven
	default:
		v.Outcome = OutcomePass
	}
	v.order()
}

// failure is the most telling of the witnesses that speak of one.
func (v *Verdict) failure() string {
	for _, w := range [...]Witness{v.Rows, v.Text, v.Exit} {
		if w.Says == SaysFail && w.Quote != "" {
			return w.Quote
		}
	}
	return "it failed, and nothing says why"
}

func orStart(key string) string {
	if key == "" {
		return "the start"
	}
	return key
}

func isCrash(code int) bool {
	switch code {
	case 134, 137, 139, -6, -7, -9, -11:
		return true
	}
	return false
}

// disagreement quotes both sides.
func (v *Verdict) disagreement() string {
	var pass, fail []string
	for _, w := range [...]struct {
		name string
		Witness
	}{{"exit", v.Exit}, {"rows", v.Rows}, {"text", v.Text}} {
		switch w.Says {
		case SaysPass:
			pass = append(pass, w.name+" says \""+w.Quote+"\"")
		case SaysFail:
			fail = append(fail, w.name+" says \""+w.Quote+"\"")
		}
	}
	return strings.Join(pass, ", ") + " but " + strings.Join(fail, ", ")
}

func (v *Verdict) say(sev Severity, rule, text, quote string) {
	v.Reasons = append(v.Reasons, Reason{sev, rule, text, quote})
}

func (v *Verdict) hasRed() bool {
	for _, r := range v.Reasons {
		if r.Severity == Red {
			return true
		}
	}
	return false
}

// order puts the reds first and keeps the order within a severity.
func (v *Verdict) order() {
	var out []Reason
	for _, sev := range [...]Severity{Red, Amber, Info} {
		for _, r := range v.Reasons {
			if r.Severity == sev {
				out = append(out, r)
			}
		}
	}
	v.Reasons = out
}
