package demo

import (
	"context"
	"fmt"
	"math"
	"strings"
)

// compare plays --compare: three engines in one table. It never fails a run.
func (h *sheet) compare(ctx context.Context, cells []cell) int {
	rule := strings.Repeat("=", ruleWidth)
	h.line("%s\nFlyDSL vs aiter_ck vs aiter_asm  (%s)\nGPU: %s\n  FlyDSL opts: %s", rule, h.title(), GPUName, kernelOpts)
	h.line("  aiter_ck: bf16+fp16, aiter_asm: bf16 only (how_v3_bf16_cvt=2, bf16-convert)\n%s\nRunning benchmarks ...", rule)
	if !h.pace.wait(ctx, 1.5) {
		return 130
	}
	rows := make([]compared, 0, len(cells))
	for _, c := range cells {
		h.line("  %s ...", c.label())
		if !h.pace.wait(ctx, 1.6*h.seconds(c)) {
			return 130
		}
		rows = append(rows, h.engines(c))
	}
	top := fmt.Sprintf("%-72s | %s | %s | %s | %s |%s", header[:strings.Index(header, "KVLayout")+len("KVLayout")],
		centred("FlyDSL", 41), centred("aiter_ck", 41), centred("aiter_asm", 41), centred("Fly/aiter_ck", 14), centred("Fly/aiter_asm", 15))
	const block, ratio = "  Time(us)   TFLOPS   MaxErr  MinCos   St", " TFLOPS MaxErr"
	h.line("\n%s\n%72s | %s | %s | %s | %s | %s", top, "", block, block, block, ratio, ratio)
	wide := strings.Repeat("-", 72+3*(3+41)+2*(3+14))
	h.line("%s", wide)
	for _, r := range rows {
		h.line("%s | %s", r.c.label(), r.text())
	}
	h.line("%s", wide)
	for _, g := range groups(h.fl.dtypes, h.fl.masks) {
		h.line("%72s | %s", "AVG ("+g.name+")", average(g, rows).text())
	}
	h.line("%s", strings.Repeat("=", len(wide)))
	if !h.save("fmha_perf_compare_"+gpuWord+".csv", compareCSV(rows), "Results saved to: ") {
		return 1
	}
	return 0
}

// engine is one side of a compared row; us 0 means it did not run.
type engine struct {
	us, tflops, maxErr float64
	status             string
}

type compared struct {
	c            cell
	fly, ck, asm engine
}

// engines makes up the three sides. The asm engine takes bf16 at D 128 only.
func (h *sheet) engines(c cell) compared {
	n := h.measure(c)
	r := compared{c: c, fly: engine{n.us, n.tflops, n.maxErr, "PASS"}}
	other := func(factor float64, name string) engine {
		us := micros(c, knobs{1, 1}) * factor * math.Exp(0.004*dice(h.seed, name+c.label()).NormFloat64())
		us = math.Round(us*10) / 10
		return engine{us, flops(c) / us / 1e6, n.maxErr, "--"}
	}
	if c.dtype != "fp8" {
		r.ck = other(0.97, "ck")
	}
	if c.d == 128 && c.dtype != "fp16" {
		r.asm = other(0.86, "asm")
	}
	return r
}

func (r compared) text() string {
	return r.fly.text() + " | " + r.ck.text() + " | " + r.asm.text() + " | " + r.fly.against(r.ck) + " | " + r.fly.against(r.asm)
}

func (e engine) text() string {
	if e.us == 0 {
		return fmt.Sprintf("%10s %8s %8s %7s %4s", "--", "--", "--", "--", "--")
	}
	return fmt.Sprintf("%10.1f %8.1f %8.2e %7s %4s", e.us, e.tflops, e.maxErr, "--", e.status)
}

// against gives the share of the other engine's TFLOPS and the error ratio.
func (e engine) against(other engine) string {
	if other.us == 0 || e.us == 0 {
		return fmt.Sprintf("%7s %6s", "--", "--")
	}
	return fmt.Sprintf("%6.1f%% %5.2fx", 100*e.tflops/other.tflops, e.maxErr/other.maxErr)
}

func average(g group, rows []compared) compared {
	mean := func(side func(compared) engine) engine {
		var sum engine
		n := 0.0
		for _, r := range rows {
			if e := side(r); g.takes(r.c) && e.us > 0 {
				n++
				sum.us += e.us
				sum.tflops += e.tflops
				sum.maxErr += e.maxErr
			}
		}
		if n == 0 {
			return engine{}
		}
		return engine{sum.us / n, sum.tflops / n, sum.maxErr / n, "--"}
	}
	return compared{fly: mean(func(r compared) engine { return r.fly }), ck: mean(func(r compared) engine { return r.ck }), asm: mean(func(r compared) engine { return r.asm })}
}

func compareCSV(rows []compared) [][]string {
	head := []string{"B", "S", "H", "Hkv", "D", "dtype", "causal", "kv_sp", "KVLayout"}
	for _, name := range []string{"FlyDSL", "aiter_ck", "aiter_asm"} {
		for _, col := range []string{"Time(us)", "TFLOPS", "MaxErr", "MinCos", "Status"} {
			head = append(head, name+"_"+col)
		}
	}
	head = append(head, "Fly/aiter_ck_TFLOPS%", "Fly/aiter_ck_MaxErr_ratio", "Fly/aiter_asm_TFLOPS%", "Fly/aiter_asm_MaxErr_ratio")
	out := [][]string{head}
	for _, r := range rows {
		rec := r.c.fields()
		for _, e := range []engine{r.fly, r.ck, r.asm} {
			rec = append(rec, e.csv()...)
		}
		for _, e := range []engine{r.ck, r.asm} {
			if e.us == 0 {
				rec = append(rec, "", "")
				continue
			}
			rec = append(rec, fmt.Sprintf("%.1f%%", 100*r.fly.tflops/e.tflops), fmt.Sprintf("%.2fx", r.fly.maxErr/e.maxErr))
		}
		out = append(out, rec)
	}
	return out
}

func (e engine) csv() []string {
	if e.us == 0 {
		return []string{"", "", "", "", ""}
	}
	status := e.status
	if status == "--" {
		status = ""
	}
	return []string{fmt.Sprintf("%.1f", e.us), fmt.Sprintf("%.1f", e.tflops), fmt.Sprintf("%.2e", e.maxErr), "", status}
}

func centred(s string, width int) string {
	left := (width - len(s)) / 2
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", width-left-len(s))
}
