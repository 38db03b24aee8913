package stall

import "strings"

// Class names what an instruction waits in. The names are the profiler's.
type Class string

// The classes, in the order the first-match rules try them.
const (
	VMCnt     Class = "vmcnt"
	LGKMCnt   Class = "lgkmcnt"
	ExpCnt    Class = "expcnt"
	WaitCnt   Class = "waitcnt"
	Barrier   Class = "barrier"
	MFMA      Class = "mfma"
	VMemLoad  Class = "vmem_load"
	VMemStore Class = "vmem_store"
	LDS       Class = "lds"
	SMem      Class = "smem"
	VALU      Class = "valu"
	Branch    Class = "branch"
	SALU      Class = "salu"
	Other     Class = "other"
)

// Classes lists every class in rule order.
func Classes() []Class {
	return []Class{VMCnt, LGKMCnt, ExpCnt, WaitCnt, Barrier, MFMA, VMemLoad, VMemStore, LDS, SMem, VALU, Branch, SALU, Other}
}

// IsBubble reports whether stall in this class is waiting for something else,
// as opposed to an instruction that could not issue. Only waits and barriers
// are bubbles; a stalled load or MFMA never is.
func (c Class) IsBubble() bool {
	switch c {
	case VMCnt, LGKMCnt, ExpCnt, WaitCnt, Barrier:
		return true
	}
	return false
}

// Classify gives the class of one disassembled instruction. The first rule that
// matches wins and most rules look anywhere in the text, operands included, so
// a combined wait is vmcnt and s_buffer_load is vmem_load, as in the profiler.
func Classify(isa string) Class {
	s := strings.ToLower(isa)
	switch {
	case hasAny(s, "s_waitcnt", "s_wait_"):
		return classifyWait(s)
	case strings.Contains(s, "barrier"):
		return Barrier
	case hasAny(s, "v_mfma", "v_smfma"):
		return MFMA
	case hasAny(s, "buffer_load", "global_load", "flat_load", "_load_to_lds"):
		return VMemLoad
	case hasAny(s, "buffer_store", "global_store", "flat_store"):
		return VMemStore
	case strings.HasPrefix(s, "ds_"), hasAny(s, "ds_read", "ds_load", "ds_write", "ds_store"):
		return LDS
	case hasAny(s, "s_load", "s_store"):
		return SMem
	case strings.HasPrefix(s, "v_"):
		return VALU
	case strings.HasPrefix(s, "s_") && strings.Contains(s, "branch"):
		return Branch
	case strings.HasPrefix(s, "s_"):
		return SALU
	}
	return Other
}

func classifyWait(s string) Class {
	switch {
	case hasAny(s, "vmcnt", "loadcnt", "storecnt"):
		return VMCnt
	case hasAny(s, "lgkmcnt", "dscnt", "kmcnt"):
		return LGKMCnt
	case strings.Contains(s, "expcnt"):
		return ExpCnt
	}
	return WaitCnt
}

func hasAny(s string, subs ...string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}
