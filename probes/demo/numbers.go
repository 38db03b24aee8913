package demo

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// knobs are the constants of the demo's kernel that change the made-up numbers,
// so that a candidate worktree really differs from its base.
type knobs struct{ prefetch, storeGroup int }

// knobLine finds a constant of the demo's kernel.
func knobLine(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^` + name + ` = (\d+)`)
}

// readKnobs looks at the kernel source below root; a missing file gives the
// base's values.
func readKnobs(root string) knobs {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(kernelRel)))
	if err != nil {
		return knobs{1, 1}
	}
	return parseKnobs(b)
}

func parseKnobs(src []byte) knobs {
	get := func(name string) int {
		m := knobLine(name).FindSubmatch(src)
		if m == nil {
			return 1
		}
		n, err := strconv.Atoi(string(m[1]))
		if err != nil || n < 1 {
			return 1
		}
		return min(n, 4)
	}
	return knobs{get("KV_PREFETCH_DEPTH"), get("O_STORE_GROUP")}
}

// number is a made-up measurement of one cell.
type number struct {
	us, tflops, maxErr, minCos float64
	status, message            string
	noTime                     bool
}

// flops counts as the harness at FlyDSL main does: 4·V·D·H·B with V the number
// of score elements of one head, bottom-right aligned when causal.
func flops(c cell) float64 {
	s := float64(c.s)
	v := s * s
	if c.causal() {
		v = s * (s + 1) / 2
	}
	return 4 * v * float64(c.d) * float64(c.h) * float64(c.b)
}

// micros is the made-up time of a cell in microseconds, without noise.
func micros(c cell, k knobs) float64 {
	work := flops(c)
	size := work / 1e10
	rate := 1050 * size / (size + 1.5) // TFLOPS, small cells reach little
	if !c.causal() {
		rate *= 1.12
	}
	if c.d == 64 {
		rate *= 0.72
	}
	t := 4.2 + work/(rate*1e6)
	if c.s > 512 {
		t *= 1 - 0.055*float64(k.prefetch-1)
	} else {
		t *= 1 - 0.02*float64(k.storeGroup-1)
	}
	return t
}

func (h *sheet) measure(c cell) number {
	r := dice(h.seed, c.label())
	us := micros(c, h.knobs) * math.Exp(0.004*r.NormFloat64())
	us = math.Round(us*10) / 10
	n := number{us: us, tflops: flops(c) / us / 1e6, status: "PASS", minCos: 0.99999}
	exact := dice(h.fl.seed, c.label()) // the error does not change from run to run
	n.maxErr = []float64{2.44e-4, 4.88e-4, 9.77e-4, 1.95e-3, 3.91e-3}[exact.IntN(5)]
	if c.dtype == "fp16" {
		n.maxErr /= 8
		n.minCos = 1
	}
	return n
}

// spoil applies the fault that was asked for, to the third cell of a run.
func (h *sheet) spoil(i int, c cell, n number) number {
	if i != 2 {
		return n
	}
	switch h.fault {
	case "fail":
		n.status, n.maxErr, n.minCos = "FAIL", 2.34e-2, 0.95512
	case "error":
		n.status, n.message = "ERROR", "exec: HIP error: an illegal memory access was encountered\nHIP kernel errors might be asynchronously reported"
	case "skip":
		n.status = "SKIP"
	case "bench":
		n.status, n.noTime = "BENCHERR", true
	}
	return n
}

func (n number) cells() string {
	switch n.status {
	case "ERROR":
		msg := n.message
		if len(msg) > 60 {
			msg = msg[:60]
		}
		return fmt.Sprintf("%6s | %s", n.status, msg)
	case "SKIP":
		return fmt.Sprintf("%6s | n/a", n.status)
	}
	timing := fmt.Sprintf("%10.1f %9.1f", n.us, n.tflops)
	if n.noTime {
		timing = fmt.Sprintf("%10s %9s", "N/A", "N/A")
	}
	return fmt.Sprintf("%6s | %8.2e %8.5f | %s", n.status, n.maxErr, n.minCos, timing)
}

func (n number) passed() bool { return n.status == "PASS" || n.status == "SKIP" }
