package bench

import (
	"fmt"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

const labelW = 5

// headLine is one line of the head; of too many the highest rank goes first.
type headLine struct {
	text string
	rank int
}

// head says what is compared and what each side is worth, in about h lines.
// Short of room, words about the arms go before reasons. Outcomes, the words of
// witnesses that disagree, the verdict and the counts go only beyond most lines.
func (s *Screen) head(e *view.Env, m *model, w, h, most int) []string {
	var all []headLine
	if m.delta == nil {
		all = append(s.armLines(e, "rows", m.cand, 0, w), headLine{s.alone(e, w), 1})
	} else {
		all = append(s.armLines(e, "base", m.base, m.nBase, w), s.armLines(e, "cand", m.cand, m.nCand, w)...)
		all = append(all, s.verdictLines(e, m, w)...)
	}
	for len(all) > max(h, 1) {
		k := 0
		for i := range all {
			if all[i].rank > all[k].rank || all[i].rank == all[k].rank && all[k].rank > 0 {
				k = i
			}
		}
		if all[k].rank == 0 && len(all) <= most {
			break
		}
		all = append(all[:k], all[k+1:]...)
	}
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].text
	}
	return out
}

func kv(label, value string, w int, look style.Look) string {
	return draw.KV(label, value, labelW, w, look)
}

// armLines name one side: what it is worth, label and age, then how it was
// measured and, unless it passed, why.
func (s *Screen) armLines(e *view.Env, label string, set *session.RowSet, n, w int) []headLine {
	look := e.Look
	if set == nil {
		return []headLine{{kv(label, look.Bad.Paint("this set is no longer there"), w, look), 0}}
	}
	word, paint := worth(e.Snap, set, look)
	name := paint.Paint(word) + "  " + look.Strong.Paint(set.Label)
	if simulated(e.Snap, set) {
		name = look.Simulated.Paint("SIMULATED") + " " + name
	}
	facts := look.Dim.Paint(strings.Join(factsOf(set, n), "  "))
	age := look.Dim.Paint(view.Age(e.Now, set.When)) + " "
	var out []headLine
	if w >= 100 {
		out = append(out, headLine{kv(label, draw.Sides(name+"  "+facts, age, w-labelW-1), w, look), 0})
	} else {
		out = append(out, headLine{kv(label, draw.Sides(name, age, w-labelW-1), w, look), 0}, headLine{kv("", facts, w, look), 5})
	}
	return append(out, s.witnesses(e, set, w)...)
}

func simulated(snap *session.Snapshot, set *session.RowSet) bool {
	return snap.Simulated || set.Run != nil && set.Run.Manifest.Simulated
}

// factsOf are how often, how many rows, by which harness on which GPU.
func factsOf(set *session.RowSet, n int) []string {
	var out []string
	if n > 0 {
		out = append(out, fmt.Sprintf("n %d", n))
	}
	r := set.Result
	if r == nil {
		return append(out, "rows not read yet")
	}
	out = append(out, view.Count(len(r.AllRows()), "row"))
	if r.Version != "" {
		out = append(out, "harness "+r.Version)
	}
	switch {
	case r.GPU != "":
		out = append(out, r.GPU)
	case r.GPUArch != "":
		out = append(out, r.GPUArch)
	default:
		out = append(out, "GPU not known")
	}
	if set.Run != nil && set.Run.Result != nil {
		if yes, _ := set.Run.Result.Contaminated(); yes {
			out = append(out, "CONTAMINATED: others used the GPU")
		}
	}
	if set.Run != nil && set.Run.Partial {
		out = append(out, "PARTIAL")
	}
	return out
}

// worth is the outcome in words, with the paint it has earned: a pass of a
// stand-in, of a part, or beside other processes is not green.
func worth(snap *session.Snapshot, set *session.RowSet, look style.Look) (string, style.Token) {
	if set.Result == nil || set.Result.Truth == nil {
		return "not judged", look.Warn
	}
	switch o := set.Result.Truth.Outcome; {
	case o == bench.OutcomeRunning:
		return "not finished", look.Warn
	case o != bench.OutcomePass:
		return strings.ToUpper(string(o)), look.Bad
	case simulated(snap, set) || flawed(set):
		return "pass", look.Warn
	default:
		return "pass", look.Good
	}
}

// flawed: the run stopped early, or others used its GPU.
func flawed(set *session.RowSet) bool {
	if set.Run == nil {
		return false
	}
	if set.Run.Result != nil {
		if yes, _ := set.Run.Result.Contaminated(); yes {
			return true
		}
	}
	return set.Run.Partial
}

// witnesses are the reasons and, where they disagree, the words of both sides.
func (s *Screen) witnesses(e *view.Env, set *session.RowSet, w int) []headLine {
	if set.Result == nil || set.Result.Truth == nil {
		return nil
	}
	t, look := set.Result.Truth, e.Look
	var out []headLine
	if !t.Agree {
		for _, x := range []struct {
			name string
			w    bench.Witness
		}{{"exit", t.Exit}, {"rows", t.Rows}, {"text", t.Text}} {
			out = append(out, headLine{kv("", look.Bad.Paint(fmt.Sprintf("%s says %s: %q", x.name, x.w.Says, x.w.Quote)), w, look), 0})
		}
	}
	if t.Outcome != bench.OutcomePass {
		for i, r := range t.Reasons {
			if i == 2 {
				out = append(out, headLine{kv("", look.Dim.Paint(fmt.Sprintf("and %d more reasons, see checks", len(t.Reasons)-i)), w, look), 4})
				break
			}
			out = append(out, headLine{kv("", look.Bad.Paint(reason(r)), w, look), 2 + i})
		}
	}
	if t.MaxErrOnly {
		out = append(out, headLine{kv("", look.Warn.Paint("checked max_err and no cosine: not enough for a promotion"), w, look), 2})
	}
	return out
}

func reason(r bench.Reason) string {
	s := r.Text
	if r.Rule != "" {
		s = r.Rule + " " + s
	}
	return s
}

// verdictLines are the word for the whole, what it rests on, the counts, and
// what n can not do.
func (s *Screen) verdictLines(e *view.Env, m *model, w int) []headLine {
	look, c := e.Look, &m.delta.Comparison
	word := strings.ToUpper(string(c.Verdict))
	if simulatedAny(e.Snap, m) {
		word = look.Simulated.Paint("SIMULATED " + word)
	} else {
		word = verdictPaint(c.Verdict, look).Paint(word)
	}
	if m.delta.Picked {
		word += look.Dim.Paint(" (pair picked)")
	}
	var out []headLine
	// add wraps text below a label, in at most most lines; ranks rise by line.
	add := func(label, text string, most, rank, more int) {
		for i, l := range draw.Wrap(text, max(w-labelW-1, 8)) {
			if i == most {
				break
			}
			out = append(out, headLine{kv(label, strings.TrimRight(l, " "), w, look), rank + min(i, 1)*more})
			label = ""
		}
	}
	if c.Verdict == bench.VerdictNotComparable {
		// Every field that differs has to be seen.
		add("delta", word+" "+c.Why, 8, 0, 0)
	} else {
		add("delta", word+" "+c.Why, 3, 0, 4)
	}
	add("cells", counts(&c.Overall, look), 3, 0, 0)
	if t := tooFew(m, c); t != "" {
		add("", look.Warn.Paint(t), 4, 2, 1)
	}
	return out
}

func simulatedAny(snap *session.Snapshot, m *model) bool {
	return m.base != nil && simulated(snap, m.base) || m.cand != nil && simulated(snap, m.cand)
}

func verdictPaint(v bench.CompareVerdict, look style.Look) style.Token {
	switch v {
	case bench.VerdictFaster:
		return look.Good
	case bench.VerdictSame:
		return look.Text
	case bench.VerdictUndecided, bench.VerdictMixed:
		return look.Warn
	default:
		return look.Bad
	}
}

// counts are the cells of a group by verdict, never without the holes.
func counts(r *bench.RegimeResult, look style.Look) string {
	s := fmt.Sprintf("n %d: %d faster, %d slower, %d same, %d undecided, ", r.N, r.Wins, r.Losses, r.Same, r.Undecided)
	if len(r.Holes) == 0 {
		return s + "no holes"
	}
	return s + look.Bad.Paint(view.Count(len(r.Holes), "hole"))
}

// tooFew says what this number of repeats can not decide.
func tooFew(m *model, c *bench.Comparison) string {
	n := min(m.nBase, m.nCand)
	if c.Verdict == bench.VerdictNotComparable || n == 0 || n >= 5 {
		return ""
	}
	if n == 1 {
		o := &c.Overall
		return fmt.Sprintf("n=1 decides nothing: one run a side is only inside or outside the noise band (outside: %d faster, %d slower). 5 a side can reach p %.3f.",
			o.OutsideFaster, o.OutsideSlower, bench.LeastP(5, 5))
	}
	return fmt.Sprintf("n=%d: a rank test can not go below p %.2f; intervals are pooled. 5 a side can.", n, bench.LeastP(m.nBase, m.nCand))
}

// alone says why there is no comparison.
func (s *Screen) alone(e *view.Env, w int) string {
	text := "no older set of this family and mode: pick a base with b"
	if len(e.Snap.Sets) == 1 {
		text = "the only set: nothing to compare with"
	}
	return kv("", e.Look.Dim.Paint(text), w, e.Look)
}

// empty says why there are no numbers at all: nobody looked, nothing is there,
// or it can not be read.
func empty(e *view.Env) string {
	o := e.Snap.RunsStatus
	switch {
	case !o.Status.Known() && o.Why != "":
		return "runs " + o.Status.String() + ": " + o.Why
	case o.Path == "" && !o.Status.Known():
		return "Runs and result files: not read yet."
	case !o.Status.Known() && len(e.Snap.Runs) == 0:
		return "No runs here (" + o.Status.String() + ") and no result files. Press o, then r to run a preset."
	}
	for i := range e.Snap.Runs {
		if r := &e.Snap.Runs[i]; r.State == runs.Running {
			return "No rows yet: " + string(r.ID) + " is running. Its log is on screen 6."
		}
	}
	if n := len(e.Snap.Runs); n > 0 {
		return view.Count(n, "run") + ", none with rows to show. Their logs are on screen 6."
	}
	return "None: no finished run with rows and no result file. Press o, then r to run a preset."
}
