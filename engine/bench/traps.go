package bench

import (
	"fmt"
	"strings"
)

// traps looks for what makes a green run of this stack not green. Source:
// rules catalogue section 1, harness contract section 0.
func (v *Verdict) traps(r *Result, rows []Row) {
	v.trapNothingRan(r, rows)
	v.trapCompareMode(r)
	v.trapFP8(r, rows)
	v.trapCells(r, rows)
	for _, d := range r.Diagnostics {
		if d.Severity == Red {
			v.say(Red, "", d.Text, "")
		}
	}
	if r.ExitStatus == nil {
		v.say(Amber, "FA-08", "the exit status is not known: rows and text alone prove nothing", "")
	}
	if v.Text.Says == SaysSilent && expectsVerdict(r) && r.ExitStatus != nil && *r.ExitStatus == 0 {
		v.say(Red, "FA-08", "the run ended without its verdict line", "")
	}
	if r.PartialTail != nil {
		v.say(Amber, "", "the last line is unfinished", *r.PartialTail)
	}
}

// expectsVerdict reports the families that end with a line that says so.
func expectsVerdict(r *Result) bool {
	switch r.Family {
	case "flash_attn":
		return r.Mode != "compare"
	case "layernorm", "run_benchmark", "run_tests":
		return true
	}
	return false
}

// trapNothingRan: a run of nothing, or of less than expected, is not a pass.
func (v *Verdict) trapNothingRan(r *Result, rows []Row) {
	skips := 0
	for i := range rows {
		if rows[i].Status.Class() == ClassSkip {
			skips++
		}
	}
	switch {
	case v.Executed == 0 && skips > 0:
		v.say(Red, "FA-20", fmt.Sprintf("0 executed: all %d cells were skipped", skips), v.Text.Quote)
	case v.Executed == 0:
		v.say(Red, "FA-20", "0 executed: nothing ran", v.Text.Quote)
	case v.Expected > 0 && v.Executed < v.Expected:
		v.say(Red, "FA-05", fmt.Sprintf("%d of %d expected cells executed", v.Executed, v.Expected), "")
	}
	for _, e := range r.Examples {
		if e.Result == "SKIP" {
			v.say(Red, "FA-20", "skipped, and the run still says that all passed: "+e.Name, e.Note)
		}
	}
	for _, s := range r.Skips {
		v.say(Amber, "FA-06", "not run: "+s, "")
	}
	for i := range r.Skipped {
		v.say(Amber, "FA-06", "not run: "+r.Skipped[i].Key, r.Skipped[i].Error)
	}
}

// trapCompareMode: compare mode looks at max_err only and never fails.
func (v *Verdict) trapCompareMode(r *Result) {
	if r.Family != "flash_attn" || r.Mode != "compare" {
		return
	}
	v.MaxErrOnly = true
	v.say(Red, "FA-04", "compare mode checks max_err only and always exits 0: a plain sweep at the same commit is needed", "")
}

// trapFP8: from #758 on, normal mode runs the bf16 path for --dtype fp8 and
// labels the rows fp8.
func (v *Verdict) trapFP8(r *Result, rows []Row) {
	if r.Family != "flash_attn" {
		return
	}
	for _, key := range SameBytes(rows, rows) {
		v.say(Red, "FA-21", "an fp8 row has the output of its bf16 row: the bf16 path ran", key)
	}
	if !strings.HasPrefix(r.Version, "KVLayout") || r.Mode == "compare" {
		return
	}
	for i := range r.Rows {
		if r.Rows[i].Axis("dtype").Text() == "fp8" {
			v.say(Red, "FA-21", "fp8 rows of normal mode are measured on the bf16 path with bf16 gates since #758; compare mode and extra rows measure fp8", r.Rows[i].Key)
			return
		}
	}
}

// SameBytes lists the fp8 keys of a whose output hash equals that of the bf16
// row of the same shape in b.
func SameBytes(a, b []Row) []string {
	hash := make(map[string]string)
	for i := range b {
		if b[i].MD5 != "" && b[i].Axis("dtype").Text() == "bf16" {
			hash[b[i].Key] = b[i].MD5
		}
	}
	var keys []string
	for i := range a {
		if a[i].MD5 == "" || a[i].Axis("dtype").Text() != "fp8" {
			continue
		}
		if hash[strings.Replace(a[i].Key, "_fp8", "_bf16", 1)] == a[i].MD5 {
			keys = append(keys, a[i].Key)
		}
	}
	return keys
}

// trapCells: NaN that passed, a cell that no gate looked at, a PASS outside
// the contract's limits, a PASS without a time.
func (v *Verdict) trapCells(r *Result, rows []Row) {
	var nan, unchecked, untimed, weak, warned once
	for i := range rows {
		row := &rows[i]
		switch {
		case saysNaN(row) && row.Status.Class() != ClassSkip:
			nan.see(row)
		case gateWord(row) == "not_checked":
			unchecked.see(row)
		case row.Status == Pass && r.Family == "flash_attn" && outsideGate(row, r.Mode == "compare"):
			weak.see(row)
		}
		if row.Status == Pass && !row.US.OK {
			untimed.see(row)
		}
		if len(row.Warnings) > 0 && !saysNaN(row) {
			warned.see(row)
		}
	}
	nan.say(v, Red, "FA-12", "NaN or Inf in the output")
	unchecked.say(v, Red, "FA-21", "no gate looked at the output (reference skipped, or a zero output)")
	weak.say(v, Red, "FA-03", "PASS outside the contract's limits: a threshold was weakened")
	untimed.say(v, Amber, "BC-05", "PASS without a time: the benchmark of the cell failed")
	warned.say(v, Amber, "FA-21", "passed with a warning")
}

// once counts cells and keeps the first.
type once struct {
	n     int
	first string
}

func (o *once) see(r *Row) {
	if o.n++; o.n == 1 {
		o.first = rowQuote(r)
	}
}

func (o *once) say(v *Verdict, sev Severity, rule, text string) {
	if o.n > 0 {
		v.say(sev, rule, fmt.Sprintf("%d cell(s): %s", o.n, text), o.first)
	}
}

// outsideGate applies the contract's limits: bf16 and fp16 max_err < 1e-2 and
// min_cos > 0.99, fp8 5e-2 and 0.98. Compare mode has no cosine.
func outsideGate(r *Row, maxErrOnly bool) bool {
	limit, cos := 1e-2, 0.99
	if r.Axis("dtype").Text() == "fp8" {
		limit, cos = 5e-2, 0.98
	}
	if r.MaxErr.OK && !(r.MaxErr.V < limit) {
		return true
	}
	return !maxErrOnly && r.MinCos.OK && !(r.MinCos.V > cos)
}
