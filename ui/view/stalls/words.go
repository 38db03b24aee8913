package stalls

import (
	"fmt"
	"strconv"
	"strings"

	"kdapilot/engine/stall"
	"kdapilot/ui/draw"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// meaning says in plain words what stall in a class is.
func meaning(c stall.Class) string {
	switch c {
	case stall.VMCnt:
		return "waits for global memory"
	case stall.LGKMCnt:
		return "waits for LDS or scalar memory"
	case stall.ExpCnt:
		return "waits for exports"
	case stall.WaitCnt:
		return "waits for more than one counter, or none named"
	case stall.Barrier:
		return "waits for the other waves of the workgroup"
	case stall.MFMA:
		return "a matrix instruction that could not issue"
	case stall.VMemLoad:
		return "a global load that could not issue"
	case stall.VMemStore:
		return "a global store that could not issue"
	case stall.LDS:
		return "an LDS access that could not issue"
	case stall.SMem:
		return "a scalar memory access that could not issue"
	case stall.VALU:
		return "a vector instruction that could not issue"
	case stall.Branch:
		return "a branch that could not issue"
	case stall.SALU:
		return "a scalar instruction that could not issue"
	}
	return "an instruction of no known class"
}

// mark sets bubbles apart without colour.
func mark(c stall.Class) string {
	if c.IsBubble() {
		return "*" + string(c)
	}
	return " " + string(c)
}

// word is the verdict on a class, "" without a base.
func (c *classView) word() stall.Word {
	if c.d == nil {
		return ""
	}
	return c.d.Verdict
}

// state is one word for the list: how fresh, or why there is nothing to show.
func (b *bundleView) state() string {
	switch {
	case b.a == nil && b.err != "":
		return "unreadable"
	case b.a == nil && b.asked:
		return "reading"
	case b.a == nil:
		return "not read yet"
	case b.err != "":
		return string(b.a.Freshness.Verdict) + "!"
	default:
		return string(b.a.Freshness.Verdict)
	}
}

func (b *bundleView) question() string {
	if b.a == nil {
		return ""
	}
	return b.a.Question
}

// why says what can not be shown of a bundle, "" when it was read.
func (b *bundleView) why() string {
	switch {
	case b.a != nil:
		return ""
	case b.err != "":
		return "unreadable: " + b.err
	case b.asked:
		return "reading the trace ..."
	default:
		return "not read yet: enter opens it"
	}
}

func freshPaint(v stall.Verdict, look style.Look) style.Token {
	switch v {
	case stall.Fresh:
		return look.Good
	case stall.Inconsistent:
		return look.Bad
	default:
		return look.Warn
	}
}

// changePaint colours a verdict: only a bubble that shrank while its hits did
// not get dearer has earned green.
func changePaint(d *stall.ClassDelta, earned bool, look style.Look) style.Token {
	switch {
	case d.Verdict == stall.NotComparable:
		return look.Bad
	case d.Verdict == stall.Shrank && d.IsBubble && d.Note == "" && earned:
		return look.Good
	case d.Verdict == stall.Grew && d.IsBubble:
		return look.Warn
	case d.Verdict == stall.NoChange:
		return look.Dim
	default:
		return look.Text
	}
}

// pct is a share as the artifact has it, two decimals.
func pct(n stall.Num) string { return strconv.FormatFloat(float64(n), 'f', 2, 64) }

func percent(n *stall.Num) string {
	if n == nil {
		return "unknown"
	}
	return n.String() + " %"
}

// cycles are stall cycles per hit.
func cycles(n *stall.Num) string {
	if n == nil {
		return "-"
	}
	v := float64(*n)
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// ratioOf is candidate over base, "-" when there is none.
func ratioOf(before, after *stall.Num) string {
	if before == nil || after == nil || *before == 0 {
		return "-"
	}
	return "x" + strconv.FormatFloat(float64(*after / *before), 'f', 2, 64)
}

// hits is a count short enough for a column.
func hits(n int64) string {
	switch {
	case n < 1e6:
		return strconv.FormatInt(n, 10)
	case n < 1e9:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1fG", float64(n)/1e9)
	}
}

// place is a source line without its folders; inlined ones keep their chain.
func place(source string) string {
	if source == "" {
		return "(no source line)"
	}
	parts := strings.Split(source, " -> ")
	for i, p := range parts {
		parts[i] = p[strings.LastIndexByte(p, '/')+1:]
	}
	return strings.Join(parts, " -> ")
}

// dispatch is the short name of a dispatch directory.
func dispatch(name string) string {
	if i := strings.Index(name, "dispatch_"); i > 0 {
		return name[i:]
	}
	return name
}

// trust is how far the numbers carry, most important first.
func trust(t *stall.Trust) []string {
	out := []string{
		"waves " + wavesOf(t),
		"executed " + percent(t.ExecutedPct),
		"mapped " + percent(t.MappedPct),
		occupancy(&t.Occupancy),
	}
	where := dispatch(t.Dispatch)
	if t.Tag != "" {
		where = t.Tag + " " + where
	}
	if where == "" {
		where = "dispatch unknown"
	}
	decoder := t.Decoder
	if decoder == "" {
		decoder = "decoder unknown"
	}
	return append(out, where, decoder)
}

func wavesOf(t *stall.Trust) string {
	n := func(p *int) string {
		if p == nil {
			return "?"
		}
		return strconv.Itoa(*p)
	}
	if t.WaveFiles == nil && t.WavesListed == nil {
		return "unknown"
	}
	return n(t.WaveFiles) + "/" + n(t.WavesListed)
}

// occupancy says the number and where it is from: measured and estimated are
// never mixed up.
func occupancy(o *stall.Occupancy) string {
	switch {
	case o.Which == "measured" && o.PeakPerCU != nil:
		return fmt.Sprintf("%d waves/CU measured", *o.PeakPerCU)
	case o.Which == "estimate" && o.Estimate != nil:
		return fmt.Sprintf("%d waves/CU estimated, not measured", *o.Estimate)
	default:
		return "occupancy unknown"
	}
}

// bound is the report's word on the kernel.
func bound(r *stall.Report) string {
	if r.Bound == "" || r.Bound == stall.UnknownBound {
		return "bound unknown"
	}
	return string(r.Bound) + "-bound by rule"
}

// pending says why a wait has no producers to show.
func pending(a *stall.Analysis, h *stall.Hotspot) string {
	switch {
	case h == nil:
		return "this instruction is not in the trace any more: esc goes back"
	case !h.Class.IsBubble():
		return "no wait: " + meaning(h.Class) + ", so nothing was waited for"
	case h.Class == stall.Barrier:
		return "a barrier waits for other waves, not for a memory operation"
	case a.WaitsPending:
		return "producers of waits: still reading the wave files"
	case a.Rows == nil:
		return "producers unknown: only stored artifacts here, no wave files"
	case a.Trust.WaveFiles != nil && *a.Trust.WaveFiles == 0:
		return "producers unknown: no wave files beside the trace"
	default:
		return "the wave files name no producer for this wait"
	}
}

// one joins text for a place where only one line is.
func one(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ", ")
}

// wrapped is text below a label, wrapped.
func wrapped(label, text string, labelW, w int, look style.Look) []string {
	var out []string
	for _, l := range draw.Wrap(text, max(w-labelW-1, 8)) {
		out = append(out, draw.KV(label, strings.TrimRight(l, " "), labelW, w, look))
		label = ""
	}
	return out
}

func noun(n int, word string) string {
	switch {
	case n == 1:
		return word
	case strings.HasSuffix(word, "s"):
		return word + "es"
	default:
		return word + "s"
	}
}

func ageOf(e *view.Env, b *bundleView) string { return view.Age(e.Now, b.ModTime) }
