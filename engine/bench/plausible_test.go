package bench

import (
	"strings"
	"testing"
)

func attn(s int64, causal bool, us, tflops float64) Row {
	return Row{Key: "k", Status: Pass, US: Of(us), TFLOPS: Of(tflops), Fields: Fields{{"B", Int(1)}, {"S", Int(s)}, {"H", Int(8)}, {"Hkv", Int(8)},
		{"D", Int(128)}, {"dtype", Str("bf16")}, {"causal", Bool(causal)}}}
}

func TestFLOPs(t *testing.T) {
	r := attn(4, true, 1, 1)
	if head, old, ok := FLOPs(&r); !ok || head != 10*4*128*8 || old != 8*4*128*8 {
		t.Errorf("causal S=4: %v %v %v", head, old, ok)
	}
	one := attn(1, true, 1, 1)
	if head, old, _ := FLOPs(&one); head != 4*128*8 || old != 0 {
		t.Errorf("causal S=1: %v %v", head, old)
	}
	if _, _, ok := FLOPs(&Row{}); ok {
		t.Error("a row without axes has FLOPs")
	}
}

func TestPlausible(t *testing.T) {
	for _, tc := range []struct {
		name string
		gpu  string
		arch string
		row  Row
		rule string
	}{
		{"real HEAD row", "", "gfx950", attn(512, true, 12.0, 44.9), ""},
		{"real #683 row", "", "gfx950", attn(512, true, 12.1, 44.5), ""},
		{"above the peak", "AMD Instinct MI355X", "gfx950", attn(8192, false, 50, 5497.6), "FA-18"},
		{"unknown chip gives no peak finding", "NVIDIA H200", "", attn(8192, false, 50, 5497.6), ""},
		{"gfx1250 is not established", "", "gfx1250", attn(8192, false, 50, 5497.6), ""},
		{"causal FLOPs not discounted", "", "gfx950", attn(8192, true, 1000, 549.8), "BC-10"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			for _, x := range Plausible(&Result{GPU: tc.gpu, GPUArch: tc.arch, Rows: []Row{tc.row}}) {
				got += x.Rule
			}
			if got != tc.rule && !(tc.rule != "" && strings.Contains(got, tc.rule)) {
				t.Errorf("have %q, want %q", got, tc.rule)
			}
		})
	}
	if !TooGood(&Cell{Ratio: Of(0.05)}) || TooGood(&Cell{Ratio: Of(0.5)}) || TooGood(&Cell{}) {
		t.Error("ten times")
	}
}
