package stall

import (
	"math"
	"strings"
)

// Registers is what the instruction texts say about register use.
type Registers struct {
	// Arch and Accum are the profiler's counts: highest first index + 1.
	Arch  int `json:"arch_vgpr"`
	Accum int `json:"accum_vgpr"`
	// ArchLast and AccumLast count to the last index of each register range.
	ArchLast  int `json:"arch_vgpr_last"`
	AccumLast int `json:"accum_vgpr_last"`
	// Estimate is the profiler's waves per CU from Arch and Accum.
	Estimate int `json:"flyprof_waves_per_cu"`
	// Bound is the waves per CU that 512 combined registers allow.
	Bound int `json:"register_bound_waves_per_cu"`
}

// Shape of the register file of the parts the estimates are for (gfx9).
const (
	simdsPerCU      = 4
	maxWavesPerSIMD = 8
	combinedVGPRs   = 512
	halfVGPRs       = 256
	vgprGranule     = 8
)

// EstimateRegisters reads the register numbers out of the instructions. The
// profiler's estimate uses the combined file of 512 only when it sees one of a
// few instructions of the newest part, and 256 otherwise, which is too low by
// half for most kernels; Bound always uses 512 (FlyDSL's own analyser does).
func EstimateRegisters(rows []Row) Registers {
	var v, a span
	combined := false
	for i := range rows {
		s := rows[i].ISA
		v.scan(s, 'v')
		a.scan(s, 'a')
		combined = combined || hasAny(strings.ToLower(s),
			"v_mfma_scale", "mfma_f32_16x16x128", "mfma_f32_32x32x64", "v_mfma_ld_scale")
	}
	r := Registers{Arch: v.count(v.first), Accum: a.count(a.first), ArchLast: v.count(v.last), AccumLast: a.count(a.last)}
	need := max(granule(r.Arch), granule(r.Accum))
	file := halfVGPRs
	if combined {
		need, file = granule(r.Arch)+granule(r.Accum), combinedVGPRs
	}
	r.Estimate = simdsPerCU * wavesIn(file, need)
	r.Bound = simdsPerCU * wavesIn(combinedVGPRs, granule(r.ArchLast)+granule(r.AccumLast))
	return r
}

// wavesIn is how many waves of need registers fit a file, at most 8.
func wavesIn(file, need int) int {
	if need <= 0 {
		return maxWavesPerSIMD
	}
	return min(maxWavesPerSIMD, file/need)
}

func granule(n int) int { return (n + vgprGranule - 1) / vgprGranule * vgprGranule }

// span is the highest first and last index of a kind of register.
type span struct{ first, last int }

// count turns a highest index into a number of registers; the profiler takes
// "only register 0" for none.
func (s *span) count(highest int) int {
	if highest == 0 {
		return 0
	}
	return highest + 1
}

// scan finds v12 and v[12:15] (or a...) that start at a word's beginning. It
// replaces the expressions \bv(\d+)\b and \bv\[(\d+), which are slow.
func (s *span) scan(text string, kind byte) {
	for i := 0; i < len(text); i++ {
		if text[i] != kind || i > 0 && isWord(text[i-1]) {
			continue
		}
		j, inRange := i+1, false
		if j < len(text) && text[j] == '[' {
			j, inRange = j+1, true
		}
		first, end := number(text, j)
		if end == j {
			continue
		}
		last := first
		switch {
		case inRange && end < len(text) && text[end] == ':':
			if n, e := number(text, end+1); e > end+1 {
				last = n
			}
		case !inRange && end < len(text) && isWord(text[end]):
			continue
		}
		s.first, s.last = max(s.first, first), max(s.last, last)
		i = end - 1
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// number reads digits at i; end equals i when there are none. Absurd numbers
// stop growing.
func number(s string, i int) (n, end int) {
	for end = i; end < len(s) && s[end] >= '0' && s[end] <= '9'; end++ {
		if n < math.MaxInt32/16 {
			n = n*10 + int(s[end]-'0')
		}
	}
	return n, end
}
