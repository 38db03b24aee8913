package harness

import (
	"bytes"
	"fmt"
	"strings"
)

// mark is a piece of text that only one family prints.
type mark struct {
	family Family
	// prefix must stand at the start of the line after blanks; contains may
	// stand anywhere. Both must fit when both are set.
	prefix, contains string
}

// marks are tried in order on every line until one fits. Wrappers come before
// what they wrap.
func marks() [37]mark {
	return [...]mark{
		{family: RunTests, prefix: "[run_tests] "},
		{family: RunTests, prefix: "Pytest: kernels + "},
		{family: RunBenchmark, prefix: "[run_benchmark] "},
		{family: RunBenchmark, prefix: "Benchmarks (logs under "},
		{family: RunBenchmark, prefix: "=== Benchmark: ", contains: " vs "},
		{family: RunBenchmark, prefix: "op ", contains: " TB/s     TFLOPS"},
		{family: Pytest, contains: "= test session starts ="},
		{family: Pytest, contains: ".py::", prefix: "FAILED "},
		{family: Pytest, contains: ".py::", prefix: "tests/"},
		{family: Pytest, contains: ".py::", prefix: "kernels/"},
		{family: Pytest, contains: ".py::", prefix: "[gw"},
		{family: FlashAttn, prefix: "FlyDSL flash_attn_func ("},
		{family: FlashAttn, prefix: "FlyDSL vs ", contains: "aiter_"},
		{family: FlashAttn, prefix: "FlyDSL vs CK"},
		{family: FlashAttn, prefix: "B ", contains: " Hkv    D dtype   causal"},
		{family: FlashAttn, prefix: "PyTorch not available"},
		{family: FlashAttn, prefix: "CUDA/ROCm not available"},
		{family: FlashAttn, prefix: "usage: test_flash_attn"},
		{family: FlashAttn, prefix: "File ", contains: "test_flash_attn_f"},
		{family: PreshuffleGEMM, prefix: "[flyc] MFMA "},
		{family: PreshuffleGEMM, prefix: "File ", contains: "/test_preshuffle_gemm.py"},
		{family: RowscaleGEMM, prefix: "[fp8_gemm_", contains: " M="},
		{family: RowscaleGEMM, prefix: "[fp4_gemm_", contains: " M="},
		{family: RowscaleGEMM, prefix: "Skipped: FP8 row-scale"},
		{family: MoEFlyDSL, prefix: "FlyDSL MoE stage"},
		{family: MoEFlyDSL, prefix: "File ", contains: "/test_moe_gemm"},
		{family: MoEFlyDSL, prefix: "[xfail/skip] "},
		{family: MoEAiter, contains: "calling test_fmoe("},
		{family: MoEAiter, contains: "ck_moe_2stages:"},
		{family: MoEAiter, contains: "moe_2stage: scanned "},
		{family: MoEAiter, contains: "[perf] use_g1u1="},
		{family: MoEAiter, prefix: "| dtype ", contains: "| qType |"},
		{family: MoEAiter, prefix: "| dtype ", contains: " qType | AQDType "},
		{family: Norm, prefix: "Testing ", contains: " (M="},
		{family: Norm, prefix: "op ", contains: "FlyDSL(gpu us)"},
		{family: ProfLib, prefix: "Running suite="},
		{family: ProfLib, prefix: "[", contains: " provider="},
	}
}

// sniff names the family of a line, Auto when it could be any.
func sniff(b []byte) Family {
	t := bytes.TrimLeft(b, " \t")
	if len(t) == 0 {
		return Auto
	}
	t = t[:min(len(t), maxText)]
	all := marks()
	for i := range all {
		m := &all[i]
		if m.prefix != "" && (t[0] != m.prefix[0] || !bytes.HasPrefix(t, []byte(m.prefix))) {
			continue
		}
		if m.contains == "" || bytes.Contains(t, []byte(m.contains)) {
			return m.family
		}
	}
	return Auto
}

// Detect names the family of a log by its first bytes; Unknown when no line
// of a known harness is among them.
func Detect(b []byte) Family {
	var scratch []byte
	for len(b) > 0 {
		l, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		if f := sniff(scrub(lastSegment(l), &scratch)); f != Auto {
			return f
		}
	}
	return Unknown
}

// commandFamily names the family of a command line.
func commandFamily(command string) Family {
	for _, m := range [...]struct {
		word   string
		family Family
	}{
		{"run_tests.sh", RunTests}, {"run_benchmark.sh", RunBenchmark}, {"compare_benchmark.py", RunBenchmark}, {"pytest", Pytest},
		{"test_flash_attn", FlashAttn}, {"test_preshuffle_gemm", PreshuffleGEMM}, {"test_fp8_gemm_rowscale", RowscaleGEMM},
		{"test_fp4_gemm_4wave", RowscaleGEMM}, {"test_moe_2stage", MoEAiter}, {"test_moe_gemm", MoEFlyDSL},
		{"test_layernorm", Norm}, {"test_rmsnorm", Norm}, {"test_softmax", Norm},
	} {
		if strings.Contains(command, m.word) {
			return m.family
		}
	}
	return Unknown
}

// Families lists what --family accepts.
func Families() []Family {
	return []Family{FlashAttn, PreshuffleGEMM, RowscaleGEMM, MoEFlyDSL, MoEAiter, Norm, RunBenchmark, Pytest, RunTests, ProfLib}
}

// ParseFamily reads a --family argument; "" and "auto" ask for detection. The
// error lists the names.
func ParseFamily(s string) (Family, error) {
	if s == "" || s == "auto" {
		return Auto, nil
	}
	var names []string
	for _, f := range Families() {
		if string(f) == s {
			return f, nil
		}
		names = append(names, string(f))
	}
	return Unknown, fmt.Errorf("family %q: want auto or one of %s", s, strings.Join(names, ", "))
}
