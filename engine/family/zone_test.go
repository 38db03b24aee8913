package family_test

import (
	"testing"

	"kdapilot/engine/family"
)

func TestZone(t *testing.T) {
	f := shipped(t, "flashattn")
	for file, want := range map[string]family.Zone{
		"kernels/flash_attn_gfx950.py":             family.ZoneKernel,
		"./kernels/flash_attn_generic.py":          family.ZoneKernel,
		"python/flydsl/expr/rocdl.py":              family.ZoneLimited,
		"tests/kernels/test_flash_attn_fwd.py":     family.ZoneJudge,
		"tests/test_common.py":                     family.ZoneJudge,
		"kernels/softmax.py":                       family.ZoneOther,
		"x/../kernels/flash_attn_gfx950.py":        family.ZoneKernel,
		"../elsewhere/kernels/flash_attn_other.py": family.ZoneOther,
	} {
		if got, _ := f.Zone(file); got != want {
			t.Errorf("Zone(%q) = %s, want %s", file, got, want)
		}
	}
}
