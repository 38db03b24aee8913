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

// head says what is compared and what each side is worth, in at most h lines.
// Reds are never the lines that are left out: they come right behind their arm.
func (s *Screen) head(e *view.Env, m *model, w, h int) []string {
	if m.delta == nil {
		out := s.armLines(e, "rows", m.cand, 0, w)
		return draw.Block(append(out, s.alone(e, w)...), w, min(h, len(out)+1))
	}
	d := m.delta
	out := s.armLines(e, "base", m.base, m.n, w)
	out = append(out, s.armLines(e, "cand", m.cand, m.n, w)...)
	out = append(out, s.verdictLines(e, m, w)...)
	if m.base == nil || m.cand == nil {
		out = append(out, kv("", e.Look.Warn.Paint("a side of this comparison is no longer among the sets: "+d.Base+", "+d.Cand), w, e.Look))
	}
	if len(out) > h {
		// Short of room, the verdict stays and the words about the arms go.
		tail := s.verdictLines(e, m, w)[:1]
		out = append(out[:max(h-1, 0)], tail...)
	}
	return out
}

func kv(label, value string, w int, look style.Look) string {
	return draw.KV(label, value, labelW, w, look)
}

// armLines name one side: label and age, then what the run is worth.
func (s *Screen) armLines(e *view.Env, label string, set *session.RowSet, n, w int) []string {
	look := e.Look
	if set == nil {
		return []string{kv(label, look.Warn.Paint("none"), w, look)}
	}
	age := view.Age(e.Now, set.When)
	name := look.Strong.Paint(set.Label)
	if simulated(e.Snap, set) {
		name = look.Simulated.Paint("SIMULATED") + " " + name
	}
	worth, paint := worth(set)
	facts := factsOf(set, n)
	if w >= 100 {
		line := name + look.Dim.Paint("  "+age+" old  "+strings.Join(facts, "  "))
		out := []string{kv(label, draw.Sides(line, paint(look).Paint(worth)+" ", w-labelW-1), w, look)}
		return append(out, s.witnesses(e, set, w)...)
	}
	out := []string{kv(label, draw.Sides(name, look.Dim.Paint(age), w-labelW-1), w, look)}
	out = append(out, kv("", paint(look).Paint(worth)+look.Dim.Paint("  "+strings.Join(facts, "  ")), w, look))
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

// worth is the outcome in words, with the paint it has earned.
func worth(set *session.RowSet) (string, func(style.Look) style.Token) {
	bad := func(l style.Look) style.Token { return l.Bad }
	warn := func(l style.Look) style.Token { return l.Warn }
	if set.Result == nil || set.Result.Truth == nil {
		return "not judged", warn
	}
	t := set.Result.Truth
	switch t.Outcome {
	case bench.OutcomePass:
		return "pass", func(l style.Look) style.Token { return l.Good }
	case bench.OutcomeRunning:
		return "not finished", warn
	default:
		return strings.ToUpper(string(t.Outcome)), bad
	}
}

// witnesses are the reasons and, where they disagree, the words of both sides.
func (s *Screen) witnesses(e *view.Env, set *session.RowSet, w int) []string {
	if set.Result == nil || set.Result.Truth == nil {
		return nil
	}
	t, look := set.Result.Truth, e.Look
	var out []string
	if t.Outcome != bench.OutcomePass {
		for i, r := range t.Reasons {
			if i == 2 {
				out = append(out, kv("", look.Dim.Paint(fmt.Sprintf("and %d more reasons, see checks", len(t.Reasons)-i)), w, look))
				break
			}
			out = append(out, kv("", look.Bad.Paint(reason(r)), w, look))
		}
	}
	if !t.Agree {
		for _, x := range []struct {
			name string
			w    bench.Witness
		}{{"exit", t.Exit}, {"rows", t.Rows}, {"text", t.Text}} {
			out = append(out, kv("", look.Bad.Paint(fmt.Sprintf("%s says %s: %q", x.name, x.w.Says, x.w.Quote)), w, look))
		}
	}
	if t.MaxErrOnly {
		out = append(out, kv("", look.Warn.Paint("checked max_err and no cosine: not enough for a promotion"), w, look))
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
func (s *Screen) verdictLines(e *view.Env, m *model, w int) []string {
	look, c := e.Look, &m.delta.Comparison
	word := verdictPaint(c.Verdict, look).Paint(strings.ToUpper(string(c.Verdict)))
	if simulatedAny(e.Snap, m) {
		word = look.Simulated.Paint("SIMULATED") + " " + word
	}
	if m.delta.Picked {
		word += look.Dim.Paint(" (pair picked)")
	}
	var out []string
	for i, l := range draw.Wrap(word+" "+c.Why, max(w-labelW-1, 8)) {
		if i == 3 {
			break
		}
		label := ""
		if i == 0 {
			label = "delta"
		}
		out = append(out, kv(label, l, w, look))
	}
	out = append(out, kv("cells", counts(&c.Overall, look), w, look))
	if t := tooFew(m, c); t != "" {
		for _, l := range draw.Wrap(t, max(w-labelW-1, 8)) {
			out = append(out, kv("", look.Warn.Paint(strings.TrimRight(l, " ")), w, look))
		}
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
	if c.Verdict == bench.VerdictNotComparable || m.n == 0 || m.n >= 5 {
		return ""
	}
	if m.n == 1 {
		s := fmt.Sprintf("n=1 decides nothing: one run a side is inside or outside the noise band. 5 a side can reach p %.3f.", bench.LeastP(5, 5))
		if o := &c.Overall; o.OutsideFaster+o.OutsideSlower > 0 {
			s += fmt.Sprintf(" Outside the band: %d faster, %d slower.", o.OutsideFaster, o.OutsideSlower)
		}
		return s
	}
	return fmt.Sprintf("n=%d: a rank test can not go below p %.2f; intervals are pooled. 5 a side can.", m.n, bench.LeastP(m.n, m.n))
}

// alone says why there is no comparison.
func (s *Screen) alone(e *view.Env, w int) []string {
	text := "nothing to compare with: no older set of this family and mode. Pick a base with b."
	if len(e.Snap.Sets) == 1 {
		text = "nothing to compare with: this is the only set of rows"
	}
	return []string{kv("", e.Look.Dim.Paint(text), w, e.Look)}
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
