package bench

import (
	"fmt"
	"math"
	"strings"
)

// Peak is a chip's dense peak rate and where the figure comes from.
type Peak struct {
	Chip string
	// BF16, FP8 and FP4 are in TFLOPS; 0 is not known. HBM is in TB/s.
	BF16, FP8, FP4, HBM float64
	Source              string
}

// PeakOf finds the peaks of a device by its marketing name, else by its gfx
// name, where the fastest chip of that name counts. ok is false for chips
// whose figures are not established (gfx1250, MI308X and others): they give no
// finding.
func PeakOf(gpu, arch string) (p Peak, ok bool) {
	const cu = "CU count x FLOP/clk x peak clock, equal to AMD's data sheet figures"
	peaks := [...]struct {
		name, arch string
		Peak
	}{
		{"MI300X", "gfx942", Peak{"MI300X", 1307.4, 2614.9, 0, 5.3, cu}},
		{"MI325X", "gfx942", Peak{"MI325X", 1307.4, 2614.9, 0, 6.0, cu}},
		{"MI350X", "gfx950", Peak{"MI350X", 2307, 4614, 9227, 8.0, cu}},
		{"MI355X", "gfx950", Peak{"MI355X", 2517, 5033, 10066, 8.0, cu}},
	}
	for _, c := range peaks {
		if strings.Contains(gpu, c.name) {
			return c.Peak, true
		}
	}
	for i := len(peaks) - 1; i >= 0; i-- {
		if gpu == "" && peaks[i].arch == arch {
			return peaks[i].Peak, true
		}
	}
	return Peak{}, false
}

// rate is the peak for a data type, 0 when unknown.
func (p Peak) rate(dtype string) float64 {
	switch d := strings.ToLower(dtype); {
	case strings.Contains(d, "fp4") || strings.Contains(d, "a4w4") || strings.Contains(d, "f4"):
		return p.FP4
	case strings.Contains(d, "fp8") || strings.Contains(d, "int8") || strings.Contains(d, "f8"):
		return p.FP8
	case strings.Contains(d, "bf16") || strings.Contains(d, "fp16") || d == "f16":
		return p.BF16
	}
	return 0
}

// FLOPs is the work of one call of a cell by the harness's own formula; old
// is the formula of #683 where it differs (causal attention without the
// diagonal), else equal. ok is false when the axes do not say. Source: harness
// contract section 3.
func FLOPs(r *Row) (head, old float64, ok bool) {
	axis := func(n string) float64 { return r.Axis(n).Num().V }
	switch {
	case axis("B") > 0 && axis("S") > 0 && axis("H") > 0 && axis("D") > 0:
		causal, _ := r.Axis("causal").Truth()
		s, rest := axis("S"), 4*axis("D")*axis("H")*axis("B")
		if !causal {
			return s * s * rest, s * s * rest, true
		}
		return s * (s + 1) / 2 * rest, s * math.Floor(s/2) * rest, true
	case axis("M") > 0 && axis("N") > 0 && axis("K") > 0:
		f := 2 * axis("M") * axis("N") * axis("K")
		return f, f, true
	case axis("token") > 0 && axis("model_dim") > 0 && axis("inter_dim") > 0 && axis("topk") > 0:
		f := axis("token") * axis("model_dim") * axis("inter_dim") * 3 * axis("topk") * 2
		return f, f, true
	}
	return 0, 0, false
}

// Plausible looks for numbers that can not be true: a rate above the chip's
// peak (FA-18), and TFLOPS that do not follow from the time by either formula
// of the harness (BC-10). It never compares arms and never uses TFLOPS for a
// delta.
func Plausible(r *Result) []Reason {
	peak, known := PeakOf(r.GPU, r.GPUArch)
	var above, formula once
	for _, rows := range [...][]Row{r.Rows, r.CompareRows} {
		for i := range rows {
			row := &rows[i]
			head, old, ok := FLOPs(row)
			if !ok || !row.US.Positive() {
				continue
			}
			if limit := peak.rate(row.Axis("dtype").Text()); known && limit > 0 && old/row.US.V/1e6 > limit {
				above.see(row)
			}
			if row.TFLOPS.Positive() && !follows(row, head) && !follows(row, old) {
				formula.see(row)
			}
		}
	}
	var v Verdict
	above.say(&v, Red, "FA-18", fmt.Sprintf("faster than the peak of %s (%s)", peak.Chip, peak.Source))
	formula.say(&v, Red, "BC-10", "TFLOPS do not follow from the time by the harness's FLOP formula")
	return v.Reasons
}

// follows reports whether the printed TFLOPS are flops/us/1e6 within the
// rounding of both printed numbers to 0.1.
func follows(r *Row, flops float64) bool {
	want := flops / r.US.V / 1e6
	slack := 0.051/r.US.V*want + 0.051 + 0.002*want
	return math.Abs(r.TFLOPS.V-want) <= slack
}

// TooGood reports a speed-up of more than ten times, which asks for a second
// clock before anybody believes it (FA-18).
func TooGood(c *Cell) bool { return c.Ratio.OK && c.Ratio.V < 0.1 }
